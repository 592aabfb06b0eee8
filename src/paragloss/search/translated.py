"""Search documents of one language with queries of another: translate, then search. Or reword, then search."""

from __future__ import annotations

from collections.abc import Sequence

from paragloss.search.clauses import attribute_clauses
from paragloss.translation.name_alternatives import add_name_alternatives
from paragloss.types import Query, RankedList, Searcher, Translator, Where


class Translated:
    """Translates each query into one language and searches its documents with another searcher.

    That searcher gets the alternatives of every term as clauses, and the best ones as text.
    """

    def __init__(self, searcher: Searcher, translator: Translator, *, to: str, called: str = "translator") -> None:
        """Translate queries for a searcher.

        :param to: the language of the searched documents.
        :param called: the name of the translator in explanations.
        """
        self.searcher = searcher
        self.translator = translator
        self._to, self._called = to, called

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        """Return the best k documents for each query, best first."""
        languages = (where or {}).get("lang")
        if languages is not None and self._to not in languages:
            return [RankedList() for _ in queries]
        conditions = {**(where or {}), "lang": [self._to]}
        return self.searcher.search([self.translate(query) for query in queries], k, conditions)

    def max_score(self, lang: str) -> float:
        """Return the highest score that a document of a language can have."""
        return self.searcher.max_score(lang) if lang == self._to else 0.0

    def translate(self, query: Query) -> Query:
        """Return the translated query; a query in the target language stays as it is.

        :return: its clauses are the query's terms with all alternatives, its text the likeliest alternative of each, or
            the original text if there are none.
        """
        if query.lang == self._to:
            return query
        clauses = tuple(self.translator.translate(query, self._to))
        best_wording = " ".join(clause.alternatives[0].text for clause in clauses)
        if getattr(self.searcher, "looks_inside", False):  # it also finds names by their spellings and sounds
            clauses = tuple(add_name_alternatives(clauses, query.lang, self._to))
        translated_query = Query(query.id, best_wording or query.text, self._to, clauses)
        return attribute_clauses(translated_query, self._called)


class Reworded:
    """Expresses each query in more or other words of its own language, and searches with another searcher."""

    def __init__(self, searcher: Searcher, translator: Translator, *, called: str = "translator") -> None:
        self.searcher = searcher
        self.translator = translator
        self._called = called

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        """Return the best k documents for each query, best first."""
        return self.searcher.search([self.translate(query) for query in queries], k, where)

    def max_score(self, lang: str) -> float:
        """Return the highest score that a document of a language can have."""
        return self.searcher.max_score(lang)

    def translate(self, query: Query) -> Query:
        """Return the reworded query."""
        clauses = tuple(self.translator.translate(query, query.lang))
        words = dict.fromkeys(alternative.text for clause in clauses for alternative in clause.alternatives)
        return attribute_clauses(Query(query.id, " ".join(words) or query.text, query.lang, clauses), self._called)
