"""Documents translated by an engine as they are indexed, Portuguese to English, and queries the other way."""

import re

import pytest
from json_servers import JsonServer

from paragloss.collection import Collection
from paragloss.errors import InputError, LanguageError, LineSyntaxError, StoreError
from paragloss.types import Document

WORDS = {"o pão": "the bread", "pão": "bread", "farinha": "flour", "água": "water", "cidade": "city", "lava": "lava"}
DICTIONARIES = {("pt", "en"): WORDS, ("en", "pt"): {english: word for word, english in WORDS.items()}}


def translate(body):
    """Answer as LibreTranslate does: Portuguese and English, word by word."""
    if body is None:
        return [{"code": "pt", "targets": ["en"]}, {"code": "en", "targets": ["pt"]}]
    words = DICTIONARIES.get((body["source"], body["target"]))
    if words is None:
        return {"error": f"{body['source']} is not supported"}
    return {"translatedText": [" ".join(words.get(w, w) for w in re.findall(r"\w+", t.lower())) for t in body["q"]]}


@pytest.fixture(scope="module")
def server():
    with JsonServer(translate) as running:
        yield running


@pytest.fixture(scope="module")
def machine(server):
    return server.address


DOCUMENTS = [
    Document("pão", "O pão é feito de farinha e água.", "pt", "Pão"),
    Document("vulcão", "A lava do vulcão destruiu a cidade.", "pt", "Vulcão"),
    Document("brød", "Brød er lavet af mel og vand.", "da", "Brød"),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory, machine):
    location = str(tmp_path_factory.mktemp("translated") / "c")
    with Collection.create(location, machine=machine, translate_to="en") as new_collection:
        new_collection.index(DOCUMENTS)
    with Collection.open(location) as opened_collection:
        yield opened_collection


def search_ids(engine, text, pipeline=None, lang="en"):
    return [result.id for result in engine.search(text, lang=lang, pipeline=pipeline).results]


def test_a_query_finds_translations_in_its_own_words(engine):
    assert search_ids(engine, "bread", "bm25") == []
    assert search_ids(engine, "bread", "translated") == ["pão"]
    assert search_ids(engine, "flour and water", "bm25+translated") == ["pão"]
    assert search_ids(engine, "city", "translated") == ["vulcão"]
    assert search_ids(engine, "bread") == ["pão", "brød"]  # translated by the engine; by the default model
    result = engine.search("bread", lang="en").results[0]
    assert result.title == "Pão"
    assert "farinha" in result.snippet  # what is shown is what was written


def test_the_engine_translates_queries_as_well(engine):
    assert search_ids(engine, "bread", "mt") == ["pão"]
    with pytest.raises(LanguageError, match="does not translate de->pt; it has pt, en"):
        engine.search("Brot", lang="de", to=["pt"], pipeline="mt")


def test_a_language_nothing_was_translated_into_is_said(engine):
    with pytest.raises(LineSyntaxError, match="were not translated into 'pt'"):
        search_ids(engine, "pão", "translated", lang="pt")


def test_translations_are_kept_and_not_made_again(engine, server):
    engine.index(DOCUMENTS)
    assert len([request for request in server.requests if request.body and "Pão" in request.body["q"]]) == 1
    assert search_ids(engine, "bread", "translated") == ["pão"]


def test_the_language_is_chosen_when_a_collection_is_made(machine, tmp_path):
    plain = str(tmp_path / "plain")
    Collection.create(plain).close()
    with pytest.raises(StoreError, match="does not translate its documents"):
        Collection.open_or_create(plain, machine=machine, translate_to="en")
    with Collection.open_or_create(plain, machine=machine) as opened:
        opened.index(DOCUMENTS)
        assert search_ids(opened, "bread", "mt") == ["pão"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"machine": "babelfish"}, "no translation engine 'babelfish'"),
        ({"translate_to": "en"}, "by nothing: say an engine"),
    ],
)
def test_what_can_not_translate_is_said_before_a_collection_is_made(tmp_path, settings, message):
    with pytest.raises(InputError, match=message):
        Collection.create(str(tmp_path / "c"), **settings)
    assert not (tmp_path / "c").exists()
