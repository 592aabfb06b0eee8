"""Language fairness: small lists by hand."""

import math
import runpy
from pathlib import Path

import pytest

from paragloss.types import Hit

STUDY = runpy.run_path(str(Path(__file__).parents[2] / "studies" / "fairness.py"))
exposures, first, measure = STUDY["exposures"], STUDY["first"], STUDY["measure"]
LANGS = {"de1": "de", "hi1": "hi", "de2": "de", "hi2": "hi"}


def ranking(*ids):
    return [Hit(id, -float(place)) for place, id in enumerate(ids)]


def test_exposure_by_hand():
    # German first (1), Hindi third (1 / log2 4 = .5); an even list gives each (1 + 1 / log2 3) / 2.
    ideal = (1 + 1 / math.log2(3)) / 2
    found = exposures(ranking("de1", "x", "hi1"), {"de1", "hi1"}, LANGS)
    assert found == {"de": pytest.approx(1 / ideal), "hi": pytest.approx(0.5 / ideal)}


def test_a_list_that_takes_turns_is_fairer_than_one_that_does_not():
    qrels = {"q": dict.fromkeys(LANGS, 1)}
    turns = measure({"q": ranking("de1", "hi1", "hi2", "de2")}, qrels, LANGS)
    blocks = measure({"q": ranking("de1", "de2", "hi1", "hi2")}, qrels, LANGS)
    assert turns.fairness > blocks.fairness
    assert turns.mean == pytest.approx(blocks.mean) == pytest.approx(1.0)  # all are found: the mean can't tell


def test_nothing_found_anywhere_is_not_fair():
    qrels = {"q": {"de1": 1, "hi1": 1}}
    assert measure({"q": []}, qrels, LANGS) == ({"de": 0.0, "hi": 0.0}, 0.0, 0.0)
    assert measure({}, {}, LANGS) == ({}, 0.0, 0.0)


def test_languages_without_relevant_documents_are_not_asked_about():
    found = measure({"q": ranking("de1")}, {"q": {"de1": 1, "hi1": 0}}, LANGS)
    assert found.exposure == {"de": 1.0}
    assert found.fairness == 1.0


def test_the_share_among_the_first():
    qrels = {"q": {"de1": 1, "hi1": 1, "de2": 0}, "p": {"hi2": 1}}  # de2 is not relevant: nobody misses it
    run = {"q": ranking("de1", "x", "hi1"), "p": ranking("hi2")}
    assert first(run, qrels, LANGS, at=2) == {"de": 1.0, "hi": 0.5}


def test_languages_are_averaged_over_their_queries_by_hand():
    # q: German first, Hindi third, an even list gives (1 + 1 / log2 3) / 2 each. p: only Hindi, second of one.
    qrels = {"q": {"de1": 1, "hi1": 2, "x": 0}, "p": {"hi2": 1}}
    found = measure({"q": ranking("de1", "x", "hi1"), "p": ranking("x", "hi2")}, qrels, LANGS)
    ideal = (1 + 1 / math.log2(3)) / 2
    de, hi = 1 / ideal, (0.5 / ideal + 1 / math.log2(3)) / 2
    assert found.exposure == {"de": pytest.approx(de), "hi": pytest.approx(hi)}
    assert found.mean == pytest.approx((de + hi) / 2)
    assert found.fairness == pytest.approx(hi / de)


def test_nothing_behind_the_hundredth_place_is_seen():
    others = [f"x{i}" for i in range(99)]
    last, behind = ranking(*others, "de1"), ranking(*others, "x", "de1")
    assert exposures(last, {"de1"}, LANGS) == {"de": pytest.approx(1 / math.log2(101))}
    assert exposures(behind, {"de1"}, LANGS) == {"de": 0.0}
    assert measure({"q": last}, {"q": {"de1": 1}}, LANGS).mean == pytest.approx(1 / math.log2(101))
    assert measure({"q": behind}, {"q": {"de1": 1}}, LANGS).mean == 0.0
    # Of two relevant ones only one fits into a list of one.
    assert exposures(ranking("de1", "de2"), {"de1", "de2"}, LANGS, cut=1) == {"de": pytest.approx(1.0)}
