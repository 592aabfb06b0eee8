"""Draw triples for pairwise learning: a query, a relevant document, and one that should rank below it."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.errors import InputError
from paragloss.groups import list_groups
from paragloss.types import Integers

#: Hard negatives are drawn from this many documents most similar to the relevant one.
NEAREST = 20
#: Documents whose similarities to all others are computed at a time.
_BLOCK = 512


class TripleSource(NamedTuple):
    """A judged collection as arrays, from which triples are drawn. A positive is a relevant document of a query."""

    positives: Integers  # (positives, 2): query, document
    lower: Integers  # documents judged lower than a positive, positive after positive
    bounds: Integers  # (positives + 1,): where the entries of each positive begin in `lower`
    judged: Integers  # (judgments,) keys query x documents + document, ascending
    documents: int  # how many there are
    nearest: Integers | None  # (documents, NEAREST) the most similar documents, for hard negatives

    def are_judged(self, queries: Integers, documents: Integers) -> npt.NDArray[np.bool_]:
        """Tell which pairs of a query and a document are judged."""
        keys = queries * self.documents + documents
        positions = np.searchsorted(self.judged, keys)
        return np.asarray(self.judged[np.minimum(positions, len(self.judged) - 1)] == keys)


def make_source(
    grades: sp.csr_matrix, similarity_rows: sp.csr_matrix | None = None, *, difference: int = 1
) -> TripleSource:
    """Prepare judgments for drawing triples: list the relevant documents, and those judged lower than each.

    :param grades: (queries, documents); a stored 0 is a judgment
    :param similarity_rows: unit rows (documents, terms) whose dot products are the similarities for hard negatives;
        without them, unjudged documents are drawn from all
    :param difference: by how much the grades of the two documents of a triple differ at least
    :raises InputError: if no document is relevant
    """
    positives, lower_by_positive = _list_positives(grades, difference)
    if not positives:
        raise InputError("no query has a relevant document: nothing to learn from")
    nearest = None if similarity_rows is None else _find_nearest_rows(similarity_rows)
    n_documents = grades.shape[1]
    query_of_judgment = list_groups(np.diff(grades.indptr))  # (judgments,)
    return TripleSource(
        positives=np.array(positives, np.int64),
        lower=np.concatenate(lower_by_positive).astype(np.int64),
        bounds=np.cumsum([0, *map(len, lower_by_positive)]),
        judged=query_of_judgment * n_documents + grades.indices,
        documents=n_documents,
        nearest=nearest,
    )


def _list_positives(grades: sp.csr_matrix, difference: int) -> tuple[list[tuple[int, int]], list[Integers]]:
    """List the relevant documents of each query, as pairs (query, document), and the documents judged lower than each.

    :param grades: (queries, documents); a document is relevant if its grade is above 0
    :param difference: by how much the grade of a lower document is less, at least
    :return: the pairs, and for each pair the numbers of the documents that its query judges lower
    """
    positives = []
    lower_by_positive = []
    for query, (start, stop) in enumerate(pairwise(grades.indptr.tolist())):
        documents = grades.indices[start:stop]  # those that the query has judged
        query_grades = grades.data[start:stop]
        for document, grade in zip(documents.tolist(), query_grades.tolist(), strict=True):
            if grade > 0:
                positives.append((query, document))
                lower_by_positive.append(documents[query_grades <= grade - difference])
    return positives, lower_by_positive


def draw_triples(source: TripleSource, per_positive: int, rng: np.random.Generator) -> Integers:
    """Draw `per_positive` triples for each relevant document: (3, triples) of query, better and worse document.

    Every other worse document is one judged lower, if there is one. The others are drawn from all documents, or from
    the most similar ones; a draw that turns out to be judged is dropped, so there may be fewer triples.

    :param source: the judgments, prepared by `make_source`
    :param per_positive: how many triples each relevant document is in
    """
    positives = np.repeat(np.arange(len(source.positives)), per_positive)  # (draws,) and so are all others
    queries, better = source.positives[positives].T
    worse = _draw_any(source, better, rng)
    is_unjudged = ~source.are_judged(queries, worse)
    has_lower = np.diff(source.bounds)[positives] > 0
    is_every_other = np.arange(len(positives)) % 2 == 0
    takes_lower = is_every_other & has_lower
    fractions = rng.random(len(positives))
    worse[takes_lower] = _pick_lower(source, positives[takes_lower], fractions[takes_lower])
    triples = np.stack([queries, better, worse])
    return triples[:, is_unjudged | takes_lower]


def _pick_lower(source: TripleSource, positives: Integers, fractions: npt.NDArray[np.float64]) -> Integers:
    """Pick for each positive one of the documents that are judged lower: (positives,).

    :param positives: numbers of positives that have such documents
    :param fractions: where in the list of these documents the picked one is, from 0 to below 1
    """
    n_lower = np.diff(source.bounds)[positives]
    offsets = (fractions * n_lower).astype(np.int64)
    return np.asarray(source.lower[source.bounds[positives] + offsets])


def _draw_any(source: TripleSource, better: Integers, rng: np.random.Generator) -> Integers:
    """Draw a document for each better one: any, or for hard negatives one of the most similar to it: (draws,)."""
    if source.nearest is None:
        return rng.integers(0, source.documents, len(better))
    return source.nearest[better, rng.integers(0, source.nearest.shape[1], len(better))]


def _find_nearest_rows(rows: sp.csr_matrix) -> Integers:
    """Find for each row the other rows with the highest dot product, in no order: (rows, NEAREST or fewer).

    :param rows: unit vectors, (rows, terms)
    :raises InputError: if there is only one row
    """
    k = min(NEAREST, rows.shape[0] - 1)
    if k < 1:
        raise InputError("hard negatives need two documents or more")
    nearest_rows = np.empty((rows.shape[0], k), np.int64)
    transposed = rows.T.tocsr()
    for start in range(0, rows.shape[0], _BLOCK):
        stop = start + _BLOCK
        similarities = np.asarray((rows[start:stop] @ transposed).todense())  # (rows of the block, rows)
        block_rows = np.arange(len(similarities))
        similarities[block_rows, start + block_rows] = -1  # a row is not its own neighbour
        nearest_rows[start:stop] = np.argpartition(similarities, -k, axis=1)[:, -k:]
    return nearest_rows
