"""Links between Wikipedia's pages, from the SQL dumps of MediaWiki's tables: langlinks (the same page in another
language), pagelinks and linktarget (links within one). Read line by line, never run as SQL; titles have blanks for
underscores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from paragloss.errors import InputError
from paragloss.formats import wikipedia
from paragloss.formats.rows import ConceptText
from paragloss.formats.text import OnError, PathLike, read_lines
from paragloss.types import Document

Value: TypeAlias = str | int | None
#: One INSERT holds thousands of rows; mysqldump keeps it under its packet size.
_LINE = 256 * 2**20
_INSERT = re.compile(r"INSERT INTO `?(\w+)`? VALUES ")
_VALUE = re.compile(r"'((?:[^'\\]|\\.|'')*)'|(-?\d+)(?:\.\d+)?|NULL")
_ESCAPE = re.compile(r"\\(.)|''")
_ESCAPED = {"0": "\0", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}


def read_table(path: PathLike, table: str) -> Iterator[tuple[Value, ...]]:
    """Read the rows of one table of a dump."""
    other_table = ""
    for number, line in read_lines(path, limit=_LINE):
        insert = _INSERT.match(line)
        if insert is None:
            continue
        other_table = other_table or insert[1]
        if insert[1] == table:
            yield from _rows(line, insert.end(), f"{path}:{number}")
    if other_table and other_table != table:
        raise InputError(f"a dump of {other_table}, expected one of {table}", location=path)


def read_langlinks(path: PathLike) -> Iterator[tuple[int, str, str]]:
    """Read a page's number, a language, and the title of the same page in it."""
    for row in read_table(path, "langlinks"):
        if len(row) != 3 or not isinstance(row[0], int) or not row[1] or not row[2]:
            raise InputError(f"a row of {len(row)} columns; expected a page, a language and a title", location=path)
        yield row[0], str(row[1]), _title(row[2])


def read_pagelinks(path: PathLike, linktarget: PathLike | None = None) -> Iterator[tuple[int, str]]:
    """A page's number and the title it links to, articles only. Since 2024 dumps name targets by number: those of
    `linktarget` say which title that is."""
    targets: Mapping[Value, str] | None = None
    if linktarget is not None:
        target_rows = read_table(linktarget, "linktarget")
        targets = {row[0]: _title(row[2]) for row in target_rows if len(row) == 3 and row[1] == 0}
    for row in read_table(path, "pagelinks"):
        if len(row) == 3:  # pl_from, pl_from_namespace, pl_target_id
            if targets is None:
                raise InputError("targets are numbers; give the linktarget dump of the same day, too", location=path)
            title = targets.get(row[2]) if row[1] == 0 else None
        elif len(row) == 4:  # pl_from, pl_namespace, pl_title, pl_from_namespace
            title = _title(row[2]) if row[1] == 0 and row[3] == 0 else None
        else:
            raise InputError(f"rows of {len(row)} columns; pagelinks have 3, or before 2024 4", location=path)
        if title is not None and isinstance(row[0], int):
            yield row[0], title


def read_parts(
    dump: PathLike, langlinks: PathLike | None = None, *, hub: str = "en", lang: str = "", on_error: OnError = None
) -> Iterator[ConceptText]:
    """Articles by concept, for `rows.group` to join with other languages' dumps. A concept is called after its page in
    the hub's language: by `langlinks` of this dump, or, in the hub's own dump, by its title."""
    titles = dict(_to_hub(langlinks, hub)) if langlinks is not None else None
    for doc in wikipedia.read_wikipedia_dump(dump, lang=lang, on_error=on_error):
        concept = doc.title if titles is None else titles.get(_number(doc))
        if concept:
            yield ConceptText(concept, doc.lang, doc.text, doc.title)


def concept_links(
    dump: PathLike,
    pagelinks: PathLike,
    langlinks: PathLike | None = None,
    *,
    linktarget: PathLike | None = None,
    hub: str = "en",
    lang: str = "",
) -> Iterator[tuple[str, str]]:
    """Links between the articles of one dump that have a concept, as (from, to) by concept: what `judgments.mutual`
    makes graded judgments from."""
    to_hub = dict(_to_hub(langlinks, hub)) if langlinks is not None else None
    concepts: dict[int, str] = {}
    by_title: dict[str, str] = {}
    for doc in wikipedia.read_wikipedia_dump(dump, lang=lang):
        concept = doc.title if to_hub is None else to_hub.get(_number(doc), "")
        if concept:
            concepts[_number(doc)], by_title[doc.title] = concept, concept
    for page, title in read_pagelinks(pagelinks, linktarget):
        source, target = concepts.get(page), by_title.get(title)
        if source is not None and target is not None and source != target:
            yield source, target


def _to_hub(langlinks: PathLike, hub: str) -> Iterator[tuple[int, str]]:
    return ((page, title) for page, code, title in read_langlinks(langlinks) if code == hub)


def _number(doc: Document) -> int:
    return int(doc.id.partition(".")[0])


def _title(value: Value) -> str:
    return str(value).replace("_", " ")


def _rows(line: str, at: int, location: str) -> Iterator[tuple[Value, ...]]:
    """Parse `(1,'a',NULL),(2,'b',3);` from a position in a line."""
    while at < len(line) and line[at] == "(":
        row: list[Value] = []
        at += 1
        while line[at - 1] != ")":
            value = _VALUE.match(line, at)
            if value is None or line[value.end() : value.end() + 1] not in (",", ")"):
                column = (at if value is None else value.end()) + 1
                raise InputError(
                    f"not a row of values at column {column}; give a dump that is whole", location=location
                )
            row.append(_read(value))
            at = value.end() + 1
        yield tuple(row)
        at += 1  # the comma between rows, or the semicolon at the end


def _read(match: re.Match[str]) -> Value:
    if match[1] is not None:
        return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]) if escape[1] else "'", match[1])
    return int(match[2]) if match[2] is not None else None
