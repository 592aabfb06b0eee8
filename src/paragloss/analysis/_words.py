"""One token to one term: spelling, stop words and stemming of a language put together.

Tokens come as written, straight from the text: since each is normalised on its own, places in the text stay true
without any map from normalised to original characters, and a word alone gives the term it gives in a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import compress, count

import numpy as np

from paragloss.analysis._normalise import after_stemming, before_stemming, fold
from paragloss.analysis._stemming import stemmer
from paragloss.analysis._stopwords import stopwords
from paragloss.types import Integers, Span, TokenizedText

#: Languages whose own words are never ASCII: an ASCII word in them is most often English, and stemmed as such, so that
#: "arrays" in a Japanese page and in an English one is the same term.
_NEVER_ASCII = """
am ar be bg bn bo ckb el fa gu he hi hy ja ka km kn ko lo mk ml mn mr my ne or ps ru si ta te th ti ug uk ur yi zh
"""

#: Distinct tokens kept per analyzer: about 100 MB at worst; when full the memo starts over.
_MOST_TOKENS = 500_000
#: Longer tokens (encoded data, for the most part) are unlikely to return and not worth their memory.
_LONGEST_TOKEN = 64


class TokenNormalizer:
    """Turns the tokens of a text into terms, dropping stop words unless nothing else is there."""

    def __init__(self, lang: str, *, stem: bool, stop: bool) -> None:
        self._lang = lang
        self._before, self._after = before_stemming(lang), after_stemming(lang)
        self._stem = stemmer(lang) if stem else str
        self._english_inside = stem and lang in _NEVER_ASCII.split()
        self._stem_ascii = stemmer("en") if self._english_inside else self._stem
        self._stops = stopwords(lang, self._spell) if stop else frozenset[str]()
        self._memo = TermCache(self._term)

    def token_terms(self, tokens: Collection[str]) -> list[str]:
        """The term of each token: "" of a stop word, and of one without letters or digits."""
        terms = list(map(self._memo.__getitem__, tokens))
        return terms if any(terms) else list(map(self._term_or_stop_word, tokens))

    def terms(self, tokens: Collection[str]) -> list[str]:
        """In order; a token without letters or digits gives none."""
        return list(filter(None, self.token_terms(tokens)))

    def counts(self, token: str) -> bool:
        """Whether a token is a word and no stop word."""
        return bool(self._memo[token])

    def spans(self, tokens: Sequence[tuple[int, int, str]]) -> list[Span]:
        """The same terms from (start, end, token), with their places."""
        terms = self.token_terms([token for _, _, token in tokens])
        return [Span(start, end, term) for (start, end, _), term in zip(tokens, terms, strict=True) if term]

    def tokenize(self, text: str, tokens: Sequence[str], starts: Integers, closing: str = "") -> TokenizedText:
        """The same of a long text, distinct word by distinct word; words end before what is `closing`."""
        distinct = dict(zip(dict.fromkeys(tokens), count(), strict=False))
        which = np.fromiter(map(distinct.__getitem__, tokens), np.int64, len(tokens))
        terms = self.token_terms(distinct)
        words = np.fromiter(map(bool, terms), bool, len(terms))
        number, here = words.cumsum() - 1, words[which]
        kept = [*compress(distinct, terms)]
        if any(map(text.__contains__, closing)):
            kept = [token.rstrip(closing) for token in kept]
        return TokenizedText(
            self._lang,
            text,
            list(filter(None, terms)),
            np.fromiter(map(len, kept), np.int64, len(kept)),
            number[which[here]],
            starts[here],
        )

    def _term(self, token: str) -> str:
        word = self._spell(token)
        return "" if word in self._stops else self._stemmed(word)

    def _term_or_stop_word(self, token: str) -> str:
        return self._stemmed(self._spell(token))

    def _stemmed(self, word: str) -> str:
        if not word.isascii():
            stem = self._stem(word) or word
            if not (stem.isascii() and self._english_inside):
                return self._after(stem)
            word = stem  # an English word that lost its Korean particle
        return self._stem_ascii(word) or word

    def _spell(self, token: str) -> str:
        return self._before(fold(token, self._lang))


class TermCache(dict[str, str]):
    """token -> term, worked out by `work_out` on first sight. Looking up a seen token never leaves C.

    Safe to share between threads: entries are pure functions of their key, so a race only repeats work.
    """

    def __init__(self, work_out: Callable[[str], str]) -> None:
        super().__init__()
        self._work_out = work_out

    def __missing__(self, token: str) -> str:
        term = self._work_out(token)
        if len(token) <= _LONGEST_TOKEN:
            if len(self) >= _MOST_TOKENS:
                self.clear()
            self[token] = term
        return term
