"""Subtitles (.srt, .vtt): the words shown, and the time of each line."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from paragloss.errors import InputError
from paragloss.formats.text import PathLike, read_text
from paragloss.types import Document

_TIMING_LINE = re.compile(r"^\s*(?:(\d+):)?(\d+):(\d+)[.,](\d+)\s*-->.*$", re.MULTILINE)
_MARKUP = re.compile(r"<[^<>\n]*>|\{\\[^{}\n]*\}")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def read_subtitles(path: PathLike, *, id: str = "") -> Document:
    """Read subtitles as one document, a line for each line shown.

    A line that stays on the screen while the next one comes is in the text once. `meta["line_seconds"]` has for each
    line the whole second at which it is first shown.

    :param path: a `.srt` or `.vtt` file
    :param id: the id of the document; by default the file's name
    :raises InputError: if there is no line with a time and words
    """
    shown_lines: list[_CueLine] = []
    for line in _read_cue_lines(read_text(path).replace("\r\n", "\n")):
        previous_texts = [previous.text for previous in shown_lines[-2:]]
        if line.text not in previous_texts:
            shown_lines.append(line)
    if not shown_lines:
        raise InputError("no line with times (00:00:01,000 --> 00:00:02,000) and words below it", location=path)
    text = "\n".join(line.text for line in shown_lines)
    meta = {"line_seconds": [line.second for line in shown_lines]}
    return Document(id or Path(path).name, text, "", "", {}, meta)


def find_time_code(text: str, meta: Mapping[str, Any], offset: int) -> str:
    """Return the time, such as `0:01:23`, at which a character of subtitles is shown, or of a chat was written.

    :param text: the text of the document
    :param meta: its meta; `line_seconds` has the second of each line
    :param offset: the offset of the character in the text
    :return: the time of the character's line; "" if the document has no times
    """
    seconds = meta.get("line_seconds")
    line_number = text.count("\n", 0, offset)
    if not isinstance(seconds, list) or line_number >= len(seconds):
        return ""
    minutes, second = divmod(int(seconds[line_number]), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}"


class _CueLine(NamedTuple):
    """A line that is shown, and the second from the beginning at which it appears."""

    second: int
    text: str


def _read_cue_lines(text: str) -> Iterator[_CueLine]:
    """Yield all lines of all cues, without markup; before the times stands a number, name or note."""
    for block in _BLANK_LINE.split(text):
        timing = _TIMING_LINE.search(block)
        if timing is None:
            continue
        hours, minutes, seconds = (int(number or 0) for number in timing.groups()[:3])
        for line in _TIMING_LINE.sub("", block[timing.end() :]).splitlines():
            words = " ".join(html.unescape(_MARKUP.sub("", line)).split())
            if words:
                yield _CueLine(3600 * hours + 60 * minutes + seconds, words)
