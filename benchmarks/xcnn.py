"""XCNN, S2Net and BAE on held-out retrieval of counterparts, with the time they took; and XCNN at the paper's scale.

    PARAGLOSS_DATA=~/corpora python benchmarks/xcnn.py tatoeba de fr
    PARAGLOSS_DATA=~/corpora python benchmarks/xcnn.py ddtp de fr
    python benchmarks/xcnn.py scale --share 0.1

The first two read sentence pairs of Tatoeba (CC BY 2.0 FR) as tatoeba/en-XX.tsv.gz and package descriptions of Debian
as ddtp/XX.jsonl.gz, keep a part of the concepts apart (packages, not single descriptions), and look up each held-out
English text among the held-out texts of the other language. `scale` makes up 125,000 sentence pairs and 330,000
titles with Zipf's law, as many as the paper had.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paragloss.encoders.bag import BagEncoder
from paragloss.lab.methods import bae, lsi, opca, s2net, xcnn
from paragloss.types import Concept

METHODS: dict[str, Callable[..., BagEncoder]] = {
    "lsi": lambda a: lsi.fit(a, dim=128),
    "opca": lambda a: opca.fit(a, dim=128),
    "bae": bae.fit,
    "bae-not-tuned": lambda a: bae.fit(a, epochs=0),
    "s2net": s2net.fit,
    "s2net-difference": lambda a: s2net.fit(a, loss="difference"),
    "s2net-from-opca": lambda a: s2net.fit(a, start="opca"),
    "xcnn": lambda a: xcnn.fit(a, hub="en"),
    "xcnn-random-hub": lambda a: xcnn.fit(a, hub="en", hub_epochs=0),
    "xcnn-logistic": lambda a: xcnn.fit(a, hub="en", loss="logistic", negatives=10),
    "xcnn-cg": lambda a: xcnn.fit(a, hub="en", optimizer="cg"),
}


def tatoeba(folder: Path, lang: str) -> list[Concept]:
    with gzip.open(folder / "tatoeba" / f"en-{lang}.tsv.gz", "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    return [Concept(str(i), {"en": row[0], lang: row[1]}) for i, row in enumerate(rows)]


def ddtp(folder: Path, lang: str) -> list[Concept]:
    texts: dict[str, dict[str, str]] = {}
    titles: dict[str, dict[str, str]] = {}
    for one in ("en", lang):
        with gzip.open(folder / "ddtp" / f"{one}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                texts.setdefault(row["concept"], {})[one] = row["text"]
                titles.setdefault(row["concept"], {})[one] = row["title"]
    return [Concept(name, found, titles[name]) for name, found in texts.items() if len(found) == 2]


def split(concepts: Sequence[Concept], held: int) -> tuple[list[Concept], list[Concept]]:
    """Training and held-out concepts; what precedes a colon in the id (a package) is never in both."""
    groups = sorted({c.id.split(":")[0] for c in concepts}, key=lambda name: zlib.crc32(name.encode()))
    apart, seen, tested = set(groups[:held]), set(), []
    for concept in concepts:
        group = concept.id.split(":")[0]
        if group in apart and group not in seen:  # one description of a package: its others are near copies
            seen.add(group)
            tested.append(concept)
    return [c for c in concepts if c.id.split(":")[0] not in apart], tested


def retrieval(model: BagEncoder, tested: Sequence[Concept], lang: str) -> tuple[float, float]:
    """P@1 and mean reciprocal rank of each text's counterpart; ties share their mean rank."""

    def text(concept: Concept, one: str) -> str:
        return f"{concept.titles.get(one, '')}\n{concept.texts[one]}"

    queries = model.encode([text(c, "en") for c in tested], "en")
    scores = queries @ model.encode([text(c, lang) for c in tested], lang).T
    right = scores.diagonal()[:, None]
    ranks = 1 + (scores > right).sum(1) + ((scores == right).sum(1) - 1) / 2
    return float((ranks == 1).mean()), float((1 / ranks).mean())


def compare(concepts: Sequence[Concept], lang: str, chosen: Sequence[str], *, held: int, most: int) -> None:
    trained, tested = split(concepts, held)
    trained = trained[:most]
    print(f"\nen-{lang}: {len(trained)} concepts, {len(tested)} held out\n")
    print("| method | P@1 | RR | seconds | CPU seconds |\n|---|---|---|---|---|")
    for name in chosen:
        wall, cpu = time.perf_counter(), time.process_time()
        model = METHODS[name](trained)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        precision, rank = retrieval(model, tested, lang)
        print(f"| {name} | {precision:.3f} | {rank:.3f} | {wall:.0f} | {cpu:.0f} |", flush=True)


def scale(share: float, **settings: Any) -> None:
    rng = np.random.default_rng(0)
    topics = rng.permutation(10_000).reshape(200, 50)  # words of one topic occur together

    def sentences(count: int, words: int) -> list[list[int]]:
        zipf = 1 / (np.arange(10_000) + 20.0)
        common = rng.choice(10_000, (count, words // 2), p=zipf / zipf.sum())
        topical = topics[rng.integers(200, size=count)[:, None], rng.integers(50, size=(count, words - words // 2))]
        return np.hstack([common, topical]).tolist()

    pairs, titles = int(125_000 * share), int(330_000 * share)
    aligned = [
        Concept(str(i), {"en": " ".join(f"ena{w}x" for w in s), "hi": " ".join(f"hia{w}x" for w in s)})
        for i, s in enumerate(sentences(pairs, 12))
    ]
    more = [" ".join(f"ena{w}x" for w in title) for title in sentences(titles, 8)]
    wall, cpu = time.perf_counter(), time.process_time()
    xcnn.fit(aligned, hub="en", monolingual=more, stem=False, **settings)
    print(
        f"{pairs} sentence pairs, {titles} titles: {time.perf_counter() - wall:.0f} s, "
        f"{time.process_time() - cpu:.0f} CPU seconds"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", choices=("tatoeba", "ddtp", "scale"))
    parser.add_argument("langs", nargs="*", default=[])
    parser.add_argument("--methods", default=",".join(name for name in METHODS if name != "xcnn-cg"))
    parser.add_argument("--held", type=int, default=2000)
    parser.add_argument("--most", type=int, default=1_000_000, help="training concepts at most")
    parser.add_argument("--share", type=float, default=1.0, help="of the paper's scale")
    given = parser.parse_args()
    if given.corpus == "scale":
        scale(given.share)
    folder = Path(os.environ.get("PARAGLOSS_DATA", Path.home() / ".cache" / "paragloss"))
    for lang in given.langs:
        read = tatoeba if given.corpus == "tatoeba" else ddtp
        compare(read(folder, lang), lang, given.methods.split(","), held=given.held, most=given.most)


if __name__ == "__main__":
    main()
