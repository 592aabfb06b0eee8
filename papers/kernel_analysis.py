"""What a kernel ranker has learned: the weight of each kernel, which pairs of words fall into it, how it ranks alone.

The analyses of chapter 6 of Liu's thesis, for `encoders.kernel_ranker.Knrm`. Nothing here trains or draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.encoders.kernel_features import MEANS, responses
from paragloss.encoders.kernel_ranker import Knrm
from paragloss.types import Integers, JudgedCollection, Query, Translator


class Bin(NamedTuple):
    """One kernel, numbered from 1 as in the thesis: the exact match is 1, the most opposite 11."""

    number: int
    mean: float
    weight: float
    pairs: int


def bins(model: Knrm, judged: JudgedCollection) -> list[Bin]:
    """Weights, and how many different pairs of a query word and a word of a document judged for it fall into each
    kernel (Table 6.4)."""
    pairs = word_pairs(model, judged)
    table = model.table
    counts = np.zeros(len(MEANS), np.int64)
    for start in range(0, len(pairs), 100_000):
        block = pairs[start : start + 100_000]
        cosines = np.einsum("nd,nd->n", table[block[:, 0]], table[block[:, 1]])
        counts += np.bincount(kernel_of(cosines) - 1, minlength=len(MEANS))
    return [Bin(i, m, float(w), int(n)) for i, (m, w, n) in enumerate(zip(MEANS, model.weight, counts, strict=True), 1)]


def kernel_of(cosines: npt.ArrayLike) -> Integers:
    """The kernel that responds most, from 1. For soft kernels that is the nearest mean."""
    return np.asarray(responses(np.asarray(cosines, np.float64)).argmax(axis=-1) + 1, np.int64)


def word_pairs(model: Knrm, judged: JudgedCollection) -> Integers:
    """Different pairs of rows of the model's table, a query's word and a document's: (pairs, 2)."""
    size = len(model.table)
    rows: dict[str, Integers] = {}
    pair_keys: list[Integers] = [np.zeros(0, np.int64)]
    for query in judged.queries:
        query_rows = np.unique(model.ids(query.text, query.lang))
        for name in judged.qrels.get(query.id, {}):
            if name not in rows:
                document = judged.documents[name]
                rows[name] = np.unique(model.ids(document.full_text, document.lang))
            pair_keys.append((query_rows[:, None] * size + rows[name]).ravel())
    keys = np.unique(np.concatenate(pair_keys))
    return np.stack([keys // size, keys % size], axis=1)


def translation_kernels(model: Knrm, translator: Translator, words: Iterable[Query], to: str) -> list[int]:
    """The kernels into which words, given as queries, and their best translations fall.

    Words and translations that the model does not know, or not as one term, are left out.
    """
    kernels = []
    for query in words:
        own = model.ids(query.text, query.lang)
        clauses = translator.translate(query, to) if len(own) == 1 else []
        for clause in clauses:
            other = model.ids(clause.alternatives[0].text, to)
            if len(other) == 1:
                kernels.append(int(kernel_of(model.table[own[0]] @ model.table[other[0]])))
    return kernels


def words_of(queries: Iterable[Query]) -> list[Query]:
    """Each different word of some queries, as a query."""
    query_by_word: dict[tuple[str, str], Query] = {}
    for query in queries:
        for word in query.text.split():
            query_by_word.setdefault((word, query.lang), Query(word, word, query.lang))
    return list(query_by_word.values())


def one_at_a_time(model: Knrm, measure: Callable[[Knrm], float]) -> list[float]:
    """What each kernel reaches alone (Fig. 6.3)."""
    scores = []
    for number in range(len(MEANS)):
        single = copy(model)
        single.weight = np.where(np.arange(len(MEANS)) == number, model.weight, 0).astype(np.float32)
        scores.append(measure(single))
    return scores


def first(judged: JudgedCollection, size: int) -> JudgedCollection:
    """The first so many queries, and all documents."""
    queries = judged.queries[:size]
    return judged._replace(queries=queries, qrels={q.id: judged.qrels.get(q.id, {}) for q in queries})


def seen_terms(model: Knrm, judged: JudgedCollection) -> int:
    """How many terms the queries and the documents judged for them have."""
    rows: set[int] = set()
    for query in judged.queries:
        rows.update(model.ids(query.text, query.lang).tolist())
    for name in {name for grades in judged.qrels.values() for name in grades}:
        document = judged.documents[name]
        rows.update(model.ids(document.full_text, document.lang).tolist())
    return len(rows)


def unknown_share(model: Knrm, queries: Iterable[Query]) -> float:
    """The share of the words of some queries that the model was never shown (Table 6.11)."""
    unknown = known = 0
    for query in queries:
        unknown += len(model.vocabularies[query.lang].list_unknown_terms(query.text))
        known += len(model.ids(query.text, query.lang))
    return unknown / max(unknown + known, 1)
