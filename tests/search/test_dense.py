"""Search by vectors over a real store, against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from paragloss.errors import LanguageError
from paragloss.ranking import csls_documents, csls_queries, neighbourhood, top
from paragloss.search.dense import Dense
from paragloss.stores.embedded import EmbeddedStore
from paragloss.types import Document, Query, Record


class Lengths:
    """Encodes a text by how many a, b and c it has; remembers what it was asked."""

    dim, langs = 3, ("en", "de")

    def __init__(self):
        self.asked = []

    def encode(self, texts, lang):
        self.asked.append((list(texts), lang))
        return np.array([[text.count(letter) for letter in "abc"] for text in texts], np.float32)


@pytest.fixture
def store(tmp_path):
    with EmbeddedStore.create(tmp_path / "c", dense={"letters": 3}, sparse=[]) as store:
        store.add(
            [
                Record(Document(id, "", lang), {"letters": np.array(row, np.float32)})
                for id, lang, row in [("x", "en", (1, 0, 0)), ("y", "de", (0, 1, 0)), ("z", "de", (2, 2, 0))]
            ]
            + [Record(Document("none", "", "sw"))]
        )
        yield store


def test_documents_of_every_language_are_found(store):
    dense = Dense(store, Lengths(), name="letters")
    first, second = dense.search([Query("1", "aab", "en"), Query("2", "b", "de")], 2)
    assert first == [("z", 6.0), ("x", 2.0)]
    assert second == [("z", 2.0), ("y", 1.0)]
    assert dense.search([Query("1", "aab", "en")], 2, {"lang": ["en"]}) == [[("x", 2.0)]]


def test_of_several_vectors_of_a_document_the_best_counts(tmp_path):
    with EmbeddedStore.create(tmp_path / "several", dense={"other": 3}, sparse=[]) as several:
        several.add_dense_vector("letters", 3, multivector=True)
        several.add([Record(Document("p", "", "en"), {"letters": np.array([(1, 0, 0), (0, 0, 3)], np.float32)})])
        dense = Dense(several, Lengths(), name="letters")
        assert dense.search([Query("1", "acc", "en")], 1) == [[("p", 6.0)]]


def test_queries_of_one_language_are_encoded_together(store):
    encoder = Lengths()
    Dense(store, encoder, name="letters").search(
        [Query("1", "a", "en"), Query("2", "b", "de"), Query("3", "c", "en")], 1
    )
    assert encoder.asked == [(["a", "c"], "en"), (["b"], "de")]


def test_a_query_of_unknown_words_finds_nothing(store):
    dense = Dense(store, Lengths(), name="letters")
    assert dense.search([Query("1", "xyz", "en"), Query("2", "a", "en")], 1) == [[], [("z", 2.0)]]
    assert dense.search([], 1) == []


def test_an_unknown_language(store):
    with pytest.raises(LanguageError, match="'letters' does not know 'sw'; it knows en, de"):
        Dense(store, Lengths(), name="letters").search([Query("1", "a", "sw")], 1)


class Rows:
    """Encodes the text "7" as row 7."""

    langs = ("en",)

    def __init__(self, rows):
        self.rows, self.dim = rows, rows.shape[1]

    def encode(self, texts, lang):
        return self.rows[[int(text) for text in texts]]


@pytest.mark.slow
def test_against_numpy_exactly_and_through_the_graph(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((12_000, 64)).astype(np.float32) * np.linspace(2, 0.2, 64, dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    asked = rng.standard_normal((40, 64)).astype(np.float32)
    ids = [f"d{i}" for i in range(len(rows))]
    langs = ["en" if i % 3 else "de" for i in range(len(rows))]
    queries = [Query(str(i), str(i), "en") for i in range(len(asked))]
    with EmbeddedStore.create(tmp_path / "c", dense={"m": 64}, sparse=[]) as store:
        for start in range(0, len(rows), 1000):
            store.add([Record(Document(ids[i], "", langs[i]), {"m": rows[i]}) for i in range(start, start + 1000)])
        store.optimize()
        for where, mask in ((None, np.ones(len(rows), bool)), ({"lang": ["de"]}, np.array(langs) == "de")):
            some = np.flatnonzero(mask)
            expected = [top(row @ rows[some].T, [ids[i] for i in some], 10) for row in asked]
            exact = Dense(store, Rows(asked), name="m", exact=True).search(queries, 10, where)
            for found, right in zip(exact, expected, strict=True):
                assert [hit.score for hit in found] == pytest.approx([hit.score for hit in right], rel=1e-5)
            through = Dense(store, Rows(asked), name="m").search(queries, 10, where)
            shared = [
                len({hit.id for hit in found} & {hit.id for hit in right})
                for found, right in zip(through, expected, strict=True)
            ]
            assert np.mean(shared) > 9.5


def test_csls_is_one_more_dimension(tmp_path):
    rng = np.random.default_rng(0)
    rows, asked = (rng.standard_normal((n, 8)).astype(np.float32) for n in (50, 20))
    rows, asked = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in (rows, asked))
    hubness = neighbourhood(rows, asked)
    kept = csls_documents(rows, hubness)
    with EmbeddedStore.create(tmp_path / "c", dense={"m": 9}, sparse=[]) as store:
        store.add([Record(Document(f"d{i}", "", "en"), {"m": row}) for i, row in enumerate(kept)])
        found = Dense(store, Rows(csls_queries(asked)), name="m").search([Query("q", "4", "en")], 5)[0]
    expected = top(2 * asked[4] @ rows.T - hubness, [f"d{i}" for i in range(50)], 5)
    assert [hit.id for hit in found] == [hit.id for hit in expected]
