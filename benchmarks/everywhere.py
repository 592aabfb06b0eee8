"""One search over twenty languages at once: `python benchmarks/everywhere.py --documents 200000`.

Invented documents as in store.py, in twenty languages; queries of five words with twenty alternatives each in every
language, as a large table gives them, already cut into terms. Beside it, on the first queries, what it replaces: a
search a language, merged. `--folder` keeps the collection there and uses it again.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from store import BATCH, Invented, latency

from paragloss.search.all_languages import Everywhere
from paragloss.search.merged import Merged
from paragloss.search.structured import Probabilistic
from paragloss.search.terms import TermIndex
from paragloss.search.translated import Translated
from paragloss.stores import exists, open_store
from paragloss.stores.embedded import EmbeddedStore
from paragloss.types import Alternative, Document, Query, Translation

LANGS = (
    "en", "fr", "it", "es", "de", "pt", "nl", "da", "sv", "fi", "pl", "ru", "cs", "hu", "ro", "el", "tr", "ar", "id",
    "ca",
)  # fmt: skip
WORDS, ALTERNATIVES = 5, 20


class Prepared:
    """Twenty alternatives for every word in every language, made beforehand: translating is not what is measured."""

    def __init__(self, invented: Invented, seed: int) -> None:
        self._invented, self._rng = invented, np.random.default_rng(seed)
        self._made: dict[tuple[str, str], list[Translation]] = {}

    def knows(self, source: str, target: str) -> bool:
        return True

    def translate(self, query: Query, to: str) -> list[Translation]:
        if (query.text, to) not in self._made:
            self._made[query.text, to] = [self._clause(word) for word in query.text.split()]
        return self._made[query.text, to]

    def translate_many(self, query: Query, targets: Sequence[str]) -> Mapping[str, list[Translation]]:
        return {lang: self.translate(query, lang) for lang in targets}

    def _clause(self, word: str) -> Translation:
        said = self._invented.text(self._rng, ALTERNATIVES).split()
        weights = 1 / np.arange(1, len(said) + 1)
        pairs = zip(said, (weights / weights.sum()).tolist(), strict=True)
        return Translation(word, tuple(Alternative(text, weight, (text,)) for text, weight in pairs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--folder", type=Path, help="where the collection is kept (default: a temporary folder)")
    options = parser.parse_args()
    invented = Invented(0)
    with tempfile.TemporaryDirectory() as folder:
        path = options.folder or Path(folder) / "collection"
        if not exists(path):
            build(path, invented, options.documents)
        run(path, invented, options.queries)


def build(path: Path, invented: Invented, number: int) -> None:
    with EmbeddedStore.create(path, dense={}, sparse=["terms"]) as store:
        index = TermIndex.build(store)
        started = time.perf_counter()
        for start in range(0, number, BATCH):
            rng = np.random.default_rng((1, start))
            lengths = np.maximum(rng.normal(100, 30, min(BATCH, number - start)).astype(int), 5)
            index.add(
                [
                    Document(f"d{start + i}", invented.text(rng, n), LANGS[i % len(LANGS)], invented.text(rng, 5))
                    for i, n in enumerate(lengths)
                ]
            )
        index.refresh()
        index.commit()
        print(f"indexed {number / (time.perf_counter() - started):,.0f} documents/s")
        store.optimize()


def cpu(searcher: Everywhere | Merged, queries: Sequence[Query]) -> float:
    """Milliseconds of processor time, the median: what the clock would show on a machine that does nothing else."""
    took = []
    for query in queries:
        started = time.process_time()
        searcher.search([query], 10)
        took.append(time.process_time() - started)
    return 1e3 * float(np.median(took))


def run(path: Path, invented: Invented, asked: int) -> None:
    store = open_store(path)
    statistics = TermIndex.open(store).statistics
    rng = np.random.default_rng(2)
    queries = [Query(str(i), invented.text(rng, WORDS), "en") for i in range(asked)]
    translator = Prepared(invented, 3)
    structured = Probabilistic(store, statistics, proportional=True)
    at_once = Everywhere(structured, translator, to=LANGS)
    apart = Merged([Translated(structured, translator, to=lang) for lang in LANGS])
    print(f"{store.count():,} documents, {len(LANGS)} languages, {WORDS} words of {ALTERNATIVES} alternatives\n")
    print("| search | p50 | p99 | CPU p50 |\n|---|---|---|---|")
    for name, searcher, some in (
        ("one question for all languages", at_once, queries),
        ("one search a language, merged", apart, queries[:20]),
    ):
        print(f"| {name} | {latency(lambda q, s=searcher: s.search([q], 10), some)} | {cpu(searcher, some):.1f} ms |")
    shared = [
        len({h.id for h in at_once.search([q], 10)[0]} & {h.id for h in apart.search([q], 10)[0]})
        for q in queries[:20]
    ]  # fmt: skip
    print(f"\nof the ten best of the second, the first has {np.mean(shared):.2f}")


if __name__ == "__main__":
    main()
