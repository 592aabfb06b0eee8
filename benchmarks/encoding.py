"""How many documents of 100 words a bag encoder turns into vectors in a second, analysis included and apart.

    PARAGLOSS_DATA=... python benchmarks/encoding.py [--set mdn] [--lang en] [--processes 2] [--documents 20000]

Learns Cr5 from some pages, then encodes others cut into pieces of 100 words. Processor seconds per process, so that
a busy machine does not blur them, and documents per second of the clock with all processes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path

from paragloss.encoders.bag import BagEncoder
from paragloss.formats.jsonl import read_concepts
from paragloss.lab.methods import cr5

WORDS = 100


def pieces(args: argparse.Namespace, folder: Path) -> list[str]:
    """Learns and saves a model; the documents to encode."""
    data = Path(os.environ.get("PARAGLOSS_DATA", Path.home() / ".cache" / "paragloss")) / args.set
    if not data.exists():
        sys.exit(f"no {data}: set PARAGLOSS_DATA to the folder that has {args.set}/")
    langs = (args.lang, args.other)
    aligned = [c for c in read_concepts([data / f"{lang}.jsonl.gz" for lang in langs]) if len(c.texts) == 2]
    half = len(aligned) // 2
    cr5.fit(aligned[: min(half, 2000)], dim=300).save(folder)
    words = [word for concept in aligned[half:] for word in concept.texts[args.lang].split()]
    cut = [" ".join(words[i : i + WORDS]) for i in range(0, len(words) - WORDS, WORDS)]
    return (cut * (args.documents // len(cut) + 1))[: args.documents]


def work(folder: str, lang: str, texts: list[str], ready, go) -> None:
    encoder = BagEncoder.load(folder)
    encoder.encode(texts[:1000], lang)  # fills the analyzer's memory of words and maps the table
    ready.release()
    go.wait()
    for start in range(0, len(texts), 1000):
        encoder.encode(texts[start : start + 1000], lang)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="mdn")
    parser.add_argument("--lang", default="en")
    parser.add_argument("--other", default="fr", help="the language to learn together with")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--documents", type=int, default=20_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "model"
        texts = pieces(args, folder)
        encoder = BagEncoder.load(folder)
        vocabulary = encoder.tower(args.lang).vocabulary
        vocabulary.counts(texts[:1000])
        begun = time.process_time()
        counts = vocabulary.counts(texts)
        counted = time.process_time() - begun
        begun = time.process_time()
        encoder.encode_counts(counts, args.lang)
        encoded = time.process_time() - begun
        known = counts.nnz / len(texts)
        print(f"{len(texts)} documents of {WORDS} words, {known:.0f} distinct known terms each, 300 dimensions")
        print(f"  text to counts     {len(texts) / counted:9.0f} documents per processor second")
        print(f"  counts to vectors  {len(texts) / encoded:9.0f}")
        print(f"  both               {len(texts) / (counted + encoded):9.0f}")
        context = multiprocessing.get_context("spawn")
        ready, go = context.Semaphore(0), context.Event()
        job = (str(folder), args.lang, texts, ready, go)
        children = [context.Process(target=work, args=job) for _ in range(args.processes)]
        for child in children:
            child.start()
        for _ in children:
            ready.acquire()
        begun = time.perf_counter()
        go.set()
        for child in children:
            child.join()
        seconds = time.perf_counter() - begun
        done = args.processes * len(texts)
        print(f"  {args.processes} processes        {done / seconds:9.0f} documents per second of the clock")


if __name__ == "__main__":
    main()
