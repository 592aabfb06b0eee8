"""Which vectors a collection stores, with which precision, and how a server places it. Independent of the engine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from paragloss.errors import StoreError

FORMAT = 1
#: Precisions of stored dense vectors. int8 searches quantized copies and rescores the candidates by float32 vectors.
PRECISIONS = ("float32", "float16", "int8")
_MAX_DIMENSION = 65536
_VALID_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Placement(NamedTuple):
    """How a server stores a collection.

    :param shards: the number of shards.
    :param replicas: copies of each shard; 0 means three, or as many as there are nodes if that is fewer.
    :param on_disk: whether vectors and their indexes stay on disk instead of in memory.
    """

    shards: int = 1
    replicas: int = 0
    on_disk: bool = False


class VectorSchema(NamedTuple):
    """The named vectors that a collection stores.

    :param dense: dimensions of the dense vectors, by name.
    :param sparse: names of the sparse vectors.
    :param multivectors: names of those dense vectors of which a document may have any number; its best one counts.
    :param precision: precision of a dense vector, by name, where it is not float32.
    """

    dense: dict[str, int]
    sparse: tuple[str, ...]
    multivectors: tuple[str, ...] = ()
    precision: Mapping[str, str] = MappingProxyType({})

    @classmethod
    def build(
        cls,
        dense: Mapping[str, int],
        sparse: Sequence[str],
        multivectors: Iterable[str] = (),
        precision: Mapping[str, str] = MappingProxyType({}),
    ) -> VectorSchema:
        """Check the parts of a schema and build it.

        :param dense: dimensions of the dense vectors, by name.
        :param sparse: names of the sparse vectors.
        :param multivectors: names of dense vectors of which a document may have any number.
        :param precision: float32, float16 or int8, by name.
        :raises StoreError: a name is invalid or used twice, or a dimension or precision is not supported.
        """
        _check_vector_names(dense, sparse)
        for name, dim in dense.items():
            if not 1 <= dim <= _MAX_DIMENSION:
                raise StoreError(f"vector {name!r} can't have {dim} dimensions: 1 to {_MAX_DIMENSION} can be kept")
        for name, value in precision.items():
            if value not in PRECISIONS:
                raise StoreError(f"vectors {name!r} can't be kept as {value!r}; there are {', '.join(PRECISIONS)}")
        reduced_precision = {name: value for name, value in precision.items() if value != PRECISIONS[0]}
        return cls(dict(dense), tuple(sparse), tuple(multivectors), reduced_precision)

    def add_dense(self, name: str, dim: int, *, multivector: bool, precision: str) -> VectorSchema:
        """Return a copy of this schema with one more dense vector."""
        if name in self.dense:
            raise StoreError(f"this collection already keeps a vector {name!r}: choose another name")
        multivectors = (*self.multivectors, name) if multivector else self.multivectors
        return VectorSchema.build(
            {**self.dense, name: dim}, self.sparse, multivectors, {**self.precision, name: precision}
        )

    def remove_dense(self, name: str) -> VectorSchema:
        """Return a copy of this schema without one of the dense vectors."""
        return VectorSchema(
            {other: dim for other, dim in self.dense.items() if other != name},
            self.sparse,
            tuple(other for other in self.multivectors if other != name),
            {other: value for other, value in self.precision.items() if other != name},
        )

    def as_json(self) -> dict[str, Any]:
        """Return the schema as it is written to disk, where `multivectors` is called "several"."""
        return {
            "format": FORMAT,
            "dense": self.dense,
            "sparse": list(self.sparse),
            "several": list(self.multivectors),
            "precision": dict(self.precision),
        }

    @classmethod
    def from_json(cls, meta: Mapping[str, Any]) -> VectorSchema:
        """Read a schema that `as_json` wrote."""
        multivectors, precision = tuple(meta.get("several", ())), dict(meta.get("precision", {}))
        return cls(dict(meta["dense"]), tuple(meta["sparse"]), multivectors, precision)

    def select_names(self, vectors: bool | Sequence[str]) -> list[str]:
        """Return the vector names that a request asks for: all of them, none, or those listed."""
        if isinstance(vectors, bool):
            return [*self.dense, *self.sparse] if vectors else []
        return [self.check_vector(name) for name in vectors]

    def check_vector(self, name: str) -> str:
        """Return the name if the collection has such a vector; raise StoreError otherwise."""
        if name not in self.dense and name not in self.sparse:
            available = ", ".join([*self.dense, *self.sparse]) or "none"
            raise StoreError(f"this collection keeps no vector {name!r}; it has {available}")
        return name


def check_name(name: str, kind: str) -> str:
    """Return the name of a vector, blob or collection if it is valid; raise StoreError otherwise.

    :param kind: what is named, for the error message.
    """
    if not _VALID_NAME.fullmatch(name):
        raise StoreError(f"a {kind} can't be called {name!r}: use up to 100 letters, digits, '.', '_' and '-'")
    return name


def _check_vector_names(dense: Iterable[str], sparse: Iterable[str]) -> None:
    """Raise StoreError if the name of a vector is invalid or used twice."""
    names = [*dense, *sparse]
    for name in names:
        check_name(name, "vector")
    if len(set(names)) < len(names):
        raise StoreError(f"every vector needs its own name, got dense {sorted(dense)} and sparse {sorted(sparse)}")
