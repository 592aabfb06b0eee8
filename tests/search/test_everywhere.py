"""One search over many languages finds what one search a language finds, with the same scores."""

from __future__ import annotations

import math
import random
from functools import partial

import pytest
from reference import Words

from paragloss.search.all_languages import Everywhere
from paragloss.search.lexical import Lexical
from paragloss.search.merged import Merged
from paragloss.search.structured import Probabilistic, Synonymous, Tempered
from paragloss.search.terms import TermIndex
from paragloss.search.translated import Translated
from paragloss.stores.embedded import EmbeddedStore
from paragloss.types import Alternative, Document, Query, Translation

LANGS = ("en", "de", "fr", "ru", "sv")


class Shifted:
    """Translates w3 into a few words of the language, a different few in each; stands in for a table."""

    def knows(self, source, target):
        return True

    def translate(self, query, to):
        return [Translation(word, tuple(self._said(int(word[1:]), LANGS.index(to)))) for word in query.text.split()]

    def _said(self, number, shift):
        for i in range(shift + 1):
            word = f"w{number * (i + 1) + shift}"
            yield Alternative(word, 1 / (i + 1), (word,))
        yield Alternative(f"w{shift} w{number}", 0.3)


class AtOnce(Shifted):
    def __init__(self):
        self.asked = []

    def translate_many(self, query, targets):
        self.asked.append(list(targets))
        return {lang: self.translate(query, lang) for lang in targets}


def invented(number):
    rng = random.Random(1)

    def words(most):
        return " ".join(f"w{min(int(rng.paretovariate(0.6)), 200)}" for _ in range(rng.randint(1, most)))

    return [
        Document(f"d{i}", words(60), LANGS[min(int(rng.paretovariate(0.8)), 5) - 1], words(6), {}, {"even": i % 2 == 0})
        for i in range(1500)
    ]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    with EmbeddedStore.create(tmp_path_factory.mktemp("c") / "c", dense={}, sparse=["terms"]) as store:
        index = TermIndex.build(store, analyze=Words)
        index.add(invented(1500))
        yield store, index.statistics  # not refreshed: documents were weighed with several averages


@pytest.mark.parametrize("kind", [Tempered, Probabilistic, Synonymous])
@pytest.mark.parametrize("proportional", [False, True])
@pytest.mark.parametrize("text", ["w3 w7", "w1 w2 w19", "w40", "w3 w3"])
def test_scores_are_those_of_a_search_in_each_language(indexed, kind, proportional, text):
    store, statistics = indexed
    everything = kind(store, statistics, candidates=2000, proportional=proportional, analyze=Words)
    apart = Merged([Translated(everything, Shifted(), to=lang) for lang in LANGS])
    together = Everywhere(everything, Shifted(), to=LANGS)
    ask = [Query("q", text, "en")]
    expected, found = apart.search(ask, 2000)[0], together.search(ask, 2000)[0]
    assert dict(found) == pytest.approx(dict(expected), rel=1e-12)
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], rel=1e-12)


@pytest.mark.parametrize("kind", [Tempered, Probabilistic, Synonymous])
@pytest.mark.parametrize("where", [None, {"meta.even": [True]}])
def test_all_languages_at_once_find_what_each_finds_alone(indexed, kind, where):
    """More queries than are put to the store at once, and one that says nothing."""
    store, statistics = indexed
    everywhere = Everywhere(kind(store, statistics, proportional=True, analyze=Words), Shifted(), to=LANGS)
    plain = Lexical(store, statistics, langs=LANGS, proportional=True, analyze=Words)
    asks = [Query(str(i), f"w{i} w{i + 3} w2", "en") for i in range(30)] + [Query("none", "", "en")]
    for searcher in (everywhere, plain):
        found = searcher.by_language(asks, 7, LANGS, where)
        alone = [searcher.search(asks, 7, {**(where or {}), "lang": [lang]}) for lang in LANGS]
        assert found == [[rankings[i] for rankings in alone] for i in range(len(asks))]
        assert found[-1] == [[]] * len(LANGS)
        assert any(found[0])


def test_many_queries_at_once_find_what_each_finds_alone(indexed):
    store, statistics = indexed
    searcher = Probabilistic(store, statistics, analyze=Words)
    asks = [Query(str(i), f"w{i} w{i + 3}", LANGS[i % 5]) for i in range(150)]
    assert searcher.search(asks, 5) == [searcher.search([ask], 5)[0] for ask in asks]


