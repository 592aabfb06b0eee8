"""The default search: clauses and vectors to candidates, candidates to features, features to probabilities.

One request for words and one for each kind of vector find documents of all languages; every candidate is then measured
by all features, however it was found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.analysis import analyzer
from paragloss.bm25 import filter_entries
from paragloss.index.fields import INNER
from paragloss.index.terms import TERMS_VECTOR
from paragloss.ranking import rank_hits
from paragloss.search.clause_table import ClauseTable, LexicalEvidence, build_clause_table
from paragloss.search.clauses import split_into_clauses
from paragloss.search.evidence import attribute_clauses, explain_matches, list_origins
from paragloss.search.scoring import (
    FEATURE_NAMES,
    MeasuredCandidates,
    ScoringModel,
    compute_probabilities,
    shipped_model,
)
from paragloss.search.similarity import TERMS_PER_PASSAGE, SimilaritySearcher, expected_best_of
from paragloss.statistics import Statistics
from paragloss.translation.combined import list_known_targets, translate_many
from paragloss.translation.name_alternatives import add_name_alternatives
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
    Translation,
    Translator,
    Where,
)

#: How many documents are measured for each query: the best by words, and the best by each kind of vector. With 100 or
#: 200 by words the first ten results of 720 queries were equally good; with 60 nDCG@10 falls by .001.
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


class SimilarDocuments(NamedTuple):
    """Cosines of documents with the query's vector, by document id."""

    passages: dict[str, float]  # of each document's most similar passage
    titles: dict[str, float]


