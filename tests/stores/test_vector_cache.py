"""Vectors that were read lately: what is remembered, what goes, and what has to be read again."""

from __future__ import annotations

import numpy as np
import pytest

from paragloss.stores._vector_cache import PointVector, SparseVectorCache
from paragloss.types import SparseVector


def make_point_vector(*ids):
    return PointVector("en", SparseVector(np.array(ids, np.uint32), np.ones(len(ids), np.float32)))


class PointReader:
    """Points with so many entries as their number says; 0 is not there."""

    def __init__(self):
        self.requests = []

    def __call__(self, points):
        self.requests.append(points)
        return [(point, make_point_vector(*range(point))) for point in points if point]


@pytest.fixture
def reader():
    return PointReader()


def test_cached_vectors_are_not_read_again(reader):
    cache = SparseVectorCache()
    langs, rows = cache.get_rows([2, 0, 3, 2], reader)
    assert langs == ["en", "", "en", "en"]
    assert rows.sizes.tolist() == [2, 0, 3, 2]
    assert rows.indices.tolist() == [0, 1, 0, 1, 2, 0, 1]
    assert cache.get_rows([3, 1], reader)[1].indices.tolist() == [0, 1, 2, 0]
    assert reader.requests == [[2, 0, 3], [1]]
    langs, rows = cache.get_rows([], reader)
    assert (langs, rows.sizes.tolist(), rows.indices.tolist()) == ([], [], [])
    assert len(reader.requests) == 2


def test_forgotten_vectors_are_read_again_and_leave_their_place(reader):
    cache = SparseVectorCache(max_entries=5)
    for _ in range(2):
        cache.get_rows([2, 3], reader)
        cache.forget([2, 7])
    cache.get_rows([2, 3], reader)
    assert reader.requests == [[2, 3], [2], [2]]


def test_a_full_cache_is_emptied(reader):
    cache = SparseVectorCache(max_entries=6)
    cache.get_rows([2, 3], reader)
    langs, rows = cache.get_rows([4, 3], reader)  # 9 entries: 2 and 3 go
    assert (langs, rows.indices.tolist()) == (["en", "en"], [0, 1, 2, 3, 0, 1, 2])
    cache.get_rows([4, 2], reader)
    assert reader.requests == [[2, 3], [4], [2]]
    assert cache.get_rows([7], reader)[1].sizes.tolist() == [7]  # more than the cache holds


def test_preloaded_vectors_stay_when_requested_ones_go(reader):
    cache = SparseVectorCache(max_entries=8)
    assert cache.preload([(2, make_point_vector(7, 8)), (4, make_point_vector(1, 2, 3, 4))])
    assert not cache.preload([(9, make_point_vector(1, 2))])  # an eighth is left for what is requested
    for point in (1, 3, 1):
        cache.get_rows([point], reader)
    assert cache.get_rows([2, 4], reader)[1].indices.tolist() == [7, 8, 1, 2, 3, 4]
    assert reader.requests == [[1], [3], [1]]


def test_preloading_does_not_replace_what_a_search_has_read(reader):
    cache = SparseVectorCache()
    cache.get_rows([3], reader)
    assert cache.preload([(2, make_point_vector(7, 8)), (3, make_point_vector(9))])
    assert cache.get_rows([2, 3], reader)[1].indices.tolist() == [7, 8, 0, 1, 2]
