"""Convert documents to engine points and back: point ids, payloads and sparse vectors. Independent of the engine."""

from __future__ import annotations

import base64
import json
import os
import time
import zlib
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np

from paragloss.errors import StoreError
from paragloss.formats.numbers import EPOCH_DAY, get_document_day, parse_number
from paragloss.groups import list_groups
from paragloss.types import Document, Floats, Record, SparseRows, SparseVector

#: Filterable numbers that every payload has: the days on which the document was added and from which it dates.
ADDED_DAY, DOCUMENT_DAY = "added", "dated"
#: Filterable properties of a document's file: its extension and its folder.
FILE_PROPERTIES = ("kind", "folder")
#: Payload keys that are read when a document's text is not needed.
KEYS_WITHOUT_TEXT = ("id", "lang", "title", "meta", "signature")
#: Payload keys that are left out where they have no value.
_OPTIONAL_KEYS = frozenset({"title", "fields", "meta", "cut", "signature"})
_SECONDS_PER_DAY = 86400

_encode_sorted_json = json.JSONEncoder(sort_keys=True).encode


def hash_to_uuid(document_id: str) -> str:
    """Return the point id of a document on a server: 128 hashed bits as a UUID without dashes.

    Among 10^12 documents two have the same with a probability of 10^-15.
    """
    return blake2b(document_id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def hash_to_uint64(document_id: str) -> int:
    """Return the point id of a document in the embedded engine: 64 hashed bits.

    Among 10^7 documents two have the same with a probability of 10^-6; whoever writes checks for that. The embedded
    engine returns numbers ten times as fast as UUIDs.
    """
    return int.from_bytes(blake2b(document_id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def build_payload(record: Record) -> dict[str, Any]:
    """Return what is stored beside the vectors of a record, by payload key; empty optional parts are left out.

    `numbers` and `flags` are what filters look at, `sum` is a checksum. `cut`, the packed tokens, has the name that
    stored collections have.
    """
    document = record.document
    dates = _collect_dates(document)
    payload = {
        "id": document.id,
        "lang": document.lang,
        "text": document.text,
        "title": document.title,
        "fields": dict(document.fields),
        "meta": dict(document.meta),
        "numbers": dates | _collect_numbers(document.meta),
        "flags": [*map(make_presence_flag, dates), *_collect_flags(document.meta)],
        "cut": base64.b64encode(record.packed_tokens).decode(),
        "signature": base64.b64encode(record.signature).decode(),
        "sum": _checksum_document(document),
    }
    return {key: value for key, value in payload.items() if value or key not in _OPTIONAL_KEYS}


def select_payload_keys(*, with_texts: bool) -> bool | list[str]:
    """Return the keys of payloads that an engine is asked for: True for all, or the list of those without texts."""
    if with_texts:
        return True
    return list(KEYS_WITHOUT_TEXT)


def parse_document(payload: Mapping[str, Any]) -> Document:
    """Return the document of a payload.

    :param payload: what `build_payload` returned. If it was read without texts, it has no checksum, and isn't checked.
    :raises StoreError: the checksum does not fit.
    """
    document = Document(
        payload["id"],
        payload.get("text", ""),
        payload["lang"],
        payload.get("title", ""),
        payload.get("fields") or {},
        payload.get("meta") or {},
    )
    if "sum" in payload and payload["sum"] != _checksum_document(document):
        raise StoreError(f"document {document.id!r} is damaged: index it again")
    return document


def parse_record(
    payload: Mapping[str, Any],
    dense: Mapping[str, Sequence[float]],
    sparse: Mapping[str, tuple[Sequence[int], Sequence[float]]],
) -> Record:
    """Return the record of a point of the engine.

    :param payload: what `build_payload` returned; texts and fields may be left out.
    :param dense: the point's dense vectors by name; a multivector is a list of rows.
    :param sparse: the point's sparse vectors by name, each as indices and values.
    """
    dense_vectors: dict[str, Floats] = {name: np.array(vector, np.float32) for name, vector in dense.items()}
    sparse_vectors = {name: to_engine_sparse_vector(indices, values) for name, (indices, values) in sparse.items()}
    packed_tokens = base64.b64decode(payload.get("cut", ""))  # the key that stored collections have
    signature = base64.b64decode(payload.get("signature", ""))
    return Record(parse_document(payload), dense_vectors, sparse_vectors, packed_tokens, signature)


def to_engine_sparse_vector(indices: Sequence[int], values: Sequence[float]) -> SparseVector:
    """Return an engine's sparse vector with ascending indices; engines return entries in any order."""
    ids = np.fromiter(indices, np.uint32, len(indices))
    weights = np.fromiter(values, np.float32, len(values))
    if len(ids) > 1 and (ids[1:] <= ids[:-1]).any():
        order = np.argsort(ids)
        ids, weights = ids[order], weights[order]
    return SparseVector(ids, weights)


def pack_sparse_rows(vectors: Sequence[tuple[Any, Any]]) -> SparseRows:
    """Join many of an engine's sparse vectors, given as indices and values, into flat arrays.

    The entries of a vector stand together and have ascending indices.
    """
    sizes = np.array([len(indices) for indices, _ in vectors], np.int64)  # (n_vectors,)
    n_entries = int(sizes.sum())
    ids = np.fromiter(chain.from_iterable(indices for indices, _ in vectors), np.uint32, n_entries)
    values = np.fromiter(chain.from_iterable(values for _, values in vectors), np.float32, n_entries)
    keys = list_groups(sizes) << 32 | ids  # sorts by vector, then by index
    if n_entries > 1 and (keys[1:] <= keys[:-1]).any():
        order = np.argsort(keys)
        ids, values = ids[order], values[order]
    return SparseRows(sizes, ids, values)


def parse_numbers(value: Any) -> float | list[float] | None:
    """Return a metadata value as a number, or a list as the numbers in it; None for a value that is no number."""
    if isinstance(value, list):
        numbers = [parse_number(item) for item in value]
        return [number for number in numbers if number is not None]
    return parse_number(value)


def make_boolean_flag(name: str, value: bool) -> str:
    """Return the flag that says that a metadata field has a truth value."""
    return f"{name}={str(value).lower()}"


def make_presence_flag(name: str) -> str:
    """Return the flag that says that a document has a metadata field."""
    return f"{name}="


def make_file_flag(name: str, value: str) -> str:
    """Return the flag that says which extension or folder a document's file has."""
    return f"file:{name}={value}"


def _collect_dates(document: Document) -> dict[str, float]:
    """Return the days on which a document is added and, where it is known, from which it dates."""
    dates = {ADDED_DAY: time.time() / _SECONDS_PER_DAY + EPOCH_DAY}
    document_day = get_document_day(document.meta)
    if document_day is not None:
        dates[DOCUMENT_DAY] = document_day
    return dates


def _collect_numbers(meta: Mapping[str, Any]) -> dict[str, float | list[float]]:
    """Return the metadata that ranges can filter: numbers, also those that a table holds as text."""
    numbers = {name: parse_numbers(value) for name, value in meta.items()}
    return {name: number for name, number in numbers.items() if number is not None and number != []}


def _collect_flags(meta: Mapping[str, Any]) -> list[str]:
    """Return words that stand for properties of the metadata in filters.

    The embedded engine reads a truth value in a filter as a number, so truth values are stored as words. Every field
    name is stored as a word, so that a field that no document has is recognized without reading documents.
    """
    truth_values = [make_boolean_flag(name, value) for name, value in meta.items() if isinstance(value, bool)]
    field_names = [make_presence_flag(name) for name in meta]
    return [*truth_values, *field_names, *_collect_file_flags(meta.get("path"))]


def _collect_file_flags(path: object) -> list[str]:
    """Return the flags for the extension and the folder of a document's file."""
    if not isinstance(path, str):
        return []
    folder, file_name = os.path.split(path)
    extension = os.path.splitext(file_name)[1][1:].lower()
    flags = []
    for name, value in zip(FILE_PROPERTIES, (extension, folder), strict=True):
        if value:
            flags += [make_presence_flag(name), make_file_flag(name, value)]
    return flags


def _checksum_document(document: Document) -> int:
    """Return a checksum of everything in a document, independent of the order of names and of int or float."""
    parts = [document.id, document.lang, document.title, document.text]
    for name, text in sorted(document.fields.items()):
        parts += [name, text]
    parts.append(_encode_sorted_json(_with_float_numbers(dict(document.meta))) if document.meta else "")
    return zlib.crc32("\0".join(parts).encode())


def _with_float_numbers(value: Any) -> Any:
    """Return a JSON value with all numbers as floats, all names as text and all sequences as lists."""
    if isinstance(value, dict):
        return {str(name): _with_float_numbers(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_float_numbers(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
