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
from paragloss.types import Aligned, Concept, Floats, Integers
from paragloss.vocabulary import Vocabulary, count_all_terms, weigh

#: `min_df` is lowered to 1 + documents // DOCUMENTS_PER_DF for languages with few documents.
DOCUMENTS_PER_DF = 500


class CountedTexts(NamedTuple):
    """One language's documents: row i of `counts` is about concept `concepts[i]`; no concept comes twice."""

    vocabulary: Vocabulary
    counts: sp.csr_matrix  # (documents, terms)
    concepts: Integers  # (documents,)

    def weigh_terms(self) -> sp.csr_matrix:
        """Return the tf-idf weights of the terms, (documents, terms), in rows of unit length."""
        return weigh(self.counts, self.vocabulary.idf, "tfidf")


class TextPairs(NamedTuple):
    """Texts and their counterparts, row by row.

    Both are weights over the same terms, or the counterparts are vectors.
    """

    left: sp.csr_matrix  # (pairs, terms)
    right: sp.csr_matrix | Floats  # (pairs, terms) or (pairs, dim)


class _TermCounts(NamedTuple):
    """Counts of a language over all its terms, before a vocabulary is chosen."""

    terms: list[str]
    counts: sp.csr_matrix  # (documents, terms)
    concepts: Integers  # (documents,)
    has_allowed_length: npt.NDArray[np.bool_]  # (documents,)


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
) -> tuple[dict[str, CountedTexts], int]:
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
    concepts_by_lang = _drop_rare_concepts(_list_concepts(aligned, langs), len(aligned), min_langs)
    counts_by_lang = {}
    for lang, concepts in concepts_by_lang.items():
        counts_by_lang[lang] = _count_language(aligned, lang, concepts, stem, lengths, force_lengths)
    allowed_by_lang = {lang: counts.concepts[counts.has_allowed_length] for lang, counts in counts_by_lang.items()}
    used_by_lang = _drop_rare_concepts(allowed_by_lang, len(aligned), min_langs)
    counted = {}
    for lang, concepts in used_by_lang.items():
        counts = counts_by_lang.pop(lang)  # memory of a language is freed as soon as its vocabulary is chosen
        counted[lang] = _choose_vocabulary(lang, counts, concepts, max_terms, min_df, stem)
    return _renumber_concepts(counted, len(aligned), min_langs)


def _list_concepts(aligned: Aligned, langs: Sequence[str] | None) -> dict[str, Integers]:
    """Return for each language the numbers of the concepts that have a text in it.

    :param langs: these languages only; None for all
    """
    concepts_by_lang = {}
    for lang in _choose_languages(aligned, langs):
        concepts_by_lang[lang] = np.flatnonzero([lang in concept.texts for concept in aligned])
    return concepts_by_lang


def _count_language(
    aligned: Aligned,
    lang: str,
    concepts: Integers,
    stem: bool,
    lengths: tuple[int, int] | None,
    force_lengths: bool,
) -> _TermCounts:
    """Count all terms of the texts of some concepts in one language, and check the length of each text.

    :param concepts: numbers of the concepts, which have a text in the language
    :param stem: whether words are stemmed and stop words dropped
    :param lengths: smallest and largest number of distinct terms of a text; None for no bounds
    :param force_lengths: whether a bound is applied even if it drops more than half of the texts
    """
    texts = (text_of(aligned[i], lang) for i in concepts.tolist())
    terms, counts = count_all_terms(texts, lang, stem=stem)
    n_distinct_terms = np.diff(counts.indptr)  # (texts,)
    has_allowed_length = _check_lengths(n_distinct_terms, lengths or (1, counts.shape[1]), force=force_lengths)
    return _TermCounts(terms, counts, concepts, has_allowed_length)


def _choose_languages(aligned: Aligned, langs: Sequence[str] | None) -> list[str]:
    """Return the given languages without repetitions; by default all in which a concept has a text.

    :raises ModelError: if no concept has a text in one of them
    """
    available = sorted({lang for concept in aligned for lang in concept.texts})
    chosen = available if langs is None else list(dict.fromkeys(langs))
    absent = [lang for lang in chosen if lang not in available]
    if absent:
        raise ModelError(f"no text in {', '.join(absent)}: the concepts have {', '.join(available) or 'no languages'}")
    return chosen


