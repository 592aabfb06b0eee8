"""Build graded judgments from aligned documents, split them, and sample irrelevant documents.

As Sasaki et al. (NAACL 2018) and Liu et al. (2020) built theirs from Wikipedia: a query's own concept in the other
language is relevant, concepts that link to it and back are partly relevant.
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
from paragloss.groups import list_groups, list_positions
from paragloss.types import Aligned, Concept, Document, Integers, JudgedCollection, Qrels, Query

#: Grades: the same concept, a linked one, anything else.
RELEVANT, PARTLY, IRRELEVANT = 2, 1, 0
QUERIES = ("title", "first-sentence", "text")
Links = Mapping[str, Set[str]]
_SENTENCE = re.compile(r"[.!?](?=\s|$)|[。！？।]|\n")
_WORD = re.compile(r"\w+")


def from_aligned(
    aligned: Aligned, *, source: str, target: str, links: Links | None = None, query: str = "first-sentence"
) -> JudgedCollection:
    """Make queries in one language for documents in another; a query and its document have the concept's id.

    :param links: concept -> concepts that are partly relevant to it
    :param query: the query's text: the title, the first sentence without the words of the title (as in both papers),
        or the whole text
    :raises InputError: if no concept has a query text and a document
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
        text = _query_text(concept, source, query) if concept.id in documents else ""
        if not text:
            continue
        queries.append(Query(concept.id, text, source))
        linked = {target_id: PARTLY for target_id in sorted(links.get(concept.id, ())) if target_id in documents}
        qrels[concept.id] = linked | {concept.id: RELEVANT}
    if not queries:
        raise InputError(f"no concept can ask in {source!r} for a document in {target!r}: check the language codes")
    return JudgedCollection(queries, documents, qrels)


def _query_text(concept: Concept, lang: str, query: str) -> str:
    """Return a concept's query of the kind `query` (one of QUERIES) in one language; "" if it has none."""
    text, title = concept.texts.get(lang, ""), concept.titles.get(lang, "")
    if query == "title":
        return title.strip()
    if query == "text":
        return text.strip()
    sentence = next((part for part in _SENTENCE.split(text) if part.strip()), "").strip()
    title_words = {word.casefold() for word in _WORD.findall(title)}
    return _WORD.sub(lambda word: "" if word[0].casefold() in title_words else word[0], sentence).strip()


def read_links(path: str | Path) -> dict[str, set[str]]:
    """Read pairs of linked concepts, separated by a tab, in both directions; gzipped if the name ends in .gz."""
    links: dict[str, set[str]] = {}
    for first, second in parse_lines(path, _parse_link):
        links.setdefault(first, set()).add(second)
        links.setdefault(second, set()).add(first)
    return links


def _parse_link(_: int, line: str) -> tuple[str, str]:
    first, tab, second = line.partition("\t")
    if not (first and tab and second) or "\t" in second:
        raise InputError(f"{line.strip()!r} is not two concepts with a tab between them")
    return first, second


