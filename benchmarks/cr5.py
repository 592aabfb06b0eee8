"""How fast Cr5 is fitted, against the same mathematics written plainly, and what is lost by it.

python benchmarks/cr5.py speed --documents 100000          # ours, and the two references from some of their steps
python benchmarks/cr5.py speed --documents 10000 --whole   # the references in full
python benchmarks/cr5.py growth --documents 10000 30000 100000 300000
python benchmarks/cr5.py quality --set lohelp --langs en it    # held-out precision, PARAGLOSS_DATA
python benchmarks/cr5.py settings --set ddtp --langs en it da  # stem or not, lengths, lambda, solver
python benchmarks/cr5.py subwords --set ddtp --langs en it     # unseen words with and without n-grams
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from cr5_reference import Plain, Seconds, captured
from zipf import Language, languages, mean_nonzeros

from paragloss.formats.jsonl import read_concepts
from paragloss.lab.learning.counting import text_of
from paragloss.lab.methods import cr5, subwords
from paragloss.lab.solving.arrays import Arrays
from paragloss.lab.solving.ridge import Block, Regression
from paragloss.lab.solving.spectrum import SOLVERS, Solution, solve_iteratively
from paragloss.ranking import find_nearest
from paragloss.types import Concept, Encoder

LAMBDA = 1.0
TEST = 1000


def ours(parts: list[Language], concepts: int, rank: int, solver: str = "early") -> tuple[Solution, Seconds]:
    blocks = [Block(part.scipy(), part.concepts.numpy()) for part in parts]
    begun = Seconds.now()  # transposing and copying into place is ours to pay
    regression = Regression.from_blocks(blocks, concepts, Arrays("cpu"), lambda_=LAMBDA)
    solution = solve_iteratively(regression, rank=rank, solver=solver)
    return solution, begun.since()


def corpus(documents: int, terms: int, seed: int = 0) -> tuple[list[Language], int]:
    """Two languages with half of the documents and half of the terms each."""
    concepts = documents // 2
    return languages(concepts, 2, terms // 2, seed=seed), concepts


def held_out(parts: list[Language], concepts: int) -> tuple[list[Language], int, list[np.ndarray], np.ndarray]:
    """The last concepts of both languages kept apart, as dense-free test rows."""
    edge = concepts - min(TEST, concepts // 10)
    training_rows, tests = [], []
    for part in parts:
        rows = part.scipy()
        tests.append(rows[edge:])
        training_rows.append(_only(part, rows[:edge], edge))
    return training_rows, edge, tests, np.arange(concepts - edge)


def _only(part: Language, rows, edge: int) -> Language:
    by_column = rows.T.tocsr()
    pack = lambda m: tuple(torch.from_numpy(x) for x in (m.indptr.astype(np.int32), m.indices, m.data))  # noqa: E731
    return Language(pack(rows), pack(by_column), rows.shape, part.concepts[:edge])


def precision(tables: list[np.ndarray], tests: list[np.ndarray], truth: np.ndarray) -> float:
    bilingual = [np.asarray(rows @ table, np.float32) for rows, table in zip(tests, tables, strict=True)]
    left, right = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12) for rows in bilingual)
    hits = [(find_nearest(a, b, 1)[:, 0] == truth).mean() for a, b in ((left, right), (right, left))]
    return float(np.mean(hits))


def speed(args: argparse.Namespace) -> None:
    for documents in args.documents:
        parts, concepts = corpus(documents, args.terms)
        training_rows, concepts, tests, truth = held_out(parts, concepts)
        print(f"{documents} documents, {args.terms} terms, {mean_nonzeros(parts):.0f} distinct words each")
        plain = Plain(
            [part.scipy() for part in training_rows], [p.concepts.numpy() for p in training_rows], concepts, LAMBDA
        )
        results = []
        for solver in SOLVERS:
            solution, seconds = ours(training_rows, concepts, args.rank, solver)
            results.append((f"ours, {solver}", solution.vectors, solution.tables, seconds))
            print(f"  {solver}: {solution.report}", flush=True)
        fast = results[-1][3]  # the converged: it captures at least what the references do
        if args.whole:
            edge = training_rows[0].shape[1]
            for name, tables_found in (
                ("plain", plain.plain(args.rank)),
                ("as the authors", plain.solve_twice(args.rank)),
            ):
                results.append(
                    (
                        name,
                        tables_found.vectors,
                        [tables_found.table[:edge], tables_found.table[edge:]],
                        tables_found.seconds,
                    )
                )
        else:
            plainly, authors = plain.seconds_of(args.rank, steps=args.steps)
            print(f"  plain, from {args.steps} steps          {against(plainly, fast)}")
            print(f"  as the authors, from {args.steps} steps {against(authors, fast)}", flush=True)
        for name, vectors, tables, seconds in results:
            energy = captured(plain, vectors, columns=args.columns)
            tables_found = precision(tables, tests, truth)
            print(f"  {name:16} {against(seconds, fast)}  captured {energy:.2f}  P@1 {tables_found:.3f}", flush=True)


def against(seconds: Seconds, fast: Seconds) -> str:
    return (
        f"{seconds.clock:8.1f} s ({seconds.clock / fast.clock:5.1f} x), "
        f"{seconds.processor:8.1f} processor s ({seconds.processor / fast.processor:5.1f} x)"
    )


def growth(args: argparse.Namespace) -> None:
    for documents in args.documents:
        parts, concepts = corpus(documents, args.terms)
        solution, seconds = ours(parts, concepts, args.rank)
        report = solution.report
        print(
            f"{documents:8} documents {seconds.clock:7.1f} s {seconds.processor:7.1f} processor s "
            f"({1e6 * seconds.processor / documents:.0f} us each)  "
            f"{report['columns']} columns, {report['cg_steps']} steps, {report['peak_bytes'] / 2**30:.1f} GiB",
            flush=True,
        )


def real(name: str, langs: list[str], max_concepts: int) -> tuple[list[Concept], list[Concept]]:
    """Concepts of a collection, and those kept apart, split by what stands before the first colon (a package)."""
    folder = Path(os.environ.get("PARAGLOSS_DATA", Path.home() / ".cache" / "paragloss")) / name
    if not folder.exists():
        sys.exit(f"no {folder}: set PARAGLOSS_DATA to the folder that has {name}/")
    aligned = [c for c in read_concepts([folder / f"{lang}.jsonl.gz" for lang in langs]) if len(c.texts) > 1]
    aligned.sort(key=lambda c: (hashlib.md5(c.id.split(":")[0].encode()).hexdigest(), c.id))
    test = min(TEST, len(aligned) // 5)
    apart = {c.id.split(":")[0] for c in aligned[:test]}
    return [c for c in aligned[test:] if c.id.split(":")[0] not in apart][:max_concepts], aligned[:test]


def measured(encoder: Encoder, test: list[Concept], part: str = "text") -> str:
    scores: dict[str, list[float]] = {"cosine": [], "CSLS": []}
    for lang in encoder.langs:
        for other in encoder.langs:
            bilingual = [c for c in test if lang in c.texts and other in c.texts]
            if part == "title":
                bilingual = [c for c in bilingual if c.titles.get(lang)]
            if lang == other or len(bilingual) < 50:
                continue
            query_texts = [c.titles[lang] if part == "title" else text_of(c, lang) for c in bilingual]
            rows, target_rows = (
                encoder.encode(query_texts, lang),
                encoder.encode([text_of(c, other) for c in bilingual], other),
            )
            for measure, k in (("cosine", 0), ("CSLS", 10)):
                best = find_nearest(rows, target_rows, 1, csls=k)[:, 0]
                scores[measure].append(float(np.mean(best == np.arange(len(bilingual)))))
    return "  ".join(f"P@1 {measure} {np.mean(values):.4f}" for measure, values in scores.items())


def quality(args: argparse.Namespace) -> None:
    train, test = real(args.set, args.langs, args.most)
    print(f"{args.set} {' '.join(args.langs)}: {len(train)} concepts to learn from, {len(test)} kept apart")
    for solver in SOLVERS:
        begun = time.perf_counter()
        encoder = cr5.fit(train, dim=args.rank, solver=solver)
        print(f"  {solver:10} {measured(encoder, test)}  captured {encoder.meta['captured']:.1f}  "
              f"{time.perf_counter() - begun:.1f} s", flush=True)  # fmt: skip


def settings(args: argparse.Namespace) -> None:
    train, test = real(args.set, args.langs, args.most)
    print(f"{args.set} {' '.join(args.langs)}: {len(train)} concepts to learn from, {len(test)} kept apart")
    tried = [
        {},
        {"stem": False},
        {"lengths": (50, 1000)},
        {"min_df": 1},
        {"min_df": 3},
        {"lambda_": 0.25},
        {"lambda_": 0.5},
        {"lambda_": 2.0},
    ]
    for options in [*tried, {"solver": "one-pass"}, {"solver": "converged"}]:
        encoder = cr5.fit(train, dim=args.rank, **options)
        print(
            f"  {options!s:28} texts: {measured(encoder, test)}   titles: {measured(encoder, test, 'title')}",
            flush=True,
        )


def unseen(args: argparse.Namespace) -> None:
    train, test = real(args.set, args.langs, args.most)
    encoder = cr5.fit(train, dim=args.rank)
    wider = subwords.extend(encoder)
    strange = [
        c
        for c in test
        if any(encoder.towers[lang].vocabulary.list_unknown_terms(c.titles.get(lang, "")) for lang in args.langs)
    ]
    print(f"{args.set}: {len(test)} kept apart, {len(strange)} with a title that has an unseen word")
    for part, query_texts in (("text", test), ("title", test), ("title", strange)):
        name = f"{part}s as queries ({len(query_texts)})"
        print(
            f"  {name:26} without: {measured(encoder, query_texts, part)}   with: {measured(wider, query_texts, part)}",
            flush=True,
        )


def main() -> None:
    warnings.filterwarnings("ignore", message="Sparse ")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("speed", "growth", "quality", "settings", "subwords"))
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000])
    parser.add_argument("--terms", type=int, default=200_000)
    parser.add_argument("--rank", type=int, default=300)
    parser.add_argument("--whole", action="store_true", help="run the references to their end")
    parser.add_argument("--steps", type=int, default=20, help="Lanczos steps a reference's time is taken from")
    parser.add_argument("--columns", type=int, default=0, help="estimate the captured sum from so many directions")
    parser.add_argument("--set", default="lohelp")
    parser.add_argument("--langs", nargs="+", default=["en", "it"])
    parser.add_argument("--most", type=int, default=10**9, help="concepts to learn from")
    args = parser.parse_args()
    {"speed": speed, "growth": growth, "quality": quality, "settings": settings, "subwords": unseen}[args.what](args)


if __name__ == "__main__":
    main()
