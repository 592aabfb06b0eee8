"""BM25 over a real store, against BM25 written out plainly and against an independent library."""

from __future__ import annotations

import gzip
import json
import os
import random
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from reference import ReferenceBM25, assert_same_ranking, make_random_documents, unstemmed_analyzer

from paragloss.errors import StoreError
from paragloss.index.terms import TermIndex
from paragloss.search.lexical import Lexical
from paragloss.types import Alternative, Document, Query, Translation

WEIGHTS = {"title": 2.0, "text": 1.0}
CATS = [Document("a", "cat sat cat", "en"), Document("b", "dog", "en"), Document("c", "cat", "de")]


@pytest.fixture
def build_index(build_index):
    """Index documents with an analyzer that keeps words as they stand."""
    return partial(build_index, analyze=unstemmed_analyzer)


def make_lexical(index, store, **options):
    return Lexical(store, index.statistics, analyze=unstemmed_analyzer, **options)


def read_contents(index, store):
    """The exact vector of every document, and the statistics."""
    vectors = {
        record.document.id: (record.sparse["terms"].indices.tolist(), record.sparse["terms"].values.tolist())
        for batch in store.scroll(vectors=True)
        for record in batch
    }
    return vectors, index.statistics.to_bytes()


def test_bm25_of_three_documents_worked_out_by_hand(build_index):
    queries = [Query("1", "cat", "en"), Query("2", "dog sat", "en"), Query("3", "cow", "en")]
    cats, dog_or_cat, none = make_lexical(*build_index(CATS)).search(queries, 10)
    assert [(hit.id, round(hit.score, 4)) for hit in cats] == [("a", round(np.log(2) * 2 / 3.65, 4))]
    assert [hit.id for hit in dog_or_cat] == ["b", "a"]
    assert none == []


def test_scores_equal_the_bm25_formula(build_index):
    documents = make_random_documents(400)
    plain, lexical = ReferenceBM25(documents), make_lexical(*build_index(documents), weights=WEIGHTS)
    for text, lang in [("w1 w2 w3", "en"), ("w5 w5 w9 unseen", "de"), ("w40 w17", "zh"), ("w1", "zh")]:
        terms = {term: text.split().count(term) for term in text.split()}
        expected = plain.rank_documents(lambda d, terms=terms: plain.score(d, terms, WEIGHTS), lang)
        assert_same_ranking(lexical.search([Query("q", text, lang)], 20)[0], expected, 20)


def test_a_batch_of_queries_ranks_as_each_query_by_itself(build_index):
    lexical = make_lexical(*build_index(make_random_documents(100)))
    queries = [Query(str(i), f"w{i} w{i + 3}", lang) for i in range(5) for lang in ("en", "de", "fr")]
    assert lexical.search(queries, 7) == [lexical.search([query], 7)[0] for query in queries]
    assert lexical.search([], 7) == []


def test_the_history_of_an_index_changes_nothing(build_index):
    documents = make_random_documents(200)
    index, store = build_index(documents)
    contents = read_contents(index, store)
    assert read_contents(*build_index(random.Random(1).sample(documents, len(documents)))) == contents
    assert index.delete([d.id for d in documents[:80]] + ["unknown"]) == 80
    index.refresh()
    assert read_contents(index, store) == read_contents(*build_index(documents[80:]))
    index.add([documents[0]._replace(lang="de", text="replaced twice in one batch"), *documents[:80]])
    index.refresh()
    assert read_contents(index, store) == contents


def test_an_index_is_reopened_whole_and_a_damaged_one_refused(build_index):
    index, store = build_index([Document("a", "old words", "en"), Document("b", "words", "en")])
    index.commit()
    reopened = TermIndex.open(store, analyze=unstemmed_analyzer)
    assert reopened.statistics.to_bytes() == index.statistics.to_bytes()
    store.delete(["a"])
    with pytest.raises(StoreError, match="damaged: 1 of its 2 documents can be found"):
        TermIndex.open(store)
    reopened.delete(["b"])  # from here on it is being written, and was killed
    assert TermIndex.open(store).statistics.langs == ()


def test_zero_vectors_are_not_stored(build_index):
    index, store = build_index([])
    documents = [Document(name, "word", "en") for name in ("some", "zeros", "none")]
    index.add(documents, {"model": [np.ones(2, np.float32), np.zeros(2, np.float32), None]})
    records = store.get(["some", "zeros", "none"], vectors=["model"])
    assert [list(record.dense) for record in records] == [["model"], [], []]


def test_languages_whose_texts_give_hardly_any_terms_are_warned_about(build_index):
    run = "x" * 900  # one term of nine hundred letters
    with pytest.warns(UserWarning, match="^1 of 2 texts in 'th' gave fewer than one term") as warnings:
        build_index([Document("a", "some words", "en"), Document("b", run, "th"), Document("c", "a b", "th")])
    assert len(warnings) == 1


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"meta.year": [2020]}, ["new"]),
        ({"meta.year": [2020], "lang": ["en"]}, ["new"]),
        ({"lang": ["en"]}, ["new", "old"]),
        ({"lang": ["de"]}, []),
    ],
)
def test_results_can_be_filtered_by_metadata(build_index, where, expected):
    documents = [Document(name, "cat", "en", meta={"year": year}) for name, year in (("old", 1990), ("new", 2020))]
    (ranking,) = make_lexical(*build_index(documents)).search([Query("q", "cat", "en")], 5, where)
    assert [hit.id for hit in ranking] == expected


