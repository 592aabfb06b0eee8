"""Files are read once, again when they change, and forgotten when they were observed to be gone."""

import gzip
import json
import os
import shutil
import zipfile

import pytest

from paragloss import demo
from paragloss.collection import Collection, file_records, train, writer
from paragloss.collection.integrity import check_collection, repair_collection
from paragloss.errors import InputError, PruneError
from paragloss.lab.methods import cr5
from paragloss.types import Document


@pytest.fixture
def location(tmp_path):
    return str(tmp_path / "collection")


@pytest.fixture
def collection(location):
    with Collection.create(location, default=False) as collection:
        yield collection


@pytest.fixture
def notes(tmp_path):
    """A folder of three files."""
    write_notes(tmp_path / "notes", ["a.txt", "b.txt", "c.txt"])
    return tmp_path / "notes"


def write_notes(folder, names, word="plain"):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{word} words of {name}")


def write_rows(path, texts_by_id):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"id": id, "lang": "en", "text": text} for id, text in texts_by_id.items()]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def number_rows(numbers):
    return {f"r{n}": f"row{n}x" for n in numbers}


def read_texts(collection):
    return {document.id: document.text for document in collection.documents()}


def index(collection, *paths, **options):
    """Index paths as the command line does: what can't be read is reported, and the rest is read."""
    errors = []
    report = collection.index_files([str(path) for path in paths], on_error=errors.append, **options)
    return report, [str(error) for error in errors]


def stop_after(count):
    def stop(documents_done):
        if documents_done >= count:
            raise KeyboardInterrupt

    return stop


# Which files are read


def test_files_are_read_again_if_they_have_changed_or_all_are_asked_for(collection, notes):
    assert index(collection, notes)[0] == (3, 0, 0)
    assert index(collection, notes)[0] == (0, 3, 0)
    assert index(collection, notes, again=True)[0] == (3, 0, 0)
    (notes / "b.txt").write_text("now it says zebra")
    os.utime(notes / "b.txt", ns=(1, 1))
    assert index(collection, notes)[0] == (1, 2, 0)
    assert [result.id for result in collection.search("zebra", lang="en", pipeline="bm25").results] == ["b.txt"]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_file_that_grew_by_rows_before_the_old_ones_keeps_all_of_them(collection, tmp_path, monkeypatch, size):
    """A batch that ends inside a file says nothing of the file: 9 rows became 24, the new ones first."""
    monkeypatch.setattr(writer, "BATCH_SIZE", size)
    rows_path = tmp_path / "rows.jsonl"
    write_rows(rows_path, number_rows(range(9)))
    index(collection, rows_path, prune=True)
    write_rows(rows_path, number_rows([*range(9, 24), *range(9)]))
    assert index(collection, rows_path, prune=True)[0] == (24, 0, 0)
    assert read_texts(collection) == number_rows(range(24))


def test_a_reading_that_was_stopped_is_gone_on_with(collection, tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "BATCH_SIZE", 2)
    monkeypatch.setattr(file_records, "SAVE_INTERVAL", 0.0)  # what is known is noted after each batch
    write_rows(tmp_path / "rows.jsonl", number_rows(range(5)))
    with pytest.raises(KeyboardInterrupt):
        index(collection, tmp_path / "rows.jsonl", progress=stop_after(2))
    assert index(collection, tmp_path / "rows.jsonl")[0].read == 5
    assert read_texts(collection) == number_rows(range(5))


def test_documents_of_a_reading_that_was_stopped_go_with_their_file(collection, notes, monkeypatch):
    """What was written is known to be the file's, though it was never read to its end."""
    monkeypatch.setattr(writer, "BATCH_SIZE", 2)
    write_rows(notes / "rows.jsonl", number_rows(range(5)))
    with pytest.raises(KeyboardInterrupt):
        index(collection, notes, progress=stop_after(5))
    assert collection.count() > 3
    (notes / "rows.jsonl").unlink()
    index(collection, notes, prune=True, prune_anyway=True)
    assert collection.count() == 3


