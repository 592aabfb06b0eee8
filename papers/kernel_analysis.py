"""What a kernel ranker has learned: the weight of each kernel, which pairs of words fall into it, how it ranks alone.

The analyses of chapter 6 of Liu's thesis, for `encoders.kernel_ranker.Knrm`. Nothing here trains or draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy

import numpy as np
import numpy.typing as npt

from paragloss.encoders.kernel_features import MEANS, compute_responses
from paragloss.encoders.kernel_ranker import Knrm
from paragloss.types import Integers, JudgedCollection, Query, Translator


def count_pairs_by_kernel(model: Knrm, judged: JudgedCollection) -> Integers:
    """Count how many pairs of words fall into each kernel (Table 6.4): (kernels,).

    Pairs are the different ones of a query's word and a word of a document that is judged for it.
    """
    pairs = list_word_pairs(model, judged)
    counts = np.zeros(len(MEANS), np.int64)
    for start in range(0, len(pairs), 100_000):
        block = pairs[start : start + 100_000]
        cosines = np.einsum("nd,nd->n", model.table[block[:, 0]], model.table[block[:, 1]])
        counts += np.bincount(find_strongest_kernel(cosines) - 1, minlength=len(MEANS))
    return counts


def find_strongest_kernel(cosines: npt.ArrayLike) -> Integers:
    """Return the number of the kernel that responds most to each cosine: of soft kernels the nearest mean.

    As in the thesis the exact match is number 1, the most opposite kernel 11.
    """
    return np.asarray(compute_responses(np.asarray(cosines, np.float64)).argmax(axis=-1) + 1, np.int64)


def list_word_pairs(model: Knrm, judged: JudgedCollection) -> Integers:
    """List the different pairs of a query's word and a document's as rows of the model's table: (pairs, 2)."""
    pairs = [np.zeros((0, 2), np.int64)]
    for query in judged.queries:
        query_rows = np.unique(model.ids(query.text, query.lang))
        for doc_id in judged.qrels.get(query.id, {}):
            document = judged.documents[doc_id]
            document_rows = np.unique(model.ids(document.full_text, document.lang))
            grid = np.meshgrid(query_rows, document_rows, indexing="ij")
            pairs.append(np.stack(grid, axis=-1).reshape(-1, 2))
    return np.unique(np.concatenate(pairs), axis=0)


def list_translation_kernels(model: Knrm, translator: Translator, words: Iterable[Query], to: str) -> list[int]:
    """List the kernels into which words and their best translations fall.

    Words and translations that the model does not know, or not as one term, are left out.

    :param words: one word each
    :param to: the language of the translations
    """
    kernels = []
    for word in words:
        word_rows = model.ids(word.text, word.lang)
        clauses = translator.translate(word, to) if len(word_rows) == 1 else []
        for clause in clauses:
            translation_rows = model.ids(clause.alternatives[0].text, to)
            if len(translation_rows) == 1:
                cosine = model.table[word_rows[0]] @ model.table[translation_rows[0]]
                kernels.append(int(find_strongest_kernel(cosine)))
    return kernels


def split_into_words(queries: Iterable[Query]) -> list[Query]:
    """Make a query of each different word of some queries."""
    query_by_word: dict[tuple[str, str], Query] = {}
    for query in queries:
        for word in query.text.split():
            query_by_word.setdefault((word, query.lang), Query(word, word, query.lang))
    return list(query_by_word.values())


def measure_kernels_alone(model: Knrm, measure: Callable[[Knrm], float]) -> list[float]:
    """Measure the model with each kernel alone (Fig. 6.3)."""
    scores = []
    for number in range(len(MEANS)):
        single = copy(model)
        single.kernel_weights = np.where(np.arange(len(MEANS)) == number, model.kernel_weights, 0).astype(np.float32)
        scores.append(measure(single))
    return scores


def take_first_queries(judged: JudgedCollection, size: int) -> JudgedCollection:
    """Take the first `size` queries, and all documents."""
    queries = judged.queries[:size]
    return judged._replace(queries=queries, qrels={q.id: judged.qrels.get(q.id, {}) for q in queries})


def count_seen_terms(model: Knrm, judged: JudgedCollection) -> int:
    """Count the different terms of the queries and of the documents judged for them."""
    rows: set[int] = set()
    for query in judged.queries:
        rows.update(model.ids(query.text, query.lang).tolist())
    for name in {name for grades in judged.qrels.values() for name in grades}:
        document = judged.documents[name]
        rows.update(model.ids(document.full_text, document.lang).tolist())
    return len(rows)


def measure_unknown_share(model: Knrm, queries: Iterable[Query]) -> float:
    """Compute the share of the words of some queries that the model was never shown (Table 6.11)."""
    unknown = known = 0
    for query in queries:
        unknown += len(model.vocabularies[query.lang].list_unknown_terms(query.text))
        known += len(model.ids(query.text, query.lang))
    return unknown / max(unknown + known, 1)
