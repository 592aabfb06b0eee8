"""K-NRM when it is used: documents scored by soft matches of words, in numpy. Knows nothing of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss import artefacts
from paragloss.errors import LanguageError
from paragloss.serving import kernels
from paragloss.serving.bag import BagEncoder, Tower
from paragloss.types import Document, Floats, Query
from paragloss.vocabulary import Vocabulary


class Knrm:
    """A Reranker. One table of word vectors; each language's vocabulary says which row a word has."""

    def __init__(
        self,
        vocabularies: Mapping[str, Vocabulary],
        rows: Mapping[str, npt.NDArray[np.int64]],
        table: Floats,
        weight: Floats,
        bias: float,
        *,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        self.vocabularies = dict(vocabularies)
        self.rows = dict(rows)
        self.table = table  # (words, dim), rows of unit length
        #: One weight per kernel of `kernels.MEANS`; 0 for a kernel that is switched off.
        self.weight = np.asarray(weight, np.float32)
        self.bias = bias
        self.meta = dict(meta or {})

    @property
    def langs(self) -> tuple[str, ...]:
        return tuple(self.vocabularies)

    def score(self, query: Query, documents: Sequence[Document]) -> Floats:
        """Words that the model does not know are passed over; without a known word a score is tanh(bias)."""
        asked = self.ids(query.text, query.lang)
        return self.score_ids(asked, [self.ids(document.text, document.lang) for document in documents])

    def ids(self, text: str, lang: str) -> npt.NDArray[np.int64]:
        """The rows of the table that a text's words have, in reading order."""
        if lang not in self.vocabularies:
            raise LanguageError(f"this model does not know {lang!r}; it knows {', '.join(self.vocabularies)}")
        return self.rows[lang][self.vocabularies[lang].ids(text)]

    def score_ids(self, query: npt.ArrayLike, documents: Sequence[npt.ArrayLike]) -> Floats:
        """Scores of documents given as rows of the table."""
        asked, times = np.unique(np.asarray(query, np.int64), return_counts=True)
        lengths = [len(np.asarray(document)) for document in documents]
        flat = np.concatenate([np.zeros(0, np.int64), *(np.asarray(document, np.int64) for document in documents)])
        seen = np.zeros(len(self.table), bool)  # cheaper than sorting the words of a thousand documents
        seen[flat] = True
        terms = np.flatnonzero(seen)
        place = np.cumsum(seen) - 1
        counts = sp.csr_matrix(
            (np.ones(len(flat), np.float32), place[flat], np.cumsum([0, *lengths])), shape=(len(documents), len(terms))
        )
        found = kernels.features(self.table[asked], times.astype(np.float32), self.table[terms], counts)
        return np.asarray(np.tanh(found @ self.weight + self.bias), np.float32)

    def encoder(self) -> BagEncoder:
        """The word vectors as an encoder: the mean of a text's unit word vectors."""
        towers = {
            lang: Tower(vocabulary, self.table[self.rows[lang]]) for lang, vocabulary in self.vocabularies.items()
        }
        return BagEncoder(towers, weighting="mean", meta=self.meta)

    def save(self, path: str | Path) -> None:
        arrays: dict[str, Any] = {"table": self.table, "weight": self.weight}
        for lang, vocabulary in self.vocabularies.items():
            arrays |= {f"{lang}.df": vocabulary.df, f"{lang}.rows": self.rows[lang]}
        words = {f"{lang}.terms": vocabulary.terms for lang, vocabulary in self.vocabularies.items()}
        about = {lang: vocabulary.meta() for lang, vocabulary in self.vocabularies.items()}
        meta = {"bias": self.bias, "vocabularies": about, "about": self.meta}
        artefacts.save(path, "knrm", meta=meta, arrays=arrays, words=words)

    @classmethod
    def load(cls, path: str | Path) -> Knrm:
        saved = artefacts.load(path, kind="knrm")
        vocabularies = {
            lang: Vocabulary.restore(about, saved.words[f"{lang}.terms"], saved.arrays[f"{lang}.df"])
            for lang, about in saved.meta["vocabularies"].items()
        }
        rows = {lang: np.asarray(saved.arrays[f"{lang}.rows"]) for lang in vocabularies}
        arrays = saved.arrays
        return cls(vocabularies, rows, arrays["table"], arrays["weight"], saved.meta["bias"], meta=saved.meta["about"])


def load(path: str | Path) -> Knrm:
    return Knrm.load(path)
