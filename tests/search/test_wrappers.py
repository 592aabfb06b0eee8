import numpy as np
import pytest
from fakes import Listed, Shortest, WordForWord, document
from hypothesis import given
from hypothesis import strategies as st

from paragloss.search.fused import Fused, reciprocal_rank, score_sum
from paragloss.search.merged import Merged
from paragloss.search.reranked import Reranked
from paragloss.search.translated import Translated
from paragloss.types import Alternative, Document, Hit, Query

ASK = [Query("q", "red bread", "en")]


def names(ranking):
    return [hit.id for hit in ranking]


def test_reciprocal_rank_by_hand():
    fused = Fused([Listed(a=9.0, b=8.0), Listed(b=0.2, c=0.1)])
    # b: 1/62 + 1/61; a: 1/61; c: 1/62
    assert fused.search(ASK, 3)[0] == [
        Hit("b", pytest.approx(1 / 62 + 1 / 61)),
        Hit("a", pytest.approx(1 / 61)),
        Hit("c", pytest.approx(1 / 62)),
    ]


def test_score_sum_scales_each_list_between_its_last_and_best():
    fused = Fused([Listed(a=12.0, b=7.0, c=2.0), Listed(b=3.0, a=1.0), Listed()], fuse=score_sum)
    # a: 1 + 0, b: 0.5 + 1, c: 0
    assert fused.search(ASK, 3)[0] == [Hit("b", 1.5), Hit("a", 1.0), Hit("c", 0.0)]


def test_a_weight_of_zero_silences_a_searcher():
    fused = Fused([Listed(a=1.0), Listed(b=1.0)], weights=[0.0, 1.0])
    assert names(fused.search(ASK, 1)[0]) == ["b"]


def test_fusion_looks_deeper_than_it_shows():
    inner = Listed(a=1.0)
    Fused([inner], depth=50).search(ASK, 3)
    Fused([inner], depth=50).search(ASK, 80)
    Fused([inner]).search(ASK, 3)
    assert [k for _, k, _ in inner.asked] == [50, 80, 100]


def test_every_searcher_needs_a_weight_and_equal_scores_are_all_the_best():
    with pytest.raises(ValueError, match="1 weights for 2 searchers"):
        Fused([Listed(), Listed()], weights=[1.0])
    assert score_sum([[Hit("a", 2.0), Hit("b", 2.0)]], [3.0]) == {"a": 3.0, "b": 3.0}


@given(st.lists(st.permutations("abcde"), min_size=2, max_size=4))
def test_reciprocal_rank_does_not_care_who_spoke_first(orders):
    lists = [[Hit(i, 5.0 - n) for n, i in enumerate(order)] for order in orders]
    ones = [1.0] * len(lists)
    forward, backward = reciprocal_rank(lists, ones), reciprocal_rank(lists[::-1], ones)
    assert forward == pytest.approx(backward)


def test_merging_by_score_keeps_scores_and_breaks_ties_by_id():
    merged = Merged([Listed(b=1.0, d=0.5), Listed(a=1.0, c=2.0)])
    assert merged.search(ASK, 3)[0] == [Hit("c", 2.0), Hit("a", 1.0), Hit("b", 1.0)]


def test_translated_asks_for_the_other_language_with_weighted_clauses():
    words = {"red": [("rouge", 0.9), ("vermeil", 0.1)], "bread": [("pain", 1.0)]}
    inner = Listed(a=1.0)
    found = Translated(inner, WordForWord(words), to="fr").search(ASK, 5, {"meta.year": [2020]})
    assert names(found[0]) == ["a"]
    (query,), k, where = inner.asked[0]
    assert (query.text, query.lang, k) == ("rouge pain", "fr", 5)
    assert query.clauses[0].alternatives == (Alternative("rouge", 0.9), Alternative("vermeil", 0.1))
    assert where == {"meta.year": [2020], "lang": ["fr"]}


def test_translated_is_silent_when_its_language_is_not_wanted():
    inner = Listed(a=1.0)
    assert Translated(inner, WordForWord({}), to="fr").search(ASK, 5, {"lang": ["da"]}) == [[]]
    assert inner.asked == []


def test_a_query_in_the_target_language_is_not_translated():
    query = Query("q", "pain", "fr")
    assert Translated(Listed(), WordForWord({}), to="fr").translate(query) is query


def test_reranking_reorders_the_head_and_leaves_the_tail_below():
    texts = {"a": "long text", "b": "mid", "c": "x", "d": ""}
    inner = Listed(a=4.0, b=3.0, c=2.0, d=1.0)
    reranked = Reranked(inner, Shortest(), lambda ids: [document(i, texts[i]) for i in ids], depth=3)
    ranking = reranked.search(ASK, 4)[0]
    assert names(ranking) == ["c", "b", "a", "d"]
    assert [h.score for h in ranking] == sorted((h.score for h in ranking), reverse=True)


def test_a_reranker_leaves_languages_it_does_not_know_where_they_were():
    class English(Shortest):
        langs = ("en",)

    texts = {"a": Document("a", "long text", "en"), "b": Document("b", "x", "fr"), "c": Document("c", "mid", "en")}
    reranked = Reranked(Listed(a=4.0, b=3.0, c=2.0), English(), lambda ids: [texts[i] for i in ids])
    assert names(reranked.search(ASK, 3)[0]) == ["c", "a", "b"]
    assert names(reranked.search([Query("q", "rouge", "fr")], 3)[0]) == ["a", "b", "c"]


def test_a_reranker_that_wants_to_know_is_told_what_the_search_before_said():
    class Doubtful(Shortest):
        langs = ("en",)

        def rescore(self, query, documents, scores):
            self.told = {d.id: float(s) for d, s in zip(documents, scores, strict=True)}
            return scores + 10 * (np.array([d.id for d in documents]) == "c")

    texts = {i: Document(i, "x", "fr" if i == "b" else "en") for i in "abcd"}
    reranker = Doubtful()
    reranked = Reranked(Listed(a=4.0, b=3.0, c=2.0, d=1.0), reranker, lambda ids: [texts[i] for i in ids], depth=3)
    assert names(reranked.search(ASK, 4)[0]) == ["c", "a", "b", "d"]
    assert reranker.told == {"a": 4.0, "c": 2.0}


def test_wrappers_nest():
    words = {"red": [("rouge", 1.0)], "bread": [("pain", 1.0)]}
    nested = Fused([Translated(Listed(a=1.0), WordForWord(words), to="fr"), Merged([Listed(b=1.0), Listed(a=2.0)])])
    assert names(nested.search(ASK, 2)[0]) == ["a", "b"]
