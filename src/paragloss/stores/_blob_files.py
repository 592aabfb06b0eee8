"""Bytes kept in the files of a folder, and what is published in their place while this process has the folder. Knows
nothing of documents."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from paragloss.errors import StoreError
from paragloss.stores._files import write_whole
from paragloss.stores._shape import named


class BlobFiles:
    """Named bytes. `token` is another one whenever the folder is opened."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._changes: Counter[str] = Counter()
        self._live: dict[str, tuple[Callable[[], str], Callable[[], bytes]]] = {}
        self.token = uuid.uuid4().hex

    def read(self, name: str) -> bytes | None:
        try:
            return (self._folder / named(name, "blob")).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        try:
            write_whole(self._folder / named(name, "blob"), data)
        except OSError as error:
            home = self._folder.parent
            raise StoreError(f"{home} could not be written ({error.strerror}); nothing is harmed") from None
        self._changes[name] += 1

    def versions(self) -> dict[str, str]:
        """All blobs, each with what changes when this process writes it."""
        names = sorted(path.name for path in self._folder.iterdir() if not path.name.startswith("."))
        return {name: str(self._changes[name]) for name in names}

    def publish(self, name: str, version: Callable[[], str], data: Callable[[], bytes]) -> None:
        self._live[name] = version, data

    def published(self, name: str) -> bytes | None:
        """A blob, or what is published in its place."""
        return self._live[name][1]() if name in self._live else self.read(name)

    def published_version(self, name: str) -> str:
        """Changes whenever the blob does, or what is published in its place."""
        return f"{self.token}:{self._live[name][0]() if name in self._live else self._changes[name]}"

    def state(self, blob: str) -> tuple[str, str]:
        """What changes with one blob, and what with any other."""
        others = sorted((name, count) for name, count in list(self._changes.items()) if name != blob)
        return self.published_version(blob), json.dumps(others)
