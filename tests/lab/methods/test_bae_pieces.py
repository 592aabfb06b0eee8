"""Which stages of BAE run, over which layers, and what they are told."""

import numpy as np
import pytest
from corpora import sentences

from paragloss.lab.methods import bae
from paragloss.types import Concept

pytest.importorskip("torch")

from paragloss.lab.descent import autoencoder as network

FEW = sentences(20, 0)
SMALL = {"dim": 4, "stem": False}


@pytest.fixture
def told(monkeypatch):
    """The stages that are asked for: name, shapes of the machines, schedule, what else is said."""
    calls = []
    for name in ("pretrain", "tune"):
        monkeypatch.setattr(
            network,
            name,
            lambda machines, corpus, schedule, name=name, **said: calls.append(
                (name, [tuple(one.weight.shape) for one in machines], schedule, said)
            ),
        )
    return calls


@pytest.mark.parametrize(
    ("settings", "stages"),
    [
        ({}, [("pretrain", 1), ("tune", 1)]),
        ({"layers": 3}, [("pretrain", 1), ("tune", 3)]),
        ({"layers": 3, "pretraining_layers": 2}, [("pretrain", 2), ("tune", 3)]),
        ({"pretraining_layers": 0}, [("tune", 1)]),
        ({"pretraining_epochs": 0}, [("tune", 1)]),
        ({"epochs": 0}, [("pretrain", 1)]),
        ({"epochs": 0, "pretraining_epochs": 0}, []),
    ],
)
def test_stages_run_where_they_have_epochs_and_layers(told, settings, stages):
    bae.fit(FEW, **SMALL, **settings)
    assert [(name, len(shapes)) for name, shapes, _, _ in told] == stages


def test_every_layer_but_the_last_is_as_wide_as_it_is_told(told):
    model = bae.fit(FEW, **SMALL, layers=3, hidden=7, learning_rate=0.5, batch=9, seed=3, epochs=6, patience=2)
    (_, _, _, before), (_, shapes, schedule, after) = told
    terms = sum(len(tower.vocabulary) for tower in model.towers.values())
    assert shapes == [(terms, 7), (7, 7), (7, 4)]
    assert (before, after) == ({"epochs": 5}, {"epochs": 6, "patience": 2})
    assert tuple(schedule)[:3] == (0.5, 9, 3)
    assert [layer.weight.shape for layer in model.tower("en").layers] == [(7, 7), (7, 4)]


def test_each_language_is_served_its_own_words_as_many_times_as_texts_are_read_for(told, monkeypatch):
    made = []
    plain = network.stack
    monkeypatch.setattr(network, "stack", lambda *args: made.extend(plain(*args)) or made)
    model = bae.fit(FEW, **SMALL, words=8)
    whole = made[0].weight.detach().numpy()
    np.testing.assert_allclose(np.vstack([tower.table for tower in model.towers.values()]), 8 * whole, rtol=1e-6)
    assert all(len(tower.table) == len(tower.vocabulary) for tower in model.towers.values())


def test_texts_of_a_single_word_are_learned_from(told):
    single = [Concept(str(i), {"en": f"one{i % 3}", "fr": f"un{i % 3}"}) for i in range(9)]
    assert bae.fit(FEW + single, **SMALL).meta["concepts"] == 29
