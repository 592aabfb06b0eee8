"""Loose SGML as TREC's files have it: elements closed or not, in any case, nested or not; each function is one pass."""

from __future__ import annotations

import html
import re

# Possessive, so that a "<" that is never closed costs one pass.
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*+)[^<>]*+>")


def clean(markup: str) -> str:
    return html.unescape(_TAG.sub(" ", markup)).strip()


def closed(body: str) -> dict[str, list[str]]:
    """What stands inside every closed element, by its name in lower case."""
    opened: dict[str, int] = {}
    found: dict[str, list[str]] = {}
    for tag in _TAG.finditer(body):
        name = tag[2].lower()
        if not tag[1]:
            opened.setdefault(name, tag.end())
        elif name in opened:
            found.setdefault(name, []).append(body[opened.pop(name) : tag.start()])
    return found


def outside(body: str, names: frozenset[str]) -> str:
    """The body without the elements of these names."""
    kept, at, inside = list[str](), 0, ""
    for tag in _TAG.finditer(body):
        name = tag[2].lower()
        if not inside and not tag[1] and name in names:
            kept.append(body[at : tag.start()])
            inside = name
        elif inside == name and tag[1]:
            inside, at = "", tag.end()
    return " ".join(kept) if inside else " ".join([*kept, body[at:]])


def behind_tags(body: str) -> list[tuple[str, str]]:
    """(element, text up to the next tag), in order: topics seldom close their elements."""
    tags = list(_TAG.finditer(body))
    ends = [tag.start() for tag in tags[1:]] + [len(body)]
    return [(tag[2].lower(), body[tag.end() : end]) for tag, end in zip(tags, ends, strict=True) if not tag[1]]
