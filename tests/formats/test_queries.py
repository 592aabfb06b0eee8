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
def test_queries_are_known_by_suffix_or_beginning(write, name, data, query):
    assert list(read_queries(write(name, data))) == [query]


@pytest.mark.parametrize(("name", "data"), [("a.qrels", "q 0 d 2\n"), ("en2sw.rel", "q\td\t2\n")])
def test_qrels_are_known_by_suffix(write, name, data):
    assert read_qrels(write(name, data)) == {"q": {"d": 2}}


def test_what_is_no_query_file(write):
    with pytest.raises(InputError, match=r"neither its suffix '.doc' nor its beginning .*supported: .jsonl"):
        read_queries(write("a.doc", "hello"))
