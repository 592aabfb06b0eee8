"""BM25 over a real store, against BM25 written out plainly and against an independent library."""

from __future__ import annotations

import gzip
import json
import math
import os
import random
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from reference import Plain, Words

from paragloss.errors import StoreError
from paragloss.index.terms import TermIndex
from paragloss.search.lexical import Lexical
from paragloss.stores.embedded import EmbeddedStore
from paragloss.types import Alternative, Document, Query, Translation

WEIGHTS = {"title": 2.0, "text": 1.0}


def invented(number: int, *, langs=("en", "de", "zh"), seed: int = 0) -> list[Document]:
    """Documents of words w0, w1, ... where small numbers are frequent; the languages share spellings."""
    rng = random.Random(seed)

    def words(most):
        return " ".join(f"w{min(int(rng.paretovariate(0.7)), 300)}" for _ in range(rng.randint(1, most)))

    return [Document(f"d{i}", words(80), rng.choice(langs), words(6) if i % 5 else "") for i in range(number)]


@pytest.fixture
def build(tmp_path):
    """Index documents with a whitespace analyzer; returns the index and its store."""
    opened = []

    def build(documents, **options):
        store = EmbeddedStore.create(tmp_path / f"c{len(opened)}", dense={}, sparse=["terms"])
        opened.append(store)
        index = TermIndex.build(store, analyze=options.pop("analyze", Words), **options)
        for start in range(0, len(documents), 100):
            index.add(documents[start : start + 100])
        index.refresh()
        return index, store

    yield build
    for store in opened:
        store.close()


def same(ranking, expected, k):
    """The same documents with the same scores; float32 may swap documents closer than that."""
    assert [score for _, score in ranking] == pytest.approx([score for _, score in expected[:k]], rel=2e-6)
    scores = dict(expected)
    assert [scores[id] for id, _ in ranking] == pytest.approx([score for _, score in ranking], rel=2e-6)


def stored(store):
    """Every document's vector, exactly."""
    return {
        r.document.id: (r.sparse["terms"].indices.tolist(), r.sparse["terms"].values.tolist())
        for batch in store.scroll(vectors=True)
        for r in batch
    }


def test_three_documents(build):
    index, store = build([Document("a", "cat sat cat", "en"), Document("b", "dog", "en"), Document("c", "cat", "de")])
    lexical = Lexical(store, index.statistics, analyze=Words)
    cats, both, none = lexical.search(
        [Query("1", "cat", "en"), Query("2", "dog sat", "en"), Query("3", "cow", "en")], 10
    )
    assert [(hit.id, round(hit.score, 4)) for hit in cats] == [("a", round(np.log(2) * 2 / 3.65, 4))]
    assert [hit.id for hit in both] == ["b", "a"]
    assert none == []


def test_scores_are_those_of_the_formula(build):
    documents = invented(400)
    index, store = build(documents)
    plain, lexical = Plain(documents), Lexical(store, index.statistics, weights=WEIGHTS, analyze=Words)
    for text, lang in [("w1 w2 w3", "en"), ("w5 w5 w9 unseen", "de"), ("w40 w17", "zh"), ("w1", "zh")]:
        terms = {term: text.split().count(term) for term in text.split()}
        expected = plain.ranking(lambda d, terms=terms: plain.score(d, terms, WEIGHTS), lang)
        same(lexical.search([Query("q", text, lang)], 20)[0], expected, 20)


def test_queries_together_are_queries_one_by_one(build):
    index, store = build(invented(100))
    lexical = Lexical(store, index.statistics, analyze=Words)
    queries = [Query(str(i), f"w{i} w{i + 3}", lang) for i in range(5) for lang in ("en", "de", "fr")]
    assert lexical.search(queries, 7) == [lexical.search([query], 7)[0] for query in queries]
    assert lexical.search([], 7) == []


def test_the_order_of_documents_changes_nothing(build):
    documents = invented(200)
    (index, store), (shuffled, other) = build(documents), build(random.Random(1).sample(documents, len(documents)))
    assert index.statistics.to_bytes() == shuffled.statistics.to_bytes()
    assert stored(store) == stored(other)
    query = Query("q", "w1 w7 w30", "en")
    first, second = (
        Lexical(some, of.statistics, analyze=Words).search([query], 50)[0]
        for some, of in ((store, index), (other, shuffled))
    )
    same(first, second, 50)


def test_deleting_and_adding_back_changes_nothing(build):
    documents = invented(200)
    index, store = build(documents)
    before, counts = stored(store), index.statistics.to_bytes()
    assert index.delete([d.id for d in documents[:80]] + ["unknown"]) == 80
    index.refresh()
    fewer, other = build(documents[80:])
    assert (stored(store), index.statistics.to_bytes()) == (stored(other), fewer.statistics.to_bytes())
    index.add(documents[:80])
    index.refresh()
    assert (stored(store), index.statistics.to_bytes()) == (before, counts)