def test_documents_of_a_stopped_reading_stay_when_their_file_can_not_be_read_again(collection, notes, monkeypatch):
    monkeypatch.setattr(writer, "BATCH_SIZE", 2)
    packed = notes / "rows.jsonl.gz"
    write_rows(packed, number_rows(range(4)))
    with pytest.raises(KeyboardInterrupt):
        index(collection, packed, progress=stop_after(2))
    written = read_texts(collection)
    assert written
    packed.write_bytes(packed.read_bytes()[:-12])
    report, errors = index(collection, packed, prune=True)
    assert (report.removed, len(errors)) == (0, 1)
    assert read_texts(collection) == written


def test_a_file_that_cannot_be_read_once_keeps_its_documents_and_is_tried_again(collection, notes):
    packed = notes / "rows.jsonl.gz"
    write_rows(packed, number_rows(range(4)))
    complete_bytes = packed.read_bytes()
    index(collection, notes)
    packed.write_bytes(complete_bytes[:-12])
    for _ in range(2):  # it is said each time
        _, errors = index(collection, notes, prune=True)
        assert (collection.count(), len(errors)) == (7, 1)
    packed.write_bytes(complete_bytes)
    assert index(collection, notes, prune=True) == ((4, 3, 0), [])
    assert collection.count() == 7


def test_a_folder_without_readable_files_does_not_stop_the_others(collection, notes, tmp_path):
    (tmp_path / "empty").mkdir()
    report, errors = index(collection, tmp_path / "empty", notes)
    assert report.read == 3
    assert "no file in this folder can be read" in errors[0]


# Which documents are removed


def test_documents_of_a_removed_file_go_when_that_is_asked_for(collection, notes):
    index(collection, notes)
    (notes / "b.txt").unlink()
    assert index(collection, notes)[0].removed == 0
    assert index(collection, notes, prune=True)[0].removed == 1
    assert sorted(read_texts(collection)) == ["a.txt", "c.txt"]


@pytest.mark.parametrize("is_pruned_at_once", [True, False])
def test_rows_that_left_a_file_are_removed_at_once_or_by_a_later_pruning(collection, tmp_path, is_pruned_at_once):
    rows_path = tmp_path / "rows.jsonl"
    write_rows(rows_path, number_rows(range(4)))
    index(collection, rows_path)
    write_rows(rows_path, number_rows(range(2)))
    report = index(collection, rows_path, prune=is_pruned_at_once)[0]
    assert report == (2, 0, 2 if is_pruned_at_once else 0)
    if not is_pruned_at_once:
        assert index(collection, rows_path, prune=True)[0] == (0, 1, 2)
    assert read_texts(collection) == number_rows(range(2))


def test_pruning_one_folder_leaves_another_alone(collection, notes, tmp_path):
    write_notes(tmp_path / "other", ["x.txt"])
    index(collection, notes)
    index(collection, tmp_path / "other")
    assert index(collection, tmp_path / "other", prune=True)[0].removed == 0
    assert collection.count() == 4


@pytest.mark.filterwarnings("ignore")
def test_documents_of_a_missing_folder_stay(collection, notes, tmp_path):
    index(collection, notes)
    notes.rename(tmp_path / "away")
    report, errors = index(collection, notes, prune=True)
    assert (report.removed, collection.count(), len(errors)) == (0, 3, 1)
    (tmp_path / "away").rename(notes)
    assert index(collection, notes, prune=True)[0] == (0, 3, 0)


def test_documents_of_a_folder_that_cannot_be_listed_stay(collection, notes, monkeypatch):
    write_notes(notes / "more", ["d.txt"])
    list_folder = os.scandir

    def refuse(path="."):
        if os.path.basename(path) == "more":
            raise PermissionError(13, "Permission denied", path)
        return list_folder(path)

    index(collection, notes)
    monkeypatch.setattr(os, "scandir", refuse)
    report, errors = index(collection, notes, prune=True)
    assert (report.removed, collection.count(), len(errors)) == (0, 4, 1)


