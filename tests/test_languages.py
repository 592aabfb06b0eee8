import gzip
import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from paragloss import languages
from paragloss.collection import Collection
from paragloss.errors import LanguageError
from paragloss.languages._unpacked import load_identifier
from paragloss.types import Document


@pytest.mark.parametrize(
    ("code", "base"),
    [
        ("en", "en"), ("EN", "en"), ("eng", "en"), ("pt-br", "pt"), ("pt_BR.UTF-8", "pt"), ("zh-Hans", "zh"),
        ("zh-tw", "zh"), ("chi", "zh"), ("yue", "zh"), ("ger", "de"), ("deu", "de"), ("iw", "he"), ("fil", "tl"),
        ("nb", "no"), ("nn", "nn"), ("ceb", "ceb"), ("bem", "bem"), ("fon-BJ", "fon"),
    ],
)  # fmt: skip
def test_normalise(code, base):
    assert languages.normalise(code) == base


@pytest.mark.parametrize("code", ["", "xx", "english", "e", "12"])
def test_unknown_code_is_quoted_with_a_remedy(code):
    with pytest.raises(LanguageError, match=f"'{code}'.*known"):
        languages.normalise(code)


def test_table_is_whole():
    codes = languages.known_codes()
    assert len(codes) >= 200
    assert len([code for code in codes if len(code) == 2]) == 182  # ISO 639-1 has 183; its 'nb' is our 'no'
    for code in codes:
        assert languages.normalise(code) == code
        assert languages.language_name(code)[0].isupper()
        assert languages.scripts_of(code)


@pytest.mark.parametrize(
    ("code", "name", "scripts"),
    [
        ("tl", "Tagalog", ("Latn",)),
        ("zh-Hant", "Chinese", ("Hani",)),
        ("gd", "Scottish Gaelic", ("Latn",)),
        ("ja-JP", "Japanese", ("Kana", "Hani")),
    ],
)
def test_names_and_scripts(code, name, scripts):
    assert (languages.language_name(code), languages.scripts_of(code)) == (name, scripts)


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("ko", "안녕하세요"), ("ja", "ひらがな"), ("ja", "東京の天気"), ("th", "สวัสดี"), ("el", "καλημέρα"),
        ("ka", "გამარჯობა"), ("ta", "வணக்கம்"),  # one word is enough where the script decides
        ("en", "The old bridge was closed for repairs this morning."),
        ("da", "Den gamle bro blev lukket for reparation i morges."),
        ("it", "Il vecchio ponte è stato chiuso stamattina per lavori."),
        ("vi", "Cây cầu cũ đã bị đóng cửa để sửa chữa sáng nay."),
        ("hi", "पुराना पुल आज सुबह मरम्मत के लिए बंद कर दिया गया।"),
        ("zh", "这座旧桥今天早上因维修而关闭。"),
        ("tl", "Isinara ngayong umaga ang lumang tulay upang ayusin."),
        ("uk", "Старий міст сьогодні вранці закрили на ремонт."),
    ],
)  # fmt: skip
def test_the_language_of_words_and_sentences(lang, text):
    assert languages.identify_one(text) == lang


@pytest.mark.parametrize(
    ("text", "candidates", "accepted"),
    [
        ("gamle broer", ["en", "da", "it"], {"da"}),  # two words that several Scandinavian languages share
        ("gamle broer", ["en", "nb", "it"], {"no"}),
        ("hello", ["hi", "ru", "sw"], {"sw"}),  # the only one that is written in this script
        ("hello", ["hi", "mr"], {"hi", "mr"}),  # none is: they are still all there is to choose from
    ],
)
def test_candidates_decide_where_a_text_is_short(text, candidates, accepted):
    assert languages.identify_one(text, candidates) in accepted


