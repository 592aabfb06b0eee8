"""Read queries and judgments of any supported file or `irds:DATASET`; the format is told by suffix or beginning."""

from __future__ import annotations

from collections.abc import Iterator

from paragloss.errors import InputError
from paragloss.formats import csv, irds, jsonl, lsclir, trec
from paragloss.formats.text import PathLike, format_suffix, read_lines
from paragloss.types import Qrels, Query

_SUPPORTED = ".jsonl, .csv and .tsv with a header, TREC topics, LS-CLIR .queries, irds:DATASET"


def read_queries(path: PathLike) -> Iterator[Query]:
    """Read the queries of a file or of a collection of ir_datasets."""
    if str(path).startswith(irds.IRDS_PREFIX):
        return irds.read_irds_queries(str(path))
    kind = format_suffix(path)
    first = next((line.strip() for _, line in read_lines(path) if line.strip()), "")
    if kind in (".csv", ".tsv"):
        return csv.read_csv_queries(path)
    if kind == ".queries":
        return lsclir.read_lsclir_queries(path)
    if kind in (".jsonl", ".ndjson") or first.startswith("{"):
        return jsonl.read_jsonl_queries(path)
    if first.startswith("<"):
        return trec.read_topics(path)
    raise InputError(
        f"neither its suffix {kind!r} nor its beginning tells its format; supported: {_SUPPORTED}", location=path
    )


def read_qrels(path: PathLike) -> Qrels:
    """Read the grades of a TREC file, an LS-CLIR `.rel` file or a collection of ir_datasets."""
    if str(path).startswith(irds.IRDS_PREFIX):
        return irds.read_irds_qrels(str(path))
    if format_suffix(path) == ".rel":
        return lsclir.read_lsclir_qrels(path)
    return trec.read_trec_qrels(path)
