"""K-NRM when it is used: documents scored by soft matches of words, in numpy. Knows nothing of training."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss import artefacts
from paragloss.encoders import kernel_features
from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import LanguageError
from paragloss.types import Document, Floats, Query
from paragloss.vocabulary import Vocabulary

#: Texts whose words are remembered: cutting text takes longer than scoring it, and good documents are found again.
_REMEMBERED = 20_000
#: How many of the best scores say by how much scores differ.
_BEST = 30


class Words(NamedTuple):
    """A text as K-NRM reads it."""

    ids: npt.NDArray[np.int32]  # rows of the table, in reading order
    vocabulary: Vocabulary
    known: frozenset[int]
    others: frozenset[str]  # words that the vocabulary does not have

    def has(self, term: str) -> bool:
        place = self.vocabulary.index.get(term)
        return term in self.others if place is None else place in self.known


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
        title: npt.ArrayLike | None = None,
        trust: npt.ArrayLike = (0.0, 0.0, 0.0),
        alike: npt.ArrayLike = (0.0, 0.0),
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        self.vocabularies = dict(vocabularies)
        self.rows = dict(rows)
        self.table = table  # (words, dim), rows of unit length
        #: One weight per kernel of `kernels.MEANS`; 0 for a kernel that is switched off.
        self.weight = np.asarray(weight, np.float32)
        #: The same for what the kernels feel of titles alone.
        self.title = np.zeros_like(self.weight) if title is None else np.asarray(title, np.float32)
        self.bias = bias
        #: How far the search before is trusted: one weight for each column of `standing`.
        self.trust = np.asarray(trust, np.float32)
        #: What it counts that a text, and that a title, has the query's words as they stand: names and identifiers, for
        #: which there may be no vector.
        self.alike = np.asarray(alike, np.float32)
        self.meta = dict(meta or {})
        self._remembered: dict[tuple[str, bytes], Words] = {}

    @property
    def langs(self) -> tuple[str, ...]:
        return tuple(self.vocabularies)

    def score(self, query: Query, documents: Sequence[Document]) -> Floats:
        """What the paper puts through tanh: that changes no order, but would make equals of all sure documents.

        Kernels pass over words that the model does not know; without a known word they give the bias.
        """
        asked = self.ids(query.text, query.lang)
        read = [self._again(document.whole, document.lang) for document in documents]
        scores = self.score_ids(asked, [words.ids for words in read])
        if self.title.any() or self.alike.any():
            # A document without a title is all there is to go by: to feel nothing would pass for a perfect match.
            names = [self._again(document.title or document.text, document.lang) for document in documents]
            scores += self.features_ids(asked, [words.ids for words in names]) @ self.title
            scores += self.shared(query.text, query.lang, [read, names]) @ self.alike
        return scores

    def shared(self, text: str, lang: str, parts: Sequence[Sequence[Words]]) -> Floats:
        """Which share of a query's words, the rarer counting for more, stands in each of some texts as it is asked:
        (texts, parts)."""
        weights = self._rarity(text, lang)
        found = [[sum(w for term, w in weights.items() if words.has(term)) for words in part] for part in parts]
        return np.asarray(found, np.float32).reshape(len(parts), -1).T

    def _rarity(self, text: str, lang: str) -> dict[str, float]:
        """The words of a query and how rare they are, as shares of one."""
        vocabulary = self.vocabularies[lang]
        ids, others = vocabulary.split(text)
        rarest = np.log(max(vocabulary.documents, 1)) + 1  # what has not been met is as rare as can be
        weights = {vocabulary.terms[i]: float(vocabulary.idf[i]) for i in set(ids)} | dict.fromkeys(others, rarest)
        total = sum(weights.values()) or 1.0
        return {term: weight / total for term, weight in weights.items()}

    def rescore(self, query: Query, documents: Sequence[Document], scores: Floats) -> Floats:
        """`score`, and as much of what the search before said as it has proved to be worth."""
        return np.asarray(self.score(query, documents) + standing(scores) @ self.trust, np.float32)

    def ids(self, text: str, lang: str) -> npt.NDArray[np.int64]:
        """The rows of the table that a text's words have, in reading order."""
        return self.words(text, lang).ids.astype(np.int64)

    def words(self, text: str, lang: str) -> Words:
        """The rows of a text's words, and those that have none."""
        if lang not in self.vocabularies:
            raise LanguageError(f"this model does not know {lang!r}; it knows {', '.join(self.vocabularies)}")
        vocabulary = self.vocabularies[lang]
        ids, others = vocabulary.split(text)
        return Words(self.rows[lang][ids].astype(np.int32), vocabulary, frozenset(ids), frozenset(others))

    def _again(self, text: str, lang: str) -> Words:
        """`words`, remembered for texts met before."""
        key = (lang, hashlib.blake2b(text.encode(errors="replace"), digest_size=16).digest())
        if key not in self._remembered:
            if len(self._remembered) >= _REMEMBERED:
                del self._remembered[next(iter(self._remembered))]
            self._remembered[key] = self.words(text, lang)
        return self._remembered[key]

    def score_ids(self, query: npt.ArrayLike, documents: Sequence[npt.ArrayLike]) -> Floats:
        """Scores of documents given as rows of the table."""
        return np.asarray(self.features_ids(query, documents) @ self.weight + self.bias, np.float32)

    def features_ids(self, query: npt.ArrayLike, documents: Sequence[npt.ArrayLike]) -> Floats:
        """What the kernels feel, for documents given as rows of the table: (documents, kernels)."""
        import scipy.sparse as sp

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
        return kernel_features.features(self.table[asked], times.astype(np.float32), self.table[terms], counts)

    def by_kernel(self, query: Query, document: Document) -> list[tuple[str, str, str, float]]:
        """What `score` is the sum of: for each word of the query and each kernel what the kernel felt, with the word of
        the document it felt most and the kernel's name; each word that stands there as it is asked; and the bias, for
        no word."""
        found = [("", "", "bias", float(self.bias))]
        rarity = self._rarity(query.text, query.lang)
        for weight, alike, text, of in (
            (self.weight, float(self.alike[0]), document.whole, ""),
            (self.title, float(self.alike[1]), document.title or document.text, " of titles"),
        ):
            words = self.words(text, document.lang)
            found += [
                (term, term, f"as it stands{of}", alike * share)
                for term, share in rarity.items()
                if alike and words.has(term)
            ]
            asked, there = self.ids(query.text, query.lang), words.ids
            if not weight.any() or not len(there):
                continue
            activations = kernel_features.responses((self.table[asked] @ self.table[there].T).astype(np.float32))
            given = (
                np.log(np.maximum(activations.sum(axis=1), kernel_features.FLOOR)) * kernel_features.SCALE * weight
            )  # (asked, kernels)
            nearest = activations.argmax(axis=1)  # (asked, kernels)
            ours, theirs = self._terms(query.text, query.lang), self._terms(text, document.lang)
            found += [
                (ours[i], theirs[nearest[i, kernel]], f"kernel {mean:+.1f}{of}", float(given[i, kernel]))
                for i in range(len(asked))
                for kernel, mean in enumerate(kernel_features.MEANS)
                if weight[kernel]
            ]
        return found

    def _terms(self, text: str, lang: str) -> list[str]:
        """The terms that `ids` gives rows of."""
        vocabulary = self.vocabularies[lang]
        return [vocabulary.terms[i] for i in vocabulary.ids(text)]

    def encoder(self) -> BagEncoder:
        """The word vectors as an encoder: the mean of a text's unit word vectors."""
        towers = {
            lang: Tower(vocabulary, self.table[self.rows[lang]]) for lang, vocabulary in self.vocabularies.items()
        }
        return BagEncoder(towers, weighting="mean", meta=self.meta)

    def save(self, path: str | Path) -> None:
        arrays: dict[str, Any] = {"table": self.table, "weight": self.weight, "title": self.title}
        for lang, vocabulary in self.vocabularies.items():
            arrays |= {f"{lang}.df": vocabulary.df, f"{lang}.rows": self.rows[lang]}
        words = {f"{lang}.terms": vocabulary.terms for lang, vocabulary in self.vocabularies.items()}
        about = {lang: vocabulary.meta() for lang, vocabulary in self.vocabularies.items()}
        learned = {"bias": self.bias, "trust": self.trust.tolist(), "alike": self.alike.tolist()}
        meta = {**learned, "vocabularies": about, "about": self.meta}
        artefacts.save(path, "knrm", meta=meta, arrays=arrays, words=words)

    @classmethod
    def load(cls, path: str | Path) -> Knrm:
        saved = artefacts.load(path, kind="knrm")
        vocabularies = {
            lang: Vocabulary.restore(about, saved.words[f"{lang}.terms"], saved.arrays[f"{lang}.df"])
            for lang, about in saved.meta["vocabularies"].items()
        }
        rows = {lang: np.asarray(saved.arrays[f"{lang}.rows"]) for lang in vocabularies}
        arrays, meta = saved.arrays, saved.meta
        return cls(
            vocabularies,
            rows,
            arrays["table"],
            arrays["weight"],
            float(meta["bias"]),
            title=arrays.get("title"),
            trust=meta.get("trust", (0.0, 0.0, 0.0)),
            alike=meta.get("alike", (0.0, 0.0)),
            meta=meta["about"],
        )


def standing(scores: npt.ArrayLike) -> Floats:
    """How documents stood in a search, whatever the scale of its scores: (documents, 3).

    How far each is below the best, in units of how much the scores of the best thirty differ, so that it does not
    depend on how many more were found; minus the logarithm of its place; and for the best one its lead over the
    next, by which a sure search is known from an unsure one.
    """
    values = np.asarray(scores, np.float64)
    if not len(values):
        return np.zeros((0, 3), np.float32)
    spread = np.sort(values)[-_BEST:].std()
    below = (values - values.max()) / spread if spread > 0 else np.zeros(len(values))
    place = np.empty(len(values))
    order = np.argsort(-values, kind="stable")
    place[order] = np.arange(1, len(values) + 1)
    lead = np.zeros(len(values))
    if len(values) > 1:
        lead[order[0]] = -below[order[1]]
    return np.stack([below, -np.log(place), lead], axis=1).astype(np.float32)


def load(path: str | Path) -> Knrm:
    return Knrm.load(path)
