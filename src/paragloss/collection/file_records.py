"""Which files a collection was made of, so that only what changed is read again and what is gone can be removed.

A file is noted as read once its reader has come to its end and its documents are safe; until then what it has given is
noted before it is written: after a kill some files are read again, none is missed, and no document is left without its
file. One that can't be read keeps its documents and is tried again. Knows nothing of formats.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from paragloss.stores import AnyStore
from paragloss.types import Document

_FILES, _BEGUN = "files", "begun"
#: Seconds between two notings while a long reading goes on.
EVERY = 20.0
#: The size and time of a file that is to be read again, whatever they are.
_AGAIN = (-1, -1)


class Seen(NamedTuple):
    """A file as it was when it was read, the documents it gave, and those it gave before that were not removed yet."""

    size: int
    modified: int  # nanoseconds
    lang: str
    ids: tuple[str, ...]
    left: tuple[str, ...] = ()


@dataclass
class _Reading:
    """A file that is being read, or waits for its documents to be safe; `end`: how many were given when it ended."""

    name: str
    seen: Seen
    ids: list[str] = field(default_factory=list)
    end: int | None = None
    whole: bool = False


class Tracker:
    """One reading of files into a collection: what to pass over, and what came of the rest."""

    def __init__(self, store: AnyStore, *, lang: str = "", again: bool = False) -> None:
        self._store, self._lang, self._again = store, lang, again
        self.files = {path: Seen(s, m, lang, *map(tuple, ids)) for path, (s, m, lang, *ids) in _read(store, _FILES)}
        self.unchanged = 0
        self._present: set[str] = set()
        self._unread: list[str] = []  # folders that can't be listed
        self._waiting: deque[_Reading] = deque()
        self._given = 0
        self._begun: dict[str, list[str]] = {}  # what files have given since all was noted
        self._noted, self._known = time.monotonic(), True
        for path, ids in _read(store, _BEGUN):  # by somebody who was killed
            self._begun[path] = ids
            self._keep(path, lang, ids)

    def wanted(self, path: Path) -> bool:
        """Whether a file has to be read: asked before it is, for some files ahead."""
        name = os.path.abspath(path)
        self._present.add(name)
        try:
            state = os.stat(path)
            seen = Seen(state.st_size, state.st_mtime_ns, self._lang, ())
        except OSError:
            seen = Seen(*_AGAIN, self._lang, ())  # the reader says what is wrong with it
        before = self.files.get(name)
        if before is not None and not self._again and before[:3] == seen[:3] and before[:2] != _AGAIN:
            self.unchanged += 1
            return False
        self._waiting.append(_Reading(name, seen))
        return True

    def ended(self, path: Path, whole: bool) -> None:
        """The reader of the first file that was wanted has come to its end, or failed; or a folder can't be listed."""
        reading = self._current()
        if reading is not None and reading.name == os.path.abspath(path):
            reading.end, reading.whole = self._given, whole
        else:
            self._unread.append(os.path.abspath(path))

    def follow(self, documents: Iterator[Document]) -> Iterator[Document]:
        """The documents as they come, each noted with the file that is being read."""
        for document in documents:
            self._given += 1
            if (reading := self._current()) is not None:
                reading.ids.append(document.id)
                self._begun.setdefault(reading.name, []).append(document.id)
            yield document

    def _current(self) -> _Reading | None:
        return next((reading for reading in self._waiting if reading.end is None), None)

    def begin(self) -> None:
        """Documents are about to be written: note whose they are."""
        if self._begun:
            self._write(_BEGUN, self._begun)

    def safe(self, done: int) -> None:
        """So many documents are safe on disk: files that ended before are read."""
        while self._waiting and (end := self._waiting[0].end) is not None and end <= done:
            self._finish(self._waiting.popleft())
        if time.monotonic() - self._noted > EVERY:
            self.note()

    def note(self) -> None:
        """Write down what is known so far, if it is news."""
        for reading in self._waiting:
            self._keep(reading.name, self._lang, reading.ids)
        if not self._known:
            self._write(_FILES, self.files)
        if self._begun:
            self._begun = {}
            self._write(_BEGUN, {})
        self._noted, self._known = time.monotonic(), True

    def prune(self, roots: Sequence[str], delete: Callable[[Sequence[str]], int]) -> int:
        """Remove documents whose file is gone from below these folders, or no longer holds them; how many."""
        gone: list[str] = []
        for path, seen in list(self.files.items()):
            if path not in self._present and _below(path, roots) and not _below(path, self._unread):
                gone += seen.ids + self.files.pop(path).left
            elif path in self._present and seen[:2] != _AGAIN:
                gone += seen.left
                self.files[path] = seen._replace(left=())
        kept = {id for seen in self.files.values() for id in seen.ids}
        gone = [id for id in dict.fromkeys(gone) if id not in kept]
        removed = delete(gone) if gone else 0
        self._known &= not gone
        self.note()
        return removed

    def _finish(self, reading: _Reading) -> None:
        if not reading.whole:
            self._keep(reading.name, self._lang, reading.ids, earlier=True)
            return
        ids, before = dict.fromkeys(reading.ids), self.files.get(reading.name)
        left = dict.fromkeys(id for id in (before.ids + before.left if before else ()) if id not in ids)
        self.files[reading.name] = reading.seen._replace(ids=tuple(ids), left=tuple(left))
        self._known = False

    def _keep(self, name: str, lang: str, ids: Sequence[str], *, earlier: bool = False) -> None:
        """A file that was not read to its end gave these: it is read again. What it had before stays until then."""
        before = self.files.get(name, Seen(*_AGAIN, lang, ()))
        now = before._replace(size=_AGAIN[0], modified=_AGAIN[1])
        if earlier:
            now = now._replace(ids=tuple(dict.fromkeys([*now.ids, *ids])))
        else:
            now = now._replace(left=tuple(dict.fromkeys([*now.left, *(id for id in ids if id not in now.ids)])))
        self._known &= now == before
        self.files[name] = now

    def _write(self, blob: str, what: Any) -> None:
        self._store.write_blob(blob, json.dumps(what).encode("utf-8", "surrogateescape"))


def read_again(store: AnyStore) -> None:
    """Forget that files were read, though not what they gave."""
    tracker = Tracker(store)
    for path in list(tracker.files):
        tracker._keep(path, "", ())
    tracker.note()


def _read(store: AnyStore, blob: str) -> Iterator[tuple[str, Any]]:
    found: dict[str, Any] = json.loads((store.read_blob(blob) or b"{}").decode("utf-8", "surrogateescape"))
    yield from found.items()


def _below(path: str, roots: Sequence[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in map(os.path.abspath, roots))
