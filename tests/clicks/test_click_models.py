"""Small logs worked by hand, and a log of readers whose habits are known."""

import math

import numpy as np
import pytest
from scipy.stats import kendalltau

from paragloss.clicks import dctr, first_clicks, raw, simulate, synthetic_log, tacm
from paragloss.errors import InputError
from paragloss.formats.clicks import Click, Session


def session(shown, *clicks, query="q"):
    return Session(query, tuple(shown), tuple(Click(*c) if isinstance(c, tuple) else Click(c) for c in clicks))


def test_click_through_rate_counts_sessions_and_starts_at_one_half():
    log = [session("ab", "a"), session("ab", "a", "b"), session("ba", "a", "a"), session("ab")]
    # a: opened in 3 of 4 sessions, (3 + 1) / (4 + 2); b: in 1 of 4, (1 + 1) / (4 + 2).
    assert dctr(log) == {"q": {"a": pytest.approx(4 / 6), "b": pytest.approx(2 / 6)}}


def test_a_log_that_does_not_say_what_was_shown_still_has_rates():
    log = [session("", "a"), session("", "a"), session("", "b")]
    # All three sessions are taken to have shown a and b.
    assert dctr(log)["q"] == {"a": pytest.approx(3 / 5), "b": pytest.approx(2 / 5)}


def test_raw_takes_only_sessions_with_one_document_opened():
    log = [session("abc", "b"), session("abc", "b", "b"), session("abc", "a", "b"), session("abc")]
    assert raw(log) == {"q": {"b": 2.0}}
    assert first_clicks(log) == {"q": {"b": 2.0, "a": 1.0}}


def test_one_round_of_tacm_without_a_click():
    model = tacm([session("a")], rounds=1)
    # Attraction and examination start at 1/2. Not opened: attractive but not seen 1/2 * 1/2 of 3/4, so 1/3.
    assert model.attraction["q"]["a"] == pytest.approx(1 / 3)  # two trials more, at the average of 1/3
    assert model.examination[0, 1] == pytest.approx((1 / 3 + 1) / (1 + 2))  # two trials more, at 1/2


def test_tacm_with_a_click_and_no_rounds_to_learn_from_it():
    model = tacm([session("ab", ("a", 1, 30.0))], rounds=0, patience=30.0)
    enough = 1 - math.exp(-1)
    # Satisfied with chance enough / 2; otherwise b was passed over, with chance 3/4.
    satisfied = enough / 2 / (enough / 2 + (1 - enough / 2) * 3 / 4)
    # b was never opened and is taken for an ordinary document.
    assert model.satisfaction["q"] == {"a": pytest.approx(satisfied), "b": pytest.approx(satisfied)}
    assert model.relevance()["q"]["a"] == pytest.approx(satisfied / 2)


def test_one_round_of_tacm_with_a_click():
    model = tacm([session("ab", ("a", 1, 30.0))], rounds=1, patience=30.0)
    enough = 1 - math.exp(-1)
    satisfied = enough / 2 / (enough / 2 + (1 - enough / 2) * 3 / 4)
    # b: had the reader gone on, 1/3 as above; satisfied, nothing is learned and it stays 1/2.
    b = (1 - satisfied) / 3 + satisfied / 2
    assert model.attraction["q"]["a"] == pytest.approx((1 + 2 * (1 + b) / 2) / 3)
    assert model.attraction["q"]["b"] == pytest.approx((b + 2 * (1 + b) / 2) / 3)
    # Looked at only by a reader who went on.
    assert model.examination[1, 2] == pytest.approx(((1 - satisfied) / 3 + 1) / (1 - satisfied + 2))


def test_results_passed_over_on_the_way_back_up_count_as_looked_at():
    up = tacm([session("abc", "c", "a")], rounds=1)
    # a and b are passed over on the way to c, then b again from c up to a: 1/3 each time; a and c are opened.
    average = (3 * 1 / 3 + 2) / 5
    assert up.attraction["q"]["b"] == pytest.approx((2 / 3 + 2 * average) / 4)
    assert up.examination[3, 2] == pytest.approx(4 / 9)


def test_what_was_hardly_seen_does_not_beat_what_was_passed_over():
    log = [session("ab", ("a", 1, 60.0)) for _ in range(30)] + [session("cd") for _ in range(30)]
    found = tacm(log).relevance()["q"]
    assert found["a"] > found["b"]


def test_a_long_visit_satisfies_more_than_a_short_one():
    log = [session("abc", ("a", 1, 3.0)) for _ in range(20)] + [session("abc", ("b", 2, 90.0)) for _ in range(20)]
    satisfaction = tacm(log).satisfaction["q"]
    assert satisfaction["b"] > 2 * satisfaction["a"]


def test_sessions_that_show_nothing_are_refused():
    with pytest.raises(InputError, match="does not say what was shown"):
        tacm([session("", "a")])
    with pytest.raises(InputError, match="no session with results"):
        tacm([])


def agreement(scores, truth):
    taus = [
        kendalltau(list(documents.values()), [scores.get(query, {}).get(d, 0.0) for d in documents]).statistic
        for query, documents in truth.items()
    ]
    return float(np.nanmean(taus))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_models_recover_the_true_order_better_than_raw_clicks(seed):
    log = synthetic_log(seed=seed)
    found = {
        "first": agreement(first_clicks(log.sessions), log.relevance),
        "raw": agreement(raw(log.sessions), log.relevance),
        "dctr": agreement(dctr(log.sessions), log.relevance),
        "tacm": agreement(tacm(log.sessions).relevance(), log.relevance),
    }
    assert found["tacm"] > found["dctr"] + 0.1
    assert found["dctr"] > found["first"]
    assert found["tacm"] > found["raw"] + 0.1


def test_tacm_sees_that_readers_look_at_the_top_more():
    examination = tacm(synthetic_log(seed=3).sessions).examination[0, 1:]
    assert all(examination[:-1] > examination[1:] - 0.05)
    assert examination[0] > 0.8 > 0.2 > examination[-1]


def test_a_simulated_log_is_repeatable_and_bears_out_its_habits():
    ranking, sure = {"q": ["a", "b", "c"]}, {"q": {"a": 0.0, "b": 1.0, "c": 1.0}}
    log = simulate(ranking, sure, sure, sessions=300, depth=0.9, swaps=0, seed=5)
    assert log == simulate(ranking, sure, sure, sessions=300, depth=0.9, swaps=0, seed=5)
    # a never attracts; b always does and satisfies, so that c is never reached.
    assert {click.document for one in log for click in one.clicks} == {"b"}
    assert sum(bool(one.clicks) for one in log) / 300 == pytest.approx(0.9, abs=0.05)
