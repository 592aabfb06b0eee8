"""The model in the box: how it is packed, how it translates, and that the one that is shipped works."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from paragloss.engine import load
from paragloss.errors import LanguageError, ModelError
from paragloss.translation import default, table
from paragloss.translation.default import _rows, _words
from paragloss.translation.default._compounds import parts
from paragloss.translation.default.packing import Tables, pack
from paragloss.types import Alternative, Concept, Query


def matrix(rows, columns, cells):
    """Entries best first: rows are filled in the order given."""
    return sp.csr_matrix(
        ([w for *_, w in cells], ([r for r, *_ in cells], [c for _, c, _ in cells])), shape=(rows, columns)
    )


@pytest.fixture
def model():
    """English with German and French: house, train, delay, prime minister."""
    english = ["hous", "train", "delay", "prime", "minist", "prime minist"]
    german = ["haus", "zug", "verspat", "prim", "minist", "premierminist", "hauszug"]
    french = ["maison", "train", "retard", "premi", "ministr"]
    de = Tables(
        english, ["house", "train", "delay", "prime", "minister", "prime minister"],
        german, ["Haus", "Zug", "Verspätung", "Prime", "Minister", "Premierminister", "Hauszug"],
        matrix(6, 7, [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (3, 3, 1.0), (4, 4, 1.0), (5, 5, 1.0)]),
        matrix(7, 6, [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (5, 3, 0.5), (5, 4, 0.5), (6, 1, 1.0)]),
    )  # fmt: skip
    fr = Tables(
        english[:5], ["house", "train", "delay", "prime", "minister"],
        french, ["maison", "train", "retard", "premier", "ministre"],
        matrix(5, 5, [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (3, 3, 1.0), (4, 4, 1.0)]),
        matrix(5, 5, [(0, 0, 0.75), (0, 3, 0.25), (1, 1, 1.0), (2, 2, 1.0), (3, 3, 1.0), (4, 4, 1.0)]),
    )  # fmt: skip
    return pack({"de": de, "fr": fr}, about={"licence": "CC BY-SA 4.0"})


def said(translations):
    return [(t.source, t.alternatives[0].text) for t in translations]


def test_a_query_is_translated_from_and_to_english_and_through_it(model):
    assert model.langs == ("en", "de", "fr")
    assert said(model.translate(Query("q", "houses, delayed", "en"), "de")) == [
        ("houses", "Haus"),
        ("delayed", "Verspätung"),
    ]
    assert said(model.translate(Query("q", "Häuser", "de"), "en")) == [("Häuser", "house")]
    assert said(model.translate(Query("q", "die Verspätung", "de"), "fr")) == [("Verspätung", "retard")]


def test_many_targets_give_what_each_would_alone(model):
    query = Query("q", "delayed trains", "en")
    many = model.translate_many(query, ["de", "fr", "en"])
    assert many["de"] == model.translate(query, "de")
    assert many["fr"] == model.translate(query, "fr")
    assert said(many["en"]) == [("delayed", "delayed"), ("trains", "trains")]


def test_shares_sum_to_one_and_carry_their_terms(model):
    [clause] = model.translate(Query("q", "maison", "fr"), "de")
    assert [(a.text, a.terms) for a in clause.alternatives] == [
        ("Haus", ("haus",)),
        ("Prime", ("prim",)),
        ("maison", ()),
    ]
    assert sum(a.weight for a in clause.alternatives) == pytest.approx(1)
    assert clause.alternatives[0].weight == pytest.approx(0.9 * 0.75, abs=0.02)  # 8 bits
    assert clause.alternatives[2].weight == 0.1  # a word as it stands has a tenth


def test_words_of_a_phrase_are_also_what_the_phrase_is(model):
    prime, minister = model.translate(Query("q", "prime minister", "en"), "de")
    assert [a.text for a in prime.alternatives] == ["Prime", "Premierminister", "prime"]
    assert [a.text for a in minister.alternatives] == ["Minister", "Premierminister", "minister"]
    assert prime.alternatives[1].weight == pytest.approx(0.9 * 0.3, abs=0.02)


def test_an_unknown_compound_is_taken_apart_and_other_words_and_numbers_stay(model):
    assert said(model.translate(Query("q", "Zugverspätung", "de"), "en")) == [("zug", "train"), ("verspat", "delay")]
    assert said(model.translate(Query("q", "Zaphod 42", "de"), "fr")) == [("Zaphod", "Zaphod"), ("42", "42")]


def test_neighbours_are_also_the_known_word_they_make_together(model):
    found = model.translate(Query("q", "house trains delay", "en"), "de")
    assert said(found) == [("house", "Haus"), ("trains", "Zug"), ("house trains", "Hauszug"), ("delay", "Verspätung")]
    assert found[2].alternatives == (Alternative("Hauszug", 1.0, ("hauszug",)),)


def test_an_english_word_in_a_foreign_query_is_read_as_english(model):
    assert said(model.translate(Query("q", "delay", "de"), "fr")) == [("delay", "retard")]


def test_terms_can_be_asked_about_one_by_one(model):
    assert model.knows("hous", "en")
    assert model.knows("prime minist", "en")
    assert not model.knows("zaphod", "de")
    assert [a.text for a in model.alternatives("haus", "de", "fr")] == ["maison"]
    assert model.alternatives("zaphod", "de", "fr") == ()


def test_a_language_it_does_not_have_is_refused_with_those_it_has(model):
    with pytest.raises(LanguageError, match="no 'ru'; it has en de fr"):
        model.translate(Query("q", "дом", "ru"), "de")


def test_saved_and_loaded_it_says_the_same(model, tmp_path):
    model.save(tmp_path / "m")
    again = default.load(tmp_path / "m")
    query = Query("q", "prime minister of the house", "en")
    assert again.translate_many(query, ["de", "fr"]) == model.translate_many(query, ["de", "fr"])
    assert again.meta == model.meta == {"words": {"en": 6, "de": 7, "fr": 5}, "licence": "CC BY-SA 4.0"}


def test_a_missing_model_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(default, "_PLACE", tmp_path / "nothing")
    default.open.cache_clear()
    with pytest.raises(ModelError, match="install paragloss again, or build it"):
        default.open()
    default.open.cache_clear()


def test_word_lists_find_every_word_and_no_other():
    spelled = {
        "": "", "a": "A", "hous": "house", "housekeep": "Housekeeping", "straß": "Straße", "дом": "дома",
        "कर": "करना", "zurich": "Zürich", "a b": "A b", "x" * 60: "entirely different", "ii": "İI",
    }  # fmt: skip
    del spelled[""]
    spelled |= {f"w{i}": f"W{i}s" for i in range(40)}
    terms = sorted(spelled, key=str.encode)
    words = _words.Words(*_words.packed(terms, [spelled[t] for t in terms]), len(terms))
    assert [words.find(t) for t in terms] == list(range(len(terms)))
    assert [words.entry(i) for i in range(len(terms))] == [(t, spelled[t]) for t in terms]
    assert [words.find(t) for t in ("0", "hou", "houses", "zz", "ж")] == [-1] * 5
    assert _words.Words(*_words.packed([], []), 0).find("a") == -1


def test_probabilities_in_eight_bits_are_off_by_two_percent_at_most():
    values = np.array([1.0, 0.5, 0.1, 0.01, 0.002])
    rows = _rows.packed(sp.csr_matrix((values, np.arange(5), [0, 0, 2, 5]), shape=(3, 5)))
    assert rows.row(0)[0].tolist() == []
    targets, weights = rows.row(2)
    assert targets.tolist() == [2, 3, 4]
    np.testing.assert_allclose(weights, values[2:], rtol=0.02)


@pytest.mark.parametrize(("word", "inside"), [
    ("zugverspat", ["zug", "verspat"]), ("arbeitszeit", ["arbeit", "zeit"]),
    ("zugzeitarbeit", ["zug", "zeit", "arbeit"]),
    ("zug", []), ("zugzzz", []),
])  # fmt: skip
def test_compounds_are_made_of_known_words(word, inside):
    assert parts(word, "de", {"zug", "verspat", "arbeit", "zeit"}.__contains__) == inside


def test_it_can_be_had_as_a_table_and_learned_on_from(model, tmp_path):
    whole = model.table([("en", "de"), ("de", "fr"), ("de", "ru")])
    assert whole.pairs == [("de", "fr"), ("en", "de")]
    assert said(whole.translate(Query("q", "Häuser", "de"), "fr")) == [("Häuser", "maison")]
    model.save(tmp_path / "m")
    texts = [Concept(str(i), {"de": f"Haus Katze {i}", "fr": f"maison chat {i}"}) for i in range(3)]
    on = table.fit(texts, start=str(tmp_path / "m"))
    assert said(on.translate(Query("q", "Katze und Verspätung", "de"), "fr")) == [
        ("Katze", "chat"),
        ("Verspätung", "retard"),
    ]


def test_the_shipped_model_opens_and_the_model_card_s_code_runs():
    card = (Path(__file__).parents[2] / "docs" / "model.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    exec(compile(code, "model.md", "exec"), {})
    assert default.open() is default.open()


def _meta(path):
    return json.loads((path / "meta.json").read_text())


def test_a_saved_model_that_says_nonsense_of_itself_gets_one_line(model, tmp_path):
    model.save(tmp_path / "m")
    contents = _meta(tmp_path / "m")
    for broken in (None, [], {"de": None}, {**contents["meta"]["langs"], "de": {"words": 7, "text": ["0", None]}}):
        contents["meta"]["langs"] = broken
        (tmp_path / "m" / "meta.json").write_text(json.dumps(contents))
        with pytest.raises(ModelError, match="damaged"):
            load(tmp_path / "m")


def test_damage_that_shows_only_when_words_are_looked_up_gets_one_line(model, tmp_path):
    model.save(tmp_path / "m")
    data = np.load(tmp_path / "m" / "targets.npy")
    np.save(tmp_path / "m" / "targets.npy", np.full_like(data, np.iinfo(data.dtype).max))
    damaged = load(tmp_path / "m")
    with pytest.raises(ModelError, match="damaged"):
        damaged.translate(Query("q", "houses", "en"), "de")
