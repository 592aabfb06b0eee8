"""What words hold inside, and how names sound: what finds documents whose words no table knows."""

import pytest

from paragloss.analysis import analyzer
from paragloss.translation import default, sounds
from paragloss.translation.name_alternatives import add_sound_alternatives
from paragloss.translation.subword_terms import (
    SOUND_PREFIX,
    find_subword_matches,
    has_spoken_spellings,
    list_subword_terms,
    sounds_of_split_names,
)
from paragloss.types import Alternative, Query, Translation


def list_sounds(terms, lang):
    return [term for term in list_subword_terms(terms, lang) if term[0] == SOUND_PREFIX]


def test_an_unknown_compound_has_its_known_parts():
    assert list_subword_terms(["wasserzug"], "de") == ["≈WSRZG", "wass", "zug"]


@pytest.mark.parametrize(
    ("lang", "word", "part"),
    [("ko", "2008년", "2008"), ("zh", "巴基斯坦政府", "政府"), ("fi", "vesipuistossani", "vesipuisto")],
)
def test_a_long_token_has_the_known_words_in_it(lang, word, part):
    assert part in list_subword_terms([word], lang)


def test_a_known_word_has_no_subword_terms_but_the_sound_of_a_name():
    assert list_subword_terms(["wass"], "de") == []
    assert list_subword_terms(["москв"], "ru") == ["≈MSKV"]


def test_a_language_without_a_model_has_no_subword_terms():
    assert list_subword_terms(["ქართული"], "ka") == []


def test_a_name_split_into_pieces_has_one_sound():
    assert {term for term, _ in sounds.list_pronunciations("Provenzano", "en", "zh")} & {
        sound[1:] for sound in list_sounds(["普罗文", "扎", "诺"], "zh")
    }


@pytest.mark.parametrize(
    ("lang", "written"),
    [("ru", "овечкин"), ("ar", "اوفتشكين"), ("hi", "ओवेच्किन"), ("el", "οβετσκιν"), ("ja", "オベチキン")],
)
def test_an_unknown_name_matches_other_scripts_by_sound(lang, written):
    (clause,) = add_sound_alternatives([Translation("Ovechkin", (Alternative("Ovechkin", 1.0),))], "en", lang)
    query_terms = {term for alternative in clause.alternatives for term in alternative.terms}
    assert query_terms & set(list_sounds([written], lang))
    assert sum(alternative.weight for alternative in clause.alternatives) == pytest.approx(1.0)


def test_only_names_have_sounds():
    model = default.open()
    common, name = model.translate(Query("", "water Paris", "en"), "ru")
    assert add_sound_alternatives([common], "en", "ru") == [common]
    (with_sound,) = add_sound_alternatives([name], "en", "ru")
    assert any(a.text[0] == SOUND_PREFIX for a in with_sound.alternatives)
    assert with_sound.alternatives[0].text == name.alternatives[0].text


def test_too_few_consonants_are_no_name():
    assert sounds.list_pronunciations("Ma", "en", "ru") == ()
    pronunciations = sounds.list_pronunciations("Merkel", "en", "ru")
    assert pronunciations[0][0] == "MRKL"
    assert sum(share for _, share in pronunciations) == pytest.approx(1.0)


def sum_sound_weight(source, target, word, *alternatives):
    """What its sound has of a word's clause."""
    clause = Translation(word, tuple(Alternative(text, weight) for text, weight in alternatives))
    (with_sounds,) = add_sound_alternatives([clause], source, target)
    assert sum(a.weight for a in with_sounds.alternatives) == pytest.approx(
        sum(w for _, w in alternatives) if with_sounds == clause else 1
    )
    return pytest.approx(sum(a.weight for a in with_sounds.alternatives if a.text[0] == SOUND_PREFIX))


