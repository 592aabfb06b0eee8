"""The default search: clauses and vectors to candidates, candidates to features, features to probabilities.

One request for words and one for each kind of vector find documents of all languages; every candidate is then measured
by all features, however it was found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.analysis import analyzer
from paragloss.bm25 import filter_entries
from paragloss.index.fields import INNER
from paragloss.index.terms import TERMS_VECTOR
from paragloss.ranking import rank_hits
from paragloss.search.clause_table import ClauseTable, LexicalEvidence, build_clause_table
from paragloss.search.clauses import cut_query
from paragloss.search.evidence import attribute_clauses, explain_matches, list_origins
from paragloss.search.scoring import (
    FEATURE_NAMES,
    Candidates,
    ScoringModel,
    compute_probabilities,
    shipped_model,
)
from paragloss.search.similarity import TERMS_PER_PASSAGE, SimilaritySearcher, expected_best_of
from paragloss.statistics import Statistics
from paragloss.translation.combined import list_known_targets, translate_many
from paragloss.translation.subword_terms import add_sound_alternatives
from paragloss.types import (
    Contribution,
    Document,
    Encoder,
    Floats,
    Hit,
    Query,
    QueryForms,
    RankedList,
    ScoreExplanation,
    SparseRows,
    Store,
    Translator,
    Where,
)

#: Candidates that are measured for each query: by words, and by each kind of vector. With 100 or 200 by words the first
#: ten results of 720 queries were equally good; with 60 nDCG@10 falls by .001.
WORD_CANDIDATES = 100
VECTOR_CANDIDATES = 50
#: How much of the expected best of several unrelated passages is subtracted: passages of a document are alike.
PASSAGE_CORRECTION = 0.5


_NO_SIZES, _NO_IDS, _NO_VALUES = np.zeros(0, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.float32)
#: The parts of an explanation, each with the features whose contributions it adds up.
WORDS_PART = "words"
PARTS_OF_EXPLANATION: Mapping[str, tuple[str, ...]] = {
    WORDS_PART: ("words", "title_words", "match_rarity"),
    "title meaning": ("title_similarity",),
    "passage meaning": ("passage_similarity",),
    "before reading": ("intercept", "log_query_terms"),
}


@dataclass(frozen=True)
class SemanticSearchers:
    """An encoder with the searchers of its passage vectors and, where documents have them, of its title vectors."""

    encoder: Encoder
    passages: SimilaritySearcher
    titles: SimilaritySearcher | None


class StoredTerms(NamedTuple):
    """Documents with their languages and what their stored vectors hold of some terms."""

    doc_ids: Sequence[str]
    languages: Sequence[str]
    rows: SparseRows


@dataclass(frozen=True)
class QueryEvidence:
    """What was measured of the candidates of one query."""

    candidates: Candidates
    table: ClauseTable | None
    forms: QueryForms


class DefaultSearcher:
    """Searches documents of several languages by the words and the meaning of a query."""

    def __init__(
        self,
        store: Store,
        statistics: Statistics,
        *,
        targets: Sequence[str],
        translator: Translator | None = None,
        translator_name: str = "translator",
        semantic: SemanticSearchers | None = None,
        model: ScoringModel | None = None,
    ) -> None:
        self._store, self._statistics, self._targets = store, statistics, tuple(targets)
        self._translator, self._translator_name = translator, translator_name
        self._semantic = semantic
        self._encoder = semantic.encoder if semantic is not None else None
        self._model = model or shipped_model()

    def max_score(self, lang: str) -> float:
        """Return the highest score: a probability."""
        return 1.0 if lang in self._targets else 0.0

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        """Rank the documents of all languages by the probability that they answer each query."""
        return [self._rank(self.collect(query, k, where), k) for query in queries]

    def collect(self, query: Query, k: int, where: Where | None = None) -> QueryEvidence:
        """Find candidates for a query and measure their features."""
        languages = [str(lang) for lang in (where or {}).get("lang", self._targets)]
        forms = self.translate(query, languages)
        table = build_clause_table(query, [(form.lang, cut_query(form)) for form in forms], self._statistics)
        found = self._find_by_words(table, max(k, WORD_CANDIDATES), where)
        query_vector = self._encode(query)
        similar = self._find_similar(query_vector, max(k, VECTOR_CANDIDATES), where)
        documents = self._read_similar(found, similar)
        candidates = self._measure(query, documents, table, query_vector, similar)
        return QueryEvidence(candidates, table, QueryForms(tuple(forms), self._name_vector(query_vector)))

    def translate(self, query: Query, languages: Sequence[str] | None = None) -> list[Query]:
        """Return the query in each language that documents are searched in: its own words in its own language and in
        languages into which nothing translates, clauses of alternatives in the others."""
        wanted = list(
            dict.fromkeys([*(self._targets if languages is None else languages), *self._statistics.secondary_languages])
        )
        into = list_known_targets(self._translator, query.lang, wanted) if self._translator is not None else []
        clauses = translate_many(self._translator, query, into) if self._translator is not None and into else {}
        forms = []
        for lang in wanted:
            translations = tuple(clauses.get(lang, ()))
            if translations and INNER in self._statistics.layout.fields:
                translations = tuple(add_sound_alternatives(translations, query.lang, lang))
            form = Query(query.id, query.text, lang, translations)
            forms.append(attribute_clauses(form, self._translator_name) if translations else form)
        return forms

    def _find_by_words(self, table: ClauseTable | None, limit: int, where: Where | None) -> StoredTerms:
        """Find documents by words, and read what their stored vectors hold of the query's terms."""
        if table is None or not len(table.request.indices):
            return StoredTerms([], [], SparseRows(_NO_SIZES, _NO_IDS, _NO_VALUES))
        needed = self._statistics.layout.with_lengths(table.term_ids)
        rows = self._store.search_and_read(TERMS_VECTOR, [table.request], limit, where, needed)
        return StoredTerms(rows.ids, rows.langs, rows.rows)

    def _read_similar(self, found: StoredTerms, similar: Sequence[dict[str, float]]) -> StoredTerms:
        """Add the documents that only vectors have found."""
        known_ids = set(found.doc_ids)
        new_ids = [doc_id for doc_id in dict.fromkeys(chain(*similar)) if doc_id not in known_ids]
        languages, rows = self._store.read_sparse(TERMS_VECTOR, new_ids)
        joined_rows = SparseRows(
            np.concatenate([found.rows.sizes, rows.sizes]),
            np.concatenate([found.rows.indices, rows.indices]),
            np.concatenate([found.rows.values, rows.values]),
        )
        return StoredTerms([*found.doc_ids, *new_ids], [*found.languages, *languages], joined_rows)

    def _encode(self, query: Query) -> Floats | None:
        """Return the query's vector; None where the encoder knows nothing of it."""
        if self._semantic is None or query.lang not in self._semantic.encoder.langs:
            return None
        vector = self._semantic.encoder.encode([query.text], query.lang)[0]
        return vector if vector.any() else None

    def _name_vector(self, vector: Floats | None) -> dict[str, Floats]:
        """Return the query's vector by the name under which documents have theirs."""
        return {} if vector is None or self._semantic is None else {self._semantic.passages.vector_name: vector}

    def _find_similar(self, vector: Floats | None, limit: int, where: Where | None) -> list[dict[str, float]]:
        """Return the cosines of the documents with the most similar passages, and of those with the most similar
        titles."""
        if vector is None or self._semantic is None:
            return [{}, {}]
        titles = self._semantic.titles
        return [
            self._semantic.passages.search(vector, limit, where),
            titles.search(vector, limit, where) if titles is not None else {},
        ]

    def _measure(
        self,
        query: Query,
        documents: StoredTerms,
        table: ClauseTable | None,
        query_vector: Floats | None,
        similar: Sequence[dict[str, float]],
    ) -> Candidates:
        doc_ids, doc_languages, rows = documents
        lexical = self._measure_words(table, doc_languages, rows)
        title_similarity, passage_similarity, has_vectors = self._measure_similarity(
            query_vector, similar, doc_ids, doc_languages, lexical
        )
        columns = build_features(query, lexical, title_similarity, passage_similarity)
        features = np.stack([columns[name] for name in FEATURE_NAMES], axis=1).astype(np.float32)
        return Candidates(list(doc_ids), doc_languages, features, has_vectors)

    def _measure_words(self, table: ClauseTable | None, languages: Sequence[str], rows: SparseRows) -> LexicalEvidence:
        if table is None:
            no_clauses, no_share = np.zeros((len(languages), 0)), np.zeros(len(languages))
            return LexicalEvidence(no_clauses, no_clauses, no_share, no_share, no_share, no_share)
        needed = self._statistics.layout.with_lengths(table.term_ids)
        return table.measure(languages, filter_entries(rows, needed))

    def _measure_similarity(
        self,
        vector: Floats | None,
        similar: Sequence[dict[str, float]],
        doc_ids: Sequence[str],
        languages: Sequence[str],
        lexical: LexicalEvidence,
    ) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """Return standardized similarities of title and best passage, and which documents have vectors."""
        n_docs = len(doc_ids)
        zeros = np.zeros(n_docs, np.float32)
        if vector is None or self._semantic is None or not n_docs:
            return zeros, zeros, np.zeros(n_docs, bool)
        passages, titles = self._semantic.passages, self._semantic.titles
        cosines = passages.complete(vector, similar[0], doc_ids)
        has_vectors = np.array([doc_id in cosines for doc_id in doc_ids], bool)
        passage = passages.standardize(vector, languages, _column(cosines, doc_ids))
        passage -= PASSAGE_CORRECTION * expected_best_of(lexical.text_length / TERMS_PER_PASSAGE)
        title = passage
        if titles is not None:
            title_cosines = titles.complete(vector, similar[1], doc_ids)
            has_title = np.array([doc_id in title_cosines for doc_id in doc_ids], bool)
            title = titles.standardize(vector, languages, _column(title_cosines, doc_ids))
            title = np.where(has_title, title, passage)
        return np.where(has_vectors, title, zeros), np.where(has_vectors, passage, zeros), has_vectors

    def _rank(self, evidence: QueryEvidence, k: int) -> RankedList:
        candidates = evidence.candidates
        log_odds = self._model.log_odds(candidates)
        scores = dict(zip(candidates.doc_ids, compute_probabilities(log_odds).tolist(), strict=True))
        hits = tuple(rank_hits((Hit(doc_id, score) for doc_id, score in scores.items()), len(scores)))
        explainer = partial(self._explain, evidence)
        return RankedList(hits[:k], evidence.forms, explainer, has_probabilities=True, lower_hits=hits[k:])

    def _explain(self, evidence: QueryEvidence, document: Document, _: float) -> ScoreExplanation:
        """Split the log-odds of a candidate into parts, and the part of the words into pairs of words."""
        candidates = evidence.candidates
        row = candidates.doc_ids.index(document.id)
        contributions = self._model.explain(candidates.features[row], has_vectors=bool(candidates.has_vectors[row]))
        parts = []
        for name, features in PARTS_OF_EXPLANATION.items():
            log_odds = sum(part.log_odds for part in contributions if part.feature in features)
            if name == WORDS_PART:
                parts.append((name, self._explain_words(evidence, document, candidates.languages[row], log_odds)))
            elif log_odds:
                parts.append((name, ScoreExplanation(log_odds, (Contribution("", "", name, log_odds),))))
        return ScoreExplanation(sum(part.score for _, part in parts), parts=tuple(parts))

    def _explain_words(
        self, evidence: QueryEvidence, document: Document, language: str, log_odds: float
    ) -> ScoreExplanation:
        """Share the log-odds of the words among the pairs of words that matched."""
        unmatched = ScoreExplanation(log_odds, (Contribution("", "", WORDS_PART, log_odds),))
        if evidence.table is None:
            return unmatched
        _, rows = self._store.read_sparse(TERMS_VECTOR, [document.id])
        matches = evidence.table.attribute(language, rows)
        origins: dict[tuple[str, str], dict[str, float]] = {}
        for form in evidence.forms.queries:
            origins.update(list_origins(form))
        total = sum(match.score for match in matches)
        return explain_matches(matches, origins, total).scale_to(log_odds) if total else unmatched


def build_features(
    query: Query, lexical: LexicalEvidence, title_similarity: Floats, passage_similarity: Floats
) -> dict[str, npt.NDArray[np.floating[Any]]]:
    """Compute the columns of the features from what was measured of the candidates; see `scoring.FEATURES`."""
    n_terms = max(len(analyzer(query.lang).terms(query.text)), 1)
    return {
        "words": lexical.combined_share,
        "title_words": lexical.title_share,
        "title_similarity": title_similarity / n_terms,
        "passage_similarity": passage_similarity - lexical.combined_share * np.maximum(passage_similarity, 0.0),
        "match_rarity": lexical.match_rarity,
        "log_query_terms": np.full(len(passage_similarity), np.log(n_terms)),
    }


def _column(cosines: Mapping[str, float], doc_ids: Sequence[str]) -> Floats:
    return np.array([cosines.get(doc_id, 0.0) for doc_id in doc_ids], np.float32)
