"""Translation by the nearest words in a space that two languages share, with the rest of the query as context.

Eq. 5.2 of Liu's thesis: score(q_i, t) = major * cos(q_i, t) + context * sum over j != i of cos(q_j, t). Any model with
word vectors will do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from paragloss.analysis import analyzer
from paragloss.errors import LanguageError
from paragloss.ranking import neighbourhood
from paragloss.types import Alternative, Floats, Query, Span, Translation

#: Words of the source language that are compared to find words that are near to everything.
_MAX_HUBNESS_WORDS = 10_000
#: Weight of an answer whose score is not positive, before weights are made to sum to one.
_MIN_WEIGHT = 1e-6


class Space(Protocol):
    """Word vectors of several languages; a BagEncoder is one."""

    @property
    def langs(self) -> tuple[str, ...]:
        """The language codes."""
        ...

    def tower(self, lang: str) -> Any:
        """Return an object with a `vocabulary`: terms, most frequent first, and whether they are stems (`stem`)."""
        ...

    def words(self, lang: str) -> Floats:
        """Return one row for each term of the vocabulary."""
        ...


class _LanguageWords(NamedTuple):
    """The word vectors of one language, and those of its words that may be answers."""

    ids: dict[str, int]
    rows: Floats  # (terms, dim), unit or zero
    stem: bool
    written: list[str]  # for each of the most frequent terms the text that stands for it; "" if there is none
    answers: Floats  # (answers, dim): rows of the most frequent terms that have such a text
    answer_ids: np.ndarray[Any, np.dtype[np.int64]]


class EmbeddingTranslator:
    """A Translator: the nearest words of the other language for each word of the query."""

    def __init__(
        self,
        space: Space,
        *,
        top: int = 3,
        major: float = 1.0,
        context: float = 0.1,
        limit: int = 50_000,
        csls: bool = False,
        written: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Make a translator.

        :param space: word vectors of the languages
        :param top: how many words are returned for each word
        :param major: factor of eq. 5.2 for the word itself
        :param context: factor of eq. 5.2 for the other words of the query
        :param limit: only so many of the most frequent words are answers
        :param csls: let words that are similar to everything count less (Conneau et al., 2018)
        :param written: language -> term -> spelling. An answer must be a text that is analysed as the term, so a stem
            that is no word needs a spelling, or is not used
        """
        self._space = space
        self.top = top
        self.major = major
        self.context = context
        self.limit = limit
        self.csls = csls
        self._written = written or {}
        self._read_words = cache(self._normalize_vectors)
        self._compute_hubness = cache(self._measure_hubness)

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it translates from one language into another."""
        return {source, target} <= set(self._space.langs)

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Translate each word of a query by the nearest words of language `to`; unknown words stay as they are."""
        for lang in (query.lang, to):
            if lang not in self._space.langs:
                raise LanguageError(f"this model does not know {lang!r}; it knows {', '.join(self._space.langs)}")
        spans = analyzer(query.lang).spans(query.text)  # stop words are not worth translating, whatever the model knows
        alternatives_by_position = self._find_alternatives(query, spans, to)
        translations = []
        for position, span in enumerate(spans):
            word = query.text[span.start : span.end]
            alternatives = alternatives_by_position.get(position) or (Alternative(word, 1.0),)
            translations.append(Translation(word, alternatives))
        return translations

    def _find_alternatives(self, query: Query, spans: Sequence[Span], to: str) -> dict[int, tuple[Alternative, ...]]:
        """Return the nearest words of language `to` for each known word of a query, by its position."""
        word_ids = self._find_word_ids(query, spans)
        if not word_ids or not len(self._read_words(to).answers):
            return {}
        rows = self._read_words(query.lang).rows[list(word_ids.values())]
        return dict(zip(word_ids, self._find_nearest(rows, query.lang, to), strict=True))

    def _find_word_ids(self, query: Query, spans: Sequence[Span]) -> dict[int, int]:
        """Return the rows of the known words of a query in the vectors of its language, by their positions."""
        words = self._read_words(query.lang)
        word_ids = {}
        for position, span in enumerate(spans):
            term = span.term if words.stem else _normalize_word(query, span.start, span.end)
            if term in words.ids:
                word_ids[position] = words.ids[term]
        return word_ids

    def _find_nearest(self, rows: Floats, source: str, to: str) -> list[tuple[Alternative, ...]]:
        """Find the nearest words of another language for each word of a query.

        An answer scores by its similarity to the word and, with less weight, to the other words of the query (eq. 5.2
        of Liu's thesis).

        :param rows: (words, dim) unit vectors of the query's words
        :param source: the language of the query
        :param to: the language of the answers
        :return: for each word of the query its answers, best first, with weights that sum to one
        """
        target = self._read_words(to)
        # Computed transposed, so that answers are read in order.
        similarities = (target.answers @ rows.T).T  # (words, answers)
        if self.csls:
            similarities = 2 * similarities - self._compute_hubness(source, to)
        similarities_to_query = similarities.sum(axis=0)  # (answers,)
        # The sum has the word itself too, hence the difference of the factors.
        scores = (self.major - self.context) * similarities + self.context * similarities_to_query
        return [self._select_best(word_scores, target) for word_scores in scores]

    def _select_best(self, scores: Floats, target: _LanguageWords) -> tuple[Alternative, ...]:
        """Return the answers of the highest scores for one word, best first, with weights that sum to one.

        :param scores: (answers,) a score for each of `target.answers`
        :param target: the words of the other language
        """
        top = min(self.top, len(scores))
        candidates = np.argpartition(scores, -top)[-top:]
        order = np.lexsort((candidates, -scores[candidates]))  # of equal scores the more frequent word first
        best = candidates[order]
        weights = np.maximum(scores[best], _MIN_WEIGHT)
        shares = (weights / weights.sum()).tolist()
        texts = [target.written[word_id] for word_id in target.answer_ids[best]]
        return tuple(Alternative(text, share) for text, share in zip(texts, shares, strict=True))

    def _normalize_vectors(self, lang: str) -> _LanguageWords:
        """Read the word vectors of a language and scale them to unit length; cached as `_read_words`."""
        vocabulary = self._space.tower(lang).vocabulary
        vectors = self._space.words(lang)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        rows = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
        written = _find_texts_of_terms(vocabulary, lang, self._written.get(lang, {}), self.limit)
        answer_ids = np.array([i for i, text in enumerate(written) if text and norms[i, 0] > 0], np.int64)
        return _LanguageWords(vocabulary.index, rows, vocabulary.stem, written, rows[answer_ids], answer_ids)

    def _measure_hubness(self, source: str, to: str) -> Floats:
        """Return the mean similarity of each answer to its ten nearest source words; cached as `_compute_hubness`."""
        frequent = self._read_words(source).rows[: min(self.limit, _MAX_HUBNESS_WORDS)]
        return neighbourhood(self._read_words(to).answers, frequent)


