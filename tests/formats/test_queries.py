import pytest

from paragloss.errors import InputError
from paragloss.formats.queries import read_qrels, read_queries
from paragloss.types import Query


@pytest.mark.parametrize(
    ("name", "data", "query"),
    [
        ("q.jsonl", '{"id": "1", "lang": "en", "text": "rain"}', Query("1", "rain", "en")),
        ("q", '{"id": "1", "text": "rain"}', Query("1", "rain", "")),
        ("q.tsv", "id\tlang\ttext\n1\ten\train\n", Query("1", "rain", "en")),
        ("topics.301-350", "\n<top><num>1<title>rain</top>", Query("1", "rain", "")),
        ("wiki_en.queries", "1\tRain\train\n", Query("1", "rain", "en")),
    ],
)
def test_queries_are_known_by_suffix_or_beginning(tmp_path, name, data, query):
    (tmp_path / name).write_text(data)
    assert list(read_queries(tmp_path / name)) == [query]


def test_qrels(tmp_path):
    (tmp_path / "a.qrels").write_text("q 0 d 2\n")
    (tmp_path / "en2sw.rel").write_text("q\td\t2\n")
    assert read_qrels(tmp_path / "a.qrels") == read_qrels(tmp_path / "en2sw.rel") == {"q": {"d": 2}}


def test_what_is_no_query_file(tmp_path):
    (tmp_path / "a.doc").write_text("hello")
    with pytest.raises(InputError, match=r"neither its suffix '.doc' nor its beginning .*supported: .jsonl"):
        read_queries(tmp_path / "a.doc")
