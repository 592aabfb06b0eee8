"""How well does a translator find? Structured queries over all documents at once, as sparse products.

The same numbers as `lab.matchings.structured.Tempered` gives over a store, for many queries and without one: what makes
trying many models possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.analysis import analyzer
from paragloss.statistics import compute_idf, temper_alternatives
from paragloss.translation.name_alternatives import add_name_alternatives
from paragloss.translation.subword_terms import SOUND_PREFIX, SUBWORD_WEIGHT, list_subword_terms
from paragloss.types import Query, Translation, Translator

K1, B = 1.2, 0.75
Clause: TypeAlias = Mapping[str, float]
Doubles: TypeAlias = npt.NDArray[np.float64]
Floats: TypeAlias = npt.NDArray[np.float32]


class Documents(NamedTuple):
    """Documents of one language: counts (documents, terms), lengths, and the places of what words hold inside."""

    lang: str
    number: dict[str, int]
    counts: sp.csr_matrix
    length: Doubles
    inner: dict[str, int]

    @classmethod
    def read(cls, texts: Sequence[str], lang: str, *, inner: Sequence[str] | None = None) -> Documents:
        """`inner` are the texts whose words are also looked into, as the product does; nothing is by default."""
        index: dict[str, int] = {}
        cut = [analyzer(lang).terms(text) for text in texts]
        bags = [Counter(index.setdefault(term, len(index)) for term in terms) for terms in cut]
        frequencies: dict[str, int] = {}
        for bag, text in zip(bags, inner or (), strict=False):
            for term in list_subword_terms(analyzer(lang).terms(text), lang):
                bag[frequencies.setdefault(term, len(index) + len(frequencies))] += 1
        start = np.cumsum([0, *map(len, bags)])
        indices = np.fromiter((i for bag in bags for i in bag), np.int64)
        data = np.fromiter((n for bag in bags for n in bag.values()), np.float64)
        return cls(
            lang,
            index,
            sp.csr_matrix((data, indices, start), shape=(len(texts), len(index) + len(frequencies))),
            np.array([len(terms) for terms in cut], np.float64),
            frequencies,
        )


def own_words(query: Query) -> list[Clause]:
    """A query in the documents' own language: every word for itself."""
    return [{term: 1.0} for term in analyzer(query.lang).terms(query.text)]


def translated(query: Query, to: str, translator: Translator, *, inner: bool = False) -> list[Clause]:
    """A query in another language; with `inner` also by how its names sound there."""
    clauses = translator.translate(query, to)
    return shares(add_name_alternatives(clauses, query.lang, to) if inner else clauses, to)


def shares(translations: Sequence[Translation], to: str) -> list[Clause]:
    """Each clause's terms with shares that sum to one, as structured queries have them."""
    cut = analyzer(to).terms
    clauses: list[Clause] = []
    for translation in translations:
        clause: dict[str, float] = {}
        for text, weight, terms in translation.alternatives:
            words = terms or cut(text)
            for word in words:
                clause[word] = clause.get(word, 0.0) + weight / len(words)
        total = sum(clause.values())
        if total:
            clauses.append({word: share / total for word, share in clause.items()})
    return clauses


def scores(queries: Sequence[Sequence[Clause]], *fields: Documents) -> Floats:
    """(queries, documents); fields such as title and text each for itself, added up, as the product searches."""
    number = fields[0].counts.shape[0]
    query_scores = np.zeros((len(queries), number), np.float32)
    query_clauses = [(q, clause) for q, clauses in enumerate(queries) for clause in clauses if clause]
    for start in range(0, len(query_clauses), 20_000):
        owner, clauses = zip(*query_clauses[start : start + 20_000], strict=True)
        words = [word for clause in clauses for word in clause]
        first = np.cumsum([0, *map(len, clauses)])
        matrices = [_weigh_positions(words, field) for field in fields]
        frequencies = [np.bincount(field.counts.indices, minlength=field.counts.shape[1]) for field in fields]
        df = np.array(
            [np.minimum(where @ frequency, number) for where, frequency in zip(matrices, frequencies, strict=True)]
        )
        probabilities = np.array([share for clause in clauses for share in clause.values()])
        document_counts = np.full((len(fields), len(clauses)), float(number))
        shares, frequency = temper_alternatives(probabilities, df, first[:-1], document_counts)
        counted = sp.csr_matrix((shares, np.arange(len(words)), first))
        for field, where, idf in zip(fields, matrices, compute_idf(document_counts, frequency), strict=True):
            norm = K1 * (1 - B + B * field.length / max(field.length.mean(), 1e-9))
            tf = (counted @ where @ field.counts.T).tocsr()
            row = np.repeat(np.arange(len(clauses)), np.diff(tf.indptr))
            part = tf.data / (tf.data + norm[tf.indices]) * idf[row]
            cells = sp.csr_matrix((part, (np.array(owner)[row], tf.indices)), shape=query_scores.shape)
            query_scores += cells.astype(np.float32).toarray()
    return query_scores


def _weigh_positions(words: Sequence[str], field: Documents) -> sp.csr_matrix:
    """(words, terms) how much each word counts where it stands, and where longer ones hold it inside."""
    cells = [
        (row, column, share)
        for row, word in enumerate(words)
        for column, share in (
            (field.number.get(word), 1.0),
            (field.inner.get(word), 1.0 if word[0] == SOUND_PREFIX else SUBWORD_WEIGHT),
        )
        if column is not None
    ]
    rows, columns, shares = zip(*cells, strict=True) if cells else ((), (), ())
    return sp.csr_matrix((shares, (rows, columns)), shape=(len(words), field.counts.shape[1]), dtype=np.float64)


def reciprocal_ranks(scores_of_queries: npt.NDArray[Any], right: Sequence[int]) -> Doubles:
    """Of one right document a query; of documents that score alike the earlier ones count as before it, and a document
    that scores nothing is not found."""
    own = scores_of_queries[np.arange(len(right)), right]
    better = (scores_of_queries > own[:, None]).sum(axis=1)
    is_tied = scores_of_queries == own[:, None]
    before = (is_tied & (np.arange(scores_of_queries.shape[1])[None, :] < np.asarray(right)[:, None])).sum(axis=1)
    return np.where(own > 0, 1.0 / (1 + better + before), 0.0)
