"""Read queries and judgments of any supported file or `irds:DATASET`; the format is told by suffix or beginning."""

from __future__ import annotations

from collections.abc import Iterator

from paragloss.errors import InputError
from paragloss.formats import csv, irds, jsonl, lsclir, trec
from paragloss.formats.text import PathLike, format_suffix, read_lines
from paragloss.types import Qrels, Query

_SUPPORTED = ".jsonl, .csv and .tsv with a header, TREC topics, LS-CLIR .queries, irds:DATASET"


def read_queries(path: PathLike) -> Iterator[Query]:
    """Read the queries of a file, or of a collection of ir_datasets.

    :param path: a file, whose format its suffix or its first line tells, or `irds:DATASET`
    :return: the queries in their order, read as they are asked for
    :raises InputError: if neither the suffix nor the first line tells the format
    """
    if str(path).startswith(irds.IRDS_PREFIX):
        return irds.read_irds_queries(str(path))
    kind = format_suffix(path)
    first_line = next((line.strip() for _, line in read_lines(path) if line.strip()), "")
    if kind in (".csv", ".tsv"):
        return csv.read_csv_queries(path)
    if kind == ".queries":
        return lsclir.read_lsclir_queries(path)
    if kind in (".jsonl", ".ndjson") or first_line.startswith("{"):
        return jsonl.read_jsonl_queries(path)
    if first_line.startswith("<"):
        return trec.read_topics(path)
    message = f"neither its suffix {kind!r} nor its beginning tells its format; supported: {_SUPPORTED}"
    raise InputError(message, location=path)


def read_qrels(path: PathLike) -> Qrels:
    """Read the grades of a TREC file, an LS-CLIR `.rel` file or a collection of ir_datasets."""
    if str(path).startswith(irds.IRDS_PREFIX):
        return irds.read_irds_qrels(str(path))
    if format_suffix(path) == ".rel":
        return lsclir.read_lsclir_qrels(path)
    return trec.read_trec_qrels(path)
