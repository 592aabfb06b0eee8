"""The model in the box: how it is packed, how it translates, and that the one that is shipped works."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from paragloss.collection import load
from paragloss.errors import LanguageError, ModelError
from paragloss.lab.methods import table
from paragloss.translation import default, packed_words
from paragloss.translation.compounds import split_compound
from paragloss.translation.default import _rows
from paragloss.translation.default.packing import Tables, pack
from paragloss.types import Alternative, Concept, Query


def make_matrix(rows, columns, cells):
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
        make_matrix(6, 7, [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (3, 3, 1.0), (4, 4, 1.0), (5, 5, 1.0)]),
        make_matrix(7, 6, [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (5, 3, 0.5), (5, 4, 0.5), (6, 1, 1.0)]),
    )  # fmt: skip
    fr = Tables(
        english[:5], ["house", "train", "delay", "prime", "minister"],
        french, ["maison", "train", "retard", "premier", "ministre"],
        make_matrix(5, 5, [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (3, 3, 1.0), (4, 4, 1.0)]),
        make_matrix(5, 5, [(0, 0, 0.75), (0, 3, 0.25), (1, 1, 1.0), (2, 2, 1.0), (3, 3, 1.0), (4, 4, 1.0)]),
    )  # fmt: skip
    return pack({"de": de, "fr": fr}, about={"licence": "CC BY-SA 4.0"})


def list_best(translations):
    return [(t.source, t.alternatives[0].text) for t in translations]


def test_a_query_is_translated_from_and_to_english_and_through_it(model):
    assert model.langs == ("en", "de", "fr")
    assert list_best(model.translate(Query("q", "houses, delayed", "en"), "de")) == [
        ("houses", "Haus"),
        ("delayed", "Verspätung"),
    ]
    assert list_best(model.translate(Query("q", "Häuser", "de"), "en")) == [("Häuser", "house")]
    assert list_best(model.translate(Query("q", "die Verspätung", "de"), "fr")) == [("Verspätung", "retard")]


def test_many_targets_at_once_equal_each_by_itself(model):
    query = Query("q", "delayed trains", "en")
    by_language = model.translate_many(query, ["de", "fr", "en"])
    assert by_language["de"] == model.translate(query, "de")
    assert by_language["fr"] == model.translate(query, "fr")
    assert list_best(by_language["en"]) == [("delayed", "delayed"), ("trains", "trains")]


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
    assert list_best(model.translate(Query("q", "Zugverspätung", "de"), "en")) == [
        ("zug", "train"),
        ("verspat", "delay"),
    ]
    assert list_best(model.translate(Query("q", "Zaphod 42", "de"), "fr")) == [("Zaphod", "Zaphod"), ("42", "42")]
    (zaphod,) = model.translate(Query("q", "Zaphod", "de"), "fr")
    assert zaphod.alternatives == (Alternative("Zaphod", 1.0),)


def test_neighbours_are_also_the_known_word_they_make_together(model):
    clauses = model.translate(Query("q", "house trains delay", "en"), "de")
    assert list_best(clauses) == [
        ("house", "Haus"),
        ("trains", "Zug"),
        ("house trains", "Hauszug"),
        ("delay", "Verspätung"),
    ]
    assert clauses[2].alternatives == (Alternative("Hauszug", 1.0, ("hauszug",)),)


def test_a_known_word_is_not_taken_apart_and_an_unknown_one_only_where_words_are_compounds(model):
    assert list_best(model.translate(Query("q", "Hauszug", "de"), "en")) == [("Hauszug", "train")]
    assert list_best(model.translate(Query("q", "Maisontrain", "fr"), "en")) == [("Maisontrain", "Maisontrain")]


def test_languages_go_by_any_of_their_codes(model):
    assert list_best(model.translate(Query("q", "houses", "eng"), "deu")) == [("houses", "Haus")]
    assert model.has_term("haus", "ger")


def test_an_english_word_in_a_foreign_query_is_read_as_english(model):
    assert list_best(model.translate(Query("q", "delay", "de"), "fr")) == [("delay", "retard")]


def test_terms_can_be_asked_about_one_by_one(model):
    assert model.has_term("hous", "en")
    assert model.has_term("prime minist", "en")
    assert not model.has_term("zaphod", "de")
    assert [a.text for a in model.alternatives("haus", "de", "fr")] == ["maison"]
    assert model.alternatives("zaphod", "de", "fr") == ()
    assert [*map(model.english_spelling, model.english_word_ids("verspat", "de"))] == [
        a.text for a in model.alternatives("verspat", "de", "en")
    ]
    assert sum(a.weight for a in model.alternatives("maison", "fr", "de")) == pytest.approx(1)
    assert model.is_capitalized("haus", "de")
    assert not model.is_capitalized("hous", "en")
    assert not model.is_capitalized("zaphod", "de")
    assert model.vocabulary("fr") == {"maison", "train", "retard", "premi", "ministr"}
    assert model.find_known_parts("zugverspat", "de") == ["zug", "verspat"]
    assert model.find_known_parts("hauszug", "de") == []  # it is known


def one_to_one(lang, english, other, from_english=None, to_english=None):
    """Tables where each English word is one other, spelled as they are, unless matrices are given."""
    number = len(english)
    straight = make_matrix(number, number, [(i, i, 1.0) for i in range(number)])
    matrices = [straight if matrix is None else matrix for matrix in (from_english, to_english)]
    return {lang: Tables(english, english, other, other, *matrices)}


def test_a_word_as_it_stands_is_an_alternative_where_both_might_write_it():
    model = pack(one_to_one("ru", ["hous"], ["дом"]) | one_to_one("de", ["hous"], ["häus"]))

    def shares(text, source, target):
        (clause,) = model.translate(Query("q", text, source), target)
        return {a.text: pytest.approx(a.weight) for a in clause.alternatives}

    assert shares("house", "en", "ru") == {"дом": 0.9, "house": 0.1}  # ASCII is written everywhere
    assert shares("дом", "ru", "en") == {"hous": 1.0}
    assert shares("дом", "ru", "de") == {"häus": 1.0}


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


def test_a_phrase_has_three_words_at_most():
    model = pack(one_to_one("de", ["a1 b1 c1", "a1 b1 c1 d1", "z1"], ["drei", "vier", "letzt"]))
    clauses = model.translate(Query("q", "a1 b1 c1 d1 z1", "en"), "de")
    assert [(t.source, t.alternatives[0].text) for t in clauses] == [
        ("a1", "drei"), ("b1", "drei"), ("c1", "drei"), ("d1", "d1"), ("z1", "letzt"),
    ]  # fmt: skip


def test_full_precision_is_kept_on_request(tmp_path):
    thirds = make_matrix(1, 2, [(0, 0, 2 / 3), (0, 1, 1 / 3)])
    tables = {"de": Tables(["e"], ["e"], ["a", "b"], ["a", "b"], thirds, make_matrix(2, 1, [(0, 0, 1.0), (1, 0, 1.0)]))}
    for exact, tolerance, kind in ((False, 0.02, np.uint8), (True, 1e-7, np.float32)):
        model = pack(tables, exact=exact) if exact else pack(tables)
        first, second = model.alternatives("e", "en", "de")
        assert [first.weight, second.weight] == pytest.approx([2 / 3, 1 / 3], rel=tolerance)
        model.save(tmp_path / str(exact))
        assert np.load(tmp_path / str(exact) / "weights.npy").dtype == kind


def test_a_model_of_two_languages_can_be_made_a_table():
    model = pack(one_to_one("de", ["hous"], ["haus"]))
    assert default.table(model, [("en", "de"), ("de", "en"), ("de", "fr")]).pairs == [("de", "en"), ("en", "de")]


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


def test_word_lists_find_every_word_and_no_other():
    spelled = {
        "": "", "a": "A", "hous": "house", "housekeep": "Housekeeping", "straß": "Straße", "дом": "дома",
        "कर": "करना", "zurich": "Zürich", "a b": "A b", "x" * 60: "entirely different", "ii": "İI",
        "iphon": "iPhone", "abba": "ABBA", "3d": "3D", "p": "p" + "q" * 14, "q": "q" + "r" * 15, "s": "S" + "t" * 15,
        "cutseven": "c", "cuteight1": "c", "long": "l" * 255,
    }  # fmt: skip
    del spelled[""]
    spelled |= {f"w{i}": f"W{i}s" for i in range(40)}
    terms = sorted(spelled, key=str.encode)
    words = packed_words.PackedWordList(*packed_words.pack_words(terms, [spelled[t] for t in terms]), len(terms))
    assert [words.find(t) for t in terms] == list(range(len(terms)))
    assert [words.entry(i) for i in range(len(terms))] == [(t, spelled[t]) for t in terms]
    assert list(words) == terms
    assert len(words) == len(terms)
    assert [words.find(t) for t in ("0", "hou", "houses", "zz", "ж")] == [-1] * 5
    assert packed_words.PackedWordList(*packed_words.pack_words([], []), 0).find("a") == -1


def test_a_spelling_takes_a_byte_and_the_letters_that_the_term_lacks():
    data, starts = packed_words.pack_words(["hous", "housekeep"], ["House", "housekeeper"])
    # nothing shared, 4 letters, hous; a capital, nothing cut, 1 letter, e; 4 shared, 5 letters; nothing cut, 2 letters
    assert bytes(data) == b"\x00\x04hous\x81e" + b"\x04\x05ekeep\x02er"
    assert starts.tolist() == [0]


def test_a_spelling_that_is_far_too_long_is_left_out():
    words = packed_words.PackedWordList(*packed_words.pack_words(["a", "b"], ["x" * 255, "x" * 256]), 2)
    assert words.entry(0) == ("a", "x" * 255)
    assert words.entry(1) == ("b", "b")


def test_rows_are_found_in_every_group():
    rows = _rows.pack_rows(sp.csr_matrix((np.full(35, 1.0), np.arange(35), np.arange(36)), shape=(35, 35)))
    assert [rows.row(i)[0].tolist() for i in range(35)] == [[i] for i in range(35)]
    assert rows.row(34)[1].tolist() == [1.0]  # what is certain is not rounded


def test_probabilities_in_eight_bits_are_off_by_two_percent_at_most():
    values = np.array([1.0, 0.5, 0.1, 0.01, 0.002])
    rows = _rows.pack_rows(sp.csr_matrix((values, np.arange(5), [0, 0, 2, 5]), shape=(3, 5)))
    assert rows.row(0)[0].tolist() == []
    targets, weights = rows.row(2)
    assert targets.tolist() == [2, 3, 4]
    np.testing.assert_allclose(weights, values[2:], rtol=0.02)


@pytest.mark.parametrize(("word", "parts"), [
    ("zugverspat", ["zug", "verspat"]), ("arbeitszeit", ["arbeit", "zeit"]),
    ("zugzeitarbeit", ["zug", "zeit", "arbeit"]),
    ("zug", []), ("zugzzz", []),
])  # fmt: skip
def test_compounds_are_made_of_known_words(word, parts):
    assert split_compound(word, "de", {"zug", "verspat", "arbeit", "zeit"}.__contains__) == parts


def test_the_default_model_can_be_made_a_table_that_training_continues_from(model, tmp_path):
    full_table = default.table(model, [("en", "de"), ("de", "fr"), ("de", "ru")])
    assert full_table.pairs == [("de", "fr"), ("en", "de")]
    assert list_best(full_table.translate(Query("q", "Häuser", "de"), "fr")) == [("Häuser", "maison")]
    model.save(tmp_path / "m")
    texts = [Concept(str(i), {"de": f"Haus Katze {i}", "fr": f"maison chat {i}"}) for i in range(3)]
    continued = table.fit(texts, start=str(tmp_path / "m"))
    assert list_best(continued.translate(Query("q", "Katze und Verspätung", "de"), "fr")) == [
        ("Katze", "chat"),
        ("Verspätung", "retard"),
    ]


def test_the_shipped_model_opens_and_the_model_card_s_code_runs():
    card = (Path(__file__).parents[2] / "docs" / "understand" / "model.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    exec(compile(code, "model.md", "exec"), {})
    assert default.open() is default.open()


def _meta(path):
    return json.loads((path / "meta.json").read_text())


def test_a_model_with_damaged_metadata_is_an_error(model, tmp_path):
    model.save(tmp_path / "m")
    contents = _meta(tmp_path / "m")
    for broken in (None, [], {"de": None}, {**contents["meta"]["langs"], "de": {"words": 7, "text": ["0", None]}}):
        contents["meta"]["langs"] = broken
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


def test_phrases_are_the_longest_from_the_left_of_two_or_three_words():
    phrases, german = ["bee cat dog", "ant bee", "dog elk", "fox gnu"], ["eins", "zwei", "drei", "vier"]
    same_row = make_matrix(4, 4, [(i, i, 1.0) for i in range(4)])
    model = pack({"de": Tables(phrases, phrases, german, german, same_row, same_row)}, about={"licence": ""})
    # "ant bee" is met first and takes bee from "bee cat dog"; a word alone and what nobody knows are no phrase.
    assert list_best(model.translate(Query("q", "ant bee cat dog elk fox gnu hen", "en"), "de")) == [
        ("ant", "zwei"), ("bee", "zwei"), ("cat", "cat"), ("dog", "drei"), ("elk", "drei"),
        ("fox", "vier"), ("gnu", "vier"), ("hen", "hen"),
    ]  # fmt: skip
    assert list_best(model.translate(Query("q", "cow bee cat dog elk", "en"), "de")) == [
        ("cow", "cow"), ("bee", "eins"), ("cat", "eins"), ("dog", "eins"), ("elk", "elk"),
    ]  # fmt: skip


def _one_by_one(model, term, source, target):
    """What a term may be in another language, a row at a time: P(y | x) = sum over e of P(y | e) P(e | x)."""
    language, sums, rows = model.read_language(target), {}, 0
    for number, share in model.english(term, source):
        if language.from_english is None:
            sums[number] = share
            continue
        row_number = np.searchsorted(language.english, number)
        if row_number < len(language.english) and language.english[row_number] == number:
            rows += bool(len(language.from_english.row(int(row_number))[0]))
            for target_id, weight in zip(*language.from_english.row(int(row_number)), strict=True):
                sums[int(target_id)] = sums.get(int(target_id), 0.0) + share * float(weight)
    ordered = sorted(sums.items()) if rows > 1 else list(sums.items())  # equals stay in this order
    best = dict(sorted(ordered, key=lambda pair: -pair[1])[:12])
    likely = {number: weight for number, weight in best.items() if weight >= 0.015 * sum(best.values())}
    return {language.words.entry(number)[1]: weight / sum(likely.values()) for number, weight in likely.items()}


@pytest.mark.parametrize("source", ["en", "de"])
def test_all_languages_at_once_equal_the_rows_one_by_one(source):
    model, words = default.open(), {"en": "printer driver house", "de": "Haus Zeit Drucker"}[source]
    targets = [lang for lang in model.langs if lang != source]
    assert len(targets) >= 46
    by_language = default.load(default.FOLDER).translate_many(Query("", words, source), targets)
    for lang in targets:
        assert by_language[lang] == default.load(default.FOLDER).translate(Query("", words, source), lang), lang
        for piece in model.split_query(words, source):
            weights = {a.text: pytest.approx(a.weight) for a in model.alternatives(piece.term, source, lang)}
            assert weights == _one_by_one(model, piece.term, source, lang), (lang, piece.term)


def test_translated_words_are_cached_for_every_language():
    model, query = default.load(default.FOLDER), Query("", "printer driver", "en")
    first = {lang: model.translate(query, lang) for lang in ("de", "fr", "zh")}
    assert model.translate_many(query, ["zh", "fr", "de", "en"]) == {**first, "en": model.translate(query, "en")}
    assert len(model._cached_translations) == 2
