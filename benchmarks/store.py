"""How fast documents go in and come out: `python benchmarks/store.py --documents 200000`.

Invented text (words of three languages, Zipf-distributed) and vectors (300 dimensions, 30 of them strong, as
learned ones are) from a seed. Peers run in the same process on the same documents: bm25s, which can't update,
and a plain numpy product over all vectors. Prints a table for RESULTS.md.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from paragloss.analysis import analyzer
from paragloss.index.terms import TermIndex
from paragloss.lab.matchings.nested import Nested
from paragloss.lab.matchings.structured import Probabilistic
from paragloss.search.dense import Dense
from paragloss.search.fused import Fused
from paragloss.search.lexical import Lexical
from paragloss.stores import create_store, open_store
from paragloss.types import Alternative, Document, Query, Translation

LANGS = ("en", "de", "fr")
DIM, VOCABULARY, BATCH = 300, 200_000, 1000


class Invented:
    """Documents, queries and vectors, made as they are asked for."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
        draws = rng.integers(0, len(syllables), (VOCABULARY, 4))
        self.words = np.array(["".join(syllables[i] for i in row[: 2 + n % 3]) for n, row in enumerate(draws)])
        self.chance = np.cumsum(1 / np.arange(3, VOCABULARY + 3))
        self.scale = np.r_[np.full(30, 1.0), np.full(DIM - 30, 0.1)].astype(np.float32)

    def text(self, rng: np.random.Generator, length: int) -> str:
        return " ".join(self.words[np.searchsorted(self.chance, rng.random(length) * self.chance[-1])])

    def vectors(self, rng: np.random.Generator, number: int) -> np.ndarray:
        rows = rng.standard_normal((number, DIM), np.float32) * self.scale
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def batches(self, number: int, seed: int) -> Iterator[tuple[list[Document], np.ndarray]]:
        for start in range(0, number, BATCH):
            rng = np.random.default_rng((seed, start))
            size = min(BATCH, number - start)
            lengths = np.maximum(rng.normal(100, 30, size).astype(int), 5)
            documents = [
                Document(f"d{start + i}", self.text(rng, lengths[i]), LANGS[i % 3], self.text(rng, 5))
                for i in range(size)
            ]
            yield documents, self.vectors(rng, size)


class GivenVectors:
    """An encoder whose vectors are made beforehand: encoding is not what is measured."""

    dim, langs = DIM, LANGS

    def __init__(self, rows: dict[str, np.ndarray]) -> None:
        self.rows = rows

    def encode(self, texts: Sequence[str], lang: str) -> np.ndarray:
        return np.stack([self.rows[text] for text in texts])


def latency(call: Callable[[Query], object], queries: Sequence[Query]) -> str:
    for query in queries[:10]:
        call(query)
    took = []
    for query in queries:
        start = time.perf_counter()
        call(query)
        took.append(time.perf_counter() - start)
    p50, p99 = np.percentile(np.array(took) * 1e3, [50, 99])
    return f"{p50:8.2f} ms | {p99:8.2f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--folder", type=Path, help="where the collection goes (default: a temporary folder)")
    options = parser.parse_args()
    invented = Invented(0)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        run(Path(folder) / "collection", invented, options.documents, options.queries)


