"""What a name of one language may sound like in another: for each consonant which ones it becomes, and how often.

Learned from names of places (studies/names.py) and kept beside the default model; a language that is not there is taken
to say every consonant as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

from paragloss.analysis.sound import sound

#: Fewer consonants than these are no name: too many words share them.
MIN_CONSONANTS = 3
#: Ways to say one consonant that are looked at, and ways to say the name that are kept.
_WAYS, _MOST, _LEAST = 4, 8, 0.02
_HUB = "en"
_PLACE = Path(__file__).parent / "default" / "data" / "sounds.json"

Channel: TypeAlias = Mapping[str, Mapping[str, float]]


@lru_cache(maxsize=20_000)
def list_pronunciations(word: str, source: str, target: str) -> tuple[tuple[str, float], ...]:
    """The sounds that a word may have in a language, likeliest first, with shares that sum to one; none for a word of
    too few consonants."""
    consonants = sound(word)
    if len(consonants) < MIN_CONSONANTS:
        return ()
    found = list_consonant_variants(consonants, _channel(source, target))
    total = sum(share for _, share in found)
    return tuple((symbols, share / total) for symbols, share in found)


def list_consonant_variants(consonants: str, channel: Channel, *, most: int = _MOST) -> list[tuple[str, float]]:
    """What consonants may become, likeliest first, with how likely each is; nothing of too few consonants."""
    beam = {"": 1.0}
    for symbol in consonants:
        grown: dict[str, float] = {}
        for out, share in channel.get(symbol, {symbol: 1.0}).items():
            for before, weight in beam.items():
                grown[before + out] = grown.get(before + out, 0.0) + weight * share
        beam = dict(sorted(grown.items(), key=lambda item: -item[1])[:most])
    found = [(symbols, share) for symbols, share in list(beam.items())[:most] if len(symbols) >= MIN_CONSONANTS]
    return [one for one in found if one[1] >= _LEAST * found[0][1]]


def classify_consonants(consonants: str) -> str:
    """The kind of each consonant. Where all are the same, that is a quick guess that two words are one name."""
    return consonants.translate(_kinds())


@cache
def _kinds() -> dict[int, str | None]:
    classify_consonants = {"P": "PBFVW", "T": "TD", "S": "SZXCJ", "K": "KGQ", "R": "LR", "N": "MN"}
    return {ord("H"): None} | {ord(symbol): kind for kind, some in classify_consonants.items() for symbol in some}


def read_name_characters(lang: str) -> frozenset[str]:
    """The characters that foreign names are written with, where they are cut into single ones: Chinese."""
    return _read()[2].get(lang, frozenset())


@cache
def _channel(source: str, target: str) -> Channel:
    """From English to a language, or from one to English; between two others the target's way with English counts."""
    there, back, _ = _read()
    return _likeliest(back.get(source, {}) if target == _HUB else there.get(target, {}))


@cache
def _read() -> tuple[dict[str, Channel], dict[str, Channel], dict[str, frozenset[str]]]:
    if not _PLACE.is_file():
        return {}, {}, {}
    kept = json.loads(_PLACE.read_text(encoding="utf-8"))
    return kept["there"], kept["back"], {lang: frozenset(text) for lang, text in kept["letters"].items()}


def _likeliest(channel: Channel) -> Channel:
    return {
        symbol: dict(sorted(outputs.items(), key=lambda item: -item[1])[:_WAYS]) for symbol, outputs in channel.items()
    }
