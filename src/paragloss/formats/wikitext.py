"""MediaWiki markup to plain text, by a small cleaner of our own: what a reader sees, less tables, boxes and notes.

It expands no templates. Every step goes over the text once, whatever is left open in it.
"""

from __future__ import annotations

import html
import re

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_DROPPED = ("ref", "math", "gallery", "timeline", "syntaxhighlight", "source", "score", "imagemap", "templatestyles")
_DROPPED_TAG = re.compile(rf"<(/?)({'|'.join(_DROPPED)})\b[^<>]*+>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*+>")
_BRACES = re.compile(r"\{\{|\}\}|^[ \t]*\{\||^[ \t]*\|\}", re.MULTILINE)
_BRACKETS = re.compile(r"\[\[|\]\]")
_EXTERNAL = re.compile(r"\[(?:https?:)?//[^\s\[\]]*+[ \t]*([^\[\]]*+)\]")
_HEADING = re.compile(r"^(={1,6})([^\n]+?)\1[ \t]*$", re.MULTILINE)
_QUOTES = re.compile(r"'{2,5}")
_LIST = re.compile(r"^[*#:;]+[ \t]*", re.MULTILINE)
_SWITCH = re.compile(r"__[A-Z]{3,}__")
# Links into a namespace (File, Category, another wiki) show nothing in the text; a title may hold a colon and a blank.
_NAMESPACE = re.compile(r"^:?[^\W\d_][\w -]*:(?=\S)")


def wikitext_to_text(markup: str) -> str:
    """The article's running text; paragraphs and headings on lines of their own."""
    text = _without_elements(_COMMENT.sub("", markup))
    text = _without_braces(text)
    text = _links(text)
    text = _EXTERNAL.sub(r"\1", text)
    text = _HEADING.sub(r"\2", _SWITCH.sub("", _TAG.sub(" ", text)))
    text = html.unescape(_LIST.sub("", _QUOTES.sub("", text)))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def _without_elements(text: str) -> str:
    """Notes, formulas and the like taken out; one that is never closed goes to the end of its line."""
    kept, at, inside = list[str](), 0, ""
    for tag in _DROPPED_TAG.finditer(text):
        name = tag[2].lower()
        if not inside:
            if tag[1]:
                continue
            kept.append(text[at : tag.start()])
            at = tag.end()
            inside = "" if tag[0].endswith("/>") else name
        elif tag[1] and name == inside:
            inside, at = "", tag.end()
    if inside:
        line_end = text.find("\n", at)
        at = len(text) if line_end < 0 else line_end
    return "".join([*kept, text[at:]])


def _without_braces(text: str) -> str:
    """Templates and tables taken out, nested ones too; closing marks that nothing opened are dropped."""
    kept, at, depth = list[str](), 0, 0
    for mark in _BRACES.finditer(text):
        if not depth:
            kept.append(text[at : mark.start()])
        opens = mark[0].lstrip().startswith("{")
        depth = depth + 1 if opens else max(0, depth - 1)
        at = mark.end()
    if depth:
        # Never closed: keep the rest rather than lose the article.
        kept.append(text[at:])
        return "".join(kept)
    return "".join([*kept, text[at:]])


def _links(text: str) -> str:
    """[[target|shown]] as what it shows; files and categories, whose captions may hold links, as nothing."""
    stack: list[list[str]] = [[]]
    at = 0
    for mark in _BRACKETS.finditer(text):
        stack[-1].append(text[at : mark.start()])
        at = mark.end()
        if mark[0] == "[[":
            stack.append([])
        elif len(stack) > 1:
            inner = "".join(stack.pop())
            stack[-1].append(_shown(inner))
    stack[-1].append(text[at:])
    return "".join(piece for level in stack for piece in level)


def _shown(link: str) -> str:
    target, bar, label = link.partition("|")
    if _NAMESPACE.match(target) and not target.startswith(":"):
        return ""
    return label.rpartition("|")[2] if bar else target.removeprefix(":")
