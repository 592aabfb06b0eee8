"""Prepare what is shown of a result: its title, and a snippet with the words that match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from paragloss.analysis import analyzer
from paragloss.analysis.tokenization import MAX_TOKENIZED_CHARACTERS, read_passage_spans
from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.pretrained import Pretrained
from paragloss.formats.subtitles import find_time_code
from paragloss.gloss import compute_contributions, make_snippet
from paragloss.translation.subword_terms import find_subword_matches
from paragloss.types import Document, Floats, Query, QueryForms, Record, TokenizedText, Translation


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

    >>> from paragloss import Collection, Document
    >>> with Collection.create("results") as collection:
    ...     _ = collection.index([Document("rain", "La pluie tombe des nuages.", "fr", title="La pluie")])
    ...     answer = collection.search("rain from clouds", lang="en")
    >>> answer.results[0].title
    'La pluie'
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


#: A word that a model finds in a document is marked if it contributes at least this share of the best one's.
MIN_CONTRIBUTION = 0.3


class Matcher:
    """Finds the terms and passages of documents that match a query, as it was sent to the index.

    What is the same for all documents of a language is computed once.
    """

    def __init__(self, query: Query, forms: QueryForms, models: Mapping[str, object]) -> None:
        """Prepare to find the matches of a query.

        :param forms: the query as it was sent to the index.
        :param models: those of the collection, by name.
        """
        self._query, self._forms, self._models = query, forms, models
        self._texts = dict.fromkeys([query.text, *(form.text for form in forms.queries if not form.clauses)])
        self._terms: dict[str, dict[str, float]] = {}  # by language

    def get_terms(self, lang: str) -> dict[str, float]:
        """Return the terms of a language that match the query, with weights: its words and their translations.

        They are computed when a language is first asked for.
        """
        if lang not in self._terms:
            self._terms[lang] = self._weigh_query_terms(lang)
        return self._terms[lang]

    def _weigh_query_terms(self, lang: str) -> dict[str, float]:
        """Return the terms of a language that match the query, with weights.

        The words of the query get the weight 1, the terms of a translation its own weight times that of its clause, the
        translations of one query word. A term with several weights gets the largest.
        """
        extract_terms = analyzer(lang).terms
        weights: dict[str, float] = {}
        for text in self._texts:
            weights.update(dict.fromkeys(extract_terms(text), 1.0))
        for clause in self._list_clauses(lang):
            for alternative in clause.alternatives:
                weight = clause.weight * alternative.weight
                terms = alternative.terms or extract_terms(alternative.text)
                for term in terms:
                    weights[term] = max(weight, weights.get(term, 0.0))
        return weights

    def _list_clauses(self, lang: str) -> list[Translation]:
        """Return the query's translations into a language, each of which has the alternatives for one term."""
        return [clause for form in self._forms.queries if form.lang == lang for clause in form.clauses]

    def weigh_terms(self, document: Document, tokenized: TokenizedText) -> dict[str, float]:
        """Return the terms that match the query in a document, with weights.

        These are the query's words, their translations, words of the document that contain them or sound like names in
        the query, and words that a model finds similar to the query.

        :param tokenized: the document's text as tokens.
        """
        lang = document.lang
        query_terms = self.get_terms(lang)
        weights = dict(query_terms)
        if lang == self._query.lang:
            return weights
        for subword, word_number in find_subword_matches(tokenized, lang, query_terms):
            term = tokenized.terms[word_number]
            if term not in query_terms:
                weights[term] = max(weights.get(term, 0.0), query_terms[subword])
        for term, share in self._find_similar_terms(document).items():
            weights[term] = max(weights.get(term, 0.0), share)
        return weights

    def _find_similar_terms(self, document: Document) -> dict[str, float]:
        """Return the terms of a document that some model finds similar to the query, with weights up to 1."""
        weights: dict[str, float] = {}
        for name, query_vector in self._forms.vectors.items():
            model = self._models[name]
            if isinstance(model, BagEncoder) and document.lang in model.langs:
                for term, share in _find_contributing_terms(model, query_vector, document).items():
                    weights[term] = max(weights.get(term, 0.0), share)
        return weights

    def find_passage(self, record: Record) -> tuple[int, int] | None:
        """Return the (start, end) of the passage most similar to the query by a model that has vectors of passages.

        :param record: a document with its vectors.
        :return: None if no such model has encoded it as several passages.
        """
        for name, query_vector in self._forms.vectors.items():
            passage_vectors = self._get_passage_vectors(record, name)
            if passage_vectors is None:
                continue
            spans = read_passage_spans(record)
            if len(spans) == len(passage_vectors):  # otherwise another version has split the text
                similarities = passage_vectors @ query_vector  # (n_passages,)
                return spans[int(np.argmax(similarities))]
        return None

    def _get_passage_vectors(self, record: Record, name: str) -> Floats | None:
        """Return the vectors of several passages of a document by the model of a name; (n_passages, dimensions).

        :return: None if the model has no vectors of passages, or has encoded the document as one passage or not at all.
        """
        if not isinstance(self._models[name], Pretrained):
            return None
        vectors = record.dense.get(name)
        if vectors is None or len(vectors) < 2:
            return None
        return vectors


