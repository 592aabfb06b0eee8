"""Search by vectors over a real store, against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from paragloss.errors import LanguageError
from paragloss.ranking import csls_documents, csls_queries, neighbourhood, rank_scores
from paragloss.search.dense import Dense
from paragloss.stores import create_store
from paragloss.types import Document, Query, Record


class LetterCountEncoder:
    """Encodes a text by how many a, b and c it has; remembers what it was asked."""

    dim, langs = 3, ("en", "de")

    def __init__(self):
        self.batches = []

    def encode(self, texts, lang):
        self.batches.append((list(texts), lang))
        return np.array([[text.count(letter) for letter in "abc"] for text in texts], np.float32)


@pytest.fixture
def dense(tmp_path):
    rows = [("x", "en", (1, 0, 0)), ("y", "de", (0, 1, 0)), ("z", "de", (2, 2, 0))]
    with create_store(tmp_path / "c", dense={"letters": 3}, sparse=[]) as store:
        store.add([Record(Document(id, "", lang), {"letters": np.array(row, np.float32)}) for id, lang, row in rows])
        store.add([Record(Document("none", "", "sw"))])
        yield Dense(store, LetterCountEncoder(), name="letters")


def test_one_search_returns_documents_of_every_language(dense):
    first, second = dense.search([Query("1", "aab", "en"), Query("2", "b", "de")], 2)
    assert first == [("z", 6.0), ("x", 2.0)]
    assert second == [("z", 2.0), ("y", 1.0)]
    assert dense.search([Query("1", "aab", "en")], 2, {"lang": ["en"]}) == [[("x", 2.0)]]


def test_a_document_scores_as_its_best_passage_vector(dense):
    dense.store.add_dense_vector("several", 3, multivector=True)
    dense.store.add([Record(Document("p", "", "en"), {"several": np.array([(1, 0, 0), (0, 0, 3)], np.float32)})])
    assert Dense(dense.store, LetterCountEncoder(), name="several").search([Query("1", "acc", "en")], 1) == [[("p", 6)]]


def test_queries_of_one_language_are_encoded_together(dense):
    dense.search([Query("1", "a", "en"), Query("2", "b", "de"), Query("3", "c", "en")], 1)
    assert dense.encoder.batches == [(["a", "c"], "en"), (["b"], "de")]


def test_a_query_whose_vector_is_zero_has_no_hits(dense):
    assert dense.search([Query("1", "xyz", "en"), Query("2", "a", "en")], 1) == [[], [("z", 2.0)]]
    assert dense.search([], 1) == []


def test_a_query_in_a_language_the_encoder_lacks_is_an_error(dense):
    with pytest.raises(LanguageError, match="'letters' does not know 'sw'; it knows en, de"):
        dense.search([Query("1", "a", "sw")], 1)


class RowEncoder:
    """Encodes the text "7" as row 7."""

    langs = ("en",)

    def __init__(self, rows):
        self.rows, self.dim = rows, rows.shape[1]

    def encode(self, texts, lang):
        return self.rows[[int(text) for text in texts]]


@pytest.mark.slow
def test_exact_search_equals_numpy_and_graph_search_comes_close(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((12_000, 64)).astype(np.float32) * np.linspace(2, 0.2, 64, dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    query_rows = rng.standard_normal((40, 64)).astype(np.float32)
    ids = [f"d{i}" for i in range(len(rows))]
    langs = np.array(["en" if i % 3 else "de" for i in range(len(rows))])
    queries = [Query(str(i), str(i), "en") for i in range(len(query_rows))]
    with create_store(tmp_path / "c", dense={"m": 64}, sparse=[]) as store:
        for start in range(0, len(rows), 1000):
            store.add([Record(Document(ids[i], "", str(langs[i])), {"m": rows[i]}) for i in range(start, start + 1000)])
        store.optimize()
        exact, approximate = (Dense(store, RowEncoder(query_rows), name="m", exact=exact) for exact in (True, False))
        for where, mask in ((None, np.ones(len(rows), bool)), ({"lang": ["de"]}, langs == "de")):
            allowed_rows = np.flatnonzero(mask)
            allowed_ids = [ids[i] for i in allowed_rows]
            expected = [rank_scores(row @ rows[allowed_rows].T, allowed_ids, 10) for row in query_rows]
            for hits, expected_hits in zip(exact.search(queries, 10, where), expected, strict=True):
                assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected_hits], rel=1e-5)
            pairs = zip(approximate.search(queries, 10, where), expected, strict=True)
            assert np.mean([len({hit.id for hit in a} & {hit.id for hit in b}) for a, b in pairs]) > 9.5


def test_csls_as_one_more_dimension_ranks_like_the_formula(tmp_path):
    rng = np.random.default_rng(0)
    rows, query_rows = (rng.standard_normal((n, 8)).astype(np.float32) for n in (50, 20))
    rows, query_rows = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True) for matrix in (rows, query_rows))
    hubness = neighbourhood(rows, query_rows)
    document_rows = csls_documents(rows, hubness)
    with create_store(tmp_path / "c", dense={"m": 9}, sparse=[]) as store:
        store.add([Record(Document(f"d{i}", "", "en"), {"m": row}) for i, row in enumerate(document_rows)])
        hits = Dense(store, RowEncoder(csls_queries(query_rows)), name="m").search([Query("q", "4", "en")], 5)[0]
    expected = rank_scores(2 * query_rows[4] @ rows.T - hubness, [f"d{i}" for i in range(50)], 5)
    assert [hit.id for hit in hits] == [hit.id for hit in expected]
