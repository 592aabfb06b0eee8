"""Compounds that the documents hold, made of a query's neighbouring words."""

import pytest

from paragloss.formats.dictionaries import Entry
from paragloss.translation.combined import CombinedTranslator
from paragloss.translation.compounds import CompoundTranslator
from paragloss.translation.dictionary import Dictionary
from paragloss.types import Query, Translator

PAIRS = [("line", "Zeile"), ("spacing", "Abstand"), ("check", "Prüfung"), ("connection", "Verbindung"), ("type", "Typ")]
GERMAN = Dictionary.build([Entry(*pair) for pair in PAIRS], "en", "de")


def add_compounds(text, *known_terms, translator=GERMAN, to="de"):
    """Translate an English text with the compounds among `known_terms`, the terms of the documents."""
    with_compounds = CompoundTranslator(translator, lambda lang, terms: [term in known_terms for term in terms])
    assert isinstance(with_compounds, Translator)
    query = Query("q", text, "en")
    clauses = with_compounds.translate(query, to)
    assert with_compounds.translate_many(query, [to]) == {to: clauses}
    return clauses


def list_texts(clauses):
    return {clause.source: [alternative.text for alternative in clause.alternatives] for clause in clauses}


LINE_SPACING = {"line": ["Zeile"], "spacing": ["Abstand"], "line spacing": ["zeilenabstand"]}
FRENCH = Dictionary.build([Entry("line", "ligne"), Entry("spacing", "espace")], "en", "fr")


@pytest.mark.parametrize(
    ("text", "known_term", "expected"),
    [
        ("line spacing", "zeilenabstand", LINE_SPACING),
        ("connection type", "verbindungstyp",
         {"connection": ["Verbindung"], "type": ["Typ"], "connection type": ["verbindungstyp"]}),
        ("check spacing", "abstandspruf",  # the words may be turned round
         {"check": ["Prüfung"], "spacing": ["Abstand"], "check spacing": ["abstandspruf"]}),
        ("line spacing", "", {"line": ["Zeile"], "spacing": ["Abstand"]}),
        ("line check spacing", "zeilenabstand",  # no neighbours
         {"line": ["Zeile"], "check": ["Prüfung"], "spacing": ["Abstand"]}),
    ],
)  # fmt: skip
def test_a_compound_of_neighbours_that_documents_contain_is_added_to_its_words(text, known_term, expected):
    assert list(list_texts(add_compounds(text, known_term)).items()) == list(expected.items())


def test_languages_that_write_words_apart_have_none():
    clauses = add_compounds("line spacing", "ligneespace", translator=FRENCH, to="fr")
    assert list_texts(clauses) == {"line": ["ligne"], "spacing": ["espace"]}


def test_a_compound_counts_less_than_a_word_and_has_an_origin():
    line, spacing, compound = add_compounds("line spacing", "zeilenabstand")
    assert 0 < compound.weight < line.weight == spacing.weight == 1.0
    assert [name for name, _, _ in compound.origins] == ["compound"]  # where a search is explained


def test_a_translated_phrase_is_not_made_a_compound():
    own = Dictionary.build([Entry("line spacing", "Durchschuss")], "en", "de")
    clauses = add_compounds("check line spacing", "zeilenabstand", translator=CombinedTranslator([GERMAN, own]))
    assert list_texts(clauses) == {"check": ["Prüfung"], "line spacing": ["Durchschuss"]}
