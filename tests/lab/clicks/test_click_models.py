"""Small logs worked by hand, and a log of readers whose habits are known."""

import math

import numpy as np
import pytest
from scipy.stats import kendalltau
from synthetic_logs import synthetic_log

from papers.simulated_readers import simulate
from paragloss.errors import InputError
from paragloss.lab.clicks import dctr, raw, tacm
from paragloss.lab.clicks.log_files import Click, Session


def make_session(doc_ids, *clicks, query="q"):
    return Session(query, tuple(doc_ids), tuple(Click(*c) if isinstance(c, tuple) else Click(c) for c in clicks))


def test_click_through_rate_counts_sessions_and_starts_at_one_half():
    log = [make_session("ab", "a"), make_session("ab", "a", "b"), make_session("ba", "a", "a"), make_session("ab")]
    # a: opened in 3 of 4 sessions, (3 + 1) / (4 + 2); b: in 1 of 4, (1 + 1) / (4 + 2).
    assert dctr(log) == {"q": {"a": pytest.approx(4 / 6), "b": pytest.approx(2 / 6)}}


def test_a_log_that_does_not_say_what_was_shown_still_has_rates():
    log = [make_session("", "a"), make_session("", "a"), make_session("", "b")]
    # All three sessions are taken to have shown a and b.
    assert dctr(log)["q"] == {"a": pytest.approx(3 / 5), "b": pytest.approx(2 / 5)}


def test_raw_takes_only_sessions_with_one_document_opened():
    log = [make_session("abc", "b"), make_session("abc", "b", "b"), make_session("abc", "a", "b"), make_session("abc")]
    assert raw(log) == {"q": {"b": 2.0}}


def test_one_round_of_tacm_without_a_click():
    model = tacm([make_session("a")], rounds=1)
    # Attraction and examination start at 1/2. Not opened: attractive but not seen 1/2 * 1/2 of 3/4, so 1/3.
    assert model.attraction["q"]["a"] == pytest.approx(1 / 3)  # two trials more, at the average of 1/3
    assert model.examination[0, 1] == pytest.approx((1 / 3 + 1) / (1 + 2))  # two trials more, at 1/2


#: A click on the first of two results, and how likely it ended the search: by a long enough stay on a document with the
#: power to satisfy, 1/2, or else the second was passed over, 3/4.
ONE_CLICK = make_session("ab", ("a", 1, 30.0))
POWER = 1 - math.exp(-1)
SATISFIED = POWER / 2 / (POWER / 2 + (1 - POWER / 2) * 3 / 4)


def test_tacm_with_a_click_and_no_rounds_to_learn_from_it():
    model = tacm([ONE_CLICK], rounds=0, patience=30.0)
    # b was never opened and is taken for an ordinary document.
    assert model.satisfaction["q"] == {"a": pytest.approx(SATISFIED), "b": pytest.approx(SATISFIED)}
    assert model.relevance()["q"]["a"] == pytest.approx(SATISFIED / 2)


def test_one_round_of_tacm_with_a_click():
    model = tacm([ONE_CLICK], rounds=1, patience=30.0)
    # b: had the reader gone on, 1/3 as above; satisfied, nothing is learned and it stays 1/2.
    b = (1 - SATISFIED) / 3 + SATISFIED / 2
    assert model.attraction["q"]["a"] == pytest.approx((1 + 2 * (1 + b) / 2) / 3)
    assert model.attraction["q"]["b"] == pytest.approx((b + 2 * (1 + b) / 2) / 3)
    # Looked at only by a reader who went on.
    assert model.examination[1, 2] == pytest.approx(((1 - SATISFIED) / 3 + 1) / (1 - SATISFIED + 2))


def test_a_readers_way_down_and_up_again_examines_every_result_on_it():
    model = tacm([make_session("abcde", "d", "a", "e")], rounds=1)
    # Down to d past a, b, c; up to a past c, b; down to e past b, c: the opened ones are not passed again.
    # a, d, e are opened (1); a is passed once (1/3), b and c three times.
    average = (3 * 1 + 7 / 3) / 10
    assert model.attraction["q"] == {
        "a": pytest.approx((1 + 1 / 3 + 2 * average) / 4),
        "b": pytest.approx((1 + 2 * average) / 5),
        "c": pytest.approx((1 + 2 * average) / 5),
        "d": pytest.approx((1 + 2 * average) / 3),
        "e": pytest.approx((1 + 2 * average) / 3),
    }
    passed, opened, never = (1 / 3 + 1) / 3, (1 + 1) / 3, 1 / 2  # one trial, and two more at 1/2
    expected = np.full((6, 6), never)
    expected[0, 1:5] = passed, passed, passed, opened  # from the top to d
    expected[4, 1:4] = opened, passed, passed  # from d to a
    expected[1, 2:6] = passed, passed, never, opened  # from a to e
    np.testing.assert_allclose(model.examination, expected)


