"""A simulated bilingual search log for the recipes of Liu's thesis, and K-NRM trained on it.

The thesis' log (Sogou-Log) is not public. Here readers are simulated on real documents: the foreign short description
of a Debian package is a query for foreign long descriptions (their first 300 characters), BM25 shows ten, and readers
click what is similar to the package's own description (`lab.clicks.simulate`). English queries are the English short
descriptions, written by people. Labels are the thesis': SAME (DCTR), DIFF (TACM), RAW (the document that most sessions
with a single click opened). nDCG has the gain 2^grade - 1 of the thesis' equation 4.1.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from papers.corpora import Columns, split_collection
from paragloss.encoders.kernel_ranker import Knrm
from paragloss.evaluation import evaluate
from paragloss.index.terms import TERMS_VECTOR, TermIndex
from paragloss.lab import clicks
from paragloss.lab.clicks.log_files import Session
from paragloss.lab.methods import cr5, knrm, table
from paragloss.lab.query_log import translate_log
from paragloss.ranking import rank_hits
from paragloss.search.lexical import Lexical
from paragloss.stores import create_store
from paragloss.translation import word_table
from paragloss.types import Concept, Document, Floats, Hit, JudgedCollection, Qrels, Query, Reranker, Run, Translator
from paragloss.vocabulary import Vocabulary, weigh

DATA = ("ddtp/en.jsonl.gz", "ddtp/de.jsonl.gz")
#: The thesis' seven columns: nDCG by the labels of two click models, reciprocal rank of the one document clicked.
MEASURES = ("SAME @1", "SAME @5", "SAME @10", "DIFF @1", "DIFF @5", "DIFF @10", "RAW MRR")
_NDCG = ("nDCG(dcg='exp-log2')@1", "nDCG(dcg='exp-log2')@5", "nDCG(dcg='exp-log2')@10")
EPOCHS, DIM = 4, 100
RESULTS_SHOWN = 10
DOCUMENT_CHARS = 300
READERS_PER_QUERY = 30
#: Shares of the shown pairs with grade 1 or more, 2 or more, and 3.
GRADE_SHARES = (0.4, 0.2, 0.1)


class Labels(NamedTuple):
    same: Qrels
    diff: Qrels
    raw: Qrels


class SearchLog(NamedTuple):
    """A simulated log; queries are identified by their package."""

    lang: str
    train: JudgedCollection  # native queries with DCTR grades
    scored_train: JudgedCollection  # the same with DCTR scores in thousandths as grades
    test_ids: list[str]
    native: dict[str, Query]
    english: dict[str, Query]
    results: dict[str, list[str]]  # query -> the ten documents BM25 shows
    documents: dict[str, Document]
    labels: Labels
    packages: list[Concept]  # all training packages, which a translator may learn from

    def fit_translator(self) -> Translator:
        """Learn a table from the training packages' short descriptions; it replaces the thesis' translation service."""
        return _fit_table(tuple((c.id, c.titles[self.lang], c.titles["en"]) for c in self.packages), self.lang)

    def translate_to_english(self, judged: JudgedCollection, translator: Translator | None = None) -> JudgedCollection:
        """Translate the queries of a log into English."""
        return translate_log(judged, translator or self.fit_translator(), "en")

    def fit_shared_vectors(self) -> dict[str, dict[str, Floats]]:
        """Fit Cr5 to the training packages; its word vectors of both languages are a start for K-NRM."""
        langs = (self.lang, "en")
        concepts = [
            c._replace(texts={lang: f"{c.titles[lang]}\n{c.texts[lang][:DOCUMENT_CHARS]}" for lang in langs})
            for c in self.packages
        ]
        space = cr5.fit(concepts, dim=DIM)
        # Vectors drawn evenly from (-1, 1) are this long on average; the optimiser's steps then have the same effect.
        length = np.sqrt(DIM / 3)
        vectors: dict[str, dict[str, Floats]] = {}
        for lang in langs:
            rows = zip(space.tower(lang).vocabulary.terms, space.words(lang), strict=True)
            vectors[lang] = {term: length * row / max(float(np.linalg.norm(row)), 1e-9) for term, row in rows}
        return vectors

    def rank_randomly(self, seed: int) -> Run:
        """Rank the ten shown documents of each test query in a random order."""
        rng = np.random.default_rng(seed)
        return {
            query_id: rank_hits((Hit(doc_id, float(rng.random())) for doc_id in self.results[query_id]), RESULTS_SHOWN)
            for query_id in self.test_ids
        }

    def rerank(self, model: Reranker, queries: Mapping[str, Query]) -> Run:
        """Rank the ten shown documents of each test query by a model."""
        run: Run = {}
        for query_id in self.test_ids:
            documents = [self.documents[doc_id] for doc_id in self.results[query_id]]
            scores: Sequence[float] | Floats = model.score(queries[query_id], documents) if documents else []
            hits = (Hit(document.id, float(score)) for document, score in zip(documents, scores, strict=True))
            run[query_id] = rank_hits(hits, RESULTS_SHOWN)
        return run

    def measure_run(self, run: Run, query_ids: Sequence[str] | None = None) -> Columns:
        """Measure the seven columns of the thesis' tables, query by query, of all test queries or of some."""
        selected = set(self.test_ids if query_ids is None else query_ids)
        same, diff, raw = (select_queries(qrels, selected) for qrels in self.labels)
        scores = [evaluate(run, qrels, _NDCG)[name] for qrels in (same, diff) for name in _NDCG]
        scores.append(evaluate(run, raw, ("RR",))["RR"])
        return {name: list(values.values()) for name, values in zip(MEASURES, scores, strict=True)}

    def measure_ranker(self, model: Reranker, queries: Mapping[str, Query]) -> Columns:
        """Rerank the test queries and measure the run."""
        return self.measure_run(self.rerank(model, queries))


