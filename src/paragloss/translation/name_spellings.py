"""Spellings of names of persons: how a given or family name is written elsewhere, mostly in other scripts.

The list comes from Wikidata by way of rigour; studies/person_names.py packs it. A name is a group of spellings, and one
spelling may belong to many names: Hiroshi is written with dozens of different characters.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paragloss import artefacts
from paragloss.languages import script_of, scripts_of
from paragloss.translation.packed_words import PackedWordList, pack_words

KIND = "names"
#: Spellings of a word that are searched for in one language.
MAX_SPELLINGS = 8
#: Studies set PARAGLOSS_NAMES to a list without the names they measure on.
FOLDER = Path(os.environ.get("PARAGLOSS_NAMES") or Path(__file__).parent / "default" / "data" / "names")


class NameList:
    """Names of persons, each with its spellings."""

    def __init__(self, meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Open a list.

        :param meta: `spellings`, their number.
        :param arrays: the packed spellings (`words`, `groups`); for each spelling how many names it belongs to
            (`sizes`), and their numbers (`names`).
        """
        self._meta, self._arrays = dict(meta), dict(arrays)
        self._words = PackedWordList(arrays["words"], arrays["groups"], meta["spellings"])
        self._starts = np.concatenate([[0], np.cumsum(arrays["sizes"], dtype=np.int64)])
        self._list_names = lru_cache(maxsize=2_000)(self._read_names)

    def list_spellings(self, word: str, scripts: Sequence[str]) -> dict[str, float]:
        """Return the spellings of a name in some scripts, likeliest first, with shares that sum to one.

        Every name that the word may be counts the same, and so do its spellings.

        :param word: a name in lower case
        :param scripts: codes of scripts, such as "Cyrl"
        :return: none if the word is no name of the list
        """
        shares: dict[str, float] = {}
        for spellings in self._list_names(word):
            target_spellings = [spelling for spelling, script in spellings if script in scripts and spelling != word]
            for spelling in target_spellings:
                shares[spelling] = shares.get(spelling, 0.0) + 1 / len(target_spellings)
        likeliest = sorted(shares.items(), key=lambda item: -item[1])[:MAX_SPELLINGS]
        total = sum(share for _, share in likeliest)
        return {spelling: share / total for spelling, share in likeliest}

    def _read_names(self, word: str) -> list[list[tuple[str, str | None]]]:
        """Return the spellings of each name that a word may be, with their scripts; [] for an unknown word.

        Cached as `_list_names`.
        """
        word_number = self._words.find(word)
        if word_number < 0:
            return []
        spellings_by_name: dict[int, list[tuple[str, str | None]]] = {}
        for name, spelling_number in self._find_spellings_of_same_names(word_number):
            spelling, _ = self._words.entry(spelling_number)
            spellings_by_name.setdefault(name, []).append((spelling, script_of(spelling)))
        return list(spellings_by_name.values())

    def _find_spellings_of_same_names(self, number: int) -> list[tuple[int, int]]:
        """Return (name, number of a spelling) for all spellings of the names that one spelling may be."""
        names = self._arrays["names"]  # of each spelling the names that it may be, spelling after spelling
        same_names = names[self._starts[number] : self._starts[number + 1]]
        entries = np.flatnonzero(np.isin(names, same_names))  # positions in `names`
        spelling_numbers = np.searchsorted(self._starts, entries, side="right") - 1  # whose part each position is in
        return list(zip(names[entries].tolist(), spelling_numbers.tolist(), strict=True))

    def save(self, path: str | Path) -> None:
        """Write the list to a folder."""
        artefacts.save(path, KIND, meta=self._meta, arrays=self._arrays)

    @classmethod
    def load(cls, path: str | Path) -> NameList:
        """Open a saved list."""
        saved = artefacts.load(path, kind=KIND)
        return cls(saved.meta, saved.arrays)


def build_name_list(names: Sequence[Sequence[str]]) -> NameList:
    """Build a list of names; `NameList` describes its arrays.

    :param names: the spellings of each name, in lower case.
    """
    spellings = sorted(set(chain.from_iterable(names)), key=str.encode)  # the order that packing needs
    names_by_spelling = _number_names(names, spellings)
    # The words of such a list are terms with a spelling each; here the spelling is the term itself.
    packed_bytes, group_offsets = pack_words(terms=spellings, spellings=spellings)
    arrays: dict[str, npt.NDArray[Any]] = {
        "words": packed_bytes,
        "groups": group_offsets,
        "sizes": np.array([len(name_numbers) for name_numbers in names_by_spelling], np.uint8),
        "names": np.array(list(chain.from_iterable(names_by_spelling)), np.uint32),
    }
    return NameList({"spellings": len(spellings)}, arrays)


def _number_names(names: Sequence[Sequence[str]], spellings: Sequence[str]) -> list[list[int]]:
    """Assign numbers to names, one to all with the same spellings, and list the names of each spelling.

    Names are numbered by their first spelling, so that neighbouring numbers are similar and are packed well.

    :param spellings: all spellings in order.
    :return: for each spelling the numbers of the names that are written so, ascending.
    """
    position_by_spelling = {spelling: position for position, spelling in enumerate(spellings)}
    distinct_names: set[tuple[int, ...]] = set()  # each as the positions of its spellings
    for name in names:
        distinct_names.add(tuple(sorted(position_by_spelling[spelling] for spelling in set(name))))
    names_by_spelling: list[list[int]] = [[] for _ in spellings]
    for name_number, spelling_positions in enumerate(sorted(distinct_names)):
        for position in spelling_positions:
            names_by_spelling[position].append(name_number)
    return names_by_spelling


@cache
def open_name_list() -> NameList:
    """Open the list that is part of the package, once a process; without one no name has other spellings."""
    return NameList.load(FOLDER) if (FOLDER / "meta.json").is_file() else build_name_list([])


@lru_cache(maxsize=20_000)
def list_name_spellings(word: str, target: str) -> tuple[tuple[str, float], ...]:
    """Return how a name is written in a language, likeliest first, with shares that sum to one; none if unknown."""
    return tuple(open_name_list().list_spellings(word.casefold(), scripts_of(target)).items())
