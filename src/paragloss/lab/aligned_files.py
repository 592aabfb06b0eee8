"""The front door to aligned texts: many files, each read by what its name says, joined by concept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from paragloss.errors import InputError
from paragloss.formats import csv, jsonl
from paragloss.formats.rows import Part, group
from paragloss.formats.text import OnError, PathLike, suffix
from paragloss.lab import bitext
from paragloss.types import Concept

_SUPPORTED = (
    ".jsonl (concept, lang, title, text), .csv and .tsv with such a header, xx-yy.tsv (sentence pairs); also .gz"
)


def read_aligned(paths: Iterable[PathLike] | PathLike, *, on_error: OnError = None) -> list[Concept]:
    """Concepts from files, or from folders of them. A concept in one language only is kept: it still counts words."""
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    return group(part for path in given for file in _files(Path(path)) for part in read_parts(file, on_error=on_error))


def read_parts(path: PathLike, *, on_error: OnError = None) -> Iterator[Part]:
    """What one file says of its concepts."""
    kind = suffix(path)
    if kind in (".jsonl", ".ndjson", ".json"):
        return jsonl.read_parts(path, on_error=on_error)
    if kind == ".tsv" and bitext.languages(path) is not None:
        return bitext.read_parts(path, on_error=on_error)
    if kind in (".csv", ".tsv"):
        return csv.read_parts(path, on_error=on_error)
    raise InputError(f"no format for aligned texts ends in {kind!r}; supported: {_SUPPORTED}", place=path)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = [
        file
        for file in sorted(path.iterdir())
        if file.is_file()
        and (suffix(file) in (".jsonl", ".ndjson") or (suffix(file) == ".tsv" and bitext.languages(file)))
    ]
    if not found:
        raise InputError(f"no aligned texts in this folder; supported: {_SUPPORTED}", place=path)
    return found
