"""Translated queries over documents of several languages, and words inside longer ones."""

from __future__ import annotations

import math
import random

import pytest
from reference import unstemmed_analyzer

from paragloss.index.terms import TermIndex
from paragloss.lab.matchings.structured import Probabilistic
from paragloss.search.fused import Merged
from paragloss.search.lexical import Lexical
from paragloss.search.translated import Translated
from paragloss.stores import create_store
from paragloss.types import Alternative, Document, Query, Translation

LANGS = ("en", "de", "fr", "ru", "sv")


class ShiftingTranslator:
    """Translates w3 into a few words of the language, a different few in each; stands in for a table."""

    def knows(self, source, target):
        return True

    def translate(self, query, to):
        return [
            Translation(word, tuple(self._alternatives(int(word[1:]), LANGS.index(to)))) for word in query.text.split()
        ]

    def _alternatives(self, number, shift):
        for i in range(shift + 1):
            word = f"w{number * (i + 1) + shift}"
            yield Alternative(word, 1 / (i + 1), (word,))
        yield Alternative(f"w{shift} w{number}", 0.3)


def search_every_language(searcher):
    return Merged([Translated(searcher, ShiftingTranslator(), to=lang) for lang in LANGS])


def make_random_documents(number):
    rng = random.Random(1)

    def words(max_words):
        return " ".join(f"w{min(int(rng.paretovariate(0.6)), 200)}" for _ in range(rng.randint(1, max_words)))

    return [
        Document(f"d{i}", words(60), LANGS[min(int(rng.paretovariate(0.8)), 5) - 1], words(6), {}, {"even": i % 2 == 0})
        for i in range(number)
    ]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    with create_store(tmp_path_factory.mktemp("c") / "c", dense={}, sparse=["terms"]) as store:
        index = TermIndex.build(store, analyze=unstemmed_analyzer)
        index.add(make_random_documents(1500))
        # Not refreshed: documents were weighed with several averages.
        yield store, lambda **options: Probabilistic(store, index.statistics, analyze=unstemmed_analyzer, **options)


def test_a_batch_of_queries_ranks_as_each_query_by_itself(indexed):
    searcher = indexed[1]()
    queries = [Query(str(i), f"w{i} w{i + 3}", LANGS[i % 5]) for i in range(150)]
    assert searcher.search(queries, 5) == [searcher.search([query], 5)[0] for query in queries]


def test_200_candidates_hold_the_same_top_ten_as_2000(indexed):
    generous, frugal = (
        search_every_language(indexed[1](candidates=candidates, proportional=True)) for candidates in (2000, 200)
    )
    queries = [Query("q", "w3 w7 w12", "en")]
    assert frugal.search(queries, 10) == generous.search(queries, 10)


def test_results_can_be_filtered_by_language_and_metadata(indexed):
    store, make_searcher = indexed
    searcher = search_every_language(make_searcher())
    hits = searcher.search([Query("q", "w3 w7", "en")], 50, {"lang": ["de", "ru"], "meta.even": [True]})[0]
    documents = [record.document for record in store.get([hit.id for hit in hits])]
    assert {document.lang for document in documents} == {"de", "ru"}
    assert all(document.meta["even"] for document in documents)


def test_an_empty_query_or_an_unknown_language_has_no_results(indexed):
    searcher = search_every_language(indexed[1]())
    assert searcher.search([Query("q", "", "en")], 5) == [[]]
    assert searcher.search([Query("q", "w3", "en")], 5, {"lang": ["xx"]}) == [[]]


class TwoWordTranslator:
    """Knows one word, and no name."""

    def knows(self, source, target):
        return True

    def translate(self, query, to):
        translations = {"delay": "Verspätung", "train": "Zug"}
        return [Translation(w, (Alternative(translations.get(w, w), 1.0),)) for w in query.text.split()]


DOCUMENTS = [
    Document("fan", "Овечкин забросил шайбу", "ru"),
    Document("weather", "Погода сегодня хорошая", "ru"),
    Document("late", "Wegen der Zugverspätungen warteten alle", "de"),
    Document("cake", "Kuchen mit Sahne", "de"),
]


