"""Sum bags of rows of a table, with gradients only for the rows that were used. Needs torch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch


class Bags(NamedTuple):
    """Weighted bags of rows of a table: bag i holds `ids[bounds[i]:bounds[i + 1]]` with these `weights`."""

    ids: torch.Tensor  # (terms,) int32 where that is wide enough, like `bounds`
    bounds: torch.Tensor  # (bags + 1,)
    weights: torch.Tensor  # (terms,) float32


def bags(rows: sp.csr_matrix, device: str = "cpu") -> Bags:
    """Convert the rows of a sparse matrix to bags on a device."""
    index_type = torch.int32 if rows.nnz < 2**31 else torch.int64
    return Bags(
        torch.as_tensor(rows.indices, dtype=index_type, device=device),
        torch.as_tensor(rows.indptr, dtype=index_type, device=device),
        torch.as_tensor(rows.data, dtype=torch.float32, device=device),
    )


def mask_terms(texts: Bags, min_width: int = 1) -> torch.Tensor:
    """Return which cells hold a term if texts become the rows of an array, padded at their ends: (bags, longest).

    :param min_width: how many columns there are at least
    """
    lengths = texts.bounds.diff()
    longest = int(lengths.max()) if len(lengths) else 0
    return torch.arange(max(longest, min_width), device=lengths.device) < lengths[:, None]


def select(corpus: Bags, rows: torch.Tensor) -> Bags:
    """Select some bags of a corpus, in the order of `rows`.

    :param rows: (selected bags,) bag numbers
    """
    if not corpus.ids.is_cuda:  # scipy selects rows faster, but on a CPU only
        return bags(_to_matrix(corpus, np.iinfo(np.int32).max)[rows.numpy()])
    lengths = corpus.bounds.diff()[rows]
    bounds = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
    n_entries = int(bounds[-1])
    # Entry i of the result is entry i + shift of the corpus.
    shift = torch.repeat_interleave(corpus.bounds[rows] - bounds[:-1], lengths, output_size=n_entries)
    entries = shift.add_(torch.arange(n_entries, device=shift.device))
    return Bags(corpus.ids[entries], bounds.to(corpus.bounds.dtype), corpus.weights[entries])


def transpose(selected: Bags, width: int) -> tuple[torch.Tensor, Bags]:
    """Return the rows of the table that occur in bags, ascending, and for each of them the bags that hold it.

    :param width: number of rows of the table
    :return: row numbers, (rows,), and a bag of bag numbers for each of them, with the weights that the row has there
    """
    if selected.ids.is_cuda:
        return _transpose_by_sorting(selected)
    # On a CPU a counting sort (scipy's) is several times as fast as torch's.
    columns = _to_matrix(selected, width).tocsc()
    table_rows = np.flatnonzero(np.diff(columns.indptr))
    bounds = np.append(columns.indptr[table_rows], columns.indptr[-1])
    transposed = Bags(torch.from_numpy(columns.indices), torch.from_numpy(bounds), torch.from_numpy(columns.data))
    return torch.from_numpy(table_rows), transposed


def _to_matrix(selected: Bags, width: int) -> sp.csr_matrix:
    """Make a sparse matrix (bags, width) that shares the memory of the bags."""
    parts = (selected.weights.numpy(), selected.ids.numpy(), selected.bounds.numpy())
    return sp.csr_matrix(parts, shape=(len(selected.bounds) - 1, width), copy=False)


def _transpose_by_sorting(selected: Bags) -> tuple[torch.Tensor, Bags]:
    """Do what `transpose` does, on a graphics card."""
    sorted_ids, order = torch.sort(selected.ids, stable=True)
    lengths = selected.bounds.diff()
    bag_numbers = torch.arange(len(lengths), dtype=selected.ids.dtype, device=order.device)
    bag_of_entry = torch.repeat_interleave(bag_numbers, lengths, output_size=len(order))
    table_rows, counts = torch.unique_consecutive(sorted_ids, return_counts=True)
    bounds = torch.nn.functional.pad(counts.cumsum(0), (1, 0)).to(selected.bounds.dtype)
    return table_rows.long(), Bags(bag_of_entry[order], bounds, selected.weights[order])


class _Pool(torch.autograd.Function):
    """`sums` with a row-sparse gradient."""

    @staticmethod
    def forward(ctx: Any, table: torch.Tensor, *chosen: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(*chosen)
        ctx.shape = table.shape
        return sums(table, Bags(*chosen))

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        terms, turned = transpose(Bags(*ctx.saved_tensors), ctx.shape[0])
        values = sums(gradients[0].contiguous(), turned)
        return _row_sparse(terms, values, ctx.shape), None, None, None


def sums(table: torch.Tensor, chosen: Bags) -> torch.Tensor:
    """Compute weighted sums of table rows, one per bag: (bags, width)."""
    weights = chosen.weights.to(table.dtype)
    return torch.nn.functional.embedding_bag(
        chosen.ids, table, chosen.bounds, mode="sum", per_sample_weights=weights, include_last_offset=True
    )


def pool(table: torch.Tensor, chosen: Bags) -> torch.Tensor:
    """Compute `sums` with a row-sparse gradient for the table."""
    pooled: torch.Tensor = _Pool.apply(table, *chosen)  # type: ignore[no-untyped-call]
    return pooled


def _row_sparse(rows: torch.Tensor, values: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """Make a gradient that is zero but for these rows, each of which comes once and in order."""
    with torch.sparse.check_sparse_tensor_invariants(False):  # type: ignore[no-untyped-call]
        return torch.sparse_coo_tensor(rows[None], values.contiguous(), shape, is_coalesced=True)


class _Take(torch.autograd.Function):
    """A selection of rows with a row-sparse gradient."""

    @staticmethod
    def forward(ctx: Any, table: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(rows)
        ctx.shape = table.shape
        return table.index_select(0, rows)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        (rows,) = ctx.saved_tensors
        return _row_sparse(rows, gradients[0], ctx.shape), None


def take(table: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Select rows of a table, each at most once and in ascending order (`torch.unique`), with a row-sparse gradient."""
    selected: torch.Tensor = _Take.apply(table, rows)  # type: ignore[no-untyped-call]
    return selected
