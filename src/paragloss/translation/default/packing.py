"""Pack tables of each language with English into the arrays of one DefaultModel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.translation import packed_words
from paragloss.translation.default import _rows
from paragloss.translation.default._model import PIVOT, DefaultModel

#: The parts of each array, one after the other, by its name.
_ArrayParts: TypeAlias = dict[str, list[npt.NDArray[Any]]]


class Tables(NamedTuple):
    """A language's words and the English words it knows, as terms and as spelled, with their translations.

    `from_english` is (English, other) and `into_english` (other, English); the best entries of a row come first.
    """

    english: Sequence[str]
    english_spelled: Sequence[str]
    other: Sequence[str]
    other_spelled: Sequence[str]
    from_english: sp.csr_matrix
    into_english: sp.csr_matrix


def pack(tables: Mapping[str, Tables], *, about: Mapping[str, Any] | None = None, exact: bool = False) -> DefaultModel:
    """Make one translation model of the tables that translate between English and each other language.

    The model keeps the data of all languages one after the other in a few large arrays, such as one of all words, and
    notes in its metadata where in each array a language begins and ends. Words without translations are left out.

    :param tables: the words of each language and their translations from and into English, by language code.
    :param about: what the model's metadata report of how it was made.
    :param exact: keep the weights of translations in full precision, to measure what packing costs.
    """
    tables_by_lang = {lang: _drop_unused_words(tables[lang]) for lang in sorted(tables)}
    spelling_by_english_term = _collect_english_spellings(tables_by_lang.values())
    english_terms = sorted(spelling_by_english_term, key=str.encode)
    english_spellings = [spelling_by_english_term[term] for term in english_terms]
    number_by_english_term = {term: number for number, term in enumerate(english_terms)}

    parts_by_array: _ArrayParts = {}  # what the languages so far have added to each array, by its name
    ranges_by_lang = {}  # where the data of each language begin and end in the arrays
    ranges_by_lang[PIVOT] = _add_words(english_terms, english_spellings, parts_by_array)
    for lang, lang_tables in tables_by_lang.items():
        ranges_by_lang[lang] = _add_language(lang_tables, number_by_english_term, parts_by_array, exact)

    arrays = {name: np.concatenate(parts) for name, parts in parts_by_array.items()}
    metadata = dict(about or {})
    metadata["langs"] = ranges_by_lang
    return DefaultModel(metadata, arrays)


def _add_language(
    tables: Tables, number_by_english_term: Mapping[str, int], parts: _ArrayParts, exact: bool
) -> dict[str, Any]:
    """Append the words and translations of a language to the arrays of a model.

    :param tables: the words of the language and their translations from and into English.
    :param number_by_english_term: the numbers of the English terms of all languages.
    :param parts: what other languages have added to each array, by its name; this language is appended.
    :param exact: keep the weights of translations in full precision.
    :return: where the data of the language begin and end in each array, [begin, end], by what they are; and the number
        of its words.
    """
    has_english_term = np.zeros(len(number_by_english_term), bool)
    has_english_term[[number_by_english_term[term] for term in tables.english]] = True
    ranges = _add_words(tables.other, tables.other_spelled, parts)
    ranges["english"] = _add_array(parts, "english", np.packbits(has_english_term))
    ranges["there"] = _add_translation_rows(tables.from_english, parts, exact)
    ranges["back"] = _add_translation_rows(tables.into_english, parts, exact)
    return ranges


def _collect_english_spellings(tables: Iterable[Tables]) -> dict[str, str]:
    """Return the spelling of each English term, as the first language that knows it has it."""
    spelling_by_term: dict[str, str] = {}
    for language in tables:
        for term, spelling in zip(language.english, language.english_spelled, strict=True):
            spelling_by_term.setdefault(term, spelling)
    return spelling_by_term


def _add_words(terms: Sequence[str], spellings: Sequence[str], parts: _ArrayParts) -> dict[str, Any]:
    """Append the packed words of a language to the arrays; return their number and where they begin and end."""
    data, starts = packed_words.pack_words(terms, spellings)
    return {
        "words": len(terms),
        "text": _add_array(parts, "words", data),
        "groups": _add_array(parts, "groups", starts),
    }


def _add_translation_rows(matrix: sp.csr_matrix, parts: _ArrayParts, exact: bool) -> dict[str, list[int]]:
    """Append the packed rows of a table to the arrays; return where they begin and end in each array.

    :param matrix: (words, translations), the best entries of a row first.
    :param parts: the parts of each array so far, by its name.
    :param exact: keep full precision.
    """
    rows = _rows.pack_rows(matrix, exact=exact)
    _add_array(parts, "weights", rows.weights)
    return {
        "sizes": _add_array(parts, "sizes", rows.sizes),
        "starts": _add_array(parts, "starts", rows.starts),
        "cells": _add_array(parts, "targets", rows.targets),
    }


def _add_array(parts: _ArrayParts, name: str, array: npt.NDArray[Any]) -> list[int]:
    """Append an array to those of its name and return where it begins and ends."""
    start = sum(map(len, parts.setdefault(name, [])))
    parts[name].append(array)
    return [start, start + len(array)]


def _drop_unused_words(tables: Tables) -> Tables:
    """Keep words that have a translation or are one, each side sorted by the bytes of its terms."""
    english_ids = _sort_used_words(tables.english, tables.from_english, tables.into_english)
    other_ids = _sort_used_words(tables.other, tables.into_english, tables.from_english)
    return Tables(
        english=[tables.english[i] for i in english_ids],
        english_spelled=[tables.english_spelled[i] for i in english_ids],
        other=[tables.other[i] for i in other_ids],
        other_spelled=[tables.other_spelled[i] for i in other_ids],
        from_english=_renumber(tables.from_english, english_ids, other_ids),
        into_english=_renumber(tables.into_english, other_ids, english_ids),
    )


def _sort_used_words(terms: Sequence[str], rows: sp.csr_matrix, columns: sp.csr_matrix) -> npt.NDArray[np.int64]:
    """Return the indexes of terms that are a row of one matrix or a column of the other, sorted by their bytes."""
    is_used = np.diff(rows.indptr) > 0
    is_used[columns.indices] = True
    return np.array(sorted(np.flatnonzero(is_used).tolist(), key=lambda i: terms[i].encode()), np.int64)


def _renumber(matrix: sp.csr_matrix, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> sp.csr_matrix:
    """Select rows and columns; a row's entries keep their order, which scipy's own indexing would not keep."""
    new_column = np.zeros(matrix.shape[1], np.int64)
    new_column[columns] = np.arange(len(columns))
    sizes = np.diff(matrix.indptr)[rows]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    entries = np.arange(starts[-1]) + np.repeat(matrix.indptr[rows] - starts[:-1], sizes)
    return sp.csr_matrix(
        (matrix.data[entries], new_column[matrix.indices[entries]], starts), shape=(len(rows), len(columns))
    )
