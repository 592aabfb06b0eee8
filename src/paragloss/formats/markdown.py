"""Plain text and Markdown files.

Markdown is parsed by markdown-it-py (CommonMark and tables). The text keeps what a reader of the rendered page sees,
a line for every paragraph, heading, list item and table row; link targets, image files, HTML comments, reference
definitions and template instructions are left out.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from paragloss.formats.text import PathLike, is_language_code, join_fields, read_text
from paragloss.types import Document

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

#: The mark before an item of a list, here and in web pages.
BULLET = "• "
#: A short first line of a text file with a blank line behind it is a title.
MAX_TITLE_LENGTH = 120

_FRONT_MATTER = re.compile(r"\A(?:---|\+\+\+)[ \t]*\n(.*?)\n(?:---|\+\+\+|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_SETTING = re.compile(r"^(title|lang|language)[ \t]*[:=](.*)$", re.MULTILINE)
#: Kramdown's attribute lists and options ({: .note}, {::options ...}), Pandoc's attributes ({#id .class}), and
#: instructions of site generators: Liquid, Jinja and Hugo ({% include x %}, {{ page.title }}).
_INSTRUCTIONS = re.compile(r"\{::?[^{}\n]*\}|\{[#.][\w-][^{}\n]*\}|\{%.*?%\}|\{\{.*?\}\}")
#: A paragraph or list item that a site generator replaces by a table of contents.
_CONTENTS_MARK = re.compile(r"\{:toc[^{}\n]*\}|^\[\[_?TOC_?\]\]$|^\[TOC\]$")
#: A line that begins or ends an admonition of Docusaurus: ":::note".
_ADMONITION_FENCE = re.compile(r"^[ \t]*:::+[ \t]*\w*[ \t]*$", re.MULTILINE)
#: An admonition of MkDocs, '!!! warning "Title"', and the indented lines that belong to it.
_INDENTED_ADMONITION = re.compile(
    r"^(?:!!!|\?\?\?\+?)[ \t]+\w+[ \t]*(?:\"([^\"\n]*)\")?[ \t]*\n((?:[ \t]*\n|(?: {4}|\t)[^\n]*(?:\n|\Z))*)",
    re.MULTILINE,
)
_NAVIGATION = re.compile(r"<nav\b.*?</nav\s*>", re.DOTALL | re.IGNORECASE)
_LINE_BREAK_TOKENS = frozenset({"softbreak", "hardbreak"})


class _MarkdownText(NamedTuple):
    """The lines of a rendered document, its headings, and its words in bold."""

    lines: list[str]
    headings: list[str]
    strong: list[str]


def read_plain(path: PathLike, *, id: str = "") -> Document:
    """Read a text file; a short first line with a blank line behind it is its title."""
    text = read_text(path).replace("\r\n", "\n").strip()
    first_line, _, remainder = text.partition("\n")
    has_title = len(first_line) <= MAX_TITLE_LENGTH and remainder.startswith("\n")
    return Document(id or Path(path).name, text, "", first_line.strip() if has_title else "")


def read_markdown(path: PathLike, *, id: str = "") -> Document:
    """Read a Markdown file; `title` and `lang` of its front matter (YAML or TOML) take precedence over its headings.

    :param id: the id of the document; by default the file's name
    :return: a document with the fields `headings` and `strong` (words in bold), one on each line, where it has any
    """
    source = read_text(path).replace("\r\n", "\n")
    settings = _parse_front_matter(source)
    markdown_text = _render_text(_FRONT_MATTER.sub("", source))
    declared_lang = settings.get("lang") or settings.get("language") or ""
    lang = declared_lang if is_language_code(declared_lang) else ""
    title = settings.get("title") or next(iter(markdown_text.headings), "")
    fields = join_fields(headings=markdown_text.headings, strong=markdown_text.strong)
    text = "\n".join(markdown_text.lines)
    return Document(id or Path(path).name, text, lang, title, fields)


def _parse_front_matter(source: str) -> dict[str, str]:
    """Return `title` and `lang` or `language` of the front matter of a Markdown file, those that it sets."""
    front_matter = _FRONT_MATTER.match(source)
    if front_matter is None:
        return {}
    return {key: value.strip(" \t\"'") for key, value in _SETTING.findall(front_matter[1])}


def _render_text(source: str) -> _MarkdownText:
    """Render Markdown as the lines of text that a reader sees."""
    source = _ADMONITION_FENCE.sub("", _INDENTED_ADMONITION.sub(_dedent_admonition, source))
    renderer = _TextRenderer()
    for token in _remove_contents_lists(_parser().parse(source)):
        renderer.add_token(token)
    markdown_text = renderer.markdown_text
    return markdown_text._replace(lines=[line for line in markdown_text.lines if line.strip()])


class _TextRenderer:
    """Collects the text of the block tokens of a Markdown file, which are added in their order."""

    def __init__(self) -> None:
        """Start with no text."""
        self.markdown_text = _MarkdownText([], [], [])
        self._is_heading = False  # whether the next text is a heading
        self._is_list_item = False  # whether the next text is the first of a list item
        self._row_cells: list[str] | None = None  # of the table row that is open

    def add_token(self, token: Token) -> None:
        """Add the text of a block token, or note what the text after it is: a heading, a list item or a cell."""
        if token.type == "heading_open":
            self._is_heading = True
        elif token.type in ("list_item_open", "list_item_close"):
            self._is_list_item = token.type == "list_item_open"
        elif token.type == "tr_open":
            self._row_cells = []
        elif token.type == "tr_close" and self._row_cells is not None:
            self.markdown_text.lines.append(" | ".join(cell for cell in self._row_cells if cell))
            self._row_cells = None
        elif token.type == "inline":
            inline = _render_inline(token.children or [])
            self.markdown_text.strong.extend(inline.strong)
            self._add_text(inline.text)
        else:
            self.markdown_text.lines.extend(_render_block(token))

    def _add_text(self, text: str) -> None:
        """Add a text as a cell of the open table row, else as a line, which may be a heading or a list item."""
        if self._row_cells is not None:
            self._row_cells.append(text)
        elif text:
            if self._is_heading:
                self.markdown_text.headings.append(text)
            self.markdown_text.lines.append(BULLET + text if self._is_list_item else text)
            self._is_list_item = False
        self._is_heading = False


def _remove_contents_lists(tokens: list[Token]) -> list[Token]:
    """Remove tables of contents: lists of nothing but links to sections of the page, and the heading before each.

    :param tokens: all tokens of a Markdown file, in order
    :return: the other tokens
    """
    shown_tokens: list[Token] = []
    position = 0
    while position < len(tokens):
        opens_list = tokens[position].type in ("bullet_list_open", "ordered_list_open")
        end = _find_block_end(tokens, position) if opens_list else position + 1
        list_or_token = tokens[position:end]
        position = end
        is_contents_list = opens_list and _is_contents_list(list_or_token)
        if not is_contents_list:
            shown_tokens += list_or_token
        elif shown_tokens and shown_tokens[-1].type == "heading_close":
            del shown_tokens[-3:]  # the opening, the text and the end of the heading
    return shown_tokens


def _find_block_end(tokens: Sequence[Token], start: int) -> int:
    """Return the position after the token that closes the block which the token at `start` opens."""
    end = start + 1
    while tokens[end].level != tokens[start].level or tokens[end].nesting >= 0:
        end += 1
    return end + 1


def _is_contents_list(tokens: Sequence[Token]) -> bool:
    """Tell whether every item of a list is a link to a section of the same page, and there are several."""
    items = [token.children or [] for token in tokens if token.type == "inline"]
    return len(items) > 1 and all(_is_section_link(item) for item in items)


def _is_section_link(tokens: Sequence[Token]) -> bool:
    if not tokens or tokens[0].type != "link_open" or tokens[-1].type != "link_close":
        return False
    return str(tokens[0].attrs["href"]).startswith("#")


def _dedent_admonition(match: re.Match[str]) -> str:
    """Return the title and the contents of an admonition as if they stood in the text around it."""
    title, contents = match[1] or "", re.sub(r"^(?: {4}|\t)", "", match[2], flags=re.MULTILINE)
    return f"{title}\n\n{contents}\n"


def _render_block(token: Token) -> list[str]:
    """Return the lines of a block of code or HTML; none for other tokens."""
    if token.type in ("fence", "code_block"):
        return token.content.rstrip("\n").split("\n")
    if token.type == "html_block":
        return _html_text(token.content).split("\n")
    return []


class _InlineText(NamedTuple):
    """The text of a paragraph, a heading or a cell, and its passages in bold."""

    text: str
    strong: list[str]


def _render_inline(tokens: Sequence[Token]) -> _InlineText:
    """Return the text of a paragraph, heading or cell without markup and images, and its passages in bold.

    :param tokens: the inline tokens inside the block, in order
    """
    has_html = any(token.type == "html_inline" for token in tokens)
    pieces: list[str] = []
    strong_texts: list[str] = []
    strong_starts: list[int] = []  # for each open passage in bold the number of pieces before it
    for token in tokens:
        if token.type == "strong_open":
            strong_starts.append(len(pieces))
        elif token.type == "strong_close" and strong_starts:
            strong_pieces = pieces[strong_starts.pop() :]
            strong_texts.append(_clean_text("".join(strong_pieces), has_html))
        else:
            pieces.append(_render_inline_token(token, has_html))
    return _InlineText(_clean_text("".join(pieces), has_html), strong_texts)


def _render_inline_token(token: Token, has_html: bool) -> str:
    """Return the text of an inline token, as HTML if there is HTML beside it; "" for markup and images."""
    if token.type in ("text", "code_inline"):
        return html.escape(token.content) if has_html else token.content
    if token.type in _LINE_BREAK_TOKENS:
        return " "
    return token.content if token.type == "html_inline" else ""


def _clean_text(text: str, has_html: bool) -> str:
    """Remove HTML tags and the instructions of site generators, and fold white space."""
    shown_text = _html_text(text) if has_html else text
    if _CONTENTS_MARK.search(shown_text.strip()):
        return ""
    return " ".join(_INSTRUCTIONS.sub("", shown_text).split())


def _html_text(source: str) -> str:
    """Return what a piece of HTML shows, without navigation, scripts and comments."""
    from paragloss.formats.html import extract_visible_text

    return extract_visible_text(_NAVIGATION.sub("", source))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")