def run(path: Path, invented: Invented, number: int, query_count: int) -> None:
    store = create_store(path, dense={"m": DIM}, sparse=["terms"])
    index = TermIndex.build(store)
    wall = cpu = analysis = 0.0
    rows, texts = [], []
    for documents, vectors in invented.batches(number, 1):
        start = time.perf_counter()
        for d in documents:
            analyzer(d.lang).terms(d.text)
        analysis += time.perf_counter() - start
        start, used = time.perf_counter(), time.process_time()
        index.add(documents, {"m": vectors})
        wall, cpu = wall + time.perf_counter() - start, cpu + time.process_time() - used
        rows.append(vectors)
        texts += [(d.lang, d.text) for d in documents]
    print(f"{number:,} documents of 100 words, {DIM} dimensions, title and text indexed, {len(LANGS)} languages\n")
    print("| step | documents/s | us/document | CPU us/document |\n|---|---|---|---|")

    def step(name: str, wall: float, cpu: float) -> None:
        print(f"| {name} | {number / wall:,.0f} | {wall / number * 1e6:.0f} | {cpu / number * 1e6:.0f} |")

    step("add (analysis, BM25, store, durable)", wall, cpu)
    step("of which analysis of text", analysis, analysis)
    for name, call in (("refresh", index.refresh), ("commit", index.commit), ("optimize (graph)", store.optimize)):
        start, used = time.perf_counter(), time.process_time()
        call()
        step(name, time.perf_counter() - start, time.process_time() - used)
    store.close()
    start = time.perf_counter()
    store = open_store(path)
    index = TermIndex.open(store)
    size = sum(file.stat().st_blocks * 512 for file in path.rglob("*") if file.is_file())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"\nopened in {time.perf_counter() - start:.2f} s; {size / 1e9:.2f} GB on disk; peak memory {memory:.2f} GB\n"
    )

    rng = np.random.default_rng(2)
    matrix = np.concatenate(rows)
    queries = [Query(str(i), invented.text(rng, 4), LANGS[i % 3]) for i in range(query_count)]
    query_rows = matrix[rng.integers(0, number, query_count)] + 0.5 * invented.vectors(rng, query_count)
    rows_by_text = {query.text: row for query, row in zip(queries, query_rows, strict=True)}
    lexical, dense = Lexical(store, index.statistics), Dense(store, GivenVectors(rows_by_text), name="m")
    exact = Dense(store, GivenVectors(rows_by_text), name="m", exact=True)
    hybrid = Fused([lexical, dense])

    def own(query: Query) -> dict[str, list[str]]:
        return {"lang": [query.lang]}

    def translated(alternatives: int) -> list[Query]:
        return [
            query._replace(
                clauses=tuple(
                    Translation(word, tuple(Alternative(other, 1 / (i + 1)) for i, other in enumerate([word, *extra])))
                    for word, extra in zip(
                        query.text.split(), rng.choice(invented.words[:5000], (4, alternatives - 1)), strict=True
                    )
                )
            )
            for query in queries
        ]

    four_alternatives, twenty_alternatives = translated(4), translated(20)
    psq, nested = Probabilistic(store, index.statistics), Nested(store, index.statistics)
    print("| search, one query at a time, 10 wanted | p50 | p99 |\n|---|---|---|")
    for name, searcher, where, queries_of_row in (
        ("BM25", lexical, None, queries),
        ("BM25, translated (4 alternatives a word)", lexical, None, four_alternatives),
        ("BM25, translated (20 alternatives a word)", lexical, None, twenty_alternatives),
        ("probabilistic structured query (4 alternatives a word)", psq, None, four_alternatives),
        ("probabilistic structured query (20 alternatives a word)", psq, None, twenty_alternatives),
        ("nested AND (4 alternatives a word)", nested, None, four_alternatives),
        ("dense", dense, None, queries),
        ("dense, language filter", dense, own, queries),
        ("dense, exact", exact, None, queries),
        ("hybrid (100 + 100 fused), language filter", hybrid, own, queries),
    ):
        timing = latency(lambda q, s=searcher, w=where: s.search([q], 10, w(q) if w else None), queries_of_row)
        print(f"| {name} | {timing} |")

    recalls = []
    for query in queries[:100]:
        found_ids = {hit.id for hit in dense.search([query], 10, own(query))[0]}
        recalls.append(len(found_ids & {hit.id for hit in exact.search([query], 10, own(query))[0]}) / 10)

    def brute(query: Query) -> object:
        scores = matrix @ rows_by_text[query.text]
        best = np.argpartition(-scores, 10)[:10]
        return best[np.argsort(-scores[best])]

    print(f"| numpy: all vectors, no filter | {latency(brute, queries)} |")
    store.close()
    try:
        import bm25s
    except ImportError:
        print(f"\nrecall@10 of the filtered graph: {np.mean(recalls):.4f}; bm25s is not installed")
        return
    start = time.perf_counter()
    english = [analyzer(lang).terms(text) for lang, text in texts if lang == "en"]
    peer = bm25s.BM25(method="lucene")
    peer.index(english, show_progress=False)
    built = time.perf_counter() - start
    queries_of_row = [query for query in queries if query.lang == "en"]

    def search_once(query: Query) -> object:
        return peer.retrieve([analyzer("en").terms(query.text)], k=10, show_progress=False)

    print(f"| bm25s: English only, a third of the documents | {latency(search_once, queries_of_row)} |")
    print(f"\nrecall@10 of the filtered graph: {np.mean(recalls):.4f}")
    print(f"bm25s indexed {len(english) / built:,.0f} documents/s, text only, in memory, without updates")


if __name__ == "__main__":
    main()
