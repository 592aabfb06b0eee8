import pytest

from paragloss.clicks import Pair, cuts, graded, judged, pairs
from paragloss.errors import InputError
from paragloss.types import Document, Query

SCORES = {"x": {"a": 0.9, "b": 0.5, "c": 0.1}, "y": {"a": 0.4}}


def test_grades_count_the_bounds_a_score_exceeds():
    assert graded(SCORES, [0.3, 0.5]) == {"x": {"a": 2, "b": 1, "c": 0}, "y": {"a": 1}}


def test_bounds_are_taken_from_shares_of_all_documents():
    # Sorted: 0.1, 0.4, 0.5, 0.9. Half of them lie above 0.45, a quarter above 0.6.
    assert cuts(SCORES, [0.5, 0.25]) == [pytest.approx(0.45), pytest.approx(0.6)]
    assert graded(SCORES, cuts(SCORES, [0.5, 0.25])) == {"x": {"a": 2, "b": 1, "c": 0}, "y": {"a": 0}}
    with pytest.raises(InputError, match="falling shares"):
        cuts(SCORES, [0.25, 0.5])


def test_pairs_differ_by_more_than_asked():
    assert pairs(SCORES, difference=0.45) == [Pair("x", "a", "c", pytest.approx(0.8))]
    assert [pair[1:3] for pair in pairs(SCORES)] == [("a", "c"), ("a", "b"), ("b", "c")]
    assert pairs({"x": {"a": 1, "b": 1}}) == []


def test_judgments_keep_what_is_at_hand():
    documents = {"a": Document("a", "text", "de")}
    found = judged({"x": {"a": 2, "b": 1}, "z": {"b": 1}, "y": {"a": 0}}, documents, "de")
    assert found.queries == [Query("q1", "x", "de"), Query("q3", "y", "de")]
    assert found.qrels == {"q1": {"a": 2}, "q3": {"a": 0}}
    with pytest.raises(InputError, match="none of the documents"):
        judged({"x": {"b": 1}}, documents, "de")
