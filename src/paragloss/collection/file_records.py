"""Remember which files a collection was read from.

Only changed files are then read again, and documents of removed files can be pruned.

A file is recorded as read once its reader has come to its end and its documents are safe on disk. Until then its
document ids are recorded before they are written: after a kill some files are read again, none is missed, and no
document is left without its file. Each document id has one owning file. Absence is observed, never inferred: a document
is pruned only if its file was read completely without giving it, or is missing from a folder that could be listed and
still holds other files.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from paragloss.errors import PruneError
from paragloss.formats.file_ids import is_inside
from paragloss.formats.text import FileOutcome
from paragloss.stores import AnyStore
from paragloss.types import Document

_FILES_BLOB, _PENDING_BLOB = "files", "begun"
#: Seconds between two saves of the records while a long reading goes on.
SAVE_INTERVAL = 20.0
#: The size and time in the record of a file that has to be read again, whatever its state is.
_READ_AGAIN = (-1, -1)
#: Files compared to decide whether a folder is a known one that was moved or renamed.
_MAX_COMPARED_FILES = 200


class FileRecord(NamedTuple):
    """A file as it was when it was read, and the documents it gave."""

    size: int
    modified: int  # nanoseconds
    lang: str
    ids: tuple[str, ...] = ()  # documents of the collection that come from this file
    stale_ids: tuple[str, ...] = ()  # documents it gave earlier and no longer holds, not pruned yet
    name: str = ""  # the id of its page, or what the ids of its rows begin with
    shadowed_ids: tuple[str, ...] = ()  # ids it also holds, but the collection has another file's document

    @classmethod
    def from_json(cls, values: Sequence[Any]) -> FileRecord:
        """Make a record of the values of its fields, with lists for tuples, as JSON has them."""
        fields: list[Any] = [tuple(value) if isinstance(value, list) else value for value in values]
        return cls(*fields)

    @property
    def must_be_read(self) -> bool:
        """Whether the file is read again although it has not changed."""
        return self[:2] == _READ_AGAIN

    def marked_for_reading(self) -> FileRecord:
        """Return the record of the same file that is read again although it has not changed."""
        return self._replace(size=_READ_AGAIN[0], modified=_READ_AGAIN[1])


@dataclass
class _Reading:
    """A file that is being read, or whose documents are not safe yet."""

    path: str
    record: FileRecord
    ids: list[str] = field(default_factory=list)
    end: int | None = None  # how many documents all files had given when its reader ended
    outcome: FileOutcome = FileOutcome.FAILED


class _FileTable:
    """The records of a collection's files by path, and which file owns each document id and each name."""

    def __init__(self, store: AnyStore) -> None:
        """Load the records of a collection."""
        self._store = store
        self.records: dict[str, FileRecord] = {}
        self._owners: dict[str, str] = {}  # document id -> path of the file that the document comes from
        self._paths_by_name: dict[str, str] = {}
        self._shadowed_paths: set[str] = set()  # files that hold an id which another file owns
        for path, values in _read_json(store, _FILES_BLOB).items():
            self.add(path, FileRecord.from_json(values))
        self._saved_records = dict(self.records)

    def save(self) -> None:
        """Write the records if they have changed."""
        if self.records != self._saved_records:
            _write_json(self._store, _FILES_BLOB, self.records)
            self._saved_records = dict(self.records)

    def add(self, path: str, record: FileRecord) -> None:
        """Add the record of a file, which now owns the documents and the name in it."""
        self.replace(path, record)
        self._owners.update(dict.fromkeys(record.ids, path))
        if record.name:
            self._paths_by_name[record.name] = path

    def replace(self, path: str, record: FileRecord) -> None:
        """Replace the record of a file; the owners of documents and names stay the same."""
        self.records[path] = record
        if record.shadowed_ids:
            self._shadowed_paths.add(path)
        else:
            self._shadowed_paths.discard(path)

    def remove(self, path: str) -> FileRecord:
        """Remove and return the record of a file, which then owns no documents and no name."""
        record = self.records.pop(path)
        self._shadowed_paths.discard(path)
        if self._paths_by_name.get(record.name) == path:
            del self._paths_by_name[record.name]
        self.give_up_ownership(path, record.ids)
        return record

    def find_owner(self, doc_id: str) -> str | None:
        """Return the path of the file that owns a document id; None if no file does."""
        return self._owners.get(doc_id)

    def take_ownership(self, path: str, doc_ids: Iterable[str]) -> None:
        """Make a file the owner of documents.

        A file that owned one earlier still contains it: the record of that file notes the id as shadowed, so that the
        file is read again when the new owner gives the document up.

        :param path: the path of the new owner.
        """
        lost_ids: dict[str, set[str]] = {}  # by the earlier owner
        for doc_id in doc_ids:
            owner = self._owners.get(doc_id, path)
            if owner != path and not _is_same_file(owner, path):
                lost_ids.setdefault(owner, set()).add(doc_id)
            self._owners[doc_id] = path
        for owner, ids_of_owner in lost_ids.items():
            record = self.records[owner]
            remaining_ids = tuple(doc_id for doc_id in record.ids if doc_id not in ids_of_owner)
            shadowed_ids = _join_unique(record.shadowed_ids, sorted(ids_of_owner))
            self.replace(owner, record._replace(ids=remaining_ids, shadowed_ids=shadowed_ids))

    def give_up_ownership(self, path: str, doc_ids: Iterable[str]) -> None:
        """Make a file the owner of these documents no longer; those that another file owns keep their owner."""
        for doc_id in doc_ids:
            if self._owners.get(doc_id) == path:
                del self._owners[doc_id]

    def list_holders(self, released_ids: Iterable[str]) -> list[str]:
        """Return the files that hold an id whose document came from another file, which has given it up."""
        released = set(released_ids)
        return [
            path for path in sorted(self._shadowed_paths) if not released.isdisjoint(self.records[path].shadowed_ids)
        ]

    def list_overwritten(self, released_ids: Iterable[str]) -> list[str]:
        """Return the files whose document a killed reading of another file may have replaced."""
        released = set(released_ids)
        return [
            path for path, record in self.records.items() if record.must_be_read and not released.isdisjoint(record.ids)
        ]

    def assign_name(self, path: str, name: str) -> str:
        """Return the name that a file has; give it one that no other file has if it has none.

        :param path: the file.
        :param name: the name for a new file, to which a number is added if another file has it.
        """
        record = self.records.get(path)
        if record is not None and record.name:
            name = record.name
        elif record is None or name not in record.ids:
            name = self._make_unique(name, path)
        self._paths_by_name[name] = path
        return name

    def _make_unique(self, name: str, path: str) -> str:
        """Return a name that no other file has, and that no other file's document has as its id."""
        pure_path = PurePosixPath(name)
        unique_name, number = name, 1
        while self._is_taken(unique_name, path):
            number += 1
            unique_name = str(pure_path.with_name(f"{pure_path.stem}-{number}{pure_path.suffix}"))
        return unique_name

    def _is_taken(self, name: str, path: str) -> bool:
        """Tell whether a file other than the one at a path has a name, or a document with this id."""
        holder = self._paths_by_name.get(name) or self._owners.get(name)
        return holder is not None and holder != path and not _is_same_file(holder, path)


