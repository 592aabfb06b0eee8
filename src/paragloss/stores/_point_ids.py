"""Which document a point of an engine is. A point's id is a hash of the document's id, so what was read once stays
true: searches need not read documents to say what they are called, which costs more than finding them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from operator import attrgetter
from typing import Any

_ID, _SCORE = attrgetter("id"), attrgetter("score")
#: So many are remembered: about 150 MB.
MOST = 1_000_000


def apart(points: Sequence[Any]) -> tuple[list[Any], list[float]]:
    """Scored points as ids and scores."""
    return [*map(_ID, points)], [*map(_SCORE, points)]


class Names:
    """What documents are called. `read` gives the documents' ids of points that are not known."""

    def __init__(self, read: Callable[[list[Any]], Iterable[tuple[Any, str]]]) -> None:
        self._read = read
        self._known: dict[Any, str] = {}

    def named(self, answers: Iterable[Sequence[Any]]) -> list[tuple[list[str], list[float]]]:
        """An engine's answers, best first, as documents and scores; one that went away meanwhile is left out."""
        found = [*map(apart, answers)]
        try:
            return [([*map(self._known.__getitem__, keys)], scores) for keys, scores in found]
        except KeyError:
            known = self.known({key for keys, _ in found for key in keys})
            some = [[pair for pair in zip(*answer, strict=True) if pair[0] in known] for answer in found]
            return [([known[key] for key, _ in pairs], [score for _, score in pairs]) for pairs in some]

    def known(self, keys: Set[Any]) -> Mapping[Any, str]:
        """What documents are called, these among them; one that went away meanwhile is not."""
        known = self._known  # another thread may start anew meanwhile
        new = [key for key in keys if key not in known]
        if new:
            if len(known) + len(new) > MOST:
                known = self._known = {key: known[key] for key in keys - set(new)}
            known.update(self._read(new))
        return known

    def know(self, named: Iterable[tuple[Any, str]]) -> None:
        """What was read ahead, as long as there is room."""
        if len(self._known) < MOST:
            self._known.update(named)
