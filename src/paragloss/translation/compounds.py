"""Split compounds into known words (Zugverspätung into Zug and Verspätung), and join words to compounds.

Splitting also serves words of scripts without spaces that the tokenizer did not split far enough, and unknown inflected
forms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

#: Letters that may link the parts of a compound, the most frequent first.
COMPOUND_LINKERS = {
    "de": ("", "s", "n", "en", "es", "er", "e"),
    "nl": ("", "s", "en", "e", "n"),
    "sv": ("", "s", "e", "o", "u"),
    "da": ("", "s", "e", "er"),
    "no": ("", "s", "e", "er"),
    "fi": ("", "n", "en", "s"),
    "hu": ("",),
}
#: Longer words (genes, encoded data) are not split.
MAX_WORD_LENGTH = 100
#: In languages that do not separate words, the least characters of a word inside another.
MIN_UNSPACED_PART = {"zh": 2, "ja": 2, "ko": 2, "th": 3}
_MAX_UNSPACED_PART = 8
_MIN_PART = 3
#: The share of a word that a known word at its beginning must have, so that the rest can be an ending.
_MIN_BEGINNING_SHARE = 0.5


def split_compound(term: str, lang: str, is_known: Callable[[str], bool]) -> list[str]:
    """Split a term into two known words, or three if no two make it; return [] if it cannot be split.

    Of several ways the one with the longest last part is taken: it carries the meaning, and short words occur inside
    long ones by chance.

    :param is_known: tells whether the vocabulary has a term
    """
    if len(term) > MAX_WORD_LENGTH:
        return []
    last_starts = [start for start in range(_MIN_PART, len(term) - _MIN_PART + 1) if is_known(term[start:])]
    two_parts = _split_in_two(term, 0, last_starts, lang, is_known)
    if two_parts:
        return two_parts
    for first_end in range(_MIN_PART, max(last_starts, default=0) - _MIN_PART + 1):
        first = _strip_linker(term[:first_end], lang, is_known)
        two_parts = _split_in_two(term, first_end, last_starts, lang, is_known) if first else []
        if two_parts:
            return [first, *two_parts]
    return []


def find_known_parts(term: str, lang: str, is_known: Callable[[str], bool]) -> list[str]:
    """Return the known words that an unknown one contains: its parts, or the longest word that it begins with."""
    if len(term) > MAX_WORD_LENGTH:
        return []
    parts: list[str] = []
    if lang in COMPOUND_LINKERS:
        parts = split_compound(term, lang, is_known)
    elif lang in MIN_UNSPACED_PART:
        parts = _segment(term, MIN_UNSPACED_PART[lang], is_known)
    return parts or _find_beginning(term, MIN_UNSPACED_PART.get(lang, _MIN_PART + 1), is_known)


def join_words(firsts: Sequence[str], seconds: Sequence[str], lang: str, *, max_linkers: int = 3) -> list[str]:
    """Return all compounds of one of the first and one of the second words with the most frequent linkers."""
    linkers = COMPOUND_LINKERS[lang][:max_linkers]
    return list(dict.fromkeys(first + linker + second for first in firsts for second in seconds for linker in linkers))


def _find_beginning(term: str, min_letters: int, is_known: Callable[[str], bool]) -> list[str]:
    """Return the longest known word that a term begins with, as a list, if it is long enough."""
    shortest = max(min_letters, int(_MIN_BEGINNING_SHARE * len(term)) + 1)
    for end in range(len(term) - 1, shortest - 1, -1):
        if is_known(term[:end]):
            return [term[:end]]
    return []


def _segment(term: str, min_letters: int, is_known: Callable[[str], bool]) -> list[str]:
    """Split a term into the fewest known words that skip the fewest characters; [] if more than half are skipped."""
    best = [_Segmentation(0, 0, [])]  # of the first characters, for each number of them
    for end in range(1, len(term) + 1):
        candidate = best[end - 1]._replace(skipped=best[end - 1].skipped + 1)
        for start in range(max(0, end - _MAX_UNSPACED_PART), end - min_letters + 1):
            if is_known(term[start:end]):
                skipped, n_words, words = best[start]
                if (skipped, n_words + 1) < candidate[:2]:
                    candidate = _Segmentation(skipped, n_words + 1, [*words, term[start:end]])
        best.append(candidate)
    return best[-1].words if 2 * best[-1].skipped <= len(term) else []


class _Segmentation(NamedTuple):
    """Known words in the beginning of a term, and how many of its characters are in none."""

    skipped: int
    n_words: int
    words: list[str]


def _split_in_two(
    term: str, start: int, last_starts: Sequence[int], lang: str, is_known: Callable[[str], bool]
) -> list[str]:
    """Split the rest of a term in two; `last_starts` are where known words begin that end it."""
    for last_start in last_starts:
        if last_start - start >= _MIN_PART:
            first = _strip_linker(term[start:last_start], lang, is_known)
            if first:
                return [first, term[last_start:]]
    return []


def _strip_linker(word: str, lang: str, is_known: Callable[[str], bool]) -> str:
    """Return the known word that a first part is without its linker; "" if there is none."""
    for linker in COMPOUND_LINKERS[lang]:
        if word.endswith(linker):
            base = word[: len(word) - len(linker)]
            if len(base) >= _MIN_PART and is_known(base):
                return base
    return ""
