"""Simulate click logs of readers with known habits, to test click models and to train where there is no real log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from paragloss.lab.clicks.log_files import Click, Session

#: Mean seconds that a reader spends on a document; they follow a gamma distribution of this shape.
SECONDS_IF_SATISFIED, SECONDS_IF_NOT, DWELL_SHAPE = 60.0, 10.0, 4.0


def simulate(
    rankings: Mapping[str, Sequence[str]],
    attraction: Mapping[str, Mapping[str, float]],
    satisfaction: Mapping[str, Mapping[str, float]],
    *,
    sessions: int = 100,
    lang: str = "",
    depth: float = 0.8,
    swaps: int = 1,
    seed: int = 0,
) -> list[Session]:
    """Simulate the sessions of readers who are shown given rankings.

    :param rankings: query -> document ids, best first
    :param attraction: query -> document id -> probability that a reader who sees the document opens it
    :param satisfaction: query -> document id -> probability that an opened document ends the search
    :param sessions: number of sessions of each query
    :param depth: probability of going on to the next result
    :param swaps: random neighbours of the ranking that are exchanged in each session
    """
    rng = np.random.default_rng(seed)
    log = []
    for query, ranking in rankings.items():
        for _ in range(sessions):
            results = _swap_neighbours(ranking, swaps, rng)
            clicks = _simulate_clicks(results, attraction[query], satisfaction[query], depth, rng)
            log.append(Session(query, tuple(results), tuple(clicks), lang))
    return log


def _swap_neighbours(ranking: Sequence[str], swaps: int, rng: np.random.Generator) -> list[str]:
    """Exchange two neighbours of a ranking at random, `swaps` times."""
    results = list(ranking)
    if len(results) > 1:
        for position in rng.integers(0, len(results) - 1, swaps):
            results[position], results[position + 1] = results[position + 1], results[position]
    return results


def _simulate_clicks(
    results: Sequence[str],
    attraction: Mapping[str, float],
    satisfaction: Mapping[str, float],
    depth: float,
    rng: np.random.Generator,
) -> list[Click]:
    """Simulate a reader who goes down a ranking, opens what attracts, and stops when satisfied or tired.

    :param results: document ids, best first
    :param attraction: document id -> probability that it is opened, and `satisfaction` -> that it then ends the search
    :param depth: probability of going on to the next result
    """
    clicks = []
    for rank, doc_id in enumerate(results, 1):
        if rng.random() < attraction.get(doc_id, 0.0):
            is_satisfied = rng.random() < satisfaction.get(doc_id, 0.0)
            mean_seconds = SECONDS_IF_SATISFIED if is_satisfied else SECONDS_IF_NOT
            seconds = float(rng.gamma(DWELL_SHAPE, mean_seconds / DWELL_SHAPE))
            clicks.append(Click(doc_id, rank, round(seconds, 1)))
            if is_satisfied:
                break
        if rng.random() > depth:
            break
    return clicks
