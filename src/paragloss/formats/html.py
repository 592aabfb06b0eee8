"""Web pages: title, headings, bold words, address and the body without menus and other boilerplate.

Fields are found with selectolax, the body with resiliparse (Bevendorff and others 2021); both are loaded on first use.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import Any

from paragloss.errors import EmptyFileError, InputError
from paragloss.formats.encodings import detect_encoding, find_byte_order_mark
from paragloss.formats.text import PathLike, parse_declared_language, read_bytes
from paragloss.types import Document

_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{1,40})""", re.IGNORECASE)
_TAGS = re.compile(rb"<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_INVISIBLE_TAGS = ["script", "style", "noscript", "template", "title"]
_MAX_TRANSLATION_LINKS, _MAX_LINK_LENGTH = 8, 300
#: Tables of contents and links to neighbouring pages, as DocBook, Sphinx and MediaWiki write them.
_NAVIGATION_ELEMENTS = [
    "nav", ".toc", "#toc", ".toctree-wrapper", ".navheader", ".navfooter", ".headerlink", "[role=navigation]"
]  # fmt: skip
_HEADINGS = "h1, h2, h3, h4, h5, h6"


def read_html(path: PathLike, *, id: str = "") -> Document:
    """Read a page. Its language is that of `<html lang>`, "" if it declares none."""
    data = read_bytes(path)
    try:
        return parse_html(_decode_page(data), id=id or Path(path).name)
    except InputError as error:
        raise type(error)(str(error), location=path) from error.__cause__


def parse_html(source: str, *, id: str) -> Document:
    """Parse the markup of a web page into a document.

    :param source: the markup
    :param id: the id of the document
    :return: a document with the fields `headings`, `strong` (words in bold) and `url`, those that the page has, and in
        `meta` the addresses of its `translations`, if it names any
    :raises EmptyFileError: if the page has neither a text nor a title
    """
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(source)
    title = _join_texts(tree, "title", 1) or _join_texts(tree, "h1", 1)
    fields = _read_fields(tree)  # before the body is extracted, which may remove elements from the tree
    body = _extract_body(source, tree)
    if not body and not title:
        raise EmptyFileError("no text in the page; give a page that has some")
    translations = _find_translations(tree)
    meta = {"translations": translations} if translations else {}
    return Document(id, body, _find_language(tree), title, fields, meta)


def _read_fields(tree: Any) -> dict[str, str]:
    """Return the headings, the words in bold and the address of a page, those that it has."""
    fields = {
        "headings": _join_texts(tree, _HEADINGS),
        "strong": _join_texts(tree, "b, strong"),
        "url": _find_address(tree),
    }
    return {name: text for name, text in fields.items() if text}


def _decode_page(data: bytes) -> str:
    """Decode a page as a browser does: by its byte order mark, else its declaration, else its bytes."""
    encoding_of_mark = find_byte_order_mark(data)
    if encoding_of_mark:
        return _decode_as(data, encoding_of_mark).removeprefix("\ufeff")
    declared = _CHARSET.search(data[:4096])
    if declared is not None:
        return _decode_as(data, declared[1].decode("ascii"))
    if b"\0" in data:
        raise InputError("a zero byte: this is binary, not a page; give an HTML file")
    return data.decode(_detect_page_encoding(data), errors="replace")


def _decode_as(data: bytes, name: str) -> str:
    """Decode a page by the encoding that it declares, and where that is wrong, by its bytes."""
    # Pages that say Latin-1 mean Windows-1252, as the HTML standard has it.
    charset = "cp1252" if name.lower() in ("iso-8859-1", "latin1", "ascii", "us-ascii") else name
    try:
        codecs.lookup(charset)
        return data.decode(charset)
    except (LookupError, ValueError):
        return data.decode(_detect_page_encoding(data), errors="replace")


def _detect_page_encoding(data: bytes) -> str:
    """Guess the encoding of a page from its text: the names of tags would be taken for words."""
    return detect_encoding(_TAGS.sub(b" ", data))


def _join_texts(tree: Any, selector: str, limit: int = 200) -> str:
    """Return the texts of the first elements that match a selector, each on a line."""
    texts = (" ".join(node.text(separator=" ").split()) for node in tree.css(selector)[:limit])
    return "\n".join(text for text in texts if text)


def _find_address(tree: Any) -> str:
    for selector, attribute in (('link[rel="canonical"]', "href"), ('meta[property="og:url"]', "content")):
        node = tree.css_first(selector)
        if node is not None and node.attributes.get(attribute):
            return str(node.attributes[attribute]).strip()
    return ""


def _find_translations(tree: Any) -> list[str]:
    """Return the addresses of a page in other languages, often with its own: `<link rel="alternate" hreflang=...>`.

    The first few in alphabetical order are enough to tell which pages belong together.
    """
    links = tree.css('link[rel~="alternate"][hreflang][href]')
    addresses = {str(link.attributes["href"]).strip() for link in links if link.attributes["hreflang"] != "x-default"}
    return sorted(address for address in addresses if 0 < len(address) <= _MAX_LINK_LENGTH)[:_MAX_TRANSLATION_LINKS]


def _find_language(tree: Any) -> str:
    node = tree.css_first("html")
    code = str((node.attributes.get("lang") if node is not None else "") or "").strip()
    return parse_declared_language(code)


def _extract_body(source: str, tree: Any) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    options = {"main_content": True, "alt_texts": False, "list_bullets": True, "skip_elements": _NAVIGATION_ELEMENTS}
    text = str(extract_plain_text(source, **options))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line) or _extract_all_text(tree)  # too short or too odd for resiliparse


def extract_visible_text(source: str) -> str:
    """Return everything a page shows, menus included: for mail and chapters, which have no boilerplate."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(source)
    for block in tree.css("p, div, li, br, tr, h1, h2, h3, h4, h5, h6, blockquote"):
        block.insert_before("\n")
    tree.strip_tags(_INVISIBLE_TAGS)
    lines = (" ".join(line.split()) for line in (tree.body.text() if tree.body is not None else "").split("\n"))
    return "\n".join(line for line in lines if line)


def _extract_all_text(tree: Any) -> str:
    tree.strip_tags([*_INVISIBLE_TAGS, "nav", "header", "footer"])
    return " ".join(tree.body.text(separator=" ").split()) if tree.body is not None else ""
