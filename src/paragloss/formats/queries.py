"""The front door to queries and judgments: any supported file or `irds:DATASET`, by its suffix or its beginning."""

from __future__ import annotations

from collections.abc import Iterator

from paragloss.errors import InputError
from paragloss.formats import csv, irds, jsonl, lsclir, trec
from paragloss.formats.text import PathLike, lines, suffix
from paragloss.types import Qrels, Query

_SUPPORTED = ".jsonl, .csv and .tsv with a header, TREC topics, LS-CLIR .queries, irds:DATASET"


def read_queries(path: PathLike) -> Iterator[Query]:
    """Queries of a file or a collection."""
    if str(path).startswith(irds.PREFIX):
        return irds.read_queries(str(path))
    kind = suffix(path)
    first = next((line.strip() for _, line in lines(path) if line.strip()), "")
    if kind in (".csv", ".tsv"):
        return csv.read_queries(path)
    if kind == ".queries":
        return lsclir.read_queries(path)
    if kind in (".jsonl", ".ndjson") or first.startswith("{"):
        return jsonl.read_queries(path)
    if first.startswith("<"):
        return trec.read_topics(path)
    raise InputError(
        f"neither its suffix {kind!r} nor its beginning tells its format; supported: {_SUPPORTED}", place=path
    )


def read_qrels(path: PathLike) -> Qrels:
    """Grades of a TREC file, an LS-CLIR .rel file or a collection."""
    if str(path).startswith(irds.PREFIX):
        return irds.read_qrels(str(path))
    if suffix(path) == ".rel":
        return lsclir.read_rel(path)
    return trec.read_qrels(path)