def test_documents_of_a_file_that_may_be_there_stay(collection, notes, monkeypatch):
    """A disk that fails to look for a file has not said that there is none."""
    look = os.lstat

    def fail(path):
        if os.path.basename(path) == "b.txt":
            raise OSError(5, "Input/output error", path)
        return look(path)

    index(collection, notes)
    (notes / "b.txt").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(os, "lstat", fail)
        assert index(collection, notes, prune=True)[0].removed == 0
    assert index(collection, notes, prune=True)[0].removed == 1


def test_documents_of_a_folder_that_became_empty_stay_until_told_otherwise(collection, tmp_path):
    write_notes(tmp_path / "notes", ["top.txt", "2.txt", "3.txt", "4.txt", "mounted/x.txt"])
    index(collection, tmp_path / "notes")
    (tmp_path / "notes/mounted/x.txt").unlink()
    with pytest.warns(UserWarning, match="mounted has become empty: its 1 documents are kept"):
        assert index(collection, tmp_path / "notes", prune=True)[0].removed == 0
    assert index(collection, tmp_path / "notes", prune=True, prune_anyway=True)[0].removed == 1


def test_more_than_a_third_of_a_collection_disappears_only_when_told_to(collection, tmp_path):
    write_notes(tmp_path / "notes", [f"{n}.txt" for n in range(6)])
    index(collection, tmp_path / "notes")
    for name in ("0.txt", "1.txt"):
        (tmp_path / "notes" / name).unlink()
    assert index(collection, tmp_path / "notes", prune=True)[0].removed == 2
    for name in ("2.txt", "3.txt"):
        (tmp_path / "notes" / name).unlink()
    with pytest.raises(PruneError, match=r"2 of 4 documents have disappeared.*--prune-anyway"):
        index(collection, tmp_path / "notes", prune=True)
    assert collection.count() == 4
    assert index(collection, tmp_path / "notes", prune=True, prune_anyway=True)[0].removed == 2


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("scan.png", b"\x89PNG"),
        ("letter.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        ("letters.7z", b"7z\xbc\xaf\x27\x1c"),
        ("mail.pst", b"!BDN"),
    ],
)
def test_documents_stay_when_the_reader_of_their_file_is_not_there(
    collection, notes, tmp_path, monkeypatch, name, signature
):
    """What can't be read now, here without Tesseract and LibreOffice, is not gone. The document is put there as the
    file's reader would have."""
    tracked = notes / name
    tracked.write_bytes(signature + bytes(20_000))
    write_rows(notes / "scan.jsonl", {"scan": "words of a scan"})
    index(collection, notes)
    records = json.loads(collection.state.store.read_blob("files"))
    records[str(tracked)] = records.pop(str(notes / "scan.jsonl"))
    collection.state.store.write_blob("files", json.dumps(records).encode())
    (notes / "scan.jsonl").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    _, errors = index(collection, notes, prune=True)
    assert len(errors) == 1
    assert name in errors[0]
    assert read_texts(collection)["scan"] == "words of a scan"


@pytest.mark.parametrize("damage", [b"{not json", b"{}"])
def test_a_row_that_can_not_be_read_any_more_is_not_pruned(collection, tmp_path, damage):
    path = tmp_path / "rows.jsonl"
    write_rows(path, number_rows(range(3)))
    index(collection, path, prune=True)
    path.write_bytes(b"\n".join([damage, *path.read_bytes().splitlines()[1:]]))
    with pytest.warns(UserWarning, match="parts of it can't be read, so 1 documents it gave before are kept"):
        report, errors = index(collection, path, prune=True)
    assert (report, len(errors)) == ((2, 0, 0), 1)
    assert read_texts(collection) == number_rows(range(3))
    assert index(collection, path, prune=True)[0] == (0, 1, 0)  # it has not changed, and is not read again
    write_rows(path, number_rows([1, 2]))
    assert index(collection, path, prune=True)[0] == (2, 0, 1)
    assert read_texts(collection) == number_rows([1, 2])


