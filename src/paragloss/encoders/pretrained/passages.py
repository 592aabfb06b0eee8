"""Long documents as passages with overlap: encoders read a few hundred tokens, and an average over more says little.

Lengths are in the tokens of a multilingual model, guessed from the script: counting them would cost more than cutting.
"""

from __future__ import annotations

import re

import numpy as np

from paragloss.types import Document

#: About how many tokens a passage has, and how many it shares with the one before.
TOKENS, OVERLAP = 200, 40
#: Characters for a token of XLM-RoBERTa's, measured on the same sentences in seventeen languages: 3.1 to 4.5 in
#: alphabets and abugidas, 1.6 to 2.2 where a character is a syllable or more (Chinese, Japanese, Korean, Amharic).
_ALPHABET, _SYLLABLES = 3.8, 1.8
_END = re.compile(r"\n\s*|[.!?।۔؟][\"'”’»)\]]*\s+|[。！？；]")
_WORD = re.compile(r"\s+")


def spans(text: str, *, tokens: int = TOKENS, overlap: int = OVERLAP) -> list[tuple[int, int]]:
    """Where the passages stand: each ends with a line, a sentence or a word, the next begins `overlap` earlier."""
    letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    dense = (letters >= 0x2E80) | ((letters >= 0x1100) & (letters < 0x13A0))
    upto = np.concatenate([[0.0], np.cumsum(np.where(dense, 1 / _SYLLABLES, 1 / _ALPHABET))])
    found, start = [], 0
    while upto[-1] - upto[start] > 1.25 * tokens:  # a short rest belongs to the last passage
        low, high = (int(np.searchsorted(upto, upto[start] + share * tokens)) for share in (0.6, 1.0))
        end = _boundaries(text, low, high)[-1]
        found.append((start, end))
        back = int(np.searchsorted(upto, upto[end] - overlap))
        start = _boundaries(text, max(back, start + 1), end)[0]
    return [*found, (start, len(text))]


def read(document: Document) -> list[str]:
    """What an encoder reads of a document: its passages, each under the title."""
    head = f"{document.title}\n" if document.title else ""
    return [head + document.text[start:end].strip() for start, end in spans(document.text)]


def _boundaries(text: str, low: int, high: int) -> list[int]:
    """The ends of sentences and lines between two places, else of words, else the second place."""
    for ends in (_END, _WORD):
        if found := [place for match in ends.finditer(text, low, high) if low < (place := match.end()) < high]:
            return found
    return [high]
