"""Did you mean ...: words of a query that neither the collection nor the model knows, as words that they know.

A collection keeps its terms as hashes: there is no list of words to compare with. What a slip of the pen may have been
is made instead, and looked up; a neighbouring key, a mark left out or two letters exchanged are the likeliest slips.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import compress
from typing import Any

import numpy as np

from paragloss.analysis import analyzer
from paragloss.collection.deadline import Deadline
from paragloss.languages import scripts_of
from paragloss.statistics import Statistics
from paragloss.translation.default import DefaultModel
from paragloss.types import Query

#: What slips cost: a mark left out, a letter doubled or not, two exchanged, a neighbouring key, one too few, one too
#: many, another letter; a first letter more; a form of a word that is not the one the model spells.
MARK, DOUBLE, SWAP, NEAR, MISSING, EXTRA, OTHER, FIRST, FORM = 0.3, 0.6, 0.7, 0.8, 0.8, 1.1, 1.2, 0.5, 0.2
#: What it is worth that documents have a word, for every e-fold of them; the most that slips of one word may cost.
COMMON, MOST = 0.15, 1.8
#: Shorter words have too many neighbours; words this long may have two slips, one of them a likely one.
SHORTEST, LONG = 4, 7
#: Longer words and queries with more unknown words get no suggestion: the number of variants grows with the square of
#: the length of a word, and a request must not cost more than a search.
MAX_LETTERS = 40
MAX_UNKNOWN_WORDS = 8
#: Letters of a run by which what can't be a word is told, and how large the table of those seen is.
PIECE, _BITS = 4, 22
#: Words of a language looked at for its letters; at most so many, with marks if these are more than rare.
_SAMPLE, _LETTERS, _MARKED = 400, 100, 0.01
_KEYS = """
qwertyuiop asdfghjkl zxcvbnm
йцукенгшщзхъ фывапролджэ ячсмитьбю
ςερτυθιοπ ασδφγηξκλ ζχψωβνμ
קראטוןםפ שדגכעיחלך זסבהנמצת
ضصثقفغعهخحجد شسيبلاتنمكط ئءؤرىةوزظ
"""


def suggestion(
    query: Query,
    langs: Sequence[str],
    statistics: Statistics,
    model: DefaultModel | None,
    deadline: Deadline | None = None,
) -> Query | None:
    """The query spelled as its words may have been meant, in the one of some languages where that takes least; None
    where all are known in one, or one word is like none that is. DeadlineError where the deadline passes first."""
    best: tuple[float, Query] | None = None
    for lang in langs:
        spans = analyzer(lang).spans(query.text)
        words = [query.text[span.start : span.end] for span in spans]
        known_of = _knows(words, lang, statistics, model) if words else []
        strange = [(span, word) for span, word, n in zip(spans, words, known_of, strict=True) if not n]
        if not strange:
            return None
        if len(strange) > MAX_UNKNOWN_WORDS:
            continue
        text, total = query.text, 0.0
        for span, word in reversed(strange):
            if deadline is not None:
                deadline.check()
            known = None if word[0].isupper() else model  # a noun, if documents have it; else it may be a name
            if not _correctable(word, lang) or (found := nearest(word.lower(), lang, statistics, known)) is None:
                break
            text = text[: span.start] + found[0] + text[span.end :]
            total += found[1]
        else:
            if best is None or total < best[0]:
                best = total, Query(query.id, text, lang)
    return best[1] if best else None


def _correctable(word: str, lang: str) -> bool:
    """Tell whether a word may be a misspelling: names and codes are not. German capitalizes more than names."""
    return (
        SHORTEST <= len(word) <= MAX_LETTERS and all(map(_is_letter, word)) and (lang == "de" or not word[0].isupper())
    )


def _is_letter(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "LM"


def nearest(word: str, lang: str, statistics: Statistics, model: DefaultModel | None) -> tuple[str, float] | None:
    """The likeliest known word, and what the slips cost."""
    letters = _letters(lang, model)
    if not set(word) <= set(letters) | set(_plain(letters)):
        return None
    once = _slips(word, letters)
    found = _best(once, lang, statistics, model)
    if found is None and len(word) >= LONG and model is not None and lang in model.langs:
        seen = _seen(lang, model)
        likely = [one for one, cost in once.items() if cost <= SWAP]
        unseen: list[list[int]] = [[] for _ in likely]
        for one, place in zip(*(found.tolist() for found in seen.unseen(likely)), strict=True):
            unseen[one].append(place)
        twice: dict[str, float] = {}
        for one, places in zip(likely, map(_doubtful, likely, unseen), strict=True):
            for two, more in _slips(one, letters, places).items():
                twice[two] = min(twice.get(two, MOST), once[one] + more)
        strange = set(seen.unseen(list(twice))[0].tolist())
        words = [two for place, two in enumerate(twice) if place not in strange]
        # So many are made that some fall on the hash of another word of the documents: the model must know them.
        known = model.has_terms(_terms(words, lang), lang)
        found = _best({two: twice[two] for two in compress(words, known)}, lang, statistics, model)
    return found


class _Pieces:
    """All runs of a few letters that the words of a language have, ends included, in a table of hashes: what has
    another is none of them."""

    def __init__(self, words: str) -> None:
        self._there = np.zeros(1 << _BITS, bool)
        self._there[_hashes(words)] = True

    def unseen(self, words: Sequence[str]) -> tuple[Any, Any]:
        """Runs that none of the language's words has: of which word each is, and where in it, counted from one before
        its first letter."""
        ends = np.cumsum([len(word) + 1 for word in words])
        at = np.flatnonzero(~self._there[_hashes(f" {' '.join(words)} ")])
        which = np.searchsorted(ends, at, side="right")
        inside = at + PIECE <= ends[which] + 1  # others run into the next word
        return which[inside], (at - np.concatenate([[0], ends])[which])[inside]


def _hashes(text: str) -> Any:
    """Of every run of letters."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    made = np.zeros(max(len(codes) - PIECE + 1, 0), np.uint64)
    for place in range(PIECE):
        made = made * np.uint64(0x9E3779B97F4A7C15) + codes[place : place + len(made)]
    return made * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(64 - _BITS)