def test_a_member_of_an_archive_that_can_not_be_read_any_more_is_not_pruned(collection, tmp_path):
    path = tmp_path / "papers.zip"

    def write_archive(members):
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)

    write_archive({"a.txt": "first", "b.jsonl": '{"text": "second", "lang": "en"}'})
    index(collection, path, prune=True)
    write_archive({"a.txt": "first", "b.jsonl": b"\xff damaged"})
    with pytest.warns(UserWarning, match="parts of it can't be read"):
        index(collection, path, prune=True)
    assert sorted(read_texts(collection)) == ["papers.zip/a.txt", "papers.zip/b.jsonl:1"]
    write_archive({"a.txt": "first"})
    index(collection, path, prune=True)
    assert sorted(read_texts(collection)) == ["papers.zip/a.txt"]


@pytest.mark.parametrize(
    ("name", "content", "emptied"),
    [
        ("page.txt", "secret", ""),
        ("page.html", "<p>secret</p>", " \n"),
        ("rows.jsonl", '{"id": "r", "lang": "en", "text": "secret"}', ""),
    ],
)
def test_the_text_of_a_file_that_was_emptied_is_removed(collection, notes, name, content, emptied):
    (notes / name).write_text(content)
    index(collection, notes)
    assert collection.count() == 4
    (notes / name).write_text(emptied)
    os.utime(notes / name, ns=(1, 1))
    report, errors = index(collection, notes, prune=True)
    assert (report.removed, collection.count(), len(errors)) == (1, 3, 1)


# Files and folders that move


def test_renamed_files_have_not_disappeared(collection, tmp_path):
    write_notes(tmp_path / "notes", ["old/a.txt", "old/b.txt", "c.txt"])
    index(collection, tmp_path / "notes")
    (tmp_path / "notes/old").rename(tmp_path / "notes/new")
    assert index(collection, tmp_path / "notes", prune=True)[0].removed == 2
    assert sorted(read_texts(collection)) == ["c.txt", "new/a.txt", "new/b.txt"]


def test_another_folder_of_the_same_name_takes_no_documents(collection, tmp_path):
    write_notes(tmp_path / "a/docs", ["x.txt"], word="first")
    write_notes(tmp_path / "b/docs", ["x.txt"], word="second")
    index(collection, tmp_path / "a/docs")
    (tmp_path / "a").rename(tmp_path / "unmounted")
    index(collection, tmp_path / "b/docs")
    (tmp_path / "unmounted").rename(tmp_path / "a")
    index(collection, tmp_path / "a/docs")
    assert sorted(read_texts(collection).values()) == ["first words of x.txt", "second words of x.txt"]


def test_a_folder_that_was_moved_keeps_its_ids_also_under_another_name(collection, tmp_path):
    write_notes(tmp_path / "docs", ["x.txt", "y.txt"])
    index(collection, tmp_path / "docs")
    shutil.move(tmp_path / "docs", tmp_path / "papers")
    index(collection, tmp_path / "papers", prune=True)
    paths = {document.id: document.meta["path"] for document in collection.documents()}
    assert paths == {name: str(tmp_path / "papers" / name) for name in ("x.txt", "y.txt")}
    write_notes(tmp_path / "docs", ["x.txt"], word="new")  # the old path is used for something else later
    index(collection, tmp_path / "docs")
    assert collection.count() == 3


# Ids that several files have


