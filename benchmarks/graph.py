"""When dense search needs a graph: every vector compared, whole or by a byte a number, against graphs walked by either.

    python benchmarks/graph.py [--documents 50000 200000]

Vectors of 300 dimensions that lie near a space of 40, as those of models do; a third of the documents are in the
language asked for. Seconds to build, milliseconds a search for the 100 best, and how many of the ten nearest are found,
each with the language as a filter and without. The engine alone, in one process.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable

import numpy as np
import qdrant_edge as edge

DIM, INNER, ASKED, LIMIT, BREADTH = 300, 40, 100, 108, 512
LANGS = ("en", "de", "fr")


def vectors(number: int, seed: int) -> np.ndarray:
    space, rng = np.random.default_rng(0).standard_normal((INNER, DIM)), np.random.default_rng(seed)
    rows = rng.standard_normal((number, INNER)) @ space + 0.5 * rng.standard_normal((number, DIM))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def shard(rows: np.ndarray, *, coarse: bool, graph: bool) -> tuple[edge.EdgeShard, float]:
    """Filled and, where something is to be made of its vectors, optimized; the seconds that took."""
    params = edge.EdgeVectorParams(
        size=DIM,
        distance=edge.Distance.Dot,
        quantization_config=edge.ScalarQuantizationConfig(edge.ScalarType.Int8, quantile=0.99, always_ram=True)
        if coarse
        else None,
        hnsw_config=None if graph else edge.HnswIndexConfig(m=0, ef_construct=100, full_scan_threshold=10_000),
    )
    made = edge.EdgeShard.create(tempfile.mkdtemp(), edge.EdgeConfig(vectors={"v": params}, sparse_vectors={}))
    made.update(edge.UpdateOperation.create_field_index("lang", edge.PayloadSchemaType.Keyword))
    for start in range(0, len(rows), 2000):
        some = enumerate(rows[start : start + 2000].tolist(), start)
        points = [edge.Point(i, {"v": row}, {"lang": LANGS[i % len(LANGS)]}) for i, row in some]
        made.update(edge.UpdateOperation.upsert_points(points))
    begun = time.perf_counter()
    if coarse or graph:
        made.optimize()
    return made, time.perf_counter() - begun


def search(made: edge.EdgeShard, *, coarse: bool, lang: str | None) -> Callable[[list[float]], list[int]]:
    again = edge.QuantizationSearchParams(rescore=True, oversampling=2.0) if coarse else None
    params = edge.SearchParams(hnsw_ef=BREADTH, quantization=again)
    wanted = edge.Filter(must=[edge.FieldCondition("lang", match=edge.MatchAny([lang]))]) if lang else None

    def ask(row: list[float]) -> list[int]:
        nearest = edge.Query.Nearest(row, using="v")
        return [p.id for p in made.query(edge.QueryRequest(limit=LIMIT, query=nearest, filter=wanted, params=params))]

    return ask


def measure(ask: Callable[[list[float]], list[int]], queries: np.ndarray, scores: np.ndarray) -> str:
    took, found = [], []
    for row, each in zip(queries.tolist(), scores, strict=True):
        begun = time.perf_counter()
        ids = ask(row)
        took.append(time.perf_counter() - begun)
        found.append(len(set(ids[:10]) & set(np.argsort(-each)[:10].tolist())) / 10)
    return f"{1e3 * np.median(took):.1f} | {np.mean(found):.3f}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--documents", type=int, nargs="+", default=[50_000, 200_000])
    given = options.parse_args()
    queries = vectors(ASKED, 2)
    print(
        "| documents | kept as | built, s | one language, ms | found | all, ms | found |\n|---|---|---|---|---|---|---|"
    )
    for number in given.documents:
        rows = vectors(number, 1)
        scores = queries @ rows.T
        own = np.where(np.arange(number) % len(LANGS) == 1, scores, -np.inf)
        for name, coarse, graph in (
            ("all compared, float32", False, False),
            ("all compared, int8", True, False),
            ("graph, float32", False, True),
            ("graph, int8", True, True),
        ):
            made, seconds = shard(rows, coarse=coarse, graph=graph)
            filtered = measure(search(made, coarse=coarse, lang=LANGS[1]), queries, own)
            every = measure(search(made, coarse=coarse, lang=None), queries, scores)
            print(f"| {number:,} | {name} | {seconds:.0f} | {filtered} | {every} |", flush=True)


if __name__ == "__main__":
    main()