def test_one_visit_does_not_change_the_belief_in_satisfaction():
    # Nothing follows: satisfied with chance POWER / 2. The power was there then, or was there and time was short:
    # POWER / 2 + (1 - POWER) / 2, which is the 1/2 that was believed before.
    model = tacm([make_session("a", ("a", 1, 30.0))], rounds=1)
    assert model.satisfaction["q"]["a"] == pytest.approx(POWER / 2)


def test_without_a_click_satisfaction_stays_one_half():
    model = tacm([make_session("ab")], rounds=0)
    assert model.satisfaction["q"] == {"a": 0.5, "b": 0.5}
    assert model.examination.tolist() == [[0.5] * 3] * 3


def test_a_click_without_a_time_counts_as_an_average_one():
    def measure_satisfaction(*clicks):
        return tacm([make_session(c[0], c) for c in clicks], rounds=0).satisfaction["q"]

    # With no times at all every visit was long enough: satisfied with chance 1/2.
    assert measure_satisfaction(("a",), ("b",)) == {"a": pytest.approx(0.5), "b": pytest.approx(0.5)}
    short, long = (1 - math.exp(-seconds / 30) for seconds in (3.0, 60.0))
    average = (short + long) / 2
    satisfaction = measure_satisfaction(("a", 1, 3.0), ("b", 1, 60.0), ("c",))
    # Each is drawn to the ordinary document by two trials more.
    assert satisfaction == {
        "a": pytest.approx((short + 2 * average) / 6),
        "b": pytest.approx((long + 2 * average) / 6),
        "c": pytest.approx((average + 2 * average) / 6),
    }


def test_tacm_defaults_to_thirty_rounds_and_thirty_seconds():
    log = [make_session("ab", ("a", 1, 9.0)), make_session("ba", ("a", 2, 50.0)), make_session("ab", ("b", 2, 20.0))]
    assert tacm(log)[:2] == tacm(log, rounds=30, patience=30.0)[:2]
    assert tacm(log)[:2] != tacm(log, rounds=31)[:2]
    assert tacm(log)[:2] != tacm(log, patience=31.0)[:2]


def test_sessions_that_show_nothing_are_refused():
    with pytest.raises(InputError, match="does not say what was shown"):
        tacm([make_session("", "a")])
    with pytest.raises(InputError, match="no session with results"):
        tacm([])


def measure_agreement(scores, truth):
    taus = [
        kendalltau(list(documents.values()), [scores.get(query, {}).get(d, 0.0) for d in documents]).statistic
        for query, documents in truth.items()
    ]
    return float(np.nanmean(taus))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_models_recover_the_true_order_better_than_raw_clicks(seed):
    log = synthetic_log(seed=seed)
    agreements = {
        "raw": measure_agreement(raw(log.sessions), log.relevance),
        "dctr": measure_agreement(dctr(log.sessions), log.relevance),
        "tacm": measure_agreement(tacm(log.sessions).relevance(), log.relevance),
    }
    assert agreements["tacm"] > agreements["dctr"] + 0.1
    assert agreements["tacm"] > agreements["raw"] + 0.1


def test_tacm_learns_that_readers_examine_the_top_more():
    examination = tacm(synthetic_log(seed=3).sessions).examination[0, 1:]
    assert all(examination[:-1] > examination[1:] - 0.05)
    assert examination[0] > 0.8 > 0.2 > examination[-1]


def test_readers_are_shown_the_ranking_with_neighbours_exchanged():
    rankings, nothing = {"four": "abcd", "two": "ab", "one": "a"}, {"four": {}, "two": {}, "one": {}}
    log = simulate(rankings, nothing, nothing)
    assert [session.query for session in log] == ["four"] * 100 + ["two"] * 100 + ["one"] * 100
    assert log == simulate(rankings, nothing, nothing, seed=0)
    shown_rankings = {
        query: {"".join(session.results) for session in log if session.query == query} for query in rankings
    }
    assert shown_rankings == {"four": {"bacd", "acbd", "abdc"}, "two": {"ba"}, "one": {"a"}}
    # What nothing is said of does not attract.
    assert not any(session.clicks for session in log)


def test_simulated_visits_last_a_minute_if_satisfying_and_else_ten_seconds():
    attraction = {"q": {"good": 1.0, "bad": 1.0}}
    log = simulate({"q": ["bad", "good"]}, attraction, {"q": {"good": 1.0}}, sessions=4000, depth=1.0, swaps=0)
    assert {tuple((c.document, c.rank) for c in session.clicks) for session in log} == {(("bad", 1), ("good", 2))}
    bad, good = np.array([[click.dwell for click in session.clicks] for session in log]).T
    # Sums of four waits of 15 and 2.5 seconds: their spread is half their mean.
    assert (good.mean(), good.std()) == (pytest.approx(60, rel=0.03), pytest.approx(30, rel=0.05))
    assert (bad.mean(), bad.std()) == (pytest.approx(10, rel=0.03), pytest.approx(5, rel=0.05))
    assert good.tolist() == [round(seconds, 1) for seconds in good.tolist()]
