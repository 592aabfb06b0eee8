"""What a name may sound like in another language: which consonants each consonant becomes, and how often.

Learned from names of places (studies/names.py) and stored with the default model. A language without such a table is
taken to keep every consonant.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

from paragloss.analysis.sound import phonetic_key

#: Words with fewer consonants are not compared by sound: too many others share them.
MIN_CONSONANTS = 3
MAX_VARIANTS_PER_CONSONANT = 4
_MAX_VARIANTS = 8
#: The least probability of a variant, relative to the best.
_MIN_RELATIVE_PROBABILITY = 0.02
_PIVOT = "en"
_FILE = Path(__file__).parent / "default" / "data" / "sounds.json"

#: Consonant -> what it becomes -> probability.
Channel: TypeAlias = Mapping[str, Mapping[str, float]]


class _SoundTables(NamedTuple):
    """Channels from and into English by language, and the characters that foreign names are written with."""

    from_english: Mapping[str, Channel]
    into_english: Mapping[str, Channel]
    name_characters: Mapping[str, frozenset[str]]


@lru_cache(maxsize=20_000)
def list_pronunciations(word: str, source: str, target: str) -> tuple[tuple[str, float], ...]:
    """List the consonants that a name may be written with in another language, by which it is found there.

    :param word: the name as it is written.
    :param source: its language.
    :param target: the other language.
    :return: consonants, such as "MRKL", with shares that sum to one, likeliest first; () for a word with too few
        consonants, which many others share.
    """
    consonants = phonetic_key(word)
    if len(consonants) < MIN_CONSONANTS:
        return ()
    variants = list_consonant_variants(consonants, _find_channel(source, target))
    total = sum(probability for _, probability in variants)
    return tuple((symbols, probability / total) for symbols, probability in variants)


def list_consonant_variants(
    consonants: str, channel: Channel, *, limit: int = _MAX_VARIANTS
) -> list[tuple[str, float]]:
    """List what the consonants of a name may become in another language, likeliest first, by beam search.

    :param consonants: the consonants of the name, such as "MRKL"
    :param channel: consonant -> what it may become -> probability; a consonant that it lacks stays as it is
    :param limit: how many variants of each beginning of the name are kept
    :return: the variants with their probabilities, without those that are short, or unlikely relative to the best
    """
    beam = {"": 1.0}  # variants of the beginning of the name -> probability, likeliest first
    for consonant in consonants:
        outputs = channel.get(consonant, {consonant: 1.0})
        extended = _extend_variants(beam, outputs)
        beam = dict(sorted(extended.items(), key=lambda item: -item[1])[:limit])
    long_variants = [(variant, probability) for variant, probability in beam.items() if len(variant) >= MIN_CONSONANTS]
    if not long_variants:
        return []
    _, best_probability = long_variants[0]
    min_probability = _MIN_RELATIVE_PROBABILITY * best_probability
    return [(variant, probability) for variant, probability in long_variants if probability >= min_probability]


def _extend_variants(variants: Mapping[str, float], outputs: Mapping[str, float]) -> dict[str, float]:
    """Append to each variant what the next consonant may become; probabilities multiply, and add up if equal."""
    extended: dict[str, float] = {}
    for output, probability in outputs.items():
        for prefix, prefix_probability in variants.items():
            variant = prefix + output
            extended[variant] = extended.get(variant, 0.0) + prefix_probability * probability
    return extended


def classify_consonants(consonants: str) -> str:
    """Replace each consonant by its class; words with equal classes are perhaps the same name."""
    return consonants.translate(_consonant_classes())


@cache
def _consonant_classes() -> dict[int, str | None]:
    members = {"P": "PBFVW", "T": "TD", "S": "SZXCJ", "K": "KGQ", "R": "LR", "N": "MN"}
    classes: dict[int, str | None] = {ord("H"): None}
    for name, symbols in members.items():
        classes.update({ord(symbol): name for symbol in symbols})
    return classes


def read_name_characters(lang: str) -> frozenset[str]:
    """Return the characters that foreign names are written with, if text is split into single ones: Chinese."""
    return _read_tables().name_characters.get(lang, frozenset())


@cache
def _find_channel(source: str, target: str) -> Channel:
    """Return the channel from or into English; between two other languages the target's channel from English."""
    tables = _read_tables()
    if target == _PIVOT:
        return _keep_likeliest(tables.into_english.get(source, {}))
    return _keep_likeliest(tables.from_english.get(target, {}))


@cache
def _read_tables() -> _SoundTables:
    if not _FILE.is_file():
        return _SoundTables({}, {}, {})
    saved = json.loads(_FILE.read_text(encoding="utf-8"))
    characters = {lang: frozenset(text) for lang, text in saved["letters"].items()}
    return _SoundTables(saved["there"], saved["back"], characters)


def _keep_likeliest(channel: Channel) -> Channel:
    return {
        symbol: dict(sorted(outputs.items(), key=lambda item: -item[1])[:MAX_VARIANTS_PER_CONSONANT])
        for symbol, outputs in channel.items()
    }
