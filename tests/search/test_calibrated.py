"""Fusion without chosen weights: numbers by hand, and what must hold whatever the scores."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragloss.search.calibrated import OWN, Calibrated, contributions, evidence, merged, ways
from paragloss.types import Found, Hit, Query

QUERY = [Query("q", "honey", "en")]


class Fixed:
    """Answers from a table: language -> hits."""

    def __init__(self, **answers):
        self._answers = answers

    def search(self, queries, k, where=None):
        hits = [hit for lang in where["lang"] for hit in self._answers.get(lang, [])]
        return [Found(hits[:k], scores=self.scores) for _ in queries]

    def scores(self, ids, langs):
        return {}


def hits(**scores):
    return [Hit(id, score) for id, score in sorted(scores.items(), key=lambda pair: -pair[1])]


def fused(words=(), meanings=(), langs=("de",), k=10, where=None):
    searcher = Calibrated([(w, 1.0) for w in words], [(m, 1.0) for m in meanings], langs=langs)
    return searcher.search(QUERY, k, where)[0]


def test_a_cosine_counts_by_how_far_it_stands_out_from_the_field():
    # (.9 - .8) / (1 - .8) = .5; the last hit is the field.
    assert ways([hits(a=0.9, b=0.85, c=0.8)]) == [
        {"a": pytest.approx(0.5), "b": pytest.approx(0.25), "c": pytest.approx(0.0)}
    ]


def test_a_language_with_few_documents_leans_on_the_field_of_all():
    alone, many = ways([hits(only=0.802), [Hit(str(i), 0.9 - i / 1000) for i in range(100)]])
    assert 0 < alone["only"] < 0.05
    assert many["0"] > alone["only"]
    assert ways([hits(one=0.7)]) == [{"one": pytest.approx(0.0)}]  # it stands out from nothing
    assert ways([[], []]) == [{}, {}]


def test_ten_documents_count_as_much_as_the_field_of_all():
    # One language has ten hits down to .8, the other goes down to .6: the field is halfway, .7. (.9 - .7) / .3.
    ten = [Hit(str(i), 0.9 - 0.1 * i / 9) for i in range(10)]
    found, _ = ways([ten, hits(low=0.6)])
    assert found["0"] == pytest.approx(0.2 / 0.3)


def test_where_everything_matches_perfectly_nothing_stands_out():
    assert ways([hits(a=1.0, b=1.0)]) == [{"a": 0.0, "b": 0.0}]


def test_parts_of_one_kind_share_and_the_two_kinds_add():
    # sqrt(.3^2 + .4^2) + .2 = .7
    assert evidence([({"a": 0.3}, 1.0), ({"a": 0.4}, 1.0)], [({"a": 0.2}, 1.0)]) == {"a": pytest.approx(0.7)}
    assert evidence([({"a": 0.3}, 2.0)], []) == {"a": pytest.approx(0.6)}


def test_what_each_part_carried_sums_to_the_score():
    # Within a kind by squares: .09 and .16 of .25, whose root is .5. What speaks against it is below nothing.
    words = {"a": (True, 0.3), "b": (True, 0.4), "none": (True, 0.0)}
    carried = contributions({**words, "c": (False, 0.2)}, 0.7)
    assert carried == {"a": pytest.approx(0.18), "b": pytest.approx(0.32), "none": 0.0, "c": pytest.approx(0.2)}
    against = contributions({**words, "c": (False, -0.2)}, 0.3)
    assert against == {"a": pytest.approx(0.18), "b": pytest.approx(0.32), "none": 0.0, "c": pytest.approx(-0.2)}
    mixed = contributions({"a": (True, 0.5), "b": (True, -0.1), "c": (False, 0.2)}, 1.2)  # of a merged list: doubled
    assert mixed == {"a": pytest.approx(1.0), "b": pytest.approx(-0.2), "c": pytest.approx(0.4)}
    assert contributions({"a": (True, 0.0)}, 0.3) == {"a": 0.0}


def test_a_part_that_knows_nothing_changes_nothing():
    words = Fixed(de=hits(a=0.6, b=0.2))
    assert fused(words=[words]) == fused(words=[words, Fixed()], meanings=[Fixed()])


class Knowing(Fixed):
    """Knows more documents than it finds."""

    def __init__(self, more, **answers):
        super().__init__(**answers)
        self._more, self.asked = more, []

    def scores(self, ids, langs):
        self.asked.append((sorted(ids), list(langs)))
        return {id: self._more[id] for id in ids if id in self._more}


def test_what_one_part_found_the_others_score_too():
    # Meaning finds m, words find w; each knows something of the other's document.
    words = Knowing({"m": 0.3}, de=[Hit("w", 0.5), Hit("v", 0.4), *(Hit(f"y{i}", 0.1) for i in range(98))])
    meaning = Knowing({"w": 0.78, "v": 0.8}, de=[Hit("m", 0.9), *(Hit(f"x{i}", 0.8) for i in range(99))])
    ranking = {hit.id: hit.score for hit in fused([words], [meaning], k=100)}
    # the field is .8: m .3 + .1 / .2, w .5 - .02 / .2, v .4 + 0
    assert ranking["m"] == pytest.approx(0.8)
    assert ranking["w"] == pytest.approx(0.4)
    assert ranking["v"] == pytest.approx(0.4)


def test_the_others_are_asked_for_the_best_fifty_or_as_many_as_are_wanted():
    words = Knowing({}, de=[Hit(f"y{i:03}", 0.5) for i in range(100)])
    meaning = Knowing({}, de=[Hit(f"x{i:03}", 0.8) for i in range(100)])
    fused([words], [meaning], k=10)
    assert words.asked == [([f"x{i:03}" for i in range(50)], ["de"])]
    assert meaning.asked == [([f"y{i:03}" for i in range(50)], ["de"])]


def test_a_part_that_found_fewer_than_it_was_asked_for_has_found_all_it_knows():
    words, meaning = Knowing({"m": 1.0}, de=hits(w=0.5)), Knowing({}, de=hits(m=0.9, n=0.8))
    assert {hit.id for hit in fused([words], [meaning])} == {"m", "n", "w"}
    assert words.asked == meaning.asked == []


def test_words_alone_are_not_asked_again():
    one, other = Knowing({}, de=hits(a=0.9)), Knowing({}, de=hits(b=0.8))
    fused([one, other])
    assert one.asked == other.asked == []


def test_languages_meet_by_how_sure_each_is_and_not_by_how_high_its_scores_run():
    german = {f"de{i}": 0.80 - i / 1000 for i in range(20)}  # high, and nothing stands out
    hindi = {"hi0": 0.5, "hi1": 0.2, "hi2": 0.2}
    ranking = merged([german, hindi], 30)
    assert ranking[0].id == "hi0"
    assert ranking[1].id == "de0"


def test_right_answers_in_one_language_are_not_pushed_out_by_the_others():
    right = {"a": 0.9, "b": 0.9, "c": 0.89}
    wrong = {f"x{i}": 0.1 + i / 1000 for i in range(10)}
    assert {hit.id for hit in merged([right, wrong, {f"y{i}": 0.1 for i in range(10)}], 3)} == {"a", "b", "c"}


def test_a_document_stands_in_a_mixed_list_by_how_far_it_is_above_its_languages_tenth():
    # Both languages are as sure of their best (the second is .1 below it), but one has ten that are nearly as good.
    rest = {f"de{i}": 0.6 - i / 1000 for i in range(10)}
    german, hindi = {"de": 0.7, **rest}, {"hi": 0.5, **{f"hi{i}": 0.4 - i / 100 for i in range(10)}}
    assert [hit.id for hit in merged([german, hindi], 2)] == ["hi", "de"]


def test_one_ranking_of_two_languages_by_hand():
    # German has ten: what is above the tenth, and a hundredth of the rest; Hindi one, held against nothing. The best of
    # each has all the belief, since the others are far below (e to the minus 48, and more).
    german = {"de0": 0.9, **{f"de{i}": 0.3 for i in range(1, 9)}, "de9": 0.2}
    best = {hit.id: hit.score for hit in merged([german, {"hi": 0.5}, {}], 2)}
    assert best == {"de0": pytest.approx(0.7 + 0.009), "hi": pytest.approx(0.5 + 0.005)}
    # Two that are a hundredth apart share a language's belief: 1 to e to the minus 0.8.
    fewer = {hit.id: hit.score for hit in merged([{"de0": 0.9, "de1": 0.89}, {"hi": 0.5}], 3)}
    belief = 1 / (1 + math.exp(-0.8))
    assert fewer["de0"] == pytest.approx(0.909 * belief)
    assert fewer["de1"] == pytest.approx(0.8989 * (1 - belief))


def test_of_words_in_many_languages_fewer_hits_are_looked_at():
    part = [(Fixed(), 1.0)]
    three, four = ("de", "fr", "hi"), ("de", "fr", "hi", "zh")
    assert Calibrated(part, [], langs=three).depth(5) == 100
    assert 5 < Calibrated(part, [], langs=four).depth(5) < 40
    assert Calibrated(part, part, langs=four).depth(5) == 100
    assert Calibrated(part, [], langs=four, depth=10).depth(5) == 10
    assert Calibrated(part, [], langs=four).depth(40) == 40


def test_the_filter_says_which_languages():
    part = Fixed(de=hits(a=0.5), fr=hits(b=0.4))
    assert [hit.id for hit in fused([part], langs=("de", "fr"), where={"lang": ["fr"]})] == ["b"]
    assert {hit.id for hit in fused([part], langs=("de", "fr"))} == {"a", "b"}


scores = st.dictionaries(st.text("abcdef", min_size=1, max_size=2), st.floats(0, 1), min_size=1, max_size=12)


@given(scores, scores, st.sampled_from("abcdef"), st.floats(0.01, 0.5))
def test_a_document_that_scores_higher_in_a_part_never_falls(words, table, id, more):
    before = fused([Fixed(de=hits(**{**words, id: 0.3})), Fixed(de=hits(**table))], k=50)
    after = fused([Fixed(de=hits(**{**words, id: 0.3 + more})), Fixed(de=hits(**table))], k=50)
    place = lambda ranking: [hit.id for hit in ranking].index(id)  # noqa: E731
    assert place(after) <= place(before)


@given(scores)
def test_in_one_language_a_single_part_keeps_its_order(words):
    ranking = fused([Fixed(de=hits(**words))], k=50)
    assert sorted(words.values(), reverse=True) == [hit.score for hit in ranking]


def test_parts_are_asked_side_by_side_where_the_store_can():
    """Both wait for each other: one after the other neither would ever answer."""
    from concurrent.futures import ThreadPoolExecutor
    from threading import Barrier

    meeting = Barrier(2, timeout=20)

    class Waiting:
        def search(self, queries, k, where=None):
            meeting.wait()
            return [Found([Hit("d", 0.5)]) for _ in queries]

    def at_once(asks):
        with ThreadPoolExecutor(len(asks)) as threads:
            return list(threads.map(lambda ask: ask(), asks))

    parts = [(Waiting(), 1.0), (Waiting(), 1.0)]
    searcher = Calibrated(parts, [], langs=["fr"], at_once=at_once)
    assert [hit.id for hit in searcher.search([Query("q", "rain", "en")], 3)[0]] == ["d"]


def test_of_equals_the_page_in_the_language_that_was_asked_in_comes_first():
    both = [{"de": 0.6, "de2": 0.1}, {"fr": 0.6, "fr2": 0.1}]
    assert [hit.id for hit in merged(both, 4)] == ["de", "fr", "de2", "fr2"]
    assert [hit.id for hit in merged(both, 4, [1.0, OWN])] == ["fr", "de", "fr2", "de2"]
    both[0]["de"] = 0.9  # but not before one that fits far better
    assert [hit.id for hit in merged(both, 2, [1.0, OWN])] == ["de", "fr"]
