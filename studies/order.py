"""What the order of rows depends on where ours is not a paper's: one thing varied at a time.

    PARAGLOSS_DATA=... python studies/order.py xcnn | maps | losses

docs/understand/papers/order.md says what came of it. xcnn: OPCA and XCNN on sentences en-fr by pairs, width,
vocabulary, candidates and what the hub learns from. maps: Cr5 and an orthogonal map on sentences en-it by descriptions
learned from. losses: SOSL and the three-part loss on MDN en-fr by pages.
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from paragloss.formats.dictionaries import read_pairs
from paragloss.lab.learning import monolingual
from paragloss.lab.learning.counting import count, text_of
from paragloss.lab.methods import alignment, cr5, opca, ordinal, xcnn
from paragloss.lab.recipes.nearest import across
from paragloss.lab.recipes.sets import drawn, folder, in_all, sentences, split
from paragloss.lab.recipes.tables.cr5_table_3 import TAUGHT
from paragloss.lab.recipes.tables.smooth_table_2 import divided, scored
from paragloss.lab.recipes.tables.xcnn_table_1 import told
from paragloss.types import Concept

PLAIN = {
    "pairs": 4000,
    "dim": 128,
    "max_terms": 10_000,
    "wanted": 500,
    "more": 0,
    "negatives": 10,
    "hub_epochs": 5,
    "seed": 0,
}
VARIED = (
    {}, {"seed": 1}, {"seed": 2}, {"pairs": 1000}, {"pairs": 12_000}, {"pairs": 12_000, "seed": 1},
    {"pairs": 12_000, "seed": 2}, {"pairs": 20_000}, {"dim": 32}, {"max_terms": 1000}, {"wanted": 2000},
    {"negatives": 1}, {"hub_epochs": 0}, {"more": 20_000},
)  # fmt: skip


def by_xcnn() -> Iterator[tuple[str, dict[str, float]]]:
    whole = sentences("fr")
    for changed in VARIED:
        how = {**PLAIN, **changed}
        train = told(drawn(whole.train, how["pairs"], how["seed"]), ["en", "fr"])
        test = drawn(whole.test, how["wanted"], 0)
        known = {concept.id for concept in train}
        more = [c.texts["en"] for c in drawn([c for c in whole.train if c.id not in known], how["more"], 1)]
        alike = {"dim": how["dim"], "max_terms": how["max_terms"], "seed": how["seed"]}
        own = {"hub": "en", "negatives": how["negatives"], "hub_epochs": how["hub_epochs"], "monolingual": more}
        models = {"OPCA": opca.fit(train, **alike), "XCNN": xcnn.fit(train, **alike, **own)}
        found = {name: float(np.mean(across(model, test, "en", "fr")["RR"])) for name, model in models.items()}
        yield ", ".join(f"{key} {value}" for key, value in changed.items()) or "as in the table", found


def by_maps() -> Iterator[tuple[str, dict[str, float]]]:
    learned = in_all(split("ddtp", ["en", "it"]).train, ["en", "it"])
    like, test = sentences("it").train, drawn(sentences("it").test, 1000, 0)
    pairs = [(entry.source, entry.target) for entry in read_pairs(folder() / "muse" / "en-it.tsv.gz")][:TAUGHT]
    taught: dict[str, Any] = {"method": "orthogonal", "dictionary": {("en", "it"): pairs}}
    for most in (1000, 4000, 12_000):
        train = drawn(learned, most, 0)
        models = {"orthogonal": alignment.fit(train, dim=200, **taught), "Cr5": cr5.fit(train, stem=False)}
        yield f"{len(train)} descriptions", _found(models, test)
    # Each language's own sentences, never which is whose translation.
    counted, _ = count(like, stem=False, min_df=3)
    vectors = {
        lang: monolingual.train((text_of(c, lang) for c in like), counted[lang].vocabulary, dim=200)
        for lang in ("en", "it")
    }
    model = alignment.fit(drawn(learned, 4000, 0), vectors=vectors, **taught)
    yield f"4000 descriptions, vectors from {len(like)} sentences", _found({"orthogonal": model}, test)


def _found(models: dict[str, Any], test: list[Concept]) -> dict[str, float]:
    return {name: float(across(model, test, "en", "it", rule="CSLS")["P@1"]) for name, model in models.items()}


def by_losses() -> Iterator[tuple[str, dict[str, float]]]:
    for pages in (500, 1500, 4000):
        train, valid, test = divided("fr", 0, pages=pages)
        found = {}
        for name, loss in (("SOSL", "sosl"), ("3-part", "three-part")):
            model = ordinal.fit_judged(train, validation=[valid], loss=loss, epochs=12)
            found[name] = float(np.mean(list(scored(model, test, ["nDCG@5"])["nDCG@5"].values())))
        yield f"{pages} pages", found


if __name__ == "__main__":
    for row, values in {"xcnn": by_xcnn, "maps": by_maps, "losses": by_losses}[sys.argv[1]]():
        print(row, {name: round(value, 3) for name, value in values.items()}, flush=True)
