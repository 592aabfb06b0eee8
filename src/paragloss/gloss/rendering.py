"""The rough rendering of a sentence: the best meanings, in the order of English where simple rules do it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

_HELPS, _IS, _CONJUNCTIONS, _SUBJECTS, _PREPOSITIONS, _BREAKS = (
    frozenset(words.split())
    for words in (
        "has have had is was are were am will would can could must should may might wants want be been",
        "is are am",
        "that because if when while although whether as which who since before after",
        "I he she it we you they one this who everyone nobody",
        "of in on at to from for with by until after before between about near under above over against during without "
        "through since like as into toward towards inside outside around behind among than",
        # where a noun phrase ends that a postposition belongs to
        "i he she they we you it who which that but if because when while although so therefore not is are was were be "
        "also only still already now then very however has have had can will would must may",
    )
)
#: Slavic endings of cases that are not said by "of", and what is written as one with an Arabic or Hebrew noun.
_OTHER_CASE = re.compile("(?:[оеё]м|[оеє]ю|[ая]ми?|[ая]х|[ую]|[ое]ві|[eo]m|[ae]mi|owi|ům|[áeaíi]ch)$")
_JOINED = ("and ", "so ", "with ", "for ", "like ", "in ", "to ", "from ", "that ", "as ", "will ")
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
    for rule in _RULES.get(lang, ()):
        clause = rule(clause)
    return clause


def _adjectives_first(clause: list[Item]) -> list[Item]:
    """the house white: the white house."""
    found = list(clause)
    for place in range(len(found) - 1, 0, -1):
        noun, adjective = found[place - 1], found[place]
        if adjective.kind == "adjective" and noun.kind == "noun":
            before, the, text = noun.text.rpartition("the ")
            adjective = adjective._replace(text=before + the + adjective.text.removeprefix("the "))
            found[place - 1 : place + 1] = adjective, noun._replace(text=text)
    return found


def _genitives(clause: list[Item]) -> list[Item]:
    """decision central authorities: decision of central authorities. Cases that say something else are left alone, and
    what is behind a noun with an article: in Arabic and Hebrew such a noun has no other behind it."""
    found: list[Item] = []
    noun = False
    for place, item in enumerate(clause):
        rest = next((one for one in clause[place:] if one.kind != "adjective"), item)
        if noun and rest.kind == "noun" and not (_OTHER_CASE.search(rest.word) or item.text.startswith(_JOINED)):
            item = item._replace(text=f"of {item.text}")
        found.append(item)
        noun = item.kind == "noun" and not item.word.startswith("ال") and "the " not in item.text
    return found


def _subject_first(clause: list[Item]) -> list[Item]:
    """closed the school doors: the school closed doors."""
    last = next((i for i, item in enumerate(clause[1:], 1) if item.kind != "adjective"), 0)
    if last and clause[0].kind == "verb" and clause[last].kind == "noun":
        while last + 1 < len(clause) and (clause[last + 1].text.startswith("of ") or clause[last].kind == "adjective"):
            last += 1
        return [*clause[1 : last + 1], clause[0], *clause[last + 1 :]]
    return clause


def _verb_forward(clause: list[Item]) -> list[Item]:
    """he has honey made: he has made honey; because he bread bakes: because he bakes bread; closed are: are closed."""
    if len(clause) < 3:
        return clause
    if clause[-1].text in _HELPS and clause[-2].kind in ("verb", "adjective"):
        return [*clause[:-2], clause[-1], clause[-2]]
    if clause[-1].kind != "verb":
        return clause
    for place, item in enumerate(clause[:-2]):
        if item.text.removeprefix(GUESS) in _HELPS:
            rest = clause[place + 1 : -1]
            nots = [one for one in rest if one.text == "not"]
            return [*clause[: place + 1], *nots, clause[-1], *(one for one in rest if one not in nots)]
    subject = next((i for i, item in enumerate(clause[1:-1], 1) if item.kind == "noun" or item.text in _SUBJECTS), 0)
    if clause[0].text in _CONJUNCTIONS and subject:
        return [*clause[: subject + 1], clause[-1], *clause[subject + 1 : -1]]
    return clause


def _is_once(clause: list[Item]) -> list[Item]:
    """Hindi jāte haĩ: they go, not they go are."""
    doubled = {i for i in range(1, len(clause)) if clause[i].text in _IS and clause[i - 1].kind == "verb"}
    return [item._replace(text="") if i in doubled else item for i, item in enumerate(clause)]


def _prepositions(clause: list[Item]) -> list[Item]:
    """school of roof on: on roof of school."""
    found: list[Item] = []
    phrase: list[Item] = []
    owners: list[Item] = []  # what the phrase is of, the last one first, each with its "of"
    for item in [*clause, None]:
        text = item.text.removeprefix(GUESS).casefold() if item else ""
        if item and text == "of" and phrase:
            owners, phrase = [item, *phrase, *owners], []
        elif item and phrase and text in _PREPOSITIONS:
            found, phrase, owners = [*found, item, *phrase, *owners], [], []
        elif not item or item.kind == "verb" or text in _BREAKS or text in _PREPOSITIONS or text.startswith("("):
            found, phrase, owners = [*found, *phrase, *owners, *([item] if item else [])], [], []
        else:
            phrase.append(item)
    return found


def _verb_second(*marks: str) -> Callable[[list[Item]], list[Item]]:
    """Verbs stand last; who does it is known by a mark behind it."""

    def ordered(clause: list[Item]) -> list[Item]:
        last = max((i for i, item in enumerate(clause) if item.kind == "verb"), default=-1)
        first = next((i for i, item in enumerate(clause) if item.word in marks), len(clause))
        if first + 1 < last and all(not item.kind for item in clause[last + 1 :]):
            return [*clause[: first + 1], *clause[last:], *clause[first + 1 : last]]
        return clause

    return ordered


#: What is done to the words of a clause, one after the other, by languages.
_RULES: dict[str, tuple[Callable[[list[Item]], list[Item]], ...]] = {
    lang: rules
    for langs, rules in {
        "fr es it pt ro ca vi th sw yo ha ig zu xh rw so": (_adjectives_first,),
        "he fa id ms": (_adjectives_first, _genitives),
        "ar": (_adjectives_first, _genitives, _subject_first),
        "ru uk pl cs sk hr sl": (_genitives,),
        "de nl": (_verb_forward,),
        "bn ta ko": (_prepositions,),
        "hi": (_is_once, _prepositions, _verb_second("ने")),
        "ja": (_prepositions, _verb_second("は", "が")),
    }.items()
    for lang in langs.split()
}
