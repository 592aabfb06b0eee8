"""CSLS on an index: documents that are near to everything are held back (Conneau et al., ICLR 2018, eq. 7).

CSLS is 2 cos(q, d) - r(d) - r(q). r(q) never changes a ranking, so the ranking is that of cos(q, d) - r(d) / 2, one dot
product of [q, 1] with [d, -r(d) / 2]; [q, 0] asks for the cosine. r(d), the mean cosine of a document with its nearest
neighbours in other languages, is taken over what the model was trained on: it is known when a document is added, and
stays true whatever else is added or removed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paragloss.encoders.bag import BagEncoder
from paragloss.ranking import neighbourhood
from paragloss.types import Aligned, Floats

NEIGHBOURS = 10
#: Words of a text that stand in for a title where there is none.
_WORDS = 12


def reference(encoder: BagEncoder, aligned: Aligned, *, most: int = 500) -> dict[str, Floats]:
    """What queries look like, for each language: the vectors of titles, evenly spread over the training concepts."""
    rows = {}
    for lang in encoder.langs:
        having = [concept for concept in aligned if lang in concept.texts]
        spread = having[:: max(1, -(-len(having) // most))]
        texts = [c.titles.get(lang) or " ".join(c.texts[lang].split()[:_WORDS]) for c in spread]
        encoded = encoder.encode(texts, lang)
        rows[lang] = encoded[encoded.any(axis=1)]
    return rows


class Documents:
    """The encoder documents are stored with: one more dimension than the model's, for -r(d) / 2."""

    def __init__(self, encoder: BagEncoder) -> None:
        self._encoder = encoder
        self.dim, self.langs = encoder.dim + 1, encoder.langs

    def cuts(self, lang: str) -> bool:
        return self._encoder.cuts(lang)

    def encode(self, texts: Sequence[str], lang: str) -> Floats:
        return self._with_hubness(self._encoder.encode(texts, lang), lang)

    def encode_terms(self, terms: Sequence[Sequence[str]], lang: str) -> Floats:
        return self._with_hubness(self._encoder.encode_terms(terms, lang), lang)

    def _with_hubness(self, rows: Floats, lang: str) -> Floats:
        others = [near for other, near in self._encoder.reference.items() if other != lang and len(near)]
        hubness = np.zeros(len(rows), np.float32)
        for near in others:
            hubness += neighbourhood(rows, near, k=NEIGHBOURS) / len(others)
        return np.hstack([rows, -hubness[:, None] / 2]).astype(np.float32)


class Queries:
    """The encoder queries are asked with: by CSLS, or by cosine."""

    def __init__(self, encoder: BagEncoder, *, csls: bool) -> None:
        self.model, self.csls = encoder, csls
        self.dim, self.langs = encoder.dim + 1, encoder.langs

    def encode(self, texts: Sequence[str], lang: str) -> Floats:
        rows = self.model.encode(texts, lang)
        last = np.where(rows.any(axis=1, keepdims=True), float(self.csls), 0)
        return np.hstack([rows, last]).astype(np.float32)