class SemanticEvidence(NamedTuple):
    """How similar documents are to the query, in standard deviations above unrelated ones; (n_docs,) each."""

    title: Floats  # of the best passage where a document has no title vector
    passage: Floats
    has_vectors: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class QueryEvidence:
    """What was measured of the candidates of one query."""

    candidates: MeasuredCandidates
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
        variants: bool = True,
        step: Callable[[], None] = lambda: None,
    ) -> None:
        """Search a store.

        :param targets: the languages of the documents that are searched.
        :param translator: translates queries; without one they are searched as they are.
        :param translator_name: names the translator in explanations.
        :param semantic: compares vectors; without it only words are searched.
        :param model: computes the scores; the model of the package if None.
        :param variants: whether names are also searched in other spellings, and by what they sound like.
        :param step: is called between the languages of a query; it may wait, or raise an error to end the search.
        """
        self._step = step
        self._store, self._statistics, self._targets = store, statistics, tuple(targets)
        self._translator, self._translator_name = translator, translator_name
        self._semantic = semantic
        self._encoder = semantic.encoder if semantic is not None else None
        self._model = model or shipped_model()
        self._variants = variants

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
        clauses_by_language = []
        for form in forms:
            self._step()
            clauses_by_language.append((form.lang, split_into_clauses(form)))
        table = build_clause_table(query, clauses_by_language, self._statistics)
        word_matches = self._find_by_words(table, max(k, WORD_CANDIDATES), where)
        query_vector = self._encode(query)
        cosines = self._find_similar(query_vector, max(k, VECTOR_CANDIDATES), where)
        documents = self._add_documents(word_matches, cosines)
        candidates = self._measure(query, documents, table, query_vector, cosines)
        return QueryEvidence(candidates, table, QueryForms(tuple(forms), self._name_vector(query_vector)))

    def translate(self, query: Query, languages: Sequence[str] | None = None) -> list[Query]:
        """Return the query in each language that documents are searched in.

        It has clauses of alternatives where the translator knows the language, and its own words in its own language
        and where nothing translates.

        :param languages: the languages of the searched documents; all targets if None. Languages that documents have
            parts in are added.
        """
        target_languages = self._targets if languages is None else languages
        searched_languages = list(dict.fromkeys([*target_languages, *self._statistics.secondary_languages]))
        clauses_by_language = self._translate_clauses(query, searched_languages)
        forms = []
        for lang in searched_languages:
            self._step()
            translations = tuple(clauses_by_language.get(lang, ()))
            if translations and self._variants and INNER in self._statistics.layout.fields:
                translations = tuple(add_name_alternatives(translations, query.lang, lang))
            form = Query(query.id, query.text, lang, translations)
            forms.append(attribute_clauses(form, self._translator_name) if translations else form)
        return forms

    def _translate_clauses(self, query: Query, languages: Sequence[str]) -> Mapping[str, Sequence[Translation]]:
        """Translate a query into those of the languages that the translator knows."""
        if self._translator is None:
            return {}
        known_languages = list_known_targets(self._translator, query.lang, languages)
        return translate_many(self._translator, query, known_languages) if known_languages else {}

    def _find_by_words(self, table: ClauseTable | None, limit: int, where: Where | None) -> StoredTerms:
        """Find documents by words, and read what their stored vectors hold of the query's terms."""
        if table is None or not len(table.request.indices):
            return StoredTerms([], [], SparseRows(_NO_SIZES, _NO_IDS, _NO_VALUES))
        needed_ids = self._statistics.layout.with_lengths(table.term_ids)
        rows = self._store.search_and_read(TERMS_VECTOR, [table.request], limit, where, needed_ids)
        return StoredTerms(rows.ids, rows.langs, rows.rows)

    def _add_documents(self, documents: StoredTerms, cosines: SimilarDocuments) -> StoredTerms:
        """Read the documents that only vectors have found, and return them behind the others."""
        known_ids = set(documents.doc_ids)
        similar_ids = dict.fromkeys([*cosines.passages, *cosines.titles])
        new_ids = [doc_id for doc_id in similar_ids if doc_id not in known_ids]
        new_languages, new_rows = self._store.read_sparse(TERMS_VECTOR, new_ids)
        joined_rows = SparseRows(
            np.concatenate([documents.rows.sizes, new_rows.sizes]),
            np.concatenate([documents.rows.indices, new_rows.indices]),
            np.concatenate([documents.rows.values, new_rows.values]),
        )
        return StoredTerms([*documents.doc_ids, *new_ids], [*documents.languages, *new_languages], joined_rows)

    def _encode(self, query: Query) -> Floats | None:
        """Return the query's vector; None where the encoder knows nothing of it."""
        if self._semantic is None or query.lang not in self._semantic.encoder.langs:
            return None
        vector = self._semantic.encoder.encode([query.text], query.lang)[0]
        return vector if vector.any() else None

    def _name_vector(self, vector: Floats | None) -> dict[str, Floats]:
        """Return the query's vector by the name under which documents have theirs."""
        return {} if vector is None or self._semantic is None else {self._semantic.passages.vector_name: vector}

    def _find_similar(self, vector: Floats | None, limit: int, where: Where | None) -> SimilarDocuments:
        """Find the documents with the most similar passages, and those with the most similar titles."""
        if vector is None or self._semantic is None:
            return SimilarDocuments({}, {})
        passages, titles = self._semantic.passages, self._semantic.titles
        return SimilarDocuments(
            passages.search(vector, limit, where), titles.search(vector, limit, where) if titles is not None else {}
        )

    def _measure(
        self,
        query: Query,
        documents: StoredTerms,
        table: ClauseTable | None,
        query_vector: Floats | None,
        cosines: SimilarDocuments,
    ) -> MeasuredCandidates:
        """Compute the features of all candidates, by words and by vectors, however they were found.

        :param documents: the candidates with their stored terms.
        :param table: the clauses of the query, if it has any.
        :param cosines: the cosines that are known from searching.
        """
        lexical = self._measure_words(table, documents.languages, documents.rows)
        similarity = self._measure_similarity(query_vector, cosines, documents, lexical)
        columns = build_features(query, lexical, similarity.title, similarity.passage)
        features = np.stack([columns[name] for name in FEATURE_NAMES], axis=1).astype(np.float32)
        return MeasuredCandidates(list(documents.doc_ids), documents.languages, features, similarity.has_vectors)

    def _measure_words(self, table: ClauseTable | None, languages: Sequence[str], rows: SparseRows) -> LexicalEvidence:
        """Measure how far documents match the clauses of the query; not at all if it has none."""
        if table is None:
            no_clauses, no_weight = np.zeros((len(languages), 0)), np.zeros(len(languages))
            return LexicalEvidence(no_clauses, no_clauses, *[no_weight] * 6)
        needed_ids = self._statistics.layout.with_lengths(table.term_ids)
        return table.measure(languages, filter_entries(rows, needed_ids))

    def _measure_similarity(
        self, vector: Floats | None, cosines: SimilarDocuments, documents: StoredTerms, lexical: LexicalEvidence
    ) -> SemanticEvidence:
        """Measure how similar the title and the best passage of each document are to the query.

        :param vector: the query's vector, if it has one.
        :param cosines: those that are known from searching; the others are read.
        :param lexical: has the lengths of the documents, from which the number of passages is estimated.
        """
        zeros = np.zeros(len(documents.doc_ids), np.float32)
        if vector is None or self._semantic is None or not documents.doc_ids:
            return SemanticEvidence(zeros, zeros, zeros.astype(bool))
        n_passages = lexical.text_length / TERMS_PER_PASSAGE
        passage, has_vectors = _standardize(self._semantic.passages, vector, cosines.passages, documents)
        passage -= PASSAGE_CORRECTION * expected_best_of(n_passages)
        title = passage
        if self._semantic.titles is not None:
            title, has_title = _standardize(self._semantic.titles, vector, cosines.titles, documents)
            title = np.where(has_title, title, passage)
        return SemanticEvidence(np.where(has_vectors, title, zeros), np.where(has_vectors, passage, zeros), has_vectors)

    def _rank(self, evidence: QueryEvidence, k: int) -> RankedList:
        """Return the k candidates with the highest probabilities, and the other candidates as lower hits."""
        candidates = evidence.candidates
        log_odds = self._model.log_odds(candidates)
        scores = dict(zip(candidates.doc_ids, compute_probabilities(log_odds).tolist(), strict=True))
        hits = tuple(rank_hits((Hit(doc_id, score) for doc_id, score in scores.items()), len(scores)))
        explainer = partial(self._explain, evidence)
        return RankedList(hits[:k], evidence.forms, explainer, has_probabilities=True, lower_hits=hits[k:])

    def _explain(self, evidence: QueryEvidence, document: Document, _: float) -> ScoreExplanation:
        """Split the log-odds of a candidate into named parts, and the part of the words into pairs of words."""
        candidates = evidence.candidates
        row = candidates.doc_ids.index(document.id)
        contributions = self._model.explain(candidates.features[row], has_vectors=bool(candidates.has_vectors[row]))
        parts = []
        for name, features in PARTS_OF_EXPLANATION.items():
            log_odds = sum(contribution.log_odds for contribution in contributions if contribution.feature in features)
            if name == WORDS_PART:
                parts.append((name, self._explain_words(evidence, document, candidates.languages[row], log_odds)))
            elif log_odds:
                parts.append((name, ScoreExplanation(log_odds, (Contribution("", "", name, log_odds),))))
        return ScoreExplanation(sum(part.score for _, part in parts), parts=tuple(parts))

    def _explain_words(
        self, evidence: QueryEvidence, document: Document, language: str, log_odds: float
    ) -> ScoreExplanation:
        """Share the log-odds of the words among the pairs of words that matched.

        :param log_odds: what the words contribute to the score of the document.
        """
        without_pairs = ScoreExplanation(log_odds, (Contribution("", "", WORDS_PART, log_odds),))
        if evidence.table is None:
            return without_pairs
        _, rows = self._store.read_sparse(TERMS_VECTOR, [document.id])
        matches = evidence.table.attribute(language, rows)
        origins: dict[tuple[str, str], dict[str, float]] = {}
        for form in evidence.forms.queries:
            origins.update(list_origins(form))
        total = sum(match.score for match in matches)
        return explain_matches(matches, origins, total).scale_to(log_odds) if total else without_pairs


