"""Who said that a word means this."""

import pytest

from paragloss.formats.dictionaries import Entry
from paragloss.translation.combined import Combined
from paragloss.translation.dictionary import Dictionary
from paragloss.translation.glossary import Corrected, Pair, Pairs, Remaining
from paragloss.translation.origins import origins
from paragloss.types import Query

GENERAL = Dictionary.build([Entry("bank", "Bank", "", 3.0), Entry("bank", "Ufer"), Entry("red", "rot")], "en", "de")
OWN = Dictionary.build([Entry("bank", "Ufer")], "en", "de")
FRENCH = Dictionary.build([Entry("bank", "rive")], "en", "fr")
NAMES = {id(GENERAL): "box", id(OWN): "mine"}
PAIRS = Pairs([Pair("en", "red", "de", "links")])


def said(translator, text="bank", names=NAMES):
    found = origins(translator, Query("q", text, "en"), "de", names)
    return {key: {name: pytest.approx(weight) for name, weight in by.items()} for key, by in found.items()}


def test_one_translator_said_it_all_by_its_name_or_kind():
    assert said(GENERAL) == {("bank", "Bank"): {"box": 0.75}, ("bank", "Ufer"): {"box": 0.25}}
    assert said(OWN, names={}) == {("bank", "Ufer"): {"dictionary": 1.0}}


def test_of_several_each_has_its_share_times_what_it_counts():
    both = Combined([GENERAL, FRENCH, OWN], weights=[1, 7, 2])  # French has no say
    assert said(both) == {("bank", "Bank"): {"box": 0.75}, ("bank", "Ufer"): {"box": 0.25, "mine": 2.0}}


def test_two_of_one_name_add_up():
    both = Combined([GENERAL, OWN])
    assert said(both, names={})[("bank", "Ufer")] == {"dictionary": 1.25}


def test_the_glossary_is_named_and_the_rest_is_whose_it_was():
    corrected = Corrected(GENERAL, PAIRS)
    assert said(corrected, "red bank", {id(corrected): "box"}) == {
        ("red", "rot"): {"box": 1.0},
        ("bank", "Bank"): {"box": 0.75},
        ("bank", "Ufer"): {"box": 0.25},
        ("red", "links"): {"glossary": 1.0},
    }
    assert said(Remaining(PAIRS, []), "red") == said(PAIRS, "red") == {("red", "links"): {"glossary": 1.0}}
