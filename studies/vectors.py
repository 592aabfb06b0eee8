"""Would vectors of documents pay for their bytes in the default model? Cr5 over the default model's own training texts.

    PARAGLOSS_DATA=... PARAGLOSS_HELD=MODEL python studies/vectors.py [--dim 200] [--most 40000]

One space for English and eight languages, from the dictionaries, names and sentences that the held build was learned
from (PARAGLOSS_HELD, studies/default_model.py). Validation passages are found by five words of theirs, by
phrases of eight and by written questions. RR of the default model, of Cr5, and of both: as the product would fuse them,
and with Cr5 counting more. p is of the product's fusion against the default.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
import questions
import sources

from paragloss.collection import Collection, train
from paragloss.evaluation import compare, evaluate
from paragloss.lab.methods import cr5
from paragloss.types import Concept

LANGS = ("es", "de", "ru", "ar", "hi", "zh", "vi", "ta")
QUERIES = 200


def concepts(most: int) -> list[Concept]:
    """What the held build may learn from, by its English; of each kind in each language at most so many."""
    said: dict[str, dict[str, str]] = defaultdict(dict)
    for lang in LANGS:
        by_kind: dict[str, list[sources.Pair]] = defaultdict(list)
        for pair in sources.pairs(lang):
            if pair.part == "train" and pair.en and pair.other:
                by_kind[pair.kind].append(pair)
        for some in by_kind.values():
            for pair in random.Random(0).sample(some, min(most, len(some))):
                said[pair.en].setdefault(lang, pair.other)
    return [Concept(str(n), {"en": en, **others}) for n, (en, others) in enumerate(said.items())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dim", type=int, default=200)
    parser.add_argument("--most", type=int, default=40_000)
    options = parser.parse_args()
    held = os.environ["PARAGLOSS_HELD"]
    name = Path(held).name
    systems = {"default": f"bm25+{name}", "cr5": "cr5", "both": f"bm25+{name}+cr5", "both, .5": f"bm25+{name}+0.5*cr5"}
    with tempfile.TemporaryDirectory() as place:
        learned = concepts(options.most)
        model = train(cr5.fit, learned, dim=options.dim, min_df=2)
        model.save(f"{place}/cr5")
        entries = sum(len(tower.vocabulary.terms) for tower in model.towers.values())
        print(
            f"{len(learned):,} concepts, {entries:,} words: {entries * options.dim / 1e6:.0f} MB in 8 bits", flush=True
        )
        print("| | queries | " + " | ".join(systems) + " | p |\n" + "|---" * (len(systems) + 3) + "|")
        kinds = {
            "five words": lambda lang: questions.claims(lang, part="valid"),
            "phrases": lambda lang: questions.phrases(lang, part="valid"),
            "questions": lambda lang: questions.asked(lang, part="valid"),
        }
        for kind, make in kinds.items():
            pooled: dict[str, dict[str, float]] = {system: {} for system in systems}
            for lang in LANGS:
                made = make(lang)
                some = random.Random(1).sample(range(len(made.queries)), min(QUERIES, len(made.queries)))
                asked = [made.queries[i] for i in some]
                models = [held, f"{place}/cr5"]
                with (
                    tempfile.TemporaryDirectory() as here,
                    Collection.create(f"{here}/c", models=models, meaning=False) as engine,
                ):
                    engine.index(made.documents)
                    for system, pipeline in systems.items():
                        rankings = engine.rank(asked, k=50, to=[lang], pipeline=pipeline)
                        run = {query.id: ranking for query, ranking in zip(asked, rankings, strict=True)}
                        found = evaluate(run, {q.id: made.qrels[q.id] for q in asked}, ["RR"])["RR"]
                        pooled[system].update({f"{lang} {query}": rr for query, rr in found.items()})
            p = compare(pooled["default"], pooled["both"]).p_randomisation
            cells = " | ".join(f"{np.mean(list(scores.values())):.3f}" for scores in pooled.values())
            print(f"| {kind} | {len(pooled['default'])} | {cells} | {p:.3f} |", flush=True)


if __name__ == "__main__":
    main()
