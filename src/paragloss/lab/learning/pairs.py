"""What models that learn from judgments share: who asks, vocabularies, grades, and where word vectors start. Knows
nothing of how they learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import scipy.sparse as sp

from paragloss.errors import InputError, ModelError
from paragloss.types import Aligned, Floats, Integers, JudgedCollection
from paragloss.vocabulary import Vocabulary, by_term


def pivot(aligned: Aligned) -> tuple[str, list[str]]:
    """Return the language that asks (English, or the one most concepts have) and those that answer."""
    counts = Counter(lang for concept in aligned for lang in concept.texts)
    if len(counts) < 2:
        raise InputError(f"this model needs documents in two languages or more; got {', '.join(counts) or 'none'}")
    asking = "en" if "en" in counts else min(counts, key=lambda lang: (-counts[lang], lang))
    return asking, sorted(counts.keys() - {asking})


def languages(judged: JudgedCollection) -> tuple[str, str]:
    """Return the language of the queries and that of the documents."""
    if not judged.queries or not judged.documents:
        raise InputError(f"{len(judged.queries)} queries for {len(judged.documents)} documents: nothing to learn from")
    return judged.queries[0].lang, next(iter(judged.documents.values())).lang


def vocabularies(judged: Iterable[JudgedCollection], *, max_terms: int, min_df: int) -> dict[str, Vocabulary]:
    """Build a vocabulary per language, over the distinct texts of its queries and documents."""
    texts: dict[str, dict[str, None]] = {}
    for judged_set in judged:
        for query in judged_set.queries:
            texts.setdefault(query.lang, {})[query.text] = None
        for document in judged_set.documents.values():
            texts.setdefault(document.lang, {})[document.full_text] = None
    return {
        lang: Vocabulary.build(lang_texts, lang, max_terms=max_terms, min_df=min_df)[0]
        for lang, lang_texts in texts.items()
    }


def grades(judged: JudgedCollection) -> sp.csr_matrix:
    """Return grades as a matrix (queries, documents); a judgment of 0 is stored, an unjudged document is not."""
    at = {name: i for i, name in enumerate(judged.documents)}
    graded = [judged.qrels.get(query.id, {}).items() for query in judged.queries]
    grade_by_column = [{at[name]: grade for name, grade in grades if name in at} for grades in graded]
    indptr = np.cumsum([0, *map(len, grade_by_column)])
    columns = np.fromiter((i for row in grade_by_column for i in row), np.int32, count=int(indptr[-1]))
    values = np.fromiter(
        (grade for row in grade_by_column for grade in row.values()), np.float32, count=int(indptr[-1])
    )
    matrix = sp.csr_matrix((values, columns, indptr), shape=(len(grade_by_column), len(at)))
    matrix.sort_indices()
    return matrix


def lay(
    table: Floats, vocabulary: Vocabulary, known_vectors: Mapping[str, Floats], *, rows: Integers | None = None
) -> float:
    """Put the vectors of `known_vectors`, the commonest first, into the `table` rows of the terms they become; `rows`
    says which row each term has, where that is not its number. A word that is spelled as a term is speaks for it alone:
    vectors may have been learned from stems. Returns the share of terms found, each counted in as many documents as
    it stands in: how much of a text there is a vector for."""
    if not known_vectors:
        return 0.0
    word, first = next(iter(known_vectors.items()))
    if len(first) != table.shape[1]:
        raise ModelError(f"the vector of {word!r} has {len(first)} dimensions; set dim to that, not {table.shape[1]}")
    terms, vectors = by_term(
        list(known_vectors), np.stack(list(known_vectors.values())), vocabulary.lang, stem=vocabulary.stem
    )
    vector_by_term = dict(zip(terms, vectors, strict=True))
    vector_by_row = {i: known_vectors.get(term, vector_by_term.get(term)) for i, term in enumerate(vocabulary.terms)}
    filled = {row: vector for row, vector in vector_by_row.items() if vector is not None}
    filled_rows = np.array(list(filled), np.int64)
    if len(filled):
        table[filled_rows if rows is None else rows[filled_rows]] = np.stack(list(filled.values()))
    return float(vocabulary.df[filled_rows].sum() / max(vocabulary.df.sum(), 1))
