"""Named bytes (blobs) in the files of a folder. Knows nothing of documents."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from paragloss.atomic_files import write_file_atomically
from paragloss.errors import StoreError
from paragloss.stores._schema import check_name


class PublishedBlob(NamedTuple):
    """What other processes read in place of a blob's file while this process has the folder open."""

    get_version: Callable[[], str]
    get_data: Callable[[], bytes]


class BlobFiles:
    """The blobs of a folder that this process has locked.

    `session_id` is different whenever the folder is opened. It is part of the versions that other processes see, so
    versions of two sessions are never mistaken for each other.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._write_counts: Counter[str] = Counter()
        self._published: dict[str, PublishedBlob] = {}
        self.session_id = uuid.uuid4().hex

    def read(self, name: str) -> bytes | None:
        """Return a blob's bytes; None if there is no such blob."""
        try:
            return (self._folder / check_name(name, "blob")).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        """Replace a blob atomically and durably."""
        try:
            write_file_atomically(self._folder / check_name(name, "blob"), data)
        except OSError as error:
            collection = self._folder.parent
            raise StoreError(f"{collection} could not be written ({error.strerror}); nothing is harmed") from None
        self._write_counts[name] += 1

    def list_versions(self) -> dict[str, str]:
        """Return all blobs' names, each with a version that changes when this process writes it."""
        names = sorted(path.name for path in self._folder.iterdir() if not path.name.startswith("."))
        return {name: str(self._write_counts[name]) for name in names}

    def publish(self, name: str, get_version: Callable[[], str], get_data: Callable[[], bytes]) -> None:
        """Let other processes read what `get_data` returns in place of a blob's file."""
        self._published[name] = PublishedBlob(get_version, get_data)

    def read_published(self, name: str) -> bytes | None:
        """Return a blob's bytes, or what is published in its place."""
        return self._published[name].get_data() if name in self._published else self.read(name)

    def get_published_version(self, name: str) -> str:
        """Return a version that changes whenever the blob, or what is published in its place, changes."""
        version = self._published[name].get_version() if name in self._published else self._write_counts[name]
        return f"{self.session_id}:{version}"

    def get_change_markers(self, name: str) -> tuple[str, str]:
        """Return two texts: one changes when the named blob changes, the other when any other blob does."""
        counts = list(self._write_counts.items())  # a copy: another thread may be writing
        other_counts = sorted((other, count) for other, count in counts if other != name)
        return self.get_published_version(name), json.dumps(other_counts)
