"""Files are read once, again when they change, and forgotten when they are gone."""

import gzip
import json
import os

import pytest

from paragloss.collection import Collection, file_records, writer
from paragloss.collection.integrity import check_collection, repair_collection
from paragloss.errors import InputError
from paragloss.types import Document


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.txt").write_text(f"the word {name}{name}{name} stands here")
    return folder


@pytest.fixture
def location(tmp_path):
    return str(tmp_path / "c")


def write_rows(path, numbers):
    """Rows with such numbers, written at a time of its own."""
    path.write_text("".join(json.dumps({"id": f"r{n}", "lang": "en", "text": f"row{n}x"}) + "\n" for n in numbers))
    return str(path)


def list_numbers(collection):
    return sorted(int(document.id[1:]) for document in collection.documents())


def search_ids(collection, query):
    return [r.id for r in collection.search(query, lang="en", pipeline="bm25").results]


def test_what_has_not_changed_is_passed_over(notes, location):
    with Collection.create(location) as collection:
        assert collection.index_files([str(notes)]) == (3, 0, 0)
        assert collection.index_files([str(notes)]) == (0, 3, 0)
        assert collection.index_files([str(notes)], again=True) == (3, 0, 0)


def test_what_has_changed_is_read_again(notes, location):
    with Collection.create(location) as collection:
        collection.index_files([str(notes)])
        (notes / "b.txt").write_text("now it says zebra")
        os.utime(notes / "b.txt", ns=(1, 1))
        assert collection.index_files([str(notes)]) == (1, 2, 0)
        assert search_ids(collection, "zebra") == ["b.txt"]


def test_a_corrected_language_stays_when_its_file_is_read_again(tmp_path, location):
    page = tmp_path / "plage.html"
    page.write_text("<html lang=en><p>The sea was calm, and the boats came back before the evening.</html>")
    with Collection.create(location) as collection:
        collection.index_files([str(page)])
        assert collection.get(["plage.html"])[0].lang == "en"
        collection.correct_language("plage.html", "fr")
        assert collection.get(["plage.html"])[0].lang == "fr"
        collection.index_files([str(page)], again=True)
        assert collection.get(["plage.html"])[0].lang == "fr"
        page.write_text("<html lang=en><p>The wind had turned, and nobody went out to fish that day.</html>")
        os.utime(page, ns=(1, 1))
    with Collection.open(location) as collection:
        assert collection.index_files([str(page)], lang="da").read == 1
        [document] = collection.get(["plage.html"])
        assert (document.lang, "fish" in document.text) == ("fr", True)
        assert collection.langs == ("fr",)


def test_a_correction_is_undone_by_an_empty_one_and_by_deleting_the_document(notes, location):
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


def test_what_is_gone_is_removed_only_when_that_is_asked_for(notes, location):
    with Collection.create(location) as collection:
        collection.index_files([str(notes)])
        (notes / "b.txt").unlink()
        assert collection.index_files([str(notes)]).removed == 0
        assert collection.index_files([str(notes)], prune=True).removed == 1
        assert collection.count() == 2


