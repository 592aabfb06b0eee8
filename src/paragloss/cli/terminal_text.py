"""Make foreign text safe for a terminal: it must not move the cursor, change colours or reverse a line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from typing import IO, Any

#: Control characters, marks that change the direction of text, and halves of surrogate pairs.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
#: Codes of the styles of a terminal.
_STYLES = {"bold": "1", "dim": "2", "marked": "1;4", "yellow": "33", "cyan": "36"}


def plain(text: object) -> str:
    r"""Return the text as one line: white space as blanks, other control characters written out as `\x1b`."""
    return _UNSAFE.sub(lambda match: " " if match[0] in "\t\n\r\f\v" else _escape(match[0]), str(text))


def plain_lines(text: str) -> str:
    """Apply `plain` to every line of a text."""
    return "\n".join(plain(line) for line in text.replace("\r\n", "\n").split("\n"))


def plain_json(value: Any) -> str:
    """Return readable JSON with control characters as escapes; its value stays the same."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return _IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def styles(stream: IO[str]) -> Callable[[str, str], str]:
    """Return a function (text, style) -> text that styles on terminals that can and changes nothing elsewhere."""
    has_styles = stream.isatty() and os.environ.get("TERM") not in (None, "dumb", "unknown")
    if not has_styles or os.environ.get("NO_COLOR"):
        return lambda text, _: text
    return lambda text, style: f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if text else ""


def _escape(character: str) -> str:
    return f"\\x{ord(character):02x}" if ord(character) < 256 else f"\\u{ord(character):04x}"
