"""Chinese: jieba's dictionary finds the words, over text in which Traditional characters became Simplified ones.

The characters are replaced one for one (OpenCC's table), so places in the text stay true. jieba's model for words
outside its dictionary is left off: it cuts one word differently in different sentences, and Latin names not at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

#: Text without Chinese, such as most queries of readers who don't read it: the dictionary takes a fifth of a second
#: to load, and has no such words.
_PLAIN = re.compile(r"[A-Za-z0-9 ]*")
_PIECES = re.compile(r"[A-Za-z0-9]+| ")


def make_chinese_segmenter() -> Callable[[str], list[str]]:
    """A function from text to all its pieces, in Simplified characters."""

    def cut(text: str) -> list[str]:
        if _PLAIN.fullmatch(text):
            return _PIECES.findall(text)
        pieces: list[str] = _jieba().cut(text if text.isascii() else _simplified(text), False)
        return pieces

    return cut


@cache
def _jieba() -> Any:
    from rjieba import Jieba

    return Jieba()


def _simplified(text: str) -> str:
    table, foldable = _to_simplified()
    return text.translate(table) if foldable.search(text) else text


@cache
def _to_simplified() -> tuple[dict[int, str], re.Pattern[str]]:
    """What each character becomes, and a quick test whether a text has any of them."""
    from opencc import OpenCC

    ideographs = [chr(code) for code in [*range(0x3400, 0xA000), *range(0xF900, 0xFB00)]]
    simplified = OpenCC("t2s").convert("\n".join(ideographs)).split("\n")
    table = {ord(old): new for old, new in zip(ideographs, simplified, strict=True) if old != new}
    # Full-width Latin letters and digits, which jieba would take for signs.
    table |= {code + 0xFEE0: chr(code) for code in range(0x21, 0x7F) if chr(code).isalnum()}
    return table, re.compile(f"[{''.join(map(chr, table))}]")
