"""Who said that a word means this."""

import pytest

from paragloss.formats.dictionaries import Entry
from paragloss.translation.combined import CombinedTranslator
from paragloss.translation.dictionary import Dictionary
from paragloss.translation.glossary import CorrectedTranslator, Pair, UserGlossary
from paragloss.types import Query

GENERAL = Dictionary.build([Entry("bank", "Bank", "", 3.0), Entry("bank", "Ufer"), Entry("red", "rot")], "en", "de")
OWN = Dictionary.build([Entry("bank", "Ufer")], "en", "de")
FRENCH = Dictionary.build([Entry("bank", "rive")], "en", "fr")
PAIRS = UserGlossary([Pair("en", "red", "de", "links")])


def given(translator, text="bank"):
    """Of every source term and alternative who gave it, with how much weight."""
    found = {}
    for clause in translator.translate(Query("q", text, "en"), "de"):
        for name, share, alternatives in clause.origins:
            for alternative in alternatives:
                by = found.setdefault((clause.source, alternative.text), {})
                by[name] = pytest.approx(share * alternative.weight + getattr(by.get(name), "expected", 0.0))
    return found


def test_one_translator_gave_it_all_and_need_not_say_so():
    assert given(GENERAL) == {}
    only = CombinedTranslator([GENERAL], names=["box"])
    assert given(only) == {("bank", "Bank"): {"box": 0.75}, ("bank", "Ufer"): {"box": 0.25}}


def test_of_several_each_has_its_share_times_what_it_counts():
    both = CombinedTranslator(
        [GENERAL, FRENCH, OWN], weights=[1, 7, 2], names=["box", "french", "mine"]
    )  # French has no say
    assert given(both) == {("bank", "Bank"): {"box": 0.75}, ("bank", "Ufer"): {"box": 0.25, "mine": 2.0}}


def test_those_within_one_that_is_mixed_keep_their_names():
    inner = CombinedTranslator([GENERAL, OWN], weights=[1, 3], names=["box", "mine"])
    outer = CombinedTranslator([inner, OWN], weights=[8, 1], names=["both", "again"])
    assert given(outer)[("bank", "Ufer")] == {"box": 2.0, "mine": 24.0, "again": 1.0}


def test_who_has_no_name_goes_by_its_kind_and_two_of_one_kind_add_up():
    assert given(CombinedTranslator([GENERAL, OWN]))[("bank", "Ufer")] == {"dictionary": 1.25}


def test_the_glossary_is_named_and_the_rest_is_whose_it_was():
    corrected = CombinedTranslator([CorrectedTranslator(GENERAL, PAIRS)], names=["box"])
    assert given(corrected, "red bank") == {
        ("bank", "Bank"): {"box": 0.75},
        ("bank", "Ufer"): {"box": 0.25},
        ("red", "links"): {"glossary": 1.0},
    }
