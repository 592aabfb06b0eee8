"""The engine on the demonstration corpus: real analysis, a real model, a real store."""

import json
import math

import pytest

from paragloss import demo
from paragloss.collection import Collection, describe, load
from paragloss.errors import InputError, LanguageError, ModelError, StoreError
from paragloss.evaluation import evaluate, mean
from paragloss.index.terms import TERMS_VECTOR, TermIndex
from paragloss.lab.methods import cr5
from paragloss.stores import create_store
from paragloss.translation.glossary import Pair
from paragloss.types import Document, Query


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "cr5"
    cr5.fit(demo.concepts(), dim=50).save(path)
    return str(path)


@pytest.fixture(scope="module")
def collection(model, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("collections") / "demo")
    with Collection.create(path, models=[model]) as engine:
        engine.index(demo.documents())
    return path


@pytest.fixture
def engine(collection):
    with Collection.open(collection) as opened:
        yield opened


def test_a_reopened_collection_has_all_its_documents(engine):
    assert engine.count() == 720
    assert engine.langs == ("ar", "da", "de", "en", "es", "fr", "hi", "it", "ru", "sw", "vi", "zh")
    assert engine.count({"lang": ["hi", "zh"]}) == 120


@pytest.mark.parametrize(
    ("text", "lang", "to", "expected_id"),
    [
        ("volcano and lava", "en", "zh", "volcano.zh"),
        ("abeilles et miel", "fr", "hi", "honey-bee.hi"),
        ("火山", "zh", "da", "volcano.da"),
        ("caffè", "it", "vi", "coffee.vi"),
    ],
)
def test_a_query_finds_its_concept_in_another_language(engine, text, lang, to, expected_id):
    answer = engine.search(text, lang=lang, to=[to], k=3)
    assert expected_id in [result.id for result in answer.results]
    assert {result.lang for result in answer.results} == {to}


def test_queries_in_twelve_languages_find_the_others(engine):
    queries, qrels = demo.queries()
    run = {q.id: engine.rank([q], k=20, to=[x for x in engine.langs if x != q.lang])[0] for q in queries[::7]}
    scores = mean(evaluate(run, {q: qrels[q] for q in run}, ["RR(rel=2)", "nDCG@10"]))
    assert scores["RR(rel=2)"] > 0.8
    assert scores["nDCG@10"] > 0.8


def test_the_language_of_a_query_is_detected(engine):
    assert engine.search("कॉफ़ी के बीज").query.lang == "hi"
    assert engine.search("蜜蜂", k=1).query.lang == "zh"


def test_results_carry_titles_snippets_and_marks(engine):
    result = engine.search("honey bee", lang="en", to=["en"], k=1).results[0]
    assert (result.id, result.title) == ("honey-bee.en", "Honey bee")
    assert "honey" in {result.snippet[a:b].lower() for a, b in result.marks}


def test_what_is_shown_is_what_is_measured(engine):
    shown_ids = [r.id for r in engine.search("wine and cheese", lang="en", k=7).results]
    assert shown_ids == [hit.id for hit in engine.rank([Query("", "wine and cheese", "en")], k=7)[0]]


def test_pipelines_by_name(engine):
    for name in ("bm25", "cr5", "bm25+cr5"):
        assert engine.search("volcano", lang="en", pipeline=name).results
    with pytest.raises(InputError, match="no 'nonsense' in this collection"):
        engine.search("volcano", lang="en", pipeline="nonsense")
    with pytest.raises(InputError, match="no reranker 'knrm'"):
        engine.search("volcano", lang="en", pipeline="bm25>knrm")


def test_a_language_that_the_requested_model_lacks_is_an_error(engine):
    with pytest.raises(LanguageError, match="does not know 'fi'"):
        engine.search("tulivuori", lang="fi", pipeline="cr5")
    assert engine.search("lava", lang="fi").results  # unnamed: words alone still search


def test_an_empty_query_is_an_error(engine):
    with pytest.raises(InputError, match="empty"):
        engine.search("   ")


