"""Plain text and Markdown files. Markdown's marks are taken off; the title is its first heading."""

from __future__ import annotations

import re
from pathlib import Path

from paragloss.formats.text import PathLike, is_language_code, read_text
from paragloss.types import Document

_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*\n", re.DOTALL)
_SETTING = re.compile(r"^(title|lang|language)[ \t]*:(.*)$", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(```|~~~).*$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_UNDERLINED = re.compile(r"^(\S[^\n]*)\n(?:=+|-+)[ \t]*$", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]]*+)\]\([^()\s]*+(?:[ \t]+\"[^\"]*+\")?\)")
_STRONG = re.compile(r"(\*\*|__)(?=\S)([^*_\n]+)\1")
_EMPHASIS = re.compile(r"(?<!\w)([*_`])(?=\S)([^*_`\n]+)\1(?!\w)")
_BULLET, _QUOTED = (re.compile(rf"^[ \t]*{sign}[ \t]+", re.MULTILINE) for sign in ("[-*+]", ">"))
#: What an item of a list begins with, here and in web pages.
BULLET = "• "


def read_plain(path: PathLike, *, id: str = "") -> Document:
    """A text file. A short first line with a blank line behind it is its title."""
    text = read_text(path).replace("\r\n", "\n").strip()
    first, _, rest = text.partition("\n")
    headed = len(first) <= 120 and rest.startswith("\n")
    return Document(id or Path(path).name, text, "", first.strip() if headed else "")


def read_markdown(path: PathLike, *, id: str = "") -> Document:
    """A Markdown file; `title` and `lang` of a YAML head go before what the text says."""
    text = read_text(path).replace("\r\n", "\n")
    front = _FRONT.match(text)
    settings = {key.lower(): value.strip(" \t\"'") for key, value in _SETTING.findall(front[1])} if front else {}
    text = text[front.end() :] if front else text
    text = _UNDERLINED.sub(r"# \1", _FENCE.sub("", text))
    headings = [_inline(heading) for heading in _HEADING.findall(text)]
    strong = [_inline(match[2]) for match in _STRONG.finditer(text)]
    lang = settings.get("lang") or settings.get("language") or ""
    fields = {"headings": "\n".join(headings), "strong": "\n".join(strong)}
    text = _inline(_BULLET.sub(BULLET, _QUOTED.sub("", _HEADING.sub(r"\1", text)))).strip()
    title, lang = settings.get("title") or next(iter(headings), ""), lang if is_language_code(lang) else ""
    return Document(id or Path(path).name, text, lang, title, {name: value for name, value in fields.items() if value})


def _inline(text: str) -> str:
    return _EMPHASIS.sub(r"\2", _STRONG.sub(r"\2", _LINK.sub(r"\1", text)))
