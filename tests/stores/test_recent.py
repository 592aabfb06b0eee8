"""Vectors that were read lately: what is remembered, what goes, and what has to be read again."""

from __future__ import annotations

import numpy as np

from paragloss.stores._recent import Packed, Recent
from paragloss.types import SparseVector


def packed(*ids):
    return Packed("en", SparseVector(np.array(ids, np.uint32), np.ones(len(ids), np.float32)))


class Shelf:
    """Points with so many entries as their number says; 0 is not there."""

    def __init__(self):
        self.asked = []

    def __call__(self, points):
        self.asked.append(points)
        return [(point, packed(*range(point))) for point in points if point]


def test_what_was_read_is_not_read_again():
    shelf, recent = Shelf(), Recent()
    langs, rows = recent.rows("terms", [2, 0, 3, 2], shelf)
    assert langs == ["en", "", "en", "en"]
    assert rows.sizes.tolist() == [2, 0, 3, 2]
    assert rows.indices.tolist() == [0, 1, 0, 1, 2, 0, 1]
    assert recent.rows("terms", [3, 1], shelf)[1].indices.tolist() == [0, 1, 2, 0]
    assert shelf.asked == [[2, 0, 3], [1]]
    recent.rows("titles", [2], shelf)  # another vector of the same document
    assert shelf.asked[2:] == [[2]]


def test_nothing_asked_nothing_read():
    shelf = Shelf()
    langs, rows = Recent().rows("terms", [], shelf)
    assert (langs, rows.sizes.tolist(), rows.indices.tolist(), shelf.asked) == ([], [], [], [])


def test_what_is_written_is_forgotten():
    shelf, recent = Shelf(), Recent()
    recent.rows("terms", [2, 3], shelf)
    recent.forget([2, 7])
    recent.rows("terms", [2, 3], shelf)
    assert shelf.asked == [[2, 3], [2]]


def test_the_oldest_go_when_there_are_too_many_entries():
    shelf, recent = Shelf(), Recent(most=6)
    recent.rows("terms", [2, 3], shelf)
    recent.rows("terms", [4], shelf)  # 9 entries: 2 and then 3 go
    recent.rows("terms", [4], shelf)
    recent.rows("terms", [3], shelf)  # 7 entries: 4 goes
    recent.forget([3])
    recent.rows("terms", [2], shelf)
    recent.rows("terms", [4, 2], shelf)  # 6 entries: with 3 forgotten there is room for both
    recent.rows("terms", [2, 4], shelf)
    assert shelf.asked == [[2, 3], [4], [3], [2], [4]]
