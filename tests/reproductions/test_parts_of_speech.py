"""Translations of a word's own part of speech; the tagger itself is tried where it is installed."""

import pytest

from papers.tables.thesis_dictionary import TAG_BEGINNINGS, keep_alternatives, keep_part_of_speech, sample_alternatives
from paragloss.types import Alternative, Query, Translation

MEANINGS = (Alternative("licht", 0.5), Alternative("leicht", 0.375), Alternative("beleuchten", 0.125))
LIGHT = Translation("light", MEANINGS)


def texts(clause):
    return [alternative.text for alternative in clause.alternatives]


def test_the_weights_of_what_is_kept_sum_to_one():
    kept = keep_alternatives(LIGHT, LIGHT.alternatives[1:])
    assert kept.source == "light"
    assert kept.alternatives == (
        Alternative("leicht", pytest.approx(0.75)),
        Alternative("beleuchten", pytest.approx(0.25)),
    )


def test_a_sample_has_as_many_alternatives_of_each_word_as_were_asked_for():
    word = Translation("word", (Alternative("wort", 1.0),))
    ((light, unchanged),) = sample_alternatives([[LIGHT, word]], [[2, 1]], seed=0)
    assert len(set(texts(light)) & set(texts(LIGHT))) == 2
    assert unchanged == word


def test_a_word_keeps_the_translations_of_its_part_of_speech_in_the_query():
    pytest.importorskip("HanTa")
    for text, expected in (("the light of the house", ["licht"]), ("light the old house", ["beleuchten"])):
        (kept,) = keep_part_of_speech(Query("q", text, "en"), [LIGHT], "de")
        assert texts(kept) == expected


def test_a_word_keeps_all_translations_where_none_fits_or_it_has_no_part_of_speech():
    pytest.importorskip("HanTa")
    verbs = Translation("house", (Alternative("laufen", 0.5), Alternative("gehen", 0.5)))
    phrase = Translation("the light", LIGHT.alternatives)
    kept = keep_part_of_speech(Query("q", "the light of the house", "en"), [verbs, phrase], "de")
    assert kept == [verbs, phrase]


def test_every_language_of_the_tagger_has_tags_for_all_four_parts_of_speech():
    for beginnings in TAG_BEGINNINGS.values():
        assert set(beginnings.values()) == {"noun", "verb", "adjective", "adverb"}
