"""Groups of entries in one array: which group an entry is in, and where the group begins."""

import numpy as np
import pytest

from paragloss.groups import list_groups, list_positions, list_starts


@pytest.mark.parametrize(
    ("sizes", "groups", "positions", "starts"),
    [
        ([2, 1, 3], [0, 0, 1, 2, 2, 2], [0, 1, 0, 0, 1, 2], [0, 2, 3]),
        ([0, 2, 0, 1], [1, 1, 3], [0, 1, 0], [0, 0, 2, 2]),
        ([], [], [], []),
    ],
)
def test_entries_know_their_group_and_their_position_in_it(sizes, groups, positions, starts):
    counts = np.array(sizes, np.int64)
    assert list_groups(counts).tolist() == groups
    assert list_positions(counts).tolist() == positions
    assert list_starts(counts).tolist() == starts
