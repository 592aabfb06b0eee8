"""Which blocks of a text are in another language than the text: by the small words of each language, and by script."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain

import numpy as np
import numpy.typing as npt

from paragloss.analysis._stopwords import stopwords
from paragloss.languages import identify_one, known_codes, script_of, scripts_of
from paragloss.languages.scripts import foreign_letters

_WORD, _WIDE = re.compile(r"[^\W\d_]+"), re.compile(r"[^\W\d_\x00-\xff]")
#: Of each byte the letter that it is in Latin-1, or the end of a line, else a space.
_LETTERS = bytes(code if _WORD.match(chr(code)) or code == 10 else 32 for code in range(256))
#: A language is looked for where a text has so many of its small words and they are such a share of all, and spoken
#: where blocks have so many words, so many different small ones among them.
_SMALL, _RARE, _SPOKEN, _DIFFERENT = 4, 0.01, 12, 4
#: So many characters tell one of two languages from the other.
_SEEN = 500
#: A block is in another language if so many of its words are small words there and not in the text's own language, and
#: at least as many as those of its own.
_LEAST, _SHARE = 2, 0.12


def find_foreign_blocks(text: str, lang: str) -> dict[str, list[tuple[int, int]]]:
    """For each language that some blocks (lines) of a text are in, other than its own, where they stand."""
    lines = _lines(text)
    likely = {other: _beyond(other, lang) for other in _likely([*chain(*lines)], lang) if other != lang}
    foreign = _foreign_letters(text, lang)
    if not likely and not foreign:
        return {}
    spoken, every = _small().get(lang, frozenset()), frozenset().union(*likely.values())
    found: dict[str, list[tuple[int, int]]] = {}
    end = -1
    for line, words in zip(text.split("\n"), lines, strict=True):
        start, end = end + 1, end + 1 + len(line)
        other = foreign.get(script_of(line) or "", "") if foreign else ""
        if not other and _enough(sum(map(every.__contains__, words)), words):
            other = _other(words, spoken, likely)
        if other:
            first = end - len(line.lstrip())
            found.setdefault(other, []).append((first, start + len(line.rstrip())))
    texts = {other: "\n".join(text[start:end] for start, end in blocks) for other, blocks in found.items()}
    return {other: blocks for other, blocks in found.items() if _is(texts[other], other, lang)}


def _lines(text: str) -> list[list[str]]:
    """The words of each line in small letters; of Western European letters without a look at each."""
    text = text.lower()
    if _WIDE.search(text):
        return [*map(_WORD.findall, text.split("\n"))]
    plain = text.encode("latin-1", "replace").translate(_LETTERS).decode("latin-1")
    return [*map(str.split, plain.split("\n"))]


def _likely(words: Sequence[str], lang: str) -> list[str]:
    """The three languages most of whose small words are there, where they are not few."""
    number, says = _languages()
    small = [*filter(_foreign(lang).__contains__, words)]
    few = max(_SMALL, _RARE * len(words))
    if len(small) < few:
        return []
    counts, langs = Counter(small), [*_small()]
    found = np.array([*counts.values()]) @ says[[number[word] for word in counts]]
    return [langs[place] for place in np.argsort(-found, kind="stable")[:3].tolist() if found[place] >= few]


def _other(words: Sequence[str], own: frozenset[str], likely: Mapping[str, frozenset[str]]) -> str:
    """The language of a block that is not in the text's own."""
    best, most = "", 0
    for other, theirs in likely.items():
        if (matched := sum(map(theirs.__contains__, words))) > most:
            best, most = other, matched
    return best if _enough(most, words) and most > sum(map(own.__contains__, words)) else ""


def _enough(small: int, words: Sequence[str]) -> bool:
    return small >= max(_LEAST, _SHARE * len(words))


def _is(text: str, lang: str, instead: str) -> bool:
    words, spaced = [*chain(*_lines(text))], "Latn" in scripts_of(lang)
    if len(words) < _SPOKEN if spaced else len(text) < 3 * _SPOKEN:
        return False
    small = _beyond(lang, instead).intersection(words)
    return (len(small) >= _DIFFERENT or not spaced) and identify_one(text[:_SEEN], {lang, instead}) == lang


def _foreign_letters(text: str, lang: str) -> dict[str, str]:
    """The language of blocks in each script that the text's language is not written in; Latin letters tell none."""
    if text.isascii() or not foreign_letters(lang).search(text):
        return {}
    found: dict[str, list[str]] = {}
    for block in filter(foreign_letters(lang).search, text.split("\n")):
        if (script := script_of(block)) and script not in ("Latn", *scripts_of(lang)):
            found.setdefault(script, []).append(block)
    return {script: other for script, blocks in found.items() if (other := identify_one("\n".join(blocks)))}


@cache
def _small() -> dict[str, frozenset[str]]:
    """The small words of every language that has a list of them."""
    listed = {lang: stopwords(lang, str) for lang in known_codes()}
    return {lang: frozenset(word for word in words if len(word) > 1) for lang, words in listed.items() if words}


@cache
def _beyond(lang: str, other: str) -> frozenset[str]:
    """The small words of one language that are none in another."""
    return _small().get(lang, frozenset()) - _small().get(other, frozenset())


@cache
def _foreign(lang: str) -> frozenset[str]:
    """The small words of all languages that are none in one."""
    return frozenset(_languages()[0]) - _small().get(lang, frozenset())


@cache
def _languages() -> tuple[dict[str, int], npt.NDArray[np.bool_]]:
    """A number for every small word, and for each number which languages have it."""
    number = {word: place for place, word in enumerate(sorted(frozenset().union(*_small().values())))}
    says = np.zeros((len(number), len(_small())), bool)
    for column, words in enumerate(_small().values()):
        says[[number[word] for word in words], column] = True
    return number, says
