import json
import os
from pathlib import Path

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
def file(tmp_path):
    def make(*lines, name="news.jsonl"):
        path = tmp_path / name
        path.write_text(
            "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n", "utf-8"
        )
        return path

    return make


def test_a_document_with_everything(file):
    path = file(
        {
            "id": "a1",
            "lang": "fr",
            "title": "Pluie",
            "text": "Il pleut.",
            "fields": {"headings": "Temps"},
            "year": 1999,
            "tags": ["eau", "ciel"],
            "author": {"name": "X"},
            "gone": None,
        }
    )
    assert list(read_jsonl_documents(path)) == [
        Document(
            "a1",
            "Il pleut.",
            "fr",
            "Pluie",
            {"headings": "Temps"},
            {"year": 1999, "tags": ["eau", "ciel"], "author": '{"name": "X"}'},
        )
    ]


def test_ids_come_from_the_row_its_concept_or_its_line(file):
    path = file(
        {"id": 7, "text": "x"},
        {"_id": "beir", "text": "x"},
        {"concept": "rain", "lang": "fr", "text": "x"},
        {"concept": "rain", "text": "x"},
        "",
        {"text": "x"},
    )
    assert [doc.id for doc in read_jsonl_documents(path)] == ["7", "beir", "rain.fr", "rain", "news:6"]


def test_a_missing_language_is_left_to_the_caller(file):
    assert [doc.lang for doc in read_jsonl_documents(file({"text": "x"}, {"text": "x", "lang": None}))] == ["", ""]


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
        ('{"text": "x", "n": ' + "9" * 5000 + "}", "not usable JSON"),
    ],
)
def test_bad_rows_are_named_or_skipped(file, line, message):
    path = file({"text": "before"}, line, {"text": "after"})
    with pytest.raises(InputError, match=message) as caught:
        list(read_jsonl_documents(path))
    assert str(caught.value).startswith(f"{path}:2: ")
    assert "\n" not in str(caught.value)
    errors = []
    assert [doc.text for doc in read_jsonl_documents(path, on_error=errors.append)] == ["before", "after"]
    assert [str(error) for error in errors] == [str(caught.value)]


def test_escaped_emoji_pairs_are_text(file):
    assert next(read_jsonl_documents(file('{"text": "\\ud83d\\ude00"}'))).text == "\U0001f600"


def test_reading_is_lazy(file):
    path = file({"text": "first"}, "broken")
    assert next(read_jsonl_documents(path)).text == "first"


def test_queries(file):
    path = file({"id": 1, "lang": "en", "text": "rain"}, {"concept": "c", "lang": "fr", "text": "pluie"}, {"text": "x"})
    assert list(read_jsonl_queries(path)) == [
        Query("1", "rain", "en"),
        Query("c.fr", "pluie", "fr"),
        Query("news:3", "x", ""),
    ]
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
    path = file(*({"concept": "rain", "lang": "en", "text": text} for text in ("one", "two", "three")))
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


def _data(name):
    path = Path(os.environ.get("PARAGLOSS_DATA", Path.home() / ".cache" / "paragloss")) / name
    if not path.exists():
        pytest.skip(f"no {path}; set PARAGLOSS_DATA")
    return path


@pytest.mark.data
def test_real_translations_are_joined():
    concepts = read_concepts([_data("lohelp/de.jsonl.gz"), _data("lohelp/fr.jsonl.gz")])
    assert len(concepts) > 1000
    assert sum(set(concept.texts) == {"de", "fr"} for concept in concepts) > 1000
    assert {len(c.texts) for c in read_concepts([_data("flores/dev.jsonl.gz")])} >= {59}
