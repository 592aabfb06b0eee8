"""Identifiers of software, which aligned texts and lists of properties bring into the lexicon (studies/lexicon.py).

A word that is written as code is (`addEventListener`, `bgra8unorm`) is an identifier unless a dictionary has it (`CO2`,
`YouTube`). Entries that mean one, or are one, are left out when the lexicon is built; `remove_identifiers` takes them
out of a lexicon that was built before.
"""

from __future__ import annotations

import gzip
import json
import lzma
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import sources

from paragloss import artefacts
from paragloss.gloss import lexicon
from paragloss.gloss.identifiers import find_code_words
from paragloss.languages import normalise
from paragloss.translation.packed_words import PackedWordList, pack_words

#: Lists of names that are no dictionaries: their names contain those of web sites and the numbers of properties.
_NO_DICTIONARIES = frozenset({"wikidata-properties"})
_MAX_PHRASE_WORDS = 4
_LETTER_AND_DIGIT = re.compile(r"[^\W\d_]\d|\d[^\W\d_]")
_WORD = re.compile(r"\w+")
_NUMBER_BITS = 20
_WEIGHT_BITS = 6
_SOURCE_SHIFT = _NUMBER_BITS + _WEIGHT_BITS


def has_identifier(text: str) -> bool:
    """Say whether a text has a word that is written as code is and that no dictionary has."""
    return any(word.casefold() not in read_dictionary_code_words() for word in find_code_words(text))


@cache
def read_dictionary_code_words() -> Set[str]:
    """Return the words of all dictionaries that are written as code is, such as CO2, without regard to case."""
    return frozenset(word.casefold() for text in _read_dictionary_texts() for word in find_code_words(text))


def _read_dictionary_texts() -> Iterator[str]:
    """Yield both sides of all dictionary entries, and the names of all lists of names that count as dictionaries."""
    folder = sources.folder() / "open"
    dictionaries = sorted((folder / "words").glob("*/*.tsv.xz"))
    if not dictionaries:
        raise SystemExit(f"no dictionaries in {folder / 'words'}: set PARAGLOSS_DATA")
    for path in dictionaries:
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield from line.rstrip("\n").split("\t")
    for path in sorted((folder / "names").glob("*.jsonl.xz")):
        if path.name.split(".")[0] not in _NO_DICTIONARIES:
            yield from _read_names(path)


def _read_names(path: Path) -> Iterator[str]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            for names in json.loads(line)["texts"].values():
                yield from names


def remove_identifiers(saved: artefacts.Artefact, hand_written: Set[str]) -> lexicon.Lexicon:
    """Return a saved lexicon without the keys and meanings that are identifiers.

    The weights of a key's other meanings grow by what the removed ones had.

    :param hand_written: meanings in the lists written by hand, which stay
    """
    arrays = saved.arrays
    texts = PackedWordList(arrays["english"], arrays["groups"], int(saved.meta["english"]))
    english = [texts.entry(number)[1] for number in range(len(texts))]
    is_identifier = np.array([has_identifier(text) for text in english])
    owners = np.repeat(np.arange(len(arrays["keys"])), arrays["sizes"])
    numbers = arrays["cells"] & ((1 << _NUMBER_BITS) - 1)
    is_listed = np.array([text in hand_written for text in english])
    is_by_hand = (arrays["cells"] >> _SOURCE_SHIFT & 3) == lexicon.SOURCES.index("hand")
    is_kept = (is_by_hand & is_listed[numbers]) | (~_find_removed_keys(saved)[owners] & ~is_identifier[numbers])
    cells = _scale_weights(arrays["cells"], owners, is_kept)
    used = np.zeros(len(english), bool)
    used[numbers[is_kept]] = True
    new_numbers = np.cumsum(used, dtype=np.uint32) - 1
    cells = cells & ~np.uint32((1 << _NUMBER_BITS) - 1) | new_numbers[numbers[is_kept]].astype(np.uint32)
    sizes = np.bincount(owners[is_kept], minlength=len(arrays["keys"]))
    remaining = [text for text, is_used in zip(english, used, strict=True) if is_used]
    return _assemble(saved, cells, sizes, remaining, arrays["kinds"][used])


