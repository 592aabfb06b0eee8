"""Words that nobody knows, as words that somebody knows; names as they are."""

import pytest

from paragloss import demo
from paragloss.analysis import analyzer
from paragloss.bm25 import Layout
from paragloss.collection import Collection, Deadline, spelling
from paragloss.errors import DeadlineError
from paragloss.statistics import Statistics
from paragloss.translation import default
from paragloss.types import Document, Query

PAGES = [
    Document("de", "Der Drucker nimmt kein Papier an.", "de", "Drucker"),
    Document("storm", "Der Hurrikan hat großen Schaden an Häusern angerichtet.", "de", "Wirbelstürme"),
    Document("lady", "Die Königin ist eine sehr alte Dame.", "de"),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with Collection.create(str(tmp_path_factory.mktemp("spelling") / "c")) as engine:
        engine.index([*PAGES, *(d for d in demo.documents() if d.lang in ("de", "fr"))])
        yield engine


@pytest.mark.parametrize(
    ("query_text", "expected", "expected_id"),
    [("printre", "printer", "de"), ("huricane damge", "hurricane damage", "storm"), ("Drukcer", "drucker", "de")],
)
def test_what_nobody_knows_is_compared_with_what_is_known(engine, query_text, expected, expected_id):
    answer = engine.search(query_text)
    assert answer.suggestion == answer.as_json()["query"]["suggestion"] == expected
    assert expected_id in [result.id for result in answer.results[:3]]  # searched with it, too


def test_names_numbers_and_known_words_are_left_alone(engine):
    for text in ("Stanford Putin Nadal", "Qwrtzplk", "Nadhal", "XJ9", "printer", "imprimante", "Drucker", "abeille"):
        assert engine.search(text).suggestion == "", text


def test_names_are_searched_in_the_readers_language(engine):
    assert engine.search("Stanford Putin Nadal").query.lang == "en"
    assert engine.search("Stanford Putin Nadal", reader="fr").query.lang == "fr"
    assert engine.search("Haus Garten").query.lang == "de"


@pytest.mark.parametrize(
    ("lang", "slip", "expected"),
    [
        ("ru", "компютер", "компьютер"),
        ("de", "drucekr", "drucker"),
        ("es", "informacoin", "informacion"),
        ("ar", "مدسرة", "مدرسة"),
        ("hi", "पुसतक", "पुस्तक"),
        ("tr", "bilgisayr", "bilgisayar"),
        ("pl", "ksiązka", "książka"),
    ],
)
def test_every_alphabet_with_its_marks_and_keys(lang, slip, expected):
    nothing = Statistics(Layout(("title", "text")))
    nearest = spelling.find_correction(slip, lang, nothing, default.open())
    assert nearest is not None
    assert nearest[0] == expected


@pytest.mark.parametrize(
    ("lang", "slip"),
    [
        ("en", "recomendatoins"),
        ("en", "paraglossing"),
        ("de", "einstelulnegn"),
        ("de", "straeßnbealgs"),
        ("es", "configuraccioens"),
        ("ru", "нсатройик"),
        ("ru", "настйроки"),
    ],
)
def test_two_slips_are_what_looking_up_all_of_them_would_find(lang, slip):
    model, nothing = default.open(), Statistics(Layout(("title", "text")))
    letters, tokenize = spelling._find_alphabet(lang, model), analyzer(lang).terms
    one_slip = spelling._generate_variants(slip, letters)
    assert spelling._choose_correction(one_slip, lang, nothing, model) is None
    two_slips = {}
    for first_slip, cost in one_slip.items():
        for second_slip, added_cost in (
            spelling._generate_variants(first_slip, letters).items() if cost <= spelling.SWAP_COST else ()
        ):
            two_slips[second_slip] = min(two_slips.get(second_slip, spelling.MAX_COST), cost + added_cost)
    known_words = {
        w: cost for w, cost in two_slips.items() if len(terms := tokenize(w)) == 1 and model.has_term(terms[0], lang)
    }
    assert spelling.find_correction(slip, lang, nothing, model) == spelling._choose_correction(
        known_words, lang, nothing, model
    )


@pytest.mark.parametrize(("length", "suggested"), [(40, True), (41, False)])
def test_words_of_more_than_forty_letters_get_no_suggestion(tmp_path, length, suggested):
    word = ("kerosin" * 6)[:length]
    misspelled = word[:20] + word[21] + word[20] + word[22:]
    with Collection.create(str(tmp_path / "c"), meaning=False) as collection:
        collection.add([Document("long", f"das {word} brennt", "de")])
        assert collection.search(misspelled, lang="de").suggestion == (word if suggested else "")


def test_a_query_of_many_unknown_words_gets_no_suggestion(engine):
    misspelled = ["huricane"] * spelling.MAX_UNKNOWN_WORDS
    assert engine.search(" ".join(misspelled), lang="en").suggestion
    assert not engine.search(" ".join([*misspelled, "huricane"]), lang="en").suggestion


def test_suggestions_end_at_the_deadline():
    statistics, deadline = Statistics(Layout(("title", "text"))), Deadline(60)
    spelling.suggest_query(Query("", "huricane", "en"), ["en"], statistics, default.open(), deadline)
    deadline.cancel()
    with pytest.raises(DeadlineError):
        spelling.suggest_query(Query("", "huricane", "en"), ["en"], statistics, default.open(), deadline)
