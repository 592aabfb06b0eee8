"""Compounds that the documents hold, made of a query's neighbouring words."""

from paragloss.formats.dictionaries import Entry
from paragloss.translation.combined import CombinedTranslator
from paragloss.translation.compounds import CompoundTranslator
from paragloss.translation.dictionary import Dictionary
from paragloss.types import Query, Translator

PAIRS = [("line", "Zeile"), ("spacing", "Abstand"), ("check", "Prüfung"), ("connection", "Verbindung"), ("type", "Typ")]
GERMAN = Dictionary.build([Entry(*pair) for pair in PAIRS], "en", "de")


def translate_clauses(text, *known_terms, translator=GERMAN, to="de"):
    translator_with_compounds = CompoundTranslator(
        translator, lambda lang, terms: [term in known_terms for term in terms]
    )
    clauses_found = translator_with_compounds.translate_many(Query("q", text, "en"), [to])[to]
    assert clauses_found == translator_with_compounds.translate(Query("q", text, "en"), to)
    return {clause.source: [alternative.text for alternative in clause.alternatives] for clause in clauses_found}


def test_a_compound_that_documents_contain_is_added_to_its_words():
    assert isinstance(CompoundTranslator(GERMAN, lambda lang, terms: []), Translator)
    alternatives = translate_clauses("check line spacing", "zeilenabstand")
    assert alternatives == {
        "check": ["Prüfung"],
        "line": ["Zeile"],
        "spacing": ["Abstand"],
        "line spacing": ["zeilenabstand"],
    }
    assert translate_clauses("connection type", "verbindungstyp")["connection type"] == ["verbindungstyp"]


def test_a_compound_that_no_document_contains_is_left_out():
    assert list(translate_clauses("check line spacing")) == ["check", "line", "spacing"]
    assert list(translate_clauses("line check spacing", "zeilenabstand")) == [
        "line",
        "check",
        "spacing",
    ]  # no neighbours


def test_a_compound_may_turn_its_words_round():
    assert translate_clauses("check spacing", "abstandspruf")["check spacing"] == ["abstandspruf"]


def test_languages_that_write_words_apart_have_none():
    french = Dictionary.build([Entry("line", "ligne"), Entry("spacing", "espace")], "en", "fr")
    translator = CompoundTranslator(french, lambda lang, terms: [True] * len(terms))
    assert [clause.source for clause in translator.translate(Query("q", "line spacing", "en"), "fr")] == [
        "line",
        "spacing",
    ]


def test_a_compound_counts_less_than_a_word():
    translator = CompoundTranslator(GERMAN, lambda lang, terms: [term == "zeilenabstand" for term in terms])
    clauses = translator.translate(Query("q", "line spacing", "en"), "de")
    weights = {clause.source: clause.weight for clause in clauses}
    assert weights["line"] == weights["spacing"] == 1.0
    assert 0 < weights["line spacing"] < 1
    assert [name for name, _, _ in clauses[-1].origins] == ["compound"]  # and says so where a search is explained


def test_a_translated_phrase_is_not_made_a_compound():
    own = Dictionary.build([Entry("line spacing", "Durchschuss")], "en", "de")
    alternatives = translate_clauses(
        "check line spacing", "zeilenabstand", translator=CombinedTranslator([GERMAN, own])
    )
    assert alternatives == {"check": ["Prüfung"], "line spacing": ["Durchschuss"]}
