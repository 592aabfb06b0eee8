"""A reader's own words: both directions, and the last word over other translators."""

import pytest

from paragloss.errors import InputError, LanguageError
from paragloss.translation.glossary import CorrectedTranslator, GlossaryFallback, Pair, UserGlossary
from paragloss.types import Alternative, Query, Translation

GLOSSARY = UserGlossary([Pair("en", "bank", "da", "bred"), Pair("fr", "cahier des charges", "en", "specification")])


class CapitalsTranslator:
    """Knows English to Danish: every word becomes itself in capitals."""

    def knows(self, source, target):
        return (source, target) == ("en", "da")

    def translate(self, query, to):
        if (query.lang, to) != ("en", "da"):
            raise LanguageError("only en->da")
        return [Translation(word, (Alternative(word.upper(), 1.0),)) for word in query.text.split()]


def list_alternatives(clauses):
    return {clause.source: [a.text for a in clause.alternatives] for clause in clauses}


def test_pairs_count_in_both_directions():
    assert list_alternatives(GLOSSARY.translate(Query("", "the bank", "en"), "da")) == {"bank": ["bred"]}
    assert list_alternatives(GLOSSARY.translate(Query("", "bred", "da"), "en")) == {"bred": ["bank"]}


def test_a_phrase_is_one_entry():
    alternatives = list_alternatives(GLOSSARY.translate(Query("", "le cahier des charges", "fr"), "en"))
    assert alternatives == {"cahier des charges": ["specification"]}


def test_a_glossary_overrules_a_translator_word_by_word():
    corrected = CorrectedTranslator(CapitalsTranslator(), GLOSSARY)
    assert list_alternatives(corrected.translate(Query("", "river bank", "en"), "da")) == {
        "river": ["RIVER"],
        "bank": ["bred"],
    }
    with pytest.raises(LanguageError):
        corrected.translate(Query("", "bank", "en"), "sv")


def test_corrected_translators_are_equal_if_translator_and_glossary_are():
    translator = CapitalsTranslator()
    assert CorrectedTranslator(translator, GLOSSARY) == CorrectedTranslator(translator, GLOSSARY)
    assert hash(CorrectedTranslator(translator, GLOSSARY)) == hash(CorrectedTranslator(translator, GLOSSARY))
    different = [
        CorrectedTranslator(CapitalsTranslator(), GLOSSARY),
        CorrectedTranslator(translator, UserGlossary(GLOSSARY.pairs)),
        translator,
    ]
    assert all(CorrectedTranslator(translator, GLOSSARY) != another for another in different)


def test_a_glossary_overrules_many_languages_at_once():
    query = Query("", "river bank", "en")
    assert list_alternatives(
        CorrectedTranslator(CapitalsTranslator(), GLOSSARY).translate_many(query, ["da"])["da"]
    ) == {
        "river": ["RIVER"],
        "bank": ["bred"],
    }


def test_a_glossary_knows_only_its_pairs():
    assert GLOSSARY.knows("en", "da")
    assert GLOSSARY.knows("da", "en")
    assert not GLOSSARY.knows("da", "fr")
    assert list_alternatives(GLOSSARY.translate_known_words(Query("", "river bank", "en"), "da")) == {"bank": ["bred"]}
    assert GLOSSARY.translate_known_words(Query("", "river", "en"), "da") == []
    assert GLOSSARY.translate_known_words(Query("", "bank", "en"), "sv") == []


def test_the_fallback_translates_only_pairs_that_no_translator_knows():
    fallback = GlossaryFallback(GLOSSARY, [CapitalsTranslator()])
    with pytest.raises(LanguageError):
        fallback.translate(Query("", "bank", "en"), "da")
    assert list_alternatives(fallback.translate(Query("", "specification", "en"), "fr")) == {
        "specification": ["cahier des charges"]
    }


def test_a_glossary_is_stored_as_lines_of_text():
    assert UserGlossary.from_text(GLOSSARY.to_text()).pairs == GLOSSARY.pairs
    assert UserGlossary.from_text("# mine\n\neng\tbank\tda\tbred\n").pairs == [Pair("en", "bank", "da", "bred")]


@pytest.mark.parametrize("bad", ["en\tbank\tda\n", "en\tbank\ten\tshore\n", "en\t \tda\tbred\n"])
def test_a_malformed_line_is_refused(bad):
    with pytest.raises(InputError):
        UserGlossary.from_text(bad)
