"""What vectors and rerankers say, word by word: dot products by hand, and words left out."""

import numpy as np
import pytest
from fakes import FixedSearcher

from paragloss.encoders import explanations
from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.encoders.explanations import leave_out_words
from paragloss.encoders.hubness import QueryEncoder
from paragloss.encoders.kernel_ranker import Knrm
from paragloss.search.dense import Dense
from paragloss.search.reranked import Reranked
from paragloss.stores import create_store
from paragloss.types import Contribution, Document, Query, Record
from paragloss.vocabulary import Vocabulary

ENGLISH = Vocabulary("en", ["dog", "cat"], [1, 1], 1, stem=False)
GERMAN = Vocabulary("de", ["hund", "brot"], [1, 1], 1, stem=False)
DOG_CAT = Query("q", "dog cat", "en")
DOCUMENT = Document("d", "Brot", "de", "Hund")


def make_bag_encoder(**options):
    rows = {"en": [(1, 0), (0, 1)], "de": [(1, 0), (0.6, 0.8)]}
    vocabularies = {"en": ENGLISH, "de": GERMAN}
    return BagEncoder(
        {lang: Tower(vocabularies[lang], np.array(rows[lang], np.float32), **options) for lang in rows},
        weighting="count",
    )


def explain_score(dense, query, document, score):
    """What a search by vectors says of a score."""
    account = dense._explain(query, document, score)
    return list(account.contributions), account.exact


#: dog + cat = (1, 1), Hund + Brot = (1.6, .8): what a product of two of their words is divided by.
LENGTHS = np.sqrt(2) * np.sqrt(1.6**2 + 0.8**2)


def test_a_linear_encoders_score_is_shared_among_pairs_of_words():
    shares, exact = explain_score(Dense(None, make_bag_encoder(), name="m"), DOG_CAT, DOCUMENT, 2.4 / LENGTHS)
    assert exact
    assert shares == [
        Contribution("dog", "hund", "m", pytest.approx(1 / LENGTHS)),
        Contribution("cat", "brot", "m", pytest.approx(0.8 / LENGTHS)),
        Contribution("dog", "brot", "m", pytest.approx(0.6 / LENGTHS)),
        Contribution("cat", "hund", "m", pytest.approx(0.0)),
    ]


@pytest.mark.parametrize(("named_pairs", "rest_scores"), [(2, [0.6]), (3, [0.0]), (4, [])])
def test_pairs_beyond_those_that_are_named_are_one_share(monkeypatch, named_pairs, rest_scores):
    monkeypatch.setattr(explanations, "MAX_PAIRS", named_pairs)
    shares, _ = explain_score(Dense(None, make_bag_encoder(), name="m"), DOG_CAT, DOCUMENT, 2.4 / LENGTHS)
    assert [share.score for share in shares[named_pairs:]] == [
        pytest.approx(part / LENGTHS, abs=1e-7) for part in rest_scores
    ]
    assert all(share[:3] == ("", "", "m") for share in shares[named_pairs:])


def test_hubness_has_its_own_share_with_csls():
    plain = explain_score(Dense(None, QueryEncoder(make_bag_encoder(), csls=False), name="m"), DOG_CAT, DOCUMENT, 0.5)[
        0
    ]
    assert len(plain) == 4
    held_back = explain_score(
        Dense(None, QueryEncoder(make_bag_encoder(), csls=True), name="m"), DOG_CAT, DOCUMENT, 0.5
    )[0]
    assert held_back == [*plain, Contribution("", "", "m hubness", pytest.approx(0.5 - 2.4 / LENGTHS))]


def test_a_nonlinear_encoders_score_is_shared_by_leaving_out_words(tmp_path):
    model = make_bag_encoder(activation="tanh")
    with create_store(tmp_path / "c", dense={"m": 2}, sparse=[]) as store:
        store.add_dense_vector("several", 2, multivector=True)
        store.add([Record(DOCUMENT, {"m": np.array([1, 0], np.float32)}), Record(Document("bare", "x", "de"))])
        dense = Dense(store, model, name="m")
        # Against (1, 0): dog cat .707, dog alone 1, cat alone 0. Nothing is lost without cat, all without dog.
        shares, exact = explain_score(dense, DOG_CAT, DOCUMENT, 0.7)
        assert not exact
        assert shares == [Contribution("dog", "Hund", "m", pytest.approx(0.7))]
        assert explain_score(dense, DOG_CAT, Document("bare", "x", "de"), 0.7)[0] == [Contribution("", "", "m", 0.7)]
        rows = np.array([[1, 0], [0, 1]], np.float32)  # of several vectors the best counts: each word has its own
        store.add([Record(DOCUMENT, {"several": rows})])
        several = explain_score(Dense(store, model, name="several"), Query("q", "dog cat", "en"), DOCUMENT, 0.7)[0]
        assert several == [Contribution("", "", "several", 0.7)]  # without either the other is found all the better


