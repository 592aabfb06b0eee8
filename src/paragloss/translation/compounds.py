"""Words written together: taken apart into words that are known (Zugverspätung into Zug and Verspätung), and made.
Words of scripts without spaces that were not cut far enough, and words with endings that nobody took off."""

from __future__ import annotations

from collections.abc import Callable, Sequence

#: What may stand between the parts of a compound, the most frequent first.
COMPOUND_LINKERS = {
    "de": ("", "s", "n", "en", "es", "er", "e"),
    "nl": ("", "s", "en", "e", "n"),
    "sv": ("", "s", "e", "o", "u"),
    "da": ("", "s", "e", "er"),
    "no": ("", "s", "e", "er"),
    "fi": ("", "n", "en", "s"),
    "hu": ("",),
}
_SHORTEST = 3
#: Nobody's word is longer; what is (a gene, encoded data) is not taken apart.
MAX_WORD_LENGTH = 100
#: Where words are not written apart, the shortest word that another may hold: in characters.
MIN_UNSPACED_PART = {"zh": 2, "ja": 2, "ko": 2, "th": 3}
_LONGEST = 8
#: How much of a word must be a known one for the rest to be taken for an ending.
_BEGINNING = 0.5


def split_compound(term: str, lang: str, known: Callable[[str], bool]) -> list[str]:
    """The two known words a term is made of, or three where no two do; none where it can't be taken apart.

    Of several ways the one with the longest last part is taken: it carries the meaning, and short words hide in long
    ones.
    """
    tails = (
        [cut for cut in range(_SHORTEST, len(term) - _SHORTEST + 1) if known(term[cut:])]
        if len(term) <= MAX_WORD_LENGTH
        else []
    )
    if two := _made(term, 0, tails, lang, known):
        return two
    for cut in range(_SHORTEST, max(tails, default=0) - _SHORTEST + 1):
        if (first := _ends(term[:cut], lang, known)) and (rest := _made(term, cut, tails, lang, known)):
            return [first, *rest]
    return []


def find_known_parts(term: str, lang: str, known: Callable[[str], bool]) -> list[str]:
    """The known words that an unknown one holds: its parts, or the longest it begins with."""
    if len(term) > MAX_WORD_LENGTH:
        return []
    if lang in COMPOUND_LINKERS:
        found = split_compound(term, lang, known)
    else:
        found = _cut(term, MIN_UNSPACED_PART[lang], known) if lang in MIN_UNSPACED_PART else []
    return found or _beginning(term, MIN_UNSPACED_PART.get(lang, _SHORTEST + 1), known)


def _beginning(term: str, shortest: int, known: Callable[[str], bool]) -> list[str]:
    least = max(shortest, int(_BEGINNING * len(term)) + 1)
    return next(([term[:end]] for end in range(len(term) - 1, least - 1, -1) if known(term[:end])), [])


def _cut(term: str, shortest: int, known: Callable[[str], bool]) -> list[str]:
    """The fewest known words that leave the fewest characters between them; none where those are more than half."""
    best: list[tuple[int, int, list[str]]] = [(0, 0, [])]  # up to each character: left out, words, which
    for end in range(1, len(term) + 1):
        skipped, number, words = best[end - 1]
        here = (skipped + 1, number, words)
        for start in range(max(0, end - _LONGEST), end - shortest + 1):
            if known(term[start:end]):
                skipped, number, words = best[start]
                if (skipped, number + 1) < here[:2]:
                    here = (skipped, number + 1, [*words, term[start:end]])
        best.append(here)
    return best[-1][2] if 2 * best[-1][0] <= len(term) else []


def join_words(firsts: Sequence[str], seconds: Sequence[str], lang: str, *, most: int = 3) -> list[str]:
    """Words that one of the first and one of the second might make, known or not, with the `most` frequent joints."""
    joints = COMPOUND_LINKERS[lang][:most]
    return list(dict.fromkeys(first + joint + second for first in firsts for second in seconds for joint in joints))


def _made(term: str, start: int, tails: Sequence[int], lang: str, known: Callable[[str], bool]) -> list[str]:
    """The two known words that the rest of a term is made of, given where known words begin that end it."""
    for cut in tails:
        if cut - start >= _SHORTEST and (first := _ends(term[start:cut], lang, known)):
            return [first, term[cut:]]
    return []


def _ends(word: str, lang: str, known: Callable[[str], bool]) -> str:
    """The known word a first part is, without what joins it to the next; empty if there is none."""
    for joint in COMPOUND_LINKERS[lang]:
        if word.endswith(joint):
            base = word[: len(word) - len(joint)]
            if len(base) >= _SHORTEST and known(base):
                return base
    return ""
