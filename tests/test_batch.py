"""A list of names or terms becomes a table of places and documents."""

import csv
import io

import pytest
from test_cli import paragloss_

from paragloss.collection import Collection, Deadline, SearchOptions
from paragloss.collection.term_table import protect_cell, read_terms, write_term_table
from paragloss.server.answers import answer_term_count
from paragloss.types import Document

PAGES = [
    Document(
        "fr", "Les Nations unies siègent ici. Encore une fois, beaucoup plus tard, les Nations unies.", "fr", "ONU"
    ),
    Document("en", "The United Nations met in Geneva.", "en", "=United Nations"),
    Document("de", "Der Hund schläft im Haus.", "de", "Hund", {}, {"path": "/a/b/hund.txt"}),
]


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    location = str(tmp_path_factory.mktemp("batch") / "c")
    with Collection.create(location) as engine:
        engine.index(PAGES)
    return location


@pytest.fixture(scope="module")
def rows(location):
    with Collection.open(location) as engine:
        terms = ["United Nations", "dog lang:de", "unicorn", "United Nations -Geneva"]
        return {row.term: row for row in engine.count_terms(terms, lang="en")}


def test_places_and_documents_of_each_term_are_counted(rows):
    counts = {term: (row.hits, row.documents) for term, row in rows.items()}
    assert counts == {
        "United Nations": (4, 2),  # twice in French, once in an English text and once in its title
        "dog lang:de": (2, 1),
        "unicorn": (0, 0),
        "United Nations -Geneva": (2, 1),
    }
    (document,) = rows["dog lang:de"].listed
    assert (document.id, document.path, document.places) == ("de", "/a/b/hund.txt", ("Der Hund schläft im Haus.",))


def test_no_cell_of_the_table_is_a_formula(rows):
    stream = io.StringIO()
    write_term_table(stream, rows.values())
    header, *lines = csv.reader(io.StringIO(stream.getvalue()))
    assert header[:3] == ["term", "hits", "documents"]
    assert [line[:4] for line in lines][-2:] == [["unicorn", "0", "0"], ["United Nations -Geneva", "2", "1", "fr"]]
    assert "'=United Nations" in [line[5] for line in lines if len(line) > 5]
    assert [protect_cell(cell) for cell in ("@a", "-1", "+1", "a=b", 3)] == ["'@a", "'-1", "'+1", "a=b", 3]


def test_terms_are_read_from_lines_and_from_the_first_column():
    assert read_terms(["Jean Martin", "", " Anna ", "Anna"], is_csv=False) == ["Jean Martin", "Anna"]
    assert read_terms(["name,year", '"Martin, Jean",1950', "Anna,1960"], is_csv=True) == ["Martin, Jean", "Anna"]
    assert read_terms(["Jean", "Anna"], is_csv=True) == ["Jean", "Anna"]


def test_the_command_line_prints_and_writes_the_table(location, tmp_path):
    (tmp_path / "terms.txt").write_text("United Nations\nunicorn\n", encoding="utf-8")
    arguments = ("batch", "terms.txt", "--in", location, "--out", "table.csv", "--lang", "en")
    printed = paragloss_(*arguments, cwd=tmp_path)
    counts = [line.split()[-3:] for line in printed.stdout.splitlines()]
    assert ["unicorn", "0", "0"] in counts
    lines = list(csv.reader((tmp_path / "table.csv").open(encoding="utf-8-sig")))
    assert {line[3] for line in lines[1:] if len(line) > 3} == {"fr", "en"}


def test_the_server_hides_folders_and_explains_operators(location):
    with Collection.open(location) as engine:
        row = answer_term_count(engine, "dog before:never", SearchOptions(lang="en"), Deadline(60))
    assert row["listed"][0]["path"] == "hund.txt"
    assert "before:never" in row["notes"][0]
