"""What models that learn from judgments share: who asks, vocabularies, grades. Knows nothing of how they learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp

from paragloss.errors import InputError
from paragloss.types import Aligned, Judged
from paragloss.vocabulary import Vocabulary


def pivot(aligned: Aligned) -> tuple[str, list[str]]:
    """The language that asks (English, or the one most concepts have) and those that answer."""
    counts = Counter(lang for concept in aligned for lang in concept.texts)
    if len(counts) < 2:
        raise InputError(f"this model needs documents in two languages or more; got {', '.join(counts) or 'none'}")
    asking = "en" if "en" in counts else min(counts, key=lambda lang: (-counts[lang], lang))
    return asking, sorted(counts.keys() - {asking})


def languages(judged: Judged) -> tuple[str, str]:
    """The language of the queries and that of the documents."""
    if not judged.queries or not judged.documents:
        raise InputError(f"{len(judged.queries)} queries for {len(judged.documents)} documents: nothing to learn from")
    return judged.queries[0].lang, next(iter(judged.documents.values())).lang


def vocabularies(judged: Iterable[Judged], *, max_terms: int, min_df: int) -> dict[str, Vocabulary]:
    """One per language, over the distinct texts of its queries and documents."""
    texts: dict[str, dict[str, None]] = {}
    for one in judged:
        for query in one.queries:
            texts.setdefault(query.lang, {})[query.text] = None
        for document in one.documents.values():
            texts.setdefault(document.lang, {})[document.whole] = None
    return {
        lang: Vocabulary.build(distinct, lang, max_terms=max_terms, min_df=min_df)[0]
        for lang, distinct in texts.items()
    }


def grades(judged: Judged) -> sp.csr_matrix:
    """Queries x documents; a judgment of 0 is stored, what was not judged is not."""
    at = {name: i for i, name in enumerate(judged.documents)}
    known = [
        {at[name]: grade for name, grade in judged.qrels.get(query.id, {}).items() if name in at}
        for query in judged.queries
    ]
    indptr = np.cumsum([0, *map(len, known)])
    columns = np.fromiter((i for row in known for i in row), np.int32, count=int(indptr[-1]))
    values = np.fromiter((grade for row in known for grade in row.values()), np.float32, count=int(indptr[-1]))
    matrix = sp.csr_matrix((values, columns, indptr), shape=(len(known), len(at)))
    matrix.sort_indices()
    return matrix
