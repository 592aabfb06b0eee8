"""Documents that learning sets against each other."""

import numpy as np
import scipy.sparse as sp

from paragloss.lab.learning import sampling


def test_only_grades_that_differ_enough_make_pairs():
    grades = sp.csr_matrix(np.array([[900, 850, 300, 1]], np.float32))
    all_pairs, wide_pairs = (sampling.make_source(grades, difference=difference) for difference in (1, 500))
    lower = [all_pairs.lower[a:b].tolist() for a, b in zip(all_pairs.bounds, all_pairs.bounds[1:], strict=False)]
    assert lower == [[1, 2, 3], [2, 3], [3], []]
    lower = [wide_pairs.lower[a:b].tolist() for a, b in zip(wide_pairs.bounds, wide_pairs.bounds[1:], strict=False)]
    assert lower == [[2, 3], [2, 3], [], []]


def test_half_of_the_negatives_have_a_lower_grade_and_half_are_unjudged():
    grades = sp.csr_matrix(([1.0, 2.0, 0.0], ([0, 0, 0], [1, 3, 5])), shape=(1, 6))
    triples = sampling.draw_triples(sampling.make_source(grades), 6000, np.random.default_rng(0))
    for better, lower in ((1, [5]), (3, [1, 5])):
        worse = triples[2, triples[1] == better]
        taught = worse[np.isin(worse, [1, 3, 5])]
        assert len(taught) == 3000
        assert sorted(set(taught.tolist())) == lower
        assert all(abs((taught == doc).mean() - 1 / len(lower)) < 0.05 for doc in lower)
        free = worse[np.isin(worse, [0, 2, 4])]
        # Of 3,000 draws from six documents half are of the three that nobody judged; the others are left out.
        assert abs(len(free) - 1500) < 120
        assert all(abs((free == doc).mean() - 1 / 3) < 0.05 for doc in (0, 2, 4))
    assert not triples[0].any()


def test_hard_negatives_are_any_of_the_nearest_and_never_the_document_itself():
    rows = np.eye(30, 40, dtype=np.float32) + 0.1 * np.eye(30, 40, k=1, dtype=np.float32)
    rows[:, 39] = np.linspace(0.1, 3, 30)  # the later ones are nearer to everybody
    grades = sp.csr_matrix(([1.0], ([0], [4])), shape=(1, 30))
    source = sampling.make_source(grades, sp.csr_matrix(rows))
    similarities = rows @ rows.T
    np.fill_diagonal(similarities, -1)
    nearest = set(np.argsort(-similarities[4])[: sampling.NEAREST].tolist())
    assert set(source.nearest[4].tolist()) == nearest
    drawn = sampling.draw_triples(source, 2000, np.random.default_rng(0))
    assert set(drawn[2].tolist()) == nearest
