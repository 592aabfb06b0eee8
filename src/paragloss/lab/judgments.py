"""Build graded judgments from aligned documents, split them, and sample irrelevant documents.

As Sasaki et al. (NAACL 2018) and Liu et al. (2020) built theirs from Wikipedia: a query's own concept in the other
language is relevant, concepts that link to it and back are partly relevant.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from paragloss.errors import InputError
from paragloss.formats.text import parse_lines
from paragloss.types import Aligned, Concept, Document, Integers, JudgedCollection, Qrels, Query

#: Grades: the same concept, a linked one, anything else.
RELEVANT, PARTLY, IRRELEVANT = 2, 1, 0
QUERY_KINDS = ("title", "first-sentence", "text")
Links = Mapping[str, Set[str]]
_SENTENCE = re.compile(r"[.!?](?=\s|$)|[。！？।]|\n")
_WORD = re.compile(r"\w+")


def from_aligned(
    aligned: Aligned, *, source: str, target: str, links: Links | None = None, query_kind: str = "first-sentence"
) -> JudgedCollection:
    """Make queries in one language for documents in another; a query and its document have the concept's id.

    :param aligned: concepts with their texts and titles
    :param source: language of the queries
    :param target: language of the documents
    :param links: concept -> concepts that are partly relevant to it
    :param query_kind: the text of the query: "title"; "first-sentence", without the words of the title (as in both
        papers); or "text", the whole text
    :raises InputError: if no concept has a query text and a document
    """
    if query_kind not in QUERY_KINDS:
        raise InputError(f"query {query_kind!r}: expected one of {', '.join(QUERY_KINDS)}")
    documents = _make_documents(aligned, target)
    queries: list[Query] = []
    qrels: Qrels = {}
    for concept in aligned:
        text = _make_query_text(concept, source, query_kind)
        if text and concept.id in documents:
            queries.append(Query(concept.id, text, source))
            qrels[concept.id] = _grade_documents(concept.id, links or {}, documents)
    if not queries:
        raise InputError(f"no concept can ask in {source!r} for a document in {target!r}: check the language codes")
    return JudgedCollection(queries, documents, qrels)


def _make_documents(aligned: Aligned, lang: str) -> dict[str, Document]:
    """Make a document of the text of each concept that has one in a language; the keys are the concepts' ids."""
    documents = {}
    for concept in aligned:
        text = concept.texts.get(lang)
        if text:
            documents[concept.id] = Document(concept.id, text, lang, concept.titles.get(lang, ""))
    return documents


def _grade_documents(concept_id: str, links: Links, documents: Collection[str]) -> dict[str, int]:
    """Grade the documents for the query of a concept: its own is relevant, those of linked concepts are partly.

    :param documents: ids of all documents; links to other concepts are ignored
    :return: document id -> grade
    """
    grades = {linked_id: PARTLY for linked_id in sorted(links.get(concept_id, ())) if linked_id in documents}
    grades[concept_id] = RELEVANT
    return grades


def _make_query_text(concept: Concept, lang: str, query_kind: str) -> str:
    """Return the text of a concept's query in one language; "" if it has none.

    :param concept: the concept with its texts and titles by language
    :param lang: code of the language
    :param query_kind: "title"; "text", the whole text; or "first-sentence", without the words of the title
    """
    text, title = concept.texts.get(lang, ""), concept.titles.get(lang, "")
    if query_kind == "title":
        return title.strip()
    if query_kind == "text":
        return text.strip()
    return _remove_words(_find_first_sentence(text), title)


def _find_first_sentence(text: str) -> str:
    """Return the first sentence of a text that is not empty, without its full stop; "" if there is none."""
    for sentence in _SENTENCE.split(text):
        if sentence.strip():
            return sentence.strip()
    return ""


def _remove_words(sentence: str, removed: str) -> str:
    """Remove the words of a second text from a sentence, whatever their case; its spaces stay."""
    removed_words = {word.casefold() for word in _WORD.findall(removed)}
    return _WORD.sub(lambda match: "" if match[0].casefold() in removed_words else match[0], sentence).strip()


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


