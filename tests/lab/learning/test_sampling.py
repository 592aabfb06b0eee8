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


def test_every_other_triple_is_taught_by_a_lower_grade_and_the_rest_by_any_document_nobody_judged():
    grades = sp.csr_matrix(([1.0, 2.0, 0.0], ([0, 0, 0], [1, 3, 5])), shape=(1, 6))
    found = sampling.draw(sampling.source(grades), 6000, np.random.default_rng(0))
    for better, lower in ((1, [5]), (3, [1, 5])):
        worse = found[2, found[1] == better]
        taught = worse[np.isin(worse, [1, 3, 5])]
        assert len(taught) == 3000
        assert sorted(set(taught.tolist())) == lower
        assert all(abs((taught == one).mean() - 1 / len(lower)) < 0.05 for one in lower)
        free = worse[np.isin(worse, [0, 2, 4])]
        # Of 3,000 draws from six documents half are of the three that nobody judged; the others are left out.
        assert abs(len(free) - 1500) < 120
        assert all(abs((free == one).mean() - 1 / 3) < 0.05 for one in (0, 2, 4))
    assert not found[0].any()


def test_hard_negatives_are_any_of_the_nearest_and_never_the_document_itself():
    rows = np.eye(30, 40, dtype=np.float32) + 0.1 * np.eye(30, 40, k=1, dtype=np.float32)
    rows[:, 39] = np.linspace(0.1, 3, 30)  # the later ones are nearer to everybody
    grades = sp.csr_matrix(([1.0], ([0], [4])), shape=(1, 30))
    among = sampling.source(grades, sp.csr_matrix(rows))
    alike = rows @ rows.T
    np.fill_diagonal(alike, -1)
    nearest = set(np.argsort(-alike[4])[: sampling.NEAREST].tolist())
    assert set(among.nearest[4].tolist()) == nearest
    drawn = sampling.draw(among, 2000, np.random.default_rng(0))
    assert set(drawn[2].tolist()) == nearest
