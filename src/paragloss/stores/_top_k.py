"""Select the k best points of each query, with ties broken by document id. Independent of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np

from paragloss.stores import _limits
from paragloss.types import Integers

K = TypeVar("K")
T = TypeVar("T")

#: Points fetched beyond k, so that a few ties don't need a second request.
_EXTRA_POINTS = 8
#: Growth of the number of fetched points from one request to the next.
_GROWTH = 8


def fetch_top_k(
    fetch: Callable[[list[int], int], Iterable[tuple[list[K], list[float]]]],
    n_queries: int,
    k: int,
    *,
    select: Callable[[list[K], list[float], int], list[T]],
) -> list[list[T]]:
    """Return the k best points of each query, though the engine orders points with equal scores arbitrarily.

    A query whose equal scores continue past the last fetched point is sent again for more points, up to MAX_TIES.

    :param fetch: called with query numbers and a limit; returns the keys and scores of each query, best first.
    :param n_queries: queries are numbered from 0.
    :param select: called with keys, scores and k; returns the k best and breaks ties.
    """
    rankings: list[list[T]] = [[] for _ in range(n_queries)]
    pending = list(range(n_queries)) if k > 0 else []
    limit = k + _EXTRA_POINTS
    max_limit = k + _limits.MAX_TIES
    while pending:
        unresolved = []
        for query_number, (keys, scores) in zip(pending, fetch(pending, limit), strict=True):
            rankings[query_number] = select(keys, scores, k)
            may_have_more_ties = len(keys) == limit and scores[-1] == scores[k - 1]
            if may_have_more_ties and limit < max_limit:
                unresolved.append(query_number)
        pending = unresolved
        limit = min(limit * _GROWTH, max_limit)
    return rankings


def number_distinct_keys(rankings: Iterable[Iterable[K]]) -> tuple[list[K], list[Integers]]:
    """Give the different keys of several rankings numbers in the order in which they first occur.

    :return: the different keys, and for each ranking the numbers of its keys.
    """
    number_by_key: dict[K, int] = {}
    numbers = []
    for ranking in rankings:
        numbers_of_ranking = [number_by_key.setdefault(key, len(number_by_key)) for key in ranking]
        numbers.append(np.array(numbers_of_ranking, np.int64))
    return list(number_by_key), numbers
