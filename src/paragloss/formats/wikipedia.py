"""Wikipedia: articles from a MediaWiki dump (pages-articles, any packing), streamed page by page, as plain text.

Redirects and pages outside the main namespace are left out. A table of sitelinks joins the languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

from paragloss.errors import InputError
from paragloss.formats.rows import Part
from paragloss.formats.text import OnError, PathLike, checked_lang, report, rows
from paragloss.formats.wikitext import plain_text
from paragloss.formats.xml import elements
from paragloss.types import Document

_DUMP = re.compile(r"([a-z]{2,3}(?:_[a-z]+)*)wiki-")


def read_documents(path: PathLike, *, lang: str = "", on_error: OnError = None) -> Iterator[Document]:
    """An article per page, its id the page's number and language, `12.da`. The language is `lang`, else the one the
    dump is named after (`dawiki-20260101-pages-articles.xml.bz2`)."""
    named = _DUMP.match(Path(path).name)
    code = lang or (named[1].replace("_", "-") if named else "")
    for number, page in enumerate(elements(path, ("page",)), 1):
        try:
            found = _article(page, code)
        except InputError as error:
            report(error, f"{path}, page", number, on_error)
            continue
        if found is not None:
            yield found


def read_sitelinks(path: PathLike, *, on_error: OnError = None) -> dict[tuple[str, str], str]:
    """Which concept a title in a language is about, from rows `concept, lang, title` with tabs between them."""

    def parse(_: int, line: str) -> tuple[str, str, str]:
        columns = line.split("\t")
        if len(columns) != 3 or not all(columns):
            raise InputError(f"{len(columns)} columns where 3 are expected: concept, lang, title")
        return columns[0], checked_lang(columns[1]), columns[2]

    return {(lang, _title(title)): concept for concept, lang, title in rows(path, parse, on_error=on_error)}


def read_parts(
    path: PathLike, sitelinks: Mapping[tuple[str, str], str], *, lang: str = "", on_error: OnError = None
) -> Iterator[Part]:
    """The articles that have a concept, for `rows.group` to join with other languages' dumps."""
    for doc in read_documents(path, lang=lang, on_error=on_error):
        concept = sitelinks.get((doc.lang, _title(doc.title)))
        if concept is not None:
            yield Part(concept, doc.lang, doc.text, doc.title)


def _article(page: Element, lang: str) -> Document | None:
    if page.findtext("ns", "0").strip() != "0" or page.find("redirect") is not None:
        return None
    name, title = page.findtext("id", "").strip(), page.findtext("title", "").strip()
    if not name or not title:
        raise InputError("<page> without <id> or <title>; give a pages-articles dump of MediaWiki")
    text = plain_text(page.findtext("revision/text") or "")
    return Document(f"{name}.{lang}" if lang else name, text, lang, title) if text else None


def _title(title: str) -> str:
    return title.replace("_", " ")
