"""Split long documents into passages: encoders read a few hundred tokens, and an average over more says little.

Lengths are in tokens of a multilingual model, estimated from the script: counting them would cost more than splitting.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from paragloss.types import Document

#: About how many tokens a passage has. Passages do not overlap: with an overlap of 40 tokens nothing was found better.
PASSAGE_TOKENS = 200
#: Characters per token of XLM-RoBERTa, measured on the same sentences in seventeen languages: 3.1 to 4.5 in alphabets
#: and abugidas, 1.6 to 2.2 where a character is a syllable or more (Chinese, Japanese, Korean, Amharic).
ALPHABET_CHARACTERS_PER_TOKEN, SYLLABLE_CHARACTERS_PER_TOKEN = 3.8, 1.8
#: A passage of which more than this share are digits and ASCII symbols is code, numbers or markup, and not encoded.
MAX_SYMBOL_SHARE = 0.3
#: The least length of a passage, relative to the wanted one.
MIN_PASSAGE = 0.6
#: A remainder of up to this many passages belongs to the last one.
MAX_LAST_PASSAGE = 1.25

Span: TypeAlias = tuple[int, int]  # offsets of the first character and of the one after the last

_SENTENCE_END = re.compile(r"\n\s*|[.!?।۔؟][\"'”’»)\]]*\s+|[。！？；]")
_WORD_END = re.compile(r"\s+")
_IS_SYMBOL = np.zeros(128, bool)
_IS_SYMBOL[[ord(character) for character in "0123456789{}()[]<>=+*/\\|_#$%^&@~`\"';:"]] = True


def split_passages(text: str) -> list[Span]:
    """Split a text into passages of about PASSAGE_TOKENS tokens.

    :return: the (start, end) of each passage, which ends with a line, a sentence or a word; the last one takes what
        would be a short remainder
    """
    # The tokens before each character: non-decreasing, so that offsets are found by binary search.
    tokens_before = _estimate_tokens(text)
    spans: list[Span] = []
    start = 0
    while tokens_before[-1] - tokens_before[start] > MAX_LAST_PASSAGE * PASSAGE_TOKENS:
        min_tokens_before_end = tokens_before[start] + MIN_PASSAGE * PASSAGE_TOKENS
        max_tokens_before_end = tokens_before[start] + PASSAGE_TOKENS
        earliest_end = int(np.searchsorted(tokens_before, min_tokens_before_end))
        latest_end = int(np.searchsorted(tokens_before, max_tokens_before_end))
        end = _find_last_boundary(text, earliest_end, latest_end)
        spans.append((start, end))
        start = end
    return [*spans, (start, len(text))]


def select_passages(text: str) -> list[Span]:
    """Return the spans of the passages to encode: all but those of code, numbers or markup, and at least one."""
    spans = split_passages(text)
    if len(spans) == 1:
        return spans
    is_prose = find_prose(text, spans)
    prose = [span for span, is_readable in zip(spans, is_prose, strict=True) if is_readable]
    return prose or spans[:1]


def read_passages(document: Document) -> list[str]:
    """Return what an encoder reads of a document: its selected passages, each under the title."""
    spans = select_passages(document.text)
    return [add_title(document, document.text[start:end].strip()) for start, end in spans]


def add_title(document: Document, body: str) -> str:
    """Return a passage under the title of its document."""
    return f"{document.title}\n{body}" if document.title else body


def find_prose(text: str, spans: Sequence[Span]) -> list[bool]:
    """Tell which passages of a text are made of words, and not mostly of code, numbers or markup."""
    characters = _as_code_points(text)
    is_symbol = _IS_SYMBOL[np.minimum(characters, 127)] & (characters < 128)
    symbols_before = np.concatenate([[0], np.cumsum(is_symbol)])
    visible_before = np.concatenate([[0], np.cumsum(characters > ord(" "))])
    span_starts, span_ends = np.array(spans).T
    symbol_counts = symbols_before[span_ends] - symbols_before[span_starts]
    visible_counts = visible_before[span_ends] - visible_before[span_starts]
    is_prose: list[bool] = (symbol_counts <= MAX_SYMBOL_SHARE * visible_counts).tolist()
    return is_prose


def _estimate_tokens(text: str) -> np.ndarray[Any, Any]:
    """Return about how many tokens stand before each character, and before the end (characters + 1)."""
    characters = _as_code_points(text)
    is_syllable = (characters >= 0x2E80) | ((characters >= 0x1100) & (characters < 0x13A0))
    tokens = np.where(is_syllable, 1 / SYLLABLE_CHARACTERS_PER_TOKEN, 1 / ALPHABET_CHARACTERS_PER_TOKEN)
    return np.concatenate([[0.0], np.cumsum(tokens)])


def _as_code_points(text: str) -> np.ndarray[Any, Any]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _find_last_boundary(text: str, low: int, high: int) -> int:
    """Return the last end of a sentence or line between two offsets, else of a word, else the second offset."""
    for pattern in (_SENTENCE_END, _WORD_END):
        boundaries = [match.end() for match in pattern.finditer(text, low, high)]
        boundaries = [boundary for boundary in boundaries if low < boundary < high]
        if boundaries:
            return boundaries[-1]
    return high
