"""Which document a point of an engine is. A point's id is a hash of the document's id, so what was read once stays
true: searches need not read documents to say what they are called, which costs more than finding them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from paragloss.types import Hit, Ranking

_ID, _SCORE = attrgetter("id"), attrgetter("score")
#: So many are remembered: about 150 MB.
MOST = 1_000_000


class Names:
    """Scored points to rankings. `read` gives the documents' ids of points that are not known."""

    def __init__(self, read: Callable[[list[Any]], Iterable[tuple[Any, str]]]) -> None:
        self._read = read
        self._known: dict[Any, str] = {}

    def rankings(self, answers: Sequence[Sequence[Any]]) -> list[Ranking]:
        """An engine's answers, best first; a document that went away meanwhile is left out."""
        keys = [list(map(_ID, answer)) for answer in answers]
        try:
            names = [list(map(self._known.__getitem__, some)) for some in keys]
        except KeyError:
            known = self.known({key for some in keys for key in some})
            pairs = [zip(some, answer, strict=True) for some, answer in zip(keys, answers, strict=True)]
            return [[Hit(known[key], point.score) for key, point in some if key in known] for some in pairs]
        return [list(map(Hit, some, map(_SCORE, answer))) for some, answer in zip(names, answers, strict=True)]

    def known(self, keys: set[Any]) -> Mapping[Any, str]:
        """What documents are called, these among them; one that went away meanwhile is not."""
        known = self._known  # another thread may start anew meanwhile
        new = [key for key in keys if key not in known]
        if new:
            if len(known) + len(new) > MOST:
                known = self._known = {key: known[key] for key in keys.difference(new)}
            known.update(self._read(new))
        return known

    def know(self, named: Iterable[tuple[Any, str]]) -> None:
        """What was read ahead, as long as there is room."""
        if len(self._known) < MOST:
            self._known.update(named)
