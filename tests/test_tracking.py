"""Files are read once, again when they change, and forgotten when they are gone."""

import os

import pytest

from paragloss.engine import Engine
from paragloss.engine.checking import check, repair


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.txt").write_text(f"the word {name}{name}{name} stands here")
    return folder


@pytest.fixture
def place(tmp_path):
    return str(tmp_path / "c")


def ids(engine, query):
    return [r.id for r in engine.search(query, lang="en", pipeline="bm25").results]


def test_what_has_not_changed_is_passed_over(notes, place):
    with Engine.create(place) as engine:
        assert engine.index_files([str(notes)]) == (3, 0, 0)
        assert engine.index_files([str(notes)]) == (0, 3, 0)
        assert engine.index_files([str(notes)], again=True) == (3, 0, 0)


def test_what_has_changed_is_read_again(notes, place):
    with Engine.create(place) as engine:
        engine.index_files([str(notes)])
        (notes / "b.txt").write_text("now it says zebra")
        os.utime(notes / "b.txt", ns=(1, 1))
        assert engine.index_files([str(notes)]) == (1, 2, 0)
        assert ids(engine, "zebra") == ["b.txt"]


def test_what_is_gone_is_removed_only_when_that_is_asked_for(notes, place):
    with Engine.create(place) as engine:
        engine.index_files([str(notes)])
        (notes / "b.txt").unlink()
        assert engine.index_files([str(notes)]).removed == 0
        assert engine.index_files([str(notes)], prune=True).removed == 1
        assert engine.count() == 2


def test_pruning_one_folder_leaves_another_alone(notes, place, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.txt").write_text("elsewhere")
    with Engine.create(place) as engine:
        engine.index_files([str(notes)])
        engine.index_files([str(other)])
        assert engine.index_files([str(other)], prune=True).removed == 0
        assert engine.count() == 4


def test_rows_that_left_a_file_are_removed(place, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "r1", "lang": "en", "text": "one"}\n{"id": "r2", "lang": "en", "text": "two"}\n')
    with Engine.create(place) as engine:
        engine.index_files([str(rows)])
        rows.write_text('{"id": "r2", "lang": "en", "text": "two"}\n')
        assert engine.index_files([str(rows)], prune=True) == (1, 0, 1)
        assert engine.count() == 1


def test_a_whole_collection_is_found_whole_and_a_repaired_one_finds_what_is_left(notes, place):
    with Engine.create(place) as engine:
        engine.index_files([str(notes)])
    assert check(place) == []
    with Engine.open(place) as engine:  # a document goes missing without the statistics knowing
        engine.held.store.delete(["a.txt"])
    assert any("2 of 3" in finding.what for finding in check(place))
    kept, lost, damaged = repair(place)
    assert (kept, lost) == (2, 0)
    assert damaged.is_dir()
    assert check(place) == []
    with Engine.open(place) as engine:
        assert ids(engine, "ccc") == ["c.txt"]


def test_models_are_replaced_removed_and_said_when_unknown(place, tmp_path):
    from paragloss import demo
    from paragloss.engine import train
    from paragloss.errors import InputError
    from paragloss.models import cr5

    for number, concepts in enumerate((demo.concepts()[:30], demo.concepts())):
        train(cr5.fit, concepts, dim=8 + number).save(tmp_path / str(number) / "cr5")
    with Engine.create(place, models=[str(tmp_path / "0" / "cr5")]) as engine:
        engine.index(demo.documents()[:70])
        assert engine.add_model(str(tmp_path / "1" / "cr5")) is True
        assert engine.search("volcano", lang="en", to=["zh"], pipeline="cr5", k=1).results[0].id == "volcano.zh"
        assert engine.held.store.dense["cr5"] >= 9
        engine.remove_model("cr5")
        assert "cr5" not in engine.info()["models"]
        with pytest.raises(InputError, match="no model 'cr5'; it has none"):
            engine.remove_model("cr5")
    with Engine.open(place) as engine:
        assert "cr5" not in engine.held.store.dense