def find_mutual_links(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Find the concepts that link to each other.

    :param pairs: links as pairs (from, to)
    :return: concept -> other concepts that it links to and that link back
    """
    links: dict[str, set[str]] = {}
    for source, target in pairs:
        links.setdefault(source, set()).add(target)
    mutual_links: dict[str, set[str]] = {}
    for source, targets in links.items():
        for target in targets:
            if target != source and source in links.get(target, ()):
                mutual_links.setdefault(source, set()).add(target)
    return mutual_links


def split(
    judged: JudgedCollection, parts: Sequence[int], *, seed: int = 0, family: Callable[[str], str] = str
) -> list[JudgedCollection]:
    """Split the queries at random in these proportions; every part keeps all documents.

    :param judged: queries with judgments, and documents
    :param parts: proportions such as (3, 1, 1)
    :param seed: of the random order; the same seed gives the same parts
    :param family: query id -> name of the group of queries that must stay together, such as those of one concept
    """
    if not parts or min(parts) < 0 or sum(parts) <= 0:
        raise InputError(f"parts {tuple(parts)}: expected proportions such as (3, 1, 1)")
    queries_by_family: dict[str, list[Query]] = {}
    for query in judged.queries:
        queries_by_family.setdefault(family(query.id), []).append(query)
    families = list(queries_by_family.values())
    order = np.random.default_rng(seed).permutation(len(families))
    bounds = np.rint(np.cumsum([0, *parts]) / sum(parts) * len(order)).astype(int)
    splits = []
    for start, end in itertools.pairwise(bounds):
        queries = [query for i in order[start:end] for query in families[i]]
        splits.append(select_queries(judged, queries))
    return splits


def select_queries(judged: JudgedCollection, queries: Sequence[Query]) -> JudgedCollection:
    """Return a collection of some of its queries with their judgments, and of all documents."""
    qrels = {query.id: judged.qrels[query.id] for query in queries if query.id in judged.qrels}
    return JudgedCollection(queries, judged.documents, qrels)


def group_queries(judged: JudgedCollection) -> dict[str, str]:
    """Group queries that would reveal each other's answer: query id -> id of one query that stands for its group.

    Queries belong together if they have the same words or a common relevant document (grade 2, or 1 if no grade is
    higher), also through a third query.
    """
    groups = _find_components(_link_queries(judged), len(judged.queries))  # the group of each query
    first_query_by_group: dict[int, str] = {}
    for query, group in zip(judged.queries, groups, strict=True):
        first_query_by_group.setdefault(group, query.id)
    return {query.id: first_query_by_group[group] for query, group in zip(judged.queries, groups, strict=True)}


def _link_queries(judged: JudgedCollection) -> list[tuple[int, int]]:
    """List pairs of query numbers that have the same words or a common relevant document.

    Of three queries or more that have these in common, only neighbours are paired.
    """
    numbers_by_key: dict[tuple[str, str], list[int]] = {}  # numbers of the queries with the same words or document
    for number, query in enumerate(judged.queries):
        numbers_by_key.setdefault(("words", query.text.casefold()), []).append(number)
    for number, doc_id in _list_relevant_pairs(judged):
        numbers_by_key.setdefault(("document", doc_id), []).append(number)
    return [link for numbers in numbers_by_key.values() for link in itertools.pairwise(numbers)]


def _list_relevant_pairs(judged: JudgedCollection) -> list[tuple[int, str]]:
    """List the numbers of queries with the ids of their relevant documents: grade 2, or 1 if no grade is higher."""
    highest = max((grade for grades in judged.qrels.values() for grade in grades.values()), default=RELEVANT)
    min_grade = min(max(highest, PARTLY), RELEVANT)
    pairs = []
    for number, query in enumerate(judged.queries):
        for doc_id, grade in judged.qrels.get(query.id, {}).items():
            if grade >= min_grade:
                pairs.append((number, doc_id))
    return pairs


def _find_components(links: Sequence[tuple[int, int]], size: int) -> list[int]:
    """Find groups of items that are linked with each other, also through others: the group number of each item.

    :param links: pairs of numbers of items
    :param size: how many items there are
    """
    rows, columns = np.array(links, np.int64).reshape(-1, 2).T
    graph = sp.csr_matrix((np.ones(len(links)), (rows, columns)), shape=(size, size))
    _, components = connected_components(graph, directed=False)
    return [int(component) for component in components]


def sample_irrelevant(judged: JudgedCollection, n: int = 40, *, seed: int = 0) -> JudgedCollection:
    """Add `n` different documents of grade 0 to each query, never one that is judged already.

    :param n: how many documents are added to each query
    :param seed: of the random choice
    :return: the same queries and documents with more judgments
    :raises InputError: if a query has fewer than `n` documents without a judgment
    """
    doc_ids = list(judged.documents)
    judged_numbers = _number_judged_documents(judged)
    samples = draw_unjudged(judged_numbers, len(doc_ids), n, np.random.default_rng(seed))  # (queries, n)
    qrels = {}
    for query, sampled_numbers in zip(judged.queries, samples.tolist(), strict=True):
        grades = dict(judged.qrels.get(query.id, {}))
        for number in sampled_numbers:
            grades[doc_ids[number]] = IRRELEVANT
        qrels[query.id] = grades
    return JudgedCollection(judged.queries, judged.documents, qrels)


def _number_judged_documents(judged: JudgedCollection) -> list[Integers]:
    """Return the numbers of each query's judged documents, ascending; they count in the order of the collection."""
    number_by_id = {doc_id: number for number, doc_id in enumerate(judged.documents)}
    judged_numbers = []
    for query in judged.queries:
        judged_ids = judged.qrels.get(query.id, {})
        query_numbers = sorted(number_by_id[doc_id] for doc_id in judged_ids if doc_id in number_by_id)
        judged_numbers.append(np.array(query_numbers, np.int64))
    return judged_numbers


def draw_unjudged(judged_numbers: Sequence[Integers], n_documents: int, n: int, rng: np.random.Generator) -> Integers:
    """Draw `n` different documents without a judgment for each query: (queries, n) document numbers.

    :param judged_numbers: for each query the numbers of its judged documents, ascending
    :param n_documents: how many documents there are, judged or not
    :param n: how many documents are drawn for each query
    :raises InputError: if a query has fewer than `n` documents without a judgment
    """
    n_unjudged = np.array([n_documents - len(numbers) for numbers in judged_numbers], np.int64)  # (queries,)
    if len(n_unjudged) and n > n_unjudged.min():
        raise InputError(
            f"{n} irrelevant documents per query: a query has only {n_unjudged.min()} documents to draw from"
        )
    drawn_numbers = np.zeros((len(judged_numbers), n), np.int64)
    # The drawn positions count the unjudged documents only. The number of a document is its position and how many
    # judged documents come before it.
    for i, positions in enumerate(_draw_distinct(n_unjudged, n, rng)):
        unjudged_before = judged_numbers[i] - np.arange(len(judged_numbers[i]))  # of each judged document
        drawn_numbers[i] = positions + np.searchsorted(unjudged_before, positions, side="right")
    return drawn_numbers


def _draw_distinct(limits: Integers, n: int, rng: np.random.Generator) -> Integers:
    """Draw `n` different numbers from 0 to each limit less one: (limits, n)."""
    numbers = rng.integers(0, limits[:, None], (len(limits), n))
    row = np.repeat(np.arange(len(limits))[:, None], n, axis=1)
    is_repeated = _mark_repeated(numbers)
    while is_repeated.any():
        numbers[is_repeated] = rng.integers(0, limits[row[is_repeated]])
        is_repeated = _mark_repeated(numbers)
    return numbers


def _mark_repeated(values: Integers) -> npt.NDArray[np.bool_]:
    """Mark the values of a matrix that also occur further left in their row: (rows, columns)."""
    order = np.argsort(values, axis=1, kind="stable")
    sorted_values = np.take_along_axis(values, order, axis=1)
    equals_previous = np.zeros(values.shape, bool)
    equals_previous[:, 1:] = sorted_values[:, 1:] == sorted_values[:, :-1]
    is_repeated = np.zeros(values.shape, bool)
    np.put_along_axis(is_repeated, order, equals_previous, axis=1)
    return is_repeated
