"""What methods learn from: word vectors and counted texts, by hand and against dense algebra."""

import numpy as np
import pytest
import scipy.sparse as sp

from paragloss.lab.learning import counting, monolingual
from paragloss.types import Concept


def test_vectors_factor_positive_pointwise_mutual_information():
    counts = np.random.default_rng(0).integers(0, 6, (12, 12)).astype(np.float32)
    rows = monolingual.factor_ppmi(sp.csr_matrix(counts), dim=12, smoothing=0.75)
    context = counts.sum(0) ** 0.75
    joint = counts / counts.sum()
    with np.errstate(divide="ignore"):
        mutual = np.log(joint / (joint.sum(1, keepdims=True) * context / context.sum()))
    U, S, _ = np.linalg.svd(np.maximum(mutual, 0))
    np.testing.assert_allclose(rows @ rows.T, (U * S) @ U.T, atol=1e-3)  # rows are U S^.5


def test_pairs_of_many_texts_are_counted_in_parts_as_at_once(monkeypatch):
    texts = [np.random.default_rng(i).integers(0, 5, 7).astype(np.int32) for i in range(9)]
    at_once = monolingual.count_cooccurrences(texts, 5, window=3).toarray()
    for max_pairs in (0, 75):  # 10 places x 6 pairs are 60 a text: parts of one, and of two
        monkeypatch.setattr(monolingual, "MAX_BUFFERED_PAIRS", max_pairs)
        np.testing.assert_allclose(monolingual.count_cooccurrences(texts, 5, window=3).toarray(), at_once, rtol=1e-6)


@pytest.mark.parametrize(("documents", "fewest"), [(499, 1), (500, 2), (1000, 3)])
def test_the_smallest_document_frequency_grows_with_the_number_of_documents(documents, fewest):
    """A word is in `fewest` documents or more: 1 of fewer than 500, 2 of fewer than 1,000, ..."""
    texts = [f"common{i % 5}" for i in range(documents)]
    for number, word in enumerate(("once", "twice twice", "thrice")):
        for copy in range(number + 1):
            texts[10 * number + copy] += f" {word}"
    concepts = [Concept(str(i), {"en": text, "de": text}) for i, text in enumerate(texts)]
    counted, _ = counting.count(concepts, stem=False, min_df=5, max_terms=100, lengths=None)
    rare = {"once", "twice", "thrice"} & set(counted["en"].vocabulary.terms)
    assert len(rare) == 4 - fewest
