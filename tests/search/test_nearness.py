"""What vectors and rerankers say, word by word: dot products by hand, and words left out."""

import numpy as np
import pytest
from fakes import Listed

from paragloss.encoders import explanations
from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.encoders.explanations import left_out
from paragloss.encoders.hubness import Queries
from paragloss.encoders.kernel_ranker import Knrm
from paragloss.search.dense import Dense
from paragloss.search.reranked import Reranked
from paragloss.stores.embedded import EmbeddedStore
from paragloss.types import Contribution, Document, Query, Record
from paragloss.vocabulary import Vocabulary

ENGLISH = Vocabulary("en", ["dog", "cat"], [1, 1], 1, stem=False)
GERMAN = Vocabulary("de", ["hund", "brot"], [1, 1], 1, stem=False)
BOTH = Query("q", "dog cat", "en")
DOCUMENT = Document("d", "Brot", "de", "Hund")


def bag(**how):
    rows = {"en": [(1, 0), (0, 1)], "de": [(1, 0), (0.6, 0.8)]}
    known = {"en": ENGLISH, "de": GERMAN}
    return BagEncoder(
        {lang: Tower(known[lang], np.array(rows[lang], np.float32), **how) for lang in rows}, weighting="count"
    )


def near(dense, query, document, score):
    """What a search by vectors says of a score."""
    told = dense._account(query, document, score)
    return list(told.contributions), told.exact


#: dog + cat = (1, 1), Hund + Brot = (1.6, .8): what a product of two of their words is divided by.
LENGTHS = np.sqrt(2) * np.sqrt(1.6**2 + 0.8**2)


def test_a_sum_of_words_is_accounted_for_pair_by_pair():
    shares, exact = near(Dense(None, bag(), name="m"), BOTH, DOCUMENT, 2.4 / LENGTHS)
    assert exact
    assert shares == [
        Contribution("dog", "hund", "m", pytest.approx(1 / LENGTHS)),
        Contribution("cat", "brot", "m", pytest.approx(0.8 / LENGTHS)),
        Contribution("dog", "brot", "m", pytest.approx(0.6 / LENGTHS)),
        Contribution("cat", "hund", "m", pytest.approx(0.0)),
    ]


@pytest.mark.parametrize(("named", "rest"), [(2, [0.6]), (3, [0.0]), (4, [])])
def test_pairs_beyond_those_that_are_named_are_one_share(monkeypatch, named, rest):
    monkeypatch.setattr(explanations, "PAIRS", named)
    shares, _ = near(Dense(None, bag(), name="m"), BOTH, DOCUMENT, 2.4 / LENGTHS)
    assert [share.score for share in shares[named:]] == [pytest.approx(part / LENGTHS, abs=1e-7) for part in rest]
    assert all(share[:3] == ("", "", "m") for share in shares[named:])


def test_hubness_is_a_share_of_its_own_where_it_was_asked_for():
    plain = near(Dense(None, Queries(bag(), csls=False), name="m"), BOTH, DOCUMENT, 0.5)[0]
    assert len(plain) == 4
    held_back = near(Dense(None, Queries(bag(), csls=True), name="m"), BOTH, DOCUMENT, 0.5)[0]
    assert held_back == [*plain, Contribution("", "", "m hubness", pytest.approx(0.5 - 2.4 / LENGTHS))]


def test_a_network_s_words_are_left_out_one_by_one(tmp_path):
    model = bag(activation="tanh")
    with EmbeddedStore.create(tmp_path / "c", dense={"m": 2}, sparse=[]) as store:
        store.add_dense_vector("several", 2, multivector=True)
        store.add([Record(DOCUMENT, {"m": np.array([1, 0], np.float32)}), Record(Document("bare", "x", "de"))])
        dense = Dense(store, model, name="m")
        # Against (1, 0): dog cat .707, dog alone 1, cat alone 0. Nothing is lost without cat, all without dog.
        shares, exact = near(dense, BOTH, DOCUMENT, 0.7)
        assert not exact
        assert shares == [Contribution("dog", "Hund", "m", pytest.approx(0.7))]
        assert near(dense, BOTH, Document("bare", "x", "de"), 0.7)[0] == [Contribution("", "", "m", 0.7)]
        rows = np.array([[1, 0], [0, 1]], np.float32)  # of several vectors the best counts: each word has its own
        store.add([Record(DOCUMENT, {"several": rows})])
        several = near(Dense(store, model, name="several"), Query("q", "dog cat", "en"), DOCUMENT, 0.7)[0]
        assert several == [Contribution("", "", "several", 0.7)]  # without either the other is found all the better


