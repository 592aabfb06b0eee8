import math

import numpy as np
import pytest

from paragloss.errors import InputError
from paragloss.evaluation import evaluate, mean
from paragloss.types import Hit

# Two queries. q1 finds its grade-2 document second and its grade-1 document third; q2 finds nothing.
QRELS = {"q1": {"a": 2, "b": 1, "x": 0}, "q2": {"c": 1}}
RUN = {"q1": [Hit("x", 3.0), Hit("a", 2.0), Hit("b", 1.0)]}


def score_of(name):
    return evaluate(RUN, QRELS, [name])[name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # DCG = 2/log2(3) + 1/log2(4); ideal = 2/log2(2) + 1/log2(3)
        ("nDCG@10", (2 / math.log2(3) + 1 / 2) / (2 + 1 / math.log2(3))),
        ("AP", (1 / 2 + 2 / 3) / 2),
        ("MAP", (1 / 2 + 2 / 3) / 2),
        ("RR", 1 / 2),
        ("P@1", 0.0),
        ("P@2", 1 / 2),
        ("R@2", 1 / 2),
        ("P_mr@1", 0.0),
        ("P_mr@5", 1.0),  # a hit rate: the one grade-2 document is among the first five
        ("P_r@5", 2 / 5),
        ("MRR_mr", 1 / 2),
        ("MRR_r", 1 / 2),
        ("nDCG(dcg='exp-log2')@10", (3 / math.log2(3) + 1 / 2) / (3 + 1 / math.log2(3))),
        ("nDCG", (2 / math.log2(3) + 1 / 2) / (2 + 1 / math.log2(3))),
        ("nDCG@2", (2 / math.log2(3)) / (2 + 1 / math.log2(3))),  # the ideal is cut as well
        ("RR@1", 0.0),
        ("AP(rel=2)", 1 / 2),
        ("AP(rel=3)", 0.0),  # there is none
        ("R(rel=3)@2", 0.0),
        ("Judged@5", 3 / 5),
    ],
)
def test_values_worked_by_hand(name, value):
    assert score_of(name)["q1"] == pytest.approx(value, abs=1e-9)


def test_the_first_of_any_grade_and_the_first_of_the_highest():
    run = {"q": [Hit("none", 3.0), Hit("partly", 2.0), Hit("most", 1.0)]}
    scores_by_measure = evaluate(run, {"q": {"partly": 1, "most": 2}}, ["MRR_r", "MRR_mr", "P_r@5", "P_mr@2"])
    assert {name: scores["q"] for name, scores in scores_by_measure.items()} == {
        "MRR_r": 1 / 2, "MRR_mr": pytest.approx(1 / 3), "P_r@5": 2 / 5, "P_mr@2": 0.0,
    }  # fmt: skip


def test_a_query_that_found_nothing_counts_as_zero():
    assert score_of("RR")["q2"] == 0
    assert mean(evaluate(RUN, QRELS, ["RR"])) == {"RR": pytest.approx(0.25)}


def test_equal_scores_keep_the_order_they_were_served_in():
    for order in (["a", "x"], ["x", "a"]):
        run = {"q1": [Hit(name, 1.0) for name in order]}
        assert evaluate(run, QRELS, ["P@1"])["P@1"]["q1"] == (1.0 if order[0] == "a" else 0.0)


def test_a_query_without_a_relevant_document_is_left_out():
    assert set(evaluate(RUN, {**QRELS, "q3": {"a": 0}}, ["RR"])["RR"]) == {"q1", "q2"}


@pytest.mark.parametrize(
    ("run", "qrels", "measure", "message"),
    [
        (RUN, QRELS, "Goodness@3", "unknown measure 'Goodness@3'"),
        ({"other": [Hit("a", 1.0)]}, QRELS, "RR", "no query of the run is judged"),
        (RUN, {"q1": {"a": 0}}, "RR", "no relevant document"),
    ],
)
def test_unknown_measures_and_unjudged_queries_are_errors(run, qrels, measure, message):
    with pytest.raises(InputError, match=message):
        evaluate(run, qrels, [measure])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("P", "needs a cut-off"),
        ("R", "needs a cut-off"),
        ("Success", "needs a cut-off"),
        ("Judged", "needs a cut-off"),
        ("P(colour=3)@5", "unknown option 'colour=3'"),
        ("P(dcg='log2')@5", "unknown option \"dcg='log2'\""),
    ],
)
def test_incomplete_measures_are_refused(name, message):
    with pytest.raises(InputError, match=message):
        score_of(name)


def test_the_values_are_those_of_ir_measures():
    ir_measures = pytest.importorskip("ir_measures", reason="ir-measures does not install on this machine")
    random = np.random.default_rng(0)
    qrels = {f"q{q}": {f"d{d}": int(random.integers(-1, 4)) for d in range(40)} for q in range(50)}
    run = {
        q: [Hit(f"d{d}", float(-rank)) for rank, d in enumerate(random.permutation(60)[:30].tolist())] for q in qrels
    }
    names = ["nDCG@10", "nDCG", "AP", "AP@5", "AP(rel=2)", "RR", "RR@3", "P@7", "P(rel=2)@7", "R@10", "Success@2"]
    ours = evaluate(run, qrels, names)
    served = {q: {hit.id: hit.score for hit in ranking} for q, ranking in run.items()}
    for name in names:
        theirs = {m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, served)}
        assert ours[name] == pytest.approx({q: theirs[q] for q in ours[name]}, abs=1e-6), name


def test_three_queries_of_each_side_are_named_when_none_is_judged():
    ranking, grades = [Hit("a", 1.0)], {"a": 1}
    with pytest.raises(InputError, match=r"the run has r1, r2, r3, the judgments have q1, q2, q3, \.\.\.$"):
        evaluate(dict.fromkeys(["r3", "r1", "r2"], ranking), dict.fromkeys(["q4", "q2", "q3", "q1"], grades), ["AP"])
