"""A reader's own words: both directions, and the last word over other translators."""

import pytest

from paragloss.errors import InputError, LanguageError
from paragloss.translation.glossary import CorrectedTranslator, GlossaryFallback, Pair, UserGlossary
from paragloss.types import Alternative, Query, Translation

GLOSSARY = UserGlossary([Pair("en", "bank", "da", "bred"), Pair("fr", "cahier des charges", "en", "specification")])


class Fake:
    """Knows English to Danish: every word becomes itself in capitals."""

    def knows(self, source, target):
        return (source, target) == ("en", "da")

    def translate(self, query, to):
        if (query.lang, to) != ("en", "da"):
            raise LanguageError("only en->da")
        return [Translation(word, (Alternative(word.upper(), 1.0),)) for word in query.text.split()]


def said(clauses):
    return {clause.source: [a.text for a in clause.alternatives] for clause in clauses}


def test_pairs_count_in_both_directions():
    assert said(GLOSSARY.translate(Query("", "the bank", "en"), "da")) == {"bank": ["bred"]}
    assert said(GLOSSARY.translate(Query("", "bred", "da"), "en")) == {"bred": ["bank"]}


def test_a_phrase_is_one_entry():
    found = said(GLOSSARY.translate(Query("", "le cahier des charges", "fr"), "en"))
    assert found == {"cahier des charges": ["specification"]}


def test_it_overrules_a_translator_word_for_word():
    corrected = CorrectedTranslator(Fake(), GLOSSARY)
    assert said(corrected.translate(Query("", "river bank", "en"), "da")) == {"river": ["RIVER"], "bank": ["bred"]}
    with pytest.raises(LanguageError):
        corrected.translate(Query("", "bank", "en"), "sv")


def test_those_of_one_translator_and_one_glossary_are_equal():
    one = Fake()
    assert CorrectedTranslator(one, GLOSSARY) == CorrectedTranslator(one, GLOSSARY)
    assert hash(CorrectedTranslator(one, GLOSSARY)) == hash(CorrectedTranslator(one, GLOSSARY))
    others = [CorrectedTranslator(Fake(), GLOSSARY), CorrectedTranslator(one, UserGlossary(GLOSSARY.pairs)), one]
    assert all(CorrectedTranslator(one, GLOSSARY) != other for other in others)


def test_it_overrules_in_many_languages_at_once():
    query = Query("", "river bank", "en")
    assert said(CorrectedTranslator(Fake(), GLOSSARY).translate_many(query, ["da"])["da"]) == {
        "river": ["RIVER"],
        "bank": ["bred"],
    }


def test_what_stands_in_it_is_all_it_knows():
    assert GLOSSARY.knows("en", "da")
    assert GLOSSARY.knows("da", "en")
    assert not GLOSSARY.knows("da", "fr")
    assert said(GLOSSARY.translate_known_words(Query("", "river bank", "en"), "da")) == {"bank": ["bred"]}
    assert GLOSSARY.translate_known_words(Query("", "river", "en"), "da") == []
    assert GLOSSARY.translate_known_words(Query("", "bank", "en"), "sv") == []


def test_alone_it_stands_only_for_pairs_nobody_else_knows():
    alone = GlossaryFallback(GLOSSARY, [Fake()])
    with pytest.raises(LanguageError):
        alone.translate(Query("", "bank", "en"), "da")
    assert said(alone.translate(Query("", "specification", "en"), "fr")) == {"specification": ["cahier des charges"]}


def test_it_is_kept_as_lines_of_text():
    assert UserGlossary.from_text(GLOSSARY.to_text()).pairs == GLOSSARY.pairs
    assert UserGlossary.from_text("# mine\n\neng\tbank\tda\tbred\n").pairs == [Pair("en", "bank", "da", "bred")]


@pytest.mark.parametrize("bad", ["en\tbank\tda\n", "en\tbank\ten\tshore\n", "en\t \tda\tbred\n"])
def test_a_line_that_makes_no_sense_is_refused(bad):
    with pytest.raises(InputError):
        UserGlossary.from_text(bad)
