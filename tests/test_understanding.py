"""Which language is a query in? One of the documents' or of the models', whatever the collection happens to hold."""

import gzip
import json
import os
import random
from itertools import islice
from pathlib import Path

import pytest

from paragloss import demo
from paragloss.collection import Collection
from paragloss.collection.query_language import Guess, select_readings
from paragloss.collection.retrieval import mix_readings
from paragloss.errors import InputError
from paragloss.formats.dictionaries import read_entries
from paragloss.translation.dictionary import Dictionary
from paragloss.types import Document, Hit, Query, RankedList

QUESTIONS = ["old bridges", "the price of bread", "where do bees live", "coffee and tea", "rain in the mountains"]


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """A dictionary from English to French."""
    folder = tmp_path_factory.mktemp("words")
    (folder / "en-fr.tsv").write_text("bread\tpain\nrain\tpluie\nbridge\tpont\ncoffee\tcafé\nbee\tabeille\n")
    Dictionary.build(read_entries(str(folder / "en-fr.tsv"), "en", "fr"), "en", "fr").save(folder / "dictionary")
    return str(folder / "dictionary")


def test_a_language_that_only_a_model_speaks_is_a_candidate(words, tmp_path):
    with Collection.create(str(tmp_path / "c"), models=[words]) as engine:
        engine.index(document for document in demo.documents() if document.lang == "fr")
        assert [engine.guess_languages(text)[0].lang for text in QUESTIONS] == ["en"] * 5
        assert engine.guess_languages("le prix du pain")[0].lang == "fr"


def test_one_stray_sentence_does_not_make_a_language_likely(demo_collection):
    questions = [(text, lang) for lang, texts in demo_questions().items() for text in texts]
    before = [demo_collection.guess_languages(text)[0].lang == lang for text, lang in questions]
    demo_collection.index([Document("stray", "El gat de la casa dorm sobre la taula de pedra.", "ca")])
    after = [demo_collection.guess_languages(text)[0].lang == lang for text, lang in questions]
    assert sum(after) >= sum(before) - 1
    assert sum(after) >= 0.85 * len(questions)


def demo_questions():
    titles = {}
    for document in demo.documents():
        titles.setdefault(document.lang, []).append(document.text.split(".")[0].split("。")[0][:40])
    return {lang: texts[::6] for lang, texts in titles.items()}


def test_doubt_is_said_and_both_languages_are_searched(words, tmp_path):
    with Collection.create(str(tmp_path / "c"), models=[words], default=False) as engine:
        engine.index([Document("a", "une note sur le pain", "fr"), Document("b", "a note on the rain", "en")])
        answer = engine.search("note")
        assert {answer.query.lang, *answer.others} == {"en", "fr"}
        assert {result.id for result in answer.results} == {"a", "b"}
        assert answer.as_json()["query"]["others"] == list(answer.others)
        assert engine.search("where is the bread").others == ()
        assert engine.search("note", lang="fr").others == ()


LANGS = ("en", "da", "de", "es", "fr", "it", "nl", "pl", "pt", "ru", "ja", "zh")


@pytest.mark.data
@pytest.mark.parametrize(
    "document_languages", [LANGS, ("fr",), ("sv",), (*LANGS, "ca")], ids=["all", "one", "a thirteenth", "stray"]
)
def test_few_words_of_twelve_languages(document_languages, tmp_path):
    path = Path(os.environ.get("PARAGLOSS_DATA", "~/.cache/paragloss")).expanduser() / "flores" / "dev.jsonl.gz"
    if not path.exists():
        pytest.skip(f"FLORES is not at {path}; set PARAGLOSS_DATA")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line)["texts"] for line in islice(lines, 100)]
    rng = random.Random(0)
    with Collection.create(str(tmp_path / "c")) as engine:
        engine.state.models["everything"] = Everything()
        engine.index(
            Document(f"{n}.{lang}", row[lang], lang)
            for n, row in enumerate(rows[40:])
            for lang in document_languages
            if lang != "ca" or not n
        )
        for sizes, min_accuracy in (((2, 3), 0.88), ((4, 8, 12), 0.96)):
            right = [
                engine.guess_languages(take_words(row[lang], lang, rng.choice(sizes), rng))[0].lang == lang
                for row in rows[:40]
                for lang in LANGS
            ]
            assert sum(right) / len(right) >= min_accuracy


class Everything:
    """A model that speaks the twelve languages and says nothing."""

    langs = LANGS


def take_words(text, lang, size, rng):
    words = [word for word in (text if lang in ("ja", "zh") else text.split()) if any(map(str.isalpha, word))]
    size = min(len(words), 2 * size if lang in ("ja", "zh") else size)
    start = rng.randrange(len(words) - size + 1)
    return ("" if lang in ("ja", "zh") else " ").join(words[start : start + size])


def test_a_query_of_which_nothing_can_be_told_is_still_answered(demo_collection):
    assert demo_collection.search("\x98q3").results == []


def test_names_are_searched_in_the_hub_as_well():
    sure, torn = [Guess("ro", 0.9), Guess("en", 0.01)], [Guess("ha", 0.4), Guess("it", 0.05), Guess("en", 0.02)]
    assert [guess.lang for guess in select_readings(sure, "vinul din pivniță", {})] == ["ro"]
    assert select_readings(sure, "Marie Curie", {}) == [Guess("ro", 0.9), Guess("en", 0.45)]
    assert [guess.lang for guess in select_readings(torn, "ibn battuta", {})] == ["ha", "en"]
    assert [guess.lang for guess in select_readings([Guess("en", 0.6), Guess("it", 0.4)], "Lava", {})] == ["en", "it"]
    assert [guess.lang for guess in select_readings([Guess("ro", 0.3), Guess("it", 0.2)], "Lava", {})] == ["ro", "it"]


def test_readings_count_by_their_share_of_those_that_are_searched():
    rankings = [RankedList((Hit("a", 0.8), Hit("b", 0.4))), RankedList((Hit("b", 0.8),))]
    mixed = mix_readings(list(zip((0.3, 0.1), rankings, strict=True)), 2)  # three quarters and a quarter
    assert {hit.id: hit.score for hit in mixed} == {"a": pytest.approx(0.6), "b": pytest.approx(0.5)}


def test_a_query_of_too_many_terms_is_refused_in_any_script(tmp_path):
    with Collection.create(str(tmp_path / "c")) as engine:
        engine.index([Document("a", "雨が降る日", "ja"), Document("b", "a rainy day", "en")])
        for text, lang in (("日" * 1000, "ja"), ("日" * 1000, None), ("rain day " * 200, "en")):
            with pytest.raises(InputError, match="terms, at most 300 can be asked: shorten it"):
                engine.search(text, lang=lang)
            with pytest.raises(InputError, match="at most 300"):
                engine.rank([Query("q", text, lang or "")], k=3)
        assert engine.search("rain day " * 100, lang="en").results
