"""Vectors for words a model never saw, from the characters they are made of.

Character n-grams get vectors by ridge regression of the known words' vectors on their n-grams; an unknown word is
the sum of its n-grams. Wraps a linear BagEncoder; how that was trained does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from paragloss import artefacts
from paragloss.errors import ModelError
from paragloss.models._arrays import Arrays
from paragloss.models._ridge import Block, Regression
from paragloss.models.bag import BagEncoder
from paragloss.types import Aligned, Floats

SHORTEST, LONGEST = 3, 5


class Grams(NamedTuple):
    """The character n-grams of one language and a vector for each."""

    places: dict[str, int]
    table: Floats  # (grams, dim)

    def vectors(self, terms: Sequence[str]) -> Floats:
        """One row per term: its n-grams' vectors, summed over unit-length counts. Zero where none is known."""
        return np.asarray(_bags(terms, self.places) @ self.table, np.float32)


class SubwordEncoder:
    """A BagEncoder that also reads words outside its vocabulary. Texts of known words get the same rows as before."""

    def __init__(self, bag: BagEncoder, grams: dict[str, Grams]) -> None:
        self.bag, self.grams = bag, grams
        self.dim, self.langs, self.meta = bag.dim, bag.langs, bag.meta

    def encode(self, texts: Sequence[str], lang: str) -> Floats:
        tower = self.bag.tower(lang)
        known, others = [], []
        for text in texts:
            ids, unknown = tower.vocabulary.split(text)
            known.append(ids)
            others.append(unknown)
        counts = tower.vocabulary.count_ids(known)
        rows: Floats = np.asarray(counts.multiply(tower.vocabulary.idf).tocsr() @ tower.table, np.float32)
        strangers = sorted({term for terms in others for term in terms})
        if strangers and lang in self.grams:
            place = {term: i for i, term in enumerate(strangers)}
            said = _counted([[place[term] for term in terms] for terms in others], len(strangers))
            # Nobody knows how rare a word is that was never seen: as rare as a word seen once.
            rows += said @ self.grams[lang].vectors(strangers) * (np.log(max(tower.vocabulary.documents, 1)) + 1)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        np.divide(rows, norms + self.bag.epsilon, out=rows, where=norms > 0)
        return rows

    def save(self, path: str | Path) -> None:
        packed = self.bag.packed()
        for lang, grams in self.grams.items():
            packed["words"][f"{lang}.grams"] = list(grams.places)
            packed["arrays"][f"{lang}.grams"] = grams.table
        artefacts.save(path, "subwords", **packed)

    @classmethod
    def load(cls, path: str | Path) -> SubwordEncoder:
        saved = artefacts.load(path, kind="subwords")
        bag = BagEncoder.unpacked(saved)
        grams = {
            lang: Grams({gram: i for i, gram in enumerate(saved.words[f"{lang}.grams"])}, saved.arrays[f"{lang}.grams"])
            for lang in bag.langs
            if f"{lang}.grams" in saved.words
        }
        return cls(bag, grams)


def fit(aligned: Aligned, *, dim: int = 300, seed: int = 0, max_grams: int = 200_000) -> SubwordEncoder:
    """Cr5 with its defaults, and vectors for the words it has not seen."""
    from paragloss.models import cr5

    return extend(cr5.fit(aligned, dim=dim, seed=seed), max_grams=max_grams)


def extend(
    encoder: BagEncoder, *, lambda_: float = 1.0, max_grams: int = 200_000, device: str | None = None
) -> SubwordEncoder:
    """Learn n-gram vectors B of every language: minimise sum over known words ||v_w - B^T g_w||² + λ ||B||², with
    g_w the unit-length bag of the word's n-grams of 3 to 5 characters, its ends marked."""
    if any(tower.layers or tower.activation != "linear" or tower.bias is not None for tower in encoder.towers.values()):
        raise ModelError("only a linear model (cr5, lsi, opca, cca) can add up word parts; this one has layers")
    return SubwordEncoder(
        encoder,
        {
            lang: _learn(tower.vocabulary.terms, tower.table, lambda_, max_grams, Arrays(device))
            for lang, tower in encoder.towers.items()
        },
    )


def _learn(terms: Sequence[str], table: Floats, lambda_: float, max_grams: int, arrays: Arrays) -> Grams:
    seen: Counter[str] = Counter()
    for term in terms:
        seen.update(set(_grams(term)))
    chosen = [gram for gram, words in seen.most_common(max_grams) if words > 1]
    index = {gram: i for i, gram in enumerate(chosen)}
    if not index:
        return Grams({}, np.zeros((0, table.shape[1]), np.float32))
    block = Block(_bags(terms, index), np.arange(len(terms)))
    regression = Regression.of([block], len(terms), arrays, lambda_=lambda_)
    solved = regression.solve_each(arrays.put(np.array(table, np.float32)), 1e-2)
    return Grams(index, arrays.get(regression.words(solved)[0]))


def _grams(term: str) -> Iterator[str]:
    marked = f"<{term}>"
    for size in range(SHORTEST, LONGEST + 1):
        for start in range(len(marked) - size + 1):
            yield marked[start : start + size]


def _bags(terms: Iterable[str], index: dict[str, int]) -> sp.csr_matrix:
    bags = _counted([[index[gram] for gram in _grams(term) if gram in index] for term in terms], len(index))
    norms = np.sqrt(np.asarray(bags.multiply(bags).sum(axis=1))).ravel()
    return (sp.diags(1 / np.maximum(norms, 1)) @ bags).tocsr().astype(np.float32)


def _counted(rows: list[list[int]], width: int) -> Any:
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    flat = np.fromiter((i for row in rows for i in row), np.int32, count=int(indptr[-1]))
    counts = sp.csr_matrix((np.ones(len(flat), np.float32), flat, indptr), shape=(len(rows), width))
    counts.sum_duplicates()
    return counts


load = SubwordEncoder.load
