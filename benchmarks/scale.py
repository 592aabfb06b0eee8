"""What a collection costs as it grows: `python benchmarks/scale.py --sizes 10000 100000 1000000`.

Documents of 100 invented words in three languages (benchmarks/store.py), with title, text, BM25 terms and Cr5-like
vectors of 300 dimensions, read from JSON Lines by `Collection.index_files`, a process per core. At each size: documents
a second until all can be found and until all weights are exact, bytes on disk and in memory, opening, updating, one
document more (of the processor time of a build), and one query at a time. Peers in the same run: the engine alone on
the same vectors, tantivy and bm25s where installed. Prints tables for RESULTS.md; run it on a quiet machine.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import qdrant_edge as edge
from store import LANGS, Invented

from paragloss.analysis import analyzer
from paragloss.collection import Collection
from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.lab.matchings.structured import Probabilistic
from paragloss.processes import processors
from paragloss.search.dense import Dense
from paragloss.search.fused import Fused
from paragloss.search.lexical import Lexical
from paragloss.types import Alternative, Document, Query, Translation
from paragloss.vocabulary import Vocabulary

DIM, VOCABULARY_SIZE = 300, 60_000


def model(invented: Invented, path: Path) -> None:
    """An encoder like Cr5 in size and speed: stemmed terms of each language, tf-idf, a table of 300 columns."""
    rng, towers = np.random.default_rng(0), {}
    for lang in LANGS:
        terms = list(dict.fromkeys(analyzer(lang).terms(" ".join(invented.words[:VOCABULARY_SIZE]))))
        rows = rng.standard_normal((len(terms), DIM)).astype(np.float32)
        towers[lang] = Tower(Vocabulary(lang, terms, np.ones(len(terms)), 1), rows)
    BagEncoder(towers, meta={"method": "invented"}).save(path)


def write(invented: Invented, path: Path, number: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for documents, _ in invented.batches(number, 1):
            for d in documents:
                file.write(json.dumps({"id": d.id, "lang": d.lang, "title": d.title, "text": d.text}) + "\n")


def resident() -> int:
    """Bytes of this process that are its own: files that are mapped don't count."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))


