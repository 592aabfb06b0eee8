import pytest

from paragloss.errors import InputError
from paragloss.lab.clicks import compute_grade_bounds, grade_scores, make_judged_collection, select_by_frequency
from paragloss.lab.clicks.log_files import Session
from paragloss.types import Document, Query

SCORES = {"x": {"a": 0.9, "b": 0.5, "c": 0.1}, "y": {"a": 0.4}}


def test_grades_count_the_bounds_a_score_exceeds():
    assert grade_scores(SCORES, [0.3, 0.5]) == {"x": {"a": 2, "b": 1, "c": 0}, "y": {"a": 1}}


def test_bounds_are_taken_from_shares_of_all_documents():
    # Sorted: 0.1, 0.4, 0.5, 0.9. Half of them lie above 0.45, a quarter above 0.6.
    assert compute_grade_bounds(SCORES, [0.5, 0.25]) == [pytest.approx(0.45), pytest.approx(0.6)]
    assert grade_scores(SCORES, compute_grade_bounds(SCORES, [0.5, 0.25])) == {
        "x": {"a": 2, "b": 1, "c": 0},
        "y": {"a": 0},
    }
    for shares in ([0.25, 0.5], [1.0, 0.5], [0.5, 0.0]):
        with pytest.raises(InputError, match="falling shares between 0 and 1"):
            compute_grade_bounds(SCORES, shares)


def test_judgments_keep_documents_that_exist():
    documents = {"a": Document("a", "text", "de")}
    judgments = make_judged_collection({"x": {"a": 2, "b": 1}, "z": {"b": 1}, "y": {"a": 0}}, documents, "de")
    assert judgments.queries == [Query("q1", "x", "de"), Query("q3", "y", "de")]
    assert judgments.qrels == {"q1": {"a": 2}, "q3": {"a": 0}}
    with pytest.raises(InputError, match="none of the documents"):
        make_judged_collection({"x": {"b": 1}}, documents, "de")


def test_queries_are_selected_by_their_frequency():
    frequent, repeated, rare = ([Session(query, (), ())] * n for query, n in [("often", 3), ("twice", 2), ("once", 1)])
    log = rare + frequent + repeated
    assert select_by_frequency(log) == log
    assert select_by_frequency(log, minimum=2) == frequent + repeated
    assert select_by_frequency(log, below=3) == rare + repeated
    assert select_by_frequency(log, minimum=2, below=3) == repeated
    assert select_by_frequency([], minimum=2) == []
    with pytest.raises(InputError, match=r"^no query is asked 4 times or more; the commonest is asked 3 times$"):
        select_by_frequency(log, minimum=4)
    with pytest.raises(InputError, match=r"asked 4 times or more and fewer than 9; the commonest is asked 3 times$"):
        select_by_frequency(log, minimum=4, below=9)
