"""Which files a collection was made of, so that only what changed is read again and what is gone can be removed.

A file is noted once its documents are safe: after a kill some are read again, none is missed. Knows nothing of formats.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from paragloss.types import Document

_BLOB = "files"
#: Seconds between two notings while a long reading goes on.
_EVERY = 20.0


class Seen(NamedTuple):
    """A file as it was when it was read, and the documents it gave."""

    size: int
    modified: int  # nanoseconds
    lang: str
    ids: tuple[str, ...]


class Tracker:
    """One reading of files into a collection: what to pass over, and what came of the rest."""

    def __init__(self, store: Any, *, lang: str = "", again: bool = False) -> None:
        self._store, self._lang, self._again = store, lang, again
        self.files = {path: Seen(s, m, lang, tuple(ids)) for path, (s, m, lang, ids) in _read(store).items()}
        self.unchanged = 0
        self._present: set[str] = set()
        self._gone: list[str] = []
        self._waiting: deque[tuple[str, Seen, list[str], list[int]]] = deque()
        self._given = 0
        self._noted = time.monotonic()

    def wanted(self, path: Path) -> bool:
        """Whether a file has to be read: asked just before it would be."""
        name = os.path.abspath(path)
        self._present.add(name)
        try:
            state = os.stat(path)
        except OSError:
            return True  # the reader says what is wrong with it
        seen = Seen(state.st_size, state.st_mtime_ns, self._lang, ())
        before = self.files.get(name)
        if before is not None and not self._again and before[:3] == seen[:3]:
            self.unchanged += 1
            return False
        self._waiting.append((name, seen, [], [self._given]))
        return True

    def follow(self, documents: Iterator[Document]) -> Iterator[Document]:
        """The documents as they come, each noted with the file that was begun last."""
        for document in documents:
            self._given += 1
            if self._waiting:
                _, _, ids, end = self._waiting[-1]
                ids.append(document.id)
                end[0] = self._given
            yield document

    def safe(self, done: int) -> None:
        """So many documents are safe on disk: the files they came from are read."""
        while self._waiting and (len(self._waiting) > 1 or done >= self._given) and self._waiting[0][3][0] <= done:
            self._finish(*self._waiting.popleft()[:3])
        if time.monotonic() - self._noted > _EVERY:
            self.note()

    def note(self) -> None:
        """Write down what is known so far."""
        self._store.write_blob(_BLOB, json.dumps(self.files).encode("utf-8", "surrogateescape"))
        self._noted = time.monotonic()

    def prune(self, roots: Sequence[str], delete: Callable[[Sequence[str]], int]) -> int:
        """Remove documents whose file is gone from below these folders, or no longer holds them; how many."""
        kept = {id for path, seen in self.files.items() if path in self._present for id in seen.ids}
        for path in [path for path in self.files if path not in self._present and _below(path, roots)]:
            self._gone.extend(self.files.pop(path).ids)
        gone = [id for id in dict.fromkeys(self._gone) if id not in kept]
        self._gone = []
        removed = delete(gone) if gone else 0
        self.note()
        return removed

    def _finish(self, name: str, seen: Seen, ids: list[str]) -> None:
        before = self.files.get(name)
        if before is not None:
            self._gone.extend(set(before.ids) - set(ids))
        self.files[name] = seen._replace(ids=tuple(dict.fromkeys(ids)))


def _read(store: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((store.read_blob(_BLOB) or b"{}").decode("utf-8", "surrogateescape"))
    return found


def _below(path: str, roots: Sequence[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in map(os.path.abspath, roots))