def _find_contributing_terms(model: BagEncoder, query_vector: Floats, document: Document) -> dict[str, float]:
    """Return the terms that contribute most to the similarity of a document and a query.

    :param query_vector: the query as the model encodes it; it may have further entries behind.
    :return: each term with its contribution as a share of the highest one, more than MIN_CONTRIBUTION.
    """
    lang = document.lang
    contributions = compute_contributions(model, query_vector[: model.dim], document.text, lang)
    highest = max(contributions.values(), default=0.0)
    has_stems = model.towers[lang].vocabulary.stem  # else the vocabulary has words as they are written
    shares: dict[str, float] = {}
    for word, contribution in contributions.items():
        if contribution <= MIN_CONTRIBUTION * highest:
            continue
        share = contribution / highest
        terms = [word] if has_stems else analyzer(lang).terms(word)
        for term in terms:
            shares[term] = max(shares.get(term, 0.0), share)
    return shares


def make_result(
    matcher: Matcher, record: Record, tokenized_texts: Sequence[TokenizedText], score: float, fit: float
) -> Result:
    """Prepare a document for display: its snippet with marks, and the page or time of the snippet.

    :param matcher: finds what matches the query.
    :param record: the document, with its vectors.
    :param tokenized_texts: its text as tokens of its language, and of other languages it is partly written in.
    :param score: its score in the ranking.
    :param fit: the score relative to the highest possible one; it is clipped to [0, 1].
    """
    document = record.document
    passage = matcher.find_passage(record)
    shown_texts = [_select_passage(document, tokenized, passage) for tokenized in tokenized_texts]
    shown_text, term_weights = _choose_language(matcher, document, shown_texts)
    if not shown_text.text:  # a document that has only a title
        shown_text = analyzer(shown_text.lang).tokenize(document.title).select_weighted(term_weights)
    excerpt = make_snippet(shown_text, term_weights, partly=shown_text.lang != document.lang)
    passage_start = passage[0] if passage else 0
    clipped_fit = min(1.0, max(0.0, fit))
    meta = {**document.meta, **_locate(document, passage_start + excerpt.first)}
    return Result(document.id, document.lang, document.title, score, excerpt.text, excerpt.marks, meta, clipped_fit)


def _select_passage(document: Document, tokenized: TokenizedText, passage: tuple[int, int] | None) -> TokenizedText:
    """Return the tokens of the passage that a snippet is cut from; of the whole text if there is no passage.

    :param passage: the (start, end) of the best passage in the text.
    """
    if passage is None:
        return tokenized
    if passage[1] > MAX_TOKENIZED_CHARACTERS:
        return analyzer(tokenized.lang).tokenize(document.text[slice(*passage)])
    return tokenized.slice_text(*passage)


def _locate(document: Document, offset: int) -> dict[str, Any]:
    """Return the page and the time of an offset in a document's text, where it has pages or times."""
    location: dict[str, Any] = {}
    if "pages" in document.meta:  # a form feed stands before every page but the first
        location["page"] = 1 + document.text.count("\f", 0, offset + 1)
    time_code = find_time_code(document.text, document.meta, offset)
    if time_code:
        location["time"] = time_code
    return location


class LanguageMatch(NamedTuple):
    """How a document matches a query in one of its languages: the tokens that have a weight, and terms' weights."""

    tokenized: TokenizedText
    weights: dict[str, float]

    @property
    def weight_sum(self) -> float:
        """The sum of the weights of the terms that match."""
        return self.tokenized.sum_weights(self.weights)


def _choose_language(matcher: Matcher, document: Document, tokenized_texts: Sequence[TokenizedText]) -> LanguageMatch:
    """Choose the language in which a document matches a query best, by the sum of the weights of its matching terms.

    :param matcher: finds the terms that match the query.
    :param tokenized_texts: the document's text as tokens of its own language, then of others it is partly written in;
        in these, only words and translations of the query match.
    """
    own_text, *other_texts = tokenized_texts
    own_weights = matcher.weigh_terms(document, own_text)
    best = LanguageMatch(own_text.select_weighted(own_weights), own_weights)
    for tokenized in other_texts:
        weights = matcher.get_terms(tokenized.lang)
        if sum(weights.values()) <= best.weight_sum:  # even a match of all terms would be no better
            continue
        match = LanguageMatch(tokenized.select_weighted(weights), weights)
        if match.weight_sum > best.weight_sum:
            best = match
    return best
