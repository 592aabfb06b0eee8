"""Which vectors a collection keeps, how finely, and how a server keeps it. Knows nothing of either engine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from paragloss.errors import StoreError

FORMAT = 1
#: How finely dense vectors can be kept. int8 searches coarse copies and scores what it finds by the whole.
PRECISIONS = ("float32", "float16", "int8")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Placement(NamedTuple):
    """How a server keeps a collection: in how many shards, how many times each (0: three times, or as often as there
    are nodes), and whether vectors and their indexes stay on disk."""

    shards: int = 1
    replicas: int = 0
    on_disk: bool = False


class Shape(NamedTuple):
    """Which vectors a collection keeps: dense ones with their dimension, sparse ones by name.

    Of those in `several` a document may have any number, the best of which counts; `precision` says how finely a dense
    vector is kept where that is not float32.
    """

    dense: dict[str, int]
    sparse: tuple[str, ...]
    several: tuple[str, ...] = ()
    precision: Mapping[str, str] = MappingProxyType({})

    @classmethod
    def of(
        cls,
        dense: Mapping[str, int],
        sparse: Sequence[str],
        several: Iterable[str] = (),
        precision: Mapping[str, str] = MappingProxyType({}),
    ) -> Shape:
        for name in (*dense, *sparse):
            named(name, "vector")
        if len({*dense, *sparse}) < len(dense) + len(sparse):
            raise StoreError(f"every vector needs its own name, got dense {sorted(dense)} and sparse {sorted(sparse)}")
        for name, dim in dense.items():
            if not 1 <= dim <= 65536:
                raise StoreError(f"vector {name!r} can't have {dim} dimensions: 1 to 65536 can be kept")
        for name, kept in precision.items():
            if kept not in PRECISIONS:
                raise StoreError(f"vectors {name!r} can't be kept as {kept!r}; there are {', '.join(PRECISIONS)}")
        fine = {name: kept for name, kept in precision.items() if kept != PRECISIONS[0]}
        return cls(dict(dense), tuple(sparse), tuple(several), fine)

    def with_dense(self, name: str, dim: int, *, several: bool, precision: str) -> Shape:
        """The same with room for one more."""
        if name in self.dense:
            raise StoreError(f"this collection already keeps a vector {name!r}: choose another name")
        more = (*self.several, name) if several else self.several
        return Shape.of({**self.dense, name: dim}, self.sparse, more, {**self.precision, name: precision})

    def without(self, name: str) -> Shape:
        """The same without one of the dense vectors."""
        return Shape(
            {other: dim for other, dim in self.dense.items() if other != name},
            self.sparse,
            tuple(other for other in self.several if other != name),
            {other: kept for other, kept in self.precision.items() if other != name},
        )

    def as_json(self) -> dict[str, Any]:
        described = {"format": FORMAT, "dense": self.dense, "sparse": list(self.sparse)}
        return described | {"several": list(self.several), "precision": dict(self.precision)}

    @classmethod
    def from_json(cls, meta: Mapping[str, Any]) -> Shape:
        several, precision = tuple(meta.get("several", ())), dict(meta.get("precision", {}))
        return cls(dict(meta["dense"]), tuple(meta["sparse"]), several, precision)

    def names(self, vectors: bool | Sequence[str]) -> list[str]:
        """The vectors asked for by `get` and `scroll`."""
        if isinstance(vectors, bool):
            return [*self.dense, *self.sparse] if vectors else []
        return [name for name in vectors if self.known(name)]

    def known(self, name: str) -> str:
        if name not in self.dense and name not in self.sparse:
            have = ", ".join([*self.dense, *self.sparse]) or "none"
            raise StoreError(f"this collection keeps no vector {name!r}; it has {have}")
        return name


def named(name: str, what: str) -> str:
    if not _NAME.fullmatch(name):
        raise StoreError(f"a {what} can't be called {name!r}: use up to 100 letters, digits, '.', '_' and '-'")
    return name