def test_two_files_never_share_an_id(collection, tmp_path):
    write_notes(tmp_path / "main", ["m.txt"])
    write_notes(tmp_path / "notes", ["a.txt"], word="own")
    index(collection, tmp_path / "main")
    index(collection, tmp_path / "notes")
    write_notes(tmp_path / "main/notes", ["a.txt"], word="intruding")
    index(collection, tmp_path / "main")
    assert sorted(text.split()[0] for text in read_texts(collection).values()) == ["intruding", "own", "plain"]
    shutil.rmtree(tmp_path / "main/notes")
    index(collection, tmp_path / "main", prune=True)
    assert read_texts(collection)["notes/a.txt"] == "own words of a.txt"
    assert collection.count() == 2


def test_a_row_that_another_folder_holds_stays(collection, tmp_path):
    for name in ("one", "two"):
        write_rows(tmp_path / name / "rows.jsonl", number_rows(range(3)))
    index(collection, tmp_path / "one", tmp_path / "two")
    write_rows(tmp_path / "one/rows.jsonl", number_rows(range(1)))
    assert index(collection, tmp_path / "one", prune=True)[0].removed == 0
    assert read_texts(collection) == number_rows(range(3))


def test_an_id_that_changes_its_owner_comes_back_when_the_new_owner_is_gone(collection, tmp_path):
    """Rows of two files have one id: the last one read counts; when its file is gone, the first is read again."""
    write_rows(tmp_path / "one/rows.jsonl", {"r1": "of one", "r2": "two"})
    write_rows(tmp_path / "two/rows.jsonl", {"r1": "secret", "r3": "three", "r4": "four"})
    write_rows(tmp_path / "two/more.jsonl", number_rows(range(10, 19)))
    index(collection, tmp_path / "one")
    index(collection, tmp_path / "two")
    assert read_texts(collection)["r1"] == "secret"
    (tmp_path / "two/rows.jsonl").unlink()
    index(collection, tmp_path / "two", prune=True)
    assert read_texts(collection) == {"r1": "of one", "r2": "two", **number_rows(range(10, 19))}


def test_an_id_that_its_owner_no_longer_holds_is_read_from_the_other_file(collection, tmp_path):
    write_rows(tmp_path / "one.jsonl", {"r1": "of one"})
    write_rows(tmp_path / "two.jsonl", {"r1": "secret", "r2": "two"})
    index(collection, tmp_path / "one.jsonl")
    index(collection, tmp_path / "two.jsonl")
    write_rows(tmp_path / "two.jsonl", {"r2": "two"})
    index(collection, tmp_path / "two.jsonl")
    assert read_texts(collection) == {"r1": "of one", "r2": "two"}


def test_a_row_that_its_owner_gives_up_is_read_from_a_file_whose_folder_was_just_renamed(collection, tmp_path):
    write_rows(tmp_path / "old/rows.jsonl", {"r1": "of the renamed folder"})
    write_rows(tmp_path / "main/rows.jsonl", {"r1": "of main", "r2": "of main"})
    index(collection, tmp_path / "old")
    index(collection, tmp_path / "main")
    assert read_texts(collection)["r1"] == "of main"
    (tmp_path / "old").rename(tmp_path / "new")
    write_rows(tmp_path / "main/rows.jsonl", {"r2": "of main, changed"})
    index(collection, tmp_path / "main", tmp_path / "new", prune=True)
    assert read_texts(collection) == {"r1": "of the renamed folder", "r2": "of main, changed"}


def test_documents_that_a_file_no_longer_holds_are_pruned_also_if_it_is_read_twice(collection, tmp_path):
    """A file is read a second time when an id that it holds has lost its owner."""
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    write_rows(one, {"shared": "of one", "secret": "a secret", "r1": "one"})
    write_rows(two, {"shared": "of two", "r2": "two", "r3": "three"})
    index(collection, one, two)
    write_rows(one, {"shared": "of one", "r1": "one"})
    index(collection, one)
    index(collection, two, again=True)
    assert read_texts(collection)["shared"] == "of two"
    write_rows(two, {"r2": "two", "r3": "three"})
    index(collection, one, two, prune=True)
    assert read_texts(collection) == {"shared": "of one", "r1": "one", "r2": "two", "r3": "three"}


