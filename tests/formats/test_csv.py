import pytest

from paragloss.errors import InputError
from paragloss.formats.csv import read_csv_concept_texts, read_csv_documents, read_csv_queries
from paragloss.formats.rows import ConceptText
from paragloss.types import Document, Query


@pytest.fixture
def file(tmp_path):
    def make(text):
        path = tmp_path / "table.csv"
        path.write_text(text, "utf-8")
        return path

    return make


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_separator_is_found_in_the_header(file, mark):
    header = mark.join(["ID", " lang", "title", "text", "fields.notes", "year"])
    row = mark.join(["a1", "fr", '"a, b; c"', '"dit ""oui"""', "n", "1999"])
    assert list(read_csv_documents(file(f"{header}\n{row}\n"))) == [
        Document("a1", 'dit "oui"', "fr", "a, b; c", {"notes": "n"}, {"year": "1999"})
    ]


def test_cells_may_hold_lines_and_be_empty_or_long(file):
    long = "x" * 200_000
    docs = list(read_csv_documents(file(f'\ufeffid,lang,text\n\n1,,"two\nlines"\n2,en,{long}\n,,z\n')))
    assert [(doc.id, doc.lang, doc.text) for doc in docs] == [
        ("1", "", "two\nlines"),
        ("2", "en", long),
        ("table:6", "", "z"),
    ]


def test_a_single_column_is_enough(file):
    assert [doc.text for doc in read_csv_documents(file("text\none\ntwo\n"))] == ["one", "two"]


def test_queries_and_translations(file):
    assert list(read_csv_queries(file("id;text;lang\nq1;rain;en\n"))) == [Query("q1", "rain", "en")]
    assert list(read_csv_concept_texts(file("concept,lang,text\nc,en,rain\n"))) == [ConceptText("c", "en", "rain")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,en", ":3: 2 cells in a table of 3 columns"),
        ("1,en,x,y", ":3: 4 cells in a table of 3 columns"),
        ("1,xxxx,t", ":3: unknown language code 'xxxx'"),
        ('1,en,"a"b', ":3: not a row of a table"),
    ],
)
def test_bad_rows(file, row, message):
    path = file(f"id,lang,text\n0,en,before\n{row}\n2,en,after\n")
    with pytest.raises(InputError, match=message):
        list(read_csv_documents(path))
    errors = []
    assert [doc.text for doc in read_csv_documents(path, on_error=errors.append)] == ["before", "after"]
    assert len(errors) == 1


def test_a_quotation_mark_never_closed(file):
    with pytest.raises(InputError, match=r":3: not a row of a table .*close every quotation mark"):
        list(read_csv_documents(file('id,text\n1,"open\n2,x\n')))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("text,text\n1,2\n", "comes twice"),
        ("", "the file is empty"),
    ],
)
def test_bad_headers(file, text, message):
    with pytest.raises(InputError, match=message):
        list(read_csv_documents(file(text)))


def test_queries_need_a_column_of_text(file):
    with pytest.raises(InputError, match="no column 'text' in the header 'a,b'"):
        list(read_csv_queries(file("a,b\n1,2\n")))


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_a_table_without_text_has_all_columns_as_text_of_its_rows(file, mark):
    header, row = mark.join(['"Ship, or boat"', "Year", "id"]), mark.join(["Titanic", "1912", "7"])
    assert list(read_csv_documents(file(f"{header}\n{row}\n{mark}1915{mark}\n"))) == [
        Document(
            "table:2",
            "Ship, or boat: Titanic\nYear: 1912\nid: 7",
            "",
            meta={"ship, or boat": "Titanic", "year": "1912", "id": "7"},
        ),
        Document("table:3", "Year: 1915", "", meta={"year": "1915"}),
    ]


def test_columns_without_a_name_of_their_own_are_called_by_their_number(file):
    (document,) = read_csv_documents(file(",Name,Name,fields.note\na,b,c,d\n"))
    assert document.text == "1: a\nName: b\nName 3: c\nnote: d"


def test_a_row_of_a_table_without_text_is_found(tmp_path):
    from paragloss.collection import Collection

    (tmp_path / "ships.csv").write_text(
        "Schiff;Jahr;Ende\nTitanic;1912;im Atlantik gesunken\nLusitania;1915;von einem Torpedo getroffen\n"
    )
    with Collection.create(str(tmp_path / "c"), meaning=False) as engine:
        engine.index_files([str(tmp_path / "ships.csv")], lang="de")
        (result,) = engine.search("torpedo", lang="en", where={"meta.jahr": ["1915"]}).results
    assert result.id == "ships.csv:3"


def test_a_table_in_the_encoding_of_a_spreadsheet(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"id,text\n1,caf\xe9\n2,ok\n")
    with pytest.warns(UserWarning, match=r"t.csv: read as cp1252, which it looks like"):
        assert [doc.text for doc in read_csv_documents(path)] == ["café", "ok"]
