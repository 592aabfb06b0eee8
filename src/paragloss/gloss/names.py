"""The English name or word that an unknown word of another script spells, where there is one."""

from __future__ import annotations

import math
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from paragloss.analysis import analyzer
from paragloss.analysis.sound import phonetic_key
from paragloss.gloss import english_letters
from paragloss.gloss.lexicon import NAMES, Lexicon
from paragloss.translation.default import DefaultModel

#: The share of an English spelling among all that a word may have, times its letters, from which on it is accepted:
#: short ones agree by chance. A word below it is transcribed, since a wrong name misleads (docs/understand/gloss.md).
MIN_SHARE_TIMES_LETTERS = 3.8
#: Bonuses for a spelling, as logarithms: it is an English word; it has a capital; the lexicon has it; and, times its
#: frequency among names, it is a name.
_ENGLISH_WORD_BONUS = 2.0
_CAPITAL_BONUS = 1.0
_LEXICON_BONUS = 1.0
_NAME_BONUS = 4.0


class EnglishName(NamedTuple):
    """An English spelling and its share among all that were tried."""

    text: str
    share: float


class _Spelling(NamedTuple):
    """A spelling as English texts write it, "" if they do not have it, and its bonus as a logarithm."""

    text: str
    bonus: float


@lru_cache(maxsize=20_000)
def find_english_name(word: str, lang: str, lexicon: Lexicon, model: DefaultModel) -> EnglishName | None:
    """Return the English name or word that a word spells; None if none is likely enough."""
    scores: list[tuple[float, str]] = []
    for letters, share in english_letters.spell_in_english(word, lang):
        spelling = _find_spelling(letters, lexicon, model)
        scores.append((math.exp(spelling.bonus) * share, spelling.text))
    best_score, text = max(scores, default=(0.0, ""))
    share = best_score / sum(score for score, _ in scores) if text else 0.0
    return EnglishName(text, share) if share * len(text) >= MIN_SHARE_TIMES_LETTERS else None


def _find_spelling(letters: str, lexicon: Lexicon, model: DefaultModel) -> _Spelling:
    """Find how English texts write some lower-case letters."""
    terms = analyzer("en", stop=False).terms(letters)
    text = model.spelling(terms[0], "en") if len(terms) == 1 else ""
    if _strip_accents(text) != letters:
        text = ""
    bonus = _ENGLISH_WORD_BONUS + _CAPITAL_BONUS * text[:1].isupper() if text else 0.0
    for form in (letters, letters.capitalize()):
        if lexicon.has_meaning(form):
            return _prefer_name(letters, lexicon, _Spelling(text or form, bonus + _LEXICON_BONUS))
    return _prefer_name(letters, lexicon, _Spelling(text, bonus))


def _prefer_name(letters: str, lexicon: Lexicon, spelling: _Spelling) -> _Spelling:
    """Return the most frequent name with these letters, or the spelling if there is none."""
    entries = lexicon.find_entries(phonetic_key(letters), NAMES)
    frequencies = [(entry.weight, entry.text) for entry in entries if _strip_accents(entry.text) == letters]
    if not frequencies:
        return spelling
    frequency, name = max(frequencies)
    return _Spelling(name, spelling.bonus + _NAME_BONUS * frequency)


def _strip_accents(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(char))
