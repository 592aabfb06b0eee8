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
from paragloss.bm25 import Doubles, concatenate_rows, filter_entries
from paragloss.index.terms import INNER, TERMS_VECTOR
from paragloss.ranking import rank_hits
from paragloss.search.clause_table import ClauseTable, LexicalEvidence, build_clause_table
from paragloss.search.clauses import attribute_clauses, split_into_clauses
from paragloss.search.evidence import Match, explain_matches, list_origins
from paragloss.search.scoring import (
    FEATURE_NAMES,
    MeasuredCandidates,
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
#: Names the translator in explanations, where translations don't say which of several gave them.
UNNAMED_TRANSLATOR = "translator"
#: How much of the expected best of several unrelated passages is subtracted: passages of a document are alike.
PASSAGE_CORRECTION = 0.5


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

    def encode(self, query: Query) -> Floats | None:
        """Return the vector of a query; None where the encoder knows nothing of it."""
        if query.lang not in self.encoder.langs:
            return None
        vector = self.encoder.encode([query.text], query.lang)[0]
        return vector if vector.any() else None

    def search(self, query_vector: Floats, limit: int, where: Where | None) -> SimilarDocuments:
        """Find the documents with the most similar passages, and those with the most similar titles."""
        passage_cosines = self.passages.search(query_vector, limit, where)
        title_cosines = self.titles.search(query_vector, limit, where) if self.titles is not None else {}
        return SimilarDocuments(query_vector, passage_cosines, title_cosines)

    def measure(self, similar: SimilarDocuments, documents: StoredTerms, text_lengths: Doubles) -> SemanticEvidence:
        """Measure how similar the title and the best passage of each document are to the query.

        One of many passages is similar by chance: how similar that would be is subtracted.

        :param similar: the query's vector, and the cosines that are known from searching; other cosines are read.
        :param documents: the documents that are measured.
        :param text_lengths: the number of terms of each document, (n_docs,); it tells how many passages it has.
        :return: 0 for documents without vectors.
        """
        passages = self.passages.measure(similar.query_vector, similar.passages, documents.doc_ids, documents.languages)
        expected_similarity = PASSAGE_CORRECTION * expected_best_of(text_lengths / TERMS_PER_PASSAGE)
        passage_similarity = passages.similarities - expected_similarity
        title_similarity = self._measure_titles(similar, documents, passage_similarity)
        return SemanticEvidence(
            title=np.where(passages.has_vectors, title_similarity, np.float32(0)),
            passage=np.where(passages.has_vectors, passage_similarity, np.float32(0)),
            has_vectors=passages.has_vectors,
        )

    def _measure_titles(self, similar: SimilarDocuments, documents: StoredTerms, passage_similarity: Floats) -> Floats:
        """Measure how similar the title of each document is to the query; (n_docs,).

        :param passage_similarity: stands in for the similarity of a title without a vector, (n_docs,).
        """
        if self.titles is None:
            return passage_similarity
        titles = self.titles.measure(similar.query_vector, similar.titles, documents.doc_ids, documents.languages)
        return np.where(titles.has_vectors, titles.similarities, passage_similarity)


class StoredTerms(NamedTuple):
    """Documents with their languages and what their stored vectors hold of some terms."""

    doc_ids: Sequence[str]
    languages: Sequence[str]
    rows: SparseRows


class SimilarDocuments(NamedTuple):
    """The vector of a query, and its cosines with documents, by document id."""

    query_vector: Floats
    passages: dict[str, float]  # of each document's most similar passage
    titles: dict[str, float]


class SemanticEvidence(NamedTuple):
    """How similar documents are to the query, in standard deviations above unrelated ones; (n_docs,) each."""

    title: Floats  # of the best passage where a document has no title vector
    passage: Floats
    has_vectors: npt.NDArray[np.bool_]

    @classmethod
    def make_zeros(cls, n_documents: int) -> SemanticEvidence:
        """Make the evidence of documents without vectors."""
        zeros = np.zeros(n_documents, np.float32)
        return cls(zeros, zeros, np.zeros(n_documents, bool))


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
        semantic: SemanticSearchers | None = None,
        variants: bool = True,
        step: Callable[[], None] = lambda: None,
    ) -> None:
        """Search the documents of a store.

        :param statistics: have the frequencies of the documents' terms.
        :param targets: the languages of the documents that are searched.
        :param translator: translates queries; without one they are searched as they are.
        :param semantic: compares vectors; without it only words are searched.
        :param variants: whether names are also searched in other spellings, and by what they sound like.
        :param step: is called between the languages of a query; it may wait, or raise an error to end the search.
        """
        self._store = store
        self._statistics = statistics
        self._targets = tuple(targets)
        self._translator = translator
        self._semantic = semantic
        self._encoder = semantic.encoder if semantic is not None else None  # for `search_plan`, which prints searchers
        self._variants = variants
        self._step = step

    def max_score(self, lang: str) -> float:
        """Return the highest score: a probability."""
        return 1.0 if lang in self._targets else 0.0

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        """Rank the documents of all languages by the probability that they answer each query."""
        return [self._rank(self.collect(query, k, where), k) for query in queries]

    def collect(self, query: Query, k: int, where: Where | None = None) -> QueryEvidence:
        """Find candidates for a query by words and by vectors, and measure the features of all of them.

        :param k: how many results are asked for; at least as many documents are measured.
        :param where: conditions that documents meet, by field; all documents if None.
        :return: the candidates with their features, and what they were measured by.
        """
        languages = [str(lang) for lang in (where or {}).get("lang", self._targets)]
        forms = self.translate(query, languages)
        table = self._build_clause_table(query, forms)
        documents = self._find_by_words(table, max(k, WORD_CANDIDATES), where)
        similar = self._find_similar(query, max(k, VECTOR_CANDIDATES), where)
        query_vectors = {}
        if similar is not None and self._semantic is not None:
            documents = self._add_documents(documents, [*similar.passages, *similar.titles])
            query_vectors[self._semantic.passages.vector_name] = similar.query_vector
        candidates = self._measure_features(query, documents, table, similar)
        return QueryEvidence(candidates, table, QueryForms(tuple(forms), query_vectors))

    def translate(self, query: Query, languages: Sequence[str] | None = None) -> list[Query]:
        """Return the query in each language that documents are searched in.

        :param languages: the languages of the searched documents; all targets if None. Languages that documents have
            parts in are added.
        """
        target_languages = self._targets if languages is None else languages
        searched_languages = list(dict.fromkeys([*target_languages, *self._statistics.secondary_languages]))
        clauses_by_language = self._translate_clauses(query, searched_languages)
        forms = []
        for lang in searched_languages:
            self._step()
            forms.append(self._make_form(query, lang, clauses_by_language.get(lang, ())))
        return forms

    def _make_form(self, query: Query, lang: str, clauses: Sequence[Translation]) -> Query:
        """Return a query as it is searched in one language: with clauses of translations, or in its own words.

        :param clauses: the translations of its terms; none if it is searched in its own words. Spellings and sounds of
            names are added to them.
        """
        if clauses and self._variants and INNER in self._statistics.layout.fields:
            clauses = add_name_alternatives(clauses, query.lang, lang)
        form = Query(query.id, query.text, lang, tuple(clauses))
        return attribute_clauses(form, UNNAMED_TRANSLATOR) if clauses else form

    def _translate_clauses(self, query: Query, languages: Sequence[str]) -> Mapping[str, Sequence[Translation]]:
        """Translate a query into those of the languages that the translator knows."""
        if self._translator is None:
            return {}
        known_languages = list_known_targets(self._translator, query.lang, languages)
        return translate_many(self._translator, query, known_languages) if known_languages else {}

    def _build_clause_table(self, query: Query, forms: Sequence[Query]) -> ClauseTable | None:
        """Compile the clauses of a query in all languages; None if it has none.

        :param forms: the query in each searched language.
        """
        clauses_by_language = []
        for form in forms:
            self._step()
            clauses_by_language.append((form.lang, split_into_clauses(form)))
        return build_clause_table(query, clauses_by_language, self._statistics)

    def _find_by_words(self, table: ClauseTable | None, limit: int, where: Where | None) -> StoredTerms:
        """Find documents by words, and read what their stored vectors hold of the query's terms."""
        if table is None or not len(table.request.indices):
            return StoredTerms([], [], concatenate_rows([]))
        needed_ids = self._statistics.layout.with_lengths(table.term_ids)
        candidates = self._store.search_and_read(TERMS_VECTOR, [table.request], limit, where, needed_ids)
        return StoredTerms(candidates.ids, candidates.langs, candidates.rows)

    def _add_documents(self, documents: StoredTerms, doc_ids: Sequence[str]) -> StoredTerms:
        """Read those of some documents that are not yet among the others, and return them behind the others."""
        known_ids = set(documents.doc_ids)
        new_ids = [doc_id for doc_id in dict.fromkeys(doc_ids) if doc_id not in known_ids]
        new_languages, new_rows = self._store.read_sparse(TERMS_VECTOR, new_ids)
        return StoredTerms(
            doc_ids=[*documents.doc_ids, *new_ids],
            languages=[*documents.languages, *new_languages],
            rows=concatenate_rows([documents.rows, new_rows]),
        )

    def _find_similar(self, query: Query, limit: int, where: Where | None) -> SimilarDocuments | None:
        """Find documents by vectors; None if the query has no vector."""
        if self._semantic is None:
            return None
        query_vector = self._semantic.encode(query)
        if query_vector is None:
            return None
        return self._semantic.search(query_vector, limit, where)

    def _measure_features(
        self, query: Query, documents: StoredTerms, table: ClauseTable | None, similar: SimilarDocuments | None
    ) -> MeasuredCandidates:
        """Compute the features of all candidates, by words and by vectors, however they were found.

        :param documents: the candidates with their stored terms.
        :param table: the clauses of the query; None for a query without words.
        :param similar: the query's vector, and the cosines that are known from searching; None for a query without one.
        """
        lexical = self._measure_words(table, documents)
        if similar is None or self._semantic is None or not documents.doc_ids:
            semantic = SemanticEvidence.make_zeros(len(documents.doc_ids))
        else:
            semantic = self._semantic.measure(similar, documents, lexical.text_length)
        columns = build_features(query, lexical, semantic.title, semantic.passage)
        features = np.stack([columns[name] for name in FEATURE_NAMES], axis=1).astype(np.float32)
        return MeasuredCandidates(list(documents.doc_ids), documents.languages, features, semantic.has_vectors)

    def _measure_words(self, table: ClauseTable | None, documents: StoredTerms) -> LexicalEvidence:
        """Measure how far documents match the clauses of the query; not at all if it has none."""
        if table is None:
            return LexicalEvidence.make_zeros(len(documents.doc_ids))
        needed_ids = self._statistics.layout.with_lengths(table.term_ids)
        return table.measure(documents.languages, filter_entries(documents.rows, needed_ids))

    def _rank(self, evidence: QueryEvidence, k: int) -> RankedList:
        """Return the k candidates with the highest probabilities, and the other candidates as lower hits."""
        candidates = evidence.candidates
        probabilities = compute_probabilities(shipped_model().log_odds(candidates)).tolist()
        hits = [Hit(doc_id, score) for doc_id, score in zip(candidates.doc_ids, probabilities, strict=True)]
        ranked_hits = tuple(rank_hits(hits, len(hits)))
        explainer = partial(self._explain, evidence)
        return RankedList(
            ranked_hits[:k], evidence.forms, explainer, has_probabilities=True, lower_hits=ranked_hits[k:]
        )

    def _explain(self, evidence: QueryEvidence, document: Document, _: float) -> ScoreExplanation:
        """Explain the score of a candidate: split its log-odds into named parts, and the part of the words by words.

        Log-odds are added up by the model, probabilities are not. The last argument is the score, which all explainers
        get; this one computes the log-odds again.

        :param evidence: what was measured of all candidates; the document is one of them.
        """
        candidates = evidence.candidates
        row = candidates.doc_ids.index(document.id)
        has_vectors = bool(candidates.has_vectors[row])
        contributions = shipped_model().explain(candidates.features[row], has_vectors=has_vectors)
        log_odds_by_feature = {contribution.feature: contribution.log_odds for contribution in contributions}
        parts = []
        for name, features in PARTS_OF_EXPLANATION.items():
            part_log_odds = sum(log_odds_by_feature[feature] for feature in features)
            if name == WORDS_PART:
                language = candidates.languages[row]
                parts.append((name, self._explain_words(evidence, document, language, part_log_odds)))
            elif part_log_odds:
                parts.append((name, _explain_without_words(name, part_log_odds)))
        return ScoreExplanation(sum(part.score for _, part in parts), parts=tuple(parts))

    def _explain_words(
        self, evidence: QueryEvidence, document: Document, language: str, log_odds: float
    ) -> ScoreExplanation:
        """Divide what words contribute to a score among the pairs of a query term and a document word that matched.

        :param evidence: what was measured of the query's candidates.
        :param language: the language of the document.
        :param log_odds: what the words contribute to the score of the document.
        :return: the contributions of the pairs, whose sum is `log_odds`; one without words if no words match.
        """
        matches = self._list_matches(evidence.table, document, language)
        total = sum(match.score for match in matches)
        if not total:
            return _explain_without_words(WORDS_PART, log_odds)
        origins: dict[tuple[str, str], dict[str, float]] = {}  # pair of words -> weights of its translators
        for form in evidence.forms.queries:
            origins.update(list_origins(form))
        return explain_matches(matches, origins, total).scale_to(log_odds)

    def _list_matches(self, table: ClauseTable | None, document: Document, language: str) -> list[Match]:
        """List the pairs of a query term and a word of a document that match; none for a query without words."""
        if table is None:
            return []
        _, rows = self._store.read_sparse(TERMS_VECTOR, [document.id])
        return table.attribute_score(language, rows)


def build_features(
    query: Query, lexical: LexicalEvidence, title_similarity: Floats, passage_similarity: Floats
) -> dict[str, npt.NDArray[np.floating[Any]]]:
    """Return the features of the candidates of a query by name; `scoring.FEATURES` says what each means.

    :param lexical: how far each candidate matches the words of the query.
    :param title_similarity: how similar titles are to the query, in standard deviations above unrelated ones,
        (n_candidates,).
    :param passage_similarity: the same for the best passage of each candidate.
    :return: a value for each candidate, (n_candidates,), for each feature.
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


def _explain_without_words(name: str, log_odds: float) -> ScoreExplanation:
    """Explain a part of a score by its name alone: no words are responsible for it."""
    return ScoreExplanation(log_odds, (Contribution("", "", name, log_odds),))
