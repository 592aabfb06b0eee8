"""XCNN's Table 2: search within one language, BM25 and the monolingual half of XCNN.

Theirs: FIRE 2011-12, Hindi, 100 topics. Ours: MDN web docs; titles ask, pages that link with the page both ways are
relevant, the page itself is taken out. XCNN has 10,000 words and 128 dimensions; BM25 those words as there, or all.
FIRE itself is a part where its files are (`lab.recipes.originals`).
"""

from __future__ import annotations

from paragloss.lab.methods import xcnn
from paragloss.lab.recipes import originals
from paragloss.lab.recipes.adhoc import MEASURES, by_pipeline, by_vectors, measured, only_words, pages
from paragloss.lab.recipes.runner import Measured

FIRE = ("fire/hi", "fire/topics.hi", "fire/qrels", "wmt14/*.en", "wmt14/*.hi")
MINUTES, DATA, COLUMNS = 10, ("mdn/fr.jsonl.gz", "mdn/mutual_links.tsv.gz"), MEASURES
PARTS, ORIGINALS = ("fr", "zh", "ru", "es"), {"fire hi": FIRE}


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    name, _, part = part.rpartition(" ")
    made = originals.fire(part, smoke=smoke) if name else pages(part, part, smoke=smoke)
    hub_epochs = 1 if smoke else 5
    model = xcnn.fit(made.train(seed), hub=part, dim=128, max_terms=10_000, epochs=0, hub_epochs=hub_epochs, seed=seed)
    known = set(model.tower(part).vocabulary.terms)
    return {
        "BM25, all words": measured(made, by_pipeline(made, "bm25")),
        "BM25": measured(made, by_pipeline(only_words(made, known), "bm25")),
        "mono-XCNN": measured(made, by_vectors(model, made)),
    }
