"""Translated queries over documents of several languages, and words inside longer ones."""

from __future__ import annotations

import math
import random
from functools import partial

import pytest
from reference import Words

from paragloss.index.terms import TermIndex
from paragloss.search.lexical import Lexical
from paragloss.search.merged import Merged
from paragloss.search.structured import Probabilistic
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


def in_every_language(searcher):
    return Merged([Translated(searcher, Shifted(), to=lang) for lang in LANGS])


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
    exact = in_every_language(many).search(ask, 10)[0]
    assert in_every_language(few).search(ask, 10)[0] == exact


def test_filters_by_language_and_by_anything_else(indexed):
    store, statistics = indexed
    searcher = in_every_language(Probabilistic(store, statistics, analyze=Words))
    found = searcher.search([Query("q", "w3 w7", "en")], 50, {"lang": ["de", "ru"], "meta.even": [True]})[0]
    documents = [record.document for record in store.get([hit.id for hit in found])]
    assert {document.lang for document in documents} == {"de", "ru"}
    assert all(document.meta["even"] for document in documents)


def test_a_query_that_says_nothing_finds_nothing(indexed):
    store, statistics = indexed
    searcher = in_every_language(Probabilistic(store, statistics, analyze=Words))
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
        both = Merged([Translated(searcher, Names(), to=lang) for lang in ("ru", "de")])
        ranking = both.search([Query("q", text, "en")], 5)[0]
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
        approx = partial(pytest.approx, rel=1e-5)
        assert plain.matches(query, "bridge") == [("railway", "…eisenbahn", approx(expected["bridge"]))]
        assert plain.matches(query, "train") == [("railway", "eisenbahn", pytest.approx(expected["train"], rel=1e-5))]
        assert plain.matches(sound, "name") == [("Gorbachev", "≈GRBCW", approx(1 / (1 + short) * name))]
        assert shares.matches(query, "train")[0].score == pytest.approx(expected["train"] / railway, rel=1e-5)
        assert plain.matches(query, "en") == plain.matches(Query("q", "", "de"), "train") == []


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
