"""Read aligned texts from files of several formats and join them by concept.

Sentence pairs are files such as `en-de.tsv`, one pair per line, its two columns in the languages the file is named
after.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from paragloss.errors import InputError
from paragloss.formats import csv, jsonl
from paragloss.formats.rows import ConceptText, group_by_concept
from paragloss.formats.text import (
    OnError,
    PathLike,
    file_stem,
    format_suffix,
    parse_language_code,
    parse_lines,
)
from paragloss.types import Concept

_PAIR = re.compile(r"(?:.*\.)?([a-zA-Z]{2,3}(?:_[A-Za-z0-9]+)*)-([a-zA-Z]{2,3}(?:[-_][A-Za-z0-9]+)*)")
_SUPPORTED = (
    ".jsonl (concept, lang, title, text), .csv and .tsv with such a header, xx-yy.tsv (sentence pairs); also .gz"
)


def read_aligned(paths: Iterable[PathLike] | PathLike, *, on_error: OnError = None) -> list[Concept]:
    """Read concepts from files, or from folders of them. A concept in one language is kept: it counts words."""
    all_paths = [paths] if isinstance(paths, str | Path) else list(paths)
    return group_by_concept(_read_all_texts(all_paths, on_error))


def _read_all_texts(paths: Iterable[PathLike], on_error: OnError) -> Iterator[ConceptText]:
    """Yield the texts of concepts from all files, and files of folders, one after the other."""
    for path in paths:
        for file in _list_files(Path(path)):
            yield from _read_file(file, on_error)


def _read_file(path: Path, on_error: OnError) -> Iterator[ConceptText]:
    """Read the texts of concepts from one file, whose format its name tells."""
    kind, langs = format_suffix(path), parse_language_pair(path)
    if kind in (".jsonl", ".ndjson", ".json"):
        return jsonl.read_jsonl_concept_texts(path, on_error=on_error)
    if kind == ".tsv" and langs is not None:
        return _read_sentence_pairs(path, langs, on_error)
    if kind in (".csv", ".tsv"):
        return csv.read_csv_concept_texts(path, on_error=on_error)
    raise InputError(f"no format for aligned texts ends in {kind!r}; supported: {_SUPPORTED}", location=path)


def _list_files(path: Path) -> list[Path]:
    """List the files of a folder that hold aligned texts; a file stands for itself.

    :raises InputError: if the folder has none
    """
    if not path.is_dir():
        return [path]
    files = [file for file in sorted(path.iterdir()) if file.is_file() and _holds_aligned_texts(file)]
    if not files:
        raise InputError(f"no aligned texts in this folder; supported: {_SUPPORTED}", location=path)
    return files


def _holds_aligned_texts(file: Path) -> bool:
    """Tell by its name whether a file of a folder holds aligned texts; .tsv files must be named after languages."""
    kind = format_suffix(file)
    return kind in (".jsonl", ".ndjson") or (kind == ".tsv" and parse_language_pair(file) is not None)


def parse_language_pair(path: PathLike) -> tuple[str, str] | None:
    """Return the pair of languages a file is named after, (en, de) for `news.en-de.tsv.gz`; None if there is none."""
    match = _PAIR.fullmatch(file_stem(path))
    return (match[1], match[2]) if match else None


def read_text_pairs(path: PathLike, *, on_error: OnError = None) -> Iterator[tuple[str, str]]:
    """Read the first two columns of every line."""
    return parse_lines(path, lambda _, line: _parse_pair(line), on_error=on_error)


def _read_sentence_pairs(path: Path, langs: tuple[str, str], on_error: OnError) -> Iterator[ConceptText]:
    """Read a file of sentence pairs; each pair is a concept named after folder, file and line: `tatoeba/en-de:12`.

    :param langs: languages of the two columns, as in the file's name
    :param on_error: called with the error of a line that can't be read; None raises it
    :return: two texts for each line
    """
    source, target = parse_language_code(langs[0]), parse_language_code(langs[1])
    name = f"{path.absolute().parent.name}/{file_stem(path)}"

    def parse(number: int, line: str) -> tuple[ConceptText, ConceptText]:
        left, right = _parse_pair(line)
        return ConceptText(f"{name}:{number}", source, left), ConceptText(f"{name}:{number}", target, right)

    for texts in parse_lines(path, parse, on_error=on_error):
        yield from texts


def _parse_pair(line: str) -> tuple[str, str]:
    columns = line.split("\t")
    if len(columns) < 2 or not columns[0].strip() or not columns[1].strip():
        raise InputError(f"a pair needs two texts with a tab between them; the line is {line[:60]!r}")
    return columns[0].strip(), columns[1].strip()
