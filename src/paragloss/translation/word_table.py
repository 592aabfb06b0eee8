"""Word translations as tables: for each source term its likely translations, as words one can read. How they are
learned is not known here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss import artefacts
from paragloss.analysis import analyzer
from paragloss.errors import LanguageError, ModelError
from paragloss.types import Alternative, Query, Span, Translation

if TYPE_CHECKING:
    import scipy.sparse as sp

KIND = "table"
#: How much more than the model in the box a reader's own translations count, word by word.
USER_TABLE_TRUST = 3.0
#: Less likely translations are dropped where a table is sharp.
_LEAST = 0.01


class TermSpellings(NamedTuple):
    """The terms of one language and how each is most often written."""

    terms: list[str]
    surfaces: list[str]


class Table:
    """A Translator: for every learned pair of languages, P(target term | source term).

    A query term without a translation stays as it is: names and numbers are often the same. `trust` is what it counts
    in a mixture where the model in the box counts 1. Probabilities are raised to `sharpness` when they are asked for:
    above 1, what is likely becomes likelier and chance falls away.
    """

    def __init__(
        self,
        words: Mapping[str, TermSpellings],
        probabilities: Mapping[tuple[str, str], sp.csr_matrix],
        *,
        most: int = 20,
        trust: float = USER_TABLE_TRUST,
        sharpness: float = 1.0,
    ) -> None:
        self.words = dict(words)
        self.probabilities = dict(probabilities)
        self.most, self.trust, self.sharpness = most, trust, sharpness
        self._index = {lang: {term: i for i, term in enumerate(w.terms)} for lang, w in self.words.items()}

    @property
    def meta(self) -> dict[str, dict[str, int]]:
        """How many translations there are in each direction; shown by `paragloss info`."""
        return {"translations": {f"{a}->{b}": int(self.probabilities[a, b].nnz) for a, b in self.pairs}}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return sorted(self.probabilities)

    @property
    def langs(self) -> tuple[str, ...]:
        """The languages it can be asked in."""
        return tuple(sorted({source for source, _ in self.probabilities}))

    def knows(self, source: str, target: str) -> bool:
        return (source, target) in self.probabilities

    def has_term(self, term: str, lang: str) -> bool:
        """Whether an analysed term has been seen."""
        return term in self._index.get(lang, ())

    def translate(self, query: Query, to: str) -> list[Translation]:
        if not self.knows(query.lang, to):
            have = ", ".join(f"{a}->{b}" for a, b in self.pairs)
            learn_it = "paragloss train table FILE... --out TABLE learns one"
            raise LanguageError(f"no table for {query.lang}->{to}; have {have} ({learn_it})")
        spans = analyzer(query.lang).spans(query.text)
        translations = []
        place = 0
        while place < len(spans):
            length = 2 if self._is_phrase(spans[place : place + 2], query.lang, to) else 1
            term = " ".join(span.term for span in spans[place : place + length])
            written = query.text[spans[place].start : spans[place + length - 1].end]
            found = self.alternatives(term, query.lang, to)
            translations.append(Translation(written, found or (Alternative(written, 1.0),)))
            place += length
        return translations

    def _is_phrase(self, spans: Sequence[Span], source: str, target: str) -> bool:
        return len(spans) == 2 and bool(self.alternatives(f"{spans[0].term} {spans[1].term}", source, target))

    def alternatives(self, term: str, source: str, target: str) -> tuple[Alternative, ...]:
        """What one analysed term may be, best first; empty when it was not learned."""
        row = self._index[source].get(term)
        if row is None:
            return ()
        matrix, surfaces = self.probabilities[source, target], self.words[target].surfaces
        cells = slice(matrix.indptr[row], matrix.indptr[row + 1])
        weights = matrix.data[cells]
        if self.sharpness != 1 and len(weights):
            weights = weights.astype(np.float64) ** self.sharpness
            weights[weights < _LEAST * weights.sum()] = 0.0
            weights /= weights.sum() or 1.0
        found = zip(matrix.indices[cells], weights.tolist(), strict=True)
        return tuple(Alternative(surfaces[i], min(p, 1.0)) for i, p in found if p)[: self.most]

    def without(self, word: str, meaning: str) -> tuple[Table, int]:
        """The table without a word being another, in both directions, and how many entries that were."""
        struck, rest = 0, {}
        for (source, target), matrix in self.probabilities.items():
            data, spelled = matrix.data.copy(), [[s.lower() for s in self.words[x].surfaces] for x in (source, target)]
            for one, other in ((word.lower(), meaning.lower()), (meaning.lower(), word.lower())):
                for row in [i for i, text in enumerate(spelled[0]) if text == one]:
                    cells = range(matrix.indptr[row], matrix.indptr[row + 1])
                    there = [cell for cell in cells if spelled[1][matrix.indices[cell]] == other]
                    data[there] = 0.0
                    struck += len(there)
            kept = type(matrix)((data, matrix.indices, matrix.indptr), shape=matrix.shape)
            rest[source, target] = _scaled(kept).astype(np.float32)
        return Table(self.words, rest, most=self.most, trust=self.trust, sharpness=self.sharpness), struck

    def save(self, path: str | Path) -> None:
        arrays: dict[str, npt.NDArray[np.generic]] = {}
        lists: dict[str, Sequence[str]] = {}
        for lang, words in self.words.items():
            lists[f"{lang}.terms"], lists[f"{lang}.surfaces"] = words.terms, words.surfaces
        for (source, target), matrix in self.probabilities.items():
            name = f"{source}.{target}"
            arrays[f"{name}.start"] = matrix.indptr
            arrays[f"{name}.target"] = matrix.indices
            arrays[f"{name}.probability"] = matrix.data
        counts = {"most": self.most, "trust": self.trust, "sharpness": self.sharpness}
        meta = {"langs": list(self.words), "pairs": self.pairs, **counts}
        artefacts.save(path, KIND, meta=meta, arrays=arrays, words=lists)

    @classmethod
    def load(cls, path: str | Path) -> Table:
        import scipy.sparse as sp

        saved = artefacts.load(path, kind=KIND)
        words = {
            lang: TermSpellings(saved.words[f"{lang}.terms"], saved.words[f"{lang}.surfaces"])
            for lang in saved.meta["langs"]
        }
        probabilities = {}
        for source, target in saved.meta["pairs"]:
            parts = [saved.arrays[f"{source}.{target}.{part}"] for part in ("probability", "target", "start")]
            shape = (len(words[source].terms), len(words[target].terms))
            probabilities[source, target] = matrix = sp.csr_matrix(tuple(parts), shape=shape, copy=False)
            matrix.check_format(full_check=True)  # a number too large would be read from anywhere
        if wrong := [lang for lang, known in words.items() if len(known.terms) != len(known.surfaces)]:
            raise ModelError(f"{path}: the word lists of {wrong[0]} differ in length: train or copy the model again")
        counts = {
            name: float(saved.meta.get(name, older))
            for name, older in (("trust", USER_TABLE_TRUST), ("sharpness", 1.0))
        }
        return cls(words, probabilities, most=int(saved.meta["most"]), **counts)


def prune(weights: sp.csr_matrix, *, min_probability: float, most: int) -> sp.csr_matrix:
    """Rows scaled to sum to one, then only the `most` entries of at least `min_probability`, best first, rescaled."""
    import scipy.sparse as sp

    weights = _scaled(weights)
    row = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    order = np.lexsort((weights.indices, -weights.data, row))
    rank = np.arange(len(order)) - np.repeat(weights.indptr[:-1], np.diff(weights.indptr))
    kept = order[(rank < most) & (weights.data[order] >= min_probability)]
    start = np.concatenate([[0], np.cumsum(np.bincount(row[kept], minlength=weights.shape[0]))])
    pruned = sp.csr_matrix((weights.data[kept], weights.indices[kept], start), shape=weights.shape)
    scaled = _scaled(pruned)
    return sp.csr_matrix((scaled.data.astype(np.float32), scaled.indices.astype(np.int32), start), shape=scaled.shape)


def _scaled(matrix: sp.csr_matrix) -> sp.csr_matrix:
    import scipy.sparse as sp

    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    mass = np.bincount(row, matrix.data, minlength=matrix.shape[0])[row]
    data = np.divide(matrix.data, mass, out=np.zeros(len(mass)), where=mass > 0)
    return sp.csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)


load = Table.load
