"""Which stages of BAE run, over which layers, and what they are told."""

import numpy as np
import pytest
from corpora import make_sentences

from paragloss.lab.methods import bae
from paragloss.types import Concept

pytest.importorskip("torch")

from paragloss.lab.descent import autoencoder as network

SMALL_CORPUS = make_sentences(20, 0)
SMALL = {"dim": 4, "stem": False}


@pytest.fixture
def stage_calls(monkeypatch):
    """The stages that are asked for: name, shapes of the machines, schedule, what else is said."""
    calls = []
    for name in ("pretrain", "train_all_layers"):
        monkeypatch.setattr(
            network,
            name,
            lambda machines, corpus, training, name=name, **options: calls.append(
                (name, [tuple(machine.weight.shape) for machine in machines], training, options)
            ),
        )
    return calls


@pytest.mark.parametrize(
    ("settings", "stages"),
    [
        ({}, [("pretrain", 1), ("train_all_layers", 1)]),
        ({"layers": 3}, [("pretrain", 1), ("train_all_layers", 3)]),
        ({"layers": 3, "pretraining_layers": 2}, [("pretrain", 2), ("train_all_layers", 3)]),
        ({"pretraining_layers": 0}, [("train_all_layers", 1)]),
        ({"pretraining_epochs": 0}, [("train_all_layers", 1)]),
        ({"epochs": 0}, [("pretrain", 1)]),
        ({"epochs": 0, "pretraining_epochs": 0}, []),
    ],
)
def test_stages_run_where_they_have_epochs_and_layers(stage_calls, settings, stages):
    bae.fit(SMALL_CORPUS, **SMALL, **settings)
    assert [(name, len(shapes)) for name, shapes, _, _ in stage_calls] == stages


def test_every_layer_but_the_last_has_the_given_width(stage_calls):
    model = bae.fit(SMALL_CORPUS, **SMALL, layers=3, hidden=7, learning_rate=0.5, batch=9, seed=3, epochs=6, patience=2)
    (_, _, before, _), (_, shapes, training, options) = stage_calls
    terms = sum(len(tower.vocabulary) for tower in model.towers.values())
    assert shapes == [(terms, 7), (7, 7), (7, 4)]
    assert (before.epochs, training.epochs, training.patience) == (5, 6, 2)
    assert (training.learning_rate, training.seed, options) == (0.5, 3, {"batch": 9})
    assert [layer.weight.shape for layer in model.tower("en").layers] == [(7, 7), (7, 4)]


def test_each_language_is_served_its_rows_of_the_first_layer_times_the_text_length(stage_calls, monkeypatch):
    machines = []
    plain = network.make_machines
    monkeypatch.setattr(network, "make_machines", lambda *args: machines.extend(plain(*args)) or machines)
    model = bae.fit(SMALL_CORPUS, **SMALL, words=8)
    weights = machines[0].weight.detach().numpy()
    np.testing.assert_allclose(np.vstack([tower.table for tower in model.towers.values()]), 8 * weights, rtol=1e-6)
    assert all(len(tower.table) == len(tower.vocabulary) for tower in model.towers.values())


def test_texts_of_a_single_word_are_learned_from(stage_calls):
    single = [Concept(str(i), {"en": f"one{i % 3}", "fr": f"un{i % 3}"}) for i in range(9)]
    assert bae.fit(SMALL_CORPUS + single, **SMALL).meta["concepts"] == 29