@lru_cache(maxsize=1)
def simulate_log(train_size: int, lang: str = "de", *, smoke: bool, test_size: int = 1000) -> SearchLog:
    """Simulate readers of descriptions in a language, and label documents by their clicks.

    A smoke run has 60 training and 40 test queries from the beginning of the files.
    """
    if smoke:
        train_size, test_size = 60, 40
    split = split_collection("ddtp", ["en", lang], lines=500 if smoke else None)
    packages = _select_complete(split.train, lang)
    train, test = _sample_evenly(packages, train_size), _sample_evenly(_select_complete(split.test, lang), test_size)
    concepts = [*train, *test]
    documents = {c.id: Document(c.id, c.texts[lang][:DOCUMENT_CHARS], lang) for c in concepts}
    native = {c.id: Query(c.id, c.titles[lang], lang) for c in concepts}
    english = {c.id: Query(c.id, c.titles["en"], "en") for c in concepts}
    results = _search_bm25(documents, native)
    sessions = simulate_readers(results, estimate_preferences(results, documents, lang), lang)
    rates = clicks.dctr(sessions)
    grades, scores = grade_scores(rates), clicks.thousandths(rates)
    train_ids = [c.id for c in train if c.id in rates]
    queries = [native[query_id] for query_id in train_ids]
    return SearchLog(
        lang,
        JudgedCollection(queries, documents, {query_id: grades[query_id] for query_id in train_ids}),
        JudgedCollection(queries, documents, {query_id: scores[query_id] for query_id in train_ids}),
        [c.id for c in test],
        native,
        english,
        results,
        documents,
        _label_documents(sessions, grades, {c.id for c in test}),
        packages,
    )


def select_queries(qrels: Qrels, query_ids: set[str]) -> Qrels:
    """Select the judgments of some queries."""
    return {query: grades for query, grades in qrels.items() if query in query_ids}


def grade_scores(scores: clicks.Scores) -> Qrels:
    """Turn scores into grades 0 to 3 by GRADE_SHARES."""
    return clicks.graded(scores, clicks.cuts(scores, GRADE_SHARES))


