"""Count the terms of aligned texts: one sparse matrix per language, each row with the number of its concept.

All linear methods (Cr5, CL-LSI, OPCA, CCA) learn from these matrices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.errors import ModelError
from paragloss.types import Aligned, Concept, Integers
from paragloss.vocabulary import Vocabulary, grow

#: `min_df` is lowered to 1 + documents // DOCUMENTS_PER_DF for languages with few documents.
DOCUMENTS_PER_DF = 500


class Counted(NamedTuple):
    """One language's documents: row i of `counts` is about concept `concepts[i]`; no concept comes twice."""

    vocabulary: Vocabulary
    counts: sp.csr_matrix  # (documents, terms)
    concepts: Integers  # (documents,)


class _TermCounts(NamedTuple):
    """Counts of a language over all its terms, before a vocabulary is chosen."""

    terms: list[str]
    counts: sp.csr_matrix
    concepts: Integers
    has_allowed_length: npt.NDArray[np.bool_]


def text_of(concept: Concept, lang: str) -> str:
    """Return a concept's title and text in one language."""
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
    force_lengths: bool = False,
    min_langs: int = 2,
) -> tuple[dict[str, Counted], int]:
    """Count the documents of concepts that have at least `min_langs` languages.

    :param langs: count these languages only
    :param max_terms: terms per language
    :param min_df: documents a term must be in; lowered to 1 + documents // 500 where that is less
    :param lengths: bounds of the number of distinct terms of a document. A bound that would drop more than half of a
        language's documents is not applied to that language, because short texts are then all there is.
    :param force_lengths: apply `lengths` however many documents they drop
    :return: counts by language, and the number of concepts
    :raises ModelError: if a language has no text, or fewer than two concepts are left
    """
    chosen = _choose_languages(aligned, langs)
    owners = {lang: np.flatnonzero([lang in concept.texts for concept in aligned]) for lang in chosen}
    counts_by_lang = {}
    for lang, concepts in _drop_rare_concepts(owners, len(aligned), min_langs).items():
        terms, counts = grow((text_of(aligned[i], lang) for i in concepts.tolist()), lang, stem=stem)
        allowed = _check_lengths(np.diff(counts.indptr), lengths or (1, counts.shape[1]), force=force_lengths)
        counts_by_lang[lang] = _TermCounts(terms, counts, concepts, allowed)
    owners = {lang: part.concepts[part.has_allowed_length] for lang, part in counts_by_lang.items()}
    owners = _drop_rare_concepts(owners, len(aligned), min_langs)
    counted = {
        lang: _choose_vocabulary(lang, counts_by_lang.pop(lang), concepts, max_terms, min_df, stem)
        for lang, concepts in owners.items()
    }
    return _renumber_concepts(counted, len(aligned), min_langs)


def _choose_languages(aligned: Aligned, langs: Sequence[str] | None) -> list[str]:
    available = sorted({lang for concept in aligned for lang in concept.texts})
    chosen = available if langs is None else list(dict.fromkeys(langs))
    absent = [lang for lang in chosen if lang not in available]
    if absent:
        raise ModelError(f"no text in {', '.join(absent)}: the concepts have {', '.join(available) or 'no languages'}")
    return chosen


def _choose_vocabulary(
    lang: str, part: _TermCounts, concepts: Integers, max_terms: int, min_df: int, stem: bool
) -> Counted:
    """Choose the terms of a language from the documents of some concepts.

    A document may lose its last term to `min_df`; it is then an empty row, which teaches nothing.
    """
    counts = part.counts[np.isin(part.concepts, concepts)]
    df_bound = min(min_df, 1 + counts.shape[0] // DOCUMENTS_PER_DF)
    vocabulary, counts = Vocabulary.choose(lang, part.terms, counts, max_terms=max_terms, min_df=df_bound, stem=stem)
    return Counted(vocabulary, counts, concepts)


def _renumber_concepts(
    counted: Mapping[str, Counted], n_concepts: int, min_langs: int
) -> tuple[dict[str, Counted], int]:
    """Number the concepts that are left from 0; return the counts and their number."""
    is_used = np.zeros(n_concepts, bool)
    for part in counted.values():
        is_used[part.concepts] = True
    total = int(is_used.sum())
    if total < 2:
        raise ModelError(
            f"{total} of {n_concepts} concepts have texts in {min_langs} languages or more: give at least 2"
        )
    number = np.cumsum(is_used) - 1
    return {lang: part._replace(concepts=number[part.concepts]) for lang, part in counted.items()}, total


def _drop_rare_concepts(owners: Mapping[str, Integers], n_concepts: int, min_langs: int) -> dict[str, Integers]:
    """Keep the documents whose concept has enough languages; drop languages without documents."""
    languages_per_concept = np.zeros(n_concepts, np.int64)
    for concepts in owners.values():
        languages_per_concept[concepts] += 1
    owners_left = {lang: concepts[languages_per_concept[concepts] >= min_langs] for lang, concepts in owners.items()}
    return {lang: concepts for lang, concepts in owners_left.items() if len(concepts)}


def _check_lengths(distinct: Integers, lengths: tuple[int, int], *, force: bool) -> npt.NDArray[np.bool_]:
    """Say which documents have an allowed number of distinct terms.

    Unless forced, a bound that would drop more than half of the documents is not applied.
    """
    shortest, longest = lengths
    allowed = distinct > 0
    for within_bound in (distinct >= shortest, distinct <= longest):
        if force or (allowed & within_bound).sum() * 2 >= allowed.sum():
            allowed &= within_bound
    return allowed
