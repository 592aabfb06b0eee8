"""One token to one term: spelling, stop words and stemming of a language put together.

Tokens come as written, straight from the text: since each is normalised on its own, places in the text stay true
without any map from normalised to original characters, and a word alone gives the term it gives in a sentence.
"""

from __future__ import annotations

from paragloss.analysis._memo import Memo
from paragloss.analysis._normalise import after_stemming, before_stemming, fold
from paragloss.analysis._stemming import stemmer
from paragloss.analysis._stopwords import stopwords

#: Languages whose own words are never ASCII: an ASCII word in them is most often English, and stemmed as such, so that
#: "arrays" in a Japanese page and in an English one is the same term.
_NEVER_ASCII = """
am ar be bg bn bo ckb el fa gu he hi hy ja ka km kn ko lo mk ml mn mr my ne or ps ru si ta te th ti ug uk ur yi zh
"""


class Words:
    """`terms[token]` is the token's term, or "" for a stop word; `always` ignores the list of stop words."""

    def __init__(self, lang: str, *, stem: bool, stop: bool) -> None:
        self._lang = lang
        self._before, self._after = before_stemming(lang), after_stemming(lang)
        self._stem = stemmer(lang) if stem else str
        self._stem_ascii = stemmer("en") if stem and lang in _NEVER_ASCII.split() else self._stem
        self._stops = stopwords(lang, self._spell) if stop else frozenset[str]()
        self.terms = Memo(self._term)

    def always(self, token: str) -> str:
        word = self._spell(token)
        stem = self._stem_ascii if word.isascii() else self._stem
        return self._after(stem(word) or word)

    def _term(self, token: str) -> str:
        return "" if self._stops and self._spell(token) in self._stops else self.always(token)

    def _spell(self, token: str) -> str:
        return self._before(fold(token, self._lang))
