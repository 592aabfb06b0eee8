"""XCNN's Tables 3 and 4: ad-hoc search across languages; the second half of the rows asks only what models know well.

Theirs: FIRE 2011-12, English topics, Hindi news, everything learned from WMT14 sentences. Ours: MDN web docs, English
titles, pages linked both ways are relevant, everything learned from other pages; 10,000 words, 128 dimensions.
"known": queries of which four words in five are in the vocabulary (Table 4). "MT" is BM25 with a table's best word;
Spanish also has a machine, where Apertium is installed. FIRE is a part where its files are (`lab.recipes.originals`).
"""

from __future__ import annotations

from paragloss.lab.methods import table as table_method
from paragloss.lab.recipes import originals
from paragloss.lab.recipes.adhoc import MEASURES, by_pipeline, by_vectors, measured, pages
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.tables.xcnn_table_1 import ALIKE, MACHINE, METHODS, has_machine
from paragloss.lab.recipes.tables.xcnn_table_2 import FIRE
from paragloss.types import Run
from paragloss.vocabulary import Vocabulary

MINUTES, DATA, COLUMNS = 40, ("mdn/fr.jsonl.gz", "mdn/mutual_links.tsv.gz"), MEASURES
PARTS = ("en-fr", "en-zh", "en-ru", "en-es")
ORIGINALS = {"fire en-hi": (*FIRE, "fire/topics.en")}


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    name, _, lang = part.rpartition("en-")
    made = originals.fire("en", smoke=smoke) if name else pages("en", lang, smoke=smoke)
    train = made.train(seed)
    runs: dict[str, Run] = {}
    for name, (fit, settings) in METHODS.items():
        runs[name] = by_vectors(fit(train, seed=seed, **ALIKE, **settings), made)
    runs["MT"] = by_pipeline(made, "table:best", [("table", table_method.fit(train))])
    if has_machine(lang):
        runs[MACHINE] = by_pipeline(made, "mt:apertium")
    vocabulary, _ = Vocabulary.build([c.texts["en"] for c in train], "en", min_df=2, max_terms=10_000)
    known = []
    for query in made.queries:
        missing, there = len(vocabulary.unknown(query.text)), len(vocabulary.ids(query.text))
        known += [query.id] if there >= 4 * missing and there else []
    rows: Measured = {name: measured(made, run) for name, run in runs.items()}
    return rows | {f"{name}, known": measured(made, run, known) for name, run in runs.items() if known}
