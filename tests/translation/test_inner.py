"""What words hold inside, and how names sound: what finds documents whose words no table knows."""

import pytest

from paragloss.translation import default, sounds
from paragloss.translation.inner import MARK, heard, inside
from paragloss.types import Alternative, Query, Translation


def sounding(terms, lang):
    return [one for one in inside(terms, lang) if one[0] == MARK]


def test_an_unknown_compound_holds_its_known_parts():
    assert inside(["wasserzug"], "de") == ["≈WSRZG", "wass", "zug"]


@pytest.mark.parametrize(
    ("lang", "word", "holds"),
    [("ko", "2008년", "2008"), ("zh", "巴基斯坦政府", "政府"), ("fi", "vesipuistossani", "vesipuisto")],
)
def test_words_that_were_not_cut_far_enough_hold_what_they_hold(lang, word, holds):
    assert holds in inside([word], lang)


def test_a_known_word_holds_nothing_but_the_sound_of_a_name():
    assert inside(["wass"], "de") == []
    assert inside(["москв"], "ru") == ["≈MSKV"]


def test_a_language_that_the_model_does_not_speak_holds_nothing():
    assert inside(["ქართული"], "ka") == []


def test_a_name_in_pieces_is_heard_as_one():
    assert {term for term, _ in sounds.heard("Provenzano", "en", "zh")} & {
        one[1:] for one in sounding(["普罗文", "扎", "诺"], "zh")
    }


@pytest.mark.parametrize(
    ("lang", "written"),
    [("ru", "овечкин"), ("ar", "اوفتشكين"), ("hi", "ओवेच्किन"), ("el", "οβετσκιν"), ("ja", "オベチキン")],
)
def test_a_name_nobody_knows_is_heard_in_other_scripts(lang, written):
    (clause,) = heard([Translation("Ovechkin", (Alternative("Ovechkin", 1.0),))], "en", lang)
    asked = {term for alternative in clause.alternatives for term in alternative.terms}
    assert asked & set(sounding([written], lang))
    assert sum(alternative.weight for alternative in clause.alternatives) == pytest.approx(1.0)


def test_only_names_are_heard():
    model = default.open()
    common, name = model.translate(Query("", "water Paris", "en"), "ru")
    assert heard([common], "en", "ru") == [common]
    (with_sound,) = heard([name], "en", "ru")
    assert any(a.text[0] == MARK for a in with_sound.alternatives)
    assert with_sound.alternatives[0].text == name.alternatives[0].text


def test_too_few_consonants_are_no_name():
    assert sounds.heard("Ma", "en", "ru") == ()
    ways = sounds.heard("Merkel", "en", "ru")
    assert ways[0][0] == "MRKL"
    assert sum(share for _, share in ways) == pytest.approx(1.0)
