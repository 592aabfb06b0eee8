"""Compute the features of K-NRM with its eleven kernels, in numpy.

Xiong, Dai, Callan, Liu and Power, SIGIR 2017, eqs. 3 to 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from paragloss.types import Floats

if TYPE_CHECKING:
    import scipy.sparse as sp

#: Exact match first, then soft matches from near to opposite.
MEANS: tuple[float, ...] = (1.0, 0.9, 0.7, 0.5, 0.3, 0.1, -0.1, -0.3, -0.5, -0.7, -0.9)
WIDTHS: tuple[float, ...] = (1e-3,) + (0.1,) * 10
#: The least sum of a kernel; its logarithm is scaled as in the authors' code.
FLOOR, SCALE = 1e-10, 0.01


def compute_responses(cosines: npt.ArrayLike) -> npt.NDArray[np.floating]:
    """Return the response of each kernel to each cosine, exp(-(cosine - mean)² / 2 width²): (..., kernels)."""
    values = np.asarray(cosines)
    means, widths = np.asarray(MEANS, values.dtype), np.asarray(WIDTHS, values.dtype)
    distances = values[..., None] - means
    return np.asarray(np.exp(-(distances**2) / (2 * widths**2)))


def compute_features(query_rows: Floats, query_weights: Floats, term_rows: Floats, counts: sp.csr_matrix) -> Floats:
    """Return the soft-TF features of many documents for one query (documents, kernels).

    A document without terms has features of zero: there is nothing to match, which is not the same as nothing matching.

    :param query_rows: a vector of length 1 for each query term, (n_query_terms, dim).
    :param query_weights: how often the query has each, (n_query_terms,).
    :param term_rows: a vector of length 1 for each document term, (n_terms, dim).
    :param counts: how often each document has each term, (n_documents, n_terms).
    """
    n_kernels, n_query_terms = len(MEANS), len(query_rows)
    cosines = (query_rows @ term_rows.T).T.astype(np.float32)  # (n_terms, n_query_terms)
    activations = compute_responses(cosines)  # (n_terms, n_query_terms, n_kernels)
    sums = np.asarray(counts @ activations.reshape(len(term_rows), n_query_terms * n_kernels))
    sums = sums.reshape(counts.shape[0], n_query_terms, n_kernels)
    log_sums = np.log(np.maximum(sums, FLOOR))
    soft_tf = np.einsum("dqk,q->dk", log_sums, query_weights) * SCALE  # (n_documents, n_kernels)
    is_empty = np.diff(counts.indptr) == 0
    soft_tf[is_empty] = 0
    return np.asarray(soft_tf, np.float32)


def normalize_rows(rows: Floats) -> Floats:
    """Scale rows to length 1; a row of zeros stays."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12), np.float32)
