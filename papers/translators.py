"""Translators that several recipes share: MUSE's dictionaries, and Apertium where it is installed."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from papers.corpora import data_folder
from paragloss.formats.dictionaries import Entry, read_pairs
from paragloss.translation.dictionary import Dictionary
from paragloss.translation.engines import Apertium
from paragloss.translation.machine import MachineTranslator, TranslationCache

#: Word pairs that maps between word spaces are learned from; the others are tested on.
DICTIONARY_SIZE = 10_000


def read_muse(lang: str) -> list[Entry]:
    """Read MUSE's pairs of an English word and one of another language, the most frequent words first."""
    return list(read_pairs(data_folder() / "muse" / f"en-{lang}.tsv.gz"))


def build_muse_dictionary(lang: str, **settings: Any) -> Dictionary:
    """Build a dictionary of all of MUSE's pairs; `settings` are those of `Dictionary.build`."""
    return Dictionary.build(read_muse(lang), "en", lang, **settings)


def read_training_dictionary(lang: str) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Read the MUSE pairs that maps are learned from, in both directions."""
    pairs = [(entry.source, entry.target) for entry in read_muse(lang)[:DICTIONARY_SIZE]]
    return {("en", lang): pairs, (lang, "en"): [(target, source) for source, target in pairs]}


def has_apertium(lang: str) -> bool:
    """Say whether Apertium is installed; of the recipes' languages it translates English and Spanish only."""
    return lang == "es" and shutil.which("apertium") is not None


def translate_by_apertium(texts_by_pair: Mapping[tuple[str, str], Sequence[str]]) -> MachineTranslator:
    """Translate texts, those of each pair of languages in one call, and return a translator of these texts."""
    engine = TranslationCache(":memory:", Apertium())
    for (source, target), texts in texts_by_pair.items():
        engine.translate_texts(list(texts), source, target)
    return MachineTranslator(engine)
