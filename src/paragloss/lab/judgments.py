"""Graded judgments built from aligned documents, divided, and filled up with irrelevant documents.

As Sasaki et al. (NAACL 2018) and Liu et al. (2020) built theirs from Wikipedia: a query's own concept in the other
language is fully relevant, concepts linked with it both ways are partly relevant. Knows nothing of models.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paragloss.errors import InputError
from paragloss.formats.text import parse_lines
from paragloss.types import Aligned, Concept, Document, Integers, Judged, Qrels, Query

#: Grades: the same concept, a linked one, anything else.
RELEVANT, PARTLY, IRRELEVANT = 2, 1, 0
QUERIES = ("title", "first-sentence", "text")
Links = Mapping[str, Set[str]]
_SENTENCE = re.compile(r"[.!?](?=\s|$)|[。！？।]|\n")
_WORD = re.compile(r"\w+")


def from_aligned(
    aligned: Aligned, *, source: str, target: str, links: Links | None = None, query: str = "first-sentence"
) -> Judged:
    """Queries in `source` for the documents in `target`; a query and its document carry the concept's id.

    `query` says what is asked: the title, the first sentence without the words of the title (what both papers did),
    or the whole text. A concept asks only if it has both languages and something to ask with.
    """
    if query not in QUERIES:
        raise InputError(f"query {query!r}: expected one of {', '.join(QUERIES)}")
    documents = {
        concept.id: Document(concept.id, concept.texts[target], target, concept.titles.get(target, ""))
        for concept in aligned
        if concept.texts.get(target)
    }
    links = links or {}
    queries: list[Query] = []
    qrels: Qrels = {}
    for concept in aligned:
        text = _ask(concept, source, query) if concept.id in documents else ""
        if not text:
            continue
        queries.append(Query(concept.id, text, source))
        linked = {other: PARTLY for other in sorted(links.get(concept.id, ())) if other in documents}
        qrels[concept.id] = linked | {concept.id: RELEVANT}
    if not queries:
        raise InputError(f"no concept can ask in {source!r} for a document in {target!r}: check the language codes")
    return Judged(queries, documents, qrels)


def _ask(concept: Concept, lang: str, query: str) -> str:
    text, title = concept.texts.get(lang, ""), concept.titles.get(lang, "")
    if query == "title":
        return title.strip()
    if query == "text":
        return text.strip()
    first = next((part for part in _SENTENCE.split(text) if part.strip()), "").strip()
    named = {word.casefold() for word in _WORD.findall(title)}
    return _WORD.sub(lambda found: "" if found[0].casefold() in named else found[0], first).strip()


def read_links(path: str | Path) -> dict[str, set[str]]:
    """Pairs of linked concepts, `one<TAB>other` per line (gzipped if the name ends in .gz); both ways."""
    links: dict[str, set[str]] = {}
    for one, other in parse_lines(path, _linked):
        links.setdefault(one, set()).add(other)
        links.setdefault(other, set()).add(one)
    return links


def mutual(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Concepts that link to each other, from links (from, to) of any linked corpus; one not returned is none."""
    to: dict[str, set[str]] = {}
    for one, other in pairs:
        to.setdefault(one, set()).add(other)
    both = {one: {other for other in others if one in to.get(other, ())} - {one} for one, others in to.items()}
    return {one: others for one, others in both.items() if others}


def _linked(_: int, line: str) -> tuple[str, str]:
    one, tab, other = line.partition("\t")
    if not (one and tab and other) or "\t" in other:
        raise InputError(f"{line.strip()!r} is not two concepts with a tab between them")
    return one, other