@pytest.mark.parametrize(
    ("fields", "weights", "text", "expected"),
    [
        (("title", "text", "inner"), None, "Ovechkin", ["fan"]),
        (("title", "text", "inner"), None, "delay", ["late"]),
        (("title", "text", "inner"), None, "train delay", ["late"]),
        (("title", "text", "inner"), {"title": 1.0}, "Ovechkin", []),  # titles alone are searched
        (("title", "text"), None, "Ovechkin", []),
        (("title", "text"), None, "delay", []),
    ],
)
def test_names_match_by_sound_and_words_inside_compounds_if_these_are_indexed(
    build_index, fields, weights, text, expected
):
    index, store = build_index(DOCUMENTS, fields=fields)
    searcher = Probabilistic(store, index.statistics, proportional=True, weights=weights)
    merged = Merged([Translated(searcher, TwoWordTranslator(), to=lang) for lang in ("ru", "de")])
    (ranking,) = merged.search([Query("q", text, "en")], 5)
    assert [hit.id for hit in ranking] == expected
    assert all(0 < hit.score <= 1 for hit in ranking)


def test_scores_of_compound_parts_and_sounds_equal_those_worked_out_by_hand(build_index):
    texts = {"bridge": "Eisenbahnbrücke", "train": "Eisenbahn Brot", "bread": "Brot", "name": "Gorbatschow"}
    index, store = build_index(
        [Document(id, text, "de") for id, text in texts.items()] + [Document("en", "railway", "en")],
        fields=("text", "inner"),
    )
    plain, shares = (Probabilistic(store, index.statistics, proportional=p) for p in (False, True))
    # The railway stands in one document, and with 0.8 inside a word of another: 1.8 of 4. A sound counts whole.
    railway, name = math.log(1 + (4 - 1.8 + 0.5) / (1.8 + 0.5)), math.log(1 + (4 - 1 + 0.5) / (1 + 0.5))
    # Documents of one and of two words, at 1.25 on average.
    short, long = 1.2 * (0.25 + 0.75 / 1.25), 1.2 * (0.25 + 0.75 * 2 / 1.25)
    expected = {"train": 1 / (1 + long) * railway, "bridge": 0.8 / (0.8 + short) * railway}
    query = Query("q", "", "de", (Translation("railway", (Alternative("Eisenbahn", 1.0),)),))
    sound = Query("q", "", "de", (Translation("Gorbachev", (Alternative("≈GRBCW", 1.0, ("≈GRBCW",)),)),))

    def approx(value):
        return pytest.approx(value, rel=1e-5)

    assert dict(plain.search([query], 5)[0]) == approx(expected)
    assert dict(plain.search([sound], 5)[0]) == approx({"name": 1 / (1 + short) * name})
    assert dict(shares.search([query], 5)[0]) == approx({i: s / railway for i, s in expected.items()})
    assert plain.matches(query, "bridge") == [("railway", "…eisenbahn", approx(expected["bridge"]))]
    assert plain.matches(query, "train") == [("railway", "eisenbahn", approx(expected["train"]))]
    assert plain.matches(sound, "name") == [("Gorbachev", "≈GRBCW", approx(1 / (1 + short) * name))]
    assert shares.matches(query, "train")[0].score == approx(expected["train"] / railway)
    assert plain.matches(query, "en") == plain.matches(Query("q", "", "de"), "train") == []


@pytest.mark.parametrize("fields", [("text",), ("text", "inner")])
def test_untranslated_search_ignores_subword_terms(build_index, fields):
    index, store = build_index(DOCUMENTS, fields=fields)
    searcher = Lexical(store, index.statistics, weights={"text": 1.0}, langs=["ru", "de"])
    part, words = searcher.search([Query("q", "Zug", "de"), Query("q", "Kuchen Sahne", "de")], 5)
    assert (part, [hit.id for hit in words]) == ([], ["cake"])
