import pytest

from paragloss.errors import InputError
from paragloss.formats.lsclir import read_lsclir_documents, read_lsclir_qrels, read_lsclir_queries
from paragloss.types import Document, Query


def test_the_three_files(write):
    queries = write("wiki_en.queries", "12\tRain\tis water that falls .\n")
    documents = write("wiki_sw.documents", "77\tMvua\tMvua ni\tmaji .\n")  # a tab in the text belongs to the text
    qrels = write("en2sw.rel", "12\t77\t2\n12\t78\t1\n12\t78\t2\n13\t78\t1\n")
    assert list(read_lsclir_queries(queries)) == [Query("12", "is water that falls .", "en")]
    assert list(read_lsclir_documents(documents)) == [Document("77", "Mvua ni\tmaji .", "sw", "Mvua")]
    assert read_lsclir_qrels(qrels) == {"12": {"77": 2, "78": 2}, "13": {"78": 1}}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("documents", "no language in the file's name; call it wiki_xx"),
        ("wiki_sw.documents", ":1: 2 columns where 3 are expected: id, title, text"),
    ],
)
def test_bad_files(write, name, message):
    with pytest.raises(InputError, match=message):
        list(read_lsclir_documents(write(name, "1\tonly two\n")))
