"""Quick scores are those of the searcher that serves, and learning on shows in them."""

import random

import numpy as np
import pytest

from paragloss.evaluation import translated as scoring
from paragloss.search.structured import Probabilistic
from paragloss.search.terms import TermIndex
from paragloss.stores.embedded import EmbeddedStore
from paragloss.translation import table
from paragloss.types import Alternative, Concept, Document, Query, Translation


def test_quick_scores_are_the_structured_searchers(tmp_path):
    chance = random.Random(0)
    words = [f"wort{i}" for i in range(60)]
    texts = [" ".join(chance.choices(words, k=chance.randint(3, 40))) for _ in range(50)]
    clauses = tuple(
        Translation(f"s{c}", tuple(Alternative(chance.choice(words), chance.random()) for _ in range(4)))
        for c in range(3)
    )
    documents = scoring.Documents.read(texts, "de")
    found = scoring.scores([scoring.shares(clauses, "de")], documents)[0]
    with EmbeddedStore.create(tmp_path / "c", dense={}, sparse=["terms"]) as store:
        index = TermIndex.build(store, fields=("text",))
        index.add([Document(str(i), text, "de") for i, text in enumerate(texts)])
        index.refresh()
        [ranking] = Probabilistic(store, index.statistics).search([Query("q", "", "de", clauses)], 50)
    served = np.zeros(50)
    for hit in ranking:
        served[int(hit.id)] = hit.score
    np.testing.assert_allclose(found, served, rtol=1e-4, atol=1e-5)


def test_a_document_that_scores_nothing_is_not_found():
    found = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 1.0]])
    assert scoring.reciprocal_ranks(found, [0, 0, 1]).tolist() == [0.0, 0.5, pytest.approx(0.5)]


def test_learning_on_from_a_table_finds_what_the_table_did_not_know(tmp_path):
    general = [Concept(str(i), {"en": f"dog word{i}", "fr": f"chien mot{i}"}) for i in range(5)]
    table.fit(general).save(tmp_path / "general")
    chance = random.Random(0)
    kinds = [(f"engine{i}", f"moteur{i}") for i in range(8)]
    special = []
    for i in range(200):
        picked = chance.sample(kinds, 3)
        special.append(Concept(str(i), {"en": " ".join(a for a, _ in picked), "fr": " ".join(b for _, b in picked)}))
    [there, back] = scoring.gain(special, start=str(tmp_path / "general"))
    assert (there.source, there.target, there.texts) == ("en", "fr", 20)
    assert there.before < 0.3 < 0.7 < there.after
    assert back.before < 0.3 < 0.7 < back.after
