"""One language of the default model: P(other | English) and back, learned from pairs, and its dictionary entries.

The learning is the package's own (`lab.methods.table`'s): Model 1 with a prior on places. Here sources are weighed:
an entry's expected counts are multiplied by the weight of its kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sources import KINDS, Pair

from paragloss import artefacts
from paragloss.analysis import analyzer
from paragloss.translation.parallel_terms import TermSequences, make_bags
from paragloss.translation.word_alignment import TermBags, align_terms
from paragloss.translation.word_table import TermSpellings

#: How much one text of a kind counts, chosen on validation sentences (docs/understand/model.md).
WEIGHTS = {"words": 0.3, "names": 0.3, "sentences": 1.0, "documents": 1.0, "relatives": 0.3}
MAX_TRANSLATIONS, MIN_PROBABILITY, MAX_PHRASE_WORDS = 60, 1e-3, 3


class Learned(NamedTuple):
    """`en` and `other` are words (the first ones) and phrases of them; matrices are (en, other) and (other, en).
    `from_english` and `into_english` hold probabilities, `entries_*` how often a dictionary has a pair, phrases
    included."""

    en: TermSpellings
    other: TermSpellings
    from_english: sp.csr_matrix
    into_english: sp.csr_matrix
    entries_from_english: sp.csr_matrix
    entries_into_english: sp.csr_matrix
    seen_en: np.ndarray
    seen_other: np.ndarray


class Cut(NamedTuple):
    """Texts as term ids, text after text, and what the ids stand for: each term as it was first written, which in a
    dictionary is as one looks it up."""

    start: np.ndarray  # (texts + 1,)
    term: np.ndarray
    words: TermSpellings


class Bitext(NamedTuple):
    """Pairs cut into terms."""

    kinds: np.ndarray
    parts: np.ndarray
    en: Cut
    other: Cut


class Cutter:
    """Cuts texts of one language; what was cut before comes from memory, as English does for every other language."""

    def __init__(self, lang: str) -> None:
        self._spans = analyzer(lang).spans
        self._index: dict[str, int] = {}
        self._written: list[str] = []
        self._ids_by_text: dict[str, np.ndarray] = {}

    def cut(self, texts: Iterable[str]) -> Cut:
        ids = [self._ids(text) for text in texts]
        start = np.concatenate([[0], np.cumsum([len(ids_of_text) for ids_of_text in ids])]).astype(np.int64)
        used, term = np.unique(np.concatenate([np.zeros(0, np.int32), *ids]), return_inverse=True)
        terms = list(self._index)
        words = TermSpellings([terms[i] for i in used.tolist()], [self._written[i] for i in used.tolist()])
        return Cut(start, term.astype(np.int64), words)

    def _ids(self, text: str) -> np.ndarray:
        if text not in self._ids_by_text:
            ids = []
            for span in self._spans(text):
                ids.append(self._index.setdefault(span.term, len(self._index)))
                if len(self._index) > len(self._written):
                    self._written.append(text[span.start : span.end])
            self._ids_by_text[text] = np.array(ids, np.int32)
        return self._ids_by_text[text]


def read(pairs: Sequence[Pair], lang: str, english: Cutter) -> Bitext:
    """`english` is passed in since all languages share it."""
    en, other = english.cut(p.en for p in pairs), Cutter(lang).cut(p.other for p in pairs)
    return Bitext(np.array([p.kind for p in pairs]), np.array([p.part for p in pairs]), en, other)


def learned(
    bitext: Bitext, *, parts: Collection[str], weights: Mapping[str, float] = WEIGHTS, max_terms: int = 60
) -> Learned:
    """What pairs of these parts teach."""
    en, other = bitext.en, bitext.other
    weight = np.array([weights[kind] for kind in sorted(KINDS)])[np.searchsorted(sorted(KINDS), bitext.kinds)]
    used = np.isin(bitext.parts, list(parts)) & (np.diff(en.start) > 0) & (np.diff(other.start) > 0) & (weight > 0)
    en, other = _select_texts(en, used), _select_texts(other, used)
    sequences = [TermSequences(cut.start, cut.term, len(cut.words.terms)) for cut in (en, other)]
    bag = [_weighed(make_bags(texts, max_terms), weight[used]) for texts in sequences]
    from_english = _slim(align_terms(bag[0], bag[1]).probability)
    into_english = _slim(align_terms(bag[1], bag[0]).probability)
    curated = np.flatnonzero(np.isin(bitext.kinds[used], ["words", "names"]))
    en_words, entries_from_english = _entries(en, other, curated.tolist())
    other_words, entries_into_english = _entries(other, en, curated.tolist())
    counts_by_side = [np.bincount(c.term, minlength=len(c.words.terms)) for c in (en, other)]
    return Learned(
        en_words, other_words, from_english, into_english, entries_from_english, entries_into_english, *counts_by_side
    )


def _select_texts(cut: Cut, used: np.ndarray) -> Cut:
    """Some of the texts, with the words they have."""
    size = np.diff(cut.start)
    term = cut.term[np.repeat(used, size)]
    terms_here, term = np.unique(term, return_inverse=True)
    start = np.concatenate([[0], np.cumsum(size[used])])
    words = TermSpellings(*([side[i] for i in terms_here.tolist()] for side in cut.words))
    return Cut(start, term.astype(np.int64), words)


def _weighed(bag: TermBags, weight: np.ndarray) -> TermBags:
    weight_per_term = np.repeat(weight, np.diff(bag.starts))
    return bag._replace(weights=(bag.weights * weight_per_term).astype(np.float32))


def _slim(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """The best of each row, in order: what nothing downstream will look at is dropped."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((matrix.indices, -matrix.data, row))
    rank = np.arange(len(order)) - np.repeat(matrix.indptr[:-1], np.diff(matrix.indptr))
    kept_cells = order[(rank < MAX_TRANSLATIONS) & (matrix.data[order] >= MIN_PROBABILITY)]
    return sp.csr_matrix(
        (matrix.data[kept_cells].astype(np.float32), (row[kept_cells], matrix.indices[kept_cells])), shape=matrix.shape
    )