def test_the_weight_of_a_sound_depends_on_how_well_the_word_is_known_and_on_scripts():
    assert sum_sound_weight("en", "ru", "Ovechkin", ("Ovechkin", 1.0)) == 0.5
    assert sum_sound_weight("en", "de", "Ovechkin", ("Ovechkin", 1.0)) == 0.25
    assert sum_sound_weight("en", "ru", "Merkel", ("Меркель", 0.5), ("Merkel", 0.5)) == 0.2
    assert sum_sound_weight("en", "de", "Merkel", ("Merkl", 1.0)) == 0.1
    assert sum_sound_weight("en", "ru", "window", ("окно", 1.0)) == 0
    assert (
        sum_sound_weight("en", "ru", "Angela Merkel", ("Angela Merkel", 1.0)) == 0
    )  # a phrase has no sound of its own


def test_the_rest_keeps_its_proportions_and_all_sum_to_one():
    (clause,) = add_sound_alternatives(
        [Translation("Merkel", (Alternative("a", 0.3), Alternative("b", 0.1)))], "en", "ru"
    )
    assert [a.weight for a in clause.alternatives[:2]] == pytest.approx([0.8 * 0.75, 0.8 * 0.25])
    assert sum(a.weight for a in clause.alternatives) == pytest.approx(1)


def test_names_in_pieces_have_two_to_four_neighbours_and_three_characters_or_more():
    # pu, luo, wen, zha, nuo: P, L, N, J, N
    expected = ["≈PLN", "≈PLNJ", "≈LNJ", "≈LNJN", "≈NJN"]
    assert sounds_of_split_names(["普", "罗", "文", "扎", "诺"], "zh") == expected
    assert sounds_of_split_names(["普罗", "文", "扎诺"], "zh") == ["≈PLN", "≈PLNJN", "≈NJN"]
    assert sounds_of_split_names(["普", "罗", "x", "文", "扎"], "zh") == []  # too few on either side
    assert sounds_of_split_names(["普罗文扎诺"], "zh") == []  # in one piece it is a word like others
    assert sounds_of_split_names(["普罗文", "扎诺普罗", "文"], "zh") == [
        "≈PLNJNPL",
        "≈JNPLN",
    ]  # eight characters are no name


def test_only_what_may_be_a_name_has_a_sound():
    assert list_sounds(["fenst", "1989", "aeiou"], "de") == []  # known, a number, no consonants
    assert list_sounds(["xantpol"], "de") == ["≈KSNTPL"]
    assert list_sounds(["london", "window"], "en") == ["≈LNDN"]  # English names are written large


def test_a_name_also_has_the_sound_of_its_written_form():
    """The stemmer takes the first letter of Battuta for a preposition."""
    (span,) = analyzer("ar").spans("بطوطة")
    assert list_sounds([span.term], "ar") == []
    assert list_subword_terms([span.term], "ar", ["بطوطة"]) == ["≈BTT"]
    assert has_spoken_spellings("ar")
    assert not has_spoken_spellings("de")  # where letters are Latin, names mostly stay as they are


def test_a_known_word_has_no_sound_whatever_its_form():
    (span,) = analyzer("ru").spans("книгами")
    assert not [term for term in list_subword_terms([span.term], "ru", ["книгами"]) if term[0] == SOUND_PREFIX]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("de", "Der Wasserzug hatte Zugverspätung wie Xantpol und Fenster am Wasser"),
        ("ko", "2008년 서울에서 대통령"),
        ("zh", "巴基斯坦政府在北京"),
        ("ar", "بطوطة في لندن"),
        ("ru", "Меркель в Москве с книгами"),
    ],
)
def test_finding_subword_matches_equals_listing_all_subword_terms(lang, text):
    tokenized = analyzer(lang).tokenize(text)
    subwords = {
        (subword, position)
        for position, (w, t) in enumerate(zip(tokenized.spell_words(), tokenized.terms, strict=True))
        for subword in list_subword_terms([t], lang, [w] if has_spoken_spellings(lang) else ())
    }
    assert subwords
    assert set(find_subword_matches(tokenized, lang, {subword for subword, _ in subwords})) == subwords
    subword = min(subwords)
    assert set(find_subword_matches(tokenized, lang, {subword[0]})) == {
        candidate for candidate in subwords if candidate[0] == subword[0]
    }
    assert not set(find_subword_matches(tokenized, lang, {"nobody"}))
