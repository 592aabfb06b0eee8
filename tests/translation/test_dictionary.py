"""Translation by dictionary: which entries match, which translations are chosen, what happens to the rest."""

import json
import os

import pytest
from translators import translate_best, translate_texts, translate_weights

from paragloss.errors import InputError, LanguageError, ModelError
from paragloss.formats.dictionaries import Entry, read_pairs
from paragloss.translation import dictionary as dictionaries
from paragloss.translation.dictionary import Dictionary, WatchedDictionary
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


def test_alternatives_share_the_weight_by_theirs():
    dictionary = build_dictionary()
    assert isinstance(dictionary, Translator)
    assert translate_weights(dictionary, "bank") == {"bank": {"Bank": 0.6, "Ufer": 0.2, "sich neigen": 0.2}}
    assert translate_weights(build_dictionary(choose="best"), "bank") == {"bank": {"Bank": 1.0}}
    assert translate_weights(build_dictionary(most=2), "bank") == {"bank": {"Bank": 0.75, "Ufer": 0.25}}


def test_a_random_word_is_the_same_every_time_and_another_for_another_seed_or_query():
    def draw(seed, text="bank"):
        return translate_texts(build_dictionary(choose="random", seed=seed), text)["bank"][0]

    assert draw(1) == draw(1)
    assert {draw(seed) for seed in range(30)} == {"Bank", "Ufer", "sich neigen"}
    assert {draw(1, f"bank {i}") for i in range(30)} == {"Bank", "Ufer", "sich neigen"}


@pytest.mark.parametrize(
    ("text", "options", "best"),
    [
        ("River Bank house", {}, [("River Bank", "Flussufer"), ("house", "Haus")]),  # the longest entry
        # A phrase may have stop words, which are dropped alone.
        ("the united states of america", {}, [("united states of america", "Vereinigte Staaten")]),
        ("houses", {}, [("houses", "Haus")]),  # by its stem
        ("houses", {"stem": False}, [("houses", "houses")]),
        ("river banks", {}, [("river banks", "Flussufer")]),
        ("Xanten", {}, [("Xanten", "Xanten")]),
        ("Xanten", {"carry": lambda word, to: f"{word} in {to}"}, [("Xanten", "Xanten in de")]),
    ],
)
def test_a_query_is_translated_by_its_longest_entries(text, options, best):
    assert translate_best(build_dictionary(**options), text) == best
    if not options.keys() - {"carry", "stem"}:
        assert translate_best(build_dictionary().varied(**options), text) == best


def test_a_varied_dictionary_keeps_what_is_not_varied():
    shouting, whispering = (lambda word, to: word.upper()), (lambda word, to: word.lower())
    assert translate_best(build_dictionary(carry=shouting).varied(), "Xanten") == [("Xanten", "XANTEN")]
    varied = build_dictionary(carry=shouting, stem=False).varied(carry=whispering)
    assert translate_best(varied, "Xanten houses") == [("Xanten", "xanten"), ("houses", "houses")]


def test_an_exact_entry_wins_over_a_stemmed_one():
    dictionary = Dictionary.build([Entry("banks", "Banken"), Entry("bank", "Ufer")], "en", "de")
    assert translate_best(dictionary, "banks") == [("banks", "Banken")]


def test_a_dictionary_knows_its_terms_and_language():
    assert build_dictionary().langs == ("en",)
    assert [build_dictionary().has_term(term, "en") for term in ("bank", "hous", "zebra")] == [True, True, False]
    assert not build_dictionary().has_term("bank", "de")
    assert not build_dictionary(stem=False).has_term("hous", "en")


def test_equal_entries_add_up_and_weightless_or_empty_ones_are_dropped():
    entries = [Entry("a", "x"), Entry("a", "x"), Entry("a", "y"), Entry("a", "z", "", 0.0), Entry("...", "w")]
    dictionary = Dictionary.build(entries, "en", "de")
    assert len(dictionary) == 1
    assert translate_weights(dictionary, "a") == {"a": {"x": round(2 / 3, 6), "y": round(1 / 3, 6)}}


def test_saved_and_loaded_it_translates_the_same(tmp_path):
    dictionary = build_dictionary(choose="random", seed=7, stem=False)
    dictionary.save(tmp_path / "d")
    loaded = dictionaries.load(tmp_path / "d")
    for text in ("bank", "river bank houses"):
        assert translate_texts(loaded, text) == translate_texts(dictionary, text)


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
    assert translate_texts(translator, "server") == {"server": ["Server"]}
    path.write_text("server\tDiener\nclient\tKunde\n", encoding="utf-8")
    assert translate_texts(translator, "server client") == {"server": ["Diener"], "client": ["Kunde"]}


def test_an_edit_that_keeps_the_size_is_seen_too(glossary):
    path, translator = glossary
    path.write_text("server\tWerver\n", encoding="utf-8")
    os.utime(path, ns=(1, 1))
    assert translate_texts(translator, "server") == {"server": ["Werver"]}


def test_a_glossary_broken_by_an_edit_keeps_its_last_good_state(glossary):
    path, translator = glossary
    path.write_text("onlyoneword\n", encoding="utf-8")
    with pytest.warns(UserWarning, match="was not reloaded"):
        assert translate_texts(translator, "server") == {"server": ["Server"]}
    path.unlink()
    with pytest.warns(UserWarning, match="was not reloaded"):
        assert translate_texts(translator, "server") == {"server": ["Server"]}


def test_a_dictionary_with_damaged_settings_is_an_error(tmp_path):
    Dictionary.build([Entry("bread", "pain")], "en", "fr").save(tmp_path / "d")
    meta = json.loads((tmp_path / "d" / "meta.json").read_text())
    meta["meta"]["most"] = 1.5
    (tmp_path / "d" / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(ModelError, match="damaged"):
        Dictionary.load(tmp_path / "d")
