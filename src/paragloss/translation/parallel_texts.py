"""Choosing among translations by what the query's best parallel texts say (Ballesteros and Croft, SIGIR 1998).

The query finds texts of its own language; their other sides are pooled, and each word's translations count by what they
weigh there, or only the heaviest does. Knows nothing of where translations come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss import artefacts
from paragloss.analysis import analyzer
from paragloss.errors import LanguageError
from paragloss.types import Alternative, Chooser, Query, Translation, Translator

if TYPE_CHECKING:
    import scipy.sparse as sp

KIND = "parallel"
#: BM25's, for finding texts of the query's language.
_K1, _B = 1.2, 0.75
Doubles = npt.NDArray[np.float64]


class TextCounts(NamedTuple):
    """The texts in one language: how often each has each term, no term where a text is not there."""

    terms: list[str]
    counts: sp.csr_matrix  # (texts, terms)


class Parallel:
    """Texts that say the same in several languages. The best `texts` are looked at, and their heaviest `terms`; a word
    none of whose translations is among these keeps them all."""

    def __init__(self, sides: Mapping[str, TextCounts], *, texts: int = 30, terms: int = 5000) -> None:
        self._sides = {lang: _Counted(side) for lang, side in sides.items()}
        self.texts, self.terms = texts, terms

    @property
    def langs(self) -> tuple[str, ...]:
        return tuple(sorted(self._sides))

    @property
    def meta(self) -> dict[str, Any]:
        """How many texts there are in each language; shown by `paragloss info`."""
        return {"texts": {lang: int((self._sides[lang].length > 0).sum()) for lang in self.langs}}

    def choose(self, query: Query, clauses: Sequence[Translation], to: str, *, one: bool = False) -> list[Translation]:
        """Each alternative's weight times what the best parallel texts say of it; or only the `one` they say most of,
        which is Ballesteros and Croft's way."""
        weight = self.weights(query, to)
        cut = analyzer(to).terms

        def support(alternative: Alternative) -> float:
            return min((weight.get(term, 0.0) for term in cut(alternative.text)), default=0.0)

        return [_weighed(clause, [support(a) for a in clause.alternatives], one=one) for clause in clauses]

    def weights(self, query: Query, to: str) -> dict[str, float]:
        """The heaviest terms of the best texts' other sides by Rocchio's formula: tf * idf, added up."""
        if missing := [lang for lang in (query.lang, to) if lang not in self._sides]:
            raise LanguageError(f"no parallel texts in {missing[0]!r}; there are some in {', '.join(self.langs)}")
        asked, other = self._sides[query.lang], self._sides[to]
        scores = asked.bm25(analyzer(query.lang).terms(query.text)) * (other.length > 0)
        best = np.argsort(-scores, kind="stable")[: self.texts]
        pooled = np.asarray(other.counts[best[scores[best] > 0]].sum(axis=0)).ravel() * other.idf
        heaviest = np.argsort(-pooled, kind="stable")[: self.terms]
        return {other.terms[i]: float(pooled[i]) for i in heaviest if pooled[i] > 0}

    def save(self, path: str | Path) -> None:
        arrays = {
            f"{lang}.{name}": array
            for lang, side in self._sides.items()
            for name, array in zip(
                ("count", "term", "start"), (side.counts.data, side.counts.indices, side.counts.indptr), strict=True
            )
        }
        words = {f"{lang}.terms": side.terms for lang, side in self._sides.items()}
        meta = {"langs": list(self._sides), "texts": self.texts, "terms": self.terms}
        artefacts.save(path, KIND, meta=meta, arrays=arrays, words=words)

    @classmethod
    def load(cls, path: str | Path) -> Parallel:
        import scipy.sparse as sp

        saved = artefacts.load(path, kind=KIND)
        sides = {}
        for lang in saved.meta["langs"]:
            parts = tuple(saved.arrays[f"{lang}.{name}"] for name in ("count", "term", "start"))
            terms = saved.words[f"{lang}.terms"]
            counts = sp.csr_matrix(parts, shape=(len(parts[2]) - 1, len(terms)), copy=False)
            counts.check_format(full_check=True)  # a number too large would be read from anywhere
            sides[lang] = TextCounts(terms, counts)
        return cls(sides, texts=int(saved.meta["texts"]), terms=int(saved.meta["terms"]))


class ReweightedTranslator:
    """Wraps a Translator: something else chooses among its alternatives."""

    def __init__(self, translator: Translator, chooser: Chooser, *, one: bool = False) -> None:
        self._translator, self._chooser, self._one = translator, chooser, one

    def knows(self, source: str, target: str) -> bool:
        return self._translator.knows(source, target)

    def translate(self, query: Query, to: str) -> list[Translation]:
        return self._chooser.choose(query, self._translator.translate(query, to), to, one=self._one)


def _weighed(clause: Translation, support: Sequence[float], *, one: bool) -> Translation:
    if not any(support):
        return clause
    if one:
        return clause._replace(alternatives=(Alternative(clause.alternatives[int(np.argmax(support))].text, 1.0),))
    both = [(a, a.weight * share) for a, share in zip(clause.alternatives, support, strict=True)]
    total = sum(weight for _, weight in both)
    kept = sorted((a._replace(weight=weight / total) for a, weight in both if weight > 0), key=lambda a: -a.weight)
    return clause._replace(alternatives=tuple(kept))


class _Counted:
    """One side with what finding and weighing need of it."""

    def __init__(self, side: TextCounts) -> None:
        self.terms, self.counts = side
        self.length: Doubles = np.asarray(self.counts.sum(axis=1), np.float64).ravel()
        df = np.bincount(self.counts.indices, minlength=self.counts.shape[1])
        number = max(int((self.length > 0).sum()), 1)
        self.idf: Doubles = np.log1p((number - df + 0.5) / (df + 0.5))

    @cached_property
    def _postings(self) -> tuple[dict[str, int], sp.csc_matrix]:
        return {term: i for i, term in enumerate(self.terms)}, self.counts.tocsc()

    def bm25(self, asked: Sequence[str]) -> Doubles:
        """What each text scores for some terms."""
        index, postings = self._postings
        norm = _K1 * (1 - _B + _B * self.length / max(self.length[self.length > 0].mean(), 1))
        scores = np.zeros(len(self.length))
        for i in (index[term] for term in asked if term in index):
            cells = slice(postings.indptr[i], postings.indptr[i + 1])
            rows, tf = postings.indices[cells], postings.data[cells]
            scores[rows] += self.idf[i] * tf / (tf + norm[rows])
        return scores


load = Parallel.load
