"""How sharp the probabilities of a table should be that is learned from one's own texts.

    PARAGLOSS_DATA=... python studies/own_tables.py [COLLECTION:LANG ...]

Training concepts only: 400 are kept aside, a table is learned from up to 1,600 others. English titles and first
sentences of 150 find their pages among the 400: as probabilities (`psq`), and tempered, raised to several powers.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections.abc import Mapping

import numpy as np
from sets import split

from paragloss.collection import Collection
from paragloss.evaluation import evaluate
from paragloss.lab.methods import table
from paragloss.types import Concept, Document, Query

PAIRS = ("mdn:es", "mdn:ja", "mdn:ko", "lohelp:de", "lohelp:es", "ddtp:es", "ddtp:ja")
POWERS = (1, 2, 3, 5)
ASIDE, LEARNED, ASKED = 400, 1600, 150


def queries(some: list[Concept]) -> dict[str, list[Query]]:
    titles = [Query(c.id, c.titles["en"], "en") for c in some]
    first = [Query(c.id, text, "en") for c in some if (text := first_sentence(c.texts["en"]))]
    return {"titles": titles, "first sentences": first}


def first_sentence(text: str) -> str:
    """None where it has fewer than five words; at most forty."""
    words = re.split(r"(?<=[.!?])\s", text.strip())[0].split()
    return " ".join(words[:40]) if len(words) >= 5 else ""


def measured(corpus: str, lang: str) -> Mapping[str, Mapping[str, float]]:
    both = [c for c in split(corpus, ["en", lang]).train if {"en", lang} <= c.texts.keys() and c.titles.get("en")]
    random.Random(7).shuffle(both)
    aside, rest = both[:ASIDE], both[ASIDE : ASIDE + LEARNED]
    with tempfile.TemporaryDirectory() as place:
        for power in POWERS:
            table.fit(rest, source="en", target=lang, sharpness=power).save(f"{place}/t{power}")
        models = [f"{place}/t{power}" for power in POWERS]
        with Collection.create(f"{place}/c", models=models, default=False, meaning=False) as engine:
            engine.index([Document(c.id, c.texts[lang], lang, c.titles.get(lang, "")) for c in aside])
            found: dict[str, dict[str, float]] = {}
            for kind, some in queries(aside[:ASKED]).items():
                qrels = {query.id: {query.id: 1} for query in some}
                for pipeline in ("t1:psq", *(f"t{power}" for power in POWERS)):
                    rankings = engine.rank(some, k=50, to=[lang], pipeline=pipeline)
                    run = {query.id: ranking for query, ranking in zip(some, rankings, strict=True)}
                    scores = evaluate(run, qrels, ["RR"])["RR"]
                    found.setdefault(kind, {})[pipeline] = float(np.mean(list(scores.values())))
    return found


def main() -> None:
    names = ("psq", *(f"tempered, {power}" for power in POWERS))
    print("| RR | queries | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 2) + "|")
    for pair in sys.argv[1:] or PAIRS:
        for kind, scores in measured(*pair.split(":")).items():
            print(f"| {pair} | {kind} | " + " | ".join(f"{rr:.3f}" for rr in scores.values()) + " |", flush=True)


if __name__ == "__main__":
    main()