class FileTracker:
    """Decides which files of one `index_files` call are read, and records what they gave."""

    def __init__(self, store: AnyStore, *, lang: str = "", reads_all: bool = False) -> None:
        """Load the records of a collection, and add what an earlier process had read when it was killed.

        :param lang: the language given for documents that don't state theirs; a file read with another is read again.
        :param reads_all: read unchanged files too.
        """
        self._store, self._lang, self._reads_all = store, lang, reads_all
        self._table = _FileTable(store)
        # What is seen while folders are listed.
        self.unchanged_count = 0  # files that need not be read
        self._present: set[str] = set()  # paths of all files
        self._unlisted_folders: list[str] = []
        # What is read.
        self._readings: deque[_Reading] = deque()  # in the order in which files are read
        self._read_states: set[tuple[int, int]] = set()  # sizes and times of files that are read
        self._document_count = 0  # that all files have given so far
        self._rereads: dict[str, None] = {}  # files that hold an id whose owner gave it up, in order
        # What is not saved yet.
        self._pending: dict[str, list[str]] = {}  # ids given by each file since the last save
        self._last_save = time.monotonic()
        self._recover_killed_readings()

    # Before and while files are read

    def register_file(self, path: Path) -> bool:
        """Record that a file exists, and decide whether it has to be read.

        It has to be if it is new or has changed since it was read, or if all files are read. The documents that come
        next are then taken as those of this file, after those of files that were registered before it.

        :param path: a file found in a folder, or named by the user.
        :return: whether to read it; False for a file that is unchanged since all its documents were read.
        """
        full_path = os.path.abspath(path)
        self._present.add(full_path)
        current = self._describe_file(full_path)
        if not self._reads_all and self._is_unchanged(full_path, current):
            self.unchanged_count += 1
            return False
        self._readings.append(_Reading(full_path, current))
        self._read_states.add((current.size, current.modified))
        return True

    def _describe_file(self, full_path: str) -> FileRecord:
        """Return the record of a file as it is now: its size, its time of change and its language, without documents.

        A file whose size can't be read gets the mark of files to read again: its reader then reports what is wrong.
        """
        size_and_time = _read_size_and_time(full_path)
        if size_and_time is None:
            size_and_time = _READ_AGAIN
        size, modified = size_and_time
        return FileRecord(size, modified, self._lang)

    def _is_unchanged(self, full_path: str, current: FileRecord) -> bool:
        """Return whether a file was read before, completely, with the same size, time of change and language."""
        earlier = self._table.records.get(full_path)
        if earlier is None or earlier.must_be_read:
            return False
        return (earlier.size, earlier.modified, earlier.lang) == (current.size, current.modified, current.lang)

    def assign_name(self, path: str, name: str) -> str:
        """Return the name of a file, with which the ids of its documents begin; it keeps the one that it has.

        :param path: the file that is about to be read.
        :param name: the name to give to a new file; a number is added if another file has it.
        """
        full_path = os.path.abspath(path)
        reading = self._find_newest_reading(full_path)
        if reading is None:
            return self._table.assign_name(full_path, name)
        unique_name = self._table.assign_name(reading.path, name)
        reading.record = reading.record._replace(name=unique_name)
        return unique_name

    def _find_newest_reading(self, full_path: str) -> _Reading | None:
        """Return the reading that began last; None if it is not of this file.

        :param full_path: the file as its documents name it: in printable letters, though a name need not be UTF-8.
        """
        if not self._readings:
            return None
        newest = self._readings[-1]
        return newest if _make_printable(newest.path) == _make_printable(full_path) else None

    def finish_reading(self, path: Path, outcome: FileOutcome) -> None:
        """Note that the reader of a file has ended, or that a folder can't be listed.

        :param path: the file, which is the first one whose reader has not ended; any other path is that of a folder.
        """
        reading = self._current_reading()
        if reading is not None and reading.path == os.path.abspath(path):
            reading.end, reading.outcome = self._document_count, outcome
        else:
            self._unlisted_folders.append(os.path.abspath(path))

    def assign_to_files(self, documents: Iterator[Document]) -> Iterator[Document]:
        """Yield documents as they are, and note with each the file that is being read when it comes."""
        for document in documents:
            self._document_count += 1
            reading = self._current_reading()
            if reading is not None:
                reading.ids.append(document.id)
                self._pending.setdefault(reading.path, []).append(document.id)
            yield document

    def save_pending(self) -> None:
        """Save which file each document comes from that is about to be written."""
        if self._pending:
            _write_json(self._store, _PENDING_BLOB, self._pending)

    def record_written_files(self, document_count: int) -> None:
        """Record the files that were read to their end and whose documents are all on disk.

        :param document_count: how many documents are on disk: the first ones of all that files gave in this run.
        """
        while self._readings:
            end = self._readings[0].end
            if end is None or end > document_count:
                break
            self._record_reading(self._readings.popleft())
        if time.monotonic() - self._last_save > SAVE_INTERVAL:
            self.save()

    def save(self) -> None:
        """Save the records if they have changed, also those of files that are still being read."""
        for reading in self._readings:
            self._record_unfinished(reading.path, reading.ids)
        self._table.save()
        if self._pending:
            self._pending = {}
            _write_json(self._store, _PENDING_BLOB, {})
        self._last_save = time.monotonic()

    # Moved folders

    def has_moved(self, old_folder: str, new_folder: str) -> bool:
        """Tell whether a missing folder is now at another path: most of its recorded files are there, unchanged."""
        records = self._table.records
        old_paths = (path for path in records if is_inside(path, old_folder) and not records[path].must_be_read)
        compared_paths = list(islice(old_paths, _MAX_COMPARED_FILES))
        unchanged_count = 0
        for path in compared_paths:
            new_path = _move_path(path, old_folder, new_folder)
            recorded_size_and_time = (records[path].size, records[path].modified)
            if _read_size_and_time(new_path) == recorded_size_and_time:
                unchanged_count += 1
        return 2 * unchanged_count > len(compared_paths)

    def move_folder(self, old_folder: str, new_folder: str) -> None:
        """Give the records of a moved folder their new paths. Its files are read again: documents hold their path."""
        for path in [path for path in self._table.records if is_inside(path, old_folder)]:
            record = self._table.remove(path)
            self._table.add(_move_path(path, old_folder, new_folder), record.marked_for_reading())

    # After files were read

    def prune(
        self, roots: Sequence[str], delete: Callable[[Sequence[str]], int], *, max_share: float | None = None
    ) -> int:
        """Remove documents whose file is gone from below these paths, or no longer holds them.

        :param roots: the files and folders that were read.
        :param delete: deletes documents by id and returns how many there were.
        :param max_share: the largest share of the collection whose files may have disappeared; files that were moved
            within `roots` do not count. None removes without limit, also below folders that have become empty.
        :return: the number of removed documents.
        :raises PruneError: if more has disappeared; nothing is removed then.
        """
        missing_paths = self._find_missing(roots, trust_empty=max_share is None)
        if max_share is not None:
            self._check_share(missing_paths, max_share)
        released_ids = self._release_missing(missing_paths) + self._release_stale()
        other_holders = self._table.list_holders(released_ids)
        overwritten_paths = self._table.list_overwritten(released_ids)
        self._mark_for_rereading(other_holders + overwritten_paths)
        unowned_ids = [doc_id for doc_id in dict.fromkeys(released_ids) if self._table.find_owner(doc_id) is None]
        removed_count = delete(unowned_ids) if unowned_ids else 0
        self.save()
        return removed_count

    def _find_missing(self, roots: Sequence[str], *, trust_empty: bool) -> list[str]:
        """Return the recorded files below these paths that were removed; warn of those that may be out of sight.

        :param trust_empty: count the files of a folder that has become empty as removed.
        """
        sources = _Sources(self._present, self._unlisted_folders, trust_empty=trust_empty)
        unseen_paths = [path for path in self._table.records if path not in self._present]
        missing_paths, withheld = sources.find_removed(unseen_paths, roots)
        _warn_about_withheld(withheld, self._table.records)
        return missing_paths

    def _check_share(self, missing_paths: Sequence[str], max_share: float) -> None:
        """Raise PruneError if too large a share of the documents belongs to files that have disappeared.

        A file that was only moved does not count: one of the same size and time of change was read in another place.

        :param missing_paths: the recorded files that are gone from their place.
        :param max_share: between 0 and 1.
        """
        records = self._table.records
        moved_states = self._read_states - {_READ_AGAIN}  # sizes and times
        lost_paths = [path for path in missing_paths if records[path][:2] not in moved_states]
        lost_count = sum(len(records[path].ids) for path in lost_paths)
        total = self._store.count()
        if lost_count > max_share * total:
            raise PruneError(
                f"the files of {lost_count} of {total} documents have disappeared, for example {lost_paths[0]}: "
                "nothing was removed; check the folders, then remove these documents with --prune-anyway"
            )

    def _release_missing(self, missing_paths: Sequence[str]) -> list[str]:
        """Forget files that are gone, and return the ids of the documents that they gave."""
        released_ids: list[str] = []
        for path in missing_paths:
            record = self._table.remove(path)
            released_ids += record.ids + record.stale_ids
        return released_ids

    def _release_stale(self) -> list[str]:
        """Forget the ids that present files gave earlier and no longer hold, and return them."""
        released_ids: list[str] = []
        for path, record in self._table.records.items():
            if record.stale_ids and path in self._present and not record.must_be_read:
                released_ids += record.stale_ids
                self._table.replace(path, record._replace(stale_ids=()))
        return released_ids

    def _mark_for_rereading(self, paths: Iterable[str]) -> None:
        """Have files read again, in this run and, if that fails, in the next one."""
        for path in paths:
            self._table.replace(path, self._table.records[path].marked_for_reading())
            self._rereads[path] = None

    def take_rereads(self) -> list[str]:
        """Return the files that have to be read again because an id they hold has lost its owner, and forget them."""
        paths = [path for path in self._rereads if path in self._table.records and os.path.exists(path)]
        self._rereads = {}
        return paths

    def read_all_again(self) -> None:
        """Mark every recorded file for reading, without forgetting which documents it gave, and save that."""
        for path, record in self._table.records.items():
            self._table.replace(path, record.marked_for_reading())
        self.save()

    # Records

    def _recover_killed_readings(self) -> None:
        """Record what a process that was killed had read of each file since it last saved the records."""
        for path, ids in _read_json(self._store, _PENDING_BLOB).items():
            self._recover_killed_reading(path, ids)

    def _recover_killed_reading(self, path: str, ids: Sequence[str]) -> None:
        """Record what a killed process had read of a file.

        Its documents may have replaced those of other files, which are read again.

        :param ids: the documents that the file had given.
        """
        self._pending[path] = list(ids)
        for doc_id in ids:
            owner = self._table.find_owner(doc_id)
            if owner is not None and owner != path:
                self._table.replace(owner, self._table.records[owner].marked_for_reading())
        self._record_unfinished(path, ids)

    def _current_reading(self) -> _Reading | None:
        """Return the first file whose reader has not ended; None if there is none."""
        return next((reading for reading in self._readings if reading.end is None), None)

    def _record_reading(self, reading: _Reading) -> None:
        """Record a file whose reader has ended and whose documents are safe."""
        ids = list(dict.fromkeys(reading.ids))
        self._table.take_ownership(reading.path, ids)
        if reading.outcome is FileOutcome.READ:
            self._record_read(reading, ids)
        elif reading.outcome is FileOutcome.PARTLY_READ:
            self._record_partly_read(reading, ids)
        else:
            self._record_failed(reading, ids)

    def _record_read(self, reading: _Reading, ids: Sequence[str]) -> None:
        """Record a file that was read completely.

        Documents that the file held earlier and no longer holds are not its own any more: they become its stale ids.
        Other files that hold one of them are read again, so that the document is theirs.

        :param ids: the documents that it holds now, each once.
        """
        record = reading.record._replace(ids=tuple(ids))
        earlier = self._table.records.get(reading.path)
        if earlier is not None:
            present_ids = set(ids)
            earlier_ids = _join_unique(earlier.ids, earlier.stale_ids)
            stale_ids = tuple(doc_id for doc_id in earlier_ids if doc_id not in present_ids)
            record = record._replace(stale_ids=stale_ids, name=record.name or earlier.name)
        self._table.replace(reading.path, record)
        self._table.give_up_ownership(reading.path, record.stale_ids)
        self._mark_for_rereading(self._table.list_holders(record.stale_ids))

    def _record_partly_read(self, reading: _Reading, ids: Sequence[str]) -> None:
        """Record a file with rows, messages or members that could not be read.

        What it gave earlier may be among those, so that it gives up no document. It is read again when it has changed.

        :param ids: the documents that it gave now, each once.
        """
        earlier = self._table.records.get(reading.path)
        record = reading.record._replace(ids=tuple(ids))
        if earlier is not None:
            kept_ids = self._list_earlier_ids(reading.path, earlier)
            record = record._replace(ids=_join_unique(ids, kept_ids), name=record.name or earlier.name)
            self._table.take_ownership(reading.path, kept_ids)
            _warn_about_kept(reading.path, len(record.ids) - len(ids))
        self._table.replace(reading.path, record)

    def _list_earlier_ids(self, path: str, earlier: FileRecord) -> list[str]:
        """Return the documents that a file gave earlier, without those that another file owns now.

        :param earlier: the record of the file.
        """
        own_ids = []
        for doc_id in _join_unique(earlier.ids, earlier.stale_ids):
            owner = self._table.find_owner(doc_id)
            if owner is None or owner == path:
                own_ids.append(doc_id)
        return own_ids

    def _record_failed(self, reading: _Reading, ids: Sequence[str]) -> None:
        """Record a file that could not be read: it keeps its earlier documents and is tried again."""
        earlier = self._table.records.get(reading.path)
        if earlier is None and not ids:
            return
        record = earlier or reading.record
        self._table.replace(reading.path, record.marked_for_reading()._replace(ids=_join_unique(record.ids, ids)))

    def _record_unfinished(self, path: str, ids: Sequence[str]) -> None:
        """Record what a file has given so far. It is read again; the documents it had before stay until then."""
        earlier = self._table.records.get(path)
        if earlier is None and not ids:
            return
        record = earlier or FileRecord(*_READ_AGAIN, self._lang)
        new_ids = [doc_id for doc_id in ids if doc_id not in record.ids]
        stale_ids = _join_unique(record.stale_ids, new_ids)
        self._table.replace(path, record.marked_for_reading()._replace(stale_ids=stale_ids))


