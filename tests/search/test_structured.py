"""Structured queries over a real store, against their definitions written out plainly."""

from __future__ import annotations

import numpy as np
import pytest
from reference import ReferenceBM25, assert_same_ranking, make_random_documents, unstemmed_analyzer

from paragloss.index.terms import TermIndex
from paragloss.lab.matchings.nested import Nested
from paragloss.lab.matchings.structured import Probabilistic, Synonymous, Tempered
from paragloss.search.lexical import Lexical
from paragloss.stores import create_store
from paragloss.types import Alternative, Query, Translation

WEIGHTS = {"title": 2.0, "text": 1.0}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    documents = make_random_documents(500, langs=("en", "de"))
    with create_store(tmp_path_factory.mktemp("c") / "c", dense={}, sparse=["terms"]) as store:
        index = TermIndex.build(store, analyze=unstemmed_analyzer)
        index.add(documents)
        index.refresh()
        yield store, index.statistics, ReferenceBM25(documents)


def make_clauses(*terms: dict[str, float]) -> tuple[Translation, ...]:
    return tuple(Translation("source", tuple(Alternative(text, w) for text, w in term.items())) for term in terms)


def list_words(plain, document):
    """The words of a document in the searched fields."""
    return {word for field in WEIGHTS for word in plain.tf[document.id, field]}


CLAUSES = make_clauses({"w3": 3.0, "w12": 1.0}, {"w7": 0.2, "w9": 0.1, "w3": 0.1})


def check_ranking(searcher_class, indexed, query_clauses, score, *, lang="en", k=25):
    """A searcher ranks documents of a language as the plainly written score does."""
    store, statistics, plain = indexed
    searcher = searcher_class(store, statistics, weights=WEIGHTS, analyze=unstemmed_analyzer)
    hits = searcher.search([Query("q", "", lang, query_clauses)], k)[0]
    expected = plain.rank_documents(score, lang)
    assert len(hits) == min(k, len(expected))
    assert_same_ranking(hits, expected, k)


def test_probabilistic_queries_weigh_tf_and_df(indexed):
    *_, plain = indexed
    shares = [{"w3": 0.75, "w12": 0.25}, {"w7": 0.5, "w9": 0.25, "w3": 0.25}]

    def score(d):
        return sum(
            plain.score_clause(d, s, lambda f, s=s: sum(p * plain.df[f, d.lang][t] for t, p in s.items()), WEIGHTS)
            for s in shares
        )

    check_ranking(Probabilistic, indexed, CLAUSES, score, lang="de")


def test_synonymous_queries_count_alternatives_as_one_term(indexed):
    *_, plain = indexed
    sets = [{"w3", "w12"}, {"w7", "w9", "w3"}]

    def union(field, lang, terms):
        """As if alternatives stood independently of each other."""
        number = len(plain.lengths[field, lang])
        return number * (1 - np.prod([1 - plain.df[field, lang][t] / number for t in terms]))

    def score(d):
        return sum(
            plain.score_clause(d, dict.fromkeys(s, 1.0), lambda f, s=s: union(f, d.lang, s), WEIGHTS) for s in sets
        )

    check_ranking(Synonymous, indexed, CLAUSES, score)


def test_the_estimated_union_lies_between_the_possible_bounds(indexed):
    store, statistics, plain = indexed
    searcher = Synonymous(store, statistics, analyze=unstemmed_analyzer)
    for terms in ({"w1", "w2"}, {"w3", "w7", "w9", "w30"}, {"w200", "unseen"}):
        dfs = [plain.df["text", "en"][t] for t in terms]
        true = sum(any(plain.tf[d.id, "text"][t] for t in terms) for d in plain.documents.values() if d.lang == "en")
        df, number = np.array([dfs], float), statistics.documents("text", "en")
        estimate = searcher.weigh_alternatives(np.ones(len(dfs)), df, np.array([0]), np.array([[number]]))[1][0, 0]
        assert max(dfs) <= true <= sum(dfs)
        assert max(dfs) - 1e-9 <= estimate <= sum(dfs) + 1e-9


def test_tempered_queries_prefer_likelier_and_rarer_alternatives_that_occur(indexed):
    """The best alternative that some document has counts whole, however unlikely it is; the others less."""
    *_, plain = indexed
    query_clauses = make_clauses({"w3": 3.0, "w12": 1.0}, {"unseen": 0.9, "w7": 0.05, "w9": 0.05})

    def shares(clause):
        document_counts = {a.text: max(plain.df[f, "en"][a.text] for f in WEIGHTS) for a in clause.alternatives}
        counts = {
            a.text: a.weight**0.2 / document_counts[a.text] ** 0.1
            for a in clause.alternatives
            if document_counts[a.text]
        }
        return {text: count / max(counts.values()) for text, count in counts.items()}

    def union(field, terms):
        number = len(plain.lengths[field, "en"])
        return number * (1 - np.prod([1 - share * plain.df[field, "en"][t] / number for t, share in terms.items()]))

    def score(d):
        return sum(plain.score_clause(d, s, lambda f, s=s: union(f, s), WEIGHTS) for s in map(shares, query_clauses))

    assert max(shares(query_clauses[1]).values()) == 1
    check_ranking(Tempered, indexed, query_clauses, score)


def test_alternatives_without_documents_change_nothing(indexed):
    store, statistics, _ = indexed
    searcher = Tempered(store, statistics, analyze=unstemmed_analyzer)
    with_, without = (
        searcher.search([Query("q", "", "en", make_clauses({**absent, "w3": 0.3, "w12": 0.1}))], 25)[0]
        for absent in ({"unseen": 0.6}, {})
    )
    assert [hit.score for hit in with_] == pytest.approx([hit.score for hit in without])


