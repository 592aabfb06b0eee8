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
for_spaced_languages = pytest.mark.parametrize(
    "lang", ["en", "fr", "it", "tr", "ar", "fa", "he", "hi", "ko", "uk", "vi", "xh"]
)
for_every_tokenizer = pytest.mark.parametrize(
    "lang", ["en", "fr", "tr", "ar", "fa", "he", "hi", "ko", "zh", "ja", "th"]
)


@for_every_tokenizer
@settings(max_examples=40, deadline=None)
@given(text=texts)
def test_spans_are_the_terms_with_offsets_in_order(lang, text):
    tokenizer = analyzer(lang)
    spans = tokenizer.spans(text)
    assert [span.term for span in spans] == tokenizer.terms(text)
    previous_ends = [0]
    for span in spans:
        assert previous_ends[-1] <= span.start < span.end <= len(text)
        previous_ends.append(span.end)


@for_every_tokenizer
@settings(max_examples=40, deadline=None)
@given(text=texts, every_nth=st.integers(1, 3))
def test_tokenized_text_has_the_offsets_and_forms_of_the_spans(lang, text, every_nth):
    tokenizer = analyzer(lang)
    spans = tokenizer.spans(text)
    selected_terms = {span.term for span in spans[::every_nth]}
    tokenized = tokenizer.tokenize(text)
    assert tokenized.token_terms() == tokenizer.terms(text)
    selected = tokenized.select_weighted({**dict.fromkeys(tokenized.terms, 0.0), **dict.fromkeys(selected_terms, 1.0)})
    assert [*map(Span, *selected.offsets())] == [span for span in spans if span.term in selected_terms]
    written = {}
    for span in spans:
        written.setdefault(text[span.start : span.end], span.term)
    assert dict(zip(tokenized.spell_words(), tokenized.terms, strict=True)) == written
    assert list(dict.fromkeys(tokenized.terms)) == list(dict.fromkeys(written.values()))


@for_spaced_languages
@settings(max_examples=40, deadline=None)
@given(text=texts)
def test_a_word_alone_gives_the_term_it_gives_in_a_text(lang, text):
    tokenizer = analyzer(lang)
    for span in tokenizer.spans(text):
        assert tokenizer.terms(text[span.start : span.end]) == [span.term]


@for_every_tokenizer
@settings(max_examples=40, deadline=None)
@given(text=texts, word=st.text(alphabet="abcxyzABCéдяكم가漢字", min_size=1, max_size=5))
def test_readable_text_never_gives_nothing(lang, text, word):
    assert analyzer(lang).terms(f"{text} {word}")


@for_every_tokenizer
@settings(max_examples=40, deadline=None)
@given(text=texts)
def test_terms_hold_letters_digits_and_marks_only(lang, text):
    for term in analyzer(lang).terms(text):
        assert all(c.isalnum() or unicodedata.category(c)[0] == "M" for c in term)


@for_spaced_languages
@settings(max_examples=40, deadline=None)
@given(first=texts, second=texts)
def test_texts_side_by_side_give_their_terms_side_by_side(lang, first, second):
    tokenizer = analyzer(lang, stop=False)  # stop words count only where there are no others
    assert tokenizer.terms(f"{first} \n {second}") == tokenizer.terms(first) + tokenizer.terms(second)


def test_the_cache_of_terms_is_emptied_when_full_and_skips_long_tokens(monkeypatch):
    monkeypatch.setattr("paragloss.analysis._words.MAX_CACHED_TOKENS", 2)
    computed = []
    memo = TermCache(lambda token: computed.append(token) or token.upper())
    assert [memo[token] for token in "abcab"] == list("ABCAB")
    assert computed == ["a", "b", "c", "a", "b"]  # the third made it start over
    assert len(memo) <= 2
    assert memo["x" * 100] == "X" * 100
    assert "x" * 100 not in memo
