"""Which document a point of an engine is. A point's id is a hash of the document's id, so what was read once stays
true: searches need not read documents to say what they are called, which costs more than finding them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from paragloss.types import Hit, Ranking

#: So many are remembered: about 150 MB.
MOST = 1_000_000


class Names:
    """Scored points to rankings. `read` gives the documents' ids of points that are not known; `key` is what both know
    a point by."""

    def __init__(self, read: Callable[[list[Any]], Iterable[tuple[Any, str]]], *, key: Callable[[Any], Any]) -> None:
        self._read = read
        self._key = key
        self._known: dict[Any, str] = {}

    def rankings(self, answers: Sequence[Sequence[Any]]) -> list[Ranking]:
        """An engine's answers, best first; a document that went away meanwhile is left out."""
        key = self._key
        scored = [[(key(point), point.score) for point in answer] for answer in answers]
        known = self._known
        new = {id for answer in scored for id, _ in answer if id not in known}
        if new:
            if len(known) + len(new) > MOST:
                known = self._known = {id: known[id] for answer in scored for id, _ in answer if id in known}
            known.update(self._read(list(new)))
        return [[Hit(known[id], score) for id, score in answer if id in known] for answer in scored]

    def know(self, named: Iterable[tuple[Any, str]]) -> None:
        """What was read ahead, as long as there is room."""
        if len(self._known) < MOST:
            self._known.update(named)
