"""Train towers on graded judgments: batches of queries with judged and sampled documents, smooth cosines, nDCG.

A tower is a network that encodes texts of one language; queries and documents of two languages are encoded by two
towers, and scored by the cosine of their vectors. Queries and documents are given by their numbers in a `Task`.

Everything a batch needs is on the device before training: no Python loop over documents, no copy per step. Needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch

from paragloss.errors import ModelError
from paragloss.groups import list_groups, list_positions
from paragloss.lab.descent.bags import Bags, bags, mask_terms, select
from paragloss.lab.descent.batches import shuffled
from paragloss.lab.descent.loop import History, TrainingSettings, descend

#: Language -> module that encodes bags of terms, (texts,) -> (texts, dim).
Towers = Mapping[str, torch.nn.Module]


class Task(NamedTuple):
    """Queries of one language, documents of another, and grades of some pairs, on one device."""

    source: str
    target: str
    queries: Bags
    documents: Bags
    judged: Bags  # per query: document numbers ascending, and their grades as weights
    keys: torch.Tensor  # (judgments,) ascending; `_sample` searches them


class Sampling(NamedTuple):
    """What a batch holds."""

    negatives: int  # documents without a judgment that are drawn for each query, anew for each batch
    batch_size: int  # queries, all of one task
    #: If positive, the negatives of a batch are drawn from so many documents, which saves most of the time where
    #: encoding a document is expensive.
    pool: int = 0


class BatchPairs(NamedTuple):
    """The pairs of queries and documents of a batch, as cells of a score matrix (queries, documents)."""

    documents: torch.Tensor  # (documents,) distinct document numbers
    cells: torch.Tensor  # (pairs,) query of the batch x len(documents) + document
    grades: torch.Tensor  # (pairs,) int64


def make_task(
    source: str, target: str, queries: sp.csr_matrix, documents: sp.csr_matrix, grades: sp.csr_matrix, device: str
) -> Task:
    """Make a task of term weights of texts and their grades, on a device.

    Each judgment gets a key, which orders the judgments by query, and then by how many unjudged documents stand before
    the judged one. By these keys `_sample` finds out how many judged documents stand before an unjudged one.

    :param queries: (queries, terms), in language `source`
    :param documents: (documents, terms), in language `target`
    :param grades: (queries, documents); a stored 0 is a judgment
    :param device: of torch, such as "cpu" or "cuda"
    """
    judgments = grades.tocsr().sorted_indices()
    n_documents = grades.shape[1]
    n_judged = np.diff(judgments.indptr)  # by each query
    judged_before = list_positions(n_judged)  # of each judgment: documents before it that its query has judged
    unjudged_before = judgments.indices - judged_before
    keys = list_groups(n_judged) * (n_documents + 1) + unjudged_before
    return Task(
        source,
        target,
        bags(queries, device),
        bags(documents, device),
        judged=bags(judgments, device),
        keys=torch.as_tensor(keys, device=device),
    )


def train_towers(
    tasks: Sequence[Task],
    towers: Towers,
    compute_loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    training: TrainingSettings,
    sampling: Sampling,
    epsilon: float,
    validation: Sequence[Task] = (),
) -> History:
    """Train the towers on graded tasks, in place; keep the parameters of the epoch with the best validation nDCG@5.

    :param towers: language -> module that encodes bags of terms
    :param compute_loss: (scores, grades) -> loss of each pair
    :param sampling: how many queries, and how many documents without a judgment, are in a batch
    :param epsilon: see `smooth`
    :param validation: tasks that choose the epoch; without any, the last one is kept
    :raises ModelError: if a query has judged all documents, so that none can be drawn as irrelevant
    """
    if sampling.negatives:
        for task in tasks:
            _require_unjudged(task)
    modules = torch.nn.ModuleList(towers.values())
    parameters = dict(modules.named_parameters())  # one that several towers share comes once
    draw_batches = partial(_shuffle_batches, tasks, sampling.batch_size)
    compute_batch_loss = partial(_compute_batch_loss, towers, compute_loss, sampling, epsilon)
    validate = partial(_measure_mean_ndcg, modules, towers, validation, epsilon) if validation else None
    modules.train()
    history = descend(parameters, draw_batches, compute_batch_loss, training, validate)
    modules.eval()
    return history


def _compute_batch_loss(
    towers: Towers,
    compute_loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    sampling: Sampling,
    epsilon: float,
    batch_queries: tuple[Task, torch.Tensor],
) -> torch.Tensor:
    """Compute the mean loss of some queries with their judged documents and with random ones.

    :param compute_loss: (scores, grades) -> loss of each pair
    :param batch_queries: a task, and the numbers of its queries that are in the batch, (queries,)
    """
    task, query_numbers = batch_queries
    batch_pairs = pair_documents(task, query_numbers, sampling.negatives, pool=sampling.pool)
    scores = score_pairs(towers, task, query_numbers, batch_pairs, epsilon)
    return compute_loss(scores, batch_pairs.grades).mean()


def _measure_mean_ndcg(modules: torch.nn.ModuleList, towers: Towers, tasks: Sequence[Task], epsilon: float) -> float:
    """Compute the mean nDCG of tasks in evaluation mode (no dropout), and return to training mode.

    :param modules: the towers
    """
    modules.eval()
    mean = sum(measure_ndcg(towers, task, epsilon) for task in tasks) / len(tasks)
    modules.train()
    return mean


def _require_unjudged(task: Task) -> None:
    """Raise an error if a query has judged all documents, so that none can be drawn as irrelevant."""
    max_judged = int(task.judged.bounds.diff().max())
    if max_judged >= _count(task.documents):
        raise ModelError(
            f"no irrelevant document to draw: a query has judged all {max_judged} documents; add documents"
        )


def _shuffle_batches(
    tasks: Sequence[Task], batch_size: int, _epoch: int, rng: np.random.Generator
) -> Iterator[tuple[Task, torch.Tensor]]:
    """Yield batches of random queries, each of one task, those of all tasks mixed.

    :param _epoch: ignored; the training loop passes it
    :return: pairs of a task and query numbers, (batch_size,) or fewer
    """
    batches = []
    for task in tasks:
        for query_numbers in shuffled(_count(task.queries), batch_size, rng):
            batches.append((task, query_numbers))
    for i in rng.permutation(len(batches)):
        task, query_numbers = batches[i]
        yield task, torch.as_tensor(query_numbers, device=task.keys.device)


def pair_documents(task: Task, query_numbers: torch.Tensor, negatives: int, *, pool: int = 0) -> BatchPairs:
    """Pair queries with their judged documents, and with `negatives` random documents of grade 0 each.

    A document may be drawn twice for a query.

    :param query_numbers: (queries,) which queries
    :param pool: if positive, the random documents of all queries are drawn from so many documents
    :return: the pairs with judged documents, query by query, and then those with random ones
    """
    judged = select(task.judged, query_numbers)
    positions = torch.arange(len(query_numbers), device=query_numbers.device)  # of the queries in the batch
    rows = torch.repeat_interleave(positions, judged.bounds.diff(), output_size=len(judged.ids))  # (judged pairs,)
    document_ids = judged.ids.long()
    grades = judged.weights.long()
    if negatives:
        sampled = _sample_negatives(task, query_numbers, judged, negatives, pool)  # (queries, negatives)
        rows = torch.cat([rows, positions.repeat_interleave(negatives)])
        document_ids = torch.cat([document_ids, sampled.flatten()])
        grades = torch.cat([grades, grades.new_zeros(sampled.numel())])
    distinct_documents, columns = torch.unique(document_ids, return_inverse=True)
    cells = rows * len(distinct_documents) + columns
    return BatchPairs(distinct_documents, cells, grades)


def _sample_negatives(task: Task, query_numbers: torch.Tensor, judged: Bags, n: int, pool: int) -> torch.Tensor:
    """Draw n documents without a judgment for each query, from all documents or from a pool: (queries, n).

    :param query_numbers: (queries,) which queries
    :param judged: the judged documents of these queries
    :param pool: size of the pool; 0 for none
    """
    sampled = _sample(task, query_numbers, n)
    if 0 < pool < _count(task.documents):
        return _sample_from_pool(task, judged, sampled, pool)
    return sampled


def _sample(task: Task, query_numbers: torch.Tensor, n: int) -> torch.Tensor:
    """Draw n documents without a judgment for each query: (queries, n) document numbers.

    The unjudged document of rank r (from 0) has number r plus the number of judged documents before it. These are the
    judgments of its query whose keys are not above that of rank r, see `make_task`.

    :param query_numbers: (queries,) which queries
    """
    n_documents = _count(task.documents)
    n_unjudged = n_documents - task.judged.bounds.diff()[query_numbers]  # (queries,)
    fractions = torch.rand(len(query_numbers), n, dtype=torch.float64, device=query_numbers.device)
    ranks = (fractions * n_unjudged[:, None]).long()  # (queries, n) among the unjudged documents
    keys = query_numbers[:, None] * (n_documents + 1) + ranks
    first_judgment = task.judged.bounds[query_numbers][:, None]  # (queries, 1)
    judged_before = torch.searchsorted(task.keys, keys, right=True) - first_judgment
    return ranks + judged_before


def _sample_from_pool(task: Task, judged: Bags, sampled: torch.Tensor, pool: int) -> torch.Tensor:
    """Replace sampled documents by some from a random pool, except where the query has judged the replacement.

    All queries of a batch share the pool, so that fewer different documents have to be encoded.

    :param judged: the judged documents of the queries
    :param sampled: (queries, n) document numbers, and so is the result
    :param pool: size of the pool
    """
    n_documents = _count(task.documents)
    pool_ids = torch.randint(n_documents, (pool,), device=sampled.device)
    replacements = pool_ids[torch.randint(pool, sampled.shape, device=sampled.device)]  # (queries, n)
    positions = torch.arange(len(sampled), device=sampled.device)  # of the queries in the batch
    query_of_judgment = torch.repeat_interleave(positions, judged.bounds.diff(), output_size=len(judged.ids))
    # A key stands for a pair of query and document.
    judged_keys = query_of_judgment * n_documents + judged.ids.long()  # (judged pairs,)
    replacement_keys = positions[:, None] * n_documents + replacements  # (queries, n)
    is_judged = torch.isin(replacement_keys, judged_keys)
    return torch.where(is_judged, sampled, replacements)


def score_pairs(
    towers: Towers, task: Task, query_numbers: torch.Tensor, batch_pairs: BatchPairs, epsilon: float
) -> torch.Tensor:
    """Compute the smooth cosine of each pair of a query and a document: (pairs,). Each distinct text is encoded once.

    :param towers: encode the queries and the documents, by language
    :param query_numbers: (queries,) which queries
    :param batch_pairs: which documents each of these queries is paired with
    :param epsilon: see `smooth`
    """
    query_texts = select(task.queries, query_numbers)
    document_texts = select(task.documents, batch_pairs.documents)
    queries = smooth(towers[task.source](query_texts), epsilon)
    documents = smooth(towers[task.target](document_texts), epsilon)
    scores = queries @ documents.T  # (queries, documents)
    return scores.flatten().index_select(0, batch_pairs.cells)  # a cell is a position in the flattened scores


def smooth(rows: torch.Tensor, epsilon: float) -> torch.Tensor:
    """Divide rows by (norm + epsilon): a dot product of two is the smooth cosine, eq. 1 of Liu et al."""
    # The gradient of the norm at zero is not a number; that of the clamped norm is zero.
    norms = (rows * rows).sum(1, keepdim=True).clamp(min=1e-24).sqrt()
    return rows / (norms + epsilon)


def measure_ndcg(towers: Towers, task: Task, epsilon: float, *, k: int = 5, block: int = 256) -> float:
    """Compute the mean nDCG@k with linear gain over the judged documents of each query, as the paper does.

    :param towers: encode the queries and the documents, by language
    :param task: the queries, documents and grades
    :param epsilon: of the smooth cosine, see `smooth`
    :param k: how many of the best documents of each query count
    :param block: queries computed at a time
    """
    total = 0.0
    queries = torch.arange(_count(task.queries), device=task.keys.device)
    with torch.no_grad():
        for query_numbers in torch.split(queries, block):
            judged_scores = _score_judged(towers, task, query_numbers, epsilon, min_columns=k)
            total += float(_compute_ndcg(judged_scores, k).sum())
    return total / max(len(queries), 1)


class _JudgedScores(NamedTuple):
    """The judged documents of some queries as matrices (queries, most documents of a query).

    A query with fewer documents has cells left at the end of its row: their score is -inf and their grade 0.
    """

    scores: torch.Tensor
    grades: torch.Tensor


def _score_judged(
    towers: Towers, task: Task, query_numbers: torch.Tensor, epsilon: float, *, min_columns: int
) -> _JudgedScores:
    """Score the judged documents of some queries, and return the scores with the grades.

    :param query_numbers: (queries,) which queries
    :param epsilon: of the smooth cosine, see `smooth`
    :param min_columns: width of the result at least
    """
    judged_pairs = pair_documents(task, query_numbers, negatives=0)
    is_judged = mask_terms(select(task.judged, query_numbers), min_columns)
    scores = torch.full(is_judged.shape, -torch.inf, device=query_numbers.device)
    scores[is_judged] = score_pairs(towers, task, query_numbers, judged_pairs, epsilon)
    grades = torch.zeros(is_judged.shape, device=query_numbers.device)
    grades[is_judged] = judged_pairs.grades.float()
    return _JudgedScores(scores, grades)


def _compute_ndcg(judged: _JudgedScores, k: int) -> torch.Tensor:
    """Compute the nDCG@k of each query, (queries,): its discounted gain divided by that of the ideal order."""
    by_score = judged.scores.argsort(dim=1, descending=True, stable=True)
    gain = _sum_discounted(judged.grades.gather(1, by_score[:, :k]))
    ideal_gain = _sum_discounted(judged.grades.sort(1, descending=True).values[:, :k])
    return gain / ideal_gain.clamp(min=1e-9)


def _sum_discounted(grades: torch.Tensor) -> torch.Tensor:
    """Add up grades divided by log2(rank + 1), with ranks from 1.

    :param grades: (queries, ranks)
    :return: (queries,)
    """
    ranks = torch.arange(1, grades.shape[1] + 1, device=grades.device)
    return grades @ (1 / (ranks + 1).float().log2())


def _count(texts: Bags) -> int:
    return len(texts.bounds) - 1
