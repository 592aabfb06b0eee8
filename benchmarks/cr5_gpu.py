"""Cr5 on a graphics card: the product's own solver on synthetic documents made there. Needs torch, numpy and scipy.

    PYTHONPATH=src python3 benchmarks/cr5_gpu.py agree      # processor and card give the same embedding
    PYTHONPATH=src python3 benchmarks/cr5_gpu.py four       # 4 languages, 300k concepts, 150 M non-zeros, rank 300
    PYTHONPATH=src python3 benchmarks/cr5_gpu.py many       # 28 languages of 250k documents
    PYTHONPATH=src python3 benchmarks/cr5_gpu.py four --concepts 5000 --terms 20000 --device cpu   # a rehearsal

The solver is "converged" unless --solver names another: "early" and "one-pass" stop at subspaces that differ between
processor and card (they overlap by .29), so `agree` compares converged ones.

What moves: a product with X reads 8 bytes per non-zero and gathers 256 bytes (64 float32) of the dense side for
each, so the gathers decide. A panel of 64 columns of 200k terms is 51 MB, about the second-level cache of an H200:
wider panels would gather from memory. The transpose is kept by rows too (1.2 GB for 150 M non-zeros): cuSPARSE's
transposed product scatters with atomics. Dense products stay in full float32, TF32 off: they orthogonalise, 10 bits
would not do, and they take a small part of the time.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent))
from zipf import Language, languages, mean_nonzeros

from paragloss.lab.solving.arrays import Arrays, Sparse  # these three need nothing but numpy and scipy
from paragloss.lab.solving.ridge import Regression
from paragloss.lab.solving.spectrum import Solution, solve_iteratively


def regression(parts: list[Language], concepts: int, device: str, lambda_: float) -> Regression:
    def pack(by: tuple[torch.Tensor, ...], shape: tuple[int, int]) -> torch.Tensor:
        return torch.sparse_csr_tensor(*(part.to(device) for part in by), size=shape, check_invariants=False)

    held_blocks = [
        (Sparse(pack(part.rows, part.shape), pack(part.columns, part.shape[::-1])), part.concepts.to(device))
        for part in parts
    ]
    return Regression(held_blocks, concepts, Arrays(device), lambda_=lambda_)


def fitted(
    parts: list[Language], concepts: int, args: argparse.Namespace, device: str, **options: float
) -> tuple[Solution, float]:
    problem = regression(parts, concepts, device, args.lambda_)
    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    begun = time.perf_counter()
    solution = solve_iteratively(problem, rank=args.rank, solver=args.solver, **options)
    seconds = time.perf_counter() - begun  # the tables are on the processor by now: nothing is still running
    return solution, seconds


def show(solution: Solution, seconds: float) -> None:
    report = solution.report
    print(
        f"  fit {seconds:.2f} s; {report['columns']} columns, {report['cg_steps']} steps each, "
        f"{report['expansions']} expansions; captured {report['captured']:.2f} "
        f"(first {solution.values[0]:.4f}, last {solution.values[-1]:.4f}); worst residual {report['residual']:.3f}; "
        f"peak {report['peak_bytes'] / 2**30:.1f} GiB",
        flush=True,
    )


def fit(args: argparse.Namespace, count: int, tokens: int) -> None:
    begun = time.perf_counter()
    parts = languages(args.concepts, count, args.terms, tokens=tokens, seed=0, device=args.device)
    documents = sum(part.shape[0] for part in parts)
    nonzeros = sum(len(part.rows[1]) for part in parts)
    print(
        f"{documents} documents in {count} languages, {args.terms} terms each, {nonzeros / 1e6:.0f} M non-zeros "
        f"({mean_nonzeros(parts):.0f} a document), made in {time.perf_counter() - begun:.1f} s",
        flush=True,
    )
    for round_ in range(args.rounds):
        print(f" round {round_ + 1}{' (with the first loading of kernels)' if not round_ else ''}")
        show(*fitted(parts, args.concepts, args, args.device))


def agree(args: argparse.Namespace) -> None:
    parts = languages(2000, 3, 8000, tokens=120, topics=100, coverage=0.9, seed=1)
    args.rank = 50
    sure = {"tolerance": 1e-5, "solve_tolerance": 1e-4}
    exact, _ = fitted(parts, 2000, args, "cpu", **sure)
    solution, _ = fitted(parts, 2000, args, args.device, **sure)
    exact_rows, solution_rows = np.vstack(exact.tables), np.vstack(solution.tables)
    overlap = np.linalg.norm(exact_rows.T @ solution_rows) ** 2 / args.rank
    rows = parts[0].scipy()[:200]
    left, right = rows @ exact.tables[0], rows @ solution.tables[0]
    cosines = [
        m @ m.T / np.outer(norm, norm) for m in (left, right) for norm in [np.linalg.norm(m, axis=1).clip(1e-12)]
    ]
    print(
        f"cpu and {args.device}: captured {exact.report['captured']:.4f} and {solution.report['captured']:.4f}, ",
        end="",
    )
    print(f"spaces overlap {overlap:.6f}, cosines of documents differ by {np.abs(cosines[0] - cosines[1]).max():.1e}")


def main() -> None:
    warnings.filterwarnings("ignore", message="Sparse ")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("agree", "four", "many"))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--concepts", type=int, default=0)
    parser.add_argument("--terms", type=int, default=200_000)
    parser.add_argument("--tokens", type=int, default=150)
    parser.add_argument("--rank", type=int, default=300)
    parser.add_argument("--lambda_", type=float, default=2.0, help="the paper's for four languages")
    parser.add_argument("--solver", choices=("early", "one-pass", "converged"), default="converged")
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    if args.what == "agree":
        return agree(args)
    args.concepts = args.concepts or (300_000 if args.what == "four" else 250_000)
    return fit(args, 4 if args.what == "four" else 28, args.tokens)


if __name__ == "__main__":
    main()