def _find_removed_keys(saved: artefacts.Artefact) -> npt.NDArray[np.bool_]:
    """Return for each key of a lexicon whether it contains an identifier.

    Keys are stored as hashes, so words and phrases with letters and digits are collected from the texts that the
    lexicon is learned from.
    """
    phrases_by_lang = _find_phrases_with_identifier()
    is_removed = np.zeros(len(saved.arrays["keys"]), bool)
    for lang, about in saved.meta["langs"].items():
        first, last = about["place"]
        keys = [lexicon.normalize_key(phrase, lang).lower() for phrase in phrases_by_lang[lang]]
        hashes = np.array([lexicon.hash_key(key.encode()) for key in keys], np.uint32)
        is_removed[first:last] = np.isin(saved.arrays["keys"][first:last], hashes)
    return is_removed


def _find_phrases_with_identifier() -> dict[str, set[str]]:
    """Return by language all phrases of a few words with an identifier that has letters and digits."""
    phrases: dict[str, set[str]] = defaultdict(set)
    for lang, text in _read_texts():
        if not _LETTER_AND_DIGIT.search(text):
            continue
        separator = "" if lang in lexicon.UNSPACED_LANGUAGES else " "
        words = _WORD.findall(text)
        for position, word in enumerate(words):
            if not has_identifier(word.lower()):
                continue
            for first in range(max(0, position - _MAX_PHRASE_WORDS + 1), position + 1):
                for last in range(position + 1, min(first + _MAX_PHRASE_WORDS, len(words)) + 1):
                    phrases[lang].add(separator.join(words[first:last]))
    return phrases


def _read_texts() -> Iterator[tuple[str, str]]:
    """Yield the texts, names and dictionary entries of all languages with their language."""
    folder = sources.folder()
    for path in sorted((folder / "open").glob("[nt]*/*.jsonl.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                for lang, texts in json.loads(line)["texts"].items():
                    yield from ((normalise(lang), text) for text in ([texts] if isinstance(texts, str) else texts))
    for path in [*(folder / "open" / "words").glob("*/*.tsv.xz"), *(folder / "tatoeba").glob("*.tsv.gz")]:
        lang = normalise(path.name.split(".")[0].removeprefix("en-"))
        with (lzma.open if path.suffix == ".xz" else gzip.open)(path, "rt", encoding="utf-8") as lines:
            yield from ((lang, line.rstrip("\n").split("\t")[1]) for line in lines)


def _scale_weights(
    cells: npt.NDArray[np.uint32], owners: npt.NDArray[np.int64], is_kept: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint32]:
    """Return the cells that stay, with the weights of removed meanings of a key shared out among its others."""
    mask = (1 << _WEIGHT_BITS) - 1
    weights = (cells >> _NUMBER_BITS & mask).astype(float)
    totals = np.bincount(owners, weights)
    remaining = np.bincount(owners[is_kept], weights[is_kept], minlength=len(totals))
    factors = np.divide(totals, remaining, out=np.ones(len(totals)), where=remaining > 0)
    scaled = np.minimum(np.rint(weights * factors[owners]), mask).astype(np.uint32)
    return (cells & ~np.uint32(mask << _NUMBER_BITS) | scaled << _NUMBER_BITS)[is_kept]


def _assemble(
    saved: artefacts.Artefact,
    cells: npt.NDArray[np.uint32],
    sizes: npt.NDArray[np.int64],
    english: Iterable[str],
    kinds: npt.NDArray[np.uint8],
) -> lexicon.Lexicon:
    """Build a lexicon from packed cells; keys without any are left out."""
    english = list(english)
    word_bytes, groups = pack_words(english, english)
    offsets = np.concatenate([[0], np.cumsum(sizes > 0)])
    langs = {
        lang: {**about, "place": [int(offsets[position]) for position in about["place"]]}
        for lang, about in saved.meta["langs"].items()
    }
    sizes = sizes[sizes > 0]
    starts = np.concatenate([[0], np.cumsum(sizes)])[: len(sizes) : lexicon.KEYS_PER_GROUP]
    arrays = {
        "keys": saved.arrays["keys"][np.diff(offsets) > 0],
        "sizes": sizes.astype(np.uint8),
        "starts": starts.astype(np.uint32),
        "cells": cells,
        "english": word_bytes,
        "groups": groups,
        "kinds": kinds,
    }
    return lexicon.Lexicon({**saved.meta, "langs": langs, "english": len(english)}, arrays)
