"""Where word vectors start: those of other makers, laid over the terms of a vocabulary. Knows nothing of learning."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from paragloss.errors import ModelError
from paragloss.types import Floats
from paragloss.vocabulary import Vocabulary, by_term


def lay(
    table: Floats,
    vocabulary: Vocabulary,
    known: Mapping[str, Floats],
    *,
    rows: npt.NDArray[np.int64] | None = None,
) -> float:
    """Put the vectors of `known` words, the commonest first, into the `table` rows of the terms they become; `rows`
    says which row each term has, where that is not its number. A word that is spelled as a term is speaks for it alone:
    vectors may have been learned from stems. Returns the share of terms found, each counted in as many documents as
    it stands in: how much of a text there is a vector for."""
    if not known:
        return 0.0
    word, first = next(iter(known.items()))
    if len(first) != table.shape[1]:
        raise ModelError(f"the vector of {word!r} has {len(first)} dimensions; set dim to that, not {table.shape[1]}")
    terms, vectors = by_term(list(known), np.stack(list(known.values())), vocabulary.lang, stem=vocabulary.stem)
    made = dict(zip(terms, vectors, strict=True))
    found = {i: known.get(term, made.get(term)) for i, term in enumerate(vocabulary.terms)}
    place = np.array([i for i, vector in found.items() if vector is not None], np.int64)
    if len(place):
        table[place if rows is None else rows[place]] = np.stack([found[i] for i in place.tolist()])  # type: ignore[misc]
    return float(vocabulary.df[place].sum() / max(vocabulary.df.sum(), 1))