def processor() -> tuple[float, float]:
    """Seconds of processor that this process has used, and those it started."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time(), children.ru_utime + children.ru_stime


def percentiles(call: Callable[[Any], object], inputs: Sequence[Any]) -> str:
    for value in inputs[:20]:
        call(value)
    took, cpu = [], time.process_time()
    for value in inputs:
        start = time.perf_counter()
        call(value)
        took.append(time.perf_counter() - start)
    p50, p99 = np.percentile(np.array(took) * 1e3, [50, 99])
    return f"p50 {p50:.2f} ms, p99 {p99:.2f} ms, {(time.process_time() - cpu) / len(inputs) * 1e3:.2f} ms of processor"


def translated(invented: Invented, queries: Sequence[Query], alternatives: int) -> list[Query]:
    rng = np.random.default_rng(3)
    translated_queries = []
    for query in queries:
        clauses = []
        for word in query.text.split():
            other_words = rng.choice(invented.words[:5000], alternatives - 1).tolist()
            alternatives_found = tuple(Alternative(other, 1 / (i + 1)) for i, other in enumerate([word, *other_words]))
            clauses.append(Translation(word, alternatives_found))
        translated_queries.append(query._replace(clauses=tuple(clauses)))
    return translated_queries


def measure(home: Path, invented: Invented, number: int, query_count: int, workers: int) -> None:
    rows, location = home / f"{number}.jsonl", home / f"c{number}"
    write(invented, rows, number)
    gc.collect()
    before = resident()
    with Collection.create(str(location), models=[str(home / "cr5")], meaning=False) as engine:
        start, recall, used = time.perf_counter(), 0.0, processor()

        def report_progress(count: int) -> None:
            nonlocal recall
            recall = time.perf_counter() - start

        engine.index_files([str(rows)], workers=workers, progress=report_progress)
        exact = time.perf_counter() - start
        writer, other_seconds = (
            1e6 * (after - earlier) / number for after, earlier in zip(processor(), used, strict=True)
        )
    size = sum(file.stat().st_blocks * 512 for file in location.rglob("*") if file.is_file())
    before = time.process_time()
    with Collection.open(str(location)) as engine:
        engine.index([Document("one more", *next(iter(invented.batches(1, 2)))[0][0][1:])])
    extra_seconds = 1e6 * (time.process_time() - before) / (writer + other_seconds) / number
    start = time.perf_counter()
    with Collection.open(str(location)) as engine:
        opened = time.perf_counter() - start
        start = time.perf_counter()
        engine.add([d._replace(title="changed") for d in next(iter(invented.batches(500, 1)))[0][:500]])
        updated = 500 / (time.perf_counter() - start)
        rng = np.random.default_rng(2)
        queries = [Query(str(i), invented.text(rng, 4), LANGS[i % 3]) for i in range(query_count)]
        start, ahead = time.perf_counter(), max(engine.maintenance.read_ahead())
        reading = time.perf_counter() - start
        timed = searches(engine, invented, queries)
        memory = resident() - before
    print(
        f"| {number:,} | {number / recall:,.0f} | {number / exact:,.0f} "
        f"| {size / number:,.0f} | {memory / number:,.0f} "
        f"| {opened:.2f} | {updated:,.0f} | {writer:.0f} + {other_seconds:.0f} | {extra_seconds:.3f} |"
    )
    print(f"|   names and terms of {ahead:,} read ahead, as a server does | {reading:.1f} s |")
    for name, figures in timed.items():
        print(f"|   {name} | {figures} |")


def searches(engine: Collection, invented: Invented, queries: list[Query]) -> dict[str, str]:
    store, statistics = engine.state.store, engine.state.index.statistics
    lexical = Lexical(store, statistics)
    hybrid = Fused([lexical, Dense(store, engine.state.models["cr5"], name="cr5")])
    structured, translated_queries = Probabilistic(store, statistics), translated(invented, queries, 20)
    raw = [lexical.vector(query) for query in queries]
    native_vectors = [edge.SparseVector(vector.indices.tolist(), vector.values.tolist()) for vector in raw]

    def engine_alone(vector: Any) -> object:
        nearest = edge.Query.Nearest(vector, using="terms")
        return store._shard.engine.query(edge.QueryRequest(limit=10, query=nearest))

    def own(query: Query) -> dict[str, list[str]]:
        return {"lang": [query.lang]}

    start = time.perf_counter()
    lexical.search(queries, 10)
    together = time.perf_counter() - start
    start = time.perf_counter()
    for query in queries:
        lexical.search([query], 10)
    one_by_one = time.perf_counter() - start
    return {
        "BM25": percentiles(lambda q: lexical.search([q], 10), queries),
        "the engine alone, same vectors": percentiles(engine_alone, native_vectors),
        "hybrid, language filter": percentiles(lambda q: hybrid.search([q], 10, own(q)), queries),
        "structured, 20 alternatives a word": percentiles(
            lambda q: structured.search([q], 10, own(q)), translated_queries
        ),
        "all BM25 queries at once": f"{one_by_one / together:.2f} times as fast as one by one",
    }


def peers(invented: Invented, number: int, query_count: int) -> None:
    """The same documents in tantivy and bm25s, English only for bm25s, which has one vocabulary."""
    rng = np.random.default_rng(2)
    texts = [invented.text(rng, 4) for _ in range(query_count)]
    documents = [d for batch, _ in invented.batches(number, 1) for d in batch]
    try:
        import tantivy

        schema = tantivy.SchemaBuilder().add_text_field("text", stored=True).build()
        index = tantivy.Index(schema)
        start = time.perf_counter()
        writer = index.writer()
        for d in documents:
            writer.add_document(tantivy.Document(text=[f"{d.title}\n{d.text}"]))
        writer.commit()
        took = time.perf_counter() - start
        index.reload()
        searcher = index.searcher()
        figures = percentiles(lambda q: searcher.search(index.parse_query(q, ["text"]), 10), texts)
        print(f"|   tantivy, in memory, words only: {number / took:,.0f} documents/s | {figures} |")
    except ImportError:
        print("|   tantivy is not installed | |")
    try:
        import bm25s

        start = time.perf_counter()
        peer = bm25s.BM25(method="lucene")
        peer.index([analyzer("en").terms(d.text) for d in documents], show_progress=False)
        took = time.perf_counter() - start
        cut = analyzer("en").terms
        figures = percentiles(lambda q: peer.retrieve([cut(q)], k=10, show_progress=False), texts)
        print(f"|   bm25s, in memory, no updates: {number / took:,.0f} documents/s | {figures} |")
    except ImportError:
        print("|   bm25s is not installed | |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--workers", type=int, default=processors())
    parser.add_argument("--folder", type=Path, help="where collections go (default: a temporary folder)")
    parser.add_argument("--without-peers", action="store_true")
    options = parser.parse_args()
    invented = Invented(0)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        home = Path(folder)
        model(invented, home / "cr5")
        heads = ["documents", "found/s", "exact/s", "bytes on disk", "bytes in memory", "opened, s", "updated/s"]
        print(f"| {' | '.join([*heads, 'processor us, writer + workers', 'one document more, of a build'])} |")
        print("|---|---|---|---|---|---|---|---|---|")
        for number in options.sizes:
            measure(home, invented, number, options.queries, options.workers)
            if not options.without_peers:
                peers(invented, number, options.queries)


if __name__ == "__main__":
    main()
