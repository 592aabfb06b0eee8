"""Translated words and meaning, alone and fused: English titles find documents of another language.

    PARAGLOSS_DATA=... python recipes/fusion.py [SET:LANG ...]

Dictionary: MUSE word pairs. Table and Cr5 are learned from the training concepts of the same collection, the defaults
of `paragloss train`; all three search through the product's own pipelines. Every held-out document of the language can
be found; a title has one right answer. Splits are by concept (Debian: by family of packages), before anything is
fitted. p is the randomisation test over queries; `beats` counts pairs where p < .05 and the difference is positive.
"""

from __future__ import annotations

import random
import sys
import tempfile
import warnings
from pathlib import Path

from sets import folder, known_item, split

from paragloss.engine import Engine, train
from paragloss.evaluation import compare, evaluate, mean
from paragloss.formats.dictionaries import read_pairs
from paragloss.models import cr5
from paragloss.translation import table
from paragloss.translation.dictionary import Dictionary

PAIRS = ("mdn:fr", "mdn:ja", "mdn:zh", "mdn:ru", "mdn:es", "mdn:ko", "lohelp:de", "lohelp:it", "lohelp:fr", "lohelp:nl")
SYSTEMS = {"bm25": "bm25", "dictionary": "muse", "table": "table", "cr5": "cr5", "fused": "bm25+cr5+table"}
MOST, QUERIES = 4000, 1000


def measured(corpus: str, lang: str) -> dict[str, dict[str, float]]:
    parts = split(corpus, ["en", lang])
    both = [c for c in parts.train if {"en", lang} <= c.texts.keys()]
    learned = random.Random(0).sample(both, min(MOST, len(both)))
    queries, documents, qrels = known_item(parts.test, "en", [lang])
    queries = random.Random(0).sample(queries, min(QUERIES, len(queries)))
    with tempfile.TemporaryDirectory() as place:
        train(cr5.fit, learned).save(Path(place, "cr5"))
        table.fit(learned).save(Path(place, "table"))
        words = read_pairs(folder() / "muse" / f"en-{lang}.tsv.gz")
        Dictionary.build(words, "en", lang).save(Path(place, "muse"))
        models = [str(Path(place, name)) for name in ("cr5", "table", "muse")]
        with Engine.create(str(Path(place, "collection")), models=models) as engine:
            engine.index(documents)
            scores = {}
            for name, pipeline in SYSTEMS.items():
                rankings = engine.rank(queries, k=100, to=[lang], pipeline=pipeline)
                run = {query.id: ranking for query, ranking in zip(queries, rankings, strict=True)}
                scores[name] = evaluate(run, {q.id: qrels[q.id] for q in queries}, ["RR"])["RR"]
    return scores


def main() -> None:
    warnings.simplefilter("ignore")
    print(
        f"{'RR':12}{'queries':>8}"
        + "".join(f"{name:>12}" for name in SYSTEMS)
        + "   p: table/dict  fused/table  fused/cr5"
    )
    beats = dict.fromkeys([("dictionary", "table"), ("table", "fused"), ("cr5", "fused")], 0)
    for pair in sys.argv[1:] or PAIRS:
        scores = measured(*pair.split(":"))
        tests = {against: compare(scores[against[0]], scores[against[1]]) for against in beats}
        for against, test in tests.items():
            beats[against] += test.p_randomisation < 0.05 and test.difference > 0
        print(
            f"{pair:12}{len(scores['bm25']):8}"
            + "".join(f"{mean({'RR': values})['RR']:12.3f}" for values in scores.values())
            + "   "
            + "  ".join(f"{test.p_randomisation:11.4f}" for test in tests.values()),
            flush=True,
        )
    print("; ".join(f"{second} beats {first} on {count}" for (first, second), count in beats.items()))


if __name__ == "__main__":
    main()