def _normalize_word(query: Query, start: int, end: int) -> str:
    """Return a word of a query in lower case, not stemmed."""
    terms = analyzer(query.lang, stem=False, stop=False).terms(query.text[start:end])
    return terms[0] if terms else ""


def _find_texts_of_terms(vocabulary: Any, lang: str, spellings: Mapping[str, str], limit: int) -> list[str]:
    """Return for each of the most frequent terms a text that is analysed as the term; "" if there is none.

    A stem is not always stemmed to itself. Its translation would then not find the documents that have it.

    :param vocabulary: has the `terms`, most frequent first, and whether they are stems (`stem`)
    :param spellings: the spelling of each term, tried before the term itself
    :param limit: the number of terms
    """
    texts = []
    for term in vocabulary.terms[:limit]:
        candidates = [text for text in (spellings.get(term), term) if text]
        fitting = (text for text in candidates if _is_analysed_as(text, term, lang, stem=vocabulary.stem))
        texts.append(next(fitting, ""))
    return texts


def _is_analysed_as(text: str, term: str, lang: str, *, stem: bool) -> bool:
    """Tell whether a text is analysed as one term: as the given one, or as any if terms are not stemmed."""
    terms = analyzer(lang).terms(f"{text} 0")[:-1]  # alone, a stop word would not be dropped
    return terms == [term] if stem else len(terms) == 1
