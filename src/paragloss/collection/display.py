"""What a person sees of a document that was found: its title, and the passage that speaks for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, compress
from typing import Any, NamedTuple

import numpy as np

from paragloss.analysis import analyzer
from paragloss.analysis.tokenization import MAX_TOKENIZED_CHARACTERS
from paragloss.bm25 import Ids
from paragloss.collection.state import State
from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.pretrained import Pretrained, passages
from paragloss.formats.subtitles import find_time_code
from paragloss.gloss import contributions, snippet
from paragloss.index.fields import INNER
from paragloss.index.terms import TERMS_VECTOR
from paragloss.translation.subword_terms import find_subword_matches
from paragloss.types import Document, Query, QueryForms, Record, TokenizedText


class Result(NamedTuple):
    """A document that a search found, as it is shown.

    :param id: the document id.
    :param lang: the language code of the document.
    :param title: its title, or "".
    :param score: its score; comparable within one answer only.
    :param snippet: the passage that fits the query best.
    :param marks: the start and end of each match in the snippet, in characters.
    :param meta: the metadata of the document.
    :param fit: the probability, from 0 to 1, that the document answers the query; with a pipeline of your own, the
        share of the best possible score.
    :param copies: ids of documents with the same or nearly the same text, which are not shown again.
    """

    id: str
    lang: str
    title: str
    score: float
    snippet: str
    marks: tuple[tuple[int, int], ...]
    meta: Mapping[str, Any]
    fit: float
    copies: tuple[str, ...] = ()


class Matcher:
    """Which terms and passages of some documents, given by `ids`, speak for a query, by how it was put to the index;
    what is the same for all documents of a language is worked out once."""

    def __init__(self, query: Query, forms: QueryForms, state: State, ids: Sequence[str]) -> None:
        self._query, self._forms, self._models = query, forms, state.models
        self._state, self._ids = state, ids
        self._texts = dict.fromkeys([query.text, *(form.text for form in forms.queries if not form.clauses)])
        self._terms: dict[str, dict[str, float]] = {}
        self._inner: dict[str, Ids] = {}  # of each language's terms inside words

    def terms(self, lang: str) -> dict[str, float]:
        """The terms of a language that speak for the query, with weights: its own words and their translations."""
        if lang not in self._terms:
            cut = analyzer(lang).terms
            weights = dict.fromkeys(chain.from_iterable(map(cut, self._texts)), 1.0)
            for clause in chain.from_iterable(form.clauses for form in self._forms.queries if form.lang == lang):
                for text, weight, known in clause.alternatives:
                    share = clause.weight * weight
                    for term in known or cut(text):
                        if share >= weights.get(term, 0.0):
                            weights[term] = share
            self._terms[lang] = weights
        return self._terms[lang]

    def weights(self, document: Document, words_of: TokenizedText) -> dict[str, float]:
        """The terms of a document that speak for the query, with weights: the query's own words, their translations,
        words that hold those or sound like its names, and the words a model finds close to it."""
        lang, terms = document.lang, self.terms(document.lang)
        weights = dict(terms)
        if lang == self._query.lang:
            return weights
        for inner, word in find_subword_matches(words_of, lang, self._inside(document)):
            if (term := words_of.terms[word]) not in terms:
                weights[term] = max(weights.get(term, 0.0), terms[inner])
        for name, vector in self._forms.vectors.items():
            model = self._models[name]
            if isinstance(model, BagEncoder) and lang in model.langs:
                shares = contributions(model, vector[: model.dim], document.text, lang)
                best, stemmed = max(shares.values(), default=0.0), model.towers[lang].vocabulary.stem
                for known, share in shares.items():
                    if share > 0.3 * best:
                        for term in [known] if stemmed else analyzer(lang).terms(known):
                            weights[term] = max(weights.get(term, 0.0), share / best)
        return weights

    def _inside(self, document: Document) -> Iterable[str]:
        """The terms that the index has inside words of a document: the others need not be looked for there."""
        lang, statistics, terms = document.lang, self._state.index.statistics, self.terms(document.lang)
        if INNER not in statistics.layout.fields:
            return terms
        if lang not in self._inner:
            self._inner[lang] = statistics.ids(INNER, lang, [*terms])
        ids, there = self._inner[lang], self._indexed[document.id]
        return compress(terms, there.take(there.searchsorted(ids), mode="clip") == ids) if len(there) else ()

    @cached_property
    def _indexed(self) -> dict[str, Ids]:
        """The ids of the documents' terms in the index."""
        _, rows = self._state.store.read_sparse(TERMS_VECTOR, self._ids)
        return dict(zip(self._ids, np.split(rows.indices, np.cumsum(rows.sizes)[:-1]), strict=True))

    def passage(self, record: Record) -> tuple[int, int] | None:
        """Where the passage stands that speaks for a document, of one that has several with vectors of their own."""
        for name, vector in self._forms.vectors.items():
            rows = record.dense.get(name)
            if isinstance(self._models[name], Pretrained) and rows is not None and len(rows) > 1:
                spans = passages.select_passages(record.document.text)
                if len(spans) == len(rows):  # else it was cut by another version
                    return spans[int(np.argmax(rows @ vector))]
        return None


def result(matcher: Matcher, record: Record, cuts: Sequence[TokenizedText], score: float, fit: float) -> Result:
    """A document, cut into words, as it is shown for a query."""
    fit, document, passage = min(1.0, max(0.0, fit)), record.document, matcher.passage(record)
    cut, *others = cuts
    own, weights = cut.lang, matcher.weights(document, cut)
    cut = cut.select_weighted(weights)
    for other in others:  # found by words of another language that it holds
        terms, most = matcher.terms(other.lang), cut.sum_weights(weights)
        if sum(terms.values()) > most and (there := other.select_weighted(terms)).sum_weights(terms) > most:
            cut, weights = there, terms
    if passage and passage[1] > MAX_TOKENIZED_CHARACTERS:
        cut = analyzer(cut.lang).tokenize(document.text[slice(*passage)]).select_weighted(weights)
    elif passage:
        cut = cut.slice_text(*passage)
    if not cut.text:
        cut = analyzer(cut.lang).tokenize(document.title).select_weighted(weights)
    shown = snippet(cut, weights, partly=cut.lang != own)
    meta, start = document.meta, passage[0] if passage else 0
    if "pages" in meta:  # a form feed stands before every page but the first
        meta = {**meta, "page": 1 + document.text.count("\f", 0, start + shown.first + 1)}
    time_code = find_time_code(document.text, meta, start + shown.first)
    if time_code:
        meta = {**meta, "time": time_code}
    return Result(document.id, document.lang, document.title, score, shown.text, shown.marks, meta, fit)
