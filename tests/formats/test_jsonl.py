import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragloss.errors import InputError
from paragloss.formats.jsonl import (
    read_concepts,
    read_jsonl_documents,
    read_jsonl_queries,
    write_jsonl_documents,
    write_jsonl_queries,
)
from paragloss.types import Concept, Document, Query


@pytest.fixture
def file(write):
    def write_lines(*lines, name="news.jsonl"):
        return write(name, "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))

    return write_lines


def test_a_document_with_everything(file):
    texts = {"id": "a1", "lang": "fr", "title": "Pluie", "text": "Il pleut.", "fields": {"headings": "Temps"}}
    meta = {"year": 1999, "tags": ["eau", "ciel"], "author": {"name": "X"}, "gone": None}
    kept_meta = {"year": 1999, "tags": ["eau", "ciel"], "author": '{"name": "X"}'}
    assert list(read_jsonl_documents(file(texts | meta))) == [
        Document("a1", "Il pleut.", "fr", "Pluie", {"headings": "Temps"}, kept_meta)
    ]


def test_ids_come_from_the_row_its_concept_or_its_line_and_a_language_may_be_missing(file):
    rows = [{"id": 7}, {"_id": "beir", "lang": None}, {"concept": "rain", "lang": "fr"}, {"concept": "rain"}]
    path = file(*[{**row, "text": "x"} for row in rows], "", {"text": "x"})
    assert [(doc.id, doc.lang) for doc in read_jsonl_documents(path)] == [
        ("7", ""), ("beir", ""), ("rain.fr", "fr"), ("rain", ""), ("news:6", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "a", "text": "cut o', r"not JSON at column 21 .*; write one whole object per line"),
        ('["a"]', "a JSON list, not an object"),
        ('{"id": "a"}', "no text: the row has only 'id'; add a key 'text'"),
        ('{"id": true, "text": "x"}', "'id' is true"),
        ('{"id": "", "text": "x"}', "'id' is \"\""),
        ('{"id": 1.5, "text": "x"}', "'id' is 1.5"),
        ('{"text": 5}', "'text' is 5, not text"),
        ('{"text": "x", "lang": "klingon!"}', "unknown language code 'klingon!'"),
        ('{"text": "x", "lang": ["en"]}', "'lang' is"),
        ('{"text": "x", "fields": "y"}', "'fields' is \"y\"; give an object"),
        ('{"text": "x", "fields": {"a": 1}}', "'a' is 1, not text"),
        ('{"text": "x", "meta": 1}', "'meta' is 1; give an object"),
        ('{"text": "x", "n": NaN}', "NaN is no JSON number"),
        ('{"text": "\\ud83d"}', "surrogate"),
        ('{"text": ' + "[" * 100_000, "not usable JSON"),
        ('{"text": "x", "n": 1e999}', "1e999 is too large for a number"),
        ('{"text": "x", "n": 9223372036854775808}', "not usable JSON .*more than 64 bits"),
        ('{"text": "x", "n": ' + "9" * 5000 + "}", "more than 64 bits"),
    ],
)
def test_bad_rows_are_named_or_skipped(file, line, message):
    path = file({"text": "before"}, line, {"text": "after", "n": 2**63 - 1})
    with pytest.raises(InputError, match=message) as caught:
        list(read_jsonl_documents(path))
    assert str(caught.value).startswith(f"{path}:2: ")
    assert "\n" not in str(caught.value)
    errors = []
    assert [doc.text for doc in read_jsonl_documents(path, on_error=errors.append)] == ["before", "after"]
    assert [str(error) for error in errors] == [str(caught.value)]


def test_reading_is_lazy_and_escaped_emoji_pairs_are_text(file):
    assert next(read_jsonl_documents(file('{"text": "\\ud83d\\ude00"}', "broken"))).text == "\U0001f600"


def test_queries(file):
    path = file({"id": 1, "lang": "en", "text": "rain"}, {"concept": "c", "lang": "fr", "text": "pluie"}, {"text": "x"})
    expected = [Query("1", "rain", "en"), Query("c.fr", "pluie", "fr"), Query("news:3", "x", "")]
    assert list(read_jsonl_queries(path)) == expected
    with pytest.raises(InputError, match=r":1: no text"):
        list(read_jsonl_queries(file({"id": 1, "text": "  "})))


def test_translations_are_grouped_over_files(file):
    en = file(
        {"concept": "rain", "lang": "en", "title": "Rain", "text": "Water falls."},
        {"concept": "sun", "lang": "en", "text": "It shines."},
        name="en.jsonl",
    )
    fr = file(
        {"concept": "sun", "lang": "fr", "title": "Soleil", "text": "Il brille."},
        {"concept": "rain", "lang": "fr", "title": "Pluie", "text": "L'eau tombe."},
        {"concept": "empty", "lang": "fr", "title": "", "text": " "},
        name="fr.jsonl",
    )
    assert read_concepts([en, fr]) == [
        Concept("rain", {"en": "Water falls.", "fr": "L'eau tombe."}, {"en": "Rain", "fr": "Pluie"}),
        Concept("sun", {"en": "It shines.", "fr": "Il brille."}, {"fr": "Soleil"}),
    ]


def test_of_two_texts_in_one_language_the_first_is_kept_and_a_warning_counts(file):
    path = file(*[{"concept": "rain", "lang": "en", "text": text} for text in ("one", "two", "three")])
    with pytest.warns(UserWarning, match=r"2 repeated texts were left out, the first being 'rain' in en"):
        assert read_concepts([path]) == [Concept("rain", {"en": "one"})]


def test_all_languages_on_one_line(file):
    path = file({"concept": 3, "texts": {"en": "rain", "fr": "pluie"}, "titles": {"fr": "Pluie"}})
    assert read_concepts([path]) == [Concept("3", {"en": "rain", "fr": "pluie"}, {"fr": "Pluie"})]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"lang": "en", "text": "x"}, "no concept"),
        ({"concept": "a", "text": "x"}, "no language for concept 'a'"),
        ({"concept": "a", "texts": {"e": "x"}}, "unknown language code"),
    ],
)
def test_bad_translations(file, row, message):
    with pytest.raises(InputError, match=message):
        read_concepts([file(row)])


words = st.text(max_size=20)
names = st.text(min_size=1, max_size=8)
langs = st.sampled_from(["", "en", "pt", "zh"])
scalars = st.one_of(
    words, st.integers(-(2**53), 2**53), st.booleans(), st.floats(allow_nan=False, allow_infinity=False)
)
documents = st.builds(
    Document,
    names,
    words,
    langs,
    words,
    st.dictionaries(names, words, max_size=3),
    st.dictionaries(st.one_of(names, st.sampled_from(["text", "meta", "id", "concept"])), scalars | st.lists(scalars)),
)


@settings(deadline=None)
@given(st.lists(documents, min_size=1))
def test_documents_come_back_as_written(tmp_path_factory, docs):
    path = tmp_path_factory.getbasetemp() / "docs.jsonl.gz"
    assert write_jsonl_documents(path, docs) == len(docs)
    assert list(read_jsonl_documents(path)) == docs


@settings(deadline=None)
@given(st.lists(st.builds(Query, names, words.filter(str.strip), langs, st.just(())), min_size=1))
def test_queries_come_back_as_written(tmp_path_factory, queries):
    path = tmp_path_factory.getbasetemp() / "queries.jsonl"
    write_jsonl_queries(path, queries)
    assert list(read_jsonl_queries(path)) == queries
