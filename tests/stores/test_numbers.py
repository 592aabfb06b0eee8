"""Points of a folder are called by numbers made from documents' ids: two ids with one number are noticed, and nothing
is lost."""

from __future__ import annotations

import numpy as np
import pytest

from paragloss.errors import StoreError
from paragloss.stores import _point_cache, embedded
from paragloss.stores.embedded import EmbeddedStore
from paragloss.types import Document, Record, SparseVector


def record(id, word=3, weight=1.0):
    return Record(Document(id, id, "en"), {}, {"t": SparseVector(np.array([word], np.uint32), np.float32([weight]))})


def found(store, word=3):
    vector = SparseVector(np.array([word], np.uint32), np.ones(1, np.float32))
    return [hit.id for hit in store.search_sparse("t", [vector], 5)[0]]


def test_two_documents_on_one_number_are_told_of_and_the_first_stays(tmp_path, monkeypatch):
    for module in (embedded, _point_cache):
        monkeypatch.setattr(module, "hash_to_uint64", len)
    with EmbeddedStore.create(tmp_path / "c", dense={}, sparse=["t"]) as store:
        store.add([record("one"), record("three")])
        with pytest.raises(StoreError, match="'one' and 'two' fall on one number"):
            store.add([record("four"), record("two")])
        with pytest.raises(StoreError, match="fall on one number"):
            store.add([record("seven12"), record("eight12")])
        assert store.count() == 2
        assert found(store) == ["one", "three"]
        # Who asks for the other gets nothing, and takes nothing away.
        assert store.get(["two", "three"])[0] is None
        assert store.delete(["two"]) == 0
        store.add([record("one", weight=2.0)])  # the same document again is no clash
        assert store.count() == 2
        assert store.delete(["one"]) == 1


def test_a_folder_of_a_later_format_is_left_alone(tmp_path):
    EmbeddedStore.create(tmp_path / "c", dense={}, sparse=["t"]).close()
    meta = tmp_path / "c" / "meta.json"
    meta.write_text(meta.read_text().replace('"format": 2', '"format": 3'))
    with pytest.raises(StoreError, match="format 3, this version reads 2"):
        EmbeddedStore.open(tmp_path / "c")


@pytest.mark.parametrize("k", [1, 4, 5, 6, 9])
def test_looking_finds_and_reads_what_searching_and_reading_do(tmp_path, k):
    """Also where equal scores stand on both sides of the edge: their ids say which."""
    with EmbeddedStore.create(tmp_path / "c", dense={}, sparse=["t"]) as store:
        store.add([record(f"d{i}", weight=3.0 if i < 4 else 2.0) for i in np.random.default_rng(0).permutation(9)])
        store.add([record("other", word=8)])
        vectors = [SparseVector(np.array([word], np.uint32), np.ones(1, np.float32)) for word in (3, 8, 77)]
        looked = store.search_and_read("t", vectors, k)
        searched = [{hit.id for hit in ranking} for ranking in store.search_sparse("t", vectors, k)]
        assert [{looked.ids[i] for i in each} for each in looked.row_numbers] == searched
        assert searched[0] == {f"d{i}" for i in range(min(k, 9))}
        assert searched[1:] == [{"other"}, set()]
        langs, rows = store.read_sparse("t", looked.ids)
        assert looked.langs == langs
        assert all(map(np.array_equal, looked.rows, rows))
