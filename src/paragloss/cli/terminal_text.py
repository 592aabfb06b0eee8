"""Text of others on a terminal: nothing in it may move the cursor, change colours or turn the line around."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from typing import IO, Any

#: Control characters, marks that change the direction of text, and halves of surrogate pairs.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
#: What tells a terminal how to write.
_STYLES = {"bold": "1", "dim": "2", "marked": "1;4", "yellow": "33", "cyan": "36"}


def plain(text: object) -> str:
    """One line: white space as blanks, anything else that steers a terminal written out, `\\x1b`."""
    return _UNSAFE.sub(lambda found: " " if found[0] in "\t\n\r\f\v" else _written_out(found[0]), str(text))


def plain_lines(text: str) -> str:
    """The same, line by line."""
    return "\n".join(plain(line) for line in text.replace("\r\n", "\n").split("\n"))


def plain_json(value: Any) -> str:
    """JSON as people read it, with what steers a terminal in escapes; it says the same."""
    written = json.dumps(value, ensure_ascii=False, indent=1)
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def styles(stream: IO[str]) -> Callable[[str, str], str]:
    """What gives text a style where a stream is a terminal that has some, and leaves it as it is elsewhere."""
    able = stream.isatty() and os.environ.get("TERM") not in (None, "dumb", "unknown")
    if not able or os.environ.get("NO_COLOR"):
        return lambda text, _: text
    return lambda text, style: f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if text else ""


def _written_out(character: str) -> str:
    return f"\\x{ord(character):02x}" if ord(character) < 256 else f"\\u{ord(character):04x}"
