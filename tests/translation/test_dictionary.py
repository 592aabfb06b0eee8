"""Translation by dictionary: which entries match, which translations are chosen, what happens to the rest."""

import json
import os

import pytest

from paragloss.errors import InputError, LanguageError, ModelError
from paragloss.formats.dictionaries import Entry, read_pairs
from paragloss.translation import dictionary as dictionaries
from paragloss.translation.dictionary import Dictionary, WatchedDictionary
from paragloss.translation.transliteration import carry
from paragloss.types import Query, Translator

ENTRIES = [
    Entry("bank", "Bank", "noun", 3.0),
    Entry("bank", "Ufer", "noun"),
    Entry("bank", "sich neigen", "verb"),
    Entry("river", "Fluss", "noun"),
    Entry("river bank", "Flussufer", "noun"),
    Entry("United States of America", "Vereinigte Staaten"),
    Entry("house", "Haus", "noun"),
]


def build_dictionary(**options):
    return Dictionary.build(ENTRIES, "en", "de", **options)


def translate_words(dictionary, text):
    return {t.source: [a.text for a in t.alternatives] for t in dictionary.translate(Query("q", text, "en"), "de")}


def test_a_dictionary_is_a_translator():
    assert isinstance(build_dictionary(), Translator)


def test_alternatives_share_the_weight_by_theirs():
    (only,) = build_dictionary().translate(Query("q", "bank", "en"), "de")
    assert only.source == "bank"
    assert [(a.text, a.weight) for a in only.alternatives] == [
        ("Bank", pytest.approx(0.6)), ("Ufer", pytest.approx(0.2)), ("sich neigen", pytest.approx(0.2))
    ]  # fmt: skip


def test_choose_best_keeps_the_best_alternative():
    (only,) = build_dictionary(choose="best").translate(Query("q", "bank", "en"), "de")
    assert [a[:2] for a in only.alternatives] == [("Bank", 1.0)]


def test_a_random_word_is_the_same_every_time_and_another_for_another_seed():
    def draw(seed, text="bank"):
        return translate_words(build_dictionary(choose="random", seed=seed), text)["bank"][0]

    assert draw(1) == draw(1)
    assert {draw(seed) for seed in range(30)} == {"Bank", "Ufer", "sich neigen"}
    assert {draw(1, f"bank {i}") for i in range(30)} == {"Bank", "Ufer", "sich neigen"}


def test_the_longest_entry_matches_first():
    assert translate_words(build_dictionary(), "River Bank house") == {"River Bank": ["Flussufer"], "house": ["Haus"]}


def test_a_phrase_may_hold_stop_words_that_alone_are_dropped():
    alternatives = translate_words(build_dictionary(), "the united states of america")
    assert alternatives == {"united states of america": ["Vereinigte Staaten"]}


def test_a_word_without_an_entry_is_found_by_its_stem_or_stays():
    assert translate_words(build_dictionary(), "houses") == {"houses": ["Haus"]}
    assert translate_words(build_dictionary(stem=False), "houses") == {"houses": ["houses"]}
    assert translate_words(build_dictionary(), "river banks") == {"river banks": ["Flussufer"]}


def test_an_exact_entry_wins_over_a_stemmed_one():
    dictionary = Dictionary.build([Entry("banks", "Banken"), Entry("bank", "Ufer")], "en", "de")
    assert translate_words(dictionary, "banks") == {"banks": ["Banken"]}


def test_an_untranslatable_name_is_carried_into_the_other_script():
    to_russian = Dictionary.build([Entry("house", "дом")], "en", "ru", carry=carry)
    clauses = to_russian.translate(Query("q", "Ivanov house", "en"), "ru")
    assert [t.alternatives[0].text for t in clauses] == ["Иванов", "дом"]


