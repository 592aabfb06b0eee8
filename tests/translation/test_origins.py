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


def collect_origins(translator, text="bank"):
    """Of every source term and alternative who gave it, with how much weight."""
    origins = {}
    for clause in translator.translate(Query("q", text, "en"), "de"):
        for name, share, alternatives in clause.origins:
            for alternative in alternatives:
                weights_by_name = origins.setdefault((clause.source, alternative.text), {})
                weights_by_name[name] = pytest.approx(
                    share * alternative.weight + getattr(weights_by_name.get(name), "expected", 0.0)
                )
    return origins


def test_a_single_translator_needs_no_origins():
    assert collect_origins(GENERAL) == {}
    only = CombinedTranslator([GENERAL], names=["box"])
    assert collect_origins(only) == {("bank", "Bank"): {"box": 0.75}, ("bank", "Ufer"): {"box": 0.25}}


def test_each_translator_has_its_share_times_its_weight():
    combined = CombinedTranslator(
        [GENERAL, FRENCH, OWN], weights=[1, 7, 2], names=["box", "french", "mine"]
    )  # French has no say
    assert collect_origins(combined) == {("bank", "Bank"): {"box": 0.75}, ("bank", "Ufer"): {"box": 0.25, "mine": 2.0}}


def test_translators_inside_a_combined_one_keep_their_names():
    inner = CombinedTranslator([GENERAL, OWN], weights=[1, 3], names=["box", "mine"])
    outer = CombinedTranslator([inner, OWN], weights=[8, 1], names=["both", "again"])
    assert collect_origins(outer)[("bank", "Ufer")] == {"box": 2.0, "mine": 24.0, "again": 1.0}


def test_unnamed_translators_are_named_by_kind_and_added_up():
    assert collect_origins(CombinedTranslator([GENERAL, OWN]))[("bank", "Ufer")] == {"dictionary": 1.25}


def test_the_glossary_is_an_origin_of_its_own():
    corrected = CombinedTranslator([CorrectedTranslator(GENERAL, PAIRS)], names=["box"])
    assert collect_origins(corrected, "red bank") == {
        ("bank", "Bank"): {"box": 0.75},
        ("bank", "Ufer"): {"box": 0.25},
        ("red", "links"): {"glossary": 1.0},
    }
