"""What both stores agree on: how a document becomes a point, and what a filter means.

Knows nothing of either engine.
"""

from __future__ import annotations

import base64
import json
import os
import re
import time
import zlib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np

from paragloss.errors import StoreError
from paragloss.formats.numbers import EPOCH_DAY, get_document_day, parse_number
from paragloss.types import Document, Floats, Range, Record, SparseRows, SparseVector, Where

#: Documents sent to the engine at a time.
BATCH = 1000
#: How many equal scores at the edge of a ranking are looked at to settle it by id.
MOST_TIES = 10_000
#: How many candidates a walk through the graph keeps, without and with a filter, which thins the graph out. Recall@10
#: on 36,000 documents of 300 dimensions: 1.0 at 1.5 ms and, keeping a third, 0.998 at 1.3 ms; with the engine's own
#: 100 it was 0.99 and 0.86.
BREADTH, BREADTH_FILTERED = 256, 512

#: How many times as many candidates a search through coarse copies, or a graph walked by them, looks at again.
OVERSAMPLING = 2.0
#: Reading the fields of so many documents takes some milliseconds: with more they are indexed, so many keys of a
#: collection at most. An index takes ten files and five megabytes.
SCANNED, INDEXED = 1000, 24
#: What can be filtered by beside fields: when a document was added, when it is from, its file's kind and folder.
ADDED, DATED, OF_FILES = "added", "dated", ("kind", "folder")
#: What is read of a document when its text is not wanted.
BARE = ("id", "lang", "title", "meta")
#: What stands for a filter that no document can meet.
NOTHING = object()

K = TypeVar("K")
T = TypeVar("T")

_QUOTES = frozenset('"\\')
_as_json = json.JSONEncoder(sort_keys=True).encode


