"""Quick scores of the studies are those of the searcher that serves."""

import math
import random
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from paragloss.index.terms import TermIndex
from paragloss.lab.matchings.structured import Tempered
from paragloss.stores import create_store
from paragloss.translation.subword_terms import SUBWORD_PREFIX
from paragloss.types import Alternative, Document, Query, Translation

STUDY = Path(__file__).parents[2] / "studies" / "retrieval_of_tables.py"
scoring = SimpleNamespace(**runpy.run_path(str(STUDY)))


def search_store(folder, fields, texts, clauses):
    """Search texts by the clauses of a query; return the ranking, and the matching words of the best text."""
    with create_store(folder, dense={}, sparse=["terms"]) as store:
        index = TermIndex.build(store, fields=fields)
        index.add([Document(str(i), text, "de") for i, text in enumerate(texts)])
        index.refresh()
        searcher = Tempered(store, index.statistics)
        query = Query("q", "", "de", clauses)
        [ranking] = searcher.search([query], len(texts))
        return ranking, [match.word for match in searcher.matches(query, ranking[0].id)]


def test_quick_scores_equal_those_of_the_structured_searcher(tmp_path):
    chance = random.Random(0)
    words = [f"wort{i}" for i in range(60)]
    texts = [" ".join(chance.choices(words, k=chance.randint(3, 40))) for _ in range(50)]
    clauses = tuple(
        Translation(f"s{c}", tuple(Alternative(chance.choice(words), chance.random()) for _ in range(4)))
        for c in range(3)
    )
    documents = scoring.Documents.read(texts, "de")
    quick_scores = scoring.scores([scoring.shares(clauses, "de")], documents)[0]
    ranking, _ = search_store(tmp_path / "c", ("text",), texts, clauses)
    searcher_scores = np.zeros(50)
    for hit in ranking:
        searcher_scores[int(hit.id)] = hit.score
    np.testing.assert_allclose(quick_scores, searcher_scores, rtol=1e-4, atol=1e-5)


def test_scores_of_compound_parts_equal_those_worked_out_by_hand(tmp_path):
    texts = ["Eisenbahnbrücke", "Eisenbahn Brot", "Brot", "Gorbatschow"]
    documents = scoring.Documents.read(texts, "de", inner=texts)
    assert documents.number == {"eisenbahnbruck": 0, "eisenbahn": 1, "brot": 2, "gorbatschow": 3}
    assert documents.inner == {"≈SNBHNBRK": 4, "eisenbahn": 5, "bruck": 6, "≈BRT": 7, "≈GRBCW": 8}
    assert documents.length.tolist() == [1, 2, 1, 1]
    assert documents.counts.toarray().tolist() == [
        [1, 0, 0, 0, 1, 1, 1, 0, 0],
        [0, 1, 1, 0, 0, 0, 0, 1, 0],
        [0, 0, 1, 0, 0, 0, 0, 1, 0],
        [0, 0, 0, 1, 0, 0, 0, 0, 1],
    ]
    # The railway stands in one document, and with 0.8 inside a word of another: 1.8 of 4. A sound counts whole.
    railway, name = math.log(1 + (4 - 1.8 + 0.5) / (1.8 + 0.5)), math.log(1 + (4 - 1 + 0.5) / (1 + 0.5))
    # Documents of one and of two words, at 1.25 on average.
    short, long = 1.2 * (0.25 + 0.75 / 1.25), 1.2 * (0.25 + 0.75 * 2 / 1.25)
    queries = [scoring.own_words(Query("q", "Eisenbahn", "de")), [{"≈GRBCW": 1.0}], [{"eisenbahn": 0.5, "schiff": 0.5}]]
    quick_scores = scoring.scores(queries, documents)
    expected = [
        [0.8 / (0.8 + short) * railway, 1 / (1 + long) * railway, 0, 0],
        [0, 0, 0, 1 / (1 + short) * name],
        [0.8 / (0.8 + short) * railway, 1 / (1 + long) * railway, 0, 0],  # no document has the other word
    ]
    np.testing.assert_allclose(quick_scores, expected, rtol=1e-6)
    assert scoring.Documents.read(texts, "de").inner == {}
    clause = Translation("railway", (Alternative("Eisenbahn", 0.5), Alternative("Schiff", 0.5)))
    ranking, best_words = search_store(tmp_path / "c", ("text", "inner"), texts, (clause,))
    assert {hit.id: hit.score for hit in ranking} == {str(i): pytest.approx(expected[2][i], rel=1e-6) for i in (0, 1)}
    assert best_words == [f"{SUBWORD_PREFIX}eisenbahn"]


def test_a_document_that_scores_nothing_is_not_found():
    quick_scores = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 1.0]])
    assert scoring.reciprocal_ranks(quick_scores, [0, 0, 1]).tolist() == [0.0, 0.5, pytest.approx(0.5)]
