"""Word translations learned from texts that say the same thing: parallel sentences or whole documents.

`fit` counts which words of two languages go together (see `_model1`) and keeps, for each source term, its likely
translations as words one can read. Knows nothing of searching.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import numpy.typing as npt

from paragloss import artefacts
from paragloss.analysis import analyzer
from paragloss.errors import InputError, LanguageError, ModelError
from paragloss.learning.settings import Seed, Setting, checked
from paragloss.translation._bitext import Texts, Words, places, read, shared, with_words
from paragloss.translation._model1 import Bags, Learned, learn
from paragloss.types import Aligned, Alternative, Query, Span, Translation

if TYPE_CHECKING:
    import scipy.sparse as sp

KIND = "table"
#: How much more than the model in the box a reader's own translations count, word by word.
OWN = 3.0


class Table:
    """A Translator: for every learned pair of languages, P(target term | source term).

    A query term without a translation stays as it is: names and numbers are often the same. `trust` is what it counts
    in a mixture where the model in the box counts 1.
    """

    def __init__(
        self,
        words: Mapping[str, Words],
        probabilities: Mapping[tuple[str, str], sp.csr_matrix],
        *,
        most: int = 20,
        trust: float = OWN,
    ) -> None:
        self.words = dict(words)
        self.probabilities = dict(probabilities)
        self.most, self.trust = most, trust
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

    def knows(self, term: str, lang: str) -> bool:
        """Whether an analysed term has been seen."""
        return term in self._index.get(lang, ())

    def translate(self, query: Query, to: str) -> list[Translation]:
        if (query.lang, to) not in self.probabilities:
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
        found = zip(matrix.indices[cells], matrix.data[cells], strict=True)
        return tuple(Alternative(surfaces[i], min(float(p), 1.0)) for i, p in found)[: self.most]

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
        meta = {"langs": list(self.words), "pairs": self.pairs, "most": self.most, "trust": self.trust}
        artefacts.save(path, KIND, meta=meta, arrays=arrays, words=lists)

    @classmethod
    def load(cls, path: str | Path) -> Table:
        import scipy.sparse as sp

        saved = artefacts.load(path, kind=KIND)
        words = {
            lang: Words(saved.words[f"{lang}.terms"], saved.words[f"{lang}.surfaces"]) for lang in saved.meta["langs"]
        }
        probabilities = {}
        for source, target in saved.meta["pairs"]:
            parts = [saved.arrays[f"{source}.{target}.{part}"] for part in ("probability", "target", "start")]
            shape = (len(words[source].terms), len(words[target].terms))
            probabilities[source, target] = matrix = sp.csr_matrix(tuple(parts), shape=shape, copy=False)
            matrix.check_format(full_check=True)  # a number too large would be read from anywhere
        if wrong := [lang for lang, known in words.items() if len(known.terms) != len(known.surfaces)]:
            raise ModelError(f"{path}: the word lists of {wrong[0]} differ in length: train or copy the model again")
        return cls(words, probabilities, most=int(saved.meta["most"]), trust=float(saved.meta.get("trust", OWN)))


@checked
def fit(
    aligned: Aligned,
    *,
    source: Annotated[str, Setting("Only tables from this language.")] = "",
    target: Annotated[str, Setting("Only tables into this language.")] = "",
    iterations: Annotated[int, Setting("Rounds of expectation maximisation.", least=1, most=1000)] = 5,
    diagonal: Annotated[
        float, Setting("How much words at like places belong together; 0 is not at all.", least=0, most=1000)
    ] = 4.0,
    symmetric: Annotated[
        bool, Setting("Take both directions together; drops what a rare word only stood beside.")
    ] = True,
    candidates: Annotated[int, Setting("How many translations of a word are weighed.", least=1, most=1_000_000)] = 100,
    max_terms: Annotated[int, Setting("Long documents are cut to so many terms.", least=1)] = 150,
    phrases: Annotated[bool, Setting("Learn neighbours that belong together as one term.")] = True,
    min_probability: Annotated[float, Setting("Less likely translations are dropped.", least=0, most=1)] = 0.01,
    max_alternatives: Annotated[int, Setting("The most translations kept of a word.", least=1)] = 20,
    start: Annotated[
        str, Setting('What to learn on from: "default", the model of the package, or a saved table.')
    ] = "",
    start_weight: Annotated[
        float, Setting("How many times what the start says has been met.", least=0, most=1e6)
    ] = 5.0,
    seed: Seed = 0,
) -> Table:
    """Learn a table for every two languages that share texts, in both directions.

    With `source` or `target` only the pairs that start or end there (one direction of them is kept).
    `symmetric` takes the geometric mean of P(target | source) and P(source | target), which drops words that a rare
    word only stood beside. `max_terms` cuts long documents. With `phrases`, neighbours that belong together are
    learned, and translated, as one term. `start` goes on from "default", the model in the box, or from a saved table:
    what it says of a word counts as if the word had been met `start_weight` times before, and what only it knows stays.
    `seed` is taken as every `fit` takes one; nothing here is random.
    """
    langs = sorted({lang for concept in aligned for lang in concept.texts})
    wanted = [
        (a, b) for a in langs for b in langs if a != b and source in ("", a) and target in ("", b)
    ]  # fmt: skip
    if not wanted:
        raise InputError(f"nothing to learn a table {source or 'any'}->{target or 'any'} from: texts are in {langs}")
    needed = {lang for pair in wanted for lang in pair}
    texts = {lang: read(aligned, lang, max_terms=max_terms, phrases=phrases) for lang in langs if lang in needed}
    begun = started(start, wanted) if start else None
    if begun is not None:
        texts = {lang: with_words(text, begun.words.get(lang)) for lang, text in texts.items()}
    align = partial(learn, iterations=iterations, diagonal=diagonal, candidates=candidates)
    probabilities = {}
    for a, b in combinations(sorted(needed), 2):
        both = [pair for pair in ((a, b), (b, a)) if pair in wanted]
        left, right = shared(texts[a], texts[b])
        if not both or len(left.start) < 2:
            continue
        priors = [_prior(begun, *pair, texts, start_weight) for pair in ((a, b), (b, a))]
        learned = dict(zip(((a, b), (b, a)), _both_ways(left, right, align, priors, symmetric=symmetric), strict=True))
        for pair in both:
            probabilities[pair] = prune(learned[pair], min_probability=min_probability, most=max_alternatives)
    if not probabilities:
        raise InputError(f"no text is in two of the languages {', '.join(sorted(needed))}: nothing to learn from")
    return Table({lang: text.words for lang, text in texts.items()}, probabilities, most=max_alternatives)


def _both_ways(
    left: Bags, right: Bags, align: Callable[..., Learned], priors: Sequence[sp.csr_matrix | None], *, symmetric: bool
) -> list[sp.csr_matrix]:
    """P(right | left) and P(left | right), or with `symmetric` their geometric mean, seen from either side."""
    with ThreadPoolExecutor(2) as pool:  # numpy lets go of the interpreter for most of it
        sides = ((left, right), (right, left))
        ways = [pool.submit(align, *side, prior=prior) for side, prior in zip(sides, priors, strict=True)]
        there, back = (way.result().probability for way in ways)
    if not symmetric:
        return [there, back]
    return [one.multiply(other.T).sqrt().tocsr() for one, other in ((there, back), (back, there))]


def started(start: str, pairs: Sequence[tuple[str, str]]) -> Table:
    """The model in the box as a table of some pairs, or a saved one."""
    from paragloss.translation import default  # not above: it makes tables, and is needed only here

    if start == default.KIND:
        return default.open().table(pairs)
    return default.load(start).table(pairs) if artefacts.kind_of(start) == default.KIND else Table.load(start)


def _prior(
    begun: Table | None, source: str, target: str, texts: Mapping[str, Texts], weight: float
) -> sp.csr_matrix | None:
    """What the start says of a pair, in the numbers of the texts' words."""
    import scipy.sparse as sp

    if begun is None or (source, target) not in begun.probabilities:
        return None
    cells = begun.probabilities[source, target].tocoo()
    rows, columns = (places(texts[lang].words, begun.words[lang]) for lang in (source, target))
    shape = (len(texts[source].words.terms), len(texts[target].words.terms))
    return sp.csr_matrix((weight * cells.data, (rows[cells.row], columns[cells.col])), shape=shape)


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
