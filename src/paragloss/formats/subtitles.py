"""Subtitles (.srt, .vtt): what is said, without times, numbers and marks."""

from __future__ import annotations

import html
import re
from pathlib import Path

from paragloss.errors import InputError
from paragloss.formats.text import PathLike, read_text
from paragloss.types import Document

_TIMES = re.compile(r"^\s*(?:\d+:)?\d+:\d+[.,]\d+\s*-->.*$", re.MULTILINE)
_MARKS = re.compile(r"<[^<>\n]*>|\{\\[^{}\n]*\}")


def read_subtitles(path: PathLike, *, id: str = "") -> Document:
    """One document, a line for each line shown; one that stays while the next comes is written once."""
    text = read_text(path).replace("\r\n", "\n")
    lines: list[str] = []
    for block in re.split(r"\n[ \t]*\n", text):
        _, *shown = _TIMES.split(block)  # before the times there is a number, or a name, or a note
        for line in "".join(shown).splitlines():
            words = " ".join(html.unescape(_MARKS.sub("", line)).split())
            if words and words not in lines[-2:]:
                lines.append(words)
    if not lines:
        raise InputError("no line with times (00:00:01,000 --> 00:00:02,000) and words below it", place=path)
    return Document(id or Path(path).name, "\n".join(lines), "")