def build_features(
    query: Query, lexical: LexicalEvidence, title_similarity: Floats, passage_similarity: Floats
) -> dict[str, npt.NDArray[np.floating[Any]]]:
    """Return the columns of the features, one value per candidate; `scoring.FEATURES` says what each means.

    :param lexical: how far each candidate matches the words of the query.
    :param title_similarity: in standard deviations, (n_candidates,).
    :param passage_similarity: the same for the best passage.
    """
    n_terms = max(len(analyzer(query.lang).terms(query.text)), 1)
    return {
        "words": lexical.combined_evidence,
        "title_words": lexical.title_evidence / n_terms,
        "title_similarity": title_similarity / n_terms,
        "passage_similarity": passage_similarity - lexical.combined_share * np.maximum(passage_similarity, 0.0),
        "match_rarity": lexical.match_rarity,
        "log_query_terms": np.full(len(passage_similarity), np.log(n_terms)),
    }


def _standardize(
    searcher: SimilaritySearcher, vector: Floats, cosines: dict[str, float], documents: StoredTerms
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the cosine of each document in standard deviations, and whether the document has a vector.

    :param cosines: the known cosines by document id; the others are read from the store.
    """
    all_cosines = searcher.complete(vector, cosines, documents.doc_ids)
    has_vector = np.array([doc_id in all_cosines for doc_id in documents.doc_ids], bool)
    column = np.array([all_cosines.get(doc_id, 0.0) for doc_id in documents.doc_ids], np.float32)
    return searcher.standardize(vector, documents.languages, column), has_vector
