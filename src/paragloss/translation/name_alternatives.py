"""What a name in a query may be called in another language: spellings from the list of names, and what it sounds like.

A word of a query may be a name if no table translates it, or if it is written with a capital.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from paragloss.translation import sounds
from paragloss.translation.name_spellings import list_name_spellings
from paragloss.translation.related_languages import share_script
from paragloss.translation.subword_terms import SOUND_PREFIX
from paragloss.types import Alternative, Translation

#: The share of a word's sound among the alternatives of its clause: of an unknown word, and of one with a capital.
UNKNOWN_WORD_SOUND_SHARE = 0.5
CAPITALIZED_WORD_SOUND_SHARE = 0.2
#: The share of spellings from the list of names, before which all other shares are reduced.
UNKNOWN_WORD_SPELLING_SHARE = 0.6
CAPITALIZED_WORD_SPELLING_SHARE = 0.3
#: Factor for these shares if both languages have one script, where names mostly stay as they are.
SAME_SCRIPT_FACTOR = 0.5


def add_name_alternatives(clauses: Iterable[Translation], source: str, target: str) -> list[Translation]:
    """Add what names may be called in the target language to the alternatives of their clauses."""
    return add_listed_spellings(add_sound_alternatives(clauses, source, target), source, target)


def add_sound_alternatives(clauses: Iterable[Translation], source: str, target: str) -> list[Translation]:
    """Add what names may sound like in the target language, as documents are indexed by it."""
    return [_add_sound(clause, source, target) for clause in clauses]


def add_listed_spellings(clauses: Iterable[Translation], source: str, target: str) -> list[Translation]:
    """Add the spellings that the list of names has in the scripts of the target language."""
    return [_add_spellings(clause, source, target) for clause in clauses]


@lru_cache(maxsize=20_000)
def _add_sound(clause: Translation, source: str, target: str) -> Translation:
    share = _compute_share(clause, source, target, UNKNOWN_WORD_SOUND_SHARE, CAPITALIZED_WORD_SOUND_SHARE)
    pronunciations = sounds.list_pronunciations(clause.source, source, target) if share else ()
    sound_terms = [(SOUND_PREFIX + symbols, weight) for symbols, weight in pronunciations]
    return _mix_in(clause, [Alternative(term, share * weight, (term,)) for term, weight in sound_terms])


@lru_cache(maxsize=20_000)
def _add_spellings(clause: Translation, source: str, target: str) -> Translation:
    share = _compute_share(clause, source, target, UNKNOWN_WORD_SPELLING_SHARE, CAPITALIZED_WORD_SPELLING_SHARE)
    spellings = list_name_spellings(clause.source, target) if share else ()
    return _mix_in(clause, [Alternative(spelling, share * weight) for spelling, weight in spellings])


def _compute_share(
    clause: Translation, source: str, target: str, unknown_share: float, capitalized_share: float
) -> float:
    """Return the share of a word's weight that goes to what the word may be called if it is a name.

    The share is 0 for a phrase, and for a translated word without a capital: they are no names. Where both languages
    have one script, in which names mostly stay as they are, it is reduced.

    :param clause: the word and its translations
    :param source: the language of the word
    :param target: the language of the translations
    :param unknown_share: the share of a word without translations
    :param capitalized_share: the share of any other word with a capital
    """
    word = clause.source
    if " " in word:
        return 0.0
    is_unknown = all(_is_untranslated(alternative, word) for alternative in clause.alternatives)
    if is_unknown:
        share = unknown_share
    elif word[:1].isupper():
        share = capitalized_share
    else:
        return 0.0
    return SAME_SCRIPT_FACTOR * share if share_script(source, target) else share


def _is_untranslated(alternative: Alternative, word: str) -> bool:
    return alternative.text == word or alternative.text.startswith(SOUND_PREFIX)


def _mix_in(clause: Translation, added: list[Alternative]) -> Translation:
    """Add alternatives to a clause, and scale its own so that all weights sum to one."""
    if not added:
        return clause
    added_weight = sum(alternative.weight for alternative in added)
    own_weight = sum(alternative.weight for alternative in clause.alternatives)
    scale = (1 - added_weight) / own_weight
    own = [alternative._replace(weight=scale * alternative.weight) for alternative in clause.alternatives]
    return clause._replace(alternatives=(*own, *added))
