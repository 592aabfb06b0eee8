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

_DUMP_NAME = re.compile(r"([a-z]{2,3}(?:_[a-z]+)*)wiki-")


def read_wikipedia_dump(path: PathLike, *, on_error: OnError = None) -> Iterator[Document]:
    """Yield the articles of a dump in the language of its name, such as `dawiki-20260101-pages-articles.xml.bz2`.

    The id of an article is the page's number and language, `12.da`.
    """
    file_name = _DUMP_NAME.match(Path(path).name)
    lang = file_name[1].replace("_", "-") if file_name else ""
    pages = enumerate(read_elements(path, ("page",)), 1)
    articles = parse_numbered_items(pages, lambda _, page: _parse_article(page, lang), f"{path}, page", on_error)
    return (article for article in articles if article is not None)


def _parse_article(page: Element, lang: str) -> Document | None:
    """Return the article of a `<page>`; None for redirects, other namespaces and empty pages."""
    if page.findtext("ns", "0").strip() != "0" or page.find("redirect") is not None:
        return None
    name, title = page.findtext("id", "").strip(), page.findtext("title", "").strip()
    if not name or not title:
        raise InputError("<page> without <id> or <title>; give a pages-articles dump of MediaWiki")
    text = wikitext_to_text(page.findtext("revision/text") or "")
    return Document(f"{name}.{lang}" if lang else name, text, lang, title) if text else None