def _entries(source: Cut, target: Cut, curated: list[int]) -> tuple[TermSpellings, sp.csr_matrix]:
    """Dictionary entries from words and short phrases of one side to words of the other."""
    counts: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
    for i in curated:
        key = tuple(source.term[source.start[i] : source.start[i + 1]].tolist())
        value = tuple(target.term[target.start[i] : target.start[i + 1]].tolist())
        if 0 < len(key) <= MAX_PHRASE_WORDS and 0 < len(value) <= MAX_PHRASE_WORDS:
            counts[key, value] += 1
    terms, surfaces = list(source.words.terms), list(source.words.surfaces)
    rows = {(i,): i for i in range(len(terms))}
    cells: Counter[tuple[int, int]] = Counter()
    for (key, value), count in counts.items():
        if key not in rows:
            rows[key] = len(terms)
            terms.append(" ".join(source.words.terms[i] for i in key))
            surfaces.append(" ".join(source.words.surfaces[i] for i in key))
        for i in value:
            cells[rows[key], i] += count / len(value)
    where = np.array(list(cells), np.int64).reshape(-1, 2)
    data = np.fromiter(cells.values(), np.float32, len(cells))
    shape = (len(terms), len(target.words.terms))
    return TermSpellings(terms, surfaces), sp.csr_matrix((data, (where[:, 0], where[:, 1])), shape=shape)


#: Fields of Learned that are matrices, and their names in saved files.
MATRIX_NAMES = {
    "from_english": "there",
    "into_english": "back",
    "entries_from_english": "entries_there",
    "entries_into_english": "entries_back",
}


def save(result: Learned, path: Path) -> None:
    arrays = {"seen_en": result.seen_en, "seen_other": result.seen_other}
    for field, name in MATRIX_NAMES.items():
        matrix = getattr(result, field)
        arrays |= {f"{name}.{part}": getattr(matrix, part) for part in ("data", "indices", "indptr")}
    words = {
        f"{side}.{part}": getattr(getattr(result, side), part)
        for side in ("en", "other")
        for part in TermSpellings._fields
    }
    shapes = {name: list(getattr(result, field).shape) for field, name in MATRIX_NAMES.items()}
    artefacts.save(path, "learned", meta={"shapes": shapes}, arrays=arrays, words=words)


def load(path: Path) -> Learned:
    saved = artefacts.load(path, kind="learned")
    sides = [TermSpellings(saved.words[f"{side}.terms"], saved.words[f"{side}.surfaces"]) for side in ("en", "other")]
    matrices = [
        sp.csr_matrix(
            tuple(saved.arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr")),
            shape=saved.meta["shapes"][name],
        )
        for name in MATRIX_NAMES.values()
    ]
    return Learned(*sides, *matrices, saved.arrays["seen_en"], saved.arrays["seen_other"])
