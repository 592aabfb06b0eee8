"""What each map between word spaces gains by unit length and by centring: P@1 of documents by cosine, there and back.

    PARAGLOSS_DATA=... python studies/centring.py ddtp it

The pages of `paragloss recipes linear-maps`, seed 0, 300 queries; docs/understand/papers/linear.md has what came of it.
"""

import sys

import numpy as np

from paragloss.lab.learning import monolingual
from paragloss.lab.learning.counting import count, text_of
from paragloss.lab.methods import alignment
from paragloss.lab.recipes.nearest import places
from paragloss.lab.recipes.sets import drawn, in_all, split
from paragloss.lab.solving import maps

WAYS = {
    "as they are": lambda rows: np.asarray(rows, np.float32),
    "centred": maps.without_mean,
    "unit length": maps.unit,
    "unit length, centred, unit length": maps.centred,
}


def main(name: str, lang: str) -> None:
    learned, held = (in_all(some, ["en", lang]) for some in split(name, ["en", lang]))
    train, test = drawn(learned, min(1200, len(learned) * 9 // 10), 0), drawn(held, 300, 0)
    counted, _ = count(train, stem=False, lengths=(1, 10**9))
    vectors = {
        of: monolingual.train((text_of(c, of) for c in train), counted[of].vocabulary, dim=300) for of in ("en", lang)
    }
    alignment.health = lambda *_, **__: {"agreement": 1.0, "mutual": 0, "chance": 0.0}  # an alarm, no part of a map
    for method in ("least-squares", "cca", "orthogonal", "svd", "procrustes"):
        for way, prepared in WAYS.items():
            alignment._prepared = lambda rows, _, prepared=prepared: prepared(rows)
            model = alignment.fit(train, method=method, vectors=vectors)
            rows = {of: model.encode([text_of(c, of) for c in test], of) for of in ("en", lang)}
            there, back = (places(rows[a], rows[b], range(len(test))) for a, b in (("en", lang), (lang, "en")))
            print(f"{method}, {way}: {(there == 1).mean():.3f}, back {(back == 1).mean():.3f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:3])
