"""Convert MediaWiki markup to plain text: what a reader sees, without tables, boxes and notes.

Templates are not expanded. Every step goes over the text once, whatever is left open in it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_REMOVED_TAGS = (
    "ref",
    "math",
    "gallery",
    "timeline",
    "syntaxhighlight",
    "source",
    "score",
    "imagemap",
    "templatestyles",
)
_REMOVED_TAG = re.compile(rf"<(?P<slash>/?)(?P<name>{'|'.join(_REMOVED_TAGS)})\b[^<>]*+>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*+>")
_BRACES = re.compile(r"\{\{|\}\}|^[ \t]*\{\||^[ \t]*\|\}", re.MULTILINE)
_BRACKETS = re.compile(r"\[\[|\]\]")
_EXTERNAL_LINK = re.compile(r"\[(?:https?:)?//[^\s\[\]]*+[ \t]*([^\[\]]*+)\]")
_HEADING = re.compile(r"^(={1,6})([^\n]+?)\1[ \t]*$", re.MULTILINE)
_QUOTES = re.compile(r"'{2,5}")
_LIST_MARK = re.compile(r"^[*#:;]+[ \t]*", re.MULTILINE)
_SWITCH = re.compile(r"__[A-Z]{3,}__")
#: The beginning of a link into a namespace (File, Category, another wiki); a title may hold a colon and a space.
_NAMESPACE = re.compile(r"^:?[^\W\d_][\w -]*:(?=\S)")


def wikitext_to_text(markup: str) -> str:
    """Return the running text of an article; paragraphs and headings are on lines of their own."""
    text = _remove_elements(_COMMENT.sub("", markup))
    text = _remove_templates(text)
    text = _replace_links(text)
    text = _EXTERNAL_LINK.sub(r"\1", text)
    text = _HEADING.sub(r"\2", _SWITCH.sub("", _TAG.sub(" ", text)))
    text = html.unescape(_LIST_MARK.sub("", _QUOTES.sub("", text)))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def _remove_elements(text: str) -> str:
    """Remove notes, formulas and the like; one that is never closed ends with its line."""
    return _cut_spans(text, _find_elements(text))


def _find_elements(text: str) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of each outermost element to be removed: notes, formulas and the like.

    A closing tag that nothing opened is not one.
    """
    tags = _REMOVED_TAG.finditer(text)  # `_find_element_end` takes the tags inside an element from it
    for tag in tags:
        if tag["slash"]:
            continue
        is_empty_element = tag[0].endswith("/>")
        end = tag.end() if is_empty_element else _find_element_end(text, tag, tags)
        yield tag.start(), end


def _find_element_end(text: str, opening: re.Match[str], tags: Iterator[re.Match[str]]) -> int:
    """Return where an element ends: behind its closing tag, or with its line if it is never closed.

    :param opening: its opening tag
    :param tags: the tags behind that, which are read up to the closing one
    """
    for tag in tags:
        if tag["slash"] and tag["name"].lower() == opening["name"].lower():
            return tag.end()
    line_end = text.find("\n", opening.end())
    return len(text) if line_end < 0 else line_end


def _cut_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text without some parts, whose (start, end) come in order."""
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        pieces.append(text[position:start])
        position = end
    return "".join([*pieces, text[position:]])


def _remove_templates(text: str) -> str:
    """Remove templates and tables, nested ones too, and closing marks that nothing opened."""
    return _cut_spans(text, _find_templates(text))


def _find_templates(text: str) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of each outermost template or table, and of each closing mark that nothing opened.

    One that is never closed ends with the last mark, rather than with the article.
    """
    start, end, depth = 0, 0, 0
    for mark in _BRACES.finditer(text):
        if depth == 0:
            start = mark.start()
        end = mark.end()
        if mark[0].lstrip().startswith("{"):
            depth += 1
        elif depth > 0:
            depth -= 1
        if depth == 0:
            yield start, end
    if depth > 0:
        yield start, end


def _replace_links(text: str) -> str:
    """Replace each link [[target|label]] by its label, and files and categories by nothing.

    The caption of a file may have links inside, so the text of each open link is collected on a level of its own.
    """
    levels: list[list[str]] = [[]]  # the pieces of the text outside links, then those of each open link
    position = 0
    for mark in _BRACKETS.finditer(text):
        levels[-1].append(text[position : mark.start()])
        position = mark.end()
        if mark[0] == "[[":
            levels.append([])
        elif len(levels) > 1:
            link = "".join(levels.pop())
            levels[-1].append(_get_link_label(link))
    levels[-1].append(text[position:])
    return "".join(piece for level in levels for piece in level)


def _get_link_label(link: str) -> str:
    target, bar, label = link.partition("|")
    if _NAMESPACE.match(target) and not target.startswith(":"):
        return ""
    return label.rpartition("|")[2] if bar else target.removeprefix(":")