def test_a_score_is_shared_by_what_is_lost_without_each_word():
    query, document = Query("q", "big red red house", "en"), Document("d", "Haus rot", "de", "Riesig")
    said = {"big red red house": 10.0, "red red house": 9.0, "big house": 6.0, "big red red": 11.0}
    alike = {("big", "Riesig"): 1.0, ("red", "rot"): 1.0, ("house", "Haus"): 1.0}

    def reading(texts):
        return np.array([said[text] for text in texts], np.float32)

    def likeness(ours, theirs):
        assert theirs == ["Riesig", "Haus", "rot"]  # the title's words first
        return np.array([[alike.get((a, b), 0.0) for b in theirs] for a in ours], np.float32)

    # Lost: 1 without big, 4 without red, nothing without house.
    assert left_out(query, document, 5.0, "m", reading, likeness) == [
        Contribution("big", "Riesig", "m", pytest.approx(1.0)),
        Contribution("red", "rot", "m", pytest.approx(4.0)),
    ]
    assert left_out(query, document, 5.0, "m", reading, None)[0] == Contribution("big", "", "m", pytest.approx(1.0))
    one = left_out(Query("q", "house", "en"), document, 5.0, "m", reading, likeness)
    assert one == [Contribution("house", "Haus", "m", 5.0)]
    assert left_out(query, document, 5.0, "m", lambda texts: np.ones(len(texts)), likeness) == [
        Contribution("", "", "m", 5.0)
    ]


def test_only_the_first_words_of_a_document_are_compared_with():
    seen = []

    def likeness(ours, theirs):
        seen.extend(theirs)
        return np.ones((len(ours), len(theirs)), np.float32)

    long = Document("d", " ".join(f"wort{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(60)), "de")
    left_out(Query("q", "house", "en"), long, 5.0, "m", lambda texts: np.ones(len(texts)), likeness)
    assert len(seen) == 40
    assert seen[0] == "wortaa"


def ranker(**how):
    table = np.array([(1, 0), (0, 1), (1, 0), (0.6, 0.8)], np.float32)
    known, rows = {"en": ENGLISH, "de": GERMAN}, {"en": np.arange(2), "de": np.arange(2, 4)}
    return Knrm(known, rows, table, np.arange(11), 0.5, **how)


@pytest.mark.parametrize("trust", [(0.0, 0.0, 0.0), (0.5, 0.25, 2.0)])
def test_kernels_account_for_themselves_and_for_the_search_before(trust):
    documents = {"d": DOCUMENT, "e": Document("e", "Hund", "de"), "f": Document("f", "chien", "fr")}
    model = ranker(trust=trust)
    reranked = Reranked(Listed(f=9.0, e=3.0, d=1.0), model, lambda ids: [documents[id] for id in ids])
    (found,) = reranked.search([BOTH], 5)
    accounts = {id: found.explain(document) for id, document in documents.items()}
    for id, score in found:
        told = accounts[id]
        assert told.exact
        assert sum(share.score for share in told.contributions) == pytest.approx(score, rel=1e-5)
        assert ("search before" in {share.source for share in told.contributions}) == (any(trust) and id != "f")
    # The search before gave 3 and 1 to what the model knows: a spread of 1, so e leads by 2, and d is second.
    trusted = {id: sum(s.score for s in accounts[id].contributions if s.source == "search before") for id in ("d", "e")}
    assert trusted["e"] == pytest.approx(2 * trust[2])
    assert trusted["d"] == pytest.approx(-2 * trust[0] - np.log(2) * trust[1])
    assert accounts["f"].contributions == (Contribution("", "", "place in the search before", dict(found)["f"]),)
