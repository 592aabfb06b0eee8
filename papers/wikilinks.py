"""Read links between Wikipedia's pages from SQL dumps of MediaWiki's tables.

These are langlinks (the same page in another language), pagelinks and linktarget (links within a language). Dumps are
parsed line by line, not run as SQL; underscores in titles become blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from paragloss.errors import InputError
from paragloss.formats import wikipedia
from paragloss.formats.rows import ConceptText
from paragloss.formats.text import OnError, PathLike, read_lines
from paragloss.types import Document

Value: TypeAlias = str | int | None
#: Bytes of the longest line: one INSERT with thousands of rows, which mysqldump keeps under its packet size.
_MAX_LINE_BYTES = 256 * 2**20
#: Number of the namespace of articles.
ARTICLES = 0
_INSERT = re.compile(r"INSERT INTO `?(\w+)`? VALUES ")
#: A string, a number or NULL.
_VALUE = re.compile(r"'((?:[^'\\]|\\.|'')*)'|(-?\d+)(?:\.\d+)?|NULL")
_ESCAPE = re.compile(r"\\(.)|''")
_ESCAPED_CHARACTERS = {"0": "\0", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}


def read_table(path: PathLike, table: str) -> Iterator[tuple[Value, ...]]:
    """Read the rows of one table of a dump.

    :raises InputError: if a row can't be parsed, or the dump is of another table
    """
    first_table = ""
    for number, line in read_lines(path, limit=_MAX_LINE_BYTES):
        insert = _INSERT.match(line)
        if insert is None:
            continue
        first_table = first_table or insert[1]
        if insert[1] == table:
            yield from _parse_rows(line, insert.end(), f"{path}:{number}")
    if first_table and first_table != table:
        raise InputError(f"a dump of {first_table}, expected one of {table}", location=path)


def read_langlinks(path: PathLike) -> Iterator[tuple[int, str, str]]:
    """Read (page number, language, title of the same page in that language)."""
    for row in read_table(path, "langlinks"):
        if len(row) != 3 or not isinstance(row[0], int) or not row[1] or not row[2]:
            raise InputError(f"a row of {len(row)} columns; expected a page, a language and a title", location=path)
        yield row[0], str(row[1]), _clean_title(row[2])


def read_pagelinks(path: PathLike, linktarget: PathLike | None = None) -> Iterator[tuple[int, str]]:
    """Read (page number, title of a page it links to), for links between articles.

    :param linktarget: the dump that gives the titles of numbered targets; needed for dumps since 2024
    :raises InputError: if it is missing, or rows have neither 3 nor 4 columns
    """
    title_by_target = None if linktarget is None else _read_target_titles(linktarget)
    for row in read_table(path, "pagelinks"):
        if len(row) == 3:
            page, source_namespace, target = row  # pl_from, pl_from_namespace, pl_target_id
            if title_by_target is None:
                raise InputError("targets are numbers; give the linktarget dump of the same day, too", location=path)
            title = title_by_target.get(target) if source_namespace == ARTICLES else None
        elif len(row) == 4:
            page, target_namespace, target, source_namespace = row  # pl_from, pl_namespace, pl_title, pl_from_namespace
            title = _clean_title(target) if source_namespace == target_namespace == ARTICLES else None
        else:
            raise InputError(f"rows of {len(row)} columns; pagelinks have 3, or before 2024 4", location=path)
        if title is not None and isinstance(page, int):
            yield page, title


def _read_target_titles(linktarget: PathLike) -> dict[Value, str]:
    """Read the titles of articles by the number of the link target."""
    rows = read_table(linktarget, "linktarget")  # lt_id, lt_namespace, lt_title
    return {row[0]: _clean_title(row[2]) for row in rows if len(row) == 3 and row[1] == ARTICLES}


def read_article_texts(
    dump: PathLike, langlinks: PathLike | None = None, *, hub: str = "en", lang: str = "", on_error: OnError = None
) -> Iterator[ConceptText]:
    """Read the articles of one language with their concepts, for `rows.group_by_concept` to join with other languages.

    A concept is named after its page in the hub's language.

    :param langlinks: the dump of the articles' language links; left out for the hub's own articles
    :param hub: the language whose titles name the concepts
    :param lang: the language of the articles, if the dump's name does not say it
    """
    hub_titles = None if langlinks is None else _read_hub_titles(langlinks, hub)
    for doc in wikipedia.read_wikipedia_dump(dump, lang=lang, on_error=on_error):
        concept = doc.title if hub_titles is None else hub_titles.get(_page_number(doc))
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
    """Read the links between the articles of one language as pairs of concepts (from, to).

    `judgments.find_mutual_links` makes graded judgments of them. Links from or to a page without a concept are left
    out, as are links of a concept to itself.

    :param dump: the articles of the language
    :param pagelinks: the dump of the links between pages
    :param langlinks: the dump of the articles' language links; left out for the hub's own articles
    :param linktarget: the dump that gives the titles of numbered targets; needed for dumps since 2024
    :param hub: the language whose titles name the concepts
    :param lang: the language of the articles, if the dump's name does not say it
    """
    concept_by_page, concept_by_title = _read_concepts(dump, langlinks, hub=hub, lang=lang)
    for page, title in read_pagelinks(pagelinks, linktarget):
        source, target = concept_by_page.get(page), concept_by_title.get(title)
        if source is not None and target is not None and source != target:
            yield source, target


def _read_concepts(
    dump: PathLike, langlinks: PathLike | None, *, hub: str, lang: str
) -> tuple[dict[int, str], dict[str, str]]:
    """Read the concepts of a language's articles, by page number and by title; for the arguments see `concept_links`.

    An article without a page in the hub's language has no concept.
    """
    hub_titles = None if langlinks is None else _read_hub_titles(langlinks, hub)
    concept_by_page: dict[int, str] = {}
    concept_by_title: dict[str, str] = {}
    for doc in wikipedia.read_wikipedia_dump(dump, lang=lang):
        page = _page_number(doc)
        concept = doc.title if hub_titles is None else hub_titles.get(page, "")
        if concept:
            concept_by_page[page] = concept
            concept_by_title[doc.title] = concept
    return concept_by_page, concept_by_title


def _read_hub_titles(langlinks: PathLike, hub: str) -> dict[int, str]:
    """Read the titles of pages in the hub's language, by page number."""
    return {page: title for page, lang, title in read_langlinks(langlinks) if lang == hub}


