"""How our tables are compared with the papers' figures."""

import pytest

from papers.markdown import format_figure
from papers.recipes import PaperColumn, Recipe, Statement
from papers.verdicts import CHANCE_ROW, judge_order, judge_table, list_problems, mean_by_row

PAPER = {"a": 0.5, "b": 0.4, "c": 0.3}


def table(**rows):
    """A table of one part: row -> values of its seeds."""
    return {"en-fr": {row: {"RR": list(values)} for row, values in rows.items()}}


def judge(values, paper=PAPER, tolerance=0.02):
    return judge_order(PaperColumn("RR", ["en-fr"], paper, tolerance), "en-fr", values)


def test_rows_in_the_paper_s_order_agree():
    verdict = judge(table(a=[0.9], b=[0.6], c=[0.1]))
    assert verdict.word == "agrees"
    assert verdict.agree == [("a", "b"), ("a", "c"), ("b", "c")]


def test_rows_in_the_opposite_order_disagree():
    verdict = judge(table(a=[0.9], b=[0.2], c=[0.3]))
    assert verdict.word == "disagrees"
    assert verdict.disagree == [("b", "c")]


@pytest.mark.parametrize(
    ("gap", "word"), [(0.019, "undecided"), (-0.019, "undecided"), (0.021, "agrees"), (-0.021, "disagrees")]
)
def test_a_gap_within_the_tolerance_is_a_tie_and_no_agreement(gap, word):
    assert judge(table(a=[0.5 + gap], b=[0.5]), paper={"a": 0.5, "b": 0.4}).word == word


def test_rows_that_the_paper_does_not_tell_apart_are_not_compared():
    verdict = judge(table(a=[0.1], b=[0.9]), paper={"a": 0.50, "b": 0.49})
    assert verdict.word == "undecided"
    assert not verdict.disagree


@pytest.mark.parametrize(("gap", "word"), [(0.019, "undecided"), (0.021, "agrees")])
def test_the_paper_tells_rows_apart_from_the_tolerance_on(gap, word):
    assert judge(table(a=[0.9], b=[0.1]), paper={"a": 0.4 + gap, "b": 0.4}).word == word


def test_rows_within_the_noise_of_a_random_order_get_no_verdict():
    # Row b is .02 above the random order, and its seeds differ by .04: two standard deviations are .04.
    values = table(**{CHANCE_ROW: [0.50, 0.50]}, a=[0.9, 0.9], b=[0.50, 0.54], c=[0.7, 0.7])
    verdict = judge(values)
    assert verdict.at_chance == ["b"]
    assert verdict.agree == [("a", "c")]
    assert "At chance, not compared: b." in verdict.describe()


@pytest.mark.parametrize(("mean", "at_chance"), [(0.504, ["b"]), (0.506, [])])
def test_half_a_point_above_a_random_order_is_noise_even_if_seeds_agree(mean, at_chance):
    values = table(**{CHANCE_ROW: [0.50, 0.50]}, a=[0.9, 0.9], b=[mean, mean])
    assert judge(values).at_chance == at_chance


def test_a_row_below_a_random_order_gets_no_verdict():
    values = table(**{CHANCE_ROW: [0.50, 0.50]}, a=[0.9, 0.9], b=[0.7, 0.7], c=[0.3, 0.3])
    verdict = judge(values)
    assert verdict.at_chance == ["c"]
    assert verdict.agree == [("a", "b")]


def test_a_row_whose_best_epoch_was_the_last_gets_no_verdict():
    values = table(a=[0.9, 0.9], b=[0.6, 0.6], c=[0.1, 0.1])
    for row, best in {"a": [7, 9], "b": [8, 30], "c": [8, 9]}.items():
        values["en-fr"][row] |= {"best epoch": best, "epochs": [20, 30]}
    paper = Recipe("any", figures=[PaperColumn("RR", ["en-fr"], PAPER, 0.02)], requires=["budget"])
    (verdict,) = judge_table(paper, values)
    assert verdict.agree == [("a", "c")]
    assert list_problems(paper, values) == ["en-fr, b: the best epoch was the last"]


@pytest.mark.parametrize(
    ("requirement", "problem"),
    [
        ("chance", "en-fr: no random order was measured"),
        ("budget", "en-fr: measured before recipes trained until convergence"),
    ],
)
def test_a_part_without_what_a_verdict_rests_on_gets_none(requirement, problem):
    paper = Recipe("any", figures=[PaperColumn("RR", ["en-fr"], PAPER, 0.02)], requires=[requirement])
    values = table(a=[0.9], b=[0.6])
    assert judge_table(paper, values) == []
    assert list_problems(paper, values) == [problem]
    complete = table(**{CHANCE_ROW: [0.1]}, a=[0.9], b=[0.6])
    complete["en-fr"]["a"] |= {"best epoch": [3], "epochs": [9]}
    assert [verdict.word for verdict in judge_table(paper, complete)] == ["agrees"]
    assert list_problems(paper, complete) == []


def test_a_part_called_all_is_the_mean_over_parts():
    values = {"en-fr": {"a": {"RR": [0.2, 0.4]}}, "en-de": {"a": {"RR": [0.9]}, "b": {"RR": [0.5]}}}
    assert mean_by_row(values, "all", "RR") == pytest.approx({"a": 0.6, "b": 0.5})


def test_a_statement_is_checked_by_our_means():
    statement = Statement("more is worse", "RR", ["en-fr"], "few", "many", 0.1)
    paper = Recipe("any", statements=[statement])
    (verdict,) = judge_table(paper, table(few=[0.6], many=[0.4]))
    assert verdict.describe() == "en-fr, RR: **agrees** with “more is worse”. Ours: few .600, many .400."
    (verdict,) = judge_table(paper, table(few=[0.6], many=[0.55]))
    assert verdict.word == "disagrees"
    tenfold = Recipe("any", statements=[Statement("ten times", "RR", ["en-fr"], "few", "many", 0.0, factor=10.0)])
    assert judge_table(tenfold, table(few=[0.6], many=[0.05]))[0].word == "agrees"
    assert judge_table(tenfold, table(few=[0.6], many=[0.07]))[0].word == "disagrees"
    assert judge_table(paper, table(few=[0.6])) == [], "a row that was not measured says nothing"
    no_better_than_chance = table(**{CHANCE_ROW: [0.6]}, few=[0.6], many=[0.4])
    assert judge_table(paper, no_better_than_chance) == [], "nor do two rows at chance"


@pytest.mark.parametrize(
    ("value", "text"), [(0.5123, ".512"), (1.0, "1.000"), (12.34, "12.3"), (1234.0, "1,234"), (3.0, "3")]
)
def test_figures_are_written_as_in_tables(value, text):
    assert format_figure(value) == text
