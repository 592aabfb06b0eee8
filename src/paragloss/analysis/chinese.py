"""Chinese: jieba's dictionary finds the words, over text in which Traditional characters became Simplified ones.

The characters are replaced one for one (OpenCC's table), so places in the text stay true. jieba's model for words
outside its dictionary is left off: it cuts one word differently in different sentences, which searching can't afford.
"""

from __future__ import annotations

import re
from functools import cache

from paragloss.analysis._characters import is_word
from paragloss.analysis._words import Words
from paragloss.types import Span


class ChineseAnalyzer:
    """Words of Simplified Chinese, whichever way they were written."""

    lang = "zh"

    def __init__(self, *, stem: bool = True, stop: bool = True) -> None:
        import rjieba

        self._jieba = rjieba.Jieba()
        self._words = Words("zh", stem=stem, stop=stop)

    def terms(self, text: str) -> list[str]:
        return [span.term for span in self.spans(text)]

    def spans(self, text: str) -> list[Span]:
        tokens = [token for token in self._jieba.tokenize(_simplified(text), hmm=False) if is_word(token[0][0])]
        for term_of in (self._words.terms.__getitem__, self._words.always):
            spans = [Span(start, end, term) for token, start, end in tokens if (term := term_of(token))]
            if spans:
                return spans
        return []


def _simplified(text: str) -> str:
    table, needed = _to_simplified()
    return text.translate(table) if needed.search(text) else text


@cache
def _to_simplified() -> tuple[dict[int, str], re.Pattern[str]]:
    from opencc import OpenCC

    ideographs = [chr(code) for code in [*range(0x3400, 0xA000), *range(0xF900, 0xFB00)]]
    simplified = OpenCC("t2s").convert("\n".join(ideographs)).split("\n")
    table = {ord(old): new for old, new in zip(ideographs, simplified, strict=True) if old != new}
    # Full-width Latin letters and digits, which jieba would take for signs.
    table |= {code + 0xFEE0: chr(code) for code in range(0x21, 0x7F) if chr(code).isalnum()}
    return table, re.compile(f"[{''.join(map(chr, table))}]")
