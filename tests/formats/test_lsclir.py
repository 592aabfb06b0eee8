import pytest

from paragloss.errors import InputError
from paragloss.formats.lsclir import read_lsclir_documents, read_lsclir_qrels, read_lsclir_queries
from paragloss.types import Document, Query


def test_the_three_files(tmp_path):
    queries, documents, rel = tmp_path / "wiki_en.queries", tmp_path / "wiki_sw.documents", tmp_path / "en2sw.rel"
    queries.write_text("12\tRain\tis water that falls .\n")
    documents.write_text("77\tMvua\tMvua ni\tmaji .\n")  # a tab in the text belongs to the text
    rel.write_text("12\t77\t2\n12\t78\t1\n12\t78\t2\n13\t78\t1\n")
    assert list(read_lsclir_queries(queries)) == [Query("12", "is water that falls .", "en")]
    assert list(read_lsclir_documents(documents)) == [Document("77", "Mvua ni\tmaji .", "sw", "Mvua")]
    assert read_lsclir_qrels(rel) == {"12": {"77": 2, "78": 2}, "13": {"78": 1}}


def test_bad_files(tmp_path):
    path = tmp_path / "documents"
    path.write_text("1\tonly two\n")
    with pytest.raises(InputError, match="no language in the file's name; call it wiki_xx"):
        read_lsclir_documents(path)
    path = path.rename(tmp_path / "wiki_sw.documents")
    with pytest.raises(InputError, match=":1: 2 columns where 3 are expected: id, title, text"):
        list(read_lsclir_documents(path))
