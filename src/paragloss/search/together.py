"""The index of terms of a collection on a server, which any number of processes write at once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from paragloss.errors import StoreError
from paragloss.search.ledger import Ledger, crossed
from paragloss.search.terms import NAME, STATISTICS, TermIndex, recount, vectors_of
from paragloss.statistics import Statistics
from paragloss.types import Document, Record, SparseVector


class ManyWriters(TermIndex):
    """Like `TermIndex`, without being the only one. Averages that have moved are put right, and batches folded into the
    base, by whoever commits while no other batch is under way."""

    def __init__(self, store: Any, statistics: Statistics, **options: Any) -> None:
        super().__init__(store, statistics, **options)
        self._ledger = Ledger(store, STATISTICS)
        self._seen = ""
        self._unfolded = False
        self._tolerance: float | None = None

    @classmethod
    def open(cls, store: Any, **options: Any) -> ManyWriters:
        statistics, loose, whole = Ledger(store, STATISTICS).total()
        if not whole:
            statistics.clear()
            recount(store, statistics)
        elif not loose and statistics.records is not None and statistics.records != (here := store.count()):
            raise StoreError(f"this collection is damaged: {here} of its {statistics.records} documents can be found")
        return cls(store, statistics, clean=True, **options)

    def _put(self, documents: Sequence[Document], dense: Sequence[Any], weigh: Any) -> None:
        with self._writing:
            self.catch_up()
            with self._batch([document.id for document in documents]) as added:
                weighed: list[SparseVector] = weigh(self.statistics)
                self._store.add(
                    [
                        Record(document, some, {NAME: vector})
                        for document, some, vector in zip(documents, dense, weighed, strict=True)
                    ]
                )
                added.count([document.lang for document in documents], weighed)

    def delete(self, ids: Sequence[str]) -> int:
        with self._writing, self._batch(list(dict.fromkeys(ids))):
            return self._store.delete(ids)

    def refresh(self, *, tolerance: float = 0.0) -> None:
        """Weights are put right at the next `commit`."""
        self._tolerance = tolerance

    def commit(self) -> None:
        with self._writing:
            asked = self._tolerance is not None  # by one who indexed, not by one who only reads
            stale = asked and bool(self.statistics.stale(self._tolerance or 0.0))
            if (self._unfolded or stale or (asked and self._ledger.loose())) and self._ledger.alone():
                try:
                    self._fold()
                finally:
                    self._store.release()

    def catch_up(self, *, every: float = 0.5) -> None:
        """Take in what others have written since; looks at most once in `every` seconds."""
        if time.monotonic() - self._looked < every:
            return
        with self._writing:
            self._looked = time.monotonic()
            version = self._ledger.version()
            if version != self._seen:
                statistics, _, whole = self._ledger.total()
                if whole:
                    self.statistics, self._seen = statistics, version

    @contextmanager
    def _batch(self, ids: Sequence[str]) -> Iterator[Statistics]:
        """Documents written within are counted as one batch, whatever happens."""
        after = self._ledger.finished(ids)  # before their documents are read
        taken, added = self._counts(ids), Statistics(self.statistics.layout)
        name = self._ledger.begin(ids, after, taken)
        self._unfolded = True
        try:
            yield added
        except BaseException:
            with suppress(StoreError):  # else it is finished when it is found to be dead
                self._ledger.finish(name, ids, after, taken, self._counts(ids))
            raise
        self._ledger.finish(name, ids, after, taken, added)
        self.statistics.merge([(added, 1), (taken, -1)])

    def _counts(self, ids: Sequence[str]) -> Statistics:
        """What is counted of documents as they are now."""
        there = [record for record in self._store.get(ids, vectors=[NAME], text=False) if record is not None]
        counted = Statistics(self.statistics.layout)
        counted.count([record.document.lang for record in there], vectors_of(there))
        return counted

    def _fold(self) -> None:
        """With the lease, and nobody writing: everything into the base, with exact weights where they are wanted."""
        statistics, loose, whole = self._ledger.total()
        if not whole or any(batch.added is None for batch in loose.values()) or crossed(loose):
            # A writer died, and what it left may have been written over since by batches that took it for counted; or
            # two wrote one document at once. Only the documents know.
            statistics.clear()
            recount(self._store, statistics)
        self.statistics = statistics
        stale = statistics.stale(self._tolerance) if self._tolerance is not None else set()
        if stale:
            self._store.write_blob(STATISTICS, statistics.unfinished())
            for lang in sorted(stale):
                self._store.claim()
                self._refresh(lang)
        data = statistics.to_bytes(records=self._store.count(), absorbed=list(loose))
        self._store.write_blob(STATISTICS, data)
        self._ledger.drop(list(loose))
        self._unfolded, self._tolerance = False, None


def index_of(store: Any) -> type[TermIndex]:
    """How a store's terms are indexed: by one writer at a time in a folder, by many on a server."""
    return ManyWriters if getattr(store, "many_writers", False) else TermIndex
