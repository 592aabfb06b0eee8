"""Probabilistic structured queries over many documents at once, as sparse products.

The same numbers as `search.structured.Probabilistic` over one field, for all queries and documents in one go and
without a store: what makes trying many models possible. tests/test_recipes.py holds the two together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from paragloss.analysis import analyzer
from paragloss.types import Query, Translation, Translator

K1, B = 1.2, 0.75
Clause = Mapping[str, float]


class Documents(NamedTuple):
    """Documents of one language: counts (documents, terms)."""

    lang: str
    index: dict[str, int]
    counts: sp.csr_matrix

    @classmethod
    def read(cls, texts: Sequence[str], lang: str) -> Documents:
        index: dict[str, int] = {}
        terms = analyzer(lang).terms
        bags = [Counter(index.setdefault(t, len(index)) for t in terms(text)) for text in texts]
        start = np.cumsum([0, *map(len, bags)])
        indices = np.fromiter((i for bag in bags for i in bag), np.int64)
        data = np.fromiter((n for bag in bags for n in bag.values()), np.float64)
        return cls(lang, index, sp.csr_matrix((data, indices, start), shape=(len(texts), len(index))))


def own_words(query: Query) -> list[Clause]:
    """A query in the documents' own language: every word for itself."""
    return [{term: 1.0} for term in analyzer(query.lang).terms(query.text)]


def translated(query: Query, to: str, translator: Translator) -> list[Clause]:
    return shares(translator.translate(query, to), to)


def shares(translations: Sequence[Translation], to: str) -> list[Clause]:
    """Each clause's terms with shares that sum to one, as `Probabilistic` has them."""
    cut = analyzer(to).terms
    clauses = []
    for translation in translations:
        clause: dict[str, float] = {}
        for text, weight, *more in translation.alternatives:
            words = (more[0] if more else ()) or cut(text)
            for word in words:
                clause[word] = clause.get(word, 0.0) + weight / len(words)
        total = sum(clause.values())
        if total:
            clauses.append({word: share / total for word, share in clause.items()})
    return clauses


def scores(queries: Sequence[Sequence[Clause]], documents: Documents) -> np.ndarray:
    """(queries, documents)"""
    counts, index = documents.counts, documents.index
    number = counts.shape[0]
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    length = np.asarray(counts.sum(axis=1)).ravel()
    norm = K1 * (1 - B + B * length / max(length.mean(), 1e-9))
    rows, columns, values, owner, mass = [], [], [], [], []
    for q, clauses in enumerate(queries):
        for clause in clauses:
            seen = 0.0
            for word, share in clause.items():
                i = index.get(word)
                if i is not None:
                    rows.append(len(owner))
                    columns.append(i)
                    values.append(share)
                    seen += share * df[i]
            owner.append(q)
            mass.append(seen)
    found = np.zeros((len(queries), number), np.float32)
    weights = sp.csr_matrix((values, (rows, columns)), shape=(len(owner), counts.shape[1]))
    idf = np.log1p((number - np.array(mass) + 0.5) / (np.array(mass) + 0.5))
    transposed = counts.T.tocsr()
    owners = np.array(owner)
    for start in range(0, len(owner), 20_000):
        stop = min(start + 20_000, len(owner))
        tf = (weights[start:stop] @ transposed).tocsr()
        row = np.repeat(np.arange(start, stop), np.diff(tf.indptr))
        part = tf.data / (tf.data + norm[tf.indices]) * idf[row]
        cells = sp.csr_matrix((part, (owners[row], tf.indices)), shape=found.shape)
        found += cells.astype(np.float32).toarray()
    return found


def reciprocal_ranks(found: np.ndarray, right: Sequence[int]) -> np.ndarray:
    """Of one right document a query; of documents that score alike the earlier ones count as before it, and a document
    that scores nothing is not found."""
    own = found[np.arange(len(right)), right]
    better = (found > own[:, None]).sum(axis=1)
    alike = found == own[:, None]
    before = (alike & (np.arange(found.shape[1])[None, :] < np.asarray(right)[:, None])).sum(axis=1)
    return np.where(own > 0, 1.0 / (1 + better + before), 0.0)
