"""Where S2Net starts and what it is told to learn from, piece by piece."""

import numpy as np
import pytest
import scipy.sparse as sp
from corpora import sentences

from paragloss.encoders.bag import BagEncoder, Layer, Tower
from paragloss.errors import ModelError
from paragloss.lab.learning.counting import Counted
from paragloss.lab.methods import opca, s2net
from paragloss.types import Concept
from paragloss.vocabulary import Vocabulary

pytest.importorskip("torch")

from paragloss.lab.descent import contrast

FEW = sentences(30, 0)
SMALL = {"dim": 6, "stem": False}


def stacked(model):
    return np.vstack([tower.table for tower in model.towers.values()])


def test_tables_start_with_entries_of_a_tenth_whatever_they_start_from():
    known = opca.fit(FEW, **SMALL)
    for start in ("random", "opca", known):
        begun = s2net.fit(FEW, **SMALL, start=start, epochs=0)
        assert stacked(begun).std() == pytest.approx(0.1, rel=1e-4)
        if start != "random":  # the same directions, of another length
            cosine = (
                np.vdot(stacked(begun), stacked(known))
                / np.linalg.norm(stacked(begun))
                / np.linalg.norm(stacked(known))
            )
            assert cosine == pytest.approx(1, abs=1e-5)


def test_it_starts_from_opca_with_opca_s_own_settings():
    said = {**SMALL, "min_df": 1, "max_terms": 9, "seed": 4}
    begun, known = stacked(s2net.fit(FEW, **said, start="opca", epochs=0)), stacked(opca.fit(FEW, **said))
    np.testing.assert_allclose(begun / begun.std(), known / known.std(), atol=1e-4)


def test_what_it_is_told_reaches_the_learning(monkeypatch):
    calls = []
    monkeypatch.setattr(contrast, "learn", lambda *args, **said: calls.append((args, said)))
    about = s2net.fit(FEW, **SMALL, negatives=4, batch=7, epochs=3, patience=2, optimizer="cg", seed=9).meta
    (parameters, whole, pairs), said = calls[0]
    assert {
        "negatives": 4,
        "batch": 7,
        "epochs": 3,
        "patience": 2,
        "optimizer": "cg",
        "seed": 9,
    }.items() <= said.items()
    table = parameters["table"]
    assert table.requires_grad
    assert whole([table]) is table
    assert pairs.left.shape == pairs.right.shape == (30, len(table))
    assert (about["pairs"], about["concepts"]) == (30, 30)
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
        s2net.fit(FEW, start=BENT[bent])


def test_a_model_that_is_given_reads_the_languages_it_knows():
    known = opca.fit(FEW, **SMALL)
    more = [Concept(c.id, {**c.texts, "it": "itwak"} if i % 2 else {"en": c.texts["en"]}) for i, c in enumerate(FEW)]
    counted = s2net._counted(more, known)
    assert list(counted) == ["en", "fr"]
    assert counted["en"].concepts.tolist() == list(range(30))
    assert counted["fr"].concepts.tolist() == list(range(1, 30, 2))
    assert s2net.fit(more, start=known, epochs=0).meta["pairs"] == 15


def test_concepts_of_one_language_each_are_refused():
    def part(concepts):
        return Counted(Vocabulary("en", ["a"], [1], 1), sp.csr_matrix(np.ones((2, 1), np.float32)), np.array(concepts))

    with pytest.raises(ModelError, match="no concept has texts in two languages"):
        s2net._pairs({"en": part([0, 1]), "fr": part([2, 3])}, np.random.default_rng(0))
    left, right = s2net._pairs({"en": part([0, 1]), "fr": part([1, 2])}, np.random.default_rng(0))
    assert sorted([*left, *right]) == [1, 2]


def test_texts_of_a_single_word_are_learned_from():
    single = [Concept(str(i), {"en": f"one{i % 3}", "fr": f"un{i % 3}"}) for i in range(9)]
    assert s2net.fit(FEW + single, **SMALL, epochs=0).meta["pairs"] == 39


def test_a_start_from_opca_is_drawn_by_the_same_seed(monkeypatch):
    told, plain = [], s2net.oriented
    monkeypatch.setattr(s2net, "oriented", lambda *said, **how: told.append(how) or plain(*said, **how))
    s2net.fit(FEW, **SMALL, start="opca", epochs=0, seed=4)
    assert told == [{"dim": SMALL["dim"], "gamma": 0.3, "seed": 4}]
