"""The linear methods under one preprocessing, and under the one each had: which documents and words they learn from.

    PARAGLOSS_DATA=... python studies/linear_alike.py [--pages 1000] [SET:LANG ...]

English titles find pages of another language among those held out; RR by cosine. "Alike": every document, words of two
documents (`min_df=2, lengths=None`, Cr5's defaults). "Apart": what CL-LSI, OPCA and CCA had (`min_df=3,
lengths=(50, 1000)`), which drops short documents.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence

import numpy as np
from sets import split

from paragloss.lab.learning.counting import text_of
from paragloss.lab.methods import cca, cr5, lsi, opca
from paragloss.types import Concept, Encoder

PAIRS = ("lohelp:de", "mdn:fr")
METHODS = {"lsi": lsi.fit, "opca": opca.fit, "cca": cca.fit, "cr5": cr5.fit}
APART = {"min_df": 3, "lengths": (50, 1000)}


def reciprocal_rank(model: Encoder, test: Sequence[Concept], lang: str) -> float:
    asked = model.encode([c.titles["en"] for c in test], "en")
    scores = asked @ model.encode([text_of(c, lang) for c in test], lang).T
    return float(np.mean(1 / (scores >= scores.diagonal()[:, None]).sum(1)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("pairs", nargs="*", default=PAIRS)
    parser.add_argument("--pages", type=int, default=1000)
    options = parser.parse_args()
    print(f"{'RR':12}" + "".join(f"{name + ' apart, alike':>22}" for name in METHODS))
    for pair in options.pairs:
        corpus, lang = pair.split(":")
        parts = split(corpus, ["en", lang])
        both = [c for c in parts.train if {"en", lang} <= c.texts.keys()]
        train = random.Random(0).sample(both, min(options.pages, len(both)))
        test = [c for c in parts.test if {"en", lang} <= c.texts.keys() and c.titles.get("en")][:500]
        row = f"{pair:12}"
        for fit in METHODS.values():
            apart, alike = (reciprocal_rank(fit(train, **settings), test, lang) for settings in (APART, {}))
            row += f"{apart:16.3f} {alike:.3f}"
        print(row, flush=True)


if __name__ == "__main__":
    main()
