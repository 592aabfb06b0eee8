"""Vectors that were read lately: what is remembered, what goes, and what has to be read again."""

from __future__ import annotations

import numpy as np

from paragloss.stores._vector_cache import PointVector, SparseVectorCache
from paragloss.types import SparseVector


def packed(*ids):
    return PointVector("en", SparseVector(np.array(ids, np.uint32), np.ones(len(ids), np.float32)))


class Shelf:
    """Points with so many entries as their number says; 0 is not there."""

    def __init__(self):
        self.asked = []

    def __call__(self, points):
        self.asked.append(points)
        return [(point, packed(*range(point))) for point in points if point]


def test_what_was_read_is_not_read_again():
    shelf, recent = Shelf(), SparseVectorCache()
    langs, rows = recent.get_rows("terms", [2, 0, 3, 2], shelf)
    assert langs == ["en", "", "en", "en"]
    assert rows.sizes.tolist() == [2, 0, 3, 2]
    assert rows.indices.tolist() == [0, 1, 0, 1, 2, 0, 1]
    assert recent.get_rows("terms", [3, 1], shelf)[1].indices.tolist() == [0, 1, 2, 0]
    assert shelf.asked == [[2, 0, 3], [1]]
    recent.get_rows("titles", [2], shelf)  # another vector of the same document
    assert shelf.asked[2:] == [[2]]


def test_nothing_asked_nothing_read():
    shelf = Shelf()
    langs, rows = SparseVectorCache().get_rows("terms", [], shelf)
    assert (langs, rows.sizes.tolist(), rows.indices.tolist(), shelf.asked) == ([], [], [], [])


def test_what_is_written_is_forgotten():
    shelf, recent = Shelf(), SparseVectorCache()
    recent.get_rows("terms", [2, 3], shelf)
    recent.forget([2, 7])
    recent.get_rows("terms", [2, 3], shelf)
    assert shelf.asked == [[2, 3], [2]]


def test_when_there_is_no_more_room_a_new_round_begins():
    shelf, recent = Shelf(), SparseVectorCache(max_entries=6)
    recent.get_rows("terms", [2, 3], shelf)
    langs, rows = recent.get_rows("terms", [4, 3], shelf)  # 9 entries: all go, and 3, which is wanted, is read again
    assert (langs, rows.indices.tolist()) == (["en", "en"], [0, 1, 2, 3, 0, 1, 2])
    recent.get_rows("terms", [3, 4], shelf)
    assert shelf.asked == [[2, 3], [4], [3]]
    recent.get_rows("terms", [2], shelf)
    assert shelf.asked[3:] == [[2]]


def test_more_than_there_is_room_for_is_read_all_the_same():
    assert SparseVectorCache(max_entries=2).get_rows("terms", [3, 4], Shelf())[1].sizes.tolist() == [3, 4]


def test_many_documents():
    shelf, recent = Shelf(), SparseVectorCache()
    recent.get_rows("terms", list(range(1, 40)) * 60, shelf)
    for point in range(1, 3000, 7):
        recent.get_rows("terms", [point], lambda points: [(point, packed(point)) for point in points])
    langs, rows = recent.get_rows("terms", [2997, 5], shelf)
    assert (langs, rows.indices.tolist()) == (["en", "en"], [2997, 0, 1, 2, 3, 4])
    assert len(shelf.asked) == 1


def test_what_is_read_ahead_never_drives_out_what_was_asked_for():
    shelf, recent = Shelf(), SparseVectorCache(max_entries=6)
    recent.get_rows("terms", [3], shelf)
    assert recent.add("terms", [(2, packed(7, 8)), (3, packed(9))])
    assert not recent.add("terms", [(4, packed(1, 2, 3, 4))])
    assert recent.get_rows("terms", [2, 3], shelf)[1].indices.tolist() == [7, 8, 0, 1, 2]
    assert shelf.asked == [[3]]


def test_the_last_to_come_make_room_for_the_next():
    shelf, recent = Shelf(), SparseVectorCache(max_entries=80)
    assert recent.add("terms", [(20, packed(*range(20))), (48, packed(*range(48)))])  # 68 of 80
    recent.get_rows("terms", [3, 5], shelf)  # 76: the last of these begins behind the edge
    recent.get_rows("terms", [7, 20], shelf)  # no room: 5 goes, 3 stays
    langs, rows = recent.get_rows("terms", [7, 48, 3, 20], shelf)
    assert langs == ["en"] * 4
    assert rows.indices.tolist() == [*range(7), *range(48), *range(3), *range(20)]
    assert shelf.asked == [[3, 5], [7]]
    langs, rows = recent.get_rows("terms", [5, 7, 48], shelf)  # no room for both: all go
    assert rows.indices.tolist() == [*range(5), *range(7), *range(48)]
    assert shelf.asked[2:] == [[5], [7], [48]]
