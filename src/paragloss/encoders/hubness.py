"""Search an index by CSLS, which lowers documents that are near to everything (Conneau et al., ICLR 2018, eq. 7).

CSLS is 2 cos(q, d) - r(d) - r(q). r(q) never changes a ranking, so the ranking is that of cos(q, d) - r(d) / 2, one dot
product of [q, 1] with [d, -r(d) / 2]; [q, 0] gives the cosine. r(d), the mean cosine of a document with its nearest
neighbours in other languages, is computed from texts that the model was trained on: it is known when a document is
added and does not change when others are added or removed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from paragloss.encoders.bag import BagEncoder
from paragloss.ranking import neighbourhood
from paragloss.types import Aligned, Concept, Floats

NEIGHBOURS = 10
#: Words of a text that stand in for a missing title.
MAX_WORDS_OF_TITLE = 12


def reference(encoder: BagEncoder, aligned: Aligned, *, max_texts: int = 500) -> dict[str, Floats]:
    """Return query-like vectors for each language: those of up to `max_texts` titles, spread over all concepts."""
    rows = {}
    for lang in encoder.langs:
        concepts = [concept for concept in aligned if lang in concept.texts]
        step = max(1, math.ceil(len(concepts) / max_texts))
        titles = [_get_title(concept, lang) for concept in concepts[::step]]
        encoded = encoder.encode(titles, lang)
        rows[lang] = encoded[encoded.any(axis=1)]
    return rows


def _get_title(concept: Concept, lang: str) -> str:
    """Return the title of a concept in a language, or the first words of its text."""
    first_words = concept.texts[lang].split()[:MAX_WORDS_OF_TITLE]
    return concept.titles.get(lang) or " ".join(first_words)


class Documents:
    """The encoder for stored documents: its vectors have one more dimension than the model's, for -r(d) / 2."""

    def __init__(self, encoder: BagEncoder) -> None:
        self._encoder = encoder
        self.dim, self.langs = encoder.dim + 1, encoder.langs

    def cuts(self, lang: str) -> bool:
        """Tell whether `encode_terms` can be given the terms that are searched."""
        return self._encoder.cuts(lang)

    def encode(self, texts: Sequence[str], lang: str) -> Floats:
        """Return a row for each text (texts, dim)."""
        return self._with_hubness(self._encoder.encode(texts, lang), lang)

    def encode_terms(self, terms: Sequence[Sequence[str]], lang: str) -> Floats:
        """Return a row for each text, given its terms."""
        return self._with_hubness(self._encoder.encode_terms(terms, lang), lang)

    def _with_hubness(self, rows: Floats, lang: str) -> Floats:
        """Append -r(d) / 2 to each row; r(d) is averaged over the other languages."""
        references = [rows for code, rows in self._encoder.reference.items() if code != lang and len(rows)]
        hubness = np.zeros(len(rows), np.float32)
        for reference_rows in references:
            hubness += neighbourhood(rows, reference_rows, k=NEIGHBOURS) / len(references)
        return np.hstack([rows, -hubness[:, None] / 2]).astype(np.float32)


class Queries:
    """The encoder for queries: searches by CSLS, or by cosine."""

    def __init__(self, encoder: BagEncoder, *, csls: bool) -> None:
        self.model, self.csls = encoder, csls
        self.dim, self.langs = encoder.dim + 1, encoder.langs

    def encode(self, texts: Sequence[str], lang: str) -> Floats:
        """Return a row for each query (queries, dim)."""
        rows = self.model.encode(texts, lang)
        hubness_weight = np.where(rows.any(axis=1, keepdims=True), float(self.csls), 0)
        return np.hstack([rows, hubness_weight]).astype(np.float32)