def point_id(document: str) -> str:
    """A document's id as a UUID without dashes. 128 hashed bits: two of 10^12 documents collide with odds of 10^-15."""
    return blake2b(document.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def point_number(document: str) -> int:
    """The same in 64 bits, where whoever writes notices two documents with one number: among 10^7 the odds are 10^-6.
    The embedded engine hands numbers out ten times as fast as UUIDs."""
    return int.from_bytes(blake2b(document.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def payload(record: Record) -> dict[str, Any]:
    """What is kept beside the vectors; empty parts take no room."""
    document = record.document
    kept: dict[str, Any] = {"id": document.id, "lang": document.lang, "text": document.text}
    if document.title:
        kept["title"] = document.title
    if document.fields:
        kept["fields"] = dict(document.fields)
    kept["numbers"] = {ADDED: time.time() / 86400 + EPOCH_DAY}
    if (day := get_document_day(document.meta)) is not None:
        kept["numbers"][DATED] = day
    kept["flags"] = [f"{name}=" for name in kept["numbers"]]
    if document.meta:
        kept["meta"] = dict(document.meta)
        # The embedded engine reads a truth value in a filter as a number, so truths are also kept as words; and every
        # field is, so that one that no document has is known at once.
        truths = [_flag(name, value) for name, value in document.meta.items() if isinstance(value, bool)]
        kept["flags"] += [*truths, *(f"{name}=" for name in document.meta), *_file(document.meta.get("path"))]
        # Ranges are asked of numbers, also of those that a table holds as text.
        kept["numbers"] |= {
            name: found for name, value in document.meta.items() if (found := _numbers(value)) not in (None, [])
        }
    if record.packed_tokens:
        kept["cut"] = base64.b64encode(record.packed_tokens).decode()
    if record.signature:
        kept["signature"] = base64.b64encode(record.signature).decode()
    kept["sum"] = _sum(document)
    return kept


def _file(path: object) -> list[str]:
    """Of a document of a file its kind and folder, to be asked for like fields."""
    if not isinstance(path, str):
        return []
    folder, name = os.path.split(path)
    kind = os.path.splitext(name)[1][1:].lower()
    return [
        flag
        for field, value in zip(OF_FILES, (kind, folder), strict=True)
        if value
        for flag in (f"{field}=", f"file:{field}={value}")
    ]


def document(payload: Mapping[str, Any]) -> Document:
    found = Document(
        payload["id"],
        payload.get("text", ""),
        payload["lang"],
        payload.get("title", ""),
        payload.get("fields") or {},
        payload.get("meta") or {},
    )
    if "sum" in payload and payload["sum"] != _sum(found):
        raise StoreError(f"document {found.id!r} is damaged: index it again")
    return found


def _sum(document: Document) -> int:
    """A checksum of everything a document says, whatever the order of its names and the kind of its numbers."""
    parts = [document.id, document.lang, document.title, document.text]
    parts += [part for pair in sorted(document.fields.items()) for part in pair]
    told = _as_json(_plain(dict(document.meta))) if document.meta else ""
    return zlib.crc32("\0".join([*parts, told]).encode())


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


class Match(NamedTuple):
    """A payload key and the values it may have: all of them texts, or all of them whole numbers."""

    key: str
    values: list[str] | list[int]


class Between(NamedTuple):
    """A payload key and the range its number may be in."""

    key: str
    range: Range


def keys(documents: Iterable[Document]) -> dict[str, str]:
    """The payload keys by which these documents can be filtered, each with the kind of index it wants."""
    found: dict[str, str] = {}
    for document in documents:
        for name, value in document.meta.items():
            first = value[0] if isinstance(value, list) and value else value
            kind = "keyword" if isinstance(first, str) else "integer" if type(first) is int else ""
            if kind and not _QUOTES & set(name):
                found.setdefault(_path(f"meta.{name}"), kind)
            if not _QUOTES & set(name) and _numbers(value) not in (None, []):
                found.setdefault(_path(f"numbers.{name}"), "float")
    return found


def conditions(where: Where | None, indexed: Container[str]) -> list[list[Match | Between]] | None:
    """A filter as groups of matches: one of every group must hold. None when nothing can match. A
    field that is not among those `indexed` is read of those documents only whose flags say that they have it."""
    groups: list[list[Match | Between]] = []
    for field, values in (where or {}).items():
        if field != "lang" and not field.startswith("meta."):
            raise StoreError(f"can't filter by {field!r}: 'lang' and 'meta.NAME' can be filtered")
        if isinstance(values, str | int | float | bool | Range):
            raise StoreError(f"the filter on {field!r} needs a list of allowed values, got {values!r}")
        truths = [_flag(field[5:], value) for value in values if isinstance(value, bool)]
        texts = [value for value in values if isinstance(value, str)]
        numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
        exact = [Match("flags", truths), Match(_path(field), texts), Match(_path(field), numbers)]
        if field[5:] in OF_FILES:
            exact.append(Match("flags", [f"file:{field[5:]}={value}" for value in texts]))
        ranges = [Range(value, value) for value in values if isinstance(value, float)]
        ranges += [value for value in values if isinstance(value, Range)]
        sized = "numbers" + _path(field)[4:]
        groups.append([*(match for match in exact if match.values), *(Between(sized, each) for each in ranges)])
        if any(match.key not in indexed for match in groups[-1]):
            groups.append([Match("flags", [f"{field[5:]}="])])
    return groups if all(groups) else None


def limits(wanted: Range) -> dict[str, float]:
    """A range in the engines' words."""
    ends = {"gt" if wanted.low_open else "gte": wanted.low, "lt" if wanted.high_open else "lte": wanted.high}
    return {word: end for word, end in ends.items() if end is not None}


def _numbers(value: Any) -> float | list[float] | None:
    if isinstance(value, list):
        return [found for item in value if (found := parse_number(item)) is not None]
    return parse_number(value)


def _flag(name: str, value: bool) -> str:
    return f"{name}={str(value).lower()}"


def _path(field: str) -> str:
    """A payload key as the engine's JSON path: a name that is not a plain word is quoted."""
    head, dot, name = field.partition(".")
    if _QUOTES & set(name):
        raise StoreError(f"can't filter by {field!r}: quotes and backslashes can't stand in a filtered name")
    return field if not dot or re.fullmatch(r"[A-Za-z0-9_]+", name) else f'{head}."{name}"'


def settle(
    fetch: Callable[[list[int], int], Iterable[tuple[list[K], list[float]]]],
    queries: int,
    k: int,
    *,
    choose: Callable[[list[K], list[float], int], list[T]],
) -> list[list[T]]:
    """The k best of what was found for each query, as `choose` settles ties, though the engine breaks them as it likes.

    `fetch(which, limit)` answers some of the queries: keys and their scores, best first. A query whose equal scores run
    past what was fetched is asked again for more, up to MOST_TIES.
    """
    rankings: list[list[T]] = [[] for _ in range(queries)]
    which, limit = list(range(queries)), k + 8
    while which and k > 0:
        again = []
        for query, (keys, scores) in zip(which, fetch(which, limit), strict=True):
            rankings[query] = choose(keys, scores, k)
            if len(keys) == limit and scores[-1] == scores[k - 1] and limit < k + MOST_TIES:
                again.append(query)
        which, limit = again, min(limit * 8, k + MOST_TIES)
    return rankings


def sparse(indices: Sequence[int], values: Sequence[float]) -> SparseVector:
    """The engine may hand entries out in any order; ours ascend."""
    ids, weights = np.fromiter(indices, np.uint32, len(indices)), np.fromiter(values, np.float32, len(values))
    if len(ids) > 1 and (ids[1:] <= ids[:-1]).any():
        order = np.argsort(ids)
        ids, weights = ids[order], weights[order]
    return SparseVector(ids, weights)


def packed(vectors: Sequence[tuple[Any, Any]]) -> SparseRows:
    """Many of an engine's sparse vectors, one after the other, each ascending."""
    sizes = np.array([len(indices) for indices, _ in vectors], np.int64)
    total = int(sizes.sum())
    ids = np.fromiter(chain.from_iterable(indices for indices, _ in vectors), np.uint32, total)
    values = np.fromiter(chain.from_iterable(values for _, values in vectors), np.float32, total)
    keys = np.repeat(np.arange(len(sizes)), sizes) << 32 | ids
    if total > 1 and (keys[1:] <= keys[:-1]).any():
        order = np.argsort(keys)
        ids, values = ids[order], values[order]
    return SparseRows(sizes, ids, values)


def record(
    payload: Mapping[str, Any],
    dense: Mapping[str, Sequence[float]],
    sparse_: Mapping[str, tuple[Sequence[int], Sequence[float]]],
) -> Record:
    rows: dict[str, Floats] = {name: np.array(row, np.float32) for name, row in dense.items()}
    packed_tokens, signature = (base64.b64decode(payload.get(key, "")) for key in ("cut", "signature"))
    sparse_vectors = {name: sparse(*pair) for name, pair in sparse_.items()}
    return Record(document(payload), rows, sparse_vectors, packed_tokens, signature)
