"""Documents are removed only when their file was observed to be gone, and each id has one owning file."""

import json
import os
import shutil

import pytest

from paragloss.collection import Collection
from paragloss.errors import PruneError


@pytest.fixture
def collection(tmp_path):
    with Collection.create(str(tmp_path / "collection"), default=False, meaning=False) as collection:
        yield collection


def write_notes(folder, names, word="plain"):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{word} words of {name}")


def write_rows(path, texts_by_id):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"id": id, "lang": "en", "text": text} for id, text in texts_by_id.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def read_texts(collection):
    return {document.id: document.text for document in collection.documents()}


def index(collection, *paths, **options):
    """Index paths as the command line does: what can't be read is reported, and the rest is read."""
    errors = []
    report = collection.index_files([str(path) for path in paths], on_error=errors.append, **options)
    return report, [str(error) for error in errors]


@pytest.mark.filterwarnings("ignore")
def test_documents_of_a_missing_folder_stay(collection, tmp_path):
    write_notes(tmp_path / "notes", ["a.txt", "b.txt", "c.txt"])
    index(collection, tmp_path / "notes")
    (tmp_path / "notes").rename(tmp_path / "away")
    report, errors = index(collection, tmp_path / "notes", prune=True)
    assert (report.removed, collection.count(), len(errors)) == (0, 3, 1)
    (tmp_path / "away").rename(tmp_path / "notes")
    assert index(collection, tmp_path / "notes", prune=True)[0] == (0, 3, 0)


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
    assert sorted(read_texts(collection)) == ["x.txt", "y.txt"]
    paths = {document.meta["path"] for document in collection.documents()}
    assert paths == {str(tmp_path / "papers/x.txt"), str(tmp_path / "papers/y.txt")}
    write_notes(tmp_path / "docs", ["x.txt"], word="new")  # the old path is used for something else later
    index(collection, tmp_path / "docs")
    assert collection.count() == 3


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


def test_an_id_that_changes_its_owner_comes_back_when_the_new_owner_is_gone(collection, tmp_path):
    """Rows of two files have one id: the last one read counts; when its file is gone, the first is read again."""
    write_rows(tmp_path / "one/rows.jsonl", {"r1": "of one", "r2": "two"})
    write_rows(tmp_path / "two/rows.jsonl", {"r1": "secret", "r3": "three", "r4": "four"})
    write_rows(tmp_path / "two/more.jsonl", {f"m{n}": "more" for n in range(9)})
    index(collection, tmp_path / "one")
    index(collection, tmp_path / "two")
    assert read_texts(collection)["r1"] == "secret"
    (tmp_path / "two/rows.jsonl").unlink()
    index(collection, tmp_path / "two", prune=True)
    assert read_texts(collection)["r1"] == "of one"
    assert sorted(read_texts(collection)) == sorted(["r1", "r2", *(f"m{n}" for n in range(9))])


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


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("scan.png", b"\x89PNG"),
        ("letter.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        ("letters.7z", b"7z\xbc\xaf\x27\x1c"),
        ("mail.pst", b"!BDN"),
    ],
)
def test_documents_stay_when_the_reader_of_their_file_is_not_there(collection, tmp_path, monkeypatch, name, signature):
    """What can't be read now, here without Tesseract and LibreOffice, is not gone. The document is put there as the
    file's reader would have."""
    write_notes(tmp_path / "notes", ["a.txt", "b.txt"])
    tracked = tmp_path / "notes" / name
    tracked.write_bytes(signature + bytes(20_000))
    write_rows(tmp_path / "notes/scan.jsonl", {"scan": "words of a scan"})
    index(collection, tmp_path / "notes")
    records = json.loads(collection.state.store.read_blob("files"))
    records[str(tracked)] = records.pop(str(tmp_path / "notes/scan.jsonl"))
    collection.state.store.write_blob("files", json.dumps(records).encode())
    (tmp_path / "notes/scan.jsonl").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    _, errors = index(collection, tmp_path / "notes", prune=True)
    assert len(errors) == 1
    assert name in errors[0]
    assert read_texts(collection)["scan"] == "words of a scan"


@pytest.mark.parametrize("name", ["page.txt", "page.html", "rows.jsonl"])
def test_the_text_of_a_file_that_was_emptied_is_removed(collection, tmp_path, name):
    content = {"page.html": "<p>secret</p>", "rows.jsonl": '{"id": "r", "lang": "en", "text": "secret"}'}
    write_notes(tmp_path / "notes", ["a.txt", "b.txt", "c.txt"])
    (tmp_path / "notes" / name).write_text(content.get(name, "secret"))
    index(collection, tmp_path / "notes")
    assert collection.count() == 4
    (tmp_path / "notes" / name).write_text(" \n" if name == "page.html" else "")
    os.utime(tmp_path / "notes" / name, ns=(1, 1))
    report, errors = index(collection, tmp_path / "notes", prune=True)
    assert (report.removed, collection.count(), len(errors)) == (1, 3, 1)


def test_a_folder_without_readable_files_does_not_stop_the_others(collection, tmp_path):
    write_notes(tmp_path / "notes", ["a.txt"])
    (tmp_path / "empty").mkdir()
    report, errors = index(collection, tmp_path / "empty", tmp_path / "notes")
    assert report.read == 1
    assert "no file in this folder can be read" in errors[0]
