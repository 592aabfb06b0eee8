"""Is the language of a query found out, and what does it cost to find out rather than to be told?

Queries are runs of words of FLORES and short sentences of Tatoeba in twelve languages. They are asked of collections
with documents in all twelve, in one, in a thirteenth only, and in all twelve with one stray sentence of Catalan; the
model that searches speaks all of them. Then English titles find French pages (MDN web docs) with and without --lang.

    PARAGLOSS_DATA=... python studies/query_language.py [how many queries of each language]
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sets import folder, known_item, split

from paragloss.collection import Collection
from paragloss.evaluation import evaluate, mean
from paragloss.lab.methods import cr5, table
from paragloss.types import Concept, Document

TWELVE = ("en", "da", "de", "es", "fr", "it", "nl", "pl", "pt", "ru", "ja", "zh")
THIRTEENTH, STRAY = "sv", "ca"
UNSPACED = ("ja", "zh")
HELD_OUT_PER_LANG = 150


def sentences() -> list[dict[str, str]]:
    with gzip.open(folder() / "flores" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["texts"] for line in lines]


def runs(
    rows: list[dict[str, str]], sizes: tuple[int, ...], count: int, rng: random.Random
) -> Iterator[tuple[str, str]]:
    """(language, words): so many runs of so many words; two characters count as a word where there are no spaces."""
    for lang in TWELVE:
        for number in range(count):
            text, size = rows[number % HELD_OUT_PER_LANG][lang], sizes[number % len(sizes)]
            words = list(text) if lang in UNSPACED else text.split()
            size *= 2 if lang in UNSPACED else 1
            start = rng.randrange(max(1, len(words) - size + 1))
            yield lang, ("" if lang in UNSPACED else " ").join(words[start : start + size])


def sample_sentences(low: int, high: int, count: int, rng: random.Random) -> Iterator[tuple[str, str]]:
    """(language, sentence) of Tatoeba, of so many words."""
    for lang in TWELVE:
        with gzip.open(
            folder() / "tatoeba" / f"en-{'de' if lang == 'en' else lang}.tsv.gz", "rt", encoding="utf-8"
        ) as lines:
            texts = sorted({line.rstrip("\n").split("\t")[lang != "en"] for line in lines})
        sizes = {text: len(text) // 2 if lang in UNSPACED else len(text.split()) for text in texts}
        for text in rng.sample([text for text in texts if low <= sizes[text] <= high], count):
            yield lang, text


def measure_guesses(engine: Collection, queries: list[tuple[str, str]]) -> str:
    right = likely = 0
    for lang, text in queries:
        guesses = [guess.lang for guess in engine.guess_languages(text)[:2]]
        right, likely = right + (guesses[0] == lang), likely + (lang in guesses)
    return f"{right / len(queries):.3f} ({likely / len(queries):.3f})"


def identification(count: int) -> None:
    rows, rng = sentences(), random.Random(0)
    queries = {
        "FLORES, 2 or 3 words": list(runs(rows, (2, 3), count, rng)),
        "FLORES, 4 to 12 words": list(runs(rows, (4, 6, 8, 12), count, rng)),
        "Tatoeba, 2 or 3 words": list(sample_sentences(2, 3, count, rng)),
        "Tatoeba, 4 to 12 words": list(sample_sentences(4, 12, count, rng)),
    }
    queries = {
        name: [(lang, text) for lang, text in texts_of_set if any(map(str.isalpha, text))]
        for name, texts_of_set in queries.items()
    }
    aligned = [
        Concept(str(n), {lang: row[lang] for lang in (*TWELVE, THIRTEENTH)})
        for n, row in enumerate(rows[HELD_OUT_PER_LANG:])
    ]
    with tempfile.TemporaryDirectory() as folder:
        cr5.fit(aligned, dim=20).save(Path(folder) / "cr5")
        collections = {"twelve": TWELVE, "one": ("fr",), "a thirteenth": (THIRTEENTH,), "twelve and a stray": TWELVE}
        for name, langs in collections.items():
            with Collection.create(
                str(Path(folder) / name), models=[str(Path(folder) / "cr5")], meaning=False
            ) as engine:
                engine.index(
                    Document(f"{n}.{lang}", row[lang], lang)
                    for n, row in enumerate(rows[HELD_OUT_PER_LANG:])
                    for lang in langs
                )
                if name.endswith("stray"):
                    engine.index([Document("stray", rows[0][STRAY], STRAY)])
                for kind, texts_of_set in queries.items():
                    print(
                        f"{name:20} {kind:24} {len(texts_of_set):5}  {measure_guesses(engine, texts_of_set)}",
                        flush=True,
                    )


def cost(source: str, target: str, count: int) -> None:
    parts = split("mdn", [source, target])
    queries, documents, qrels = known_item(parts.test, source, [target])
    queries = queries[:count]
    qrels = {query.id: qrels[query.id] for query in queries}
    with tempfile.TemporaryDirectory() as folder:
        table.fit(parts.train[:1500]).save(Path(folder) / "table")
        with Collection.create(str(Path(folder) / "c"), models=[str(Path(folder) / "table")], meaning=False) as engine:
            engine.index(documents)
            for name, queries_asked in (("told", queries), ("found out", [q._replace(lang="") for q in queries])):
                run = {q.id: r for q, r in zip(queries_asked, engine.rank(queries_asked, k=100), strict=True)}
                rr = mean(evaluate(run, qrels, ["RR"]))["RR"]
                print(f"{source} finds {target}, language {name:10} {len(queries_asked):5}  RR {rr:.4f}", flush=True)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 150
    identification(count)
    cost("en", "fr", 400)
    cost("fr", "en", 400)


if __name__ == "__main__":
    main()