@pytest.mark.parametrize("kind", [Tempered, Probabilistic, Synonymous])
def test_with_one_alternative_to_a_clause_it_is_plain_bm25(indexed, kind):
    store, statistics, _ = indexed
    lexical = Lexical(store, statistics, weights=WEIGHTS, analyze=unstemmed_analyzer)
    structured = kind(store, statistics, weights=WEIGHTS, analyze=unstemmed_analyzer)
    for query in (Query("q", "w3 w7 w50", "en"), Query("q", "", "en", make_clauses({"w3": 1.0}, {"w7": 1.0}))):
        expected = lexical.search([query], 30)[0]
        assert_same_ranking(structured.search([query], 30)[0], expected, 30)


def test_documents_are_scored_by_the_average_lengths_of_now(tmp_path):
    """Vectors hold the averages that they were weighed with; those change a little with every document."""
    documents = make_random_documents(200, langs=("en",))
    plain = ReferenceBM25(documents)
    with create_store(tmp_path / "c", dense={}, sparse=["terms"]) as store:
        index = TermIndex.build(store, analyze=unstemmed_analyzer)
        index.add(documents[:150])
        index.add(documents[150:])
        searcher = Synonymous(store, index.statistics, weights=WEIGHTS, analyze=unstemmed_analyzer)
        hits = searcher.search([Query("q", "w3 w7", "en")], 50)[0]
    expected = plain.rank_documents(lambda d: plain.score(d, {"w3": 1.0, "w7": 1.0}, WEIGHTS), "en")
    assert_same_ranking(hits, expected, 50)


@pytest.mark.parametrize(
    "terms_of_clauses",
    [
        [{"w3": 1.0, "w12": 0.5}, {"w7": 1.0, "w9": 1.0}],
        [{"w1": 1.0}, {"w150": 1.0, "w151": 1.0, "w77": 1.0}],  # few documents: the rarest clause is gone through
        [{"w2 w5": 1.0, "w40": 1.0}, {"w1": 1.0}],  # a phrase needs all its words
        [{"w1": 1.0}, {"unseen": 1.0}],  # nothing matches every clause
    ],
)
@pytest.mark.parametrize("k", [3, 200])
def test_nested_clauses_must_all_match(indexed, terms_of_clauses, k):
    *_, plain = indexed

    def score(d):
        words = list_words(plain, d)
        if not all(any(set(text.split()) <= words for text in clause) for clause in terms_of_clauses):
            return 0.0
        terms: dict[str, float] = {}
        for clause in terms_of_clauses:
            for text in clause:  # the plain sum: how likely a translation is does not matter
                for word in text.split():
                    terms[word] = terms.get(word, 0.0) + 1 / len(text.split())
        return plain.score(d, terms, WEIGHTS)

    check_ranking(Nested, indexed, make_clauses(*terms_of_clauses), score, k=k)


def test_optional_clauses_need_not_match_and_count_by_their_weights(indexed):
    """Of what is required every alternative counts 1, of what is added as much as clause and alternative weigh."""
    store, statistics, plain = indexed
    required = Translation("s", (Alternative("w1", 0.25), Alternative("w2 w3", 0.75)))
    added = Translation("more", (Alternative("w4", 0.5), Alternative("w5 w6", 0.25)), weight=0.4, required=False)
    query = Query("q", "", "en", (required, added))
    weights = {"w1": 1.0, "w2": 0.5, "w3": 0.5, "w4": 0.4 * 0.5, "w5": 0.4 * 0.25 / 2, "w6": 0.4 * 0.25 / 2}

    def score(d):
        words = list_words(plain, d)
        return plain.score(d, weights, WEIGHTS) if "w1" in words or {"w2", "w3"} <= words else 0.0

    nested = Nested(store, statistics, weights=WEIGHTS, analyze=unstemmed_analyzer)
    hits = nested.search([query], 100)[0]
    assert_same_ranking(hits, plain.rank_documents(score, "en"), 100)
    matches = nested.matches(query, hits[0].id)
    assert {match.source for match in matches} == {"s", "more"}
    assert sum(match.score for match in matches) == pytest.approx(hits[0].score, rel=1e-4)


def test_searching_by_the_rarest_clause_ranks_like_a_longer_search(indexed, monkeypatch):
    """What is found on the long way is what the head of a longer ranking holds."""
    store, statistics, _ = indexed
    query = Query("q", "", "en", make_clauses({"w1": 1.0, "w2": 1.0}, {"w90": 1.0}))
    nested = Nested(store, statistics, analyze=unstemmed_analyzer)
    requests = []
    plain_search = store.search_sparse
    monkeypatch.setattr(store, "search_sparse", lambda *a, **b: requests.append(a[2]) or plain_search(*a, **b))
    short, long = nested.search([query], 5)[0], nested.search([query], 250)[0]
    assert len(requests) == 3  # head and rarest clause; head alone
    assert len(long) < 5
    assert [hit.id for hit in short] == [hit.id for hit in long]
    assert [hit.score for hit in short] == pytest.approx([hit.score for hit in long], rel=1e-6)


@pytest.mark.parametrize("kind", [Tempered, Probabilistic, Synonymous, Nested])
def test_queries_without_known_terms_have_no_results(indexed, kind):
    store, statistics, _ = indexed
    searcher = kind(store, statistics, analyze=unstemmed_analyzer)
    queries = [Query("q", "", "en"), Query("q", "w1", "sw"), Query("q", "unseen", "en")]
    assert searcher.search(queries, 5) == [[], [], []]
    assert searcher.search([Query("q", "w1", "en")], 5, {"lang": ["de"]}) == [[]]
