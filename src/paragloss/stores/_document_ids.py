"""Map an engine's point ids to document ids.

A point id is a hash of the document id, so a mapping that was read once stays valid. Searches therefore need not read
documents to learn their ids, which costs more than the search itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from operator import attrgetter
from typing import Any

_get_id, _get_score = attrgetter("id"), attrgetter("score")
#: Document ids that are cached, at most: about 150 MB.
MAX_CACHED_IDS = 1_000_000


def split_scored_points(points: Sequence[Any]) -> tuple[list[Any], list[float]]:
    """Return the ids and the scores of an engine's scored points."""
    return [*map(_get_id, points)], [*map(_get_score, points)]


class DocumentIds:
    """A cache of document ids by point id.

    :param read: called with point ids that are not cached; returns pairs of point id and document id.
    """

    def __init__(self, read: Callable[[list[Any]], Iterable[tuple[Any, str]]]) -> None:
        self._read = read
        self._cache: dict[Any, str] = {}

    def name_rankings(self, rankings: Iterable[Sequence[Any]]) -> list[tuple[list[str], list[float]]]:
        """Return the document ids and scores of each ranking of scored points.

        Points that were deleted after the search are left out.
        """
        split_rankings = [split_scored_points(points) for points in rankings]
        document_ids = self.find(set[Any]().union(*(point_ids for point_ids, _ in split_rankings)))
        return [_name_existing(point_ids, scores, document_ids) for point_ids, scores in split_rankings]

    def find(self, point_ids: Set[Any]) -> Mapping[Any, str]:
        """Return a mapping that has the document ids of these points, and of others; deleted points are not in it."""
        cache = self._cache  # another thread may replace it meanwhile
        missing = [point_id for point_id in point_ids if point_id not in cache]
        if missing:
            if len(cache) + len(missing) > MAX_CACHED_IDS:
                cache = self._cache = {point_id: cache[point_id] for point_id in point_ids - set(missing)}
            cache.update(self._read(missing))
        return cache

    def add(self, pairs: Iterable[tuple[Any, str]]) -> None:
        """Cache pairs of point id and document id that were read in advance, unless the cache is full."""
        if len(self._cache) < MAX_CACHED_IDS:
            self._cache.update(pairs)


def _name_existing(
    point_ids: Sequence[Any], scores: Sequence[float], document_ids: Mapping[Any, str]
) -> tuple[list[str], list[float]]:
    """Return the document ids and scores of those points that have a document."""
    existing_ids: list[str] = []
    existing_scores: list[float] = []
    for point_id, score in zip(point_ids, scores, strict=True):
        if point_id in document_ids:
            existing_ids.append(document_ids[point_id])
            existing_scores.append(score)
    return existing_ids, existing_scores
