"""Expand a query before it is translated, by a translator into the query's own language.

The neighbours of a word (`embedding.EmbeddingTranslator` for the query's own language) and `FeedbackExpander` are such
translators; `ChainedTranslator` puts one before another translator, or goes through a third language. After translation
there is `search.expanded`. Rocchio: eq. 5.1 of Liu's thesis.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from paragloss.analysis import analyzer
from paragloss.errors import LanguageError
from paragloss.translation.term_spellings import list_spellings
from paragloss.types import Alternative, Document, Query, Searcher, Translation, Translator

#: term -> its inverse document frequency in the collection
Idf = Callable[[str], float]
#: document ids -> the documents that exist
Documents = Callable[[Sequence[str]], Sequence[Document]]


class ChainedTranslator:
    """Translates with `first`, then each of its alternatives with `second`; weights multiply."""

    def __init__(self, first: Translator, second: Translator, *, via: str = "", most: int = 20) -> None:
        """Chain two translators.

        :param via: the language between; by default the query's own, so that `first` expands the query
        :param most: the number of alternatives that are kept of a term
        """
        self._first, self._second, self._via, self._max_alternatives = first, second, via, most

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it translates from one language into another."""
        middle_lang = self._via or source
        return self._first.knows(source, middle_lang) and self._second.knows(middle_lang, target)

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Return the alternatives for each term of a query in another language."""
        middle_lang = self._via or query.lang
        clauses = self._first.translate(query, middle_lang)
        return [self._translate_clause(clause, query.id, middle_lang, to) for clause in clauses]

    def _translate_clause(self, clause: Translation, query_id: str, middle_lang: str, to: str) -> Translation:
        """Replace the alternatives of a clause by their translations; without any, the source stays."""
        weight_by_text: dict[str, float] = {}
        for word, weight, _ in clause.alternatives:
            for text, share, _ in self._translate_alternative(Query(query_id, word, middle_lang), to):
                weight_by_text[text] = weight_by_text.get(text, 0.0) + weight * share
        ranked = sorted(weight_by_text.items(), key=lambda item: -item[1])[: self._max_alternatives]
        # Several alternatives may have the same translation; its weight is still at most 1.
        alternatives = tuple(Alternative(text, min(weight, 1.0)) for text, weight in ranked if weight > 0)
        return clause._replace(alternatives=alternatives or (Alternative(clause.source, 1.0),), origins=())

    def _translate_alternative(self, alternative: Query, to: str) -> Iterable[Alternative]:
        """Translate one alternative; a phrase translated word by word becomes a phrase of the best words."""
        clauses = self._second.translate(alternative, to)
        if len(clauses) == 1:
            return clauses[0].alternatives
        best = [clause.alternatives[0] for clause in clauses]
        text = " ".join(alternative.text for alternative in best)
        return [Alternative(text, math.prod(alternative.weight for alternative in best))] if best else []


class FeedbackExpander:
    """Expands a query by the documents of a first search in its own language; each new term is a clause of its own."""

    def __init__(
        self,
        searcher: Searcher,
        documents: Documents,
        idf: Idf,
        *,
        depth: int = 20,
        terms: int = 5,
        beta: float = 0.3,
    ) -> None:
        """Make an expander.

        :param searcher: searches a collection in the query's language
        :param documents: fetches documents of that collection
        :param idf: rarity of terms in that collection
        :param depth: number of documents
        :param terms: number of new terms
        :param beta: the weight of the best new term relative to the query's own terms
        """
        self._searcher = searcher
        self._documents = documents
        self._idf = idf
        self._depth = depth
        self._terms = terms
        self._beta = beta

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it translates from one language into another."""
        return source == target

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Return the clauses of the query and of new terms; `to` must be the query's own language."""
        if to != query.lang:
            raise LanguageError(f"feedback stays in the query's language {query.lang!r}; it can't go to {to!r}")
        (ranking,) = self._searcher.search([query], self._depth, {"lang": [to]})
        documents = self._documents([hit.id for hit in ranking])
        return rocchio(as_clauses(query), documents, to, self._idf, terms=self._terms, beta=self._beta)


def as_clauses(query: Query) -> list[Translation]:
    """Return the query's clauses, or one for each of its words."""
    if query.clauses:
        return list(query.clauses)
    words = (query.text[span.start : span.end] for span in analyzer(query.lang).spans(query.text))
    return [Translation(word, (Alternative(word, 1.0),)) for word in words]


def rocchio(
    clauses: Sequence[Translation],
    documents: Sequence[Document],
    lang: str,
    idf: Idf,
    *,
    terms: int,
    beta: float,
    alpha: float = 1.0,
) -> list[Translation]:
    """Expand a query by Rocchio's formula: alpha * the query + beta * the terms of highest tf * idf in documents.

    A term that the query already has gains up to beta.

    :param clauses: of the query
    :param documents: the documents found by a first search; those in other languages are ignored
    :param lang: the language of the query
    :param idf: rarity of terms in the collection
    :param terms: the number of new terms; they become clauses of their own
    :param beta: the weight of the best new term
    :param alpha: the factor for the weights of the query's own clauses
    :return: the clauses of the query, then those of the new terms
    """
    texts = [document.full_text for document in documents if document.lang == lang]
    scores = _score_terms(texts, lang, idf)
    query_terms = _list_query_terms(clauses, lang)
    new_terms = _select_new_terms(scores, query_terms, terms)
    top_score = max((scores.get(term, 0.0) for term in new_terms or query_terms), default=0.0)
    expanded = []
    for clause in clauses:
        gain = 0.0
        if top_score > 0:
            gain = beta * min(_score_clause(clause, scores, lang) / top_score, 1.0)
        expanded.append(clause._replace(weight=alpha * clause.weight + gain))
    spellings = list_spellings(texts, lang)
    for term in new_terms:
        expanded.append(_make_optional_clause(spellings[term], weight=beta * scores[term] / top_score))
    return expanded


def _make_optional_clause(text: str, weight: float) -> Translation:
    """Make the clause of a new term, which documents need not have."""
    return Translation(text, (Alternative(text, 1.0),), weight, required=False)


def _select_new_terms(scores: Mapping[str, float], query_terms: set[str], limit: int) -> list[str]:
    """Return the terms of highest score that the query does not have, best first."""
    new_terms = [term for term, score in scores.items() if score > 0 and term not in query_terms]
    return sorted(new_terms, key=lambda term: (-scores[term], term))[:limit]


def _score_terms(texts: Sequence[str], lang: str, idf: Idf) -> dict[str, float]:
    """Return tf * idf of the terms of some texts together."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(analyzer(lang).terms(text))
    return {term: count * idf(term) for term, count in counts.items()}


def _list_query_terms(clauses: Sequence[Translation], lang: str) -> set[str]:
    """Return the terms of all alternatives of all clauses."""
    query_terms: set[str] = set()
    for clause in clauses:
        for alternative in clause.alternatives:
            query_terms.update(analyzer(lang).terms(alternative.text))
    return query_terms


def _score_clause(clause: Translation, scores: Mapping[str, float], lang: str) -> float:
    """Return the score of a clause's best alternative, which is that of its lowest-scored term.

    :param scores: of terms; others have 0
    """
    tokenize = analyzer(lang).terms
    return max(
        min((scores.get(term, 0.0) for term in tokenize(alternative.text)), default=0.0)
        for alternative in clause.alternatives
    )
