"""The index of terms of a collection on a server, which others read while one process writes.

The statistics on the server are a base and a journal. The journal has a small blob for each batch since the base was
written: what the batch added, and what it replaced. A batch is acknowledged when it is in the journal, so whoever reads
base and journal knows every acknowledged document. Entries are named after the version of the base, so a new base,
which contains them, makes them obsolete. One process writes at a time, by a right that every write needs. A process
that takes it from one that did not finish counts all documents again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, cast

from paragloss.errors import StoreError
from paragloss.index.terms import STATISTICS_BLOB, TermIndex, read_statistics_blob, recount
from paragloss.statistics import Statistics
from paragloss.types import SparseVector, Store

#: From this many entries on, the journal is put into a new base.
MAX_JOURNAL_ENTRIES = 64


class StoredStatistics(NamedTuple):
    """The statistics of a store, from base and journal."""

    statistics: Statistics
    is_complete: bool  # whether the base was written after the last change
    version: str | None  # of the base
    n_entries: int  # how many entries of the journal are in the statistics


class JournaledStore(Store, Protocol):
    """A store that others read and write."""

    def delete_blob(self, name: str) -> None:
        """Remove named bytes."""
        ...


class JournaledIndex(TermIndex):
    """A `TermIndex` for a store that others read and write."""

    _store: JournaledStore

    def __init__(self, store: JournaledStore, statistics: Statistics, **options: Any) -> None:
        """Use `open`."""
        super().__init__(store, statistics, **options)
        self._n_entries = 0  # entries of this base that are in the statistics
        self._writer_number = -1  # the right to write with which those entries were the last
        self._n_records = -1  # number of documents, -1 if unknown
        self._has_entries = self._has_new_weights = False
        self._start_batch()

    @classmethod
    def open(cls, store: Store, **options: Any) -> JournaledIndex:
        """Open the index; raise StoreError if documents are missing."""
        stored = read_statistics(store)
        if not stored.is_complete:
            recount(store, stored.statistics)
        index = cls(cast(JournaledStore, store), stored.statistics, clean=True, **options)
        index._version, index._n_entries = stored.version, stored.n_entries
        if stored.is_complete and not stored.n_entries:
            index._check_count()
        return index

    def _check_count(self) -> None:
        """Raise StoreError if the store has fewer or more documents than the base says, and nobody is writing."""
        n_expected = self.statistics.records
        if n_expected is None:
            return
        n_stored = self._store.count()
        is_changing = self._store.has_unfinished_writes() or self._has_news()
        if n_stored != n_expected and not is_changing:
            raise StoreError(f"this collection is damaged: {n_stored} of its {n_expected} documents can be found")

    def refresh(self, *, tolerance: float = 0.0) -> None:
        """Rewrite weights as `TermIndex.refresh` does, and write a new base if any were rewritten."""
        with self._write_lock, self._store.write_session():
            try:
                super().refresh(tolerance=tolerance)
                if self._has_new_weights:  # the journal does not say how documents are weighted
                    self._write_base()
            except BaseException:
                self._recover_from_failed_write()
                raise

    def commit(self) -> None:
        """Merge the journal into the base. A process that has only read writes nothing."""
        with self._write_lock, self._store.write_session():
            if self._has_entries:
                self._become_writer()
                if self._has_entries:
                    self._write_base()

    def catch_up(self, *, interval: float = 0.5) -> None:
        """Read the statistics again if another process has written since.

        :param interval: seconds that must have passed since the last check.
        """
        if time.monotonic() - self._last_check >= interval:
            with self._write_lock:
                self._last_check = time.monotonic()
                if self._has_news():
                    self._read_again()

    @property
    def document_version(self) -> tuple[object, ...]:
        """A value that changes whenever documents do."""
        return *super().document_version, self._n_entries

    def _has_news(self) -> bool:
        """Return whether others have written."""
        return self._store.blob_version(STATISTICS_BLOB) != self._version or bool(
            self._store.blob_version(_name_entry(self._version, self._n_entries + 1))
        )

    def _read_again(self) -> None:
        stored = read_statistics(self._store)
        if stored.is_complete:
            self.statistics, self._version, self._n_entries = stored.statistics, stored.version, stored.n_entries
            self._n_records = -1

    def _become_writer(self) -> None:
        """Become the only writer of the store, and bring the statistics up to date if another process may have written.

        They are read again, or counted from all documents if the last writer was killed.
        """
        writer_number, is_complete = self._store.claim_writing()
        if writer_number == self._writer_number:
            return
        if is_complete:
            if self._has_news():
                self._read_again()
            if self._n_records < 0:  # unknown since others have written
                self._n_records = self._store.count()
        else:
            self._recount()
            self._write_base()
        self._writer_number = writer_number

    def _recount(self) -> None:
        statistics = Statistics(self.statistics.layout)
        self._n_records = recount(self._store, statistics)
        self.statistics = statistics

    def _count_documents(self, langs: Sequence[str], vectors: Sequence[SparseVector], *, sign: int = 1) -> None:
        super()._count_documents(langs, vectors, sign=sign)
        (self._added if sign > 0 else self._removed).count(langs, vectors)
        self._n_records += sign * len(langs)

    def _rewrite_weights(self, lang: str) -> None:
        self._has_new_weights = True
        super()._rewrite_weights(lang)

    def _record_batch(self) -> None:
        """Write an entry for the batch; its first line has the lengths of its two parts."""
        parts = [self._removed.to_bytes(), self._added.to_bytes()]
        self._start_batch()
        sizes = json.dumps([len(part) for part in parts]).encode()
        name = _name_entry(self._version, self._n_entries + 1)
        self._store.write_blob(name, b"".join([sizes, b"\n", *parts]))
        self._n_entries += 1
        self._has_entries = True
        if self._n_entries == MAX_JOURNAL_ENTRIES:
            self._write_base()

    def _start_batch(self) -> None:
        self._removed, self._added = Statistics(self.statistics.layout), Statistics(self.statistics.layout)

    def _recover_from_failed_write(self) -> None:
        """After a failed write let the next writer, with a new right to write, count what the store holds."""
        self._start_batch()
        self._version, self._writer_number, self._has_entries = "", -1, True
        self._store.mark_statistics_stale()

    def _write_base(self) -> None:
        """Write a new base and delete the old journal; count again if documents are not as many as were counted."""
        if self._store.count() != self._n_records:
            self._recount()
        old_version, old_entries = self._version, self._n_entries
        self._store.write_blob(STATISTICS_BLOB, self.statistics.to_bytes(records=self._n_records))
        self._version, self._n_entries = self._store.blob_version(STATISTICS_BLOB), 0
        self._store.mark_statistics_current()
        self._has_entries = self._has_new_weights = False
        for number in range(1, old_entries + 1):
            self._store.delete_blob(_name_entry(old_version, number))


def read_statistics(store: Store) -> StoredStatistics:
    """Read the term statistics of a store: the base, and the changes that the journal has recorded since.

    A folder has no journal. If another process replaces the base while the journal is read, both are read again.

    :raises StoreError: the store has no statistics.
    """
    while True:
        version = store.blob_version(STATISTICS_BLOB)
        statistics, is_complete = read_statistics_blob(store)
        if not store.has_journal:
            return StoredStatistics(statistics, is_complete, version, n_entries=0)
        entries = _read_entries(store, version)
        if store.blob_version(STATISTICS_BLOB) == version:
            additions = [(entry.added, 1) for entry in entries]
            removals = [(entry.removed, -1) for entry in entries]
            statistics.merge(additions + removals)
            return StoredStatistics(statistics, is_complete, version, n_entries=len(entries))


class _JournalEntry(NamedTuple):
    """The statistics of the documents that a batch removed, and of those that it added."""

    removed: Statistics
    added: Statistics


def _read_entries(store: Store, version: str | None) -> list[_JournalEntry]:
    """Return the entries of the journal of a base, in the order in which they were written."""
    entries: list[_JournalEntry] = []
    while True:
        data = store.read_blob(_name_entry(version, len(entries) + 1))
        if not data:
            return entries
        entries.append(_parse_entry(data))


def choose_index_class(store: Store) -> type[TermIndex]:
    """Return the class that indexes the terms of a store: on a server others read and write meanwhile."""
    return JournaledIndex if store.has_journal else TermIndex


def _name_entry(version: str | None, number: int) -> str:
    return f"{STATISTICS_BLOB}-{version}-{number}"


def _parse_entry(data: bytes) -> _JournalEntry:
    """Read an entry: a line with the lengths of its two parts, then the parts."""
    sizes, _, parts = data.partition(b"\n")
    n_removed, n_added = json.loads(sizes)
    removed, added = parts[:n_removed], parts[n_removed : n_removed + n_added]
    return _JournalEntry(Statistics.from_bytes(removed)[0], Statistics.from_bytes(added)[0])