def test_an_index_is_opened_again_whole(build):
    index, store = build([Document("a", "old words", "en"), Document("b", "words", "en")])
    index.commit()
    again = TermIndex.open(store, analyze=Words)
    assert again.statistics.to_bytes() == index.statistics.to_bytes()
    store.delete(["a"])
    with pytest.raises(StoreError, match="damaged: 1 of its 2 documents can be found"):
        TermIndex.open(store)
    again.delete(["b"])  # from here on it is being written, and was killed
    assert TermIndex.open(store).statistics.langs == ()


def test_rows_that_say_nothing_are_not_kept(tmp_path):
    documents = [Document(name, "word", "en") for name in ("some", "zeros", "none")]
    with EmbeddedStore.create(tmp_path / "c", dense={"model": 2}, sparse=["terms"]) as store:
        rows = [np.ones(2, np.float32), np.zeros(2, np.float32), None]
        TermIndex.build(store, analyze=Words).add(documents, {"model": rows})
        records = store.get(["some", "zeros", "none"], vectors=["model"])
        assert [list(record.dense) for record in records] == [["model"], [], []]


def test_languages_whose_texts_give_hardly_any_terms_are_said(build):
    run = "x" * 900  # one term of nine hundred letters
    with pytest.warns(UserWarning, match="^1 of 2 texts in 'th' gave fewer than one term") as told:
        build([Document("a", "some words", "en"), Document("b", run, "th"), Document("c", "a b", "th")])
    assert len(told) == 1


def test_a_filter_of_anything_else_is_the_stores(build):
    documents = [Document(name, "cat", "en", meta={"year": year}) for name, year in (("old", 1990), ("new", 2020))]
    index, store = build(documents)
    lexical = Lexical(store, index.statistics, analyze=Words)
    for where in ({"meta.year": [2020]}, {"meta.year": [2020], "lang": ["en"]}):
        assert [hit.id for hit in lexical.search([Query("q", "cat", "en")], 5, where)[0]] == ["new"]
    assert len(lexical.search([Query("q", "cat", "en")], 5, {"lang": ["en"]})[0]) == 2
    assert lexical.search([Query("q", "cat", "en")], 5, {"lang": ["de"]}) == [[]]


@pytest.mark.parametrize("proportional", [False, True])
def test_words_that_were_met_sum_to_the_score(build, proportional):
    index, store = build([Document("a", "cat sat cat", "en"), Document("b", "dog", "en"), Document("c", "cat", "de")])
    lexical = Lexical(store, index.statistics, proportional=proportional, analyze=Words)
    query = Query("q", "cat sat dog", "en")
    met, score = lexical.matches(query, "a"), dict(lexical.search([query], 5)[0])["a"]
    # K = 1.2 (1/4 + 3/4 * 3/2) = 1.65; all idfs are ln 2: of 2 / 3.65 and 1 / 2.65, and of three words together.
    whole = 3 * np.log(2) if proportional else 1.0
    assert met == [
        ("cat", "cat", pytest.approx(np.log(2) * 2 / 3.65 / whole, rel=1e-5)),
        ("sat", "sat", pytest.approx(np.log(2) / 2.65 / whole, rel=1e-5)),
    ]
    assert sum(one.score for one in met) == pytest.approx(score, rel=1e-5)
    assert lexical.matches(query, "c") == lexical.matches(query, "unknown") == []


def test_replacing_a_document_forgets_the_old_one(build):
    index, store = build([Document("a", "old words", "en"), Document("b", "words", "en")])
    index.add([Document("a", "ignored", "en"), Document("a", "neue wörter hier", "de")])
    index.refresh()
    fresh, other = build([Document("b", "words", "en"), Document("a", "neue wörter hier", "de")])
    assert (stored(store), index.statistics.to_bytes()) == (stored(other), fresh.statistics.to_bytes())


def test_documents_of_other_languages_change_nothing(build):
    german = invented(60, langs=("de",))
    english = [Document(f"e{d.id}", d.text, "en", d.title) for d in invented(300, langs=("en",), seed=1)]
    (index, store), (both, more) = build(german), build(german + english)
    vectors = stored(more)
    assert stored(store) == {d.id: vectors[d.id] for d in german}
    query = Query("q", "w1 w2 w30", "de")
    alone = Lexical(store, index.statistics, analyze=Words).search([query], 60)[0]
    among = Lexical(more, both.statistics, analyze=Words).search([query], 60)[0]
    assert len(alone) > 10
    same(among, alone, 60)


def test_a_translated_query_weighs_its_alternatives(build):
    documents = invented(300)
    index, store = build(documents)
    plain, lexical = Plain(documents), Lexical(store, index.statistics, weights=WEIGHTS, analyze=Words)
    clauses = (
        Translation("house", (Alternative("w3", 0.7), Alternative("w8", 0.3))),
        Translation("home", (Alternative("w3", 0.5), Alternative("w11 w12", 0.4))),
    )
    # w3 stands in both clauses and adds up; the words of a phrase share its weight.
    terms = {"w3": 1.2, "w8": 0.3, "w11": 0.2, "w12": 0.2}
    expected = plain.ranking(lambda d: plain.score(d, terms, WEIGHTS), "de")
    same(lexical.search([Query("q", "never read", "de", clauses)], 30)[0], expected, 30)