def test_a_score_is_shared_by_what_is_lost_without_each_word():
    query, document = Query("q", "big red red house", "en"), Document("d", "Haus rot", "de", "Riesig")
    scores = {"big red red house": 10.0, "red red house": 9.0, "big house": 6.0, "big red red": 11.0}
    similarities = {("big", "Riesig"): 1.0, ("red", "rot"): 1.0, ("house", "Haus"): 1.0}

    def score_texts(texts):
        return np.array([scores[text] for text in texts], np.float32)

    def compare_words(query_words, document_words):
        assert document_words == ["Riesig", "Haus", "rot"]  # the title's words first
        return np.array([[similarities.get((a, b), 0.0) for b in document_words] for a in query_words], np.float32)

    # Lost: 1 without big, 4 without red, nothing without house.
    assert leave_out_words(query, document, 5.0, "m", score_texts, compare_words) == [
        Contribution("big", "Riesig", "m", pytest.approx(1.0)),
        Contribution("red", "rot", "m", pytest.approx(4.0)),
    ]
    assert leave_out_words(query, document, 5.0, "m", score_texts, None)[0] == Contribution(
        "big", "", "m", pytest.approx(1.0)
    )
    shares = leave_out_words(Query("q", "house", "en"), document, 5.0, "m", score_texts, compare_words)
    assert shares == [Contribution("house", "Haus", "m", 5.0)]
    assert leave_out_words(query, document, 5.0, "m", lambda texts: np.ones(len(texts)), compare_words) == [
        Contribution("", "", "m", 5.0)
    ]


def test_only_the_first_words_of_a_document_are_compared_with():
    compared_words = []

    def compare_words(query_words, document_words):
        compared_words.extend(document_words)
        return np.ones((len(query_words), len(document_words)), np.float32)

    long = Document("d", " ".join(f"wort{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(60)), "de")
    leave_out_words(Query("q", "house", "en"), long, 5.0, "m", lambda texts: np.ones(len(texts)), compare_words)
    assert len(compared_words) == 40
    assert compared_words[0] == "wortaa"


def make_ranker(**options):
    table = np.array([(1, 0), (0, 1), (1, 0), (0.6, 0.8)], np.float32)
    vocabularies, rows = {"en": ENGLISH, "de": GERMAN}, {"en": np.arange(2), "de": np.arange(2, 4)}
    return Knrm(vocabularies, rows, table, np.arange(11), 0.5, **options)


@pytest.mark.parametrize("trust", [(0.0, 0.0, 0.0), (0.5, 0.25, 2.0)])
def test_shares_of_knrm_separate_kernels_and_the_search_before(trust):
    documents = {"d": DOCUMENT, "e": Document("e", "Hund", "de"), "f": Document("f", "chien", "fr")}
    model = make_ranker(first_search_weights=trust)
    reranked = Reranked(FixedSearcher(f=9.0, e=3.0, d=1.0), model, lambda ids: [documents[id] for id in ids])
    (ranking,) = reranked.search([DOG_CAT], 5)
    accounts = {id: ranking.explain(document) for id, document in documents.items()}
    for id, score in ranking:
        account = accounts[id]
        assert account.exact
        assert sum(share.score for share in account.contributions) == pytest.approx(score, rel=1e-5)
        assert ("search before" in {share.source for share in account.contributions}) == (any(trust) and id != "f")
    # The search before gave 3 and 1 to what the model knows: a spread of 1, so e leads by 2, and d is second.
    trusted = {id: sum(s.score for s in accounts[id].contributions if s.source == "search before") for id in ("d", "e")}
    assert trusted["e"] == pytest.approx(2 * trust[2])
    assert trusted["d"] == pytest.approx(-2 * trust[0] - np.log(2) * trust[1])
    assert accounts["f"].contributions == (Contribution("", "", "place in the search before", dict(ranking)["f"]),)
