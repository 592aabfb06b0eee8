"""The default model: how it is packed, how it translates, and that the one that is shipped works."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from translators import translate_best, translate_texts, translate_weights

from paragloss.collection import load
from paragloss.errors import LanguageError, ModelError
from paragloss.lab.methods import table
from paragloss.translation import default, packed_words
from paragloss.translation.default import _rows
from paragloss.translation.default.packing import Tables, pack
from paragloss.translation.default.table_unpacking import unpack_table
from paragloss.types import Concept, Query


def make_matrix(n_rows, n_columns, cells=None):
    """A matrix of (row, column, weight) cells in the order of their columns; without any, row i has a 1 in column i."""
    rows, columns, weights = zip(*(cells or [(i, i, 1.0) for i in range(n_rows)]), strict=True)
    return sp.csr_matrix((weights, (rows, columns)), shape=(n_rows, n_columns))


def one_to_one(lang, english, other, from_english=None, to_english=None):
    """Tables where each English word is one other, spelled as they are, unless matrices are given."""
    straight = make_matrix(len(english), len(english))
    matrices = [straight if matrix is None else matrix for matrix in (from_english, to_english)]
    return {lang: Tables(english, english, other, other, *matrices)}


@pytest.fixture
def model():
    """English with German and French: house, train, delay, prime minister."""
    english = ["hous", "train", "delay", "prime", "minist", "prime minist"]
    german = ["haus", "zug", "verspat", "prim", "minist", "premierminist", "hauszug"]
    french = ["maison", "train", "retard", "premi", "ministr"]
    de = Tables(
        english, ["house", "train", "delay", "prime", "minister", "prime minister"],
        german, ["Haus", "Zug", "Verspätung", "Prime", "Minister", "Premierminister", "Hauszug"],
        make_matrix(6, 7),
        make_matrix(7, 6, [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (5, 3, 0.5), (5, 4, 0.5), (6, 1, 1.0)]),
    )  # fmt: skip
    fr = Tables(
        english[:5], ["house", "train", "delay", "prime", "minister"],
        french, ["maison", "train", "retard", "premier", "ministre"],
        make_matrix(5, 5),
        make_matrix(5, 5, [(0, 0, 0.75), (0, 3, 0.25), (1, 1, 1.0), (2, 2, 1.0), (3, 3, 1.0), (4, 4, 1.0)]),
    )  # fmt: skip
    return pack({"de": de, "fr": fr}, about={"licence": "CC BY-SA 4.0"})


@pytest.mark.parametrize(("text", "source", "to", "expected"), [
    ("houses, delayed", "en", "de", [("houses", "Haus"), ("delayed", "Verspätung")]),
    ("Häuser", "de", "en", [("Häuser", "house")]),
    ("die Verspätung", "de", "fr", [("Verspätung", "retard")]),  # through English
    ("delayed trains", "en", "en", [("delayed", "delayed"), ("trains", "trains")]),
    ("houses", "eng", "deu", [("houses", "Haus")]),  # other codes of the languages
    ("delay", "de", "fr", [("delay", "retard")]),  # an English word in a German query is read as English
    ("Zugverspätung", "de", "en", [("zug", "train"), ("verspat", "delay")]),  # an unknown compound
    ("Hauszug", "de", "en", [("Hauszug", "train")]),  # a compound that is known
    ("Maisontrain", "fr", "en", [("Maisontrain", "Maisontrain")]),  # French has no compounds
    ("Zaphod 42", "de", "fr", [("Zaphod", "Zaphod"), ("42", "42")]),  # an unknown word and a number
    ("house trains delay", "en", "de",
     [("house", "Haus"), ("trains", "Zug"), ("house trains", "Hauszug"), ("delay", "Verspätung")]),
])  # fmt: skip
def test_words_are_translated_from_and_to_english_and_through_it(model, text, source, to, expected):
    assert model.langs == ("en", "de", "fr")
    assert translate_best(model, text, source, to) == expected
    query = Query("q", text, source)
    targets = ["de", "fr"] if source not in ("de", "fr") else ["en"]
    assert model.translate_many(query, targets) == {lang: model.translate(query, lang) for lang in targets}


def test_shares_sum_to_one_and_alternatives_have_their_terms(model):
    [clause] = model.translate(Query("q", "maison", "fr"), "de")
    alternatives = [("Haus", ("haus",)), ("Prime", ("prim",)), ("maison", ())]
    assert [(a.text, a.terms) for a in clause.alternatives] == alternatives
    # The word as it is has a tenth. Weights are stored in 8 bits.
    assert [a.weight for a in clause.alternatives] == pytest.approx([0.9 * 0.75, 0.9 * 0.25, 0.1], abs=0.02)
    assert sum(a.weight for a in clause.alternatives) == pytest.approx(1)
    assert translate_weights(model, "Zaphod", "de", "fr") == {"Zaphod": {"Zaphod": 1.0}}


def test_words_of_a_phrase_are_also_what_the_phrase_is(model):
    assert translate_texts(model, "prime minister") == {
        "prime": ["Prime", "Premierminister", "prime"],
        "minister": ["Minister", "Premierminister", "minister"],
    }
    weights = translate_weights(model, "prime minister")["prime"]
    assert weights["Premierminister"] == pytest.approx(0.9 * 0.3, abs=0.02)


@pytest.mark.parametrize(("text", "expected"), [
    # "ant bee" comes first and takes bee from "bee cat dog"; a word alone and an unknown one are no phrase.
    ("ant bee cat dog elk fox gnu hen", "zwei zwei cat drei drei vier vier hen"),
    ("cow bee cat dog elk", "cow eins eins eins elk"),
    ("asp bat cat dab elk", "fünf fünf fünf dab elk"),  # a phrase has three words at most
])  # fmt: skip
def test_phrases_are_the_longest_from_the_left_of_two_or_three_words(text, expected):
    phrases = ["ant bee", "asp bat cat", "asp bat cat dab", "bee cat dog", "dog elk", "fox gnu"]
    model = pack(one_to_one("de", phrases, ["zwei", "fünf", "sechs", "eins", "drei", "vier"]))
    assert [best for _, best in translate_best(model, text)] == expected.split()


def test_terms_are_looked_up_one_by_one(model):
    terms = ["hous", "prime minist", "zaphod"]
    assert [model.has_term(term, "en") for term in terms] == model.has_terms(terms, "en") == [True, True, False]
    assert model.has_term("haus", "ger")
    assert [a.text for a in model.alternatives("haus", "de", "fr")] == ["maison"]
    assert model.alternatives("zaphod", "de", "fr") == ()
    assert sum(a.weight for a in model.alternatives("maison", "fr", "de")) == pytest.approx(1)
    assert [*map(model.english_spelling, model.english_word_ids("premierminist", "de"))] == ["prime", "minister"]
    assert [model.is_capitalized(*word) for word in (("haus", "de"), ("hous", "en"), ("zaphod", "de"))] == [
        True, False, False,
    ]  # fmt: skip
    assert model.vocabulary("fr") == {"maison", "train", "retard", "premi", "ministr"}
    assert model.find_known_parts("zugverspat", "de") == ["zug", "verspat"]
    assert model.find_known_parts("hauszug", "de") == []  # it is known


@pytest.mark.parametrize(("text", "source", "to", "weights"), [
    ("house", "en", "ru", {"дом": 0.9, "house": 0.1}),  # ASCII is written everywhere
    ("дом", "ru", "en", {"hous": 1.0}),
    ("дом", "ru", "de", {"häus": 1.0}),
])  # fmt: skip
def test_a_word_as_it_is_is_an_alternative_where_both_languages_may_write_it(text, source, to, weights):
    model = pack(one_to_one("ru", ["hous"], ["дом"]) | one_to_one("de", ["hous"], ["häus"]))
    assert translate_weights(model, text, source, to)[text] == weights


def test_a_word_goes_through_six_english_words_and_has_twelve_alternatives():
    english, german = [f"e{i:02}" for i in range(20)], [f"d{i:02}" for i in range(20)]
    to_english = make_matrix(20, 20, [(0, i, 0.1 - i / 1000) for i in range(10)])
    from_english = make_matrix(20, 20, [(15, i, 0.06 - i / 1000) for i in range(16)] + [(i, i, 1.0) for i in range(10)])
    model = pack(
        one_to_one("de", english, german, from_english=from_english, to_english=to_english)
        | one_to_one("fr", english, [f"f{e}" for e in english])
    )
    assert [a.text for a in model.alternatives("d00", "de", "fr")] == [f"fe{i:02}" for i in range(6)]
    assert [a.text for a in model.alternatives("e15", "en", "de")] == german[:12]


def test_translations_through_several_english_words_add_up():
    # P(c | x) = .6 * .5 + .4 * .25 = .4; P(b | x) = .6 * .5 = .3; P(d | x) = .4 * .75 = .3
    to_english = make_matrix(2, 2, [(0, 0, 0.6), (0, 1, 0.4)])
    from_english = make_matrix(2, 3, [(0, 0, 0.5), (0, 1, 0.5), (1, 2, 0.75), (1, 1, 0.25)])
    tables = one_to_one("de", ["e", "f"], ["x", "y"], to_english=to_english)
    tables["fr"] = Tables(
        ["e", "f"], ["e", "f"], ["b", "c", "d"], ["b", "c", "d"], from_english, make_matrix(3, 2, [(0, 0, 1.0)])
    )
    alternatives = pack(tables, exact=True).alternatives("x", "de", "fr")
    assert [(a.text, pytest.approx(a.weight)) for a in alternatives] == [("c", 0.4), ("b", 0.3), ("d", 0.3)]


def test_equally_likely_translations_of_one_english_word_keep_their_order():
    from_english = sp.csr_matrix(([0.4, 0.3, 0.3], [2, 1, 0], [0, 3]), shape=(1, 3))
    tables = Tables(["e"], ["e"], list("abc"), list("abc"), from_english, make_matrix(3, 1, [(0, 0, 1.0)]))
    assert [a.text for a in pack({"de": tables}).alternatives("e", "en", "de")] == ["c", "b", "a"]


def test_translations_with_less_than_a_sixtieth_of_the_share_are_left_out():
    weights = make_matrix(1, 3, [(0, 0, 0.97), (0, 1, 0.02), (0, 2, 0.01)])
    tables = Tables(["e"], ["e"], list("abc"), list("abc"), weights, make_matrix(3, 1, [(0, 0, 1.0)]))
    alternatives = pack({"de": tables}, exact=True).alternatives("e", "en", "de")
    assert [(a.text, pytest.approx(a.weight)) for a in alternatives] == [("a", 0.97 / 0.99), ("b", 0.02 / 0.99)]


@pytest.mark.parametrize(("exact", "tolerance", "kind"), [(False, 0.02, np.uint8), (True, 1e-7, np.float32)])
def test_full_precision_is_kept_on_request(tmp_path, exact, tolerance, kind):
    thirds = make_matrix(1, 2, [(0, 0, 2 / 3), (0, 1, 1 / 3)])
    tables = {"de": Tables(["e"], ["e"], ["a", "b"], ["a", "b"], thirds, make_matrix(2, 1, [(0, 0, 1.0), (1, 0, 1.0)]))}
    model = pack(tables, exact=exact)
    weights = [alternative.weight for alternative in model.alternatives("e", "en", "de")]
    assert weights == pytest.approx([2 / 3, 1 / 3], rel=tolerance)
    model.save(tmp_path / "m")
    assert np.load(tmp_path / "m" / "weights.npy").dtype == kind


def test_a_language_it_does_not_have_is_refused_with_those_it_has(model):
    with pytest.raises(LanguageError, match="no 'ru'; it has en de fr"):
        model.translate(Query("q", "дом", "ru"), "de")


def test_a_loaded_model_translates_like_the_saved_one(model, tmp_path):
    model.save(tmp_path / "m")
    loaded = default.load(tmp_path / "m")
    query = Query("q", "prime minister of the house", "en")
    assert loaded.translate_many(query, ["de", "fr"]) == model.translate_many(query, ["de", "fr"])
    assert loaded.meta == model.meta == {"words": {"en": 6, "de": 7, "fr": 5}, "licence": "CC BY-SA 4.0"}


def test_a_missing_model_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(default, "FOLDER", tmp_path / "nothing")
    default.open.cache_clear()
    with pytest.raises(ModelError, match="install paragloss again, or build it"):
        default.open()
    default.open.cache_clear()


def make_word_list(spelling_by_term):
    terms = sorted(spelling_by_term, key=str.encode)
    packed = packed_words.pack_words(terms, [spelling_by_term[term] for term in terms])
    return packed_words.PackedWordList(*packed, len(terms))


def test_word_lists_find_every_word_and_no_other():
    spelled = {
        "a": "A", "hous": "house", "housekeep": "Housekeeping", "straß": "Straße", "дом": "дома",
        "कर": "करना", "zurich": "Zürich", "a b": "A b", "x" * 60: "entirely different", "ii": "İI",
        "iphon": "iPhone", "abba": "ABBA", "3d": "3D", "p": "p" + "q" * 14, "q": "q" + "r" * 15, "s": "S" + "t" * 15,
        "cutseven": "c", "cuteight1": "c", "long": "l" * 255,
    } | {f"w{i}": f"W{i}s" for i in range(40)}  # fmt: skip
    terms, words = sorted(spelled, key=str.encode), make_word_list(spelled)
    assert [words.find(term) for term in terms] == list(range(len(terms)))
    assert [words.entry(i) for i in range(len(terms))] == [(term, spelled[term]) for term in terms]
    assert list(words) == terms
    assert len(words) == len(terms)
    unknown = ("0", "hou", "houses", "zz", "ж")
    assert [words.find(term) for term in unknown] == [-1] * 5
    assert words.load_terms() == set(terms)
    assert [words.find(term) for term in (*terms, *unknown)] == [*range(len(terms)), *[-1] * 5]
    assert make_word_list({}).find("a") == -1


def test_a_spelling_takes_a_byte_and_the_letters_that_the_term_lacks():
    data, starts = packed_words.pack_words(["hous", "housekeep"], ["House", "housekeeper"])
    # nothing shared, 4 letters, hous; a capital, nothing cut, 1 letter, e; 4 shared, 5 letters; nothing cut, 2 letters
    assert bytes(data) == b"\x00\x04hous\x81e" + b"\x04\x05ekeep\x02er"
    assert starts.tolist() == [0]


def test_a_spelling_that_is_far_too_long_is_left_out():
    words = make_word_list({"a": "x" * 255, "b": "x" * 256})
    assert [words.entry(i) for i in range(2)] == [("a", "x" * 255), ("b", "b")]


def test_rows_are_found_in_every_group():
    rows = _rows.pack_rows(make_matrix(35, 35))
    assert [rows.read_row(i) for i in range(35)] == [[(i, 1.0)] for i in range(35)]  # what is certain is not rounded


def test_probabilities_in_eight_bits_are_off_by_two_percent_at_most():
    values = [1.0, 0.5, 0.1, 0.01, 0.002]
    rows = _rows.pack_rows(sp.csr_matrix((values, np.arange(5), [0, 0, 2, 5]), shape=(3, 5)))
    assert rows.read_row(0) == []
    assert rows.read_row(2) == [(i, pytest.approx(values[i], rel=0.02)) for i in (2, 3, 4)]
    assert rows.read_row(2, max_entries=1) == rows.read_row(2)[:1]


def test_the_default_model_can_be_made_a_table_that_training_continues_from(model, tmp_path):
    full_table = unpack_table(model, [("en", "de"), ("de", "fr"), ("de", "en"), ("de", "ru")])
    assert full_table.pairs == [("de", "en"), ("de", "fr"), ("en", "de")]
    assert translate_best(full_table, "Häuser", "de", "fr") == [("Häuser", "maison")]
    model.save(tmp_path / "m")
    texts = [Concept(str(i), {"de": f"Haus Katze {i}", "fr": f"maison chat {i}"}) for i in range(3)]
    continued = table.fit(texts, start=str(tmp_path / "m"))
    best = translate_best(continued, "Katze und Verspätung", "de", "fr")
    assert best == [("Katze", "chat"), ("Verspätung", "retard")]


def test_the_shipped_model_opens_and_the_model_card_s_code_runs():
    card = (Path(__file__).parents[2] / "docs" / "understand" / "model.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    exec(compile(code, "model.md", "exec"), {})
    assert default.open() is default.open()


@pytest.mark.parametrize("broken", [None, [], {"de": None}, {"de": {"words": 7, "text": ["0", None]}}])
def test_a_model_with_damaged_metadata_is_an_error(model, tmp_path, broken):
    model.save(tmp_path / "m")
    contents = json.loads((tmp_path / "m" / "meta.json").read_text())
    has_words = isinstance(broken, dict) and broken["de"]
    contents["meta"]["langs"] = {**contents["meta"]["langs"], **broken} if has_words else broken
    (tmp_path / "m" / "meta.json").write_text(json.dumps(contents))
    with pytest.raises(ModelError, match="damaged"):
        load(tmp_path / "m")


def test_damage_found_at_lookup_is_an_error(model, tmp_path):
    model.save(tmp_path / "m")
    data = np.load(tmp_path / "m" / "targets.npy")
    np.save(tmp_path / "m" / "targets.npy", np.full_like(data, np.iinfo(data.dtype).max))
    damaged = load(tmp_path / "m")
    with pytest.raises(ModelError, match="damaged"):
        damaged.translate(Query("q", "houses", "en"), "de")
    with pytest.raises(ModelError, match="damaged"):
        damaged.alternatives("hous", "en", "de")
