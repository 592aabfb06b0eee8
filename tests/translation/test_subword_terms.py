"""What words hold inside, and how names sound: what finds documents whose words no table knows."""

import pytest

from paragloss.analysis import analyzer
from paragloss.translation import default, sounds
from paragloss.translation.subword_terms import (
    SOUND_PREFIX,
    add_sound_alternatives,
    find_subword_matches,
    has_spoken_spellings,
    list_subword_terms,
    sounds_of_split_names,
)
from paragloss.types import Alternative, Query, Translation


def sounding(terms, lang):
    return [one for one in list_subword_terms(terms, lang) if one[0] == SOUND_PREFIX]


def test_an_unknown_compound_holds_its_known_parts():
    assert list_subword_terms(["wasserzug"], "de") == ["≈WSRZG", "wass", "zug"]


@pytest.mark.parametrize(
    ("lang", "word", "holds"),
    [("ko", "2008년", "2008"), ("zh", "巴基斯坦政府", "政府"), ("fi", "vesipuistossani", "vesipuisto")],
)
def test_words_that_were_not_cut_far_enough_hold_what_they_hold(lang, word, holds):
    assert holds in list_subword_terms([word], lang)


def test_a_known_word_holds_nothing_but_the_sound_of_a_name():
    assert list_subword_terms(["wass"], "de") == []
    assert list_subword_terms(["москв"], "ru") == ["≈MSKV"]


def test_a_language_that_the_model_does_not_speak_holds_nothing():
    assert list_subword_terms(["ქართული"], "ka") == []


def test_a_name_in_pieces_is_heard_as_one():
    assert {term for term, _ in sounds.list_pronunciations("Provenzano", "en", "zh")} & {
        one[1:] for one in sounding(["普罗文", "扎", "诺"], "zh")
    }


@pytest.mark.parametrize(
    ("lang", "written"),
    [("ru", "овечкин"), ("ar", "اوفتشكين"), ("hi", "ओवेच्किन"), ("el", "οβετσκιν"), ("ja", "オベチキン")],
)
def test_a_name_nobody_knows_is_heard_in_other_scripts(lang, written):
    (clause,) = add_sound_alternatives([Translation("Ovechkin", (Alternative("Ovechkin", 1.0),))], "en", lang)
    asked = {term for alternative in clause.alternatives for term in alternative.terms}
    assert asked & set(sounding([written], lang))
    assert sum(alternative.weight for alternative in clause.alternatives) == pytest.approx(1.0)


def test_only_names_are_heard():
    model = default.open()
    common, name = model.translate(Query("", "water Paris", "en"), "ru")
    assert add_sound_alternatives([common], "en", "ru") == [common]
    (with_sound,) = add_sound_alternatives([name], "en", "ru")
    assert any(a.text[0] == SOUND_PREFIX for a in with_sound.alternatives)
    assert with_sound.alternatives[0].text == name.alternatives[0].text


def test_too_few_consonants_are_no_name():
    assert sounds.list_pronunciations("Ma", "en", "ru") == ()
    ways = sounds.list_pronunciations("Merkel", "en", "ru")
    assert ways[0][0] == "MRKL"
    assert sum(share for _, share in ways) == pytest.approx(1.0)


def share(source, target, word, *alternatives):
    """What its sound has of a word's clause."""
    clause = Translation(word, tuple(Alternative(text, weight) for text, weight in alternatives))
    (found,) = add_sound_alternatives([clause], source, target)
    assert sum(a.weight for a in found.alternatives) == pytest.approx(
        sum(w for _, w in alternatives) if found == clause else 1
    )
    return pytest.approx(sum(a.weight for a in found.alternatives if a.text[0] == SOUND_PREFIX))


def test_a_sound_has_half_of_an_unknown_word_a_fifth_of_a_name_and_half_of_that_in_one_script():
    assert share("en", "ru", "Ovechkin", ("Ovechkin", 1.0)) == 0.5
    assert share("en", "de", "Ovechkin", ("Ovechkin", 1.0)) == 0.25
    assert share("en", "ru", "Merkel", ("Меркель", 0.5), ("Merkel", 0.5)) == 0.2
    assert share("en", "de", "Merkel", ("Merkl", 1.0)) == 0.1
    assert share("en", "ru", "window", ("окно", 1.0)) == 0
    assert share("en", "ru", "Angela Merkel", ("Angela Merkel", 1.0)) == 0  # a phrase has no sound of its own


def test_the_rest_keeps_its_proportions_and_all_sum_to_one():
    (found,) = add_sound_alternatives(
        [Translation("Merkel", (Alternative("a", 0.3), Alternative("b", 0.1)))], "en", "ru"
    )
    assert [a.weight for a in found.alternatives[:2]] == pytest.approx([0.8 * 0.75, 0.8 * 0.25])
    assert sum(a.weight for a in found.alternatives) == pytest.approx(1)


def test_names_in_pieces_have_two_to_four_neighbours_and_three_characters_or_more():
    # pu, luo, wen, zha, nuo: P, L, N, J, N
    whole = ["≈PLN", "≈PLNJ", "≈LNJ", "≈LNJN", "≈NJN"]
    assert sounds_of_split_names(["普", "罗", "文", "扎", "诺"], "zh") == whole
    assert sounds_of_split_names(["普罗", "文", "扎诺"], "zh") == ["≈PLN", "≈PLNJN", "≈NJN"]
    assert sounds_of_split_names(["普", "罗", "x", "文", "扎"], "zh") == []  # too few on either side
    assert sounds_of_split_names(["普罗文扎诺"], "zh") == []  # in one piece it is a word like others
    assert sounds_of_split_names(["普罗文", "扎诺普罗", "文"], "zh") == [
        "≈PLNJNPL",
        "≈JNPLN",
    ]  # eight characters are no name


def test_only_what_may_be_a_name_has_a_sound():
    assert sounding(["fenst", "1989", "aeiou"], "de") == []  # known, a number, no consonants
    assert sounding(["xantpol"], "de") == ["≈KSNTPL"]
    assert sounding(["london", "window"], "en") == ["≈LNDN"]  # English names are written large


def test_a_name_is_heard_as_it_is_written_too():
    """The stemmer takes the first letter of Battuta for a preposition."""
    (span,) = analyzer("ar").spans("بطوطة")
    assert sounding([span.term], "ar") == []
    assert list_subword_terms([span.term], "ar", ["بطوطة"]) == ["≈BTT"]
    assert has_spoken_spellings("ar")
    assert not has_spoken_spellings("de")  # where letters are Latin, names mostly stay as they are


def test_a_word_that_everybody_knows_is_no_name_however_it_is_written():
    (span,) = analyzer("ru").spans("книгами")
    assert not [one for one in list_subword_terms([span.term], "ru", ["книгами"]) if one[0] == SOUND_PREFIX]


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
def test_what_is_wanted_of_what_words_hold_is_all_that_they_hold(lang, text):
    cut = analyzer(lang).tokenize(text)
    held = {
        (one, place)
        for place, (w, t) in enumerate(zip(cut.spell_words(), cut.terms, strict=True))
        for one in list_subword_terms([t], lang, [w] if has_spoken_spellings(lang) else ())
    }
    assert held
    assert set(find_subword_matches(cut, lang, {one for one, _ in held})) == held
    one = min(held)
    assert set(find_subword_matches(cut, lang, {one[0]})) == {other for other in held if other[0] == one[0]}
    assert not set(find_subword_matches(cut, lang, {"nobody"}))