def test_pruning_one_folder_leaves_another_alone(notes, location, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.txt").write_text("elsewhere")
    with Collection.create(location) as collection:
        collection.index_files([str(notes)])
        collection.index_files([str(other)])
        assert collection.index_files([str(other)], prune=True).removed == 0
        assert collection.count() == 4


def test_rows_that_left_a_file_are_removed(location, tmp_path):
    rows_path = tmp_path / "rows.jsonl"
    rows_path.write_text('{"id": "r1", "lang": "en", "text": "one"}\n{"id": "r2", "lang": "en", "text": "two"}\n')
    with Collection.create(location) as collection:
        collection.index_files([str(rows_path)])
        rows_path.write_text('{"id": "r2", "lang": "en", "text": "two"}\n')
        assert collection.index_files([str(rows_path)], prune=True) == (1, 0, 1)
        assert collection.count() == 1


def test_a_whole_collection_is_found_whole_and_a_repaired_one_finds_what_is_left(notes, location):
    with Collection.create(location) as collection:
        collection.index_files([str(notes)])
    assert check_collection(location) == []
    with Collection.open(location) as collection:  # a document goes missing without the statistics knowing
        collection.state.store.delete(["a.txt"])
    assert any("2 of 3" in finding.fault for finding in check_collection(location))
    kept_count, lost_count, damaged = repair_collection(location)
    assert (kept_count, lost_count) == (2, 0)
    assert damaged.is_dir()
    assert check_collection(location) == []
    with Collection.open(location) as collection:
        assert search_ids(collection, "ccc") == ["c.txt"]


def test_models_are_replaced_removed_and_said_when_unknown(location, tmp_path):
    from paragloss import demo
    from paragloss.collection import train
    from paragloss.errors import InputError
    from paragloss.lab.methods import cr5

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


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_file_that_grew_by_rows_before_the_old_ones_keeps_all_of_them(location, tmp_path, monkeypatch, size):
    """A batch that ends inside a file says nothing of the file: 9 rows became 24, the new ones first."""
    monkeypatch.setattr(writer, "BATCH_SIZE", size)
    with Collection.create(location) as collection:
        path = write_rows(tmp_path / "rows.jsonl", range(9))
        collection.index_files([path], prune=True)
        write_rows(tmp_path / "rows.jsonl", [*range(9, 24), *range(9)])
        assert collection.index_files([path], prune=True) == (24, 0, 0)
        assert list_numbers(collection) == list(range(24))


def test_a_reading_that_was_stopped_is_gone_on_with(location, tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "BATCH_SIZE", 2)
    monkeypatch.setattr(file_records, "SAVE_INTERVAL", 0.0)  # what is known is noted after each batch
    path = write_rows(tmp_path / "rows.jsonl", range(5))

    def stop(documents_done):
        if documents_done >= 2:
            raise KeyboardInterrupt

    with Collection.create(location) as collection:
        with pytest.raises(KeyboardInterrupt):
            collection.index_files([path], progress=stop)
        assert collection.index_files([path]).read == 5
        assert list_numbers(collection) == list(range(5))


def test_documents_of_a_reading_that_was_stopped_go_with_their_file(location, notes, monkeypatch):
    """What was written is known to be the file's, though it was never read to its end."""
    monkeypatch.setattr(writer, "BATCH_SIZE", 2)
    path = notes / "rows.jsonl"
    write_rows(path, range(5))

    def stop(documents_done):
        if documents_done >= 5:
            raise KeyboardInterrupt

    with Collection.create(location) as collection:
        with pytest.raises(KeyboardInterrupt):
            collection.index_files([str(notes)], progress=stop)
        assert collection.count() > 3
        path.unlink()
        collection.index_files([str(notes)], prune=True, prune_anyway=True)
        assert collection.count() == 3


def test_rows_that_left_a_file_are_removed_by_a_later_pruning(location, tmp_path):
    path = write_rows(tmp_path / "rows.jsonl", range(4))
    with Collection.create(location) as collection:
        collection.index_files([path])
        write_rows(tmp_path / "rows.jsonl", range(2))
        assert collection.index_files([path]).removed == 0
        assert collection.index_files([path], prune=True) == (0, 1, 2)
        assert list_numbers(collection) == [0, 1]


def test_a_row_that_another_folder_holds_stays(location, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_rows(tmp_path / name / "rows.jsonl", range(3))
    with Collection.create(location) as collection:
        collection.index_files([str(tmp_path / "one"), str(tmp_path / "two")])
        write_rows(tmp_path / "one" / "rows.jsonl", range(1))
        assert collection.index_files([str(tmp_path / "one")], prune=True).removed == 0
        assert list_numbers(collection) == [0, 1, 2]


def test_a_file_that_cannot_be_read_once_keeps_its_documents_and_is_tried_again(location, notes):
    packed = notes / "rows.jsonl.gz"
    errors = []
    text = "".join(json.dumps({"id": f"r{n}", "lang": "en", "text": f"row{n}x"}) + "\n" for n in range(4))
    complete_bytes = gzip.compress(text.encode())
    packed.write_bytes(complete_bytes)
    with Collection.create(location) as collection:
        collection.index_files([str(notes)], on_error=errors.append)
        packed.write_bytes(complete_bytes[:-12])
        for _ in range(2):  # it is said each time
            collection.index_files([str(notes)], prune=True, on_error=errors.append)
            assert collection.count() == 7
        assert len(errors) == 2
        packed.write_bytes(complete_bytes)
        assert collection.index_files([str(notes)], prune=True, on_error=errors.append) == (4, 3, 0)
        assert (collection.count(), len(errors)) == (7, 2)


def test_documents_of_a_folder_that_cannot_be_listed_stay(location, notes, monkeypatch):
    (notes / "more").mkdir()
    (notes / "more" / "d.txt").write_text("the word ddd")
    listed = os.scandir

    def refuse(path="."):
        if os.path.basename(path) == "more":
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    errors: list[InputError] = []
    with Collection.create(location) as collection:
        collection.index_files([str(notes)])
        monkeypatch.setattr(os, "scandir", refuse)
        assert collection.index_files([str(notes)], prune=True, on_error=errors.append).removed == 0
        assert (collection.count(), len(errors)) == (4, 1)


def test_a_repaired_collection_reads_its_files_again(notes, location):
    with Collection.create(location) as collection:
        collection.index_files([str(notes)])
    repair_collection(location)
    with Collection.open(location) as collection:
        assert collection.index_files([str(notes)]) == (3, 0, 0)
