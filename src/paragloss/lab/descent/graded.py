"""Learning from graded judgments on term ids: batches of queries with their judged and sampled documents, smooth
cosine scores, nDCG. Knows towers and ids, neither texts nor languages' analysis. Needs torch.

Everything a batch needs lies on the device before training: no Python loop over documents, no copy per step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch

from paragloss.errors import ModelError
from paragloss.lab.descent.bags import Bags, bags, select
from paragloss.lab.descent.batches import shuffled
from paragloss.lab.descent.loop import History, descend

Towers = Mapping[str, torch.nn.Module]


class Task(NamedTuple):
    """Queries of one language, documents of another, and grades of some pairs, on one device."""

    source: str
    target: str
    queries: Bags
    documents: Bags
    judged: Bags  # per query: document numbers ascending, and their grades as weights
    keys: torch.Tensor  # (judgments,) for `_sample`


class Pairs(NamedTuple):
    """The pairs of a batch: the distinct documents, and for each pair its cell of the score matrix and its grade."""

    documents: torch.Tensor  # (documents,)
    cells: torch.Tensor  # (pairs,) query of the batch x len(documents) + document
    grades: torch.Tensor  # (pairs,) int64


def task(
    source: str, target: str, queries: sp.csr_matrix, documents: sp.csr_matrix, grades: sp.csr_matrix, device: str
) -> Task:
    """Make a task of term weights (one row per text) and of grades (queries x documents; a stored 0 is a judgment)."""
    grades = grades.tocsr()
    grades.sort_indices()
    owner = np.repeat(np.arange(grades.shape[0]), np.diff(grades.indptr))
    before = grades.indices - (np.arange(grades.nnz) - grades.indptr[owner])
    keys = torch.as_tensor(owner.astype(np.int64) * (grades.shape[1] + 1) + before, device=device)
    return Task(source, target, bags(queries, device), bags(documents, device), bags(grades, device), keys)


def train(
    tasks: Sequence[Task],
    towers: Towers,
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    *,
    epsilon: float,
    negatives: int,
    batch: int,
    pool: int = 0,
    validation: Sequence[Task] = (),
    **steps: Any,
) -> History:
    """Change the towers until `loss(scores, grades)` is small on the tasks; keep the epoch of best validation nDCG@5.

    A batch holds `batch` queries of one task, each with its judged documents and `negatives` that are drawn anew
    every time: from all documents, or with `pool` from so many of them, the same for the whole batch. Where reading a
    document is the work, as for an LSTM, that saves most of it. `steps` are settings of `descend`.
    """
    for graded_task in tasks if negatives else ():
        _some_irrelevant(graded_task)

    def batch_loss(chosen: tuple[Task, torch.Tensor]) -> torch.Tensor:
        task_of_batch, rows = chosen
        batch_pairs = pairs(task_of_batch, rows, negatives, pool=pool)
        return loss(scores(towers, task_of_batch, rows, batch_pairs, epsilon), batch_pairs.grades).mean()

    def validate() -> float:
        _mode(towers, training=False)
        measure = sum(ndcg(towers, validation_task, epsilon) for validation_task in validation) / len(validation)
        _mode(towers, training=True)
        return measure

    _mode(towers, training=True)
    history = descend(
        {f"{lang}.{name}": p for lang, tower in towers.items() for name, p in tower.named_parameters()},
        lambda _, rng: _batches(tasks, batch, rng),
        batch_loss,
        validate=validate if validation else None,
        **steps,
    )
    _mode(towers, training=False)
    return history


def _some_irrelevant(graded_task: Task) -> None:
    max_judged = int(graded_task.judged.bounds.diff().max())
    if max_judged >= _count(graded_task.documents):
        raise ModelError(
            f"no irrelevant document to draw: a query has judged all {max_judged} documents; add documents"
        )


def _batches(tasks: Sequence[Task], batch: int, rng: np.random.Generator) -> Iterator[tuple[Task, torch.Tensor]]:
    """Shuffle the queries of every task and yield batches, those of all tasks mixed."""
    cut = [(graded_task, rows) for graded_task in tasks for rows in shuffled(_count(graded_task.queries), batch, rng)]
    for i in rng.permutation(len(cut)):
        graded_task, rows = cut[i]
        yield graded_task, torch.as_tensor(rows, device=graded_task.keys.device)


def pairs(graded_task: Task, rows: torch.Tensor, negatives: int, *, pool: int = 0) -> Pairs:
    """The judged documents of some queries and `negatives` others for each, drawn evenly (one may come up twice) from
    all documents or from a `pool` of them."""
    judged = select(graded_task.judged, rows)
    query_number = torch.arange(len(rows), device=rows.device)
    query = torch.repeat_interleave(query_number, judged.bounds.diff(), output_size=len(judged.ids))
    document, grades = judged.ids.long(), judged.weights.long()
    if negatives:
        query = torch.cat([query, query_number.repeat_interleave(negatives)])
        sampled = _sample(graded_task, rows, negatives)
        if 0 < pool < _count(graded_task.documents):
            sampled = _pooled(graded_task, judged, sampled, pool)
        document = torch.cat([document, sampled.flatten()])
        grades = torch.cat([grades, grades.new_zeros(len(rows) * negatives)])
    distinct, columns = torch.unique(document, return_inverse=True)
    return Pairs(distinct, query * len(distinct) + columns, grades)


def _sample(graded_task: Task, rows: torch.Tensor, n: int) -> torch.Tensor:
    """Draw documents without a judgment: the r-th of them has number r plus the number of judged ones before it."""
    documents = _count(graded_task.documents)
    free = documents - graded_task.judged.bounds.diff()[rows]
    draws = torch.rand(len(rows), n, dtype=torch.float64, device=rows.device)
    ranks = (draws * free[:, None]).long()
    keys = rows[:, None] * (documents + 1) + ranks
    return ranks + torch.searchsorted(graded_task.keys, keys, right=True) - graded_task.judged.bounds[rows][:, None]


def _pooled(graded_task: Task, judged: Bags, drawn: torch.Tensor, pool: int) -> torch.Tensor:
    """Draw from a few documents in place of `drawn` (queries, n); where one of them is judged, that draw stays."""
    documents, queries = _count(graded_task.documents), len(drawn)
    pool_ids = torch.randint(documents, (pool,), device=drawn.device)
    from_pool = pool_ids[torch.randint(pool, drawn.shape, device=drawn.device)]
    query_number = torch.arange(queries, device=drawn.device)
    owner = torch.repeat_interleave(query_number, judged.bounds.diff(), output_size=len(judged.ids))
    is_judged = torch.isin(query_number[:, None] * documents + from_pool, owner * documents + judged.ids.long())
    return torch.where(is_judged, drawn, from_pool)


def scores(towers: Towers, graded_task: Task, rows: torch.Tensor, batch_pairs: Pairs, epsilon: float) -> torch.Tensor:
    """Compute the smooth cosine of each pair: (pairs,). Each distinct text is encoded once."""
    queries = smooth(towers[graded_task.source](select(graded_task.queries, rows)), epsilon)
    documents = smooth(towers[graded_task.target](select(graded_task.documents, batch_pairs.documents)), epsilon)
    return (queries @ documents.T).flatten().index_select(0, batch_pairs.cells)


def smooth(rows: torch.Tensor, epsilon: float) -> torch.Tensor:
    """Divide rows by (norm + epsilon): a dot product of two is the smooth cosine, eq. 1 of Liu et al."""
    # The norm's own gradient at zero is not a number; clamped, it is none.
    norms = (rows * rows).sum(1, keepdim=True).clamp(min=1e-24).sqrt()
    return rows / (norms + epsilon)


def ndcg(towers: Towers, graded_task: Task, epsilon: float, *, k: int = 5, block: int = 256) -> float:
    """Compute the mean nDCG@k with linear gain over the judged documents of each query, as the paper does."""
    total = 0.0
    everyone = torch.arange(_count(graded_task.queries), device=graded_task.keys.device)
    with torch.no_grad():
        for rows in torch.split(everyone, block):
            judged_pairs = pairs(graded_task, rows, 0)
            lengths = graded_task.judged.bounds.diff()[rows]
            is_judged = torch.arange(max(int(lengths.max()), k), device=rows.device) < lengths[:, None]
            ranked = is_judged.float().masked_fill(~is_judged, -torch.inf)
            ranked[is_judged] = scores(towers, graded_task, rows, judged_pairs, epsilon)
            grades = is_judged.float()
            grades[is_judged] = judged_pairs.grades.float()
            discount = 1 / torch.arange(2, k + 2, device=rows.device).float().log2()
            gain = grades.gather(1, ranked.argsort(dim=1, descending=True, stable=True)[:, :k]) @ discount
            ideal = grades.sort(1, descending=True).values[:, :k] @ discount
            total += float((gain / ideal.clamp(min=1e-9)).sum())
    return total / max(len(everyone), 1)


def _mode(towers: Towers, *, training: bool) -> None:
    for tower in towers.values():
        tower.train(training)


def _count(texts: Bags) -> int:
    return len(texts.bounds) - 1
