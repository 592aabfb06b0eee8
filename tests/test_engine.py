"""The engine on the demonstration corpus: real analysis, a real model, a real store."""

import json

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


def create(tmp_path, documents=(), **options):
    """A new collection, perhaps with documents."""
    engine = Collection.create(str(tmp_path / "c"), **options)
    engine.index(list(documents))
    return engine


def find_ids(engine, text, **options):
    return [result.id for result in engine.search(text, **options).results]


@pytest.fixture
def engine(collection):
    with Collection.open(collection) as opened:
        yield opened


def test_a_reopened_collection_has_all_its_documents(engine):
    assert engine.count() == 720
    assert engine.langs == ("ar", "da", "de", "en", "es", "fr", "hi", "it", "ru", "sw", "vi", "zh")
    assert engine.count({"lang": ["hi", "zh"]}) == 120


def test_queries_in_twelve_languages_find_the_others(engine):
    queries, qrels = demo.queries()
    run = {q.id: engine.rank([q], k=20, to=[x for x in engine.langs if x != q.lang])[0] for q in queries[::7]}
    scores = mean(evaluate(run, {q: qrels[q] for q in run}, ["RR(rel=2)", "nDCG@10"]))
    assert scores["RR(rel=2)"] > 0.8
    assert scores["nDCG@10"] > 0.8


def test_the_language_of_a_query_is_detected(engine):
    assert engine.search("कॉफ़ी के बीज").query.lang == "hi"
    assert engine.search("蜜蜂", k=1).query.lang == "zh"


def test_results_carry_titles_snippets_and_marks_in_the_order_that_is_measured(engine):
    answer = engine.search("honey bee", lang="en", to=["en"], k=7)
    first = answer.results[0]
    assert (first.id, first.title) == ("honey-bee.en", "Honey bee")
    assert "honey" in {first.snippet[start:end].lower() for start, end in first.marks}
    (ranking,) = engine.rank([Query("", "honey bee", "en")], k=7, to=["en"])
    assert [result.id for result in answer.results] == [hit.id for hit in ranking]


@pytest.mark.parametrize("pipeline", ["bm25", "cr5", "bm25+cr5"])
def test_a_pipeline_is_asked_for_by_name(engine, pipeline):
    assert engine.search("volcano", lang="en", pipeline=pipeline).results


@pytest.mark.parametrize(
    ("text", "lang", "pipeline", "error", "message"),
    [
        ("volcano", "en", "nonsense", InputError, "no 'nonsense' in this collection"),
        ("volcano", "en", "bm25>knrm", InputError, "no reranker 'knrm'"),
        ("tulivuori", "fi", "cr5", LanguageError, "does not know 'fi'"),
        ("   ", None, None, InputError, "empty"),
    ],
)
def test_a_search_that_cannot_be_made_is_an_error(engine, text, lang, pipeline, error, message):
    with pytest.raises(error, match=message):
        engine.search(text, lang=lang, pipeline=pipeline)


def test_documents_are_added_changed_and_deleted(model, tmp_path):
    documents = [Document("a", "A text about volcanoes.", "en"), Document("b", "Un texte sur le pain.", "fr")]
    with create(tmp_path, documents, models=[model]) as engine:
        engine.index([Document("a", "A text about bread.", "en", meta={"year": 1999})])
        assert engine.count() == 2
        assert find_ids(engine, "volcano", lang="en", to=["en"], pipeline="bm25") == []
        assert find_ids(engine, "bread", lang="en", where={"meta.year": [1999]})[0] == "a"
        assert engine.delete(["a", "nobody"]) == 1
        assert engine.count() == 1
        # A language that the model does not know is searched by words.
        engine.index([Document("fi", "Tulivuori syöksee laavaa.", "fi")])
        assert find_ids(engine, "tulivuori", lang="fi") == ["fi"]