def test_the_best_are_among_its_few_candidates(indexed):
    store, statistics = indexed
    ask = [Query("q", "w3 w7 w12", "en")]
    many = Probabilistic(store, statistics, candidates=2000, proportional=True, analyze=Words)
    few = Probabilistic(store, statistics, candidates=200, proportional=True, analyze=Words)
    exact = Everywhere(many, Shifted(), to=LANGS).search(ask, 10)[0]
    assert Everywhere(few, Shifted(), to=LANGS).search(ask, 10)[0] == exact


@pytest.mark.parametrize("kind", [Tempered, Probabilistic, Synonymous])
def test_documents_are_scored_whether_or_not_they_are_found(indexed, kind):
    store, statistics = indexed
    ask, every = Query("q", "w3 w7 w12", "en"), [document.id for document in invented(1500)]
    few = Everywhere(kind(store, statistics, candidates=2000, proportional=True, analyze=Words), Shifted(), to=LANGS)
    found = dict(few.search([ask], 2000)[0])
    (some,) = few.search([ask], 5)
    scores = some.scores([*every, "gone"], LANGS)
    assert {id: score for id, score in scores.items() if score} == pytest.approx(found, rel=1e-12)
    assert set(scores) == set(every)
    german = {document.id for document in invented(1500) if document.lang == "de"}
    assert set(some.scores(every, ["de"])) == german
    assert some.scores([], LANGS) == {}


def test_words_as_they_stand_score_what_they_did_not_find(indexed):
    store, statistics = indexed
    words = Lexical(store, statistics, langs=LANGS, proportional=True, analyze=Words)
    ask, every = Query("q", "w3 w7 w12", "en"), [document.id for document in invented(1500)]
    (ranking,) = words.search([ask], 2000)
    found, scores = dict(ranking), ranking.scores([*every, "gone"], LANGS)
    assert {id: score for id, score in scores.items() if score} == pytest.approx(found, rel=1e-5)
    assert set(scores) == set(every)


def test_filters_by_language_and_by_anything_else(indexed):
    store, statistics = indexed
    searcher = Everywhere(Probabilistic(store, statistics, analyze=Words), Shifted(), to=LANGS)
    found = searcher.search([Query("q", "w3 w7", "en")], 50, {"lang": ["de", "ru"], "meta.even": [True]})[0]
    documents = [record.document for record in store.get([hit.id for hit in found])]
    assert {document.lang for document in documents} == {"de", "ru"}
    assert all(document.meta["even"] for document in documents)


def test_a_translator_that_can_is_asked_for_all_languages_at_once(indexed):
    store, statistics = indexed
    translator = AtOnce()
    ask = [Query("q", "w3 w7", "en")]
    inner = Probabilistic(store, statistics, analyze=Words)
    found = Everywhere(inner, translator, to=LANGS).search(ask, 20)
    assert translator.asked == [["de", "fr", "ru", "sv"]]
    assert found == Everywhere(inner, Shifted(), to=LANGS).search(ask, 20)


def test_a_query_that_says_nothing_finds_nothing(indexed):
    store, statistics = indexed
    searcher = Everywhere(Probabilistic(store, statistics, analyze=Words), Shifted(), to=LANGS)
    assert searcher.search([Query("q", "", "en")], 5) == [[]]
    assert searcher.search([Query("q", "w3", "en")], 5, {"lang": ["xx"]}) == [[]]


class Names:
    """Knows one word, and no name."""

    def knows(self, source, target):
        return True

    def translate(self, query, to):
        known = {"delay": "Verspätung", "train": "Zug"}
        return [Translation(w, (Alternative(known.get(w, w), 1.0),)) for w in query.text.split()]


DOCUMENTS = [
    Document("fan", "Овечкин забросил шайбу", "ru"),
    Document("weather", "Погода сегодня хорошая", "ru"),
    Document("late", "Wegen der Zugverspätungen warteten alle", "de"),
    Document("cake", "Kuchen mit Sahne", "de"),
]


def found(place, fields, text, **options):
    with EmbeddedStore.create(place, dense={}, sparse=["terms"]) as store:
        index = TermIndex.build(store, fields=fields)
        index.add(DOCUMENTS)
        searcher = Probabilistic(store, index.statistics, proportional=True, **options)
        ranking = Everywhere(searcher, Names(), to=["ru", "de"]).search([Query("q", text, "en")], 5)[0]
        return {hit.id: hit.score for hit in ranking}


def test_names_are_found_by_sound_and_words_inside_longer_ones(tmp_path):
    fields = ("title", "text", "inner")
    assert list(found(tmp_path / "name", fields, "Ovechkin")) == ["fan"]
    assert list(found(tmp_path / "part", fields, "delay")) == ["late"]
    both = found(tmp_path / "both", fields, "train delay")
    assert list(both) == ["late"]
    assert 0 < both["late"] <= 1


