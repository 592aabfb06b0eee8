"""Liu's Table 6.9: removing ambiguous translations with long document lists, against as many pairs at random.

Data: `papers.simulated_log`, 1,000 training queries. Short descriptions are hardly ever translated alike, so each is
also asked by its first word alone: all queries of one word share their documents, as searches for one word did in the
thesis' log. The thesis' bounds are 100, 200 and 1,000 documents, ours 20, 50 and 100.
"""

from __future__ import annotations

from papers import simulated_log
from papers.corpora import Rows
from papers.simulated_log import SearchLog, simulate_log, train_ranker
from paragloss.lab.query_log import remove_ambiguous_queries, remove_random_queries, translate_log
from paragloss.types import JudgedCollection, Query

COLUMNS = simulated_log.COLUMNS
DATA, PARTS = simulated_log.DATA, ("en-de",)
BOUNDS = {"low": 20, "middle": 50, "high": 100}


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    log, source, translated = make_ambiguous_log(smoke)
    training_sets = {}
    for name, bound in list(BOUNDS.items())[: 1 if smoke else None]:
        cleaned = remove_ambiguous_queries(source, translated, max_judged=bound)
        training_sets[f"{name} bound, ambiguous"] = cleaned.judged
        training_sets[f"{name} bound, random"] = remove_random_queries(translated, cleaned.pairs_left, seed=seed)
    training_sets["Nothing removed"] = translated
    rows = log.measure_random_order(seed)
    for row, judged in training_sets.items():
        rows[row] = log.measure_ranker(train_ranker(log, judged, seed=seed), log.english)
    return rows


def make_ambiguous_log(smoke: bool) -> tuple[SearchLog, JudgedCollection, JudgedCollection]:
    """Return the log, its training queries with one-word queries added, and these in English."""
    log = simulate_log(1000, smoke=smoke)
    source = add_first_words(log.train)
    return log, source, translate_log(source, log.fit_translator(), "en", case="lower")


def add_first_words(judged: JudgedCollection) -> JudgedCollection:
    """Add each query's first word as a query; it has the judgments of all queries that begin with it."""
    qrels = dict(judged.qrels)
    one_word_queries: dict[str, Query] = {}
    for query in judged.queries:
        word = query.text.split()[0].strip(",.:;()")
        if word:
            short = one_word_queries.setdefault(word, Query(f"word {word}", word, query.lang))
            merged = qrels.setdefault(short.id, {})
            for doc_id, grade in judged.qrels[query.id].items():
                merged[doc_id] = max(grade, merged.get(doc_id, 0))
    return judged._replace(queries=[*judged.queries, *one_word_queries.values()], qrels=qrels)
