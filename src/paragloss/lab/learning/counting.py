"""Aligned texts to one sparse matrix of counts per language, each row with the number of its concept.

What every linear method (Cr5, CL-LSI, OPCA, CCA) learns from. Knows nothing of how they learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.errors import ModelError
from paragloss.types import Aligned, Concept, Integers
from paragloss.vocabulary import Vocabulary, grow

#: Below this many documents of a language a term needs to be in fewer of them to count: 1 + documents // 500.
_DOCUMENTS_PER_DF = 500


class Counted(NamedTuple):
    """One language's documents: row i of `counts` is about concept `concepts[i]`; no concept comes twice."""

    vocabulary: Vocabulary
    counts: sp.csr_matrix  # (documents, terms)
    concepts: Integers  # (documents,)


def text_of(concept: Concept, lang: str) -> str:
    """What is read of a concept in one language: its title, then its text."""
    title = concept.titles.get(lang, "")
    return f"{title}\n{concept.texts[lang]}" if title else concept.texts[lang]


def count(
    aligned: Aligned,
    *,
    langs: Sequence[str] | None = None,
    stem: bool = True,
    max_terms: int = 200_000,
    min_df: int = 2,
    lengths: tuple[int, int] | None = None,
    min_langs: int = 2,
) -> tuple[dict[str, Counted], int]:
    """Count the documents of concepts that have at least `min_langs` languages, and how many such concepts.

    `lengths` bounds the distinct terms of a document; a bound that would take more than half of a language's
    documents is not applied to that language (short texts are all there is to learn from). `min_df` is lowered
    to 1 + documents // 500 where that is less.
    """
    known = sorted({lang for concept in aligned for lang in concept.texts})
    chosen = known if langs is None else list(dict.fromkeys(langs))
    if absent := [lang for lang in chosen if lang not in known]:
        raise ModelError(f"no text in {', '.join(absent)}: the concepts have {', '.join(known) or 'no languages'}")
    owners = {lang: np.flatnonzero([lang in concept.texts for concept in aligned]) for lang in chosen}
    owners = _shared(owners, len(aligned), min_langs)
    grown = {}
    for lang, rows in owners.items():
        terms, counts = grow((text_of(aligned[i], lang) for i in rows.tolist()), lang, stem=stem)
        fitting = _fitting(np.diff(counts.indptr), lengths or (1, counts.shape[1]))
        grown[lang] = (terms, counts, rows, fitting)
    kept = _shared({lang: rows[fitting] for lang, (_, _, rows, fitting) in grown.items()}, len(aligned), min_langs)
    used = np.zeros(len(aligned), bool)
    counted = {}
    for lang in kept:
        terms, counts, rows, _ = grown.pop(lang)
        # A document may still lose its last term to min_df; it is then an empty row, which teaches nothing.
        counts = counts[np.isin(rows, kept[lang])]
        fewest = min(min_df, 1 + counts.shape[0] // _DOCUMENTS_PER_DF)
        vocabulary, counts = Vocabulary.choose(lang, terms, counts, max_terms=max_terms, min_df=fewest, stem=stem)
        counted[lang] = Counted(vocabulary, counts, kept[lang])
        used[kept[lang]] = True
    if (shared := int(used.sum())) < 2:
        few = f"{shared} of {len(aligned)} concepts have texts in {min_langs} languages or more"
        raise ModelError(f"{few}: give at least 2")
    number = np.cumsum(used) - 1
    return {lang: part._replace(concepts=number[part.concepts]) for lang, part in counted.items()}, shared


def _shared(owners: dict[str, Integers], concepts: int, min_langs: int) -> dict[str, Integers]:
    """The documents whose concept has enough languages; a language left without documents is left out."""
    seen = np.zeros(concepts, np.int64)
    for rows in owners.values():
        seen[rows] += 1
    left = {lang: rows[seen[rows] >= min_langs] for lang, rows in owners.items()}
    return {lang: rows for lang, rows in left.items() if len(rows)}


def _fitting(distinct: Integers, lengths: tuple[int, int]) -> npt.NDArray[np.bool_]:
    fewest, most = lengths
    kept = distinct > 0
    for bound in (distinct >= fewest, distinct <= most):
        if (kept & bound).sum() * 2 >= kept.sum():
            kept &= bound
    return kept