def test_a_dictionary_can_be_varied():
    assert translate_words(build_dictionary().varied(stem=False), "houses") == {"houses": ["houses"]}
    assert translate_words(build_dictionary().varied(), "houses") == {"houses": ["Haus"]}
    shouting, whispering = (lambda word, to: word.upper()), (lambda word, to: word.lower())
    assert translate_words(build_dictionary(carry=shouting).varied(), "Xanten") == {"Xanten": ["XANTEN"]}
    assert translate_words(build_dictionary(carry=shouting).varied(carry=whispering), "Xanten") == {
        "Xanten": ["xanten"]
    }
    assert translate_words(build_dictionary().varied(carry=shouting), "Xanten") == {"Xanten": ["XANTEN"]}


def test_a_dictionary_knows_its_terms_and_language():
    assert build_dictionary().langs == ("en",)
    assert [build_dictionary().has_term(term, "en") for term in ("bank", "hous", "zebra")] == [True, True, False]
    assert not build_dictionary().has_term("bank", "de")
    assert not build_dictionary(stem=False).has_term("hous", "en")


def test_a_limited_number_of_alternatives_shares_the_weight():
    (only,) = build_dictionary(most=2).translate(Query("q", "bank", "en"), "de")
    assert [a[:2] for a in only.alternatives] == [("Bank", 0.75), ("Ufer", 0.25)]


def test_equal_entries_add_up_and_weightless_or_empty_ones_are_dropped():
    dictionary = Dictionary.build(
        [Entry("a", "x"), Entry("a", "x"), Entry("a", "y"), Entry("a", "z", "", 0.0), Entry("...", "w")], "en", "de"
    )
    assert len(dictionary) == 1
    (only,) = dictionary.translate(Query("q", "a", "en"), "de")
    assert [a[:2] for a in only.alternatives] == [("x", pytest.approx(2 / 3)), ("y", pytest.approx(1 / 3))]


def test_saved_and_loaded_it_translates_the_same(tmp_path):
    dictionary = build_dictionary(choose="random", seed=7, stem=False)
    dictionary.save(tmp_path / "d")
    loaded = dictionaries.load(tmp_path / "d")
    for text in ("bank", "river bank houses", "houses"):
        assert translate_words(loaded, text) == translate_words(dictionary, text)


def test_wrong_languages_and_wrong_choices_are_refused():
    with pytest.raises(LanguageError, match="no dictionary for en->fr; this one is en->de"):
        build_dictionary().translate(Query("q", "bank", "en"), "fr")
    with pytest.raises(InputError, match="'all': expected one of every, best, random"):
        build_dictionary(choose="all")


@pytest.fixture
def glossary(tmp_path):
    path = tmp_path / "glossary.tsv"
    path.write_text("server\tServer\n", encoding="utf-8")
    return path, WatchedDictionary(path, lambda p: Dictionary.build(read_pairs(p), "en", "de"))


def test_an_edited_glossary_counts_from_the_next_query_on(glossary):
    path, translator = glossary
    assert translate_words(translator, "server") == {"server": ["Server"]}
    path.write_text("server\tDiener\nclient\tKunde\n", encoding="utf-8")
    assert translate_words(translator, "server client") == {"server": ["Diener"], "client": ["Kunde"]}


def test_an_edit_that_keeps_the_size_is_seen_too(glossary):
    path, translator = glossary
    path.write_text("server\tWerver\n", encoding="utf-8")
    os.utime(path, ns=(1, 1))
    assert translate_words(translator, "server") == {"server": ["Werver"]}


def test_a_glossary_broken_by_an_edit_keeps_its_last_good_state(glossary):
    path, translator = glossary
    path.write_text("onlyoneword\n", encoding="utf-8")
    with pytest.warns(UserWarning, match="was not reloaded"):
        assert translate_words(translator, "server") == {"server": ["Server"]}
    path.unlink()
    with pytest.warns(UserWarning, match="was not reloaded"):
        assert translate_words(translator, "server") == {"server": ["Server"]}


def test_a_dictionary_with_damaged_settings_is_an_error(tmp_path):
    Dictionary.build([Entry("bread", "pain")], "en", "fr").save(tmp_path / "d")
    meta = json.loads((tmp_path / "d" / "meta.json").read_text())
    meta["meta"]["most"] = 1.5
    (tmp_path / "d" / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(ModelError, match="damaged"):
        Dictionary.load(tmp_path / "d")