def test_documents_are_added_changed_and_deleted(model, tmp_path):
    with Collection.create(str(tmp_path / "c"), models=[model]) as engine:
        engine.index([Document("a", "A text about volcanoes.", "en"), Document("b", "Un texte sur le pain.", "fr")])
        engine.index([Document("a", "A text about bread.", "en", meta={"year": 1999})])
        assert engine.count() == 2
        assert [r.id for r in engine.search("volcano", lang="en", to=["en"], pipeline="bm25").results] == []
        assert engine.search("bread", lang="en", where={"meta.year": [1999]}).results[0].id == "a"
        assert engine.delete(["a", "nobody"]) == 1
        assert engine.count() == 1


def test_the_language_of_a_document_is_detected(tmp_path):
    with Collection.create(str(tmp_path / "c")) as engine:
        engine.index([Document("a", "Le pain est fait de farine, d'eau et de levure.", "")])
        engine.index([Document("b", "bread", "")], lang="en")
        assert engine.langs == ("en", "fr")


def test_a_document_in_a_language_the_model_does_not_know_is_still_found_by_its_words(model, tmp_path):
    with Collection.create(str(tmp_path / "c"), models=[model]) as engine:
        engine.index([Document("fi", "Tulivuori syöksee laavaa.", "fi")])
        assert [r.id for r in engine.search("tulivuori", lang="fi").results] == ["fi"]


def test_a_failing_reader_loses_nothing_already_indexed(tmp_path):
    def documents():
        for i in range(1500):
            yield Document(str(i), f"text number {i}", "en")
        raise InputError("line 1501 is broken")

    path = str(tmp_path / "c")
    with Collection.create(path) as engine, pytest.raises(InputError, match="1501"):
        engine.index(documents())
    with Collection.open(path) as engine:
        assert engine.count() == 1500


def test_a_model_added_later_encodes_what_is_there(model, tmp_path):
    path = str(tmp_path / "c")
    with Collection.create(path) as engine:
        engine.index(demo.documents()[:70])
    with Collection.open_or_create(path, models=[model]) as engine:
        assert engine.search("volcano", lang="en", to=["zh"], pipeline="cr5", k=1).results[0].id == "volcano.zh"
        assert engine.add_model(model) is False  # the same one again: nothing to do
    with Collection.open(path) as engine:
        assert engine.search("volcano", lang="en", to=["zh"], pipeline="cr5", k=1).results[0].id == "volcano.zh"


def test_describe_speaks_of_collections_and_models(collection, model):
    about = describe(collection)
    assert about["documents"] == 720
    assert about["models"]["cr5"]["method"] == "cr5"
    assert "cr5" in about["pipelines"]
    assert describe(model)["kind"] == "BagEncoder"
    json.dumps([about, describe(model)])


def test_opening_anything_else_than_a_model_or_collection_is_an_error(tmp_path):
    with pytest.raises(ModelError, match="not a saved model"):
        describe(str(tmp_path))
    with pytest.raises(StoreError, match="not a collection"):
        Collection.open(str(tmp_path))
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "meta.json").write_text(
        '{"format": 1, "kind": "os.system", "arrays": [], "words": [], "meta": {}}'
    )
    with pytest.raises(ModelError, match="does not know"):
        load(tmp_path / "m")


def test_text_in_the_wrong_language_is_warned_about_with_counts(tmp_path):
    chinese = "".join(d.text for d in demo.documents() if d.lang == "zh").translate(
        dict.fromkeys(map(ord, "，。；、“”"), None)
    )
    with (
        Collection.create(str(tmp_path / "c")) as engine,
        pytest.warns(UserWarning, match="1 of 2 texts in 'en' gave fewer"),
    ):
        engine.index([Document("a", chinese, "en"), Document("b", "A text that is English.", "en")])


def test_documents_can_be_added_to_an_open_collection(model, tmp_path):
    with Collection.create(str(tmp_path / "c"), models=[model]) as engine:
        engine.index(demo.documents()[:50])
        assert engine.add([Document(f"new{i}", "a quokka smiles", "en") for i in range(120)]) == 120
        assert engine.search("quokka", lang="en", to=["en"], k=1).results[0].title == ""
        assert [d and d.id for d in engine.get(["new7", "nobody"])] == ["new7", None]
    with Collection.open(str(tmp_path / "c")) as engine:
        assert engine.count() == 170


