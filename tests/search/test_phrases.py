"""Phrases are found in the tokens of a text: as written in order, translated in any order within a window."""

import pytest

from paragloss.analysis import analyzer
from paragloss.search.phrases import build_phrase_forms, find_phrase
from paragloss.types import Alternative, Query, Translation


def clause(source, *words):
    return Translation(source, tuple(Alternative(word, 1.0 / len(words)) for word in words))


UNITED_NATIONS = [clause("united", "unies", "uni"), clause("nations", "nation", "pays")]


def places(text, lang, clauses=(), phrase="united nations", **how):
    forms = build_phrase_forms(Query("", phrase, "en"), lang, clauses, only_best=how.pop("only_best", False))
    found = find_phrase(analyzer(lang).tokenize(text), forms, **how)
    return [text[start:end] for start, end in found]


POTATO_SALAD = [clause("potato", "pomme de terre"), clause("salad", "salade")]


@pytest.mark.parametrize(
    ("text", "lang", "phrase", "found"),
    [
        ("Nations united. The United Nations; united old nations.", "en", "united nations", ["United Nations"]),
        ("A Bank of the England branch", "en", "bank of England", ["Bank of the England"]),  # stop words between
        ("United Nations", "fr", "united nations", ["United Nations"]),  # in a text of another language
    ],
)
def test_a_phrase_as_written_keeps_its_order_and_stands_together(text, lang, phrase, found):
    assert places(text, lang, UNITED_NATIONS if lang == "fr" else (), phrase) == found


@pytest.mark.parametrize(
    ("clauses", "text", "found"),
    [
        (UNITED_NATIONS, "les Nations unies", ["Nations unies"]),
        (UNITED_NATIONS, "pays longtemps fortement uni", ["pays longtemps fortement uni"]),  # two between
        (UNITED_NATIONS, "pays longtemps toujours fortement uni", []),
        (UNITED_NATIONS, "les nations du monde", []),
        (UNITED_NATIONS, f"Nations unies{' et encore' * 8} les Nations unies", ["Nations unies", "Nations unies"]),
        # A translation of several words counts as one of the window.
        (POTATO_SALAD, "une salade de pommes de terre", ["salade de pommes de terre"]),
        (POTATO_SALAD, "une salade longue verte fraîche de pommes de terre", []),
        (POTATO_SALAD, "une salade de pommes", []),
    ],
)
def test_translations_stand_near_each_other_in_any_order(clauses, text, found):
    assert places(text, "fr", clauses, " ".join(clause.source for clause in clauses)) == found


def test_a_part_of_a_compound_counts_where_that_is_wanted():
    clauses = [clause("waste", "Abfall"), clause("disposal", "Entsorgung")]
    text = "Die Abfallentsorgung der Stadt"
    assert places(text, "de", clauses, "waste disposal", inside_words=True) == ["Abfallentsorgung"]
    assert places(text, "de", clauses, "waste disposal") == []


def test_only_the_best_translation_counts_where_that_is_wanted():
    alternatives = (Alternative("maison", 0.7), Alternative("foyer", 0.3))
    clauses = [Translation("house", alternatives)]
    assert places("le foyer", "fr", clauses, "house") == ["foyer"]
    assert places("le foyer", "fr", clauses, "house", only_best=True) == []
    assert places("la maison", "fr", clauses, "house", only_best=True) == ["maison"]


def test_every_listed_spelling_of_a_name_counts_however_little_weight_it_has():
    clauses = [Translation("Khrushchev", (Alternative("Khrushchev", 0.98), Alternative("chruschtschow", 0.02)))]
    assert places("Chruschtschow kam", "de", clauses, "Khrushchev") == ["Chruschtschow"]
    assert places("Chruschtschow kam", "de", clauses, "Khrushchev", only_best=True) == []


def test_an_unlikely_sound_of_a_name_counts_beside_another_word_of_the_phrase():
    first = Translation("Avril", (Alternative("Авриль", 1.0),))
    last = Translation("Hvozdetskyi", (Alternative("Hvozdetskyi", 0.97), Alternative("≈GVZDTSK", 0.03, ("≈GVZDTSK",))))
    text = "Авриль Гвоздецкий приехал"
    assert places(text, "ru", [first, last], "Avril Hvozdetskyi", inside_words=True) == ["Авриль Гвоздецкий"]
    assert places(text, "ru", [last], "Hvozdetskyi", inside_words=True) == []
