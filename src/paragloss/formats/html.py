"""Web pages: title, headings, bold words, address and the body without menus and other boilerplate.

Fields are found with selectolax, the body with resiliparse (Bevendorff and others 2021); both are loaded on first use.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import Any

from paragloss.errors import EmptyFileError, InputError
from paragloss.formats.encodings import detect_encoding
from paragloss.formats.text import PathLike, parse_declared_language, read_bytes
from paragloss.types import Document

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{1,40})""", re.IGNORECASE)
_UNSHOWN = ["script", "style", "noscript", "template", "title"]
_FEW_LINKS, _LONGEST_LINK = 8, 300
#: Tables of contents and links to neighbouring pages, as DocBook, Sphinx and MediaWiki write them.
_NAVIGATION_ELEMENTS = [
    "nav", ".toc", "#toc", ".toctree-wrapper", ".navheader", ".navfooter", ".headerlink", "[role=navigation]"
]  # fmt: skip
_HEADINGS = "h1, h2, h3, h4, h5, h6"


def read_html(path: PathLike, *, id: str = "") -> Document:
    """One page. Its language is that of `<html lang>`, "" where it says none."""
    data = read_bytes(path)
    try:
        return parse_html(_decoded(data), id=id or Path(path).name)
    except InputError as error:
        raise type(error)(str(error), place=path) from error.__cause__


def parse_html(source: str, *, id: str) -> Document:
    """A page from its markup."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(source)
    title = _texts(tree, "title", 1) or _texts(tree, "h1", 1)
    fields = {"headings": _texts(tree, _HEADINGS), "strong": _texts(tree, "b, strong"), "url": _address(tree)}
    body = _body(source, tree)
    if not body and not title:
        raise EmptyFileError("no text in the page; give a page that has some")
    meta = {"translations": others} if (others := _translations(tree)) else {}
    return Document(id, body, _language(tree), title, {name: text for name, text in fields.items() if text}, meta)


def _decoded(data: bytes) -> str:
    """As a browser would: byte order mark, then the page's own word, then what it looks like."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _decode(data[len(mark) :], name)
    declared = _CHARSET.search(data[:4096])
    if declared is not None:
        return _decode(data, declared[1].decode("ascii"))
    if b"\0" in data:
        raise InputError("a zero byte: this is binary, not a page; give an HTML file")
    return data.decode(detect_encoding(data), errors="replace")


def _decode(data: bytes, name: str) -> str:
    # Pages that say Latin-1 mean Windows-1252, as the HTML standard has it.
    charset = "cp1252" if name.lower() in ("iso-8859-1", "latin1", "ascii", "us-ascii") else name
    try:
        codecs.lookup(charset)
        return data.decode(charset)
    except (LookupError, ValueError) as error:
        where = f" at byte {error.start}" if isinstance(error, UnicodeDecodeError) else ""
        raise InputError(f"the page says it is in {name!r} and is not{where}; convert it to UTF-8") from error


def _texts(tree: Any, selector: str, most: int = 200) -> str:
    found = (" ".join(node.text(separator=" ").split()) for node in tree.css(selector)[:most])
    return "\n".join(text for text in found if text)


def _address(tree: Any) -> str:
    for selector, attribute in (('link[rel="canonical"]', "href"), ('meta[property="og:url"]', "content")):
        node = tree.css_first(selector)
        if node is not None and node.attributes.get(attribute):
            return str(node.attributes[attribute]).strip()
    return ""


def _translations(tree: Any) -> list[str]:
    """Where a page says that it stands in other languages, and often itself: `<link rel="alternate" hreflang=...>`. A
    few are enough to tell which pages belong together, if all of them keep the same ones."""
    links = tree.css('link[rel~="alternate"][hreflang][href]')
    told = {str(link.attributes["href"]).strip() for link in links if link.attributes["hreflang"] != "x-default"}
    return sorted(address for address in told if 0 < len(address) <= _LONGEST_LINK)[:_FEW_LINKS]


def _language(tree: Any) -> str:
    node = tree.css_first("html")
    code = str((node.attributes.get("lang") if node is not None else "") or "").strip()
    return parse_declared_language(code)


def _body(source: str, tree: Any) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    options = {"main_content": True, "alt_texts": False, "list_bullets": True, "skip_elements": _NAVIGATION_ELEMENTS}
    text = str(extract_plain_text(source, **options))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line) or _shown(tree)  # too short or too odd for resiliparse


def extract_visible_text(source: str) -> str:
    """Everything a page shows, menus and all: for letters and chapters, which have no boilerplate."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(source)
    for block in tree.css("p, div, li, br, tr, h1, h2, h3, h4, h5, h6, blockquote"):
        block.insert_before("\n")
    tree.strip_tags(_UNSHOWN)
    lines = (" ".join(line.split()) for line in (tree.body.text() if tree.body is not None else "").split("\n"))
    return "\n".join(line for line in lines if line)


def _shown(tree: Any) -> str:
    tree.strip_tags([*_UNSHOWN, "nav", "header", "footer"])
    return " ".join(tree.body.text(separator=" ").split()) if tree.body is not None else ""
