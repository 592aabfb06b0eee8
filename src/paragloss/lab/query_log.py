"""Make bilingual training data of a monolingual query log: translate its queries, and remove ambiguous translations.

Sections 3.1, 6.3 and 6.4 of Liu's thesis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from paragloss.errors import InputError
from paragloss.types import Integers, JudgedCollection, Query, Translator

#: The thesis' bounds on the length of an ambiguous query's document list.
BOUNDS = (100, 200, 1000)


def lower_first(text: str) -> str:
    """Lower the first word's case where the second one is in lower case: names tend to have two capitalised words.

    A query of one word stays as it is.
    """
    words = text.split(" ")
    if len(words) > 1 and words[1][:1].islower():
        words[0] = words[0].lower()
    return " ".join(words)


#: name -> function that changes the capital letters of a text
CASES: Mapping[str, Callable[[str], str]] = {"keep": str, "lower": str.lower, "lower-first": lower_first}


def translate_queries(queries: Sequence[Query], translator: Translator, to: str, *, case: str = "keep") -> list[Query]:
    """Translate each query into language `to`: the best alternative of every term, joined by blanks.

    A query that has no translation at all keeps its words.

    :param queries: queries in the language of the log
    :param translator: knows that language and `to`
    :param to: language code
    :param case: what happens to capital letters, one of CASES
    """
    if case not in CASES:
        raise InputError(f"case {case!r}: expected one of {', '.join(CASES)}")
    change_case = CASES[case]
    translated = []
    for query in queries:
        best_words = [clause.alternatives[0].text for clause in translator.translate(query, to)]
        text = " ".join(best_words) or query.text
        translated.append(Query(query.id, change_case(text), to))
    return translated


def translate_log(judged: JudgedCollection, translator: Translator, to: str, *, case: str = "keep") -> JudgedCollection:
    """Translate the queries; documents and judgments stay."""
    return judged._replace(queries=translate_queries(judged.queries, translator, to, case=case))


def find_ambiguous(source_queries: Sequence[Query], translated_queries: Sequence[Query]) -> dict[str, list[str]]:
    """Find translations that several different queries share, with the ids of those queries.

    :param source_queries: queries in the source language
    :param translated_queries: the same queries, by id, translated
    :return: translation -> query ids
    """
    source_text_by_id = {query.id: query.text for query in source_queries}
    ids_by_translation: dict[str, list[str]] = {}
    for query in translated_queries:
        ids_by_translation.setdefault(query.text, []).append(query.id)
    shared_translations = {}
    for translation, query_ids in ids_by_translation.items():
        source_texts = {source_text_by_id[query_id] for query_id in query_ids}
        if len(source_texts) > 1:
            shared_translations[translation] = query_ids
    return shared_translations


class CleanedLog(NamedTuple):
    """A log without its most ambiguous translations, and counts of what was removed."""

    judged: JudgedCollection
    ambiguous: int  # queries whose translation is also that of another query
    removed: int  # queries that were removed
    pairs: int  # judged pairs of a query and a document before
    pairs_left: int  # and after


def remove_ambiguous_queries(
    source_log: JudgedCollection, translated_log: JudgedCollection, *, max_judged: int
) -> CleanedLog:
    """Remove queries that share a translation from a log if one of them has many judged documents.

    A query with many judged documents is ambiguous itself, and a translation can't be clearer than the most ambiguous
    of its source queries, which decides for all of them.

    :param source_log: the log in the source language
    :param translated_log: the same log with translated queries
    :param max_judged: queries that share a translation stay if none of them has more judged documents than this
    :return: the translated log without these queries, and counts of what was removed
    """
    ids_by_translation = find_ambiguous(source_log.queries, translated_log.queries)
    removed_ids: set[str] = set()
    for query_ids in ids_by_translation.values():
        if max(_count_judged(translated_log, query_id) for query_id in query_ids) > max_judged:
            removed_ids.update(query_ids)
    remaining_log = _remove_queries(translated_log, removed_ids)
    return CleanedLog(
        judged=remaining_log,
        ambiguous=sum(map(len, ids_by_translation.values())),
        removed=len(removed_ids),
        pairs=_count_pairs(translated_log),
        pairs_left=_count_pairs(remaining_log),
    )


def remove_random_queries(judged: JudgedCollection, pairs: int, *, seed: int = 0) -> JudgedCollection:
    """Remove queries at random until at most `pairs` judged pairs are left.

    A log that was cleaned by `remove_ambiguous_queries` is compared with one that has lost as many judgments by chance.

    :param judged: the log with its queries
    :param pairs: how many judged pairs may be left
    :param seed: of the random order
    """
    if pairs < 0:
        raise InputError(f"{pairs} pairs to keep: expected none or more")
    order = np.random.default_rng(seed).permutation(len(judged.queries)).tolist()
    pairs_left = _count_pairs(judged)
    removed_ids: set[str] = set()
    for i in order:
        if pairs_left <= pairs:
            break
        query_id = judged.queries[i].id
        removed_ids.add(query_id)
        pairs_left -= _count_judged(judged, query_id)
    return _remove_queries(judged, removed_ids)


class JudgedCounts(NamedTuple):
    """Statistics of how many judged documents ambiguous queries have (Tables 6.6 and 6.7 of the thesis)."""

    mean: float
    minimum: int
    maximum: int
    deviation: float
    ranges: dict[str, int]  # "1 to 100" -> number of queries


def measure_judged_counts(
    source_log: JudgedCollection, translated_log: JudgedCollection, *, bounds: Sequence[int] = BOUNDS
) -> JudgedCounts:
    """Describe how many judged documents ambiguous queries have; all figures are zero if no query is ambiguous.

    A query is ambiguous if another query of the log has the same translation (`find_ambiguous`).

    :param source_log: the log in the source language
    :param translated_log: the same log with translated queries
    :param bounds: ends of ranges of numbers of judged documents; for each range its queries are counted
    """
    ids_by_translation = find_ambiguous(source_log.queries, translated_log.queries)
    ambiguous_ids = list(chain.from_iterable(ids_by_translation.values()))
    judged_counts = np.array([_count_judged(translated_log, query_id) for query_id in ambiguous_ids], np.int64)
    ranges = _count_by_range(judged_counts, bounds)
    if not len(judged_counts):
        return JudgedCounts(0.0, 0, 0, 0.0, ranges)
    return JudgedCounts(
        mean=float(judged_counts.mean()),
        minimum=int(judged_counts.min()),
        maximum=int(judged_counts.max()),
        deviation=float(judged_counts.std()),
        ranges=ranges,
    )


def _count_by_range(numbers: Integers, bounds: Sequence[int]) -> dict[str, int]:
    """Count the numbers in each range, such as "1 to 100", and above the last one.

    :param numbers: positive whole numbers
    :param bounds: ends of the ranges, ascending
    """
    counts = {}
    for low, high in pairwise([0, *bounds]):
        is_in_range = (numbers > low) & (numbers <= high)
        counts[f"{low + 1} to {high}"] = int(is_in_range.sum())
    last_bound = bounds[-1] if bounds else 0
    counts[f"above {last_bound}"] = int((numbers > last_bound).sum())
    return counts


def _count_judged(judged: JudgedCollection, query_id: str) -> int:
    return len(judged.qrels.get(query_id, ()))


def _count_pairs(judged: JudgedCollection) -> int:
    return sum(_count_judged(judged, query.id) for query in judged.queries)


def _remove_queries(judged: JudgedCollection, removed: set[str]) -> JudgedCollection:
    queries = [query for query in judged.queries if query.id not in removed]
    qrels = {query_id: grades for query_id, grades in judged.qrels.items() if query_id not in removed}
    return judged._replace(queries=queries, qrels=qrels)
