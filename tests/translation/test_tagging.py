"""Parts of speech of a query's words, and the phrases they make."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragloss.analysis import analyzer
from paragloss.errors import LanguageError
from paragloss.translation.tagging import kind, phrases, tagger

pytest.importorskip("HanTa", reason="a tagger: paragloss[tagger]")


def tags(text, lang="en"):
    spans = analyzer(lang, stem=False, stop=False).spans(text)
    return dict(zip((text[s.start : s.end] for s in spans), tagger(lang)(text, spans), strict=True))


def test_the_same_word_is_tagged_by_its_place():
    assert tags("a light coat")["light"] == "adj"
    assert tags("switch off the light")["light"] == "noun"
    assert tags("they light a fire")["light"] == "verb"


def test_words_of_german_and_dutch_are_tagged():
    assert tags("eine offene Datenbank anlegen", "de") == {
        "eine": "", "offene": "adj", "Datenbank": "noun", "anlegen": "verb",
    }  # fmt: skip
    assert tags("een groot huis met een tuin", "nl") == {
        "een": "", "groot": "adj", "huis": "noun", "met": "prep", "tuin": "noun",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("n", "noun"),
        ("fem", "noun"),
        ("v, trans", "verb"),
        ("Adj.", "adj"),
        ("adverb", "adv"),
        ("conj", "conj"),
        ("", ""),
    ],
)
def test_dictionaries_write_parts_of_speech_in_many_ways(written, meant):
    assert kind(written) == meant


def test_nouns_in_a_row_and_behind_adjectives_are_phrases():
    found = phrases("Open an old data source in the dialog window quickly", "en", tagger("en"))
    assert [span.term for span in found] == ["old data source", "dialog window"]
    assert phrases("They went home", "en", tagger("en")) == []  # one noun is no phrase
    assert phrases("", "en", tagger("en")) == []


def test_a_phrase_ends_with_a_noun():
    given_tags = ["adj", "noun", "adj", "verb", "noun", "noun", "verb", "noun"]
    found = phrases("red data big runs net work has one", "en", lambda text, spans: given_tags)
    assert [span.term for span in found] == ["red data", "net work"]  # and one noun alone is none


def test_what_the_tagger_has_no_way_through_has_no_tags(monkeypatch):
    class Stuck:
        def tag_sent(self, words):
            raise KeyError(words[0])

    monkeypatch.setattr("paragloss.translation.tagging._model", lambda lang: Stuck())
    assert tags("a b") == {"a": "", "b": ""}


def test_a_language_without_a_tagger_is_refused():
    with pytest.raises(LanguageError, match=r"no tagger for 'xx'; there is one for en, de, nl"):
        tagger("xx")


@given(st.text(max_size=40))
@settings(max_examples=60, deadline=None)
def test_whatever_is_asked_every_word_gets_a_tag(text):
    spans = analyzer("en", stem=False, stop=False).spans(text)
    assert len(tagger("en")(text, spans)) == len(spans)
