"""Which blocks of a text are in another language than the text: by the small words of each language, and by script."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache

from paragloss.analysis._stopwords import stopwords
from paragloss.languages import identify_one, known, script_of, scripts
from paragloss.languages.scripts import strange

_WORD = re.compile(r"[^\W\d_]+")
#: What a line says, without the space around it.
_LINE = re.compile(r"\S(?:[^\n]*\S)?")
#: A language is looked for where a text has so many of its small words and they are such a share of all, and spoken
#: where blocks have so many words, so many different small ones among them.
_SMALL, _RARE, _SPOKEN, _DIFFERENT = 4, 0.01, 12, 4
#: A block is in another language if so many of its words are small words there and not in the text's own language, and
#: at least as many as those of its own.
_LEAST, _SHARE = 2, 0.12


def others(text: str, lang: str) -> dict[str, list[tuple[int, int]]]:
    """For each language that some blocks (lines) of a text are in, other than its own, where they stand."""
    words = Counter(_WORD.findall(text.lower()))
    spoken = _small().get(lang, frozenset())
    met = Counter[str]()
    for word in words.keys() & _languages().keys() - spoken:
        for other in _languages()[word]:
            met[other] += words[word]
    few = max(_SMALL, _RARE * words.total())
    likely = {o: _small()[o] - spoken for o, number in met.most_common(3) if number >= few and o != lang}
    foreign = _foreign_letters(text, lang)
    if not likely and not foreign:
        return {}
    found: dict[str, list[tuple[int, int]]] = {}
    for line in _LINE.finditer(text):
        if other := _other(line[0], spoken, likely, foreign):
            found.setdefault(other, []).append(line.span())
    said = {other: "\n".join(text[start:end] for start, end in blocks) for other, blocks in found.items()}
    return {other: blocks for other, blocks in found.items() if _is(said[other], other, lang)}


def _other(block: str, own: frozenset[str], likely: Mapping[str, frozenset[str]], foreign: Mapping[str, str]) -> str:
    """The language of a block that is not in the text's own."""
    if foreign and (other := foreign.get(script_of(block) or "")):
        return other
    words = _WORD.findall(block.lower())
    best, most = "", 0
    for other, theirs in likely.items():
        if (met := sum(map(theirs.__contains__, words))) > most:
            best, most = other, met
    return best if most >= max(_LEAST, _SHARE * len(words)) and most > sum(map(own.__contains__, words)) else ""


def _is(text: str, lang: str, instead: str) -> bool:
    words, spaced = _WORD.findall(text.lower()), "Latn" in scripts(lang)
    if len(words) < _SPOKEN if spaced else len(text) < 3 * _SPOKEN:
        return False
    small = (_small().get(lang, frozenset()) - _small().get(instead, frozenset())).intersection(words)
    return (len(small) >= _DIFFERENT or not spaced) and identify_one(text, {lang, instead}) == lang


def _foreign_letters(text: str, lang: str) -> dict[str, str]:
    """The language of blocks in each script that the text's language is not written in; Latin letters tell none."""
    if text.isascii() or not strange(lang).search(text):
        return {}
    found: dict[str, list[str]] = {}
    for block in filter(strange(lang).search, text.split("\n")):
        if (script := script_of(block)) and script not in ("Latn", *scripts(lang)):
            found.setdefault(script, []).append(block)
    return {script: other for script, blocks in found.items() if (other := identify_one("\n".join(blocks)))}


@cache
def _small() -> dict[str, frozenset[str]]:
    """The small words of every language that has a list of them."""
    listed = {lang: stopwords(lang, str) for lang in known()}
    return {lang: frozenset(word for word in words if len(word) > 1) for lang, words in listed.items() if words}


@cache
def _languages() -> dict[str, tuple[str, ...]]:
    """The languages of every small word."""
    found: dict[str, list[str]] = {}
    for lang, words in _small().items():
        for word in words:
            found.setdefault(word, []).append(lang)
    return {word: tuple(langs) for word, langs in found.items()}
