"""The index of terms of a collection on a server, which others read while one writes.

The statistics there are a base and a journal: a small blob for each batch since the base was written, with what it
added and what had stood there. A batch is acknowledged when it is in the journal, so whoever reads base and journal
knows every document that was. Entries are called after the base's version: a new base, which has them in it, leaves
them behind. One writes at a time, by a right that every write needs; who takes it from somebody that did not finish
counts all documents again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, Protocol, cast

from paragloss.errors import StoreError
from paragloss.search.terms import STATISTICS, TermIndex, recount
from paragloss.statistics import Statistics
from paragloss.types import SparseVector, Store

#: So many entries are read beside the base before they are put into it.
MOST = 64


class JournaledStore(Store, Protocol):
    """A store that others read and write."""

    def has_no_unfinished_writes(self) -> bool: ...

    def delete_blob(self, name: str) -> None: ...


class JournaledIndex(TermIndex):
    """Like `TermIndex`, for a store that others read and write."""

    _store: JournaledStore

    def __init__(self, store: JournaledStore, statistics: Statistics, **options: Any) -> None:
        super().__init__(store, statistics, **options)
        self._entries = 0  # of the base of this version, that are in the statistics
        self._number = -1  # of the right to write by which they are known to be the last
        self._records = -1  # documents counted, where that is known
        self._unfolded = self._recast = False
        self._forget_batch()

    @classmethod
    def open(cls, store: Store, **options: Any) -> JournaledIndex:
        statistics, whole, version, entries = read(store)
        if not whole:
            recount(store, statistics)
        index = cls(cast(JournaledStore, store), statistics, clean=True, **options)
        index._version, index._entries = version, entries
        if whole and not entries and statistics.records is not None:
            here = store.count()
            if here != statistics.records and index._store.has_no_unfinished_writes() and not index._news():
                raise StoreError(
                    f"this collection is damaged: {here} of its {statistics.records} documents can be found"
                )
        return index

    def refresh(self, *, tolerance: float = 0.0) -> None:
        with self._writing, self._store.write_session():
            try:
                super().refresh(tolerance=tolerance)
                if self._recast:  # what documents were weighed with is not in the journal
                    self._fold()
            except BaseException:
                self._fail()
                raise

    def commit(self) -> None:
        """Put everything into the base. Whoever has only read writes nothing."""
        with self._writing, self._store.write_session():
            if self._unfolded:
                self._begin()
                if self._unfolded:
                    self._fold()

    def catch_up(self, *, every: float = 0.5) -> None:
        if time.monotonic() - self._looked >= every:
            with self._writing:
                self._looked = time.monotonic()
                if self._news():
                    self._reread()

    def _news(self) -> bool:
        """Whether others have written."""
        return self._store.blob_version(STATISTICS) != self._version or bool(
            self._store.blob_version(_entry(self._version, self._entries + 1))
        )

    def _reread(self) -> None:
        statistics, whole, version, entries = read(self._store)
        if whole:
            self.statistics, self._version, self._entries, self._records = statistics, version, entries, -1

    def _begin(self) -> None:
        number, whole = self._store.claim_writing()
        if number == self._number:
            return
        if whole and self._news():
            self._reread()
        if not whole:
            self._recount()
            self._fold()
        elif self._records < 0:
            self._records = self._store.count()
        self._number = number

    def _recount(self) -> None:
        fresh = Statistics(self.statistics.layout)
        self._records = recount(self._store, fresh)
        self.statistics = fresh

    def _count(self, langs: Sequence[str], vectors: Sequence[SparseVector], *, sign: int = 1) -> None:
        super()._count(langs, vectors, sign=sign)
        (self._added if sign > 0 else self._taken).count(langs, vectors)
        self._records += sign * len(langs)

    def _refresh(self, lang: str) -> None:
        self._recast = True
        super()._refresh(lang)

    def _note(self) -> None:
        parts = [self._taken.to_bytes(), self._added.to_bytes()]
        self._forget_batch()
        line = json.dumps([len(part) for part in parts]).encode()
        self._store.write_blob(_entry(self._version, self._entries + 1), b"".join([line, b"\n", *parts]))
        self._entries += 1
        self._unfolded = True
        if self._entries == MOST:
            self._fold()

    def _forget_batch(self) -> None:
        self._taken, self._added = Statistics(self.statistics.layout), Statistics(self.statistics.layout)

    def _fail(self) -> None:
        """What the store holds is what counts: who writes next, by a new number, counts it."""
        self._forget_batch()
        self._version, self._number, self._unfolded = "", -1, True
        self._store.mark_statistics_stale()

    def _fold(self) -> None:
        """A new base, then the journal of the old one goes. What is not as it was counted is counted again."""
        if self._store.count() != self._records:
            self._recount()
        before, entries = self._version, self._entries
        self._store.write_blob(STATISTICS, self.statistics.to_bytes(records=self._records))
        self._version, self._entries = self._store.blob_version(STATISTICS), 0
        self._store.mark_statistics_current()
        self._unfolded = self._recast = False
        for number in range(1, entries + 1):
            self._store.delete_blob(_entry(before, number))


def read(store: Store) -> tuple[Statistics, bool, str | None, int]:
    """The statistics as a store has them: base and journal. Whether the base is whole, its version, and how many
    entries there are."""
    journaled = store.has_journal
    while True:
        version = store.blob_version(STATISTICS)
        data = store.read_blob(STATISTICS)
        if data is None:
            raise StoreError("this collection has no index of terms: build one when it is created")
        statistics, whole = Statistics.from_bytes(data)
        entries: list[tuple[Statistics, Statistics]] = []
        while journaled and (entry := store.read_blob(_entry(version, len(entries) + 1))):
            entries.append(_parsed(entry))
        if not journaled or store.blob_version(STATISTICS) == version:  # else it was written anew meanwhile
            statistics.merge([part for taken, added in entries for part in ((added, 1), (taken, -1))])
            return statistics, whole, version, len(entries)


def index_of(store: Store) -> type[TermIndex]:
    """How a store's terms are indexed: others read those of a server's collection meanwhile."""
    return JournaledIndex if store.has_journal else TermIndex


def _entry(version: str | None, number: int) -> str:
    return f"{STATISTICS}-{version}-{number}"


def _parsed(data: bytes) -> tuple[Statistics, Statistics]:
    line, _, rest = data.partition(b"\n")
    taken, added = json.loads(line)
    return Statistics.from_bytes(rest[:taken])[0], Statistics.from_bytes(rest[taken : taken + added])[0]
