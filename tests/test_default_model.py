"""Without any model of one's own: a folder of texts is indexed and searched across languages."""

import json

import pytest
from typer.testing import CliRunner

from paragloss.cli import app
from paragloss.collection import Collection, describe, retrieval
from paragloss.lab.methods import table
from paragloss.search.default_search import DefaultSearcher
from paragloss.translation import word_table
from paragloss.translation.glossary import Pair
from paragloss.types import Concept, Document, Query

#: Two short texts in ten languages each, written for this test.
TEXTS = {
    "en": ("The bridge over the river was shut after the flood.", "The doctor gave the child medicine for a fever."),
    "es": ("El puente sobre el río se cerró tras la inundación.", "El médico dio al niño una medicina para la fiebre."),
    "de": ("Die Brücke über den Fluss ist seit der Flut gesperrt.", "Der Arzt gab dem Kind Medizin gegen das Fieber."),
    "fr": ("Le pont sur la rivière a été fermé après les inondations.", "Le médecin a donné à l'enfant un médicament."),
    "ru": ("Мост через реку закрыли после наводнения.", "Врач дал ребёнку лекарство от температуры."),
    "ar": ("أُغلق الجسر فوق النهر بعد الفيضان.", "أعطى الطبيب الطفل دواءً للحمى."),
    "hi": ("बाढ़ के बाद नदी पर बना पुल बंद कर दिया गया।", "डॉक्टर ने बच्चे को बुखार की दवा दी।"),
    "zh": ("洪水过后，河上的桥被关闭了。", "医生给孩子开了退烧的药。"),
    "tr": ("Nehrin üzerindeki köprü selden sonra kapatıldı.", "Doktor çocuğa ateşi için ilaç verdi."),
    "el": ("Η γέφυρα πάνω από το ποτάμι έκλεισε μετά την πλημμύρα.", "Ο γιατρός έδωσε στο παιδί φάρμακο για πυρετό."),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A collection of the texts, made by the command `index`."""
    folder = tmp_path_factory.mktemp("library")
    for lang, texts in TEXTS.items():
        (folder / "texts" / lang).mkdir(parents=True)
        for name, body in zip(("bridge", "doctor"), texts, strict=True):
            (folder / "texts" / lang / f"{name}.txt").write_text(body, encoding="utf-8")
    result = CliRunner().invoke(app, ["index", str(folder / "texts"), "--into", str(folder / "library")])
    assert result.exit_code == 0, result.output
    return str(folder / "library")


@pytest.mark.parametrize(
    ("text", "expected_name"),
    [
        ("a bridge across a river", "bridge"),
        ("medicine for a child", "doctor"),
        ("puente sobre un río", "bridge"),
        ("лекарство для ребёнка", "doctor"),
    ],
)
def test_a_folder_of_texts_in_ten_languages_is_indexed_and_searched(library, text, expected_name):
    output = CliRunner().invoke(app, ["search", "--in", library, text, "--json"]).output
    results = json.loads(output[output.index("{") :])["results"]
    best = [result["id"] for result in results[: len(TEXTS)]]
    assert sum(expected_name in id for id in best) >= 9, best


@pytest.mark.parametrize(
    ("text", "lang", "to", "expected_id"),
    [
        ("a whale in the sea", "en", "zh", "whale.zh"),
        ("how bees make honey", "en", "hi", "honey-bee.hi"),
        ("地震", "zh", "hi", "earthquake.hi"),
        ("भूकंप", "hi", "en", "earthquake.en"),
    ],
)
def test_a_new_collection_is_searched_across_languages(demo_location, text, lang, to, expected_id):
    with Collection.open(demo_location) as engine:
        answer = engine.search(text, lang=lang, to=[to], k=3)
    assert expected_id in [result.id for result in answer.results]


def test_all_languages_are_asked_at_once(demo_location):
    with Collection.open(demo_location) as engine:
        results = engine.search("elephant", lang="en", k=13).results
        languages = engine.langs
    # One more: the Vietnamese word for a whale contains that for an elephant.
    assert {result.id for result in results} == {f"elephant.{lang}" for lang in languages} | {"whale.vi"}


def test_it_can_be_left_out_for_once_or_for_good(demo_location, tmp_path):
    with Collection.open(demo_location, default=False) as engine:
        assert engine.search("volcano", lang="en", to=["zh"]).results == []
        assert engine.info()["default model"] == "left out"
    assert describe(demo_location)["default model"].startswith("used: ")
    location = str(tmp_path / "c")
    with Collection.create(location) as engine:
        assert engine.info()["default model"] != "left out"
    for options in ({"default": False}, {}):  # said once, it stays so
        with Collection.open_or_create(location, **options) as engine:
            assert engine.info()["default model"] == "left out"
            assert engine.info()["pipelines"] == ["bm25"]


def test_info_names_the_languages_it_does_not_know(tmp_path):
    with Collection.create(str(tmp_path / "c")) as engine:
        engine.index([Document("1", "Ko te reo te mauri o te mana Māori.", "mi")])
        assert "not mi" in engine.info()["default model"]


def test_a_reader_s_own_table_shares_the_clause_and_counts_for_more(tmp_path):
    pairs = [("elephant", "长鼻子"), ("ash", "灰")] * 5
    own = [Concept(str(i), {"en": en, "zh": zh}) for i, (en, zh) in enumerate(pairs)]
    table.fit(own).save(tmp_path / "own")
    with Collection.create(str(tmp_path / "c"), models=[str(tmp_path / "own")]) as engine:
        engine.index([Document("1", "大象", "zh")])
        default_search = retrieval.build_searcher(engine.state, None, "en", ["zh"])
    assert isinstance(default_search, DefaultSearcher)
    (clause,) = default_search.translate(Query("", "elephant", "en"))[0].clauses
    weights = {alternative.text: alternative.weight for alternative in clause.alternatives}
    theirs = [a.text for a in word_table.load(tmp_path / "own").alternatives("eleph", "en", "zh")]
    assert sum(weights[text] for text in theirs) == pytest.approx(0.75)
    assert "大象" in weights


def test_the_glossary_overrules_it(demo_location):
    with Collection.open(demo_location) as engine:
        engine.write_glossary([Pair("en", "volcano", "zh", "咖啡")])
        ids = [result.id for result in engine.search("volcano", lang="en", to=["zh"], k=3).results]
        engine.write_glossary([])
    assert ids[0] == "coffee.zh"
