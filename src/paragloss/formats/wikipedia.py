"""Wikipedia: articles from a MediaWiki dump (pages-articles, any packing), streamed page by page, as plain text.

Redirects and pages outside the main namespace are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from paragloss.errors import InputError
from paragloss.formats.text import OnError, PathLike, parse_numbered_items
from paragloss.formats.wikitext import wikitext_to_text
from paragloss.formats.xml import read_elements
from paragloss.types import Document

_DUMP = re.compile(r"([a-z]{2,3}(?:_[a-z]+)*)wiki-")


def read_wikipedia_dump(path: PathLike, *, lang: str = "", on_error: OnError = None) -> Iterator[Document]:
    """An article per page, its id the page's number and language, `12.da`. The language is `lang`, else the one the
    dump is named after (`dawiki-20260101-pages-articles.xml.bz2`)."""
    named = _DUMP.match(Path(path).name)
    code = lang or (named[1].replace("_", "-") if named else "")
    pages = enumerate(read_elements(path, ("page",)), 1)
    found = parse_numbered_items(pages, lambda _, page: _article(page, code), f"{path}, page", on_error)
    return (article for article in found if article is not None)


def _article(page: Element, lang: str) -> Document | None:
    if page.findtext("ns", "0").strip() != "0" or page.find("redirect") is not None:
        return None
    name, title = page.findtext("id", "").strip(), page.findtext("title", "").strip()
    if not name or not title:
        raise InputError("<page> without <id> or <title>; give a pages-articles dump of MediaWiki")
    text = wikitext_to_text(page.findtext("revision/text") or "")
    return Document(f"{name}.{lang}" if lang else name, text, lang, title) if text else None
