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


def encode_reference_titles(encoder: BagEncoder, aligned: Aligned, *, max_texts: int = 500) -> dict[str, Floats]:
    """Encode titles of training texts as examples of queries, by which the hubness of documents is measured.

    :param aligned: the training texts, by concept
    :param max_texts: how many titles of each language are encoded at most; they are spread over all concepts
    :return: language -> a vector for each title with a known word, (titles, dim)
    """
    vectors_by_lang = {}
    for lang in encoder.langs:
        concepts = [concept for concept in aligned if lang in concept.texts]
        step = max(1, math.ceil(len(concepts) / max_texts))
        titles = [_get_title(concept, lang) for concept in concepts[::step]]
        vectors = encoder.encode(titles, lang)
        has_known_word = vectors.any(axis=1)
        vectors_by_lang[lang] = vectors[has_known_word]
    return vectors_by_lang


def _get_title(concept: Concept, lang: str) -> str:
    """Return the title of a concept in a language, or the first words of its text."""
    first_words = concept.texts[lang].split()[:MAX_WORDS_OF_TITLE]
    return concept.titles.get(lang) or " ".join(first_words)


class DocumentEncoder:
    """The encoder for stored documents: its vectors have one more dimension than the model's, for -r(d) / 2."""

    def __init__(self, encoder: BagEncoder) -> None:
        self._encoder = encoder
        self.dim, self.langs = encoder.dim + 1, encoder.langs

    def encode(self, texts: Sequence[str], lang: str) -> Floats:
        """Return a row for each text (texts, dim)."""
        return self._append_hubness(self._encoder.encode(texts, lang), lang)

    def _append_hubness(self, vectors: Floats, lang: str) -> Floats:
        """Append -r(d) / 2 to the vector of each document, (documents, dim): (documents, dim + 1).

        r(d) is the mean cosine of a document with its nearest reference queries, averaged over all languages but its
        own; it is 0 if there are no reference queries.

        :param lang: the language of the documents
        """
        queries_by_lang = self._encoder.reference.items()
        other_queries = [queries for code, queries in queries_by_lang if code != lang and len(queries)]
        hubness = np.zeros(len(vectors), np.float32)  # (documents,)
        for queries in other_queries:
            hubness += neighbourhood(vectors, queries, k=NEIGHBOURS) / len(other_queries)
        column = -hubness[:, None] / 2
        return np.hstack([vectors, column]).astype(np.float32)


class QueryEncoder:
    """The encoder for queries: searches by CSLS, or by cosine."""

    def __init__(self, encoder: BagEncoder, *, csls: bool) -> None:
        self.model, self.csls = encoder, csls
        self.dim, self.langs = encoder.dim + 1, encoder.langs

    def encode(self, texts: Sequence[str], lang: str) -> Floats:
        """Return a row for each query (queries, dim)."""
        rows = self.model.encode(texts, lang)
        hubness_weight = np.where(rows.any(axis=1, keepdims=True), float(self.csls), 0)
        return np.hstack([rows, hubness_weight]).astype(np.float32)
