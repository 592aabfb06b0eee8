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


def test_a_phrase_as_written_keeps_its_order_and_stands_together():
    text = "Nations united. The United Nations; united old nations."
    assert places(text, "en") == ["United Nations"]


def test_stop_words_do_not_part_a_phrase():
    assert places("A Bank of the England branch", "en", phrase="bank of England") == ["Bank of the England"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("les Nations unies", ["Nations unies"]),
        ("pays très fortement uni", ["pays très fortement uni"]),  # two words between are allowed
        ("pays du nord, de la montagne, de la plaine et uni", []),
        ("les nations du monde", []),
        ("United Nations", ["United Nations"]),  # as written, in a text of another language
    ],
)
def test_translations_stand_near_each_other_in_any_order(text, found):
    assert places(text, "fr", UNITED_NATIONS) == found


def test_a_translation_of_several_words_counts_as_one():
    clauses = [clause("potato", "pomme de terre"), clause("salad", "salade")]
    assert places("une salade de pommes de terre", "fr", clauses, "potato salad") == ["salade de pommes de terre"]
    assert places("une salade de pommes", "fr", clauses, "potato salad") == []


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


def test_every_place_is_found_once():
    text = "Nations unies et encore une fois, bien plus tard, dans un autre texte, les Nations unies"
    assert places(text, "fr", UNITED_NATIONS) == ["Nations unies", "Nations unies"]
