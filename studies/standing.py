"""What words as they stand should count beside translated ones: titles and first sentences of training pages.

    PARAGLOSS_DATA=... PARAGLOSS_HELD=MODEL python studies/standing.py

MODEL is the default model's held build (`default_model.py`): it has seen none of these collections.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from paragloss.lab.recipes import tasks
from paragloss.lab.recipes.tables import results

SETS = (("mdn", "fr"), ("mdn", "ru"), ("lohelp", "it"), ("lohelp", "ru"), ("ddtp", "fr"), ("ddtp", "ru"))
WEIGHTS = (1, 0.7, 0.5, 0.35, 0.2)
SIZES = tasks.Sizes(pairs=0, pages=0, queries=120, documents=400)


def main() -> None:
    whole = tasks.split
    tasks.split = lambda *args, **kept: (parts := whole(*args, **kept))._replace(test=parts.train)
    asked = [tasks.titles(name, lang, SIZES, smoke=False) for name, lang in SETS]
    asked += [tasks.graded(lang, SIZES, smoke=False) for name, lang in SETS if name == "mdn"]
    systems = {f"{weight}": f"{weight}*bm25+model" for weight in WEIGHTS} | {"0": "model"}
    with tempfile.TemporaryDirectory() as place:
        found = results._asked(asked, [results.held_out_model()], systems, Path(place))
    for name, row in found.items():
        if "measure" in row:
            print(f"{name}: {np.mean(row['measure']):.3f}")


if __name__ == "__main__":
    main()
