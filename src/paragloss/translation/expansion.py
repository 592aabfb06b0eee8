"""Expand a query before it is translated, by a translator into the query's own language.

The neighbours of a word (`embedding.EmbeddingTranslator` for the query's own language) and `FeedbackExpander` are such
translators; `ChainedTranslator` puts one before another translator, or goes through a third language. After translation
there is `search.expanded`. Rocchio: eq. 5.1 of Liu's thesis.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from paragloss.analysis import analyzer
from paragloss.errors import LanguageError
from paragloss.translation.term_spellings import list_spellings
from paragloss.types import Alternative, Document, Query, Searcher, Translation, Translator

#: How rare a term is in the collection: term -> idf.
Idf = Callable[[str], float]


#: Fetches documents by id, those that exist.
Documents = Callable[[Sequence[str]], Sequence[Document]]


class ChainedTranslator:
    """Translates with `first`, then each of its alternatives with `second`; weights multiply.

    `via` is the language between; without it `first` stays in the query's own language and expands it.
    """

    def __init__(self, first: Translator, second: Translator, *, via: str = "", most: int = 20) -> None:
        self._first, self._second, self._via, self._most = first, second, via, most

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it translates from one language into another."""
        between = self._via or source
        return self._first.knows(source, between) and self._second.knows(between, target)

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Return the alternatives for each term of a query in another language."""
        between = self._via or query.lang
        return [self._onward(clause, query, between, to) for clause in self._first.translate(query, between)]

    def _onward(self, clause: Translation, query: Query, between: str, to: str) -> Translation:
        merged: dict[str, float] = {}
        for word, weight, _ in clause.alternatives:
            for text, share, _ in self._meanings(Query(query.id, word, between), to):
                merged[text] = merged.get(text, 0.0) + weight * share
        ranked = sorted(merged.items(), key=lambda item: -item[1])[: self._most]
        # Several ways may lead to one word; a weight stays a weight.
        alternatives = tuple(Alternative(text, min(weight, 1.0)) for text, weight in ranked if weight > 0)
        return clause._replace(alternatives=alternatives or (Alternative(clause.source, 1.0),), origins=())

    def _meanings(self, part: Query, to: str) -> Iterable[Alternative]:
        clauses = self._second.translate(part, to)
        if len(clauses) == 1:
            return clauses[0].alternatives
        # A phrase that is translated word by word becomes a phrase again, of its best words.
        best = [clause.alternatives[0] for clause in clauses]
        text = " ".join(alternative.text for alternative in best)
        return [Alternative(text, math.prod(alternative.weight for alternative in best))] if best else []


class FeedbackExpander:
    """Expands a query by the documents of a first search in its own language: each new term is a clause of its own.

    `searcher` and `documents` are a collection in the query's language, `idf` its statistics. `beta` is the weight of
    the best new term against the query's own.
    """

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
        self._searcher, self._documents, self._idf = searcher, documents, idf
        self._depth, self._terms, self._beta = depth, terms, beta

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it translates from one language into another."""
        return source == target

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Return the alternatives for each term of a query in another language."""
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
    """Expand a query: alpha * the query + beta * the terms with the greatest tf * idf in the documents.

    `terms` new terms become clauses of their own, as they are written in the documents; the best has the weight beta. A
    term that the query has already gains up to beta.
    """
    texts = [document.full_text for document in documents if document.lang == lang]
    analyze = analyzer(lang).terms
    own_terms = {a.text: analyze(a.text) for clause in clauses for a in clause.alternatives}
    query_terms = {term for terms_of_text in own_terms.values() for term in terms_of_text}
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(analyze(text))
    scores = {term: count * idf(term) for term, count in counts.items()}
    new_terms = (item for item in scores.items() if item[1] > 0 and item[0] not in query_terms)
    best = sorted(new_terms, key=lambda item: (-item[1], item[0]))[:terms]
    top_score = best[0][1] if best else max((scores.get(term, 0.0) for term in query_terms), default=0.0)

    def reweigh(clause: Translation) -> Translation:
        score = max(min((scores.get(t, 0.0) for t in own_terms[a.text]), default=0.0) for a in clause.alternatives)
        gain = beta * min(score / top_score, 1.0) if top_score > 0 else 0.0
        return clause._replace(weight=alpha * clause.weight + gain)

    reweighed = [reweigh(clause) for clause in clauses]
    spellings = list_spellings(texts, lang)
    added = []
    for term, score in best:
        alternatives = (Alternative(spellings[term], 1.0),)
        added.append(Translation(spellings[term], alternatives, beta * score / top_score, required=False))
    return [*reweighed, *added]
