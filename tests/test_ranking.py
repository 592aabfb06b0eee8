import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragloss.ranking import csls_documents, csls_queries, neighbourhood, rank_hits, rank_scores
from paragloss.types import Hit


def test_ties_are_broken_by_id_even_at_the_edge():
    scores = np.array([1.0, 2.0, 1.0, 1.0], np.float32)
    assert [h.id for h in rank_scores(scores, ["d", "a", "c", "b"], 2)] == ["a", "b"]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 10_000)), unique_by=lambda p: p[1]), st.integers(0, 8))
def test_top_equals_sorting_everything(pairs, k):
    ids = [f"{number:05d}" for _, number in pairs]
    scores = np.array([score for score, _ in pairs], np.float32)
    assert rank_scores(scores, ids, k) == rank_hits((Hit(i, float(s)) for i, s in zip(ids, scores, strict=True)), k)


def test_csls_by_hand():
    # Two documents, one query. cos(q, d) = 1 and 0.8; r(d) = 0.9 and 0.1; r(q) left out.
    documents = np.array([[1, 0], [0.8, 0.6]], np.float32)
    hubness = np.array([0.9, 0.1], np.float32)
    query = np.array([[1, 0]], np.float32)
    scores = csls_queries(query) @ csls_documents(documents, hubness).T
    np.testing.assert_allclose(scores, [[2 * 1 - 0.9, 2 * 0.8 - 0.1]], rtol=1e-6)


def test_neighbourhood_is_the_mean_of_the_nearest():
    rows = np.array([[1, 0], [0, 1]], np.float32)
    other_rows = np.array([[1, 0], [0.5, 0], [0, 0.25], [-1, 0]], np.float32)
    np.testing.assert_allclose(neighbourhood(rows, other_rows, k=2), [0.75, 0.125])
    np.testing.assert_allclose(neighbourhood(rows, other_rows, k=2, block=1), [0.75, 0.125])
    assert neighbourhood(rows, other_rows[:0]).tolist() == [0, 0]
    assert neighbourhood(rows, other_rows, k=99)[0] == pytest.approx(0.5 / 4)
