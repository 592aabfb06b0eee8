"""A reader's own words: both directions, and the last word over other translators."""

import pytest
from translators import FixedTranslator, translate_texts

from paragloss.errors import InputError, LanguageError
from paragloss.translation.glossary import CorrectedTranslator, GlossaryFallback, Pair, UserGlossary
from paragloss.types import Query

GLOSSARY = UserGlossary([Pair("en", "bank", "da", "bred"), Pair("fr", "cahier des charges", "en", "specification")])


#: Translates into Danish only.
TRANSLATOR = FixedTranslator({"river": {"flod": 1.0}, "bank": {"bank": 1.0}}, targets=["da"])


def test_pairs_count_in_both_directions_and_phrases_are_one_entry():
    assert translate_texts(GLOSSARY, "the bank", "en", "da") == {"bank": ["bred"]}
    assert translate_texts(GLOSSARY, "bred", "da", "en") == {"bred": ["bank"]}
    phrase = translate_texts(GLOSSARY, "le cahier des charges", "fr", "en")
    assert phrase == {"cahier des charges": ["specification"]}


def test_a_glossary_overrules_a_translator_word_by_word():
    corrected, query = CorrectedTranslator(TRANSLATOR, GLOSSARY), Query("", "river bank", "en")
    assert translate_texts(corrected, query.text, to="da") == {"river": ["flod"], "bank": ["bred"]}
    assert corrected.translate_many(query, ["da"]) == {"da": corrected.translate(query, "da")}
    with pytest.raises(LanguageError):
        corrected.translate(query, "sv")


def test_corrected_translators_are_equal_if_translator_and_glossary_are():
    corrected = CorrectedTranslator(TRANSLATOR, GLOSSARY)
    assert corrected == CorrectedTranslator(TRANSLATOR, GLOSSARY)
    assert hash(corrected) == hash(CorrectedTranslator(TRANSLATOR, GLOSSARY))
    different = [
        CorrectedTranslator(FixedTranslator(), GLOSSARY),
        CorrectedTranslator(TRANSLATOR, UserGlossary(GLOSSARY.pairs)),
        TRANSLATOR,
    ]
    assert all(corrected != another for another in different)


def test_a_glossary_knows_only_its_pairs():
    assert [GLOSSARY.knows(*pair) for pair in (("en", "da"), ("da", "en"), ("da", "fr"))] == [True, True, False]
    known = [
        [clause.source for clause in GLOSSARY.translate_known_words(Query("", text, "en"), to)]
        for text, to in (("river bank", "da"), ("river", "da"), ("bank", "sv"))
    ]
    assert known == [["bank"], [], []]


def test_the_fallback_translates_only_pairs_that_no_translator_knows():
    fallback = GlossaryFallback(GLOSSARY, [TRANSLATOR])
    with pytest.raises(LanguageError):
        fallback.translate(Query("", "bank", "en"), "da")
    assert translate_texts(fallback, "specification", to="fr") == {"specification": ["cahier des charges"]}


def test_a_glossary_is_stored_as_lines_of_text():
    assert UserGlossary.from_text(GLOSSARY.to_text()).pairs == GLOSSARY.pairs
    assert UserGlossary.from_text("# mine\n\neng\tbank\tda\tbred\n").pairs == [Pair("en", "bank", "da", "bred")]


@pytest.mark.parametrize("bad", ["en\tbank\tda\n", "en\tbank\ten\tshore\n", "en\t \tda\tbred\n"])
def test_a_malformed_line_is_refused(bad):
    with pytest.raises(InputError):
        UserGlossary.from_text(bad)