def test_what_words_hold_inside_counts_by_hand(tmp_path):
    texts = {"bridge": "Eisenbahnbrücke", "train": "Eisenbahn Brot", "bread": "Brot", "name": "Gorbatschow"}
    with EmbeddedStore.create(tmp_path / "c", dense={}, sparse=["terms"]) as store:
        index = TermIndex.build(store, fields=("text", "inner"))
        index.add([Document(id, text, "de") for id, text in texts.items()] + [Document("en", "railway", "en")])
        plain, shares = (Probabilistic(store, index.statistics, proportional=p) for p in (False, True))
        # The railway stands in one document, and with 0.8 inside a word of another: 1.8 of 4. A sound counts whole.
        railway, name = math.log(1 + (4 - 1.8 + 0.5) / (1.8 + 0.5)), math.log(1 + (4 - 1 + 0.5) / (1 + 0.5))
        # Documents of one and of two words, at 1.25 on average.
        short, long = 1.2 * (0.25 + 0.75 / 1.25), 1.2 * (0.25 + 0.75 * 2 / 1.25)
        expected = {"train": 1 / (1 + long) * railway, "bridge": 0.8 / (0.8 + short) * railway}
        query = Query("q", "", "de", (Translation("railway", (Alternative("Eisenbahn", 1.0),)),))
        sound = Query("q", "", "de", (Translation("Gorbachev", (Alternative("≈GRBCW", 1.0, ("≈GRBCW",)),)),))
        assert dict(plain.search([query], 5)[0]) == pytest.approx(expected, rel=1e-5)
        assert dict(plain.search([sound], 5)[0]) == pytest.approx({"name": 1 / (1 + short) * name}, rel=1e-5)
        assert dict(shares.search([query], 5)[0]) == pytest.approx(
            {i: s / railway for i, s in expected.items()}, rel=1e-5
        )
        # Of all documents of the language, found or not; of none where it is not asked for.
        assert plain.scores_together([query], ["bread", "bridge", "en"]) == pytest.approx(
            {"bread": 0.0, "bridge": expected["bridge"]}, rel=1e-5
        )
        assert plain.scores_together([], ["bread", "bridge"]) == {}
        approx = partial(pytest.approx, rel=1e-5)
        assert plain.matches(query, "bridge") == [("railway", "…eisenbahn", approx(expected["bridge"]))]
        assert plain.matches(query, "train") == [("railway", "eisenbahn", pytest.approx(expected["train"], rel=1e-5))]
        assert plain.matches(sound, "name") == [("Gorbachev", "≈GRBCW", approx(1 / (1 + short) * name))]
        assert shares.matches(query, "train")[0].score == pytest.approx(expected["train"] / railway, rel=1e-5)
        assert plain.matches(query, "en") == plain.matches(Query("q", "", "de"), "train") == []


def test_so_many_candidates_are_looked_at(indexed, monkeypatch):
    store, statistics = indexed
    searcher, asked, found = Probabilistic(store, statistics, analyze=Words), [], store.look
    monkeypatch.setattr(store, "look", lambda *a, **b: asked.append(a[2]) or found(*a, **b))
    for k, where in (
        (5, None),
        (300, None),
        (5, {"lang": ["en", "de"]}),
        (5, {"lang": ["en"]}),
        (50, {"lang": ["en"]}),
    ):
        searcher.search([Query("q", "w3", "en")], k, where)
    # Two hundred, or as many as are wanted; in one language twice as many as are wanted, and some at least.
    assert asked[:3] == [200, 300, 200]
    assert 10 < asked[3] < asked[4] == 100


def test_a_collection_from_before_is_searched_as_before(tmp_path):
    assert found(tmp_path / "name", ("title", "text"), "Ovechkin") == {}
    assert found(tmp_path / "part", ("title", "text"), "delay") == {}


def test_titles_alone_are_searched_by_their_words_only(tmp_path):
    assert found(tmp_path / "c", ("title", "text", "inner"), "Ovechkin", weights={"title": 1.0}) == {}


def test_plain_search_sees_nothing_of_it(tmp_path):
    for fields in (("text",), ("text", "inner")):
        with EmbeddedStore.create(tmp_path / f"c{len(fields)}", dense={}, sparse=["terms"]) as store:
            index = TermIndex.build(store, fields=fields)
            index.add(DOCUMENTS)
            searcher = Lexical(store, index.statistics, weights={"text": 1.0}, langs=["ru", "de"])
            assert searcher.search([Query("q", "Zug", "de")], 5) == [[]]
            plain = searcher.search([Query("q", "Kuchen Sahne", "de")], 5)[0]
            assert [hit.id for hit in plain] == ["cake"]
