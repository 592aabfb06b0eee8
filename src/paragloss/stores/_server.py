"""How a Qdrant server is spoken to: names, what one request carries, vectors and conditions in its words."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from paragloss.errors import MissingExtraError
from paragloss.stores._points import BATCH, Between, Match, limits
from paragloss.stores._shape import Shape
from paragloss.types import Record

_REQUEST = 8_000_000  # estimated bytes of a batch of documents: a server takes requests of up to 32 MB


def connect(url: str, timeout: int) -> Any:
    try:
        from qdrant_client import QdrantClient
    except ImportError:
        raise MissingExtraError("a collection on a server", "cluster") from None
    # Only long-standing calls are used, so the client need not be of the server's own version.
    return QdrantClient(url=url, api_key=os.environ.get("QDRANT_API_KEY"), timeout=timeout, check_compatibility=False)


def meant(client: Any, name: str) -> str:
    """The collection that a name means: itself, or what it is an alias of. Found out once, when it is opened: models
    and vectors then stay those of one collection, whatever the alias means later."""
    try:
        found = client.get_aliases().aliases
    except Exception:
        return name  # what is asked next says what is wrong
    return next((alias.collection_name for alias in found if alias.alias_name == name), name)


def batches(records: Sequence[Record]) -> Iterator[list[Record]]:
    """As many documents at a time as one request may carry."""
    batch: list[Record] = []
    size = 0
    for record in records:
        document = record.document
        size += 4 * (len(document.text) + len(document.title) + sum(map(len, document.fields.values())))
        size += 24 * sum(row.size for row in record.dense.values())
        size += 32 * sum(len(vector.indices) for vector in record.sparse.values())
        if batch and (size > _REQUEST or len(batch) == BATCH):
            yield batch
            batch, size = [], 0
        batch.append(record)
    if batch:
        yield batch


def params(shape: Shape, name: str, *, on_disk: bool = False) -> dict[str, Any]:
    """How the server keeps a dense vector. Coarse copies stay in memory, what they stand for on disk."""
    from qdrant_client import models

    int8 = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
    coarse = models.ScalarQuantization(scalar=int8) if shape.precision.get(name) == "int8" else None
    best = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
    half = models.Datatype.FLOAT16 if shape.precision.get(name) == "float16" else None
    kept = {"size": shape.dense[name], "distance": models.Distance.DOT, "on_disk": True if coarse or on_disk else None}
    given = {"multivector_config": best if name in shape.several else None, "datatype": half}
    return kept | given | {"quantization_config": coarse}


def condition(match: Match | Between) -> Any:
    from qdrant_client import models

    if isinstance(match, Between):
        return models.FieldCondition(key=match.key, range=models.Range(**limits(match.range)))
    return models.FieldCondition(key=match.key, match=models.MatchAny(any=match.values))
