"""Prepare judged collections for training: languages, vocabularies, grades as a matrix, initial word vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import scipy.sparse as sp

from paragloss.errors import InputError, ModelError
from paragloss.types import Aligned, Floats, Integers, JudgedCollection
from paragloss.vocabulary import Vocabulary, merge_word_vectors


def choose_query_language(aligned: Aligned) -> tuple[str, list[str]]:
    """Choose the language of the queries: English, or else the one most concepts have.

    :return: the language of the queries, and all other languages in alphabetical order
    :raises InputError: if there are fewer than two languages
    """
    counts = Counter(lang for concept in aligned for lang in concept.texts)
    if len(counts) < 2:
        raise InputError(f"this model needs documents in two languages or more; got {', '.join(counts) or 'none'}")
    query_lang = "en" if "en" in counts else min(counts, key=lambda lang: (-counts[lang], lang))
    return query_lang, sorted(counts.keys() - {query_lang})


def get_languages(judged: JudgedCollection) -> tuple[str, str]:
    """Return the language of the queries and that of the documents."""
    if not judged.queries or not judged.documents:
        raise InputError(f"{len(judged.queries)} queries for {len(judged.documents)} documents: nothing to learn from")
    return judged.queries[0].lang, next(iter(judged.documents.values())).lang


def build_vocabularies(
    judged: Iterable[JudgedCollection], *, max_terms: int, min_df: int, stem: bool = True
) -> dict[str, Vocabulary]:
    """Build a vocabulary for each language from the distinct texts of its queries and documents.

    :param judged: collections of queries and documents
    :param max_terms: terms of a vocabulary at most
    :param min_df: texts that a term must be in
    :param stem: whether words are stemmed and stop words dropped
    :return: the vocabulary of each language
    """
    texts_by_lang: dict[str, dict[str, None]] = {}  # a dict keeps distinct texts in order
    for collection in judged:
        for query in collection.queries:
            texts_by_lang.setdefault(query.lang, {})[query.text] = None
        for document in collection.documents.values():
            texts_by_lang.setdefault(document.lang, {})[document.full_text] = None
    vocabularies = {}
    for lang, texts in texts_by_lang.items():
        vocabularies[lang], _ = Vocabulary.build(texts, lang, max_terms=max_terms, min_df=min_df, stem=stem)
    return vocabularies


def make_grade_matrix(judged: JudgedCollection) -> sp.csr_matrix:
    """Return grades as a matrix (queries, documents); a judgment of 0 is stored, an unjudged document is not.

    Judgments of documents that the collection does not have are left out.
    """
    column_by_id = {doc_id: column for column, doc_id in enumerate(judged.documents)}
    rows, columns, grades = [], [], []  # of each judgment
    for row, query in enumerate(judged.queries):
        for doc_id, grade in judged.qrels.get(query.id, {}).items():
            if doc_id in column_by_id:
                rows.append(row)
                columns.append(column_by_id[doc_id])
                grades.append(grade)
    shape = (len(judged.queries), len(column_by_id))
    return sp.csr_matrix((np.array(grades, np.float32), (rows, columns)), shape=shape)


def fill_known_vectors(
    table: Floats, vocabulary: Vocabulary, known_vectors: Mapping[str, Floats], *, rows: Integers | None = None
) -> float:
    """Overwrite the rows of a table of word vectors, in place, where a vector of the word is known.

    Words are reduced to the vocabulary's terms. Where several become the same term, their mean counts, in which more
    frequent words weigh more; but a word that is spelled as the term counts alone: vectors may have been learned from
    stems.

    :param table: (rows, dim) vectors of the terms
    :param known_vectors: word -> vector (dim,), the most frequent word first
    :param rows: (terms,) the row of each term; by default its number
    :return: the share of terms that are known, each counted as often as documents contain it
    :raises ModelError: if the vectors have another dimension
    """
    if not known_vectors:
        return 0.0
    vector_by_term = _reduce_to_terms(known_vectors, vocabulary, table.shape[1])
    known_terms = [i for i, term in enumerate(vocabulary.terms) if term in vector_by_term]
    if known_terms:
        table_rows = known_terms if rows is None else rows[known_terms]
        table[table_rows] = np.stack([vector_by_term[vocabulary.terms[i]] for i in known_terms])
    df = vocabulary.df
    return float(df[known_terms].sum() / max(df.sum(), 1))


def _reduce_to_terms(known_vectors: Mapping[str, Floats], vocabulary: Vocabulary, dim: int) -> dict[str, Floats]:
    """Return the vectors of words by the terms that a vocabulary makes of them; see `fill_known_vectors`.

    :param dim: the dimension that vectors must have
    """
    words, vectors = list(known_vectors), list(known_vectors.values())
    width = len(vectors[0])
    if width != dim:
        raise ModelError(f"the vector of {words[0]!r} has {width} dimensions; set dim to that, not {dim}")
    terms, term_vectors = merge_word_vectors(words, np.stack(vectors), vocabulary.lang, stem=vocabulary.stem)
    return dict(zip(terms, term_vectors, strict=True)) | dict(known_vectors)
