"""XCNN by conjugate gradients and BAE with three layers, as their paper has them, beside Adam and one layer.

    PARAGLOSS_DATA=... python recipes/xcnn_modes.py [LANG]

Tatoeba's sentence pairs with English, 4,000 to learn from (BAE: 3,000), 1,000 others to be found among each other.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence

import numpy as np
from sets import sentences

from paragloss.models import bae, xcnn
from paragloss.types import Concept, Encoder

PAPER = {"optimizer": "cg", "hub_loss": "difference", "negatives": 1, "hub_bias": -1.0, "bias": -1.5, "patience": 5}
XCNN = {
    "XCNN, Adam": {},
    "XCNN, conjugate gradients": {"optimizer": "cg", "epochs": 10, "patience": 5},
    "XCNN in the paper's own mode": {**PAPER, "hub_epochs": 10, "epochs": 15, "max_terms": 10_000},
}
BAE = {
    "BAE, one layer": {},
    "BAE, three layers, bottom one a machine first": {"layers": 3},
    "BAE, three layers, all machines first": {"layers": 3, "pretraining_layers": 3},
}


def measured(model: Encoder, test: Sequence[Concept], lang: str) -> tuple[float, float]:
    """P@1 and RR; ties count against the right one."""
    left, right = (model.encode([c.texts[code] for c in test], code) for code in ("en", lang))
    scores = left @ right.T
    place = (scores >= scores.diagonal()[:, None]).sum(1)
    return float(np.mean(place == 1)), float(np.mean(1 / place))


def main() -> None:
    lang = sys.argv[1] if len(sys.argv) > 1 else "hi"
    parts = sentences(lang)
    pairs = [*parts.train, *parts.test]
    random.Random(1).shuffle(pairs)
    test, train = pairs[:1000], pairs[1000:5000]
    for name, settings in XCNN.items():
        p, rr = measured(xcnn.fit(train, hub="en", **settings), test, lang)
        print(f"{name:50} {p:.3f} {rr:.3f}", flush=True)
    for name, settings in BAE.items():
        p, rr = measured(bae.fit(train[:3000], max_terms=3000, **settings), test, lang)
        print(f"{name:50} {p:.3f} {rr:.3f}", flush=True)


if __name__ == "__main__":
    main()
