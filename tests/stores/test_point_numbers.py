"""Points of a folder are called by numbers made from documents' ids: two ids with one number are noticed, and nothing
is lost."""

from __future__ import annotations

import numpy as np
import pytest
from records import list_ids, make_record, make_sparse

from paragloss.errors import StoreError
from paragloss.stores import _point_cache, create_store, embedded


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
