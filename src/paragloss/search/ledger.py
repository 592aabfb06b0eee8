"""Term statistics that many writers keep together: a base, and what each batch added and took away.

A batch is noted before its documents are written and again when they are, with what it added and what had stood there.
Sums don't care for order, and a batch counts once by its name. One that was begun and never finished lost its writer,
and two that wrote one document at one moment both took away what stood there before: whoever folds the batches into
the base, the one thing that needs a lease, then counts all documents again. No clock is asked who was first: a batch
says which of those that share a document with it had finished when it began.
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from paragloss.errors import StoreError
from paragloss.statistics import Statistics

_PREFIX = "batch-"
#: Seconds after which a batch that was begun and not finished has lost its writer.
DEAD = 120.0
#: Seconds that a writer waits for one who folds, and one who folds for the batches under way.
PATIENCE = 150.0
_PAUSE = 0.2


class Batch(NamedTuple):
    """What a batch took away and added; `added` is None while its documents are being written. `after` are batches of
    some of the same documents that it found finished."""

    ids: list[str]
    began: float
    after: list[str]
    taken: Statistics
    added: Statistics | None


class Ledger:
    """The statistics of one collection. `base` is the name of the blob that holds all but the newest batches."""

    def __init__(self, store: Any, base: str) -> None:
        self._store = store
        self._base = base
        self._read: dict[tuple[str, str], Batch] = {}

    def version(self) -> str:
        """Changes whenever the statistics do."""
        heads = {name: head for name, head in self._store.blobs().items() if name.startswith((_PREFIX, self._base))}
        return hashlib.blake2b(json.dumps(heads, sort_keys=True).encode(), digest_size=16).hexdigest()

    def finished(self, ids: Sequence[str]) -> list[str]:
        """The batches that have written some of these documents: what is read from now on is what they left."""
        ours = set(ids)
        return [
            name for name, batch in self.batches().items() if batch.added is not None and not ours.isdisjoint(batch.ids)
        ]

    def begin(self, ids: Sequence[str], after: Sequence[str], taken: Statistics) -> str:
        """Note a batch before it is written. Whoever folds is waited for: noting first and looking then, while he
        looks after taking the lease, leaves no moment in which both go on."""
        name, until = f"{_PREFIX}{uuid.uuid4().hex}", time.monotonic() + PATIENCE
        while True:
            self._write(name, Batch(list(ids), time.time(), list(after), taken, None))
            if not self._store.claimed():
                return name
            self._store.delete_blob(name)
            if time.monotonic() > until:
                raise StoreError("another process has kept this collection to itself for long: try again later")
            time.sleep(_PAUSE)

    def finish(self, name: str, ids: Sequence[str], after: Sequence[str], taken: Statistics, added: Statistics) -> None:
        self._write(name, Batch(list(ids), time.time(), list(after), taken, added))

    def withdraw(self, name: str) -> None:
        self._store.delete_blob(name)

    def batches(self) -> dict[str, Batch]:
        found = {}
        for name, head in self._store.blobs().items():
            if name.startswith(_PREFIX):
                if (name, head) not in self._read:
                    data = self._store.read_blob(name)
                    if data is None:
                        continue
                    self._read[name, head] = _parsed(data)
                found[name] = self._read[name, head]
        self._read = {key: batch for key, batch in self._read.items() if key[0] in found}
        return found

    def loose(self) -> bool:
        """Whether there are batches that are not in the base."""
        return any(name.startswith(_PREFIX) for name in self._store.blobs())

    def total(self) -> tuple[Statistics, dict[str, Batch], bool]:
        """The statistics now, the batches that are not in the base yet, and whether the base is whole."""
        batches = self.batches()  # before the base: what is folded in between is told there
        data = self._store.read_blob(self._base)
        if data is None:
            raise StoreError("this collection has no index of terms: build one when it is created")
        statistics, whole = Statistics.from_bytes(data)
        absorbed = set(statistics.absorbed)
        loose = {name: batch for name, batch in batches.items() if name not in absorbed}
        done = [(batch.added, batch.taken) for batch in loose.values() if batch.added is not None]
        statistics.merge([part for added, taken in done for part in ((added, 1), (taken, -1))])
        return statistics, loose, whole

    def alone(self, *, patience: float = 3.0) -> bool:
        """Take the lease and wait until no batch is under way; False, without it, where that takes too long."""
        try:
            self._store.claim()
        except StoreError:
            return False
        until = time.monotonic() + patience
        while any(b.added is None and time.time() - b.began < DEAD for b in self.batches().values()):
            if time.monotonic() > until:
                self._store.release()
                return False
            time.sleep(_PAUSE)
        return True

    def drop(self, names: Sequence[str]) -> None:
        for name in names:
            self._store.delete_blob(name)

    def _write(self, name: str, batch: Batch) -> None:
        parts = [batch.taken.to_bytes(), b"" if batch.added is None else batch.added.to_bytes()]
        sizes = [len(part) for part in parts]
        head = {"ids": batch.ids, "began": batch.began, "after": batch.after, "sizes": sizes}
        self._store.write_blob(name, json.dumps(head).encode() + b"\n" + b"".join(parts))


def crossed(batches: Mapping[str, Batch]) -> bool:
    """Whether two batches wrote one document without either having seen the other finished."""
    writers: dict[str, list[str]] = {}
    for name, batch in batches.items():
        for id in batch.ids:
            writers.setdefault(id, []).append(name)
    pairs = {pair for names in writers.values() for pair in combinations(names, 2)}
    return any(one not in batches[other].after and other not in batches[one].after for one, other in pairs)


def _parsed(data: bytes) -> Batch:
    line, _, rest = data.partition(b"\n")
    head = json.loads(line)
    first, second = head["sizes"]
    taken, _ = Statistics.from_bytes(rest[:first])
    added = Statistics.from_bytes(rest[first : first + second])[0] if second else None
    return Batch(head["ids"], head["began"], head.get("after", []), taken, added)
