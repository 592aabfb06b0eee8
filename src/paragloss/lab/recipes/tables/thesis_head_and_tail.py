"""Liu's choice of queries (4.1.1, 6.1.1): the commonest are the test, those asked fewer than 50 times teach nothing.

What that gains the thesis does not say. Ours: `paragloss.lab.recipes.searchlog`, 2,000 training and 600 test queries,
asked by Zipf's law; K-NRM started from Cr5, queries in English. Rows learn from all queries, from those asked 50 times
or more, from the others, or from as many as the second row at random. Columns: nDCG@10 of the commoner and the rarer
half of the test queries, by click-through rates and by what the simulated readers wanted; queries learned from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from paragloss.evaluation import evaluate
from paragloss.lab import clicks
from paragloss.lab.recipes import bilingual
from paragloss.lab.recipes.bilingual import in_english, rerank, shared_vectors, train
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.searchlog import SHARES, SMOKE, Log, Size, log, only, readers, wanted
from paragloss.lab.recipes.sets import Columns, digest, drawn
from paragloss.types import Floats, Judged, Qrels, Run

MINUTES = 10
DATA, PARTS = bilingual.DATA, ("en-de", "en-da")
COLUMNS = ("head, clicks", "tail, clicks", "head, wanted", "tail, wanted", "queries")
#: Queries asked fewer times are the thesis' tail.
TAIL = 50
#: How often the commonest query is asked; the n-th n ** -0.8 times as often.
COMMONEST = 5000


class Asked(NamedTuple):
    """A log in which some queries are asked more than others, and what its readers wanted."""

    made: Log
    train: Judged  # in English, graded by click-through rates
    times: Counter[str]
    common: set[str]  # queries that are not of the thesis' tail
    labels: dict[str, Qrels]  # of the test queries: by clicks, and as wanted
    start: dict[str, dict[str, Floats]]


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    asked = unevenly(part.removeprefix("en-"), smoke)
    queries = asked.train.queries
    common = [query for query in queries if query.id in asked.common]
    learned = {
        "all": queries,
        "asked 50 times or more": common,
        "asked fewer than 50 times": [query for query in queries if query.id not in asked.common],
        "as many at random": drawn(queries, len(common), seed),
    }
    rows: Measured = {}
    for row, some in ((row, some) for row, some in learned.items() if some):  # a smoke run's log has no tail
        judged = asked.train._replace(queries=some, qrels=only(asked.train.qrels, {query.id for query in some}))
        run = rerank(asked.made, train(judged, vectors=asked.start, seed=seed), asked.made.english)
        rows[row] = {**by_half(asked, run), "queries": float(len(some))}
    return rows


@lru_cache(maxsize=1)
def unevenly(lang: str, smoke: bool) -> Asked:
    made = log(SMOKE if smoke else Size(2000, 600), lang)
    habits = wanted(made.shown, made.documents, lang)
    sessions = readers(made.shown, habits, lang, often(list(made.shown)))
    clicked = graded(clicks.dctr(sessions))
    content = {q: {d: a * habits.satisfaction[q][d] for d, a in one.items()} for q, one in habits.attraction.items()}
    train = made.train._replace(qrels=only(clicked, {query.id for query in made.train.queries}))
    tested = set(made.test)
    labels = {"clicks": only(clicked, tested), "wanted": only(graded(content), tested)}
    times = Counter(session.query for session in sessions)
    common = {session.query for session in clicks.asked(sessions, least=TAIL)}
    return Asked(made, in_english(made, train), times, common, labels, shared_vectors(made))


def often(queries: Sequence[str]) -> dict[str, int]:
    """How many readers ask each query: by Zipf's law over an order that has nothing to do with what they say."""
    order = sorted(queries, key=lambda id: digest(f"asked:{id}"))
    return {id: max(1, round(COMMONEST * place**-0.8)) for place, id in enumerate(order, 1)}


def graded(scores: clicks.Scores) -> Qrels:
    return clicks.graded(scores, clicks.cuts(scores, SHARES))


def by_half(asked: Asked, run: Run) -> Columns:
    order = sorted((id for id in asked.made.test if id in asked.times), key=lambda id: (-asked.times[id], id))
    halves = {"head": order[: len(order) // 2], "tail": order[len(order) // 2 :]}
    return {
        f"{half}, {name}": list(evaluate(run, only(qrels, set(ids)), ["nDCG@10"])["nDCG@10"].values())
        for name, qrels in asked.labels.items()
        for half, ids in halves.items()
    }