def test_a_glossary_changes_the_next_search_and_is_stored(model, tmp_path):
    with Collection.create(str(tmp_path / "c"), models=[model]) as engine:
        engine.index([*demo.documents(), Document("d", "En drage flyver over byen.", "da")])
        options = {"lang": "en", "to": ["da"], "k": 1}
        assert not engine.search("wyvern", **options).results
        assert engine.write_glossary([Pair("en", "wyvern", "da", "drage")]) == 1
        (result,) = engine.search("wyvern", **options).results
        assert (result.id, [result.snippet[a:b] for a, b in result.marks]) == ("d", ["drage"])
    with Collection.open(str(tmp_path / "c")) as engine:
        assert engine.glossary == [Pair("en", "wyvern", "da", "drage")]
        assert engine.search("wyvern", **options).results[0].id == "d"
        engine.write_glossary([])
        assert not engine.search("wyvern", **options).results


def test_fit_is_a_share_of_the_best_possible_score(engine):
    results = engine.search("volcano and lava", lang="en", k=40).results
    assert all(0 <= result.fit <= 1 for result in results)
    assert results[0].fit > 2 * results[-1].fit
    # By meaning alone the best is a cosine of 1; the score is the share.
    (first,) = engine.search("volcano and lava", lang="en", to=["zh"], k=1, pipeline="cr5").results
    assert first.fit == pytest.approx(first.score)


def test_words_are_glossed_by_what_the_collection_knows(engine):
    gloss = engine.gloss("L'abeille vit dans la ruche.", lang="fr", to="en")
    by_word = {word["text"]: word for word in gloss["words"]}
    assert by_word["dans"]["kind"] == "stop"
    meanings = [meaning["text"] for word in gloss["words"] for meaning in word["meanings"]]
    assert {"bee", "hive"} & set(meanings)
    for word in gloss["words"]:
        assert "L'abeille vit dans la ruche."[word["start"] : word["end"]] == word["text"]
        assert 0 <= word["confidence"] <= 1


def test_the_parts_of_an_explanation_sum_to_the_log_odds_of_the_score(engine):
    for text, lang in (("volcano and lava", "en"), ("abeilles et miel", "fr"), ("penicillina", "it")):
        for result in engine.search(text, lang=lang, k=5).results:
            why = engine.why(Query("", text, lang), result.id)
            log_odds = math.log(result.score / (1 - result.score))
            assert why["score"] == pytest.approx(log_odds)
            assert sum(part["score"] for part in why["parts"]) == pytest.approx(log_odds)
            for part in why["parts"]:
                if part["pairs"]:
                    assert sum(pair["score"] for pair in part["pairs"]) == pytest.approx(part["score"])
    with pytest.raises(InputError):
        engine.why(Query("", "volcano", "en"), "nobody")


def test_explanations_tell_matches_by_sound_and_inside_compounds(tmp_path):
    documents = [
        Document("fan", "Вчера Зуброткин снова забросил шайбу.", "ru"),
        Document("weather", "Сегодня на улице хорошая погода.", "ru"),
        Document("late", "Wegen der Zugverspätungen mussten alle warten.", "de"),
        Document("cake", "Kuchen mit Sahne am Nachmittag.", "de"),
    ]
    with Collection.create(str(tmp_path / "c")) as engine:
        engine.index(documents)
        first = engine.search("Zubrotkin", lang="en").results[0]
        assert first.id == "fan"
        assert [first.snippet[start:end] for start, end in first.marks] == ["Зуброткин"]
        why = engine.why(Query("", "Zubrotkin", "en"), "fan")
        (part,) = [part for part in why["parts"] if part["part"] == "words"]
        (pair,) = part["pairs"]
        assert (pair["query"], pair["document"], pair["source"]) == ("Zubrotkin", "Зуброткин", "by sound")
        assert pair["score"] == pytest.approx(part["score"])
        assert engine.search("train", lang="en").results[0].id == "late"
        why = engine.why(Query("", "train", "en"), "late")
        (pair,) = next(part["pairs"] for part in why["parts"] if part["part"] == "words")
        assert (pair["query"], pair["document"], pair["source"]) == ("train", "Zugverspätungen", "default, inside")
        assert "inner" not in engine.info()["fields"]
        assert engine.search("Zug", lang="de", pipeline="bm25").results == []


