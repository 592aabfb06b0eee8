"""Keep what takes long to compute from the documents of a collection, from query to query."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

T = TypeVar("T")


class DocumentCache:
    """Values computed from the documents of a collection, by a key that names each.

    One rule: all values are dropped when the documents have another version. A value whose computation began before
    that is returned to whoever computed it and to nobody else.
    """

    def __init__(self, read_version: Callable[[], Hashable] = lambda: None) -> None:
        """Keep values as long as `read_version()` returns the same."""
        self._read_version = read_version
        self._version = read_version()
        self._values: dict[Hashable, Any] = {}

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value of a key, computed by `compute` if there is none; None is computed again."""
        version = self._read_version()
        if version != self._version:
            self._version, self._values = version, {}
        values = self._values
        if values.get(key) is None:
            values[key] = compute()
        return cast(T, values[key])

    def clear(self) -> None:
        """Drop all values, after a change of something other than documents: their vectors, or where they lie."""
        self._values = {}
