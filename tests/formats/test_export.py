"""What is written is read again the same."""

import csv as standard_csv

import pytest

from paragloss.formats import csv, trec
from paragloss.types import Document

DOCUMENTS = [
    Document(
        "a", 'He said "no",\nand left; a < b & c > d.', "en", "A title, with a comma", {"url": "x y"}, {"year": "1999"}
    ),
    Document("b", "Løven spiser\tfisk.", "da", "", {}, {"place": "Århus"}),
    Document("c", "火山灰落在村庄上。", "zh", "火山"),
]


@pytest.mark.parametrize("name", ["d.csv", "d.tsv", "d.csv.gz"])
def test_documents_written_as_a_table_are_read_again(tmp_path, name):
    assert csv.write_csv_documents(tmp_path / name, DOCUMENTS, csv.build_csv_header(DOCUMENTS)) == 3
    assert list(csv.read_csv_documents(tmp_path / name)) == DOCUMENTS


def test_documents_written_as_trec_keep_id_language_title_and_text(tmp_path):
    assert trec.write_trec_documents(tmp_path / "d.trec", DOCUMENTS) == 3
    documents = list(trec.read_trec_documents(tmp_path / "d.trec"))
    assert [(d.id, d.lang, d.title) for d in documents] == [(d.id, d.lang, d.title) for d in DOCUMENTS]
    assert [" ".join(d.text.split()) for d in documents] == [" ".join(d.text.split()) for d in DOCUMENTS]


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "@SUM(A1)", "+1+cmd", "-2+3+cmd", "'=quoted", "\tTab"])
def test_a_cell_that_a_spreadsheet_would_run_is_text_and_comes_back_as_it_was(tmp_path, text):
    documents = [Document("a", text, "en", "", {}, {"note": text, "change": "-5", "price": "+1.5"})]
    csv.write_csv_documents(tmp_path / "d.csv", documents, csv.build_csv_header(documents))
    with (tmp_path / "d.csv").open(newline="") as file:
        [row] = standard_csv.DictReader(file)
    assert row["text"] == row["note"] == f"'{text}"
    assert (row["change"], row["price"]) == ("-5", "+1.5")
    assert list(csv.read_csv_documents(tmp_path / "d.csv")) == documents