def _page_number(doc: Document) -> int:
    return int(doc.id.partition(".")[0])


def _clean_title(value: Value) -> str:
    return str(value).replace("_", " ")


def _parse_rows(line: str, start: int, location: str) -> Iterator[tuple[Value, ...]]:
    """Parse rows such as `(1,'a',NULL),(2,'b',3);` from a position in a line; `location` is for error messages."""
    position = start
    while line[position : position + 1] == "(":
        row: list[Value] = []
        separator = ","
        position += 1
        while separator == ",":
            match = _VALUE.match(line, position)
            end = position if match is None else match.end()
            separator = line[end : end + 1]
            if match is None or separator not in (",", ")"):
                message = f"not a row of values at column {end + 1}; give a dump that is whole"
                raise InputError(message, location=location)
            row.append(_parse_value(match))
            position = end + 1
        yield tuple(row)
        position += 1  # the comma between rows, or the semicolon at the end


def _parse_value(match: re.Match[str]) -> Value:
    """Return the value that _VALUE matched, with escape sequences replaced."""
    text, number = match.groups()
    if text is not None:
        return _ESCAPE.sub(_replace_escape, text)
    return None if number is None else int(number)


def _replace_escape(escape: re.Match[str]) -> str:
    """Return the character that an escape sequence stands for: a doubled quotation mark, or one behind a backslash."""
    character = escape[1]
    return _ESCAPED_CHARACTERS.get(character, character) if character else "'"