class RemovedFiles(NamedTuple):
    """The files that were observed to be removed, and those that may only be out of sight."""

    paths: list[str]
    withheld: dict[str, str]  # path -> folder that is missing, or empty as a whole


class _Sources:
    """What was seen of the files and folders that were read, to tell a removed file from one that can't be seen."""

    def __init__(self, present: set[str], unlisted_folders: Sequence[str], *, trust_empty: bool) -> None:
        """Note which folders have files.

        :param present: the paths of all files that were seen.
        :param unlisted_folders: folders whose contents could not be listed.
        :param trust_empty: count the files of a folder that has become empty as removed.
        """
        self._unlisted_folders, self._trust_empty = unlisted_folders, trust_empty
        self._filled_folders: set[str] = set()
        for path in present:
            folder = os.path.dirname(path)
            # Those above a noted folder are noted already, and the topmost folder is its own parent.
            while folder not in self._filled_folders and folder != os.path.dirname(folder):
                self._filled_folders.add(folder)
                folder = os.path.dirname(folder)

    def find_removed(self, paths: Iterable[str], roots: Sequence[str]) -> RemovedFiles:
        """Find the files that were observed to be removed, and those that may only be out of sight.

        :param paths: recorded files that were not seen.
        :param roots: the files and folders that were read; files outside them are left out.
        """
        full_roots = [os.path.abspath(root) for root in roots]
        removed_paths: list[str] = []
        doubtful_folders: dict[str, str] = {}  # by path
        for path in paths:
            root = _find_root(path, full_roots)
            if root is None or self._is_unlisted(path) or not _is_absent(path):
                continue
            doubtful_folder = self._find_doubtful_folder(path, root)
            if doubtful_folder is None:
                removed_paths.append(path)
            else:
                doubtful_folders[path] = doubtful_folder
        return RemovedFiles(removed_paths, doubtful_folders)

    def _is_unlisted(self, path: str) -> bool:
        """Tell whether a file is below a folder whose contents could not be listed."""
        return any(is_inside(path, folder) for folder in self._unlisted_folders)

    def _find_doubtful_folder(self, path: str, root: str) -> str | None:
        """Return the folder because of which an absent file may only be out of sight; None if it was surely removed.

        The folder is missing or empty, as one is that is not mounted.

        :param path: the path of the file.
        :param root: the file or folder that was read, in which it lies.
        """
        nearest_folder = _find_existing_folder(path)
        if path == root:  # a file that was given by itself: its folder must still be there, with something in it
            was_removed = nearest_folder == os.path.dirname(path) and any(os.scandir(nearest_folder))
        elif is_inside(nearest_folder, root):
            was_removed = self._trust_empty or nearest_folder in self._filled_folders
        else:
            return root  # it is missing as a whole
        return None if was_removed else nearest_folder


