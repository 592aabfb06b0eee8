"""Compounds that the documents hold, made of a query's neighbouring words."""

from paragloss.formats.dictionaries import Entry
from paragloss.translation.combined import CombinedTranslator
from paragloss.translation.compound_translator import CompoundTranslator
from paragloss.translation.dictionary import Dictionary
from paragloss.types import Query, Translator

PAIRS = [("line", "Zeile"), ("spacing", "Abstand"), ("check", "Prüfung"), ("connection", "Verbindung"), ("type", "Typ")]
GERMAN = Dictionary.build([Entry(*pair) for pair in PAIRS], "en", "de")


def clauses(text, *held, translator=GERMAN, to="de"):
    asked = CompoundTranslator(translator, lambda lang, terms: [term in held for term in terms])
    found = asked.translate_many(Query("q", text, "en"), [to])[to]
    assert found == asked.translate(Query("q", text, "en"), to)
    return {clause.source: [one.text for one in clause.alternatives] for clause in found}


def test_a_compound_that_documents_hold_stands_beside_its_words():
    assert isinstance(CompoundTranslator(GERMAN, lambda lang, terms: []), Translator)
    found = clauses("check line spacing", "zeilenabstand")
    assert found == {"check": ["Prüfung"], "line": ["Zeile"], "spacing": ["Abstand"], "line spacing": ["zeilenabstand"]}
    assert clauses("connection type", "verbindungstyp")["connection type"] == ["verbindungstyp"]


def test_a_compound_that_no_document_holds_is_not_asked_for():
    assert list(clauses("check line spacing")) == ["check", "line", "spacing"]
    assert list(clauses("line check spacing", "zeilenabstand")) == ["line", "check", "spacing"]  # no neighbours


def test_a_compound_may_turn_its_words_round():
    assert clauses("check spacing", "abstandspruf")["check spacing"] == ["abstandspruf"]


def test_languages_that_write_words_apart_have_none():
    french = Dictionary.build([Entry("line", "ligne"), Entry("spacing", "espace")], "en", "fr")
    every = CompoundTranslator(french, lambda lang, terms: [True] * len(terms))
    assert [clause.source for clause in every.translate(Query("q", "line spacing", "en"), "fr")] == ["line", "spacing"]


def test_a_compound_counts_less_than_a_word():
    asked = CompoundTranslator(GERMAN, lambda lang, terms: [term == "zeilenabstand" for term in terms])
    found = asked.translate(Query("q", "line spacing", "en"), "de")
    weights = {clause.source: clause.weight for clause in found}
    assert weights["line"] == weights["spacing"] == 1.0
    assert 0 < weights["line spacing"] < 1
    assert [name for name, _, _ in found[-1].origins] == ["compound"]  # and says so where a search is explained


def test_a_phrase_that_somebody_knows_stays():
    own = Dictionary.build([Entry("line spacing", "Durchschuss")], "en", "de")
    found = clauses("check line spacing", "zeilenabstand", translator=CombinedTranslator([GERMAN, own]))
    assert found == {"check": ["Prüfung"], "line spacing": ["Durchschuss"]}
