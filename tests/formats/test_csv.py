"""Tables: the separator, the columns and the rows; what is wrong with bad ones."""

import pytest

from paragloss.errors import InputError
from paragloss.formats.csv import read_csv_concept_texts, read_csv_documents, read_csv_queries
from paragloss.formats.rows import ConceptText
from paragloss.types import Document, Query

each_separator = pytest.mark.parametrize("mark", [",", ";", "\t", "|"])


@each_separator
def test_the_separator_is_found_in_the_header(write, mark):
    header = mark.join(["ID", " lang", "title", "text", "fields.notes", "year"])
    row = mark.join(["a1", "fr", '"a, b; c"', '"dit ""oui"""', "n", "1999"])
    assert list(read_csv_documents(write("table.csv", f"{header}\n{row}\n"))) == [
        Document("a1", 'dit "oui"', "fr", "a, b; c", {"notes": "n"}, {"year": "1999"})
    ]


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ("text\none\ntwo\n", [("table:2", "", "one"), ("table:3", "", "two")]),
        (
            f'\ufeffid,lang,text\n\n1,,"two\nlines"\n2,en,{"x" * 200_000}\n,,z\n',
            [("1", "", "two\nlines"), ("2", "en", "x" * 200_000), ("table:6", "", "z")],
        ),
    ],
    ids=["a single column", "cells of lines, empty and long ones"],
)
def test_every_row_is_a_document(write, table, rows):
    assert [(doc.id, doc.lang, doc.text) for doc in read_csv_documents(write("table.csv", table))] == rows


def test_queries_and_translations(write):
    assert list(read_csv_queries(write("q.csv", "id;text;lang\nq1;rain;en\n"))) == [Query("q1", "rain", "en")]
    texts = read_csv_concept_texts(write("t.csv", "concept,lang,text\nc,en,rain\n"))
    assert list(texts) == [ConceptText("c", "en", "rain")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,en", ":3: 2 cells in a table of 3 columns"),
        ("1,en,x,y", ":3: 4 cells in a table of 3 columns"),
        ("1,xxxx,t", ":3: unknown language code 'xxxx'"),
        ('1,en,"a"b', ":3: not a row of a table"),
    ],
)
def test_bad_rows(write, row, message):
    path = write("table.csv", f"id,lang,text\n0,en,before\n{row}\n2,en,after\n")
    with pytest.raises(InputError, match=message):
        list(read_csv_documents(path))
    errors = []
    assert [doc.text for doc in read_csv_documents(path, on_error=errors.append)] == ["before", "after"]
    assert len(errors) == 1


@pytest.mark.parametrize(
    ("read_rows", "table", "message"),
    [
        (read_csv_documents, 'id,text\n1,"open\n2,x\n', ":3: not a row of a table .*close every quotation mark"),
        (read_csv_documents, "text,text\n1,2\n", "a column comes twice in the header 'text,text'"),
        (read_csv_documents, "", "the file is empty"),
        (read_csv_queries, "a,b\n1,2\n", "no column 'text' in the header 'a,b'"),
    ],
)
def test_bad_tables(write, read_rows, table, message):
    with pytest.raises(InputError, match=message):
        list(read_rows(write("table.csv", table)))


@each_separator
def test_a_table_without_text_has_all_columns_as_text_of_its_rows(write, mark):
    header, row = mark.join(['"Ship, or boat"', "Year", "id"]), mark.join(["Titanic", "1912", "7"])
    titanic = {"ship, or boat": "Titanic", "year": "1912", "id": "7"}
    assert list(read_csv_documents(write("table.csv", f"{header}\n{row}\n{mark}1915{mark}\n"))) == [
        Document("table:2", "Ship, or boat: Titanic\nYear: 1912\nid: 7", "", meta=titanic),
        Document("table:3", "Year: 1915", "", meta={"year": "1915"}),
    ]


def test_columns_without_a_name_of_their_own_are_called_by_their_number(write):
    (document,) = read_csv_documents(write("table.csv", ",Name,Name,fields.note\na,b,c,d\n"))
    assert document.text == "1: a\nName: b\nName 3: c\nnote: d"


def test_a_table_in_the_encoding_of_a_spreadsheet(write):
    with pytest.warns(UserWarning, match=r"t.csv: read as cp1252, which it looks like"):
        documents = list(read_csv_documents(write("t.csv", b"id,text\n1,caf\xe9\n2,ok\n")))
    assert [doc.text for doc in documents] == ["café", "ok"]
