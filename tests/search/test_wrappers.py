import numpy as np
import pytest
from fakes import FixedSearcher, ShortestFirst, WordTranslator
from hypothesis import given
from hypothesis import strategies as st

from paragloss.search.fused import Fused, Merged, fuse_reciprocal_ranks, fuse_scaled_scores
from paragloss.search.reranked import Reranked
from paragloss.search.translated import Translated
from paragloss.types import Alternative, Document, Hit, Query

QUERIES = [Query("q", "red bread", "en")]


def list_ids(ranking):
    return [hit.id for hit in ranking]


@pytest.mark.parametrize(
    ("searchers", "options", "expected"),
    [
        # By reciprocal rank. b: 1/62 + 1/61; a: 1/61; c: 1/62
        ([{"a": 9, "b": 8}, {"b": 0.2, "c": 0.1}], {}, [("b", 1 / 62 + 1 / 61), ("a", 1 / 61), ("c", 1 / 62)]),
        ([{"a": 1}, {"b": 1}], {"weights": [0.0, 1.0]}, [("b", 1 / 61), ("a", 0.0)]),
        # Scores scaled in each list between its last and best. a: 1 + 0, b: 0.5 + 1, c: 0
        (
            [{"a": 12, "b": 7, "c": 2}, {"b": 3, "a": 1}, {}],
            {"fuse": fuse_scaled_scores},
            [("b", 1.5), ("a", 1.0), ("c", 0.0)],
        ),
        ([{"a": 2, "b": 2}], {"fuse": fuse_scaled_scores, "weights": [3.0]}, [("a", 3.0), ("b", 3.0)]),  # all are best
    ],
)
def test_rankings_are_fused_as_worked_out_by_hand(searchers, options, expected):
    (ranking,) = Fused([FixedSearcher(**scores) for scores in searchers], **options).search(QUERIES, 3)
    assert ranking == [Hit(doc_id, pytest.approx(score)) for doc_id, score in expected]


def test_fusion_searches_at_least_to_its_depth():
    inner = FixedSearcher(a=1.0)
    Fused([inner], depth=50).search(QUERIES, 3)
    Fused([inner], depth=50).search(QUERIES, 80)
    Fused([inner]).search(QUERIES, 3)
    assert [k for _, k, _ in inner.requests] == [50, 80, 100]


def test_every_searcher_needs_a_weight():
    with pytest.raises(ValueError, match="1 weights for 2 searchers"):
        Fused([FixedSearcher(), FixedSearcher()], weights=[1.0])


@given(st.lists(st.permutations("abcde"), min_size=2, max_size=4))
def test_reciprocal_rank_does_not_depend_on_the_order_of_lists(orders):
    lists = [[Hit(i, 5.0 - n) for n, i in enumerate(order)] for order in orders]
    ones = [1.0] * len(lists)
    forward, backward = fuse_reciprocal_ranks(lists, ones), fuse_reciprocal_ranks(lists[::-1], ones)
    assert forward == pytest.approx(backward)


def test_merging_by_score_keeps_scores_and_breaks_ties_by_id():
    merged = Merged([FixedSearcher(b=1.0, d=0.5), FixedSearcher(a=1.0, c=2.0)])
    assert merged.search(QUERIES, 3)[0] == [Hit("c", 2.0), Hit("a", 1.0), Hit("b", 1.0)]


def test_translated_searches_the_other_language_with_weighted_clauses():
    words = {"red": [("rouge", 0.9), ("vermeil", 0.1)], "bread": [("pain", 1.0)]}
    inner = FixedSearcher(a=1.0)
    rankings = Translated(inner, WordTranslator(words), to="fr").search(QUERIES, 5, {"meta.year": [2020]})
    assert list_ids(rankings[0]) == ["a"]
    (query,), k, where = inner.requests[0]
    assert (query.text, query.lang, k) == ("rouge pain", "fr", 5)
    assert query.clauses[0].alternatives == (Alternative("rouge", 0.9), Alternative("vermeil", 0.1))
    assert where == {"meta.year": [2020], "lang": ["fr"]}


def test_translated_has_no_results_when_filters_exclude_its_language():
    inner = FixedSearcher(a=1.0)
    assert Translated(inner, WordTranslator({}), to="fr").search(QUERIES, 5, {"lang": ["da"]}) == [[]]
    assert inner.requests == []


def test_a_query_in_the_target_language_is_not_translated():
    query = Query("q", "pain", "fr")
    assert Translated(FixedSearcher(), WordTranslator({}), to="fr").translate(query) is query


def rerank(reranker, langs="", *, query=QUERIES[0], **options):
    """Rerank documents a, b, c and d, which are shorter and shorter, in some languages; English if not given."""
    documents = {
        id: Document(id, "x" * (4 - number), langs[2 * number : 2 * number + 2] or "en")
        for number, id in enumerate("abcd")
    }
    inner = FixedSearcher(a=4.0, b=3.0, c=2.0, d=1.0)
    return Reranked(inner, reranker, lambda ids: [documents[i] for i in ids], **options).search([query], 4)[0]


def test_reranking_reorders_the_head_and_leaves_the_tail_below():
    ranking = rerank(ShortestFirst(), depth=3)
    assert list_ids(ranking) == ["c", "b", "a", "d"]
    assert ranking[-1].score < ranking[-2].score


def test_a_reranker_leaves_languages_it_does_not_know_where_they_were():
    class English(ShortestFirst):
        langs = ("en",)

    assert list_ids(rerank(English(), "enfrenfr")) == ["c", "a", "b", "d"]
    assert list_ids(rerank(English(), "enfrenfr", query=Query("q", "rouge", "fr"))) == ["a", "b", "c", "d"]


def test_rescore_receives_the_scores_of_the_search_before():
    class Doubtful(ShortestFirst):
        langs = ("en",)

        def rescore(self, query, documents, scores):
            self.scores_before = {d.id: float(s) for d, s in zip(documents, scores, strict=True)}
            return scores + 10 * (np.array([d.id for d in documents]) == "c")

    reranker = Doubtful()
    assert list_ids(rerank(reranker, "enfrenen", depth=3)) == ["c", "a", "b", "d"]
    assert reranker.scores_before == {"a": 4.0, "c": 2.0}
