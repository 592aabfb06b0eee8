"""Cr5's Table 2 on Debian's descriptions: which packages' descriptions a held-out description finds, by name.

    PARAGLOSS_DATA=... python studies/found.py > found.md

Pairwise models of Table 1, λ = 1, by CSLS among up to 1,500 held-out descriptions; the package itself in bold.
"""

import numpy as np

from paragloss.lab.methods import cr5
from paragloss.lab.recipes.nearest import RULES, unit
from paragloss.lab.recipes.sets import drawn, in_all
from paragloss.lab.recipes.tables.cr5_table_1 import only, pages

WAYS, COUNT = (("ru", "da"), ("da", "en")), 8


def main() -> None:
    whole = pages(False)
    columns = {}
    for way in WAYS:
        model = cr5.fit([only(c, way) for c in drawn(in_all(whole.train, way), 3000, 0)])
        held = drawn(in_all(whole.test, way), 1500, 0)
        packages = [concept.id.split(":")[0] for concept in held]
        vectors = [unit(model.encode([c.texts[lang] for c in held], lang)) for lang in way]
        scores = RULES["CSLS"](*vectors)
        for asked in (len(held) // 3, len(held) * 2 // 3):  # nobody chose them
            best = np.argsort(-scores[asked])[:COUNT]
            found = [f"**{packages[i]}**" if i == asked else packages[i] for i in best]
            columns[f"{way[0]} -> {way[1]}: {packages[asked]}"] = found
    print("| " + " | ".join(columns) + " |", "|" + "---|" * len(columns), sep="\n")
    for row in zip(*columns.values(), strict=True):
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