# What users correct, repair and replace


def test_a_corrected_language_stays_when_its_file_is_read_again(tmp_path, location):
    page = tmp_path / "plage.html"
    page.write_text("<html lang=en><p>The sea was calm, and the boats came back before the evening.</html>")
    with Collection.create(location) as collection:
        index(collection, page)
        assert collection.get(["plage.html"])[0].lang == "en"
        collection.correct_language("plage.html", "fr")
        assert collection.get(["plage.html"])[0].lang == "fr"
        index(collection, page, again=True)
        assert collection.get(["plage.html"])[0].lang == "fr"
        page.write_text("<html lang=en><p>The wind had turned, and nobody went out to fish that day.</html>")
        os.utime(page, ns=(1, 1))
    with Collection.open(location) as collection:
        assert index(collection, page, lang="da")[0].read == 1
        [document] = collection.get(["plage.html"])
        assert (document.lang, "fish" in document.text) == ("fr", True)
        assert collection.langs == ("fr",)


def test_a_correction_is_undone_by_an_empty_one_and_by_deleting_the_document(location):
    text = "The boats came back to the harbour before the evening."
    with Collection.create(location) as collection:
        collection.add([Document("a", text, "")])
        collection.correct_language("a", "nl")
        collection.correct_language("a", "")
        assert collection.get(["a"])[0].lang == "en"
        collection.correct_language("a", "nl")
        collection.delete(["a"])
        collection.add([Document("a", text, "")])
        assert collection.get(["a"])[0].lang == "en"
        with pytest.raises(InputError, match="no document 'z'"):
            collection.correct_language("z", "nl")


def test_a_repaired_collection_keeps_what_is_left_and_reads_its_files_again(collection, notes, location):
    index(collection, notes)
    collection.close()
    assert check_collection(location) == []
    with Collection.open(location) as collection:  # a document goes missing without the statistics knowing
        collection.state.store.delete(["a.txt"])
    assert any("2 of 3" in finding.fault for finding in check_collection(location))
    kept_count, lost_count, damaged = repair_collection(location)
    assert (kept_count, lost_count) == (2, 0)
    assert damaged.is_dir()
    assert check_collection(location) == []
    with Collection.open(location) as collection:
        assert sorted(read_texts(collection)) == ["b.txt", "c.txt"]
        assert index(collection, notes)[0] == (3, 0, 0)


def test_models_are_replaced_removed_and_said_when_unknown(location, tmp_path):
    for number, concepts in enumerate((demo.concepts()[:30], demo.concepts())):
        train(cr5.fit, concepts, dim=8 + number).save(tmp_path / str(number) / "cr5")
    with Collection.create(location, models=[str(tmp_path / "0" / "cr5")]) as collection:
        collection.index(demo.documents()[:70])
        assert collection.add_model(str(tmp_path / "1" / "cr5")) is True
        assert collection.search("volcano", lang="en", to=["zh"], pipeline="cr5", k=1).results[0].id == "volcano.zh"
        assert collection.state.store.dense["cr5"] >= 9
        collection.remove_model("cr5")
        assert "cr5" not in collection.info()["models"]
        with pytest.raises(InputError, match="no model 'cr5'; it has none"):
            collection.remove_model("cr5")
    with Collection.open(location) as collection:
        assert "cr5" not in collection.state.store.dense


def test_of_documents_that_are_added_together_none_is_written_if_one_can_not_be_prepared(collection, monkeypatch):
    prepared = []

    def fail_at_second_batch(models, documents):
        prepared.append(documents)
        if len(prepared) > 1:
            raise InputError("this one can't be encoded")
        return {}

    monkeypatch.setattr(writer, "encode_documents", fail_at_second_batch)
    with pytest.raises(InputError, match="can't be encoded"):
        collection.add([Document(str(n), "text", "en") for n in range(writer.SMALL_BATCH_SIZE + 1)])
    assert collection.count() == 0