def test_words_as_they_stand_in_several_languages(build):
    documents = invented(300)
    index, store = build(documents)
    plain = Plain(documents)
    lexical = Lexical(store, index.statistics, weights=WEIGHTS, langs=["de", "zh", "sw"], analyze=Words)
    terms = {"w3": 1, "w9": 1}
    expected = sorted(
        (pair for lang in ("de", "zh") for pair in plain.ranking(lambda d: plain.score(d, terms, WEIGHTS), lang)),
        key=lambda pair: (-pair[1], pair[0]),
    )
    query = Query("q", "w3 w9", "en")
    same(lexical.search([query], 30)[0], expected, 30)
    zh = [pair for pair in expected if plain.documents[pair[0]].lang == "zh"]
    same(lexical.search([query], 30, {"lang": ["zh", "en"]})[0], zh, 30)
    assert len(lexical.vector(query, {"lang": ["zh"]}).indices) == 4  # two terms in two fields, of one language only


def test_scores_never_drift_further_than_promised(build):
    """Documents come in growing longer, so the average moves all the time."""
    documents = [Document(f"d{i:04}", " ".join(f"w{j % 17}" for j in range(1 + i)), "en") for i in range(300)]
    index, store = build([], fields=["text"])
    for start in range(0, len(documents), 7):
        index.add(documents[start : start + 7])
        plain = Plain(documents[: start + 7], ["text"])
        for hit in Lexical(store, index.statistics, analyze=Words).search([Query("q", "w3 w16", "en")], 400)[0]:
            right = plain.score(plain.documents[hit.id], {"w3": 1, "w16": 1}, {"text": 1})
            assert abs(hit.score / right - 1) <= 0.05 + 1e-6


def test_a_field_that_is_not_indexed(build):
    index, store = build([])
    with pytest.raises(StoreError, match="no field 'body' is indexed; title, text are"):
        Lexical(store, index.statistics, weights={"body": 1.0})


@pytest.mark.data
def test_real_descriptions_against_bm25s(build):
    bm25s = pytest.importorskip("bm25s")
    folder = Path(os.environ.get("PARAGLOSS_DATA", Path.home() / ".cache" / "paragloss")) / "ddtp"
    if not folder.is_dir():
        pytest.skip(f"no package descriptions in {folder}")
    from paragloss.analysis import analyzer
    from paragloss.analysis.blocks import find_foreign_blocks

    documents = []
    for lang in ("en", "da", "ja"):
        with gzip.open(folder / f"{lang}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in islice(lines, 1500)]
        documents += [Document(f"{lang}:{row['concept']}", row["text"], lang) for row in rows]
    # A text that holds another language beside its own counts in both; the reference knows one a document.
    one = [d for d in {d.id: d for d in documents}.values() if not find_foreign_blocks(d.text, d.lang)]
    documents = [d for d in one if analyzer(d.lang).terms(d.text)]
    index, store = build(documents, fields=["text"], analyze=analyzer)
    for lang in ("en", "da", "ja"):
        some = [d for d in documents if d.lang == lang]
        peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75, dtype="float64")
        peer.index([analyzer(lang).terms(d.text) for d in some], show_progress=False)
        for d in some[::100]:
            words = list(dict.fromkeys(analyzer(lang).terms(d.text)[:8]))
            scores = peer.get_scores(words)
            expected = sorted(
                ((d.id, s) for d, s in zip(some, scores, strict=True) if s > 0), key=lambda p: (-p[1], p[0])
            )
            query = Query("q", "", lang, tuple(Translation("", (Alternative(word, 1.0),)) for word in words))
            same(Lexical(store, index.statistics, analyze=Words).search([query], 10)[0], expected, 10)


def test_a_proportional_score_is_a_share_of_the_best_possible(tmp_path):
    documents = [Document("a", "red bread " * 200, "en"), Document("b", "red wine", "en"), Document("c", "fog", "en")]
    with EmbeddedStore.create(tmp_path / "c", dense={}, sparse=["terms"]) as store:
        index = TermIndex.build(store, fields=["text"])
        index.add(documents)
        plain = Lexical(store, index.statistics).search([Query("q", "red bread", "en")], 3)[0]
        share = Lexical(store, index.statistics, proportional=True).search([Query("q", "red bread", "en")], 3)[0]
    # idf: ln(1 + 1.5 / 2.5) for "red" in two of three, ln(1 + 2.5 / 1.5) for "bread" in one
    most = math.log(1.6) + math.log(1 + 2.5 / 1.5)
    assert [hit.id for hit in share] == ["a", "b"]
    assert share[0].score == pytest.approx(plain[0].score / most, rel=1e-5)
    assert 0.9 < share[0].score < 1