def _choose_vocabulary(
    lang: str, all_counts: _TermCounts, concepts: Integers, max_terms: int, min_df: int, stem: bool
) -> CountedTexts:
    """Choose the terms of a language by the documents that are used, and keep the counts of these documents and terms.

    A document may lose its last term to `min_df`; it is then an empty row, which teaches nothing.

    :param all_counts: counts of all documents of the language
    :param concepts: the concepts whose documents are used
    :param max_terms: size of the vocabulary at most
    :param min_df: documents that a term must be in; lowered where there are few documents
    """
    is_used = np.isin(all_counts.concepts, concepts)  # (documents,)
    used_counts = all_counts.counts[is_used]  # (used documents, all terms)
    df_bound = lower_min_df(min_df, used_counts.shape[0])
    vocabulary, counts = Vocabulary.choose(
        lang, all_counts.terms, used_counts, max_terms=max_terms, min_df=df_bound, stem=stem
    )
    return CountedTexts(vocabulary, counts, concepts)


def lower_min_df(min_df: int, n_documents: int) -> int:
    """Return the number of documents that a term must be in: `min_df`, but less where there are few documents."""
    return min(min_df, 1 + n_documents // DOCUMENTS_PER_DF)


def _renumber_concepts(
    counted: Mapping[str, CountedTexts], n_concepts: int, min_langs: int
) -> tuple[dict[str, CountedTexts], int]:
    """Give the concepts that have documents numbers from 0 on; return the counts with them, and how many there are.

    :param n_concepts: number of concepts before
    :param min_langs: for the error message
    :raises ModelError: if fewer than two concepts are left
    """
    is_used = np.zeros(n_concepts, bool)
    for part in counted.values():
        is_used[part.concepts] = True
    n_used = int(is_used.sum())
    if n_used < 2:
        raise ModelError(
            f"{n_used} of {n_concepts} concepts have texts in {min_langs} languages or more: give at least 2"
        )
    new_numbers = np.cumsum(is_used) - 1  # (n_concepts,)
    renumbered = {lang: part._replace(concepts=new_numbers[part.concepts]) for lang, part in counted.items()}
    return renumbered, n_used


def _drop_rare_concepts(
    concepts_by_lang: Mapping[str, Integers], n_concepts: int, min_langs: int
) -> dict[str, Integers]:
    """Keep the documents whose concept has at least `min_langs` languages; drop languages without documents.

    :param concepts_by_lang: the concept of each document of each language
    :param n_concepts: number of all concepts
    :return: likewise, for the documents that are kept
    """
    languages_per_concept = np.zeros(n_concepts, np.int64)
    for concepts in concepts_by_lang.values():
        languages_per_concept[concepts] += 1
    kept_by_lang = {}
    for lang, concepts in concepts_by_lang.items():
        has_enough_langs = languages_per_concept[concepts] >= min_langs  # (documents,)
        if has_enough_langs.any():
            kept_by_lang[lang] = concepts[has_enough_langs]
    return kept_by_lang


def _check_lengths(n_terms: Integers, lengths: tuple[int, int], *, force: bool) -> npt.NDArray[np.bool_]:
    """Say which documents have an allowed number of distinct terms: (documents,).

    Empty documents are never allowed. A bound that would drop more than half of the documents that are still allowed
    is ignored; the lower bound comes first.

    :param n_terms: (documents,) distinct terms of each
    :param lengths: the smallest and the largest allowed number
    :param force: ignore no bound
    """
    shortest, longest = lengths
    is_allowed = n_terms > 0
    for is_within_bound in (n_terms >= shortest, n_terms <= longest):
        n_left = (is_allowed & is_within_bound).sum()
        if force or 2 * n_left >= is_allowed.sum():
            is_allowed &= is_within_bound
    return is_allowed
