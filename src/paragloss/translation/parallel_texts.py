"""Choose among translations by the parallel texts that a query finds (Ballesteros and Croft, SIGIR 1998).

The query finds texts of its own language. Their translations are pooled, and each alternative counts by its weight in
that pool, or only the heaviest does.
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
from paragloss.types import Alternative, Query, Translation, TranslationChooser, Translator

if TYPE_CHECKING:
    import scipy.sparse as sp

KIND = "parallel"
#: Parameters of BM25, which finds texts of the query's language.
_K1, _B = 1.2, 0.75
Doubles = npt.NDArray[np.float64]


class TextCounts(NamedTuple):
    """Term counts of the texts in one language; the row of a text that this language does not have is empty."""

    terms: list[str]
    counts: sp.csr_matrix  # (texts, terms)


class Parallel:
    """Texts in several languages with the same content.

    The best `texts` are pooled, and the heaviest `terms` of the pool count. A word none of whose translations is among
    these keeps them all.
    """

    def __init__(self, sides: Mapping[str, TextCounts], *, texts: int = 30, terms: int = 5000) -> None:
        self._sides = {lang: _IndexedTexts(side) for lang, side in sides.items()}
        self.texts, self.terms = texts, terms

    @property
    def langs(self) -> tuple[str, ...]:
        """The language codes."""
        return tuple(sorted(self._sides))

    @property
    def meta(self) -> dict[str, Any]:
        """Number of texts in each language; shown by `paragloss info`."""
        return {"texts": {lang: int((self._sides[lang].lengths > 0).sum()) for lang in self.langs}}

    def choose(
        self, query: Query, clauses: Sequence[Translation], to: str, *, best_only: bool = False
    ) -> list[Translation]:
        """Multiply the weight of each alternative by its weight in the pool.

        :param query: finds texts of its language, whose translations are pooled.
        :param clauses: the alternatives of each word of the query.
        :param to: the language of the alternatives.
        :param best_only: keep only the heaviest alternative of a word, as Ballesteros and Croft do.
        """
        weight_by_term = self.weights(query, to)
        reweighted = []
        for clause in clauses:
            support = [_weigh_text(alternative.text, to, weight_by_term) for alternative in clause.alternatives]
            if best_only:
                reweighted.append(_keep_best(clause, support))
            else:
                reweighted.append(_reweigh(clause, support))
        return reweighted

    def weights(self, query: Query, to: str) -> dict[str, float]:
        """Weigh the terms of another language by the translations of the texts that a query finds.

        The weight is Rocchio's: the sum of tf * idf over the translations of the best texts. How many texts are used
        and how many terms are returned are settings of the model (`texts`, `terms`).

        :param to: the other language
        :return: term -> weight, of the `terms` heaviest terms, the heaviest first
        :raises LanguageError: if there are no texts in one of the languages
        """
        source, target = self._get_texts(query.lang), self._get_texts(to)
        has_translation = target.lengths > 0  # (texts,)
        scores = source.bm25(analyzer(query.lang).terms(query.text)) * has_translation
        best_texts = _find_highest(scores, self.texts)
        term_weights = np.asarray(target.counts[best_texts].sum(axis=0)).ravel() * target.idf  # (terms,)
        heaviest_terms = _find_highest(term_weights, self.terms)
        return {target.terms[i]: float(term_weights[i]) for i in heaviest_terms}

    def _get_texts(self, lang: str) -> _IndexedTexts:
        """Return the texts of a language.

        :raises LanguageError: if there are none
        """
        if lang not in self._sides:
            raise LanguageError(f"no parallel texts in {lang!r}; there are some in {', '.join(self.langs)}")
        return self._sides[lang]

    def save(self, path: str | Path) -> None:
        """Write the model to a folder."""
        arrays = {}
        for lang, side in self._sides.items():
            arrays[f"{lang}.count"] = side.counts.data
            arrays[f"{lang}.term"] = side.counts.indices
            arrays[f"{lang}.start"] = side.counts.indptr
        words = {f"{lang}.terms": side.terms for lang, side in self._sides.items()}
        meta = {"langs": list(self._sides), "texts": self.texts, "terms": self.terms}
        artefacts.save(path, KIND, meta=meta, arrays=arrays, words=words)

    @classmethod
    def load(cls, path: str | Path) -> Parallel:
        """Open a saved model."""
        import scipy.sparse as sp

        saved = artefacts.load(path, kind=KIND)
        sides = {}
        for lang in saved.meta["langs"]:
            terms = saved.words[f"{lang}.terms"]
            counts, term_numbers = saved.arrays[f"{lang}.count"], saved.arrays[f"{lang}.term"]
            text_starts = saved.arrays[f"{lang}.start"]
            shape = (len(text_starts) - 1, len(terms))  # (texts, terms)
            matrix = sp.csr_matrix((counts, term_numbers, text_starts), shape=shape, copy=False)
            matrix.check_format(full_check=True)  # a number too large would be read from anywhere
            sides[lang] = TextCounts(terms, matrix)
        return cls(sides, texts=int(saved.meta["texts"]), terms=int(saved.meta["terms"]))


class ReweightedTranslator:
    """Wraps a Translator whose alternatives a TranslationChooser, such as `Parallel`, weighs anew."""

    def __init__(self, translator: Translator, chooser: TranslationChooser, *, best_only: bool = False) -> None:
        self._translator, self._chooser, self._best_only = translator, chooser, best_only

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it translates from one language into another."""
        return self._translator.knows(source, target)

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Return the alternatives for each term of a query in another language."""
        return self._chooser.choose(query, self._translator.translate(query, to), to, best_only=self._best_only)


def _find_highest(values: Doubles, limit: int) -> npt.NDArray[np.intp]:
    """Return the positions of the highest values above zero, at most `limit`; equal values stay in order."""
    highest = np.argsort(-values, kind="stable")[:limit]
    return highest[values[highest] > 0]


def _weigh_text(text: str, lang: str, weight_by_term: Mapping[str, float]) -> float:
    """Return the weight of the lightest term of a text; 0 for a text without terms."""
    return min((weight_by_term.get(term, 0.0) for term in analyzer(lang).terms(text)), default=0.0)


def _keep_best(clause: Translation, support: Sequence[float]) -> Translation:
    """Keep the alternative with the greatest support, or all if none has any."""
    if not any(support):
        return clause
    best = clause.alternatives[int(np.argmax(support))]
    return clause._replace(alternatives=(Alternative(best.text, 1.0),))


def _reweigh(clause: Translation, support: Sequence[float]) -> Translation:
    """Multiply the weights of alternatives by their support, and scale them so that they sum to one; best first.

    Alternatives without support are dropped, unless none has any.

    :param clause: a word of the query with its alternatives
    :param support: the weight of each alternative in the translations of the texts that the query found.
    """
    if not any(support):
        return clause
    weights = [alternative.weight * factor for alternative, factor in zip(clause.alternatives, support, strict=True)]
    total = sum(weights)
    supported = []
    for alternative, weight in zip(clause.alternatives, weights, strict=True):
        if weight > 0:
            supported.append(alternative._replace(weight=weight / total))
    supported.sort(key=lambda alternative: -alternative.weight)
    return clause._replace(alternatives=tuple(supported))


class _IndexedTexts:
    """Term counts of one language with the lengths and idf that searching needs."""

    def __init__(self, side: TextCounts) -> None:
        self.terms, self.counts = side
        self.lengths: Doubles = np.asarray(self.counts.sum(axis=1), np.float64).ravel()
        df = np.bincount(self.counts.indices, minlength=self.counts.shape[1])
        n_texts = max(int((self.lengths > 0).sum()), 1)
        self.idf: Doubles = np.log1p((n_texts - df + 0.5) / (df + 0.5))

    @cached_property
    def _postings(self) -> tuple[dict[str, int], sp.csc_matrix]:
        """The number of each term, and the counts by columns: for each term the texts that have it."""
        return {term: i for i, term in enumerate(self.terms)}, self.counts.tocsc()

    def bm25(self, query_terms: Sequence[str]) -> Doubles:
        """Return the BM25 score of each text for a query, (texts,), without its constant factor k1 + 1."""
        number_by_term, postings = self._postings
        mean_length = max(self.lengths[self.lengths > 0].mean(), 1)
        norms = _K1 * (1 - _B + _B * self.lengths / mean_length)  # (texts,)
        scores = np.zeros(len(self.lengths))
        for term in query_terms:
            if term not in number_by_term:
                continue
            number = number_by_term[term]
            entries = slice(postings.indptr[number], postings.indptr[number + 1])
            texts = postings.indices[entries]  # those that have the term
            tf = postings.data[entries]  # how often each of them has it
            scores[texts] += self.idf[number] * tf / (tf + norms[texts])
        return scores


load = Parallel.load