@pytest.mark.parametrize(("proportional", "divisor"), [(False, 1.0), (True, 3 * np.log(2))])
def test_scores_of_matched_words_sum_to_the_score(build_index, proportional, divisor):
    """A proportional score is a share of the best possible: of that of a document full of the query's words."""
    lexical = make_lexical(*build_index(CATS), proportional=proportional)
    query = Query("q", "cat sat dog", "en")
    matches, score = lexical.matches(query, "a"), dict(lexical.search([query], 5)[0])["a"]
    # K = 1.2 (1/4 + 3/4 * 3/2) = 1.65; all idfs are ln 2: of 2 / 3.65 and 1 / 2.65, and of three words together.
    assert matches == [
        ("cat", "cat", pytest.approx(np.log(2) * 2 / 3.65 / divisor, rel=1e-5)),
        ("sat", "sat", pytest.approx(np.log(2) / 2.65 / divisor, rel=1e-5)),
    ]
    assert sum(match.score for match in matches) == pytest.approx(score, rel=1e-5)
    assert lexical.matches(query, "c") == lexical.matches(query, "unknown") == []


def test_documents_of_other_languages_change_nothing(build_index):
    german = make_random_documents(60, langs=("de",))
    english = [Document(f"e{d.id}", d.text, "en", d.title) for d in make_random_documents(300, langs=("en",), seed=1)]
    alone, mixed = build_index(german), build_index(german + english)
    mixed_vectors = read_contents(*mixed)[0]
    assert read_contents(*alone)[0] == {d.id: mixed_vectors[d.id] for d in german}
    hits_alone, hits_mixed = (
        make_lexical(*built).search([Query("q", "w1 w2 w30", "de")], 60)[0] for built in (alone, mixed)
    )
    assert len(hits_alone) > 10
    assert_same_ranking(hits_mixed, hits_alone, 60)


def test_a_translated_query_is_scored_by_the_weights_of_its_alternatives(build_index):
    documents = make_random_documents(300)
    plain, lexical = ReferenceBM25(documents), make_lexical(*build_index(documents), weights=WEIGHTS)
    clauses = (
        Translation("house", (Alternative("w3", 0.7), Alternative("w8", 0.3))),
        Translation("home", (Alternative("w3", 0.5), Alternative("w11 w12", 0.4)), weight=2.0),
    )
    # w3 stands in both clauses and adds up; the words of a phrase share its weight; the second clause counts twice.
    terms = {"w3": 1.7, "w8": 0.3, "w11": 0.4, "w12": 0.4}
    expected = plain.rank_documents(lambda d: plain.score(d, terms, WEIGHTS), "de")
    assert_same_ranking(lexical.search([Query("q", "never read", "de", clauses)], 30)[0], expected, 30)


def test_untranslated_words_are_searched_in_several_languages(build_index):
    documents = make_random_documents(300)
    plain = ReferenceBM25(documents)
    lexical = make_lexical(*build_index(documents), weights=WEIGHTS, langs=["de", "zh", "sw"])

    def rank(lang):
        return plain.rank_documents(lambda d: plain.score(d, {"w3": 1, "w9": 1}, WEIGHTS), lang)

    query, expected = Query("q", "w3 w9", "en"), sorted(rank("de") + rank("zh"), key=lambda pair: (-pair[1], pair[0]))
    assert_same_ranking(lexical.search([query], 30)[0], expected, 30)
    assert_same_ranking(lexical.search([query], 30, {"lang": ["zh", "en"]})[0], rank("zh"), 30)
    assert len(lexical.vector(query, {"lang": ["zh"]}).indices) == 4  # two terms in two fields, of one language only


def test_scores_stay_within_five_percent_while_the_average_length_moves(build_index):
    """Documents come in growing longer, so the average moves all the time."""
    documents = [Document(f"d{i:04}", " ".join(f"w{j % 17}" for j in range(1 + i)), "en") for i in range(300)]
    index, store = build_index([], fields=["text"])
    for start in range(0, len(documents), 7):
        index.add(documents[start : start + 7])
        plain = ReferenceBM25(documents[: start + 7], ["text"])
        for hit in make_lexical(index, store).search([Query("q", "w3 w16", "en")], 400)[0]:
            exact_score = plain.score(plain.documents[hit.id], {"w3": 1, "w16": 1}, {"text": 1})
            assert abs(hit.score / exact_score - 1) <= 0.05 + 1e-6


def test_a_field_that_is_not_indexed_is_an_error(build_index):
    with pytest.raises(StoreError, match="no field 'body' is indexed; title, text are"):
        make_lexical(*build_index([]), weights={"body": 1.0})


@pytest.mark.data
def test_real_descriptions_against_bm25s(build_index):
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
    monolingual = [d for d in {d.id: d for d in documents}.values() if not find_foreign_blocks(d.text, d.lang)]
    documents = [d for d in monolingual if analyzer(d.lang).terms(d.text)]
    lexical = make_lexical(*build_index(documents, fields=["text"], analyze=analyzer))
    for lang in ("en", "da", "ja"):
        in_language = [d for d in documents if d.lang == lang]
        peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75, dtype="float64")
        peer.index([analyzer(lang).terms(d.text) for d in in_language], show_progress=False)
        for d in in_language[::100]:
            words = list(dict.fromkeys(analyzer(lang).terms(d.text)[:8]))
            scored = zip([d.id for d in in_language], peer.get_scores(words), strict=True)
            expected = sorted((pair for pair in scored if pair[1] > 0), key=lambda pair: (-pair[1], pair[0]))
            query = Query("q", "", lang, tuple(Translation("", (Alternative(word, 1.0),)) for word in words))
            assert_same_ranking(lexical.search([query], 10)[0], expected, 10)
