"""Search by words with the lexical score of the default search, for pipelines: `table`, `default:title=3`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from paragloss.bm25 import filter_entries
from paragloss.index.terms import INNER, TERMS_VECTOR
from paragloss.ranking import rank_hits
from paragloss.search.clause_table import ClauseTable, build_clause_table
from paragloss.search.clauses import MAX_CANDIDATES, split_into_clauses
from paragloss.search.evidence import explain_matches, list_origins
from paragloss.statistics import Statistics
from paragloss.types import Document, Hit, Query, QueryForms, RankedList, ScoreExplanation, Store, Where


class WordSearcher:
    """Ranks the documents of each query's language by how much of the query's weight they match, 0 to 1."""

    def __init__(
        self,
        store: Store,
        statistics: Statistics,
        *,
        weights: Mapping[str, float] | None = None,
        candidates: int = MAX_CANDIDATES,
    ) -> None:
        """Search a store.

        :param weights: the fields to search, with how much each counts; the default weights if None.
        :param candidates: how many of the best documents are scored exactly.
        """
        self._store, self._statistics = store, statistics
        self._weights, self._candidates = weights, candidates

    @property
    def looks_inside(self) -> bool:
        """Whether parts of compounds and sounds of names are searched; they count as words of the text do."""
        return INNER in self._statistics.layout.fields and (self._weights is None or bool(self._weights.get("text")))

    def max_score(self, lang: str) -> float:
        """Return the highest score possible."""
        return 1.0

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        """Rank the documents of each query's language."""
        return [self._search_query(query, k, where) for query in queries]

    def _search_query(self, query: Query, k: int, where: Where | None) -> RankedList:
        """Find candidates for one query in the store, and rank them by their exact scores."""
        forms = QueryForms((query,))
        allowed_languages = (where or {}).get("lang")
        is_allowed = allowed_languages is None or query.lang in allowed_languages
        table = self._build_table(query) if is_allowed else None
        if table is None or not len(table.request.indices):
            return RankedList(forms=forms)
        hits = self._score_candidates(table, query.lang, max(k, self._candidates), where)
        return RankedList(tuple(rank_hits(hits, k)), forms, partial(self._explain, query))

    def _score_candidates(self, table: ClauseTable, lang: str, limit: int, where: Where | None) -> list[Hit]:
        """Find documents that match a query, and compute their exact scores.

        :param table: the clauses of the query.
        :param lang: the language of the query.
        :param limit: how many candidates are scored.
        :param where: conditions that documents meet; None for all.
        :return: the candidates with a score above 0, in no particular order.
        """
        # The ids of terms are those of a language: the store need not filter by it as well.
        conditions = {field: values for field, values in (where or {}).items() if field != "lang"}
        needed_ids = self._statistics.layout.with_lengths(table.term_ids)
        candidates = self._store.search_and_read(TERMS_VECTOR, [table.request], limit, conditions or None, needed_ids)
        languages = [lang] * len(
            candidates.ids
        )  # each candidate has terms of this language, some in a part of the text
        scores = table.measure(languages, filter_entries(candidates.rows, needed_ids)).scores
        return [Hit(doc_id, score) for doc_id, score in zip(candidates.ids, scores.tolist(), strict=True) if score]

    def _build_table(self, query: Query) -> ClauseTable | None:
        return build_clause_table(query, [(query.lang, split_into_clauses(query))], self._statistics, self._weights)

    def _explain(self, query: Query, document: Document, score: float) -> ScoreExplanation:
        table = self._build_table(query)
        _, rows = self._store.read_sparse(TERMS_VECTOR, [document.id])
        matches = table.attribute_score(query.lang, rows) if table is not None else []
        return explain_matches(matches, list_origins(query), score)