def _warn_about_kept(path: str, kept_count: int) -> None:
    """Warn that documents which a file gave before are kept because it was read in part; not if there are none."""
    if kept_count:
        message = f"{path}: parts of it can't be read, so {kept_count} documents it gave before are kept"
        warnings.warn(message, stacklevel=2)


def _warn_about_withheld(withheld: Mapping[str, str], records: Mapping[str, FileRecord]) -> None:
    """Warn about each folder below which documents were not pruned because it is missing or empty.

    :param withheld: the folder that is the reason, for each file that is not pruned.
    :param records: the records of files, by path.
    """
    counts: dict[str, int] = {}
    for path, folder in withheld.items():
        counts[folder] = counts.get(folder, 0) + len(records[path].ids)
    for folder, count in counts.items():
        if os.path.isdir(folder):
            message = f"{folder} has become empty: its {count} documents are kept; --prune-anyway removes them"
        else:
            message = f"{folder} is missing: its {count} documents are kept"
        warnings.warn(message, stacklevel=4)


def _read_json(store: AnyStore, blob: str) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((store.read_blob(blob) or b"{}").decode("utf-8", "surrogateescape"))
    return values


def _write_json(store: AnyStore, blob: str, value: Any) -> None:
    store.write_blob(blob, json.dumps(value).encode("utf-8", "surrogateescape"))


def _read_size_and_time(path: str) -> tuple[int, int] | None:
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_size, state.st_mtime_ns


def _find_root(path: str, roots: Sequence[str]) -> str | None:
    """Return the first of some files and folders that a path is, or lies in; None if there is none."""
    return next((root for root in roots if is_inside(path, root)), None)


def _is_absent(path: str) -> bool:
    """Decide whether the system says that there is no such file; any other error says nothing about it."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _move_path(path: str, old_folder: str, new_folder: str) -> str:
    """Return where a file of a folder is when the folder has moved."""
    return os.path.join(new_folder, os.path.relpath(path, old_folder))


def _find_existing_folder(path: str) -> str:
    """Return the nearest folder above a path that exists."""
    folder = os.path.dirname(path)
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder


def _is_same_file(path: str, other: str) -> bool:
    """Decide whether two paths lead to one file, for example through a link."""
    return os.path.realpath(path) == os.path.realpath(other)


def _make_printable(path: str) -> str:
    """Return a path as text, with the bytes of a name that is not UTF-8 written out."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _join_unique(ids: Iterable[str], more_ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*ids, *more_ids]))