@lru_cache(maxsize=8)
def _seen(lang: str, model: DefaultModel) -> _Pieces:
    return _Pieces(model.joined_vocabulary(lang))


def _doubtful(word: str, unseen: Sequence[int]) -> range:
    """Where one more slip could make a word of it that has only runs that are seen."""
    if not unseen:
        return range(len(word) + 1)
    return range(max(unseen[-1] - 2, 0), min(unseen[0] + PIECE - 2, len(word)) + 1)


def _best(
    slips: dict[str, float], lang: str, statistics: Statistics, model: DefaultModel | None
) -> tuple[str, float] | None:
    words = [word for word, cost in slips.items() if cost <= MOST]
    known = [(word, n) for word, n in zip(words, _knows(words, lang, statistics, model), strict=True) if n]
    costs = []
    for word, number in known:
        (term,) = analyzer(lang).terms(word)
        spelled = model.spelling(term, lang).lower() if model and lang in model.langs else term
        form = 0.0 if word in (term, spelled) else FORM
        there = number - 1 + (_translated(term, lang, statistics, model) if model else 0)
        costs.append((slips[word] + form - COMMON * float(np.log1p(there)), word))
    if not costs:
        return None
    word = min(costs)[1]
    return word, slips[word]


def _knows(words: Sequence[str], lang: str, statistics: Statistics, model: DefaultModel | None) -> list[int]:
    """Of each word whether it is known: 0, or 1 more than the documents of the language that have it."""
    terms = _terms(words, lang)
    df = statistics.df("text", lang, terms).tolist()
    known = model.has_terms(terms, lang) if model is not None and lang in model.langs else [False] * len(terms)
    return [n + 1 if term and (n or has) else 0 for term, n, has in zip(terms, df, known, strict=True)]


