"""Turn each token into a term: spelling, stop words and stemming of a language.

Tokens are normalised one by one, so their offsets in the text stay valid, and a word alone has the same term as in a
sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import compress, repeat

import numpy as np

from paragloss.analysis._normalise import fold_token, get_term_normalizer, get_word_normalizer
from paragloss.analysis._stemming import get_stemmer
from paragloss.analysis._stopwords import stopwords
from paragloss.types import Integers, Span, TokenizedText

#: Languages whose own words are never ASCII. An ASCII word in them is most often English, and is stemmed as such, so
#: "arrays" in a Japanese page and in an English one are the same term.
_NEVER_ASCII = """
am ar be bg bn bo ckb el fa gu he hi hy ja ka km kn ko lo mk ml mn mr my ne or ps ru si ta te th ti ug uk ur yi zh
"""

#: Distinct tokens cached per analyzer, about 100 MB at worst; a full cache is emptied.
MAX_CACHED_TOKENS = 500_000
#: Longer tokens are encoded data for the most part, and seldom occur again.
MAX_CACHED_LENGTH = 64


class TokenNormalizer:
    """Turns the tokens of a text into terms, without stop words unless there are no other words."""

    def __init__(self, lang: str, *, stem: bool, stop: bool) -> None:
        self._lang = lang
        self._normalize_word, self._normalize_term = get_word_normalizer(lang), get_term_normalizer(lang)
        self._stem = get_stemmer(lang) if stem else str
        self._has_english_words = stem and lang in _NEVER_ASCII.split()
        self._stem_ascii = get_stemmer("en") if self._has_english_words else self._stem
        self._stopwords = stopwords(lang, self._spell) if stop else frozenset[str]()
        self._cache = TermCache(self._compute_term)

    def token_terms(self, tokens: Collection[str]) -> list[str]:
        """Return the term of each token; "" for a stop word and for a token without letters or digits."""
        terms = list(map(self._cache.__getitem__, tokens))
        return terms if any(terms) else list(map(self._compute_stop_word_term, tokens))

    def terms(self, tokens: Collection[str]) -> list[str]:
        """Return the terms of the tokens that have one, in order."""
        return list(filter(None, self.token_terms(tokens)))

    def spans(self, tokens: Sequence[tuple[int, int, str]]) -> list[Span]:
        """Return the terms of tokens given as (start, end, token), with their offsets."""
        terms = self.token_terms([token for _, _, token in tokens])
        return [Span(start, end, term) for (start, end, _), term in zip(tokens, terms, strict=True) if term]

    def tokenize(self, text: str, tokens: Sequence[str], starts: Integers, closing: str = "") -> TokenizedText:
        """Turn the tokens of a text into terms with their offsets; each distinct token is normalised once.

        A word is a distinct token that has a term: stop words and signs are none.

        :param text: the text
        :param tokens: the tokens of the text, in order
        :param starts: the offset of each token, (n_tokens,)
        :param closing: signs that don't count in the length of a token where they end it, such as a quotation mark
        """
        distinct_tokens = list(dict.fromkeys(tokens))
        token_terms = self.token_terms(distinct_tokens)  # "" for a token that is no word
        words = list(compress(distinct_tokens, token_terms))
        terms = list(filter(None, token_terms))  # one for each word
        lengths = np.array([len(word.rstrip(closing)) for word in words], np.int64)  # (n_words,)
        index_by_word = {word: index for index, word in enumerate(words)}
        # No loop in Python: this runs for every token of every document.
        indices_of_tokens = map(index_by_word.get, tokens, repeat(-1))  # -1 for a token that is no word
        word_indices = np.fromiter(indices_of_tokens, np.int64, len(tokens))  # (n_tokens,)
        is_word = word_indices >= 0  # (n_tokens,)
        return TokenizedText(self._lang, text, terms, lengths, word_indices[is_word], starts[is_word])

    def _compute_term(self, token: str) -> str:
        """Return the term of a token, "" for a stop word."""
        word = self._spell(token)
        return "" if word in self._stopwords else self._stem_word(word)

    def _compute_stop_word_term(self, token: str) -> str:
        return self._stem_word(self._spell(token))

    def _stem_word(self, word: str) -> str:
        """Stem a word: as English if it is ASCII in a language that is never written in ASCII."""
        if not word.isascii():
            stem = self._stem(word) or word
            if not (stem.isascii() and self._has_english_words):
                return self._normalize_term(stem)
            word = stem  # an English word that lost its Korean particle
        return self._stem_ascii(word) or word

    def _spell(self, token: str) -> str:
        return self._normalize_word(fold_token(token, self._lang))


class TermCache(dict[str, str]):
    """Caches the term of each token; looking up a cached token runs no Python code.

    It is a `dict` for that speed, and can be shared between threads: a race only computes a term twice.
    """

    def __init__(self, compute_term: Callable[[str], str]) -> None:
        super().__init__()
        self._compute_term = compute_term

    def __missing__(self, token: str) -> str:
        term = self._compute_term(token)
        if len(token) <= MAX_CACHED_LENGTH:
            if len(self) >= MAX_CACHED_TOKENS:
                self.clear()
            self[token] = term
        return term