def mutual(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Find the concepts that link to each other, from links (from, to)."""
    links: dict[str, set[str]] = {}
    for source, target in pairs:
        links.setdefault(source, set()).add(target)
    returned: dict[str, set[str]] = {}
    for source, targets in links.items():
        returned[source] = {target for target in targets if source in links.get(target, ())} - {source}
    return {source: targets for source, targets in returned.items() if targets}


def split(
    judged: JudgedCollection, parts: Sequence[int], *, seed: int = 0, family: Callable[[str], str] = str
) -> list[JudgedCollection]:
    """Split the queries at random in these proportions; every part keeps all documents.

    :param parts: proportions such as (3, 1, 1)
    :param family: query id -> name of the group of queries that must stay together, such as those of one concept
    """
    if not parts or min(parts) < 0 or sum(parts) <= 0:
        raise InputError(f"parts {tuple(parts)}: expected proportions such as (3, 1, 1)")
    queries_by_family: dict[str, list[Query]] = {}
    for query in judged.queries:
        queries_by_family.setdefault(family(query.id), []).append(query)
    groups = list(queries_by_family.values())
    order = np.random.default_rng(seed).permutation(len(groups))
    bounds = np.rint(np.cumsum([0, *parts]) / sum(parts) * len(order)).astype(int)
    splits = []
    for start, end in itertools.pairwise(bounds):
        queries = [query for i in order[start:end] for query in groups[i]]
        qrels = {query.id: judged.qrels[query.id] for query in queries if query.id in judged.qrels}
        splits.append(JudgedCollection(queries, judged.documents, qrels))
    return splits


def families(judged: JudgedCollection) -> dict[str, str]:
    """Group queries that would reveal each other's answer: query id -> id of one query that stands for its group.

    Queries belong together if they have the same words or a common relevant document (grade 2, or 1 if no grade is
    higher), also through a third query.
    """
    highest = max((grade for grades in judged.qrels.values() for grade in grades.values()), default=RELEVANT)
    min_grade = max(min(highest, RELEVANT), PARTLY)
    parent: dict[str, str] = {}  # of a union-find forest over query ids
    first_query_with: dict[tuple[str, str], str] = {}

    def find_root(query_id: str) -> str:
        while parent[query_id] != query_id:
            query_id = parent[query_id]
        return query_id

    for query in judged.queries:
        parent[query.id] = query.id
        grades = judged.qrels.get(query.id, {}).items()
        keys = [("words", query.text.casefold())]
        keys += [("document", doc_id) for doc_id, grade in grades if grade >= min_grade]
        for key in keys:
            earlier_query = first_query_with.setdefault(key, query.id)
            parent[find_root(earlier_query)] = find_root(query.id)
    return {query.id: find_root(query.id) for query in judged.queries}


def sample_irrelevant(judged: JudgedCollection, n: int = 40, *, seed: int = 0) -> JudgedCollection:
    """Add `n` different documents of grade 0 to each query, never one that is judged already.

    :param n: how many documents are added to each query
    :param seed: of the random choice
    :return: the same queries and documents with more judgments
    :raises InputError: if a query has fewer than `n` documents without a judgment
    """
    doc_ids = list(judged.documents)
    indptr, judged_numbers = _number_judged_documents(judged)
    samples = draw(indptr, judged_numbers, len(doc_ids), n, np.random.default_rng(seed))  # (queries, n)
    qrels = {}
    for query, sampled_numbers in zip(judged.queries, samples.tolist(), strict=True):
        grades = dict(judged.qrels.get(query.id, {}))
        for number in sampled_numbers:
            grades[doc_ids[number]] = IRRELEVANT
        qrels[query.id] = grades
    return JudgedCollection(judged.queries, judged.documents, qrels)


def _number_judged_documents(judged: JudgedCollection) -> tuple[Integers, Integers]:
    """Return the numbers of each query's judged documents, counted in the order of the collection.

    :return: `indptr`, (queries + 1,), and document numbers; those of query i are `numbers[indptr[i]:indptr[i + 1]]`,
        ascending
    """
    number_by_id = {doc_id: number for number, doc_id in enumerate(judged.documents)}
    all_numbers: list[int] = []
    indptr = [0]
    for query in judged.queries:
        judged_ids = judged.qrels.get(query.id, {})
        all_numbers += sorted(number_by_id[doc_id] for doc_id in judged_ids if doc_id in number_by_id)
        indptr.append(len(all_numbers))
    return np.array(indptr, np.int64), np.array(all_numbers, np.int64)


def draw(indptr: Integers, judged: Integers, documents: int, n: int, rng: np.random.Generator) -> Integers:
    """Draw `n` different documents without a judgment for each query: (queries, n) document numbers.

    :param indptr: (queries + 1,) query i has judged the documents `judged[indptr[i]:indptr[i + 1]]`
    :param judged: document numbers, ascending within each query
    :param documents: number of all documents
    :raises InputError: if a query has fewer than `n` documents without a judgment
    """
    queries = len(indptr) - 1
    unjudged = documents - np.diff(indptr)  # (queries,)
    if queries and n > unjudged.min():
        raise InputError(
            f"{n} irrelevant documents per query: a query has only {unjudged.min()} documents to draw from"
        )
    row = np.repeat(np.arange(queries)[:, None], n, axis=1)
    ranks = rng.integers(0, unjudged[:, None], (queries, n))  # among the unjudged documents of the query
    is_repeated = _mark_repeated(ranks)
    while is_repeated.any():
        ranks[is_repeated] = rng.integers(0, unjudged[row[is_repeated]])
        is_repeated = _mark_repeated(ranks)
    # The unjudged document of rank r has number r plus the number of judged documents before it.
    n_judged = np.diff(indptr)  # by each query
    unjudged_before = judged - list_positions(n_judged)
    keys = list_groups(n_judged) * (documents + 1) + unjudged_before
    judged_before = np.searchsorted(keys, row * (documents + 1) + ranks, side="right") - indptr[row]
    return np.asarray(ranks + judged_before, np.int64)


def _mark_repeated(values: Integers) -> npt.NDArray[np.bool_]:
    """Mark the values of a matrix that also occur further left in their row."""
    order = np.argsort(values, axis=1, kind="stable")
    sorted_values = np.take_along_axis(values, order, axis=1)
    equals_previous = np.zeros(values.shape, bool)
    equals_previous[:, 1:] = sorted_values[:, 1:] == sorted_values[:, :-1]
    is_repeated = np.zeros(values.shape, bool)
    np.put_along_axis(is_repeated, order, equals_previous, axis=1)
    return is_repeated
