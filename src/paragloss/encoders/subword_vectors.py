"""A bag encoder that also reads words outside its vocabulary, by the characters they are made of. Numpy only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from paragloss import artefacts
from paragloss.encoders.bag import BagEncoder
from paragloss.types import Floats
from paragloss.vocabulary import count_rows

SHORTEST, LONGEST = 3, 5


class Grams(NamedTuple):
    """The character n-grams of one language and a vector for each."""

    places: dict[str, int]
    table: Floats  # (grams, dim)

    def vectors(self, terms: Sequence[str]) -> Floats:
        """One row per term: its n-grams' vectors, summed over unit-length counts. Zero where none is known."""
        return np.asarray(bags(terms, self.places) @ self.table, np.float32)


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
            unknowns = count_rows([[place[term] for term in terms] for terms in others], len(strangers))
            # Nobody knows how rare a word is that was never seen: as rare as a word seen once.
            rows += unknowns @ self.grams[lang].vectors(strangers) * (np.log(max(tower.vocabulary.documents, 1)) + 1)
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


def grams_of(term: str) -> Iterator[str]:
    marked = f"<{term}>"
    for size in range(SHORTEST, LONGEST + 1):
        for start in range(len(marked) - size + 1):
            yield marked[start : start + size]


def bags(terms: Iterable[str], index: dict[str, int]) -> sp.csr_matrix:
    bags = count_rows([[index[gram] for gram in grams_of(term) if gram in index] for term in terms], len(index))
    norms = np.sqrt(np.asarray(bags.multiply(bags).sum(axis=1))).ravel()
    return (sp.diags(1 / np.maximum(norms, 1)) @ bags).tocsr().astype(np.float32)


load = SubwordEncoder.load