def split(judged: Judged, parts: Sequence[int], *, seed: int = 0, family: Callable[[str], str] = str) -> list[Judged]:
    """Divide the queries at random in these proportions; every part keeps all documents.

    `family` (query id -> name) says which queries must not be parted, such as those of one concept.
    """
    if not parts or min(parts) < 0 or sum(parts) <= 0:
        raise InputError(f"parts {tuple(parts)}: expected proportions such as (3, 1, 1)")
    families: dict[str, list[Query]] = {}
    for query in judged.queries:
        families.setdefault(family(query.id), []).append(query)
    together = list(families.values())
    order = np.random.default_rng(seed).permutation(len(together))
    bounds = np.rint(np.cumsum([0, *parts]) / sum(parts) * len(order)).astype(int)
    divided = []
    for start, end in itertools.pairwise(bounds):
        queries = [query for i in order[start:end] for query in together[i]]
        qrels = {query.id: judged.qrels[query.id] for query in queries if query.id in judged.qrels}
        divided.append(Judged(queries, judged.documents, qrels))
    return divided


def families(judged: Judged) -> dict[str, str]:
    """Query -> a query it is one with: those of the same words, or with a document that is relevant (2, or 1 where
    nothing is more) to both, also by way of a third. Parted, one would tell the answer of the other."""
    first: dict[tuple[str, str], str] = {}
    one: dict[str, str] = {}
    most = max((grade for grades in judged.qrels.values() for grade in grades.values()), default=RELEVANT)
    least = max(min(most, RELEVANT), PARTLY)

    def root(query: str) -> str:
        while one[query] != query:
            query = one[query]
        return query

    for query in judged.queries:
        one[query.id] = query.id
        best = [("document", name) for name, grade in judged.qrels.get(query.id, {}).items() if grade >= least]
        for key in [("words", query.text.casefold()), *best]:
            one[root(first.setdefault(key, query.id))] = root(query.id)
    return {query.id: root(query.id) for query in judged.queries}


def sample_irrelevant(judged: Judged, n: int = 40, *, seed: int = 0) -> Judged:
    """Add `n` different documents of grade 0 to each query, never one that is judged already."""
    names = list(judged.documents)
    at = {name: i for i, name in enumerate(names)}
    known = [sorted(at[name] for name in judged.qrels.get(query.id, {}) if name in at) for query in judged.queries]
    indptr = np.cumsum([0, *map(len, known)])
    columns = np.fromiter((i for row in known for i in row), np.int64, count=int(indptr[-1]))
    drawn = draw(indptr, columns, len(names), n, np.random.default_rng(seed))
    qrels = {
        query.id: dict(judged.qrels.get(query.id, {})) | {names[i]: IRRELEVANT for i in row}
        for query, row in zip(judged.queries, drawn.tolist(), strict=True)
    }
    return Judged(judged.queries, judged.documents, qrels)


def draw(indptr: Integers, judged: Integers, documents: int, n: int, rng: np.random.Generator) -> Integers:
    """`n` different documents per query, evenly among those it has no judgment of: (queries, n).

    Query i has judged the documents `judged[indptr[i]:indptr[i + 1]]`, in ascending order.
    """
    queries = len(indptr) - 1
    free = documents - np.diff(indptr)  # (queries,)
    if queries and n > free.min():
        raise InputError(f"{n} irrelevant documents per query: a query has only {free.min()} documents to draw from")
    row = np.repeat(np.arange(queries)[:, None], n, axis=1)
    ranks = rng.integers(0, free[:, None], (queries, n))
    while (again := _repeated(ranks)).any():
        ranks[again] = rng.integers(0, free[row[again]])
    # The r-th unjudged document is r places on, plus one place for each judged document before it.
    owner = np.repeat(np.arange(queries), np.diff(indptr))
    before = judged - (np.arange(len(judged)) - indptr[owner])
    keys = owner * (documents + 1) + before
    places = np.searchsorted(keys, row * (documents + 1) + ranks, side="right")
    return np.asarray(ranks + places - indptr[row], np.int64)


def _repeated(ranks: Integers) -> npt.NDArray[np.bool_]:
    """Where a row holds a value that it holds further left already."""
    order = np.argsort(ranks, axis=1, kind="stable")
    values = np.take_along_axis(ranks, order, axis=1)
    twice = np.zeros(ranks.shape, bool)
    twice[:, 1:] = values[:, 1:] == values[:, :-1]
    repeated = np.zeros(ranks.shape, bool)
    np.put_along_axis(repeated, order, twice, axis=1)
    return repeated
