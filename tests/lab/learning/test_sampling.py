"""Documents that learning sets against each other."""

import numpy as np
import scipy.sparse as sp

from paragloss.lab.learning import sampling


def test_only_grades_that_differ_enough_are_set_against_each_other():
    grades = sp.csr_matrix(np.array([[900, 850, 300, 1]], np.float32))
    every, wide = (sampling.source(grades, difference=difference) for difference in (1, 500))
    lower = [every.lower[a:b].tolist() for a, b in zip(every.bounds, every.bounds[1:], strict=False)]
    assert lower == [[1, 2, 3], [2, 3], [3], []]
    lower = [wide.lower[a:b].tolist() for a, b in zip(wide.bounds, wide.bounds[1:], strict=False)]
    assert lower == [[2, 3], [2, 3], [], []]
