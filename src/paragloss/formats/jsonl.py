"""JSON Lines: one document, query or translation per line, with the keys of `rows`.

What a line looks like: `{"id": "a1", "lang": "fr", "title": "...", "text": "...", "year": 1999}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any, NoReturn

from paragloss.errors import InputError
from paragloss.formats.rows import (
    ConceptText,
    format_document_row,
    group_by_concept,
    parse_concept_row,
    parse_document_row,
    parse_query_row,
)
from paragloss.formats.text import OnError, PathLike, file_stem, open_output, parse_lines
from paragloss.types import Concept, Document, Query


def read_jsonl_documents(path: PathLike, *, name: str = "", on_error: OnError = None) -> Iterator[Document]:
    """Yield a Document for each line; one without `id` and `concept` is named after its file, or `name`, and line."""
    name = name or file_stem(path)
    return parse_lines(
        path, lambda n, line: parse_document_row(parse_json_object(line), f"{name}:{n}"), on_error=on_error
    )


def read_jsonl_queries(path: PathLike) -> Iterator[Query]:
    """Yield a Query for each line: `id`, `text` and perhaps `lang`."""
    name = file_stem(path)
    return parse_lines(path, lambda n, line: parse_query_row(parse_json_object(line), f"{name}:{n}"))


def read_jsonl_concept_texts(path: PathLike, *, on_error: OnError = None) -> Iterator[ConceptText]:
    """Yield the texts of concepts: `concept`, `lang`, `title`, `text`; or `concept` and `texts` by language."""
    for concept_texts in parse_lines(
        path, lambda _, line: parse_concept_row(parse_json_object(line)), on_error=on_error
    ):
        yield from concept_texts


def read_concepts(paths: Iterable[PathLike], *, on_error: OnError = None) -> list[Concept]:
    """Return the concepts of all files, for example of one file per language."""
    return group_by_concept(part for path in paths for part in read_jsonl_concept_texts(path, on_error=on_error))


def write_jsonl_documents(path: PathLike, documents: Iterable[Document]) -> int:
    """Write a line for each document; return their number."""
    return _write_lines(path, (format_document_row(doc) for doc in documents))


def write_jsonl_queries(path: PathLike, queries: Iterable[Query]) -> int:
    """Write a line for each query; return their number. Clauses are not written: they are made again."""
    return _write_lines(path, ({"id": q.id, "lang": q.lang, "text": q.text} for q in queries))


def parse_json_object(line: str) -> dict[str, Any]:
    """Parse a line that holds one JSON object.

    :return: the object's values by their keys
    :raises InputError: if the line is no JSON, not an object, or has a value that can't be stored: half of a surrogate
        pair, a number that is not finite, a whole number of more than 64 bits
    """
    try:
        value = _decode_encodable_value(line)
    except UnicodeEncodeError as error:
        message = "half of a surrogate pair (\\ud800 to \\udfff) stands alone; write the character out"
        raise InputError(message) from error
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON at column {error.colno} ({error.msg}); write one whole object per line") from error
    except (ValueError, RecursionError) as error:
        message = f"not usable JSON ({error}); write one flat object per line, long numbers in quotes"
        raise InputError(message) from error
    if not isinstance(value, dict):
        raise InputError(f'a JSON {type(value).__name__}, not an object; write {{"id": ..., "text": ...}} on each line')
    return value


def _decode_encodable_value(line: str) -> Any:
    """Decode a line of JSON; raise UnicodeEncodeError if an escape in it spells half of a surrogate pair."""
    value = _DECODER.decode(line)
    if "\\u" in line:  # a text without escapes has no such half
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _parse_float(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):
        raise ValueError(f"{digits[:20]} is too large for a number")
    return value


def _parse_int(digits: str) -> int:
    value = int(digits) if len(digits) <= 20 else 2**63
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{digits[:20]} is a whole number of more than 64 bits, which can't be kept")
    return value


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_parse_float, parse_int=_parse_int)


def _write_lines(path: PathLike, objects: Iterable[Mapping[str, Any]]) -> int:
    count = 0
    with open_output(path) as out:
        for row in objects:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count
