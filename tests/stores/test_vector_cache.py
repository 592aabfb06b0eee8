"""Vectors that were read lately: what is remembered, what goes, and what has to be read again."""

from __future__ import annotations

import numpy as np

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


def test_cached_vectors_are_not_read_again():
    reader, cache = PointReader(), SparseVectorCache()
    langs, rows = cache.get_rows("terms", [2, 0, 3, 2], reader)
    assert langs == ["en", "", "en", "en"]
    assert rows.sizes.tolist() == [2, 0, 3, 2]
    assert rows.indices.tolist() == [0, 1, 0, 1, 2, 0, 1]
    assert cache.get_rows("terms", [3, 1], reader)[1].indices.tolist() == [0, 1, 2, 0]
    assert reader.requests == [[2, 0, 3], [1]]
    cache.get_rows("titles", [2], reader)  # another vector of the same document
    assert reader.requests[2:] == [[2]]


def test_no_points_cause_no_read():
    reader = PointReader()
    langs, rows = SparseVectorCache().get_rows("terms", [], reader)
    assert (langs, rows.sizes.tolist(), rows.indices.tolist(), reader.requests) == ([], [], [], [])


def test_forgotten_vectors_are_read_again():
    reader, cache = PointReader(), SparseVectorCache()
    cache.get_rows("terms", [2, 3], reader)
    cache.forget([2, 7])
    cache.get_rows("terms", [2, 3], reader)
    assert reader.requests == [[2, 3], [2]]


def test_a_full_cache_is_emptied():
    reader, cache = PointReader(), SparseVectorCache(max_entries=6)
    cache.get_rows("terms", [2, 3], reader)
    langs, rows = cache.get_rows("terms", [4, 3], reader)  # 9 entries: all go, and 3, which is wanted, is read again
    assert (langs, rows.indices.tolist()) == (["en", "en"], [0, 1, 2, 3, 0, 1, 2])
    cache.get_rows("terms", [3, 4], reader)
    assert reader.requests == [[2, 3], [4], [3]]
    cache.get_rows("terms", [2], reader)
    assert reader.requests[3:] == [[2]]


def test_more_vectors_than_the_cache_holds_are_returned():
    assert SparseVectorCache(max_entries=2).get_rows("terms", [3, 4], PointReader())[1].sizes.tolist() == [3, 4]


def test_the_cache_grows_to_many_documents():
    reader, cache = PointReader(), SparseVectorCache()
    cache.get_rows("terms", list(range(1, 40)) * 60, reader)
    for point in range(1, 3000, 7):
        cache.get_rows("terms", [point], lambda points: [(point, make_point_vector(point)) for point in points])
    langs, rows = cache.get_rows("terms", [2997, 5], reader)
    assert (langs, rows.indices.tolist()) == (["en", "en"], [2997, 0, 1, 2, 3, 4])
    assert len(reader.requests) == 1


def test_preloaded_vectors_never_evict_requested_ones():
    reader, cache = PointReader(), SparseVectorCache(max_entries=6)
    cache.get_rows("terms", [3], reader)
    assert cache.add("terms", [(2, make_point_vector(7, 8)), (3, make_point_vector(9))])
    assert not cache.add("terms", [(4, make_point_vector(1, 2, 3, 4))])
    assert cache.get_rows("terms", [2, 3], reader)[1].indices.tolist() == [7, 8, 0, 1, 2]
    assert reader.requests == [[3]]


def test_the_most_recent_vectors_are_evicted_first():
    reader, cache = PointReader(), SparseVectorCache(max_entries=80)
    assert cache.add("terms", [(20, make_point_vector(*range(20))), (48, make_point_vector(*range(48)))])  # 68 of 80
    cache.get_rows("terms", [3, 5], reader)  # 76: the last of these begins behind the edge
    cache.get_rows("terms", [7, 20], reader)  # no room: 5 goes, 3 stays
    langs, rows = cache.get_rows("terms", [7, 48, 3, 20], reader)
    assert langs == ["en"] * 4
    assert rows.indices.tolist() == [*range(7), *range(48), *range(3), *range(20)]
    assert reader.requests == [[3, 5], [7]]
    langs, rows = cache.get_rows("terms", [5, 7, 48], reader)  # no room for both: all go
    assert rows.indices.tolist() == [*range(5), *range(7), *range(48)]
    assert reader.requests[2:] == [[5], [7], [48]]
