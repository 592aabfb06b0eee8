"""A simulated bilingual search log for the recipes of Liu's thesis, and K-NRM trained on it.

The thesis' log (Sogou-Log) is not public. Here readers are simulated on real documents: the foreign short description
of a Debian package is a query for foreign long descriptions (their first 300 characters), BM25 shows ten, and readers
click what is similar to the package's own description (`simulated_readers`). English queries are the English short
descriptions, written by people. Labels are the thesis': SAME (DCTR), DIFF (TACM), RAW (the document opened, in each
session with a single one). nDCG has the gain 2^grade - 1 of the thesis' equation 4.1. Every K-NRM starts from the word
vectors of Cr5, learned from the training packages, and is trained until it ranks a tenth of its queries no better.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np

from papers.corpora import Columns, Rows, Split, open_term_index, rank_randomly, split_collection, training_budget
from papers.simulated_readers import simulate
from papers.verdicts import CHANCE_ROW
from paragloss.encoders.kernel_ranker import Knrm
from paragloss.evaluation import evaluate
from paragloss.lab import clicks, judgments
from paragloss.lab.clicks.log_files import Session
from paragloss.lab.methods import cr5, knrm, table
from paragloss.lab.query_log import translate_log
from paragloss.ranking import rank_hits
from paragloss.search.lexical import Lexical
from paragloss.translation import word_table
from paragloss.types import Concept, Document, Floats, Hit, JudgedCollection, Qrels, Query, Reranker, Run, Translator
from paragloss.vocabulary import Vocabulary, weigh

NDCG_BY_COLUMN = {f"@{k}": f"nDCG(dcg='exp-log2')@{k}" for k in (1, 5, 10)}
MAX_EPOCHS, PATIENCE, DIM = 60, 5, 100
#: From Cr5's vectors a rate of 1e-2 gives its best after the first epoch, and less (validation nDCG@10 .881 and .883).
LEARNING_RATE = 1e-3
RESULTS_SHOWN = 10
DOCUMENT_CHARS = 300
READERS_PER_QUERY = 30
#: Shares of the shown pairs with grade 1 or more, 2 or more, and 3.
GRADE_SHARES = (0.4, 0.2, 0.1)
T = TypeVar("T")


class Labels(NamedTuple):
    same: Qrels
    diff: Qrels
    raw: clicks.Scores  # query -> document -> sessions in which it was the only one opened


class SearchLog(NamedTuple):
    """A simulated log; queries are identified by their package."""

    lang: str
    is_smoke: bool
    train: JudgedCollection  # native queries with DCTR grades
    scored_train: JudgedCollection  # the same with DCTR scores in thousandths as grades
    native: dict[str, Query]  # the test queries
    english: dict[str, Query]  # the same by people, in English
    results: dict[str, list[str]]  # query -> the ten documents BM25 shows
    documents: dict[str, Document]
    labels: Labels
    packages: list[Concept]  # all training packages, which a translator may learn from

    def fit_translator(self) -> Translator:
        """Learn a table from the training packages' short descriptions; it replaces the thesis' translation service."""
        return _fit_table(tuple((c.id, c.titles[self.lang], c.titles["en"]) for c in self.packages), self.lang)

    def translate_to_english(self, judged: JudgedCollection, translator: Translator | None = None) -> JudgedCollection:
        """Translate the queries of a log into English, by default by `fit_translator`."""
        return translate_log(judged, translator or self.fit_translator(), "en")

    def measure_random_order(self, seed: int) -> Rows:
        """Measure the shown documents in a random order, as the row that all tables of the log begin with."""
        run = rank_randomly({query_id: self.results[query_id] for query_id in self.native}, seed)
        return {CHANCE_ROW: self.measure_run(run)}

    def rerank(self, model: Reranker, queries: Mapping[str, Query]) -> Run:
        """Rank the ten shown documents of each test query by a model."""
        run: Run = {}
        for query_id in self.native:
            documents = [self.documents[doc_id] for doc_id in self.results[query_id]]
            scores: Sequence[float] | Floats = model.score(queries[query_id], documents) if documents else []
            hits = (Hit(document.id, float(score)) for document, score in zip(documents, scores, strict=True))
            run[query_id] = rank_hits(hits, RESULTS_SHOWN)
        return run

    def measure_run(self, run: Run, query_ids: Sequence[str] | None = None) -> Columns:
        """Measure the seven columns of the thesis' tables, query by query, of all test queries or of some.

        They are nDCG by the labels of two click models, "SAME @1" to "DIFF @10", and "RAW MRR", the mean over sessions
        of the reciprocal rank of the one document clicked.
        """
        selected = set(self.native if query_ids is None else query_ids)
        columns: Columns = {}
        for label, qrels in (("SAME", self.labels.same), ("DIFF", self.labels.diff)):
            scores = evaluate(run, _select_queries(qrels, selected), list(NDCG_BY_COLUMN.values()))
            columns |= {f"{label} {name}": list(scores[ndcg].values()) for name, ndcg in NDCG_BY_COLUMN.items()}
        return columns | {"RAW MRR": measure_sessions(run, self.labels.raw, selected)}

    def measure_ranker(self, model: Knrm, queries: Mapping[str, Query]) -> Columns:
        """Rerank the test queries and measure the run, and what training the model took."""
        return self.measure_run(self.rerank(model, queries)) | training_budget(model.meta)


@lru_cache(maxsize=1)
def simulate_log(train_size: int, lang: str = "de", *, smoke: bool) -> SearchLog:
    """Simulate readers of descriptions in a language, and label documents by their clicks.

    A smoke run has 60 training and 40 test queries from the beginning of the files.
    """
    test_size = 1000
    if smoke:
        train_size, test_size = 60, 40
    split = _split_packages(lang, smoke)
    packages = _select_complete(split.train, lang)
    train, test = _sample_evenly(packages, train_size), _sample_evenly(_select_complete(split.test, lang), test_size)
    concepts = [*train, *test]
    documents = {c.id: Document(c.id, c.texts[lang][:DOCUMENT_CHARS], lang) for c in concepts}
    native = {c.id: Query(c.id, c.titles[lang], lang) for c in concepts}
    results = _search_bm25(documents, native)
    sessions = _simulate_readers(results, documents, lang)
    rates = clicks.dctr(sessions)
    grades, scores = _grade_scores(rates), clicks.round_to_thousandths(rates)
    train_ids, test_ids = [c.id for c in train if c.id in rates], [c.id for c in test]
    queries = [native[query_id] for query_id in train_ids]
    labels = Labels(
        _select_queries(grades, test_ids),
        _select_queries(_grade_scores(clicks.tacm(sessions).relevance()), test_ids),
        _select_queries(clicks.raw(sessions), test_ids),
    )
    return SearchLog(
        lang,
        smoke,
        JudgedCollection(queries, documents, _select_queries(grades, train_ids)),
        JudgedCollection(queries, documents, _select_queries(scores, train_ids)),
        _select_queries(native, test_ids),
        {c.id: Query(c.id, c.titles["en"], "en") for c in test},
        results,
        documents,
        labels,
        packages,
    )


def _split_packages(lang: str, smoke: bool) -> Split:
    return split_collection("ddtp", ["en", lang], lines=500 if smoke else None)


def _select_queries(scores: Mapping[str, T], query_ids: Collection[str]) -> dict[str, T]:
    """Select what belongs to some queries, in the order of `scores`."""
    selected = set(query_ids)
    return {query_id: value for query_id, value in scores.items() if query_id in selected}


def measure_sessions(run: Run, sessions: clicks.Scores, query_ids: Set[str]) -> float:
    """Average over sessions the reciprocal rank of the one document that was opened.

    :param sessions: query -> document -> in how many sessions
    """
    total = count = 0.0
    for query_id in sorted(query_ids & sessions.keys() & run.keys()):
        for rank, hit in enumerate(run[query_id], 1):
            total += sessions[query_id].get(hit.id, 0) / rank
        count += sum(sessions[query_id].values())
    return total / max(count, 1)


def _grade_scores(scores: clicks.Scores) -> Qrels:
    """Turn scores into grades 0 to 3 by GRADE_SHARES."""
    return clicks.grade_scores(scores, clicks.compute_grade_bounds(scores, GRADE_SHARES))


def _select_complete(concepts: Sequence[Concept], lang: str) -> list[Concept]:
    """Select concepts with title and text in both languages."""
    return [c for c in concepts if all(c.titles.get(code) and c.texts.get(code) for code in (lang, "en"))]


def _sample_evenly(concepts: Sequence[Concept], size: int) -> list[Concept]:
    """Sample packages evenly over the alphabet."""
    return [concepts[i] for i in np.linspace(0, len(concepts) - 1, min(size, len(concepts))).astype(int)]


def _search_bm25(documents: Mapping[str, Document], queries: Mapping[str, Query]) -> dict[str, list[str]]:
    with open_term_index(list(documents.values()), ["text"]) as (store, statistics):
        rankings = Lexical(store, statistics).search(list(queries.values()), RESULTS_SHOWN)
    return {query_id: [hit.id for hit in ranking] for query_id, ranking in zip(queries, rankings, strict=True)}


def _simulate_readers(
    results: Mapping[str, Sequence[str]], documents: Mapping[str, Document], lang: str
) -> list[Session]:
    """Simulate readers who want the package they ask for most, and others as far as their descriptions are similar."""
    row_by_id = {doc_id: row for row, doc_id in enumerate(documents)}
    vocabulary, counts = Vocabulary.build([d.text for d in documents.values()], lang, min_df=1)
    vectors = weigh(counts, vocabulary.idf, "tfidf")
    answered = {query_id: doc_ids for query_id, doc_ids in results.items() if doc_ids}
    attraction: clicks.Scores = {}
    satisfaction: clicks.Scores = {}
    for query_id, doc_ids in answered.items():
        rows = [row_by_id[doc_id] for doc_id in doc_ids]
        cosines = np.asarray((vectors[rows] @ vectors[row_by_id[query_id]].T).todense()).ravel().tolist()
        attraction[query_id] = {d: 0.05 + 0.6 * cosine for d, cosine in zip(doc_ids, cosines, strict=True)}
        satisfaction[query_id] = {d: 0.1 + 0.5 * cosine for d, cosine in zip(doc_ids, cosines, strict=True)}
        if query_id in attraction[query_id]:
            attraction[query_id][query_id], satisfaction[query_id][query_id] = 0.9, 0.8
    return simulate(
        answered, attraction, satisfaction, sessions=READERS_PER_QUERY, lang=lang, depth=0.95, swaps=8, seed=1
    )


@lru_cache(maxsize=2)
def _fit_table(titles: tuple[tuple[str, str, str], ...], lang: str) -> word_table.Table:
    concepts = [Concept(package, {lang: native, "en": english}) for package, native, english in titles]
    return table.fit(concepts, sharpness=1.0)


@lru_cache(maxsize=1)
def fit_shared_vectors(lang: str, is_smoke: bool) -> dict[str, dict[str, Floats]]:
    """Fit Cr5 to the training packages; its word vectors of both languages are a start for K-NRM."""
    langs = (lang, "en")
    concepts = [
        c._replace(texts={code: f"{c.titles[code]}\n{c.texts[code][:DOCUMENT_CHARS]}" for code in langs})
        for c in _select_complete(_split_packages(lang, is_smoke).train, lang)
    ]
    space = cr5.fit_space(concepts, dim=DIM)
    # Vectors drawn evenly from (-1, 1) are this long on average; the optimiser's steps then have the same effect.
    length = np.sqrt(DIM / 3)
    vectors: dict[str, dict[str, Floats]] = {}
    for code in langs:
        rows = zip(space.tower(code).vocabulary.terms, space.words(code), strict=True)
        vectors[code] = {term: length * row / max(float(np.linalg.norm(row)), 1e-9) for term, row in rows}
    return vectors


def train_ranker(log: SearchLog, judged: JudgedCollection, *, seed: int, **settings: Any) -> Knrm:
    """Train K-NRM on queries of a log with the settings all recipes share."""
    import torch

    torch.set_num_threads(1)  # batches are small: a second thread waits more than it works
    train, valid = judgments.split(judged, (9, 1), seed=0)
    vectors = fit_shared_vectors(log.lang, log.is_smoke)
    langs = {judged.queries[0].lang, log.lang}
    defaults: dict[str, Any] = {"dim": DIM, "vectors": {lang: vectors[lang] for lang in langs}, "batch": 32}
    defaults |= {"per_positive": 2, "learning_rate": LEARNING_RATE, "patience": PATIENCE}
    defaults |= {"epochs": 2 if log.is_smoke else MAX_EPOCHS}
    # The few queries of a smoke run may have no relevant document to validate with.
    validation = [valid] if any(max(grades.values(), default=0) for grades in valid.qrels.values()) else []
    return knrm.fit_judged(train, validation=validation, seed=seed, **{**defaults, **settings})
