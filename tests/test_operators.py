"""Operators in a query mean the same in the library, on the command line, in the page's requests and for assistants."""

import pytest

from paragloss.analysis.tokenization import MAX_TOKENIZED_CHARACTERS
from paragloss.collection import Collection
from paragloss.types import Document, Query

LONG = "Ein langer Bericht über Felder und Wiesen. " * 1500 + "Am Ende steht die Freispeichersammlung."
#: Stored tokens end inside the second word of "rote Laterne".
EDGE = (
    ("Im Winter ist es kalt. " * 3000)[: MAX_TOKENIZED_CHARACTERS - 12]
    + " die rote Laterne brennt. "
    + "Es ist kalt. " * 50
)
PAGES = [
    Document("de", "Der Hund schläft im Haus. Die Katze schläft im Garten.", "de", "Hund", {}, {"date": "2020-05-01"}),
    Document("de-cat", "Die Katze schläft im Garten und das Haus ist leer.", "de", "Katze", {}, {"year": 2018}),
    Document("fr", "Les Nations unies ont adopté une résolution.", "fr", "ONU", {}, {"path": "/a/2020/report.pdf"}),
    Document(
        "fr-far",
        "Les nations du monde entier se disputent souvent, hélas, avant de chanter, unies.",
        "fr",
        "",
        {},
        {"path": "/a/b/x.txt"},
    ),
    Document("en", "The United Nations met in Geneva.", "en", "UN", {}, {"date": "2021-01-01"}),
    Document("en-far", "Nations that were united met in Geneva.", "en", "Meeting"),
    Document("long", LONG, "de", "Felder"),
    Document("edge", EDGE, "de", "Winter"),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with Collection.create(str(tmp_path_factory.mktemp("operators") / "c")) as engine:
        engine.index(PAGES)
        yield engine


def found(engine, query, **how):
    return {result.id for result in engine.search(query, **how).results}


def test_a_phrase_is_found_as_written_and_translated(engine):
    assert {"fr-far", "en-far"} <= found(engine, "united nations", lang="en")
    assert found(engine, '"united nations"', lang="en") == {"en", "fr"}
    assert found(engine, '"united nations" Geneva', lang="en") == {"en", "fr"}


def test_a_required_word_or_its_translation_must_be_there(engine):
    assert found(engine, "sleeping cat +dog", lang="en") == {"de"}
    assert found(engine, "schläft +Hund", lang="de") == {"de"}


def test_documents_with_an_excluded_word_or_its_translation_are_left_out(engine):
    assert found(engine, "sleeping cat house -dog", lang="en") == {"de-cat"}
    assert found(engine, 'nations geneva -"united nations"', lang="en") >= {"en-far", "fr-far"}
    assert not found(engine, 'nations geneva -"united nations"', lang="en") & {"en", "fr"}


def test_language_file_and_date_narrow_a_search(engine):
    assert found(engine, "nations lang:fr", lang="en") == {"fr", "fr-far"}
    assert found(engine, "nations lang:french file:*.pdf", lang="en") == {"fr"}
    assert found(engine, "nations file:b/x*", lang="en") == {"fr-far"}
    assert found(engine, "cat house after:2020", lang="en") == {"de"}
    assert found(engine, "cat house before:2020-05-01", lang="en") == {"de-cat"}
    assert found(engine, "nations lang:fr", lang="en", to=["en"]) == set()


def test_rows_of_a_table_are_found_by_its_file(tmp_path):
    (tmp_path / "ships.csv").write_text("Ship,Year\nOlympic,1911\nLusitania,1915\n", encoding="utf-8")
    with Collection.create(str(tmp_path / "c"), meaning=False) as collection:
        collection.index_files([str(tmp_path / "ships.csv")])
        assert found(collection, "Lusitania file:*.csv", lang="en") == {"ships.csv:3"}
        assert found(collection, "Lusitania file:ships*", lang="en") == {"ships.csv:3"}
        assert found(collection, "Lusitania file:*.txt", lang="en") == set()
        (term,) = collection.count_terms(["Lusitania"], lang="en")
        assert term.listed[0].path == str(tmp_path / "ships.csv")


def test_a_phrase_is_found_behind_the_stored_tokens_of_a_long_text(engine):
    assert found(engine, '"garbage collection"', lang="en") == {"long"}
    assert found(engine, '"Ende steht"', lang="de") == {"long"}
    assert found(engine, '"rote Laterne"', lang="de") == {"edge"}


def test_what_cannot_be_used_is_said_in_the_answer(engine):
    answer = engine.search("cat before:never")
    assert answer.results
    assert "before:never" in answer.notes[0]
    assert answer.as_json()["query"]["notes"] == list(answer.notes)
    missing = engine.search('"cat nations"', lang="en")
    assert not missing.results
    assert "cat nations" in missing.notes[0]
    assert "notes" not in engine.search("cat").as_json()["query"]


def test_a_phrase_of_stop_words_rules_nothing_out(engine):
    assert found(engine, 'cat -"of the"', lang="en") >= {"de", "de-cat"}
    assert found(engine, '"of the" cat', lang="en") >= {"de", "de-cat"}


def test_counts_explanations_and_pages_to_read_know_operators(engine):
    _, documents = engine.rank_documents('"united nations"', lang="en", k=200)
    assert {document.id for document in documents} == {"en", "fr"}
    assert engine.why(Query("", '"united nations"', "en"), "en")["parts"]
    piece = engine.read_excerpt(engine.get(["fr"])[0], '"united nations" -dog', lang="en")
    assert piece["paragraphs"][0]["marks"]


def test_queries_of_an_experiment_are_texts(engine):
    plain, signed = engine.rank([Query("1", "united nations", "en"), Query("2", '"united nations"', "en")])
    assert [hit.id for hit in plain] == [hit.id for hit in signed]


def test_other_pipelines_know_operators(engine):
    assert found(engine, "nations -Geneva", lang="en", pipeline="bm25") == {"fr", "fr-far"}
    assert found(engine, '"united nations"', lang="en", pipeline="bm25") == {"en"}


def test_the_command_line_and_assistants_show_notes_and_use_operators(engine, capsys):
    from paragloss.cli.output import print_answer
    from paragloss.server.assistants import CollectionTools

    print_answer(engine.search("cat before:never"))
    assert "before:never was left out" in capsys.readouterr().out
    tools = CollectionTools(engine)
    assert {result["id"] for result in tools.search('"united nations"', lang="en")["results"]} == {"en", "fr"}
    assert "before:never" in tools.search("cat before:never")["query"]["notes"][0]
