"""Encode words outside the vocabulary of a bag encoder by the character n-grams they are made of. Numpy only."""

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

#: Lengths of the n-grams.
SHORTEST, LONGEST = 3, 5


class Grams(NamedTuple):
    """The character n-grams of one language and a vector for each."""

    columns: dict[str, int]
    table: Floats  # (grams, dim)

    def vectors(self, terms: Sequence[str]) -> Floats:
        """Return one row per term: its n-gram counts, scaled to length 1, times the vectors of the n-grams."""
        return np.asarray(make_gram_bags(terms, self.columns) @ self.table, np.float32)


class SubwordEncoder:
    """A BagEncoder that also encodes words outside its vocabulary; texts of known words get the same rows."""

    def __init__(self, bag: BagEncoder, grams: dict[str, Grams]) -> None:
        self.bag, self.grams = bag, grams
        self.dim, self.langs, self.meta = bag.dim, bag.langs, bag.meta

    def encode(self, texts: Sequence[str], lang: str) -> Floats:
        """Return one row of length 1 per text (texts, dim); 0 for a text without a word that can be encoded.

        A text is the sum of its words' vectors times their idf. A word outside the vocabulary gets its vector from its
        n-grams.
        """
        tower = self.bag.tower(lang)
        words_by_text = [tower.vocabulary.split_text(text) for text in texts]
        known_ids = [ids for ids, _ in words_by_text]
        unknown_terms = [terms for _, terms in words_by_text]
        counts = tower.vocabulary.count_ids(known_ids)  # (texts, terms)
        weights = counts.multiply(tower.vocabulary.idf).tocsr()
        rows: Floats = np.asarray(weights @ tower.table, np.float32)
        if any(unknown_terms) and lang in self.grams:
            # An unknown word is assumed to be as rare as a word that one document has.
            idf = np.log(max(tower.vocabulary.documents, 1)) + 1
            rows += self._encode_unknown(unknown_terms, lang) * idf
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        np.divide(rows, norms + self.bag.epsilon, out=rows, where=norms > 0)
        return rows

    def _encode_unknown(self, terms_of_texts: Sequence[Sequence[str]], lang: str) -> Floats:
        """Return for each text the sum of the vectors of its unknown terms, made from their n-grams; (n_texts, dim)."""
        distinct_terms = sorted({term for terms in terms_of_texts for term in terms})
        columns = {term: column for column, term in enumerate(distinct_terms)}
        counts = count_rows([[columns[term] for term in terms] for terms in terms_of_texts], len(columns))
        return np.asarray(counts @ self.grams[lang].vectors(distinct_terms))

    def save(self, path: str | Path) -> None:
        """Write the encoder to a folder."""
        packed = self.bag.pack()
        for lang, grams in self.grams.items():
            packed["words"][f"{lang}.grams"] = list(grams.columns)
            packed["arrays"][f"{lang}.grams"] = grams.table
        artefacts.save(path, "subwords", **packed)

    @classmethod
    def load(cls, path: str | Path) -> SubwordEncoder:
        """Open a saved model."""
        saved = artefacts.load(path, kind="subwords")
        bag = BagEncoder.unpack(saved)
        grams = {}
        for lang in bag.langs:
            names = saved.words.get(f"{lang}.grams")
            if names is not None:
                column_by_gram = {gram: column for column, gram in enumerate(names)}
                grams[lang] = Grams(column_by_gram, saved.arrays[f"{lang}.grams"])
        return cls(bag, grams)


def grams_of(term: str) -> Iterator[str]:
    """Yield the n-grams of a term between marks for its ends."""
    marked = f"<{term}>"
    for size in range(SHORTEST, LONGEST + 1):
        for start in range(len(marked) - size + 1):
            yield marked[start : start + size]


def make_gram_bags(terms: Iterable[str], index: dict[str, int]) -> sp.csr_matrix:
    """Return the n-gram counts of each term, scaled to length 1 (terms, grams).

    :param index: the column of each n-gram; others are left out
    """
    columns_by_term = [[index[gram] for gram in grams_of(term) if gram in index] for term in terms]
    counts = count_rows(columns_by_term, len(index))  # (terms, grams)
    norms = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1))).ravel()  # (terms,), 0 for a term without n-grams
    unit_rows = sp.diags(1 / np.maximum(norms, 1)) @ counts
    return unit_rows.tocsr().astype(np.float32)


load = SubwordEncoder.load
