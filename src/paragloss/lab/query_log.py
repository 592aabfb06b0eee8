"""Bilingual training data from a monolingual log: its queries translated, its documents as they are; cleaned.

Secs. 3.1, 6.3 and 6.4 of Liu's thesis. Knows judged queries and translators, nothing of rankers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from paragloss.errors import InputError
from paragloss.types import JudgedCollection, Query, Translator

#: The thesis' bounds on the length of an ambiguous query's document list.
BOUNDS = (100, 200, 1000)
#: Stands before a word that was capitalised; a letter, so that analysis keeps it, and of no language we know.
_MARK = "\ua7fa"
_WORD = re.compile(r"[^\W\d_]+")


def lower_first(text: str) -> str:
    """Lower the first word's case where the second one is in lower case: names tend to have two capitalised words.

    A query of one word stays as it is.
    """
    words = text.split(" ")
    if len(words) > 1 and words[1][:1].islower():
        words[0] = words[0].lower()
    return " ".join(words)


#: What may be done with capitals, by name.
CASES: Mapping[str, Callable[[str], str]] = {"keep": str, "lower": str.lower, "lower-first": lower_first}


def mark_capitals(text: str) -> str:
    """Make capitals survive analysis, which lower-cases: `Apple` becomes another word than `apple`.

    For experiments with case: the queries a model is trained on and those it is asked must both go through it.
    """
    return _WORD.sub(lambda word: f"{_MARK}{word[0]}" if word[0][0].isupper() else word[0], text)


def capitalised(text: str) -> str:
    """Capitalise the first letter, as a machine translator begins a sentence; the rest stays."""
    return text[:1].upper() + text[1:]


def translate_queries(queries: Sequence[Query], translator: Translator, to: str, *, case: str = "keep") -> list[Query]:
    """Translate each query into language `to`, under its own id: the best alternative of every term, joined.

    A query that has no translation at all keeps its words.
    """
    if case not in CASES:
        raise InputError(f"case {case!r}: expected one of {', '.join(CASES)}")
    fold = CASES[case]
    translated = []
    for query in queries:
        best = " ".join(clause.alternatives[0].text for clause in translator.translate(query, to))
        translated.append(Query(query.id, fold(best or query.text), to))
    return translated


def translate_log(judged: JudgedCollection, translator: Translator, to: str, *, case: str = "keep") -> JudgedCollection:
    """Translate the queries; documents and judgments stay."""
    return judged._replace(queries=translate_queries(judged.queries, translator, to, case=case))


def ambiguous(before: Sequence[Query], after: Sequence[Query]) -> dict[str, list[str]]:
    """Find translations that several different queries share, with the ids of those queries."""
    source = {query.id: query.text for query in before}
    under: dict[str, list[str]] = {}
    for query in after:
        under.setdefault(query.text, []).append(query.id)
    return {text: ids for text, ids in under.items() if len({source[id] for id in ids}) > 1}


class Cleaned(NamedTuple):
    """What cleaning left, and what it found."""

    judged: JudgedCollection
    ambiguous: int  # queries whose translation another query has too
    removed: int  # queries taken out
    pairs: int  # judged pairs before
    pairs_left: int  # judged pairs after


def clean(before: JudgedCollection, after: JudgedCollection, *, longest: int) -> Cleaned:
    """Take out an ambiguous translation, with all its queries, if any of them has more than `longest` documents.

    The most ambiguous of the source queries decides: what they share can't be clearer than that one.
    """
    shared = ambiguous(before.queries, after.queries)
    bad = {id for ids in shared.values() if max(_length(after, id) for id in ids) > longest for id in ids}
    cleaned = _without(after, bad)
    return Cleaned(cleaned, sum(map(len, shared.values())), len(bad), _pairs(after), _pairs(cleaned))


def clean_at_random(judged: JudgedCollection, pairs: int, *, seed: int = 0) -> JudgedCollection:
    """Remove queries at random until no more than so many judged pairs are left: a control for `clean`."""
    if pairs < 0:
        raise InputError(f"{pairs} pairs to keep: expected none or more")
    order = np.random.default_rng(seed).permutation(len(judged.queries)).tolist()
    left, bad = _pairs(judged), set()
    for i in order:
        if left <= pairs:
            break
        bad.add(judged.queries[i].id)
        left -= _length(judged, judged.queries[i].id)
    return _without(judged, bad)


class Lengths(NamedTuple):
    """How long the document lists of ambiguous queries are (Tables 6.6 and 6.7 of the thesis)."""

    mean: float
    minimum: int
    maximum: int
    deviation: float
    ranges: dict[str, int]


def list_lengths(before: JudgedCollection, after: JudgedCollection, *, bounds: Sequence[int] = BOUNDS) -> Lengths:
    """Describe the document lists of the ambiguous queries; all zero when there is none."""
    shared = ambiguous(before.queries, after.queries)
    lengths = np.array([_length(after, id) for ids in shared.values() for id in ids], np.int64)
    edges = [0, *bounds]
    spread = {f"{low + 1} to {high}": int(((lengths > low) & (lengths <= high)).sum()) for low, high in pairwise(edges)}
    spread[f"above {edges[-1]}"] = int((lengths > edges[-1]).sum())
    if not len(lengths):
        return Lengths(0.0, 0, 0, 0.0, spread)
    return Lengths(float(lengths.mean()), int(lengths.min()), int(lengths.max()), float(lengths.std()), spread)


def _length(judged: JudgedCollection, query: str) -> int:
    return len(judged.qrels.get(query, ()))


def _pairs(judged: JudgedCollection) -> int:
    return sum(_length(judged, query.id) for query in judged.queries)


def _without(judged: JudgedCollection, bad: set[str]) -> JudgedCollection:
    queries = [query for query in judged.queries if query.id not in bad]
    return judged._replace(queries=queries, qrels={id: g for id, g in judged.qrels.items() if id not in bad})
