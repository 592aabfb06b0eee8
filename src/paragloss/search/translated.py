"""Search documents of one language with queries of another: translate, then search. Or reword, then search."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from paragloss.translation.origins import origins
from paragloss.types import Account, Document, Found, Known, Query, Searcher, Translator, Where


class Translated:
    """Translates each query into `to` and asks the inner searcher for documents of that language.

    The inner searcher gets the alternatives of every term as clauses, and their best wording as text.
    """

    def __init__(self, searcher: Searcher, translator: Translator, *, to: str) -> None:
        self.searcher = searcher
        self.translator = translator
        self._to = to

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Found]:
        wanted = (where or {}).get("lang")
        if wanted is not None and self._to not in wanted:
            return [Found() for _ in queries]
        there = {**(where or {}), "lang": [self._to]}
        return passed_on(self.searcher, self.translator, queries, [self.translate(q) for q in queries], k, there)

    def best(self, lang: str) -> float:
        return self.searcher.best(lang) if lang == self._to else 0.0

    def translate(self, query: Query) -> Query:
        """The query as the inner searcher sees it; a query that is in the target language already stays as it is."""
        if query.lang == self._to:
            return query
        clauses = tuple(self.translator.translate(query, self._to))
        best = " ".join(clause.alternatives[0].text for clause in clauses)
        return Query(query.id, best or query.text, self._to, clauses)


class Reworded:
    """Says each query in more or other words of its own language before the inner searcher is asked."""

    def __init__(self, searcher: Searcher, translator: Translator) -> None:
        self.searcher = searcher
        self.translator = translator

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Found]:
        return passed_on(self.searcher, self.translator, queries, [self.translate(q) for q in queries], k, where)

    def best(self, lang: str) -> float:
        return self.searcher.best(lang)

    def translate(self, query: Query) -> Query:
        """The query as the inner searcher sees it."""
        clauses = tuple(self.translator.translate(query, query.lang))
        words = dict.fromkeys(alternative.text for clause in clauses for alternative in clause.alternatives)
        return Query(query.id, " ".join(words) or query.text, query.lang, clauses)


def passed_on(
    searcher: Searcher,
    translator: Translator,
    queries: Sequence[Query],
    translated: Sequence[Query],
    k: int,
    where: Where | None,
) -> list[Found]:
    """What a searcher finds for translated queries; its words are accounted for by who translated them so."""

    def account(query: Query, said: Query, inner: Found, document: Document, score: float, known: Known) -> Account:
        by = origins(translator, query, said.lang, known.names) if said.clauses else {}
        return inner.explain(document, known._replace(origins=by), score=score)

    each = zip(queries, translated, searcher.search(translated, k, where), strict=True)
    return [Found(inner, partial(account, query, said, inner)) for query, said, inner in each]
