"""From what was learned of a language to what is packed: both directions weighed together, phrases beside them, what
is unlikely, rare or needless dropped."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from learning import Learned

from paragloss.translation.default.packing import Tables


class Settings(NamedTuple):
    """Chosen on validation data, sizes so that the whole fits (docs/understand/model.md)."""

    rare: float = 5.0  # a translation met so often counts by half for what it says of the way back
    min_probability: float = 0.015  # probability under which a translation is dropped
    max_translations: int = 12  # translations of a word
    words: int = 36_000  # words of each side, the most frequent ones
    phrases: int = 4_000  # phrases of each side
    overlap: float = 0.5  # a phrase that its words say so far is needless


CHOSEN = Settings()
#: Chinese and Japanese have more words, since what belongs together is one.
LARGE = CHOSEN._replace(words=50_000)
_LONGEST = 64  # bytes of a term


def finished(learned: Learned, settings: Settings = CHOSEN) -> Tables:
    en, other = learned.en, learned.other
    from_english = _with_phrases(
        _combine_directions(learned.from_english, learned.into_english, learned.seen_other, settings.rare),
        learned.entries_from_english,
    )
    into_english = _with_phrases(
        _combine_directions(learned.into_english, learned.from_english, learned.seen_en, settings.rare),
        learned.entries_into_english,
    )
    from_english = _into_common(from_english, other.terms, learned.seen_other, settings)
    into_english = _into_common(into_english, en.terms, learned.seen_en, settings)
    from_english = _select_rows(
        _pruned(from_english, settings), en.terms, other.terms, learned.seen_en, learned.entries_from_english, settings
    )
    into_english = _select_rows(
        _pruned(into_english, settings),
        other.terms,
        en.terms,
        learned.seen_other,
        learned.entries_into_english,
        settings,
    )
    from_english, into_english = (
        _grown(from_english, len(en.terms), len(other.terms)),
        _grown(into_english, len(other.terms), len(en.terms)),
    )
    return Tables(en.terms, en.surfaces, other.terms, other.surfaces, from_english, into_english)


def _combine_directions(
    onward: sp.csr_matrix, reverse: sp.csr_matrix, counts: np.ndarray, rare: float
) -> sp.csr_matrix:
    """The geometric mean of both directions. A rare word that only ever stood beside one says little of the way
    back."""
    sure = sp.diags(counts / (counts + rare))
    return onward.multiply((sure @ reverse).T).sqrt().tocsr()


def _with_phrases(table: sp.csr_matrix, entries: sp.csr_matrix) -> sp.csr_matrix:
    """Words as they were learned, or else as their entries have them; phrases have entries only."""
    table = _scaled(_grown(table, *entries.shape))
    unknown = sp.diags((np.diff(table.indptr) == 0).astype(float))
    return (table + unknown @ _scaled(entries)).tocsr()


def _into_common(matrix: sp.csr_matrix, targets: list[str], counts: np.ndarray, settings: Settings) -> sp.csr_matrix:
    """Without translations into words that are seldom met, or into what is no word."""
    is_wanted = np.zeros(matrix.shape[1], bool)
    is_wanted[np.argsort(-counts, kind="stable")[: settings.words + settings.words // 5]] = True
    is_wanted &= np.array([len(term.encode()) < _LONGEST for term in targets[: matrix.shape[1]]])
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return _only(matrix, row, np.flatnonzero(is_wanted[matrix.indices]))


def _pruned(matrix: sp.csr_matrix, settings: Settings) -> sp.csr_matrix:
    """Best first; what is unlikely is dropped, and the rest is scaled again."""
    matrix = _scaled(matrix)
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((matrix.indices, -matrix.data, row))
    rank = np.arange(len(order)) - np.repeat(matrix.indptr[:-1], np.diff(matrix.indptr))
    return _only(
        matrix, row, order[(rank < settings.max_translations) & (matrix.data[order] >= settings.min_probability)]
    )


def _select_rows(
    matrix: sp.csr_matrix,
    terms: list[str],
    targets: list[str],
    counts: np.ndarray,
    entries: sp.csr_matrix,
    settings: Settings,
) -> sp.csr_matrix:
    """Rows worth their bytes: no numbers, nothing that is most likely itself (what is unknown stays as it is), of
    words the most frequent, of phrases those whose words say something else, the most listed first."""
    size = np.diff(matrix.indptr)
    good = (size > 0) & np.array([not term.isdigit() and len(term.encode()) < _LONGEST for term in terms])
    for i in np.flatnonzero(good).tolist():
        first = matrix.indptr[i]
        if targets[matrix.indices[first]] == terms[i] and matrix.data[first] >= 0.8:
            good[i] = False
    words, phrases = np.flatnonzero(good[: len(counts)]), len(counts) + np.flatnonzero(good[len(counts) :])
    words = words[np.argsort(-counts[words], kind="stable")][: settings.words]
    number = {terms[i]: i for i in words.tolist()}
    telling = np.array(
        [i for i in phrases.tolist() if _overlap(matrix, i, terms[i], number) < settings.overlap], np.int64
    )
    listed = np.asarray(entries.sum(axis=1)).ravel()[telling]
    telling = telling[np.argsort(-listed, kind="stable")][: settings.phrases]
    is_wanted = np.zeros(len(terms), bool)
    is_wanted[words] = is_wanted[telling] = True
    row = np.repeat(np.arange(matrix.shape[0]), size)
    return _only(matrix, row, np.flatnonzero(is_wanted[row]))


def _overlap(matrix: sp.csr_matrix, phrase: int, term: str, number: dict[str, int]) -> float:
    """How much of what a phrase may be its words say already."""
    shares_by_cell: dict[int, float] = {}
    for word in term.split(" "):
        i = number.get(word)
        if i is not None:
            cells = slice(matrix.indptr[i], matrix.indptr[i + 1])
            for target, share in zip(matrix.indices[cells].tolist(), matrix.data[cells].tolist(), strict=True):
                shares_by_cell[target] = max(shares_by_cell.get(target, 0.0), share)
    cells = slice(matrix.indptr[phrase], matrix.indptr[phrase + 1])
    cells_of_row = zip(matrix.indices[cells].tolist(), matrix.data[cells].tolist(), strict=True)
    return sum(min(share, shares_by_cell.get(target, 0.0)) for target, share in cells_of_row)


def _only(matrix: sp.csr_matrix, row: np.ndarray, is_kept: np.ndarray) -> sp.csr_matrix:
    start = np.concatenate([[0], np.cumsum(np.bincount(row[is_kept], minlength=matrix.shape[0]))])
    return _scaled(sp.csr_matrix((matrix.data[is_kept], matrix.indices[is_kept], start), shape=matrix.shape))


def _scaled(matrix: sp.csr_matrix) -> sp.csr_matrix:
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    mass = np.bincount(row, matrix.data, minlength=matrix.shape[0])[row]
    data = np.divide(matrix.data, mass, out=np.zeros(len(mass)), where=mass > 0)
    return sp.csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _grown(matrix: sp.csr_matrix, rows: int, columns: int) -> sp.csr_matrix:
    start = np.concatenate([matrix.indptr, np.full(rows - matrix.shape[0], matrix.indptr[-1])])
    return sp.csr_matrix((matrix.data, matrix.indices, start), shape=(rows, columns))