def _label_documents(sessions: list[Session], same: Qrels, test_ids: set[str]) -> Labels:
    diff = grade_scores(clicks.tacm(sessions).relevance())
    most_clicked = {
        query: {max(counts, key=lambda doc_id: (counts[doc_id], doc_id)): 1}
        for query, counts in clicks.raw(sessions).items()
    }
    return Labels(*(select_queries(qrels, test_ids) for qrels in (same, diff, most_clicked)))


def _select_complete(concepts: Sequence[Concept], lang: str) -> list[Concept]:
    """Select concepts with title and text in both languages."""
    return [c for c in concepts if all(c.titles.get(code) and c.texts.get(code) for code in (lang, "en"))]


def _sample_evenly(concepts: Sequence[Concept], size: int) -> list[Concept]:
    """Sample packages evenly over the alphabet."""
    return [concepts[i] for i in np.linspace(0, len(concepts) - 1, min(size, len(concepts))).astype(int)]


def _search_bm25(documents: Mapping[str, Document], queries: Mapping[str, Query]) -> dict[str, list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        store = create_store(str(Path(folder) / "log"), dense={}, sparse=[TERMS_VECTOR])
        index = TermIndex.build(store, fields=("text",))
        index.add(list(documents.values()))
        index.refresh()
        rankings = Lexical(store, index.statistics).search(list(queries.values()), RESULTS_SHOWN)
        store.close()
    return {query_id: [hit.id for hit in ranking] for query_id, ranking in zip(queries, rankings, strict=True)}


class Preferences(NamedTuple):
    """The probability that readers of a query click a document, and that they are satisfied with it."""

    attraction: clicks.Scores
    satisfaction: clicks.Scores


def estimate_preferences(
    results: Mapping[str, Sequence[str]], documents: Mapping[str, Document], lang: str
) -> Preferences:
    """Let readers want the package they ask for most, and other packages as far as their descriptions are similar."""
    row_by_id = {doc_id: row for row, doc_id in enumerate(documents)}
    vocabulary, counts = Vocabulary.build([d.text for d in documents.values()], lang, min_df=1)
    vectors = weigh(counts, vocabulary.idf, "tfidf")
    preferences = Preferences({}, {})
    for query, doc_ids in results.items():
        if doc_ids:
            rows = [row_by_id[doc_id] for doc_id in doc_ids]
            similarities = np.asarray((vectors[rows] @ vectors[row_by_id[query]].T).todense()).ravel().tolist()
            pairs = list(zip(doc_ids, similarities, strict=True))
            preferences.attraction[query] = {d: 0.9 if d == query else 0.05 + 0.6 * cosine for d, cosine in pairs}
            preferences.satisfaction[query] = {d: 0.8 if d == query else 0.1 + 0.5 * cosine for d, cosine in pairs}
    return preferences


def simulate_readers(
    results: dict[str, list[str]],
    preferences: Preferences,
    lang: str,
    readers: int | dict[str, int] = READERS_PER_QUERY,
) -> list[Session]:
    """Simulate the sessions of a number of readers per query."""
    answered = {query: doc_ids for query, doc_ids in results.items() if doc_ids}
    return clicks.simulate(answered, *preferences, sessions=readers, lang=lang, depth=0.95, swaps=8, seed=1)


@lru_cache(maxsize=2)
def _fit_table(titles: tuple[tuple[str, str, str], ...], lang: str) -> word_table.Table:
    concepts = [Concept(package, {lang: native, "en": english}) for package, native, english in titles]
    return table.fit(concepts, sharpness=1.0)


def train_ranker(judged: JudgedCollection, *, seed: int, **settings: Any) -> Knrm:
    """Train K-NRM on a log with the settings all recipes share."""
    import torch

    torch.set_num_threads(1)  # batches are small: a second thread waits more than it works
    defaults = {"epochs": EPOCHS, "batch": 32, "per_positive": 2}
    return knrm.fit_judged(judged, dim=DIM, **{**defaults, **settings}, seed=seed)
