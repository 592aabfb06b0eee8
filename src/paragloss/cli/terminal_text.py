"""Text of others on a terminal: nothing in it may move the cursor, change colours or turn the line around."""

from __future__ import annotations

import json
import re
from typing import Any

#: Control characters, marks that change the direction of text, and halves of surrogate pairs.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


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


def _written_out(character: str) -> str:
    return f"\\x{ord(character):02x}" if ord(character) < 256 else f"\\u{ord(character):04x}"
