"""Points of a folder are called by numbers made from documents' ids: two ids with one number are noticed, and nothing
is lost."""

from __future__ import annotations

import numpy as np
import pytest

from paragloss.errors import StoreError
from paragloss.stores import _point_cache, embedded
from paragloss.stores.embedded import EmbeddedStore
from paragloss.types import Document, Record, SparseVector


def make_record(id, word=3, weight=1.0):
    return Record(Document(id, id, "en"), {}, {"t": SparseVector(np.array([word], np.uint32), np.float32([weight]))})


def search_ids(store, word=3):
    vector = SparseVector(np.array([word], np.uint32), np.ones(1, np.float32))
    return [hit.id for hit in store.search_sparse("t", [vector], 5)[0]]


def test_two_documents_with_one_point_number_are_refused_and_the_first_stays(tmp_path, monkeypatch):
    for module in (embedded, _point_cache):
        monkeypatch.setattr(module, "hash_to_uint64", len)
    with EmbeddedStore.create(tmp_path / "c", dense={}, sparse=["t"]) as store:
        store.add([make_record("one"), make_record("three")])
        with pytest.raises(StoreError, match="'one' and 'two' fall on one number"):
            store.add([make_record("four"), make_record("two")])
        with pytest.raises(StoreError, match="fall on one number"):
            store.add([make_record("seven12"), make_record("eight12")])
        assert store.count() == 2
        assert search_ids(store) == ["one", "three"]
        # Who asks for the other gets nothing, and takes nothing away.
        assert store.get(["two", "three"])[0] is None
        assert store.delete(["two"]) == 0
        store.add([make_record("one", weight=2.0)])  # the same document again is no clash
        assert store.count() == 2
        assert store.delete(["one"]) == 1


def test_a_folder_of_a_later_format_is_refused(tmp_path):
    EmbeddedStore.create(tmp_path / "c", dense={}, sparse=["t"]).close()
    meta = tmp_path / "c" / "meta.json"
    meta.write_text(meta.read_text().replace('"format": 2', '"format": 3'))
    with pytest.raises(StoreError, match="format 3, this version reads 2"):
        EmbeddedStore.open(tmp_path / "c")


@pytest.mark.parametrize("k", [1, 4, 5, 6, 9])
def test_search_and_read_equals_searching_and_reading(tmp_path, k):
    """Also where equal scores stand on both sides of the edge: their ids say which."""
    with EmbeddedStore.create(tmp_path / "c", dense={}, sparse=["t"]) as store:
        store.add([make_record(f"d{i}", weight=3.0 if i < 4 else 2.0) for i in np.random.default_rng(0).permutation(9)])
        store.add([make_record("other", word=8)])
        vectors = [SparseVector(np.array([word], np.uint32), np.ones(1, np.float32)) for word in (3, 8, 77)]
        candidates = store.search_and_read("t", vectors, k)
        searched = [{hit.id for hit in ranking} for ranking in store.search_sparse("t", vectors, k)]
        assert [{candidates.ids[i] for i in rows_of_query} for rows_of_query in candidates.row_numbers] == searched
        assert searched[0] == {f"d{i}" for i in range(min(k, 9))}
        assert searched[1:] == [{"other"}, set()]
        langs, rows = store.read_sparse("t", candidates.ids)
        assert candidates.langs == langs
        assert all(map(np.array_equal, candidates.rows, rows))