def _terms(words: Sequence[str], lang: str) -> list[str]:
    """The term that each word is, cut all at once; "" for one that is none or several."""
    cut = analyzer(lang).tokenize("\n".join(words))
    ends = np.cumsum([len(word) + 1 for word in words])
    lines = np.searchsorted(ends, cut.starts, side="right")
    number = np.bincount(lines, minlength=len(words)).tolist()
    only = dict(zip(lines.tolist(), cut.token_terms(), strict=True))
    for at, word in enumerate(words):
        if not number[at]:  # a stop word is a term where nothing else is said
            found = analyzer(lang).terms(word)
            number[at], only[at] = len(found), "".join(found)
    return [only[at] if number[at] == 1 else "" for at in range(len(words))]


def _translated(term: str, lang: str, statistics: Statistics, model: DefaultModel) -> int:
    """How many documents of a language have what a word most likely is there, at most."""
    most = 0
    for other in statistics.langs:
        if other != lang and {lang, other} <= set(model.langs):
            best = [found for a in model.alternatives(term, lang, other)[:2] for found in a.terms]
            most = max(most, *statistics.df("text", other, best).tolist(), 0)
    return most


def _slips(word: str, letters: str, places: range | None = None) -> dict[str, float]:
    """What may have been meant, with what it costs; by slips at some of its places."""
    found: dict[str, float] = {}
    for other, cost in _each(word, letters, range(len(word) + 1) if places is None else places):
        if other != word:
            found[other] = min(found.get(other, MOST), cost)
    return found


def _each(word: str, letters: str, places: range) -> Iterator[tuple[str, float]]:
    yield unicodedata.normalize("NFC", word), 0.0
    for at in places:
        first, start, end = FIRST * (at == 0), word[:at], word[at:]
        around = {*start[-1:], *end[:1]}
        for letter in letters:
            yield start + letter + end, DOUBLE if letter in around else MISSING + first
        if not end:
            continue
        yield start + end[1:], DOUBLE if end[0] in (*start[-1:], *end[1:2]) else EXTRA + first
        if len(end) > 1:
            yield start + end[1] + end[0] + end[2:], SWAP + first
        for letter in letters:
            if _plain(letter) == _plain(end[0]):
                yield start + letter + end[1:], MARK
            else:
                yield start + letter + end[1:], (NEAR if letter in _beside(_plain(end[0])) else OTHER) + first


@lru_cache(maxsize=10_000)
def _plain(letter: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", letter) if not unicodedata.combining(c))


@lru_cache(maxsize=1000)
def _beside(letter: str) -> str:
    """The keys around one."""
    for board in _KEYS.strip().split("\n"):
        rows = board.split()
        for number, row in enumerate(rows):
            if (at := row.find(letter)) >= 0 and letter:
                around = rows[max(number - 1, 0) : number + 2]
                return "".join(keys[max(at - 1, 0) : at + 2] for keys in around).replace(letter, "")
    return ""


@lru_cache(maxsize=100)
def _letters(lang: str, model: DefaultModel | None) -> str:
    """The letters of a language: those of its words in the model, or of its keyboard."""
    if model is None or lang not in model.langs:
        umlauts = "äöüß" if lang == "de" else ""
        return "".join(_KEYS.split() if scripts_of(lang) != ("Latn",) else _KEYS.split("\n")[1].split()) + umlauts
    counts = Counter(filter(_is_letter, "".join(model.sample_spellings(lang, _SAMPLE)).lower()))
    marked = sum(number for letter, number in counts.items() if _plain(letter) not in ("", letter))
    if marked < _MARKED * counts.total():  # those of borrowed words
        counts = Counter({letter: n for letter, n in counts.items() if _plain(letter) in ("", letter)})
    return "".join(letter for letter, _ in counts.most_common(_LETTERS))
