"""From tables of each language with English to the arrays of one Default model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.translation import packed_words
from paragloss.translation.default import _rows
from paragloss.translation.default._model import FALLBACK, DefaultModel


class Tables(NamedTuple):
    """A language's words and English ones as terms and as spelled, and what they may be: (English, other) and (other,
    English), a row's entries best first."""

    english: Sequence[str]
    english_spelled: Sequence[str]
    other: Sequence[str]
    other_spelled: Sequence[str]
    there: sp.csr_matrix
    back: sp.csr_matrix


def pack(tables: Mapping[str, Tables], *, about: Mapping[str, Any] | None = None, exact: bool = False) -> DefaultModel:
    """One model of all languages. Words that nothing points to or from are left out. `exact` keeps full precision, for
    measuring what packing costs."""
    tables = {lang: _used(one) for lang, one in sorted(tables.items())}
    spelled: dict[str, str] = {}
    for one in tables.values():
        for term, spelling in zip(one.english, one.english_spelled, strict=True):
            spelled.setdefault(term, spelling)
    english = sorted(spelled, key=str.encode)
    number = {term: i for i, term in enumerate(english)}
    arrays: dict[str, list[npt.NDArray[Any]]] = {}
    langs = {FALLBACK: _words_of(english, [spelled[term] for term in english], arrays)}
    for lang, one in tables.items():
        langs[lang] = _words_of(one.other, one.other_spelled, arrays)
        present = np.zeros(len(english), bool)
        present[[number[term] for term in one.english]] = True
        langs[lang]["english"] = _add(arrays, "english", np.packbits(present))
        for way, matrix in (("there", one.there), ("back", one.back)):
            langs[lang][way] = _rows_of(matrix, arrays, exact)
    whole = {name: np.concatenate(parts) for name, parts in arrays.items()}
    return DefaultModel({**(about or {}), "langs": langs}, whole)


def _words_of(
    terms: Sequence[str], spellings: Sequence[str], arrays: dict[str, list[npt.NDArray[Any]]]
) -> dict[str, Any]:
    data, starts = packed_words.pack_words(terms, spellings)
    return {"words": len(terms), "text": _add(arrays, "words", data), "groups": _add(arrays, "groups", starts)}


def _rows_of(matrix: sp.csr_matrix, arrays: dict[str, list[npt.NDArray[Any]]], exact: bool) -> dict[str, list[int]]:
    rows = _rows.packed(matrix, exact=exact)
    _add(arrays, "weights", rows.weights)
    return {
        "sizes": _add(arrays, "sizes", rows.sizes),
        "starts": _add(arrays, "starts", rows.starts),
        "cells": _add(arrays, "targets", rows.targets),
    }


def _add(arrays: dict[str, list[npt.NDArray[Any]]], name: str, array: npt.NDArray[Any]) -> list[int]:
    """Where the array will stand among those of its name."""
    before = sum(map(len, arrays.setdefault(name, [])))
    arrays[name].append(array)
    return [before, before + len(array)]


def _used(one: Tables) -> Tables:
    """Only words with a translation or that are one, each side sorted by its terms' bytes."""
    en = _order(one.english, one.there, one.back)
    other = _order(one.other, one.back, one.there)
    return Tables(
        [one.english[i] for i in en],
        [one.english_spelled[i] for i in en],
        [one.other[i] for i in other],
        [one.other_spelled[i] for i in other],
        _moved(one.there, en, other),
        _moved(one.back, other, en),
    )


def _order(terms: Sequence[str], rows: sp.csr_matrix, columns: sp.csr_matrix) -> npt.NDArray[np.int64]:
    used = np.diff(rows.indptr) > 0
    used[columns.indices] = True
    return np.array(sorted(np.flatnonzero(used).tolist(), key=lambda i: terms[i].encode()), np.int64)


def _moved(matrix: sp.csr_matrix, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> sp.csr_matrix:
    """Rows and columns renumbered; a row's entries stay in their order, which scipy's own indexing would not keep."""
    place = np.zeros(matrix.shape[1], np.int64)
    place[columns] = np.arange(len(columns))
    size = np.diff(matrix.indptr)[rows]
    start = np.concatenate([[0], np.cumsum(size)])
    cells = np.arange(start[-1]) + np.repeat(matrix.indptr[rows] - start[:-1], size)
    return sp.csr_matrix((matrix.data[cells], place[matrix.indices[cells]], start), shape=(len(rows), len(columns)))