def test_the_language_of_a_document_is_detected(tmp_path):
    with create(tmp_path, [Document("a", "Le pain est fait de farine, d'eau et de levure.", "")]) as engine:
        engine.index([Document("b", "bread", "")], lang="en")
        assert engine.langs == ("en", "fr")


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
    options = {"lang": "en", "to": ["zh"], "pipeline": "cr5", "k": 1}
    create(tmp_path, demo.documents()[:70]).close()
    with Collection.open_or_create(str(tmp_path / "c"), models=[model]) as engine:
        assert find_ids(engine, "volcano", **options) == ["volcano.zh"]
        assert engine.add_model(model) is False  # the same one again: nothing to do
    with Collection.open(str(tmp_path / "c")) as engine:
        assert find_ids(engine, "volcano", **options) == ["volcano.zh"]


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
    meta = {"format": 1, "kind": "os.system", "arrays": [], "words": [], "meta": {}}
    (tmp_path / "m" / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(ModelError, match="does not know"):
        load(tmp_path / "m")


def test_text_in_the_wrong_language_is_warned_about_with_counts(tmp_path):
    chinese = "".join(document.text for document in demo.documents() if document.lang == "zh")
    without_punctuation = chinese.translate(dict.fromkeys(map(ord, "，。；、“”"), None))
    documents = [Document("a", without_punctuation, "en"), Document("b", "A text that is English.", "en")]
    with pytest.warns(UserWarning, match="1 of 2 texts in 'en' gave fewer"):
        create(tmp_path, documents).close()


def test_documents_can_be_added_to_an_open_collection(model, tmp_path):
    with create(tmp_path, demo.documents()[:50], models=[model]) as engine:
        assert engine.add([Document(f"new{i}", "a quokka smiles", "en") for i in range(120)]) == 120
        assert engine.search("quokka", lang="en", to=["en"], k=1).results[0].title == ""
        assert [document and document.id for document in engine.get(["new7", "nobody"])] == ["new7", None]
    with Collection.open(str(tmp_path / "c")) as engine:
        assert engine.count() == 170


def test_a_glossary_changes_the_next_search_and_is_stored(model, tmp_path):
    options, pair = {"lang": "en", "to": ["da"], "k": 1}, Pair("en", "wyvern", "da", "drage")
    documents = [*demo.documents(), Document("d", "En drage flyver over byen.", "da")]
    with create(tmp_path, documents, models=[model]) as engine:
        assert not find_ids(engine, "wyvern", **options)
        assert engine.write_glossary([pair]) == 1
        (result,) = engine.search("wyvern", **options).results
        assert (result.id, [result.snippet[start:end] for start, end in result.marks]) == ("d", ["drage"])
    with Collection.open(str(tmp_path / "c")) as engine:
        assert engine.glossary == [pair]
        assert find_ids(engine, "wyvern", **options) == ["d"]
        engine.write_glossary([])
        assert not find_ids(engine, "wyvern", **options)


def test_fit_is_a_share_of_the_best_possible_score(engine):
    results = engine.search("volcano and lava", lang="en", k=40).results
    assert all(0 <= result.fit <= 1 for result in results)
    assert results[0].fit > 2 * results[-1].fit
    # By meaning alone the best is a cosine of 1; the score is the share.
    (first,) = engine.search("volcano and lava", lang="en", to=["zh"], k=1, pipeline="cr5").results
    assert first.fit == pytest.approx(first.score)


def test_words_are_glossed_by_what_the_collection_knows(engine):
    text = "L'abeille vit dans la ruche."
    words = engine.gloss(text, lang="fr", to="en")["words"]
    assert {word["text"]: word["kind"] for word in words}["dans"] == "stop"
    assert {"bee", "hive"} & {meaning["text"] for word in words for meaning in word["meanings"]}
    for word in words:
        assert text[word["start"] : word["end"]] == word["text"]
        assert 0 <= word["confidence"] <= 1


def test_a_document_that_is_not_there_is_not_explained(engine):
    with pytest.raises(InputError):
        engine.why(Query("", "volcano", "en"), "nobody")


def test_explanations_tell_matches_by_sound_and_inside_compounds(tmp_path):
    documents = [
        Document("fan", "Вчера Зуброткин снова забросил шайбу.", "ru"),
        Document("weather", "Сегодня на улице хорошая погода.", "ru"),
        Document("late", "Wegen der Zugverspätungen mussten alle warten.", "de"),
        Document("cake", "Kuchen mit Sahne am Nachmittag.", "de"),
    ]
    with create(tmp_path, documents) as engine:
        result = engine.search("Zubrotkin", lang="en").results[0]
        assert result.id == "fan"
        assert [result.snippet[start:end] for start, end in result.marks] == ["Зуброткин"]
        assert engine.search("train", lang="en").results[0].id == "late"
        expected = {
            ("Zubrotkin", "fan"): ("Зуброткин", "by sound"),
            ("train", "late"): ("Zugverspätungen", "default, inside"),
        }
        for (word, id), match in expected.items():
            (part,) = [part for part in engine.why(Query("", word, "en"), id)["parts"] if part["part"] == "words"]
            (pair,) = part["pairs"]
            assert (pair["query"], pair["document"], pair["source"]) == (word, *match)
            assert pair["score"] == pytest.approx(part["score"])
        assert "inner" not in engine.info()["fields"]
        assert find_ids(engine, "Zug", lang="de", pipeline="bm25") == []


def test_a_document_whose_language_can_not_be_told_is_kept_found_and_changed_like_any_other(tmp_path):
    with create(tmp_path, [Document("a", "some words in English", "en"), Document("n", "12345 678", "")]) as engine:
        (document,) = engine.get(["n"])
        assert document.lang == "und"
        engine.add([document._replace(title="numbers")])
        assert engine.search("words").query.lang == "en"
        assert find_ids(engine, "12345", lang="en")[0] == "n"
        assert engine.search("12345", lang="en", to=["und"]).results[0].title == "numbers"


def test_a_search_in_an_empty_collection_finds_nothing(model, tmp_path):
    with create(tmp_path, models=[model]) as engine:
        lava = "the lava of a volcano"
        for options in ({}, {"lang": "en"}, {"lang": "en", "to": ["fr"]}):
            assert find_ids(engine, lava, **options) == []
        assert find_ids(engine, lava, lang="en", pipeline="cr5:words|feedback") == []
        assert engine.explain("lava", lang="en")
        assert engine.info()["fields"] == {}


def test_fields_that_documents_have_are_indexed_and_searched(tmp_path):
    page = {"headings": "Eruptions", "strong": "magma", "url": "https://example.org/nature/volcano_basics.html"}
    documents = [Document("page", "Hot rock comes out.", "en", "A mountain", page), Document("text", "Bread.", "en")]
    with create(tmp_path, documents) as engine:
        assert engine.info()["fields"] == {"title": 1, "text": 2, "headings": 1, "strong": 1, "url": 1}
        for field, text in (("headings", "eruption"), ("strong", "magma"), ("url", "volcano basics"), ("text", "rock")):
            assert find_ids(engine, text, lang="en", pipeline=f"bm25:{field}") == ["page"]
            assert find_ids(engine, text, lang="en", pipeline=f"bm25:{field}=0") == []
        assert find_ids(engine, "https example org", lang="en", pipeline="bm25:url") == []  # where, not what


def test_a_collection_made_with_two_fields_still_opens(tmp_path):
    store = create_store(str(tmp_path / "c"), dense={}, sparse=[TERMS_VECTOR])
    TermIndex.build(store, fields=("title", "text")).commit()
    store.close()
    with Collection.open(str(tmp_path / "c")) as engine:
        engine.index([Document("a", "bread", "en", "Title", {"headings": "crust"})])
        assert engine.info()["fields"] == {"title": 1, "text": 1}
        assert find_ids(engine, "bread", lang="en") == ["a"]
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
