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


class Placed(NamedTuple):
    """A word, a word of the other language, and the kernel they fall into."""

    source: str
    target: str
    cosine: float
    bin: int


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


def translation_pairs(model: Knrm, translator: Translator, words: Iterable[Query], to: str) -> list[Placed]:
    """Where the model puts words and their best translations, given as queries of one word each. Words and
    translations that the model doesn't know, or not as one term, are left out."""
    placed = []
    for query in words:
        own = model.ids(query.text, query.lang)
        clauses = translator.translate(query, to) if len(own) == 1 else []
        for clause in clauses:
            best = clause.alternatives[0].text
            other = model.ids(best, to)
            if len(other) == 1:
                cosine = float(model.table[own[0]] @ model.table[other[0]])
                placed.append(Placed(query.text, best, cosine, int(kernel_of(cosine))))
    return placed


def words_of(queries: Iterable[Query]) -> list[Query]:
    """Each different word of some queries, as a query."""
    query_by_word: dict[tuple[str, str], Query] = {}
    for query in queries:
        for word in query.text.split():
            query_by_word.setdefault((word, query.lang), Query(word, word, query.lang))
    return list(query_by_word.values())


def only(model: Knrm, number: int) -> Knrm:
    """The model with one kernel left on, numbered from 1."""
    return _weighted(model, np.where(np.arange(len(MEANS)) == number - 1, model.weight, 0))


def one_at_a_time(model: Knrm, measure: Callable[[Knrm], float]) -> list[float]:
    """What each kernel reaches alone (Fig. 6.3)."""
    return [measure(only(model, number)) for number in range(1, len(MEANS) + 1)]


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


class Unknown(NamedTuple):
    """Words out of the model's vocabulary, of all words."""

    unknown: int
    words: int


def unknown_words(model: Knrm, queries: Iterable[Query]) -> Unknown:
    """How many words of some queries the model was never shown (Table 6.11)."""
    unknown = words = 0
    for query in queries:
        missing = len(model.vocabularies[query.lang].list_unknown_terms(query.text))
        unknown += missing
        words += missing + len(model.ids(query.text, query.lang))
    return Unknown(unknown, words)


def _weighted(model: Knrm, weight: npt.NDArray[np.floating]) -> Knrm:
    other = copy(model)
    other.weight = weight.astype(np.float32)
    return other
