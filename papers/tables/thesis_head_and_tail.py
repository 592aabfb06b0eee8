"""Liu's choice of queries (4.1.1, 6.1.1): the commonest are the test, those asked fewer than 50 times are dropped.

What that gains the thesis does not say. Ours: `papers.simulated_log`, 2,000 training and 600 test queries, asked by
Zipf's law; K-NRM started from Cr5, queries in English. Rows learn from all queries, from those asked 50 times or more,
from the others, or from as many as the second row at random. Columns: nDCG@10 of the commoner and the rarer half of the
test queries, by click-through rates and by the simulated readers' preferences; and the number of training queries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from papers import simulated_log
from papers.corpora import BUDGET, Columns, Rows, hash_text, sample_by_hash, training_budget
from papers.simulated_log import SearchLog, simulate_log, train_ranker
from papers.verdicts import CHANCE_ROW
from paragloss.evaluation import evaluate
from paragloss.lab import clicks
from paragloss.types import JudgedCollection, Qrels, Run

DATA, PARTS = simulated_log.DATA, ("en-de", "en-da")
COLUMNS = ("head, clicks", "tail, clicks", "head, wanted", "tail, wanted", "queries", *BUDGET)
#: Queries asked fewer times are the thesis' tail.
MIN_FREQUENCY = 50
#: How often the commonest query is asked; the n-th is asked n ** -0.8 times as often.
MAX_FREQUENCY, ZIPF_EXPONENT = 5000, -0.8


class SkewedLog(NamedTuple):
    """A log in which some queries are asked more often than others."""

    log: SearchLog
    train: JudgedCollection  # in English, graded by click-through rates
    frequency: Counter[str]
    common: set[str]  # queries asked MIN_FREQUENCY times or more
    labels: dict[str, Qrels]  # of the test queries: by clicks, and by the readers' preferences


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    skewed = simulate_skewed_log(part.removeprefix("en-"), smoke)
    queries = skewed.train.queries
    common = [query for query in queries if query.id in skewed.common]
    training_sets = {
        "all": queries,
        "asked 50 times or more": common,
        "asked fewer than 50 times": [query for query in queries if query.id not in skewed.common],
        "as many at random": sample_by_hash(queries, len(common), seed),
    }
    rows: Rows = {CHANCE_ROW: measure_halves(skewed, skewed.log.rank_randomly(seed))}
    for row, selected in training_sets.items():
        if selected:  # the log of a smoke run has no rare queries
            qrels = simulated_log.select_queries(skewed.train.qrels, {query.id for query in selected})
            judged = skewed.train._replace(queries=selected, qrels=qrels)
            model = train_ranker(skewed.log, judged, seed=seed)
            run = skewed.log.rerank(model, skewed.log.english)
            rows[row] = {**measure_halves(skewed, run), "queries": float(len(selected)), **training_budget(model.meta)}
    return rows


@lru_cache(maxsize=1)
def simulate_skewed_log(lang: str, smoke: bool) -> SkewedLog:
    """Simulate more readers for common queries than for rare ones."""
    log = simulate_log(2000, lang, smoke=smoke, test_size=600)
    preferences = simulated_log.estimate_preferences(log.results, log.documents, lang)
    sessions = simulated_log.simulate_readers(log.results, preferences, lang, draw_frequencies(list(log.results)))
    click_grades = simulated_log.grade_scores(clicks.dctr(sessions))
    preferred = {
        query: {doc_id: score * preferences.satisfaction[query][doc_id] for doc_id, score in attraction.items()}
        for query, attraction in preferences.attraction.items()
    }
    train = log.train._replace(
        qrels=simulated_log.select_queries(click_grades, {query.id for query in log.train.queries})
    )
    test_ids = set(log.test_ids)
    labels = {
        "clicks": simulated_log.select_queries(click_grades, test_ids),
        "wanted": simulated_log.select_queries(simulated_log.grade_scores(preferred), test_ids),
    }
    frequency = Counter(session.query for session in sessions)
    common = {query for query, count in frequency.items() if count >= MIN_FREQUENCY}
    return SkewedLog(log, log.translate_to_english(train), frequency, common, labels)


def draw_frequencies(queries: Sequence[str]) -> dict[str, int]:
    """Assign frequencies by Zipf's law to the queries in an order that does not depend on their words."""
    order = sorted(queries, key=lambda query_id: hash_text(f"asked:{query_id}"))
    return {query_id: max(1, round(MAX_FREQUENCY * rank**ZIPF_EXPONENT)) for rank, query_id in enumerate(order, 1)}


def measure_halves(skewed: SkewedLog, run: Run) -> Columns:
    """Measure nDCG@10 of the commoner and the rarer half of the test queries, by both kinds of labels."""
    test_ids = [query_id for query_id in skewed.log.test_ids if query_id in skewed.frequency]
    order = sorted(test_ids, key=lambda query_id: (-skewed.frequency[query_id], query_id))
    halves = {"head": order[: len(order) // 2], "tail": order[len(order) // 2 :]}
    return {
        f"{half}, {name}": list(
            evaluate(run, simulated_log.select_queries(qrels, set(ids)), ["nDCG@10"])["nDCG@10"].values()
        )
        for name, qrels in skewed.labels.items()
        for half, ids in halves.items()
    }