@pytest.mark.parametrize(
    ("text", "declared", "lang"), [("gamle broer", "da", "da"), ("gamle broer", "vi", "no"), ("2024", "fr", "fr")]
)
def test_a_declared_language_is_believed_of_a_few_words_that_may_be_in_it(text, declared, lang):
    assert languages.identify_short(text, declared) == lang


@pytest.mark.parametrize("text", ["", "   ", "12 + 34", "?!", "🙂"])
def test_no_letters_no_language(text):
    assert languages.identify_one(text) is None
    assert languages.identify_one(text, candidates=["en", "fr"]) is None


def test_unknown_candidate_is_an_error():
    with pytest.raises(LanguageError, match="'klingon'"):
        languages.identify(["text"], candidates=["klingon"])


def test_threads_with_different_candidates_do_not_disturb_each_other():
    wrong = []

    def identify_repeatedly(candidates, expected):
        wrong.extend(got for got in languages.identify(["gamle broer"] * 50, candidates) if got != expected)

    threads = [threading.Thread(target=identify_repeatedly, args=(["en", code], code)) for code in ("da", "no") * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.data
@pytest.mark.parametrize(("words", "min_accuracy"), [(2, 0.93), (3, 0.95), (10, 0.99)])
def test_accuracy_on_a_few_words_of_seven_languages(words, min_accuracy):
    path = Path(os.environ.get("PARAGLOSS_DATA", "~/.cache/paragloss")).expanduser() / "flores" / "dev.jsonl.gz"
    if not path.exists():
        pytest.skip(f"FLORES is not at {path}; set PARAGLOSS_DATA")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        sentences = [json.loads(next(lines))["texts"] for _ in range(100)]
    candidates = ["en", "da", "it", "vi", "hi", "zh", "tl"]
    right = 0
    for lang in candidates:
        middles = [
            text[3 : 3 + 2 * words] if lang == "zh" else " ".join(text.split()[3 : 3 + words])
            for text in (sentence[lang] for sentence in sentences)
        ]
        right += languages.identify(middles, candidates).count(lang)
    assert right / (len(candidates) * len(sentences)) >= min_accuracy


def read_file_numbers(folder):
    """When each file was written, and its inode: a file that is written again has others."""
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.iterdir()}


@pytest.mark.parametrize("is_cut_off", [True, False])
def test_what_tells_languages_is_unpacked_once_and_again_when_damaged(tmp_path, monkeypatch, is_cut_off):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "paragloss" / "py3langid-0.0.1").mkdir(parents=True)
    first = load_identifier().rank(" het regent in de stad ")
    assert first[0][0] == "nl"
    (cache_folder,) = (tmp_path / "paragloss").iterdir()  # the older version is gone
    unpacked_files = read_file_numbers(cache_folder)
    assert load_identifier().rank(" het regent in de stad ") == first
    assert read_file_numbers(cache_folder) == unpacked_files
    if is_cut_off:
        (cache_folder / "row.npy").write_bytes(b"")
    else:  # the arrays do not fit together
        np.save(cache_folder / "row.npy", np.load(cache_folder / "row.npy")[:-1])
    assert load_identifier().rank(" het regent in de stad ") == first
    assert read_file_numbers(cache_folder) != unpacked_files


def test_languages_are_told_where_nothing_can_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert load_identifier().rank(" het regent in de stad ")[0][0] == "nl"


def test_a_language_that_is_seldom_met_has_a_name_and_is_found_by_names(tmp_path):
    assert languages.language_name("bem") == "Bemba (Zambia)"
    assert "bem" not in languages.known_codes()  # nobody's words are taken for it
    with Collection.create(str(tmp_path / "c")) as engine:
        english = Document("en", "Kaunda was president of Zambia.", "en")
        engine.index([english, Document("bem", "Kaunda kuli Lusaka", "bem")])
        assert engine.search("Ukupekanya ifya kwa Kaunda", lang="bem", to=["en"]).results[0].id == "en"
        assert engine.search("Lusaka", lang="en", to=["bem"]).results[0].id == "bem"