def test_a_document_whose_language_can_not_be_told_is_kept_found_and_changed_like_any_other(tmp_path):
    with Collection.create(str(tmp_path / "c")) as engine:
        engine.index([Document("a", "some words in English", "en"), Document("n", "12345 678", "")])
        assert engine.get(["n"])[0].lang == "und"
        engine.add([engine.get(["n"])[0]._replace(title="numbers")])
        assert engine.search("words").query.lang == "en"
        assert engine.search("12345", lang="en").results[0].id == "n"
        assert engine.search("12345", lang="en", to=["und"]).results[0].title == "numbers"


def test_a_search_in_an_empty_collection_finds_nothing(model, tmp_path):
    with Collection.create(str(tmp_path / "c"), models=[model]) as engine:
        for options in (
            {},
            {"lang": "en"},
            {"lang": "en", "to": ["fr"]},
            {"lang": "en", "pipeline": "cr5:words|feedback"},
        ):
            assert engine.search("the lava of a volcano", **options).results == []
        assert engine.explain("lava", lang="en")
        assert engine.info()["fields"] == {}


def test_fields_that_documents_have_are_indexed_and_searched(tmp_path):
    page = {"headings": "Eruptions", "strong": "magma", "url": "https://example.org/nature/volcano_basics.html"}
    with Collection.create(str(tmp_path / "c")) as engine:
        engine.index(
            [Document("page", "Hot rock comes out.", "en", "A mountain", page), Document("text", "Bread.", "en")]
        )
        assert engine.info()["fields"] == {"title": 1, "text": 2, "headings": 1, "strong": 1, "url": 1}
        for field, text in (("headings", "eruption"), ("strong", "magma"), ("url", "volcano basics"), ("text", "rock")):
            assert [r.id for r in engine.search(text, lang="en", pipeline=f"bm25:{field}").results] == ["page"]
            assert engine.search(text, lang="en", pipeline=f"bm25:{field}=0").results == []
        assert engine.search("https example org", lang="en", pipeline="bm25:url").results == []  # where, not what


def test_a_collection_made_with_two_fields_still_opens(tmp_path):
    store = create_store(str(tmp_path / "c"), dense={}, sparse=[TERMS_VECTOR])
    TermIndex.build(store, fields=("title", "text")).commit()
    store.close()
    with Collection.open(str(tmp_path / "c")) as engine:
        engine.index([Document("a", "bread", "en", "Title", {"headings": "crust"})])
        assert engine.info()["fields"] == {"title": 1, "text": 1}
        assert [r.id for r in engine.search("bread", lang="en").results] == ["a"]
        with pytest.raises(InputError, match="bm25 has no option 'headings'; it has title=WEIGHT, text=WEIGHT"):
            engine.search("crust", lang="en", pipeline="bm25:headings")


def test_a_field_that_few_documents_have_hardly_moves_the_others(tmp_path):
    plain = [Document(f"{i}", f"bread number {i}", "en", "Title") for i in range(20)]
    scores = []
    for name, fields in (("without", {}), ("with", {"headings": "Baking"})):
        with Collection.create(str(tmp_path / name)) as engine:
            engine.index([*plain[1:], plain[0]._replace(fields=fields)])
            scores.append(engine.search("bread number 7", lang="en", k=1).results[0].score)
    assert scores[1] == pytest.approx(scores[0], rel=0.05)


def test_results_can_be_the_newest_of_the_best(tmp_path):
    texts = ["Bees make honey. Bees dance.", "Honey from bees.", "A shop sells honey.", "The sea is calm."]
    documents = [Document(f"{1990 + n}", text, "en", meta={"year": 1990 + n}) for n, text in enumerate(texts)]
    with Collection.create(str(tmp_path / "dated"), meaning=False) as engine:
        engine.index(documents)
        best = [result.id for result in engine.search("bees honey", lang="en").results]
        newest = engine.search("bees honey", lang="en", k=2, newest=50)
        assert newest.why("1992")["parts"]
    assert sorted(best) == ["1990", "1991", "1992"]
    assert [result.id for result in newest.results] == ["1992", "1991"]
    assert {result.id: result.fit for result in newest.results}["1991"] > 0
