"""What is special to a folder's points and fields.

Points are called by numbers made from documents' ids: two ids with one number are noticed, and nothing is lost. Fields
are indexed by who writes them; who reads changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from records import list_ids, make_record, make_sparse

from paragloss.errors import StoreError
from paragloss.stores import _limits, _point_cache, create_store, embedded
from paragloss.types import Range


def make_weighed(id, word=3, weight=1.0):
    return make_record(id, terms={word: weight})


def test_two_documents_with_one_point_number_are_refused_and_the_first_stays(tmp_path, monkeypatch):
    for module in (embedded, _point_cache):
        monkeypatch.setattr(module, "hash_to_uint64", len)
    with create_store(tmp_path / "c", dense={}, sparse=["terms"]) as store:
        store.add([make_weighed("one"), make_weighed("three")])
        with pytest.raises(StoreError, match="'one' and 'two' fall on one number"):
            store.add([make_weighed("four"), make_weighed("two")])
        with pytest.raises(StoreError, match="fall on one number"):
            store.add([make_weighed("seven12"), make_weighed("eight12")])
        assert store.count() == 2
        assert list_ids(store.search_sparse("terms", [make_sparse({3: 1})], 5)[0]) == ["one", "three"]
        # Who asks for the other gets nothing, and takes nothing away.
        assert store.get(["two", "three"])[0] is None
        assert store.delete(["two"]) == 0
        store.add([make_weighed("one", weight=2.0)])  # the same document again is no clash
        assert store.count() == 2
        assert store.delete(["one"]) == 1


@pytest.mark.parametrize("k", [1, 4, 5, 6, 9])
def test_search_and_read_equals_searching_and_reading(tmp_path, k):
    """Also where equal scores stand on both sides of the edge: their ids say which."""
    with create_store(tmp_path / "c", dense={}, sparse=["terms"]) as store:
        store.add(
            [make_weighed(f"d{i}", weight=3.0 if i < 4 else 2.0) for i in np.random.default_rng(0).permutation(9)]
        )
        store.add([make_weighed("other", word=8)])
        vectors = [make_sparse({word: 1}) for word in (3, 8, 77)]
        candidates = store.search_and_read("terms", vectors, k)
        searched = [{hit.id for hit in ranking} for ranking in store.search_sparse("terms", vectors, k)]
        assert [{candidates.ids[i] for i in rows_of_query} for rows_of_query in candidates.row_numbers] == searched
        assert searched[0] == {f"d{i}" for i in range(min(k, 9))}
        assert searched[1:] == [{"other"}, set()]
        langs, rows = store.read_sparse("terms", candidates.ids)
        assert candidates.langs == langs
        assert all(map(np.array_equal, candidates.rows, rows))


TERM = make_sparse({1: 1.0})


def make_with_meta(id, **meta):
    return make_record(id, terms={1: 1.0}, meta=meta)


def list_files(folder):
    return {path.relative_to(folder) for path in folder.rglob("*")}


@pytest.fixture
def store(tmp_path):
    with create_store(tmp_path / "c", dense={}, sparse=["terms"]) as store:
        store.add([make_with_meta("a", year=1999, kind="x"), make_with_meta("b", year="2001", open=True)])
        yield store


def test_filtering_writes_nothing(store):
    before = list_files(store.path)
    for number in range(20):
        filters = {f"meta.f{number}": ["1", 1, 1.0, True], "meta.year": [1999], "meta.kind": ["x"]}
        assert store.count(filters) == 0
        assert store.search_sparse("terms", [TERM], 5, filters) == [[]]
    assert store.count({"meta.year": [Range(1999, 2005)]}) == 2
    assert list_files(store.path) == before


def test_fields_of_many_documents_are_indexed_when_they_are_written(store, monkeypatch):
    before = set(store._shard.engine.info().payload_schema)
    monkeypatch.setattr(_limits, "MIN_DOCS_FOR_FIELD_INDEX", 1)
    store.add([make_with_meta("c", year=1999, kind="x", open=True, **{"two words": "y", 'quo"te': "z"})])
    new_indexes = set(store._shard.engine.info().payload_schema) - before
    assert new_indexes == {"meta.year", "numbers.year", "meta.kind", 'meta."two words"'}
    assert store.count({"meta.kind": ["x"], "meta.year": [1999]}) == 2
    assert store.count({"meta.two words": ["y"]}) == 1


def test_fields_beyond_the_limit_are_filtered_without_an_index(store, monkeypatch):
    monkeypatch.setattr(_limits, "MIN_DOCS_FOR_FIELD_INDEX", 1)
    monkeypatch.setattr(_limits, "MAX_FIELD_INDEXES", 4)
    store.add([make_with_meta("c", **{f"f{number}": "x" for number in range(9)})])
    assert len(store._shard.engine.info().payload_schema) == 4
    assert [store.count({f"meta.f{number}": ["x"]}) for number in range(10)] == [1] * 9 + [0]
