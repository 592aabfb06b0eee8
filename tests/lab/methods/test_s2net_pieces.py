"""Where S2Net starts and what it is told to learn from, piece by piece."""

import numpy as np
import pytest
import scipy.sparse as sp
from corpora import make_sentences

from paragloss.encoders.bag import BagEncoder, Layer, Tower
from paragloss.errors import ModelError
from paragloss.lab.learning.counting import CountedTexts
from paragloss.lab.methods import opca, s2net
from paragloss.types import Concept
from paragloss.vocabulary import Vocabulary

pytest.importorskip("torch")

from paragloss.lab.descent import contrast

SMALL_CORPUS = make_sentences(30, 0)
SMALL = {"dim": 6, "stem": False}


def stack_tables(model):
    return np.vstack([tower.table for tower in model.towers.values()])


def test_tables_start_with_entries_of_a_tenth_whatever_they_start_from():
    opca_model = opca.fit(SMALL_CORPUS, **SMALL)
    for start in ("random", "opca", opca_model):
        model = s2net.fit(SMALL_CORPUS, **SMALL, start=start, epochs=0)
        assert stack_tables(model).std() == pytest.approx(0.1, rel=1e-4)
        if start != "random":  # the same directions, of another length
            cosine = (
                np.vdot(stack_tables(model), stack_tables(opca_model))
                / np.linalg.norm(stack_tables(model))
                / np.linalg.norm(stack_tables(opca_model))
            )
            assert cosine == pytest.approx(1, abs=1e-5)


def test_it_starts_from_opca_with_opca_s_own_settings():
    settings = {**SMALL, "min_df": 1, "max_terms": 9, "seed": 4}
    start_table, opca_model = (
        stack_tables(s2net.fit(SMALL_CORPUS, **settings, start="opca", epochs=0)),
        stack_tables(opca.fit(SMALL_CORPUS, **settings)),
    )
    np.testing.assert_allclose(start_table / start_table.std(), opca_model / opca_model.std(), atol=1e-4)


def test_settings_reach_the_learning(monkeypatch):
    calls = []
    monkeypatch.setattr(contrast, "learn", lambda *args, **options: calls.append((args, options)))
    meta = s2net.fit(SMALL_CORPUS, **SMALL, negatives=4, batch=7, epochs=3, patience=2, optimizer="cg", seed=9).meta
    (parameters, compute_table, pairs, compute_loss, training), options = calls[0]
    assert (training.epochs, training.seed, training.optimizer, training.patience) == (3, 9, "cg", 2)
    assert (compute_loss.keywords["negatives"], options) == (4, {"batch": 7})
    table = parameters["table"]
    assert table.requires_grad
    assert compute_table([table]) is table
    assert pairs.left.shape == pairs.right.shape == (30, len(table))
    assert (meta["pairs"], meta["concepts"]) == (30, 30)
    # A pair's two sides are of different languages: their terms lie in different blocks.
    edge = len(table) // 2
    assert (pairs.left[:, :edge].sum(1) > 0).ravel().tolist() == (pairs.right[:, edge:].sum(1) > 0).ravel().tolist()


BENT = {
    "counts": BagEncoder(
        {"en": Tower(Vocabulary("en", ["a"], [1], 1), np.ones((1, 2), np.float32))}, weighting="count"
    ),
    **{
        name: BagEncoder({"en": Tower(Vocabulary("en", ["a"], [1], 1), np.ones((1, 2), np.float32), **part)})
        for name, part in {
            "bias": {"bias": np.zeros(2, np.float32)},
            "activation": {"activation": "tanh"},
            "layers": {"layers": (Layer(np.eye(2, dtype=np.float32), np.zeros(2, np.float32), "linear"),)},
        }.items()
    },
}


@pytest.mark.parametrize("bent", BENT)
def test_each_way_of_not_being_linear_is_refused(bent):
    with pytest.raises(ModelError, match="S2Net is linear"):
        s2net.fit(SMALL_CORPUS, start=BENT[bent])


def test_a_model_that_is_given_reads_the_languages_it_knows():
    opca_model = opca.fit(SMALL_CORPUS, **SMALL)
    concepts = [
        Concept(c.id, {**c.texts, "it": "itwak"} if i % 2 else {"en": c.texts["en"]})
        for i, c in enumerate(SMALL_CORPUS)
    ]
    counted = s2net._count_for_model(concepts, opca_model)
    assert list(counted) == ["en", "fr"]
    assert counted["en"].concepts.tolist() == list(range(30))
    assert counted["fr"].concepts.tolist() == list(range(1, 30, 2))
    assert s2net.fit(concepts, start=opca_model, epochs=0).meta["pairs"] == 15


def test_concepts_of_one_language_each_are_refused():
    def part(concepts):
        return CountedTexts(
            Vocabulary("en", ["a"], [1], 1), sp.csr_matrix(np.ones((2, 1), np.float32)), np.array(concepts)
        )

    with pytest.raises(ModelError, match="no concept has texts in two languages"):
        s2net._pair_texts({"en": part([0, 1]), "fr": part([2, 3])}, np.random.default_rng(0))
    left, right = s2net._pair_texts({"en": part([0, 1]), "fr": part([1, 2])}, np.random.default_rng(0))
    assert sorted([*left, *right]) == [1, 2]


def test_texts_of_a_single_word_are_learned_from():
    single = [Concept(str(i), {"en": f"one{i % 3}", "fr": f"un{i % 3}"}) for i in range(9)]
    assert s2net.fit(SMALL_CORPUS + single, **SMALL, epochs=0).meta["pairs"] == 39


def test_a_start_from_opca_is_drawn_by_the_same_seed(monkeypatch):
    calls, plain = [], s2net.find_oriented_directions
    monkeypatch.setattr(
        s2net,
        "find_oriented_directions",
        lambda *arguments, **options: calls.append(options) or plain(*arguments, **options),
    )
    s2net.fit(SMALL_CORPUS, **SMALL, start="opca", epochs=0, seed=4)
    assert calls == [{"dim": SMALL["dim"], "gamma": 0.3, "seed": 4}]
