"""What holds for any text whatever."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragloss.analysis import analyzer
from paragloss.analysis._words import TermCache
from paragloss.types import Span

ALPHABETS = "abzAZéßœøñİIıçş'’ʼ-_.+#C Àجكةيٱ‌ﻛםצ\"״ςΣώйё́кोक्षिন়தமிเกาัดがァー漢資ｱ가를힣0٣½²ﷺ\u00ad\n"
texts = st.one_of(st.text(max_size=40), st.text(alphabet=ALPHABETS, max_size=40))
spaced = pytest.mark.parametrize("lang", ["en", "fr", "it", "tr", "ar", "fa", "he", "hi", "ko", "uk", "vi", "xh"])
every = pytest.mark.parametrize("lang", ["en", "fr", "tr", "ar", "fa", "he", "hi", "ko", "zh", "ja", "th"])


@every
@settings(max_examples=40, deadline=None)
@given(text=texts)
def test_spans_are_the_terms_with_places_in_order(lang, text):
    cut = analyzer(lang)
    spans = cut.spans(text)
    assert [span.term for span in spans] == cut.terms(text)
    ends = [0]
    for span in spans:
        assert ends[-1] <= span.start < span.end <= len(text)
        ends.append(span.end)


@every
@settings(max_examples=40, deadline=None)
@given(text=texts, every_nth=st.integers(1, 3))
def test_places_and_forms_are_those_of_the_spans(lang, text, every_nth):
    cut = analyzer(lang)
    spans = cut.spans(text)
    some = {span.term for span in spans[::every_nth]}
    once = cut.tokenize(text)
    assert once.token_terms() == cut.terms(text)
    held = once.select_weighted({**dict.fromkeys(once.terms, 0.0), **dict.fromkeys(some, 1.0)})
    assert [*map(Span, *held.offsets())] == [span for span in spans if span.term in some]
    written = {}
    for span in spans:
        written.setdefault(text[span.start : span.end], span.term)
    assert dict(zip(once.spell_words(), once.terms, strict=True)) == written
    assert list(dict.fromkeys(once.terms)) == list(dict.fromkeys(written.values()))


@spaced
@settings(max_examples=40, deadline=None)
@given(text=texts)
def test_a_word_alone_gives_the_term_it_gives_in_a_text(lang, text):
    cut = analyzer(lang)
    for span in cut.spans(text):
        assert cut.terms(text[span.start : span.end]) == [span.term]


@every
@settings(max_examples=40, deadline=None)
@given(text=texts, word=st.text(alphabet="abcxyzABCéдяكم가漢字", min_size=1, max_size=5))
def test_readable_text_never_gives_nothing(lang, text, word):
    assert analyzer(lang).terms(f"{text} {word}")


@every
@settings(max_examples=40, deadline=None)
@given(text=texts)
def test_terms_hold_letters_digits_and_marks_only(lang, text):
    for term in analyzer(lang).terms(text):
        assert all(c.isalnum() or unicodedata.category(c)[0] == "M" for c in term)


@spaced
@settings(max_examples=40, deadline=None)
@given(one=texts, other=texts)
def test_texts_side_by_side_give_their_terms_side_by_side(lang, one, other):
    cut = analyzer(lang, stop=False)  # stop words count only where there are no others
    assert cut.terms(f"{one} \n {other}") == cut.terms(one) + cut.terms(other)


def test_memo_starts_over_when_full_and_forgets_nothing_that_matters(monkeypatch):
    monkeypatch.setattr("paragloss.analysis._words.MAX_CACHED_TOKENS", 2)
    seen = []
    memo = TermCache(lambda token: seen.append(token) or token.upper())
    assert [memo[token] for token in "abcab"] == list("ABCAB")
    assert seen == ["a", "b", "c", "a", "b"]  # the third made it start over
    assert len(memo) <= 2
    assert memo["x" * 100] == "X" * 100
    assert "x" * 100 not in memo
