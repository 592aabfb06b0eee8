"""The linear family side by side: held-out retrieval on real corpora, and seconds on synthetic pairs.

    python benchmarks/linear.py retrieval ddtp:da ddtp:it ddtp:fr mdn:fr lohelp:da lohelp:it lohelp:fr
    python benchmarks/linear.py speed 100000

`retrieval` needs the corpora under PARAGLOSS_DATA. Concepts are split by what stands before ':' in their name
(versions of one package are near-duplicates) before anything is fitted; English queries, candidates the held-out
documents of the other language. Columns: P@1 and RR by cosine and by CSLS, P@1 by globally corrected ranks (GC) and
inverted softmax (ISF).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from paragloss.encoders.bag import BagEncoder
from paragloss.lab.learning import monolingual
from paragloss.lab.learning.counting import count, text_of
from paragloss.lab.methods import alignment, cca, cr5, lsi, opca
from paragloss.ranking import globally_corrected, inverted_softmax, neighbourhood
from paragloss.types import Aligned, Concept

Method = Callable[[Aligned], BagEncoder]


def methods(train: Aligned, names: list[str]) -> Iterator[tuple[str, Method]]:
    documents: dict[str, Method] = {"cr5": cr5.fit, "lsi": lsi.fit, "opca": opca.fit, "cca": cca.fit}
    for name, fit in documents.items():
        if not names or name in names:
            yield name, fit
    maps = [name for name in alignment.METHODS if not names or name in names]
    if maps:
        started = time.perf_counter()
        counted, _ = count(train, stem=False, lengths=(1, 10**9))
        vectors = {
            lang: monolingual.train((text_of(c, lang) for c in train if lang in c.texts), part.vocabulary)
            for lang, part in counted.items()
        }
        print(f"  (monolingual vectors, shared by the maps: {time.perf_counter() - started:.0f} s)")
        for name in maps:
            yield f"map {name}", partial(alignment.fit, method=name, vectors=vectors)


def retrieval(sets: list[str], *, most: int, names: list[str]) -> None:
    for given in sets:
        corpus, lang = given.split(":")
        train, test = read(corpus, lang)
        train = train[:: max(1, -(-len(train) // most))]
        test = test[:2000]
        print(f"\n{corpus} en->{lang}: {len(train)} training pairs, {len(test)} held out")
        print(f"  {'':17} {'cosine':>13} {'CSLS':>13} {'GC':>6} {'ISF':>6} {'seconds':>8} {'CPU':>6}")
        for name, fit in methods(train, names):
            started, cpu = time.perf_counter(), time.process_time()
            with warnings.catch_warnings(record=True) as alarms:
                warnings.simplefilter("always", UserWarning)
                model = fit(train)
            wall, cpu = time.perf_counter() - started, time.process_time() - cpu
            queries, targets = (model.encode([text_of(c, of) for c in test], of) for of in ("en", lang))
            cosine = queries @ targets.T
            csls = 2 * cosine - neighbourhood(targets, queries)
            figures = [*figure(cosine), *figure(csls)]
            other = [figure(rule(queries, targets))[0] for rule in (globally_corrected, inverted_softmax)]
            row = " ".join(f"{value:6.3f}" for value in (*figures, *other))
            print(f"  {name:17} {row} {wall:8.1f} {cpu:6.1f}  {'ALARM' if alarms else ''}", flush=True)


def figure(scores: np.ndarray) -> tuple[float, float]:
    """P@1 and the mean reciprocal rank of the document on the diagonal; a tie counts against it."""
    ranks = (scores >= np.diag(scores)[:, None]).sum(axis=1)
    return float((ranks == 1).mean()), float((1 / ranks).mean())


def read(corpus: str, lang: str) -> tuple[list[Concept], list[Concept]]:
    folder = Path(os.environ.get("PARAGLOSS_DATA", Path.home() / ".cache" / "paragloss")) / corpus
    texts: dict[str, dict[str, str]] = {}
    titles: dict[str, dict[str, str]] = {}
    for of in ("en", lang):
        with gzip.open(folder / f"{of}.jsonl.gz", "rt", encoding="utf-8") as file:
            for row in map(json.loads, file):
                texts.setdefault(row["concept"], {})[of] = row["text"]
                titles.setdefault(row["concept"], {})[of] = row.get("title", "")
    train, test = [], []
    for name in sorted(texts):
        if len(texts[name]) == 2:
            family = name.split(":")[0]
            held_out = int(hashlib.md5(family.encode()).hexdigest(), 16) % 100 < 15
            (test if held_out else train).append(Concept(name, texts[name], titles[name]))
    return train, test


def zipf_pairs(
    pairs: int, *, seed: int = 0, terms: int = 100_000, topics: int = 500, length: int = 120
) -> list[Concept]:
    """Documents whose words follow Zipf's law, half of them from one of `topics` slices shared by both languages."""
    noise = np.random.default_rng(seed)
    weights = 1 / np.arange(1, terms + 1)
    cumulated = np.cumsum(weights / weights.sum())
    topic_of = noise.integers(topics, size=terms)
    by_topic = [np.flatnonzero(topic_of == t) for t in range(topics)]
    of_topic = [np.cumsum(weights[words] / weights[words].sum()) for words in by_topic]
    concepts = []
    for i in range(pairs):
        topic = int(noise.integers(topics))
        texts = {}
        for lang, letter in (("en", "a"), ("it", "b")):
            general = np.searchsorted(cumulated, noise.random(length // 2))
            own = by_topic[topic][
                np.searchsorted(of_topic[topic], noise.random(length // 2)).clip(max=len(by_topic[topic]) - 1)
            ]
            words = np.concatenate([general.clip(max=terms - 1), own])
            texts[lang] = " ".join(f"{letter}{word}" for word in words.tolist())
        concepts.append(Concept(str(i), texts))
    return concepts


def speed(pairs: int, *, names: list[str]) -> None:
    train = zipf_pairs(pairs)
    print(f"{pairs} pairs of {len(train[0].texts['en'].split())} words, {os.cpu_count()} cores")
    for name, fit in methods(train, names):
        started, cpu = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit(train)
        print(f"  {name:17} {time.perf_counter() - started:8.1f} s {time.process_time() - cpu:8.1f} CPU-s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["retrieval", "speed"])
    parser.add_argument("of", nargs="+", help="CORPUS:LANG ..., or a number of pairs")
    parser.add_argument("--most", type=int, default=10**9, help="training pairs at most")
    parser.add_argument("--methods", nargs="*", default=[], help="cr5, lsi, opca, cca or a map; all by default")
    given = parser.parse_args()
    if given.what == "retrieval":
        retrieval(given.of, most=given.most, names=given.methods)
    else:
        for pairs in given.of:
            speed(int(pairs), names=given.methods)


if __name__ == "__main__":
    main()
