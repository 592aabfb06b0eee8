"""Segment Chinese by jieba's dictionary, after replacing Traditional by Simplified characters.

Characters are replaced one by one (OpenCC's table), so offsets stay valid. jieba's model for words outside its
dictionary is not used: it splits a word differently in different sentences, and Latin names not at all.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

#: Text without Chinese characters, such as most queries: it is split without the dictionary, which takes .2 s to load.
_PLAIN = re.compile(r"[A-Za-z0-9 ]*")
_PIECES = re.compile(r"[A-Za-z0-9]+| ")


def segment_chinese(text: str) -> list[str]:
    """Split a text into all its pieces, words or not, in Simplified characters."""
    if _PLAIN.fullmatch(text):
        return _PIECES.findall(text)
    pieces: list[str] = _load_jieba().cut(text if text.isascii() else _simplify(text), False)
    return pieces


@cache
def _load_jieba() -> Any:
    from rjieba import Jieba

    return Jieba()


def _simplify(text: str) -> str:
    table, traditional = _build_table()
    return text.translate(table) if traditional.search(text) else text


@cache
def _build_table() -> tuple[dict[int, str], re.Pattern[str]]:
    """Return the Simplified character of each Traditional one, and a pattern of all Traditional ones."""
    from opencc import OpenCC

    ideographs = [chr(code) for code in [*range(0x3400, 0xA000), *range(0xF900, 0xFB00)]]
    simplified = OpenCC("t2s").convert("\n".join(ideographs)).split("\n")
    table = {ord(old): new for old, new in zip(ideographs, simplified, strict=True) if old != new}
    # Full-width Latin letters and digits, which jieba would take for punctuation.
    table |= {code + 0xFEE0: chr(code) for code in range(0x21, 0x7F) if chr(code).isalnum()}
    return table, re.compile(f"[{''.join(map(chr, table))}]")
