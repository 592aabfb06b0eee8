"""Documents translated by an engine as they are indexed, Portuguese to English, and queries the other way."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from paragloss.collection import Collection
from paragloss.errors import InputError, LanguageError, LineSyntaxError, StoreError
from paragloss.types import Document

WORDS = {"o pão": "the bread", "pão": "bread", "farinha": "flour", "água": "water", "cidade": "city", "lava": "lava"}
REQUESTS = []


class TranslationServer(BaseHTTPRequestHandler):
    """LibreTranslate's shape: Portuguese and English, word by word."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        REQUESTS.append(body["q"])
        dictionaries = {("pt", "en"): WORDS, ("en", "pt"): {english: word for word, english in WORDS.items()}}
        words = dictionaries.get((body["source"], body["target"]))
        error_answer = {"error": f"{body['source']} is not supported"} if words is None else {}
        translations = (
            [" ".join(words.get(w, w) for w in re.findall(r"\w+", t.lower())) for t in body["q"]] if words else []
        )
        self.answer(400 if error_answer else 200, error_answer or {"translatedText": translations})

    def do_GET(self):
        self.answer(200, [{"code": "pt", "targets": ["en"]}, {"code": "en", "targets": ["pt"]}])

    def answer(self, status, content):
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def machine():
    with HTTPServer(("127.0.0.1", 0), TranslationServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


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


def test_without_a_pipeline_translations_are_searched_too(engine):
    assert search_ids(engine, "bread") == ["pão", "brød"]  # translated by the engine; by the default model


def test_what_is_shown_is_what_was_written(engine):
    result = engine.search("bread", lang="en").results[0]
    assert result.title == "Pão"
    assert "farinha" in result.snippet


def test_the_engine_translates_queries_as_well(engine):
    assert search_ids(engine, "bread", "mt") == ["pão"]
    with pytest.raises(LanguageError, match="does not translate de->pt; it has pt, en"):
        engine.search("Brot", lang="de", to=["pt"], pipeline="mt")


def test_a_language_nothing_was_translated_into_is_said(engine):
    with pytest.raises(LineSyntaxError, match="were not translated into 'pt'"):
        search_ids(engine, "pão", "translated", lang="pt")


def test_translations_are_kept_and_not_made_again(engine):
    before = len([texts for texts in REQUESTS if "Pão" in texts])
    engine.index(DOCUMENTS)
    assert len([texts for texts in REQUESTS if "Pão" in texts]) == before == 1
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
