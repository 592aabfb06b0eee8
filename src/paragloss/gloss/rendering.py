"""The rough rendering of a sentence: the best meanings, in the order of English where simple rules do it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

#: Adjectives stand behind their nouns, or did so often enough.
_NOUN_FIRST = frozenset("fr es it pt ro ca ar he fa vi id ms th sw yo ha ig zu xh rw so".split())  # noqa: SIM905
#: Verbs stand last; who does it is known by a small word behind it.
_VERB_LAST = {"ja": frozenset("はが"), "hi": frozenset({"ने"})}
#: Participles and infinitives stand last, behind what they belong to.
_BRACKET = frozenset({"de", "nl"})
_HELPS = frozenset(
    "has have had is was are were am will would can could must should may might wants want be been".split()  # noqa: SIM905
)
_IS = frozenset({"is", "are", "am"})
_ENDS = {
    "。": ".",
    "！": "!",
    "？": "?",
    "।": ".",
    "؟": "?",
    "，": ",",
    "、": ",",
    "،": ",",
    "；": ";",
    "：": ":",
    "։": ".",
}
_KEPT = {char: char for char in ".!?;:,"} | _ENDS
#: Before a meaning that is a guess.
GUESS = "~"


class Item(NamedTuple):
    """A meaning to be said: its part of speech, the word it is of, and the signs behind it."""

    text: str
    kind: str
    word: str
    sign: str = ""


def rendered(items: Sequence[Item], lang: str, to: str) -> str:
    """The items of one sentence as a line; those in brackets say what English has no word for."""
    clauses: list[list[Item]] = [[]]
    for item in items:
        clauses[-1].append(item)
        if item.sign:
            clauses.append([])
    said = []
    for clause in clauses:
        ordered = _ordered(clause, lang) if to == "en" else clause
        kept = [item.text for item in ordered if item.text and not item.text.startswith("(")]
        sign = clause[-1].sign if clause else ""
        line = " ".join(_once(kept))
        said.append(line + sign if line else "")
    text = " ".join(filter(None, said))
    return _an().sub(r"\1n", text) if to == "en" else text


def sign(between: str) -> str:
    """The sign of the text between two words that the rendering keeps."""
    for char in between:
        if char in _KEPT:
            return _KEPT[char]
    return ""


@cache
def _an() -> re.Pattern[str]:
    return re.compile(r"\b([Aa])(?= [aeio])")


def _once(words: Sequence[str]) -> list[str]:
    """Doubled words and articles once."""
    found: list[str] = []
    last = ""
    for word in words:
        folded = word.casefold()
        if last == folded or (last in ("the", "a") and folded in ("the", "a", "an")):
            continue
        if last in ("the", "a", "an") and folded.startswith("the "):
            word, folded = word[4:], folded[4:]
        found.append(word)
        last = (folded.split() or [""])[-1]
    return found


def _ordered(clause: list[Item], lang: str) -> list[Item]:
    if lang == "hi":  # jāte haĩ: they go, not they go are
        doubled = [i for i in range(1, len(clause)) if clause[i].text in _IS and clause[i - 1].kind == "verb"]
        clause = [item._replace(text="") if i in doubled else item for i, item in enumerate(clause)]
    if lang in _NOUN_FIRST:
        clause = _adjectives_first(clause)
    if lang in _BRACKET and len(clause) > 2 and clause[-1].kind == "verb":
        for place, item in enumerate(clause[:-2]):
            if item.text.removeprefix(GUESS) in _HELPS:
                rest = clause[place + 1 : -1]
                nots = [one for one in rest if one.text == "not"]
                return [*clause[: place + 1], *nots, clause[-1], *(one for one in rest if one not in nots)]
    marks = _VERB_LAST.get(lang)
    if marks:
        last = max((i for i, item in enumerate(clause) if item.kind == "verb"), default=-1)
        first = next((i for i, item in enumerate(clause) if item.word in marks), len(clause))
        if first + 1 < last and all(not item.kind for item in clause[last + 1 :]):
            return [*clause[: first + 1], *clause[last:], *clause[first + 1 : last]]
    return clause


def _adjectives_first(clause: list[Item]) -> list[Item]:
    found = list(clause)
    for place in range(len(found) - 1, 0, -1):
        if found[place].kind == "adjective" and found[place - 1].kind == "noun":
            found[place - 1], found[place] = found[place], found[place - 1]
    return found
