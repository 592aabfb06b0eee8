"""Helpers for requests to a Qdrant server: connections, aliases, batches, vector parameters and conditions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from typing import Any

from paragloss.errors import MissingExtraError
from paragloss.stores import _limits
from paragloss.stores._filters import Condition, RangeCondition, get_range_bounds
from paragloss.stores._schema import VectorSchema
from paragloss.types import Record

#: Estimated bytes of a batch of documents, at most: a server accepts requests of up to 32 MB.
_MAX_BATCH_BYTES = 8_000_000
#: Estimated bytes of a character, of a dense value and of a sparse entry in a request.
_BYTES_PER_CHARACTER = 4
_BYTES_PER_DENSE_VALUE = 24
_BYTES_PER_SPARSE_ENTRY = 32
#: How often a request is sent that the server has not received.
_MAX_CALLS = 4


def connect(url: str, timeout: int) -> Any:
    """Return a client of the server; the API key comes from QDRANT_API_KEY.

    :param timeout: seconds after which a request fails.
    :raises MissingExtraError: qdrant-client is not installed.
    """
    try:
        from qdrant_client import QdrantClient
    except ImportError:
        raise MissingExtraError("a collection on a server", "cluster") from None
    # Only calls that have existed for long are used, so client and server may have different versions.
    return QdrantClient(url=url, api_key=os.environ.get("QDRANT_API_KEY"), timeout=timeout, check_compatibility=False)


def call_until_received(method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call a method of the client; repeat it if the server answers that no request has come (408).

    The server gives this answer if a connection is open for five seconds without a request, as on a machine with too
    much to do. It has done nothing then, so that writes may be repeated as well. The last call raises what it raises.
    """
    from qdrant_client.http.exceptions import UnexpectedResponse

    for _ in range(_MAX_CALLS - 1):
        try:
            return method(*arguments, **options)
        except UnexpectedResponse as error:
            if error.status_code != HTTPStatus.REQUEST_TIMEOUT:
                raise
    return method(*arguments, **options)


def resolve_alias(client: Any, name: str) -> str:
    """Return the collection that an alias stands for, or the name itself if it is no alias.

    An alias is resolved once, when it is opened, so that models and vectors stay those of one collection.
    """
    try:
        aliases = client.get_aliases().aliases
    except Exception:
        return name  # the next request reports what is wrong
    return next((alias.collection_name for alias in aliases if alias.alias_name == name), name)


def split_into_requests(records: Sequence[Record]) -> Iterator[list[Record]]:
    """Split records into batches that are small enough for one request to the server, in number and in bytes."""
    batch: list[Record] = []
    batch_bytes = 0
    for record in records:
        record_bytes = _estimate_bytes(record)
        is_full = len(batch) == _limits.WRITE_BATCH or batch_bytes + record_bytes > _MAX_BATCH_BYTES
        if batch and is_full:
            yield batch
            batch, batch_bytes = [], 0
        batch.append(record)
        batch_bytes += record_bytes
    if batch:
        yield batch


def make_vector_params(schema: VectorSchema, name: str, *, on_disk: bool = False) -> dict[str, Any]:
    """Return the arguments of the client's `VectorParams` for a dense vector of a schema.

    int8 vectors are quantized copies in memory of float32 vectors on disk.

    :param schema: has the vector's dimension and precision, and whether a document may have several.
    :param name: the name of the vector.
    :param on_disk: keep the vectors on disk.
    """
    from qdrant_client import models

    precision = schema.precision.get(name)
    quantization = None
    if precision == "int8":
        int8 = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
        quantization = models.ScalarQuantization(scalar=int8)
    multivector_config = None
    if name in schema.multivectors:
        multivector_config = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
    return {
        "size": schema.dense[name],
        "distance": models.Distance.DOT,
        "on_disk": True if quantization or on_disk else None,
        "multivector_config": multivector_config,
        "datatype": models.Datatype.FLOAT16 if precision == "float16" else None,
        "quantization_config": quantization,
    }


def make_server_condition(condition: Condition) -> Any:
    """Return a condition of a filter as the server takes it."""
    from qdrant_client import models

    if isinstance(condition, RangeCondition):
        bounds = models.Range(**get_range_bounds(condition.range))
        return models.FieldCondition(key=condition.key, range=bounds)
    return models.FieldCondition(key=condition.key, match=models.MatchAny(any=condition.values))


def _estimate_bytes(record: Record) -> int:
    """Estimate the bytes that a record takes in a request."""
    document = record.document
    n_characters = len(document.text) + len(document.title) + sum(map(len, document.fields.values()))
    n_dense_values = sum(row.size for row in record.dense.values())
    n_sparse_entries = sum(len(vector.indices) for vector in record.sparse.values())
    return (
        _BYTES_PER_CHARACTER * n_characters
        + _BYTES_PER_DENSE_VALUE * n_dense_values
        + _BYTES_PER_SPARSE_ENTRY * n_sparse_entries
    )
