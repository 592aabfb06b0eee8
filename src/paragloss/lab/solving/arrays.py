"""Offer the few array operations of the linear solvers with numpy or torch, on a processor or a graphics card.

Dense arrays of both libraries share `@`, `*`, `.T`, slicing and `.sum(0)`; what they don't share is here.
"""

from __future__ import annotations

import importlib.util
import os
import warnings
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.errors import ModelError

#: A dense float32 array of either library; they have no common type.
Dense: TypeAlias = Any

#: Columns multiplied at once: the gathered rows of the dense side (4 bytes x 64) are four cache lines.
PANEL = 64


def find_device_problem(device: str | None, *, numpy: bool = True) -> str:
    """Say why nothing can be computed on a device; return "" if it works.

    :param device: a device of torch, "numpy", or None for the default
    :param numpy: whether "numpy" is allowed
    """
    if device is None or (numpy and device == "numpy"):
        return ""
    allowed = "cpu, cuda or numpy" if numpy else "cpu or cuda"
    try:
        import torch
    except ImportError:
        return f"expected {allowed}; all but numpy needs torch, which is not installed: pip install 'paragloss[train]'"
    try:
        torch.zeros(1, device=device).cpu()
    except Exception as error:  # torch raises half a dozen kinds here
        reason = str(error).splitlines()[0][:80]
        return f"expected {allowed}, and torch can't use this one here ({reason})"
    return ""


class Arrays:
    """Array operations on one device: "numpy", or a device of torch ("cpu", "cuda").

    None chooses torch on the processor if it is installed, else numpy.
    """

    def __init__(self, device: str | None = None) -> None:
        """Choose a device.

        :param device: "numpy", a device of torch, or None for the default
        :raises ModelError: if the device can't be used
        """
        if device is None:
            device = "cpu" if importlib.util.find_spec("torch") else "numpy"
        problem = find_device_problem(device)
        if problem:
            raise ModelError(f"device {device!r}: {problem}")
        self.device = device
        self.torch: Any = None
        if device != "numpy":
            import torch

            self.torch = torch

    def put(self, array: npt.NDArray[Any]) -> Dense:
        """Move a numpy array to the device."""
        return array if self.torch is None else self.torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def get(self, array: Dense) -> npt.NDArray[Any]:
        """Move an array of the device to numpy."""
        return np.asarray(array if self.torch is None else array.cpu().numpy())

    def zeros(self, *shape: int) -> Dense:
        """Make an array of zeros."""
        if self.torch is None:
            return np.zeros(shape, np.float32)
        return self.torch.zeros(shape, device=self.device)

    def normal(self, rows: int, columns: int, seed: int) -> Dense:
        """Make an array of standard normal numbers, the same for the same seed on the same device."""
        if self.torch is None:
            return np.random.default_rng(seed).standard_normal((rows, columns), np.float32)
        generator = self.torch.Generator(self.device).manual_seed(seed)
        return self.torch.randn(rows, columns, generator=generator, device=self.device)

    def hstack(self, parts: list[Dense]) -> Dense:
        """Join matrices side by side."""
        return np.hstack(parts) if self.torch is None else self.torch.hstack(parts)

    def vstack(self, parts: list[Dense]) -> Dense:
        """Join matrices one below the other."""
        return np.vstack(parts) if self.torch is None else self.torch.vstack(parts)

    def gram(self, left: Dense, right: Dense) -> npt.NDArray[np.float64]:
        """Compute left^T right as a small float64 matrix on the processor, where the small problems are solved."""
        return self.get(left.T @ right).astype(np.float64)

    def small(self, matrix: npt.NDArray[np.float64]) -> Dense:
        """Move a small float64 matrix to the device as float32."""
        return self.put(matrix.astype(np.float32))

    def sparse(self, matrix: sp.csr_matrix) -> Sparse:
        """Move a sparse matrix and its transpose to the device."""
        return Sparse(self._compress_rows(matrix), self._compress_rows(matrix.T.tocsr()))

    def _compress_rows(self, matrix: sp.csr_matrix) -> Any:
        """Move a sparse matrix, (rows, columns), to the device, as float32 in compressed rows (CSR)."""
        if self.torch is None:
            return matrix.astype(np.float32)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse ")  # "beta state", "invariant checks"
            return self.torch.sparse_csr_tensor(
                self.put(matrix.indptr.astype(np.int32)),  # MKL copies and narrows wider indices at every product
                self.put(matrix.indices.astype(np.int32)),
                self.put(matrix.data.astype(np.float32)),
                size=matrix.shape,
                check_invariants=False,
            )

    def memory(self) -> int:
        """Return the largest number of bytes this process (or the graphics card) has held."""
        if self.torch is not None and self.device.startswith("cuda"):
            return int(self.torch.cuda.max_memory_allocated())
        import resource

        peak = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        is_in_bytes = os.uname().sysname == "Darwin"  # elsewhere in KiB
        return peak if is_in_bytes else 1024 * peak


class Sparse:
    """A sparse matrix and its transpose, both by rows: products with either side stream through memory."""

    def __init__(self, rows: Any, columns: Any) -> None:
        self.rows, self.columns = rows, columns
        self.shape: tuple[int, int] = (int(rows.shape[0]), int(rows.shape[1]))

    def __matmul__(self, dense: Dense) -> Dense:
        return self.rows @ dense

    def back(self, dense: Dense) -> Dense:
        """Multiply the transpose by `dense`."""
        return self.columns @ dense

    def energy(self, arrays: Arrays) -> Dense:
        """Compute the sum of the squares of each column of the matrix: (columns, 1).

        :param arrays: the device that the matrix is on
        """
        if arrays.torch is None:
            squares = self.columns.multiply(self.columns)
            return np.asarray(squares.sum(1), np.float32).reshape(-1, 1)
        squares = arrays.torch.sparse_csr_tensor(  # of the transposed matrix
            self.columns.crow_indices(),
            self.columns.col_indices(),
            self.columns.values().square(),
            size=self.columns.shape,
            check_invariants=False,
        )
        ones = arrays.zeros(self.shape[0], 1) + 1
        return squares @ ones


def orthonormalize(arrays: Arrays, block: Dense, basis: Dense | None = None) -> Dense:
    """Return an orthonormal basis of the part of `block` that lies outside `basis`: (size, columns or fewer).

    Columns that add nothing are dropped. Done twice, because float32 is inexact.

    :param arrays: the device that the arrays are on
    :param block: (size, columns)
    :param basis: (size, basis columns), orthonormal; None for no basis
    """
    for _ in range(2):
        if basis is not None and basis.shape[1]:
            block = block - basis @ (basis.T @ block)
        gram = arrays.gram(block, block)
        block = block @ arrays.small(compute_whitening((gram + gram.T) / 2, tolerance=1e-9))
    return block


def compute_whitening(gram: npt.NDArray[np.float64], *, tolerance: float) -> npt.NDArray[np.float64]:
    """Compute a matrix T with T' gram T = I: (size, directions), the direction of the largest eigenvalue last.

    :param gram: a symmetric positive semi-definite matrix, (size, size)
    :param tolerance: a direction is left out if its eigenvalue is at most this part of the largest one: up to
        rounding, it is then a mixture of the others
    """
    values, vectors = np.linalg.eigh(gram)  # ascending
    largest = max(values[-1], np.finfo(np.float32).tiny)
    is_independent = values > tolerance * largest
    return np.asarray(vectors[:, is_independent] / np.sqrt(values[is_independent]))
