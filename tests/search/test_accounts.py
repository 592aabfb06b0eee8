"""Accounts of scores by hand: what every wrapper makes of what it wraps, and who knew which word."""

from typing import NamedTuple

import numpy as np
import pytest
from fakes import Listed, Shortest, WordForWord

from paragloss.collection.retrieval import mix_readings
from paragloss.index.terms import TermIndex
from paragloss.search.dense import Dense
from paragloss.search.evidence import NOTHING, add_explanations
from paragloss.search.expanded import Expanded
from paragloss.search.fused import Fused
from paragloss.search.lexical import Lexical
from paragloss.search.merged import Merged
from paragloss.search.nested import Nested
from paragloss.search.reranked import Reranked
from paragloss.search.structured import Probabilistic, Synonymous, Tempered
from paragloss.search.translated import Reworded, Translated
from paragloss.stores.embedded import EmbeddedStore
from paragloss.translation.combined import CombinedTranslator
from paragloss.types import (
    Alternative,
    Contribution,
    Document,
    Hit,
    Query,
    Record,
    ScoreExplanation,
    Translation,
    Where,
)

A = Document("a", "pain rouge", "fr")


class Asking(NamedTuple):
    query: Query
    document: Document
    k: int
    where: Where | None = None


ASKING = Asking(Query("q", "red bread", "en"), A, 5)


def account(searcher, asking):
    """Searches once; then only what was found is asked."""
    (found,) = searcher.search([asking.query], asking.k, asking.where)
    return found.explain(asking.document)


def whole(name, score):
    """The account of a searcher that can't be looked into."""
    return ScoreExplanation(score, (Contribution("", "", name, score),), exact=False)


def test_an_account_keeps_its_proportions():
    inner = ScoreExplanation(4.0, (Contribution("x", "y", "m", 1.0), Contribution("z", "y", "m", 3.0)))
    outer = ScoreExplanation(8.0, (Contribution("", "", "n", 4.0),), parts=(("inner", inner),))
    half = outer.scale_to(4.0)
    assert half.score == 4.0
    assert half.parts[0][1] == ScoreExplanation(
        2.0, (Contribution("x", "y", "m", 0.5), Contribution("z", "y", "m", 1.5))
    )
    assert half.list_contributions() == (
        Contribution("", "", "n", 2.0),
        Contribution("x", "y", "m", 0.5),
        Contribution("z", "y", "m", 1.5),
    )
    assert ScoreExplanation(0.0, (Contribution("x", "y", "m", 1.0),)).scale_to(3.0) == ScoreExplanation(
        3.0, (Contribution("x", "y", "m", 0.0),)
    )


def test_accounts_of_one_document_add_up_part_by_part():
    one = ScoreExplanation(
        3.0, (Contribution("", "", "n", 1.0),), parts=(("p", ScoreExplanation(1.0)), ("r", ScoreExplanation(1.0)))
    )
    two = ScoreExplanation(2.0, exact=False, parts=(("p", ScoreExplanation(2.0)),))
    parts = (("p", ScoreExplanation(3.0)), ("r", ScoreExplanation(1.0)))
    assert add_explanations([one, NOTHING, two]) == ScoreExplanation(5.0, one.contributions, exact=False, parts=parts)
    assert add_explanations([NOTHING, two]) is two
    assert add_explanations([]) == NOTHING == ScoreExplanation(0.0)


def test_what_was_not_found_has_no_account_and_what_can_not_be_looked_into_one_share():
    assert account(Listed(a=2.5, b=1.0), ASKING) == whole("listed", 2.5)
    assert account(Listed(b=1.0), ASKING) == NOTHING
    assert account(Listed(b=3.0, a=1.0), ASKING._replace(k=1)) == NOTHING  # below what was asked for


def test_a_query_that_may_be_in_two_languages_is_what_is_to_be_expected():
    english, french = (Listed(**hits).search([ASKING.query], 5)[0] for hits in ({"a": 4.0, "b": 5.0}, {"a": 8.0}))
    found = mix_readings([(0.75, english), (0.25, french)], 1)
    assert found == [Hit("a", 0.75 * 4 + 0.25 * 8)]
    assert [share.score for share in found.explain(A).contributions] == [3.0, 2.0]
    below = Document("b", "pain noir", "fr")  # below the number that was asked for
    assert found.explain(below) == whole("listed", 0.75 * 5)


def test_a_fusion_is_the_sum_of_its_searchers():
    fused = Fused([Listed(a=9.0), Listed(b=1.0), Listed(b=8.0, a=7.0)], weights=[1.0, 1.0, 2.0])
    found = account(fused, ASKING)
    assert [name for name, _ in found.parts] == ["1", "3"]  # the second did not find it
    assert [part.score for _, part in found.parts] == [pytest.approx(1 / 61), pytest.approx(2 / 62)]
    assert found.score == pytest.approx(1 / 61 + 2 / 62)
    assert not found.exact


WORDS = {"red": [("rouge", 1.0)], "bread": [("pain noir", 0.8), ("miche", 0.2)]}


class Terms(WordForWord):
    """Says which terms its words come down to."""

    def translate(self, query, to):
        said = super().translate(query, to)
        return [clause._replace(alternatives=tuple(a._replace(terms=(a.text,)) for a in clause.alternatives))
                for clause in said]  # fmt: skip


@pytest.fixture
def french(tmp_path):
    with EmbeddedStore.create(tmp_path / "c", dense={}, sparse=["terms"]) as store:
        index = TermIndex.build(store, fields=("text",))
        index.add([A, Document("b", "pain noir", "fr"), Document("c", "vin", "fr")])
        yield store, index.statistics


@pytest.mark.parametrize("kind", [Lexical, Tempered, Synonymous, Probabilistic])
def test_a_word_is_shared_among_those_who_know_it(french, kind):
    one, two = WordForWord({"bread": [("pain noir", 1.0)]}), WordForWord({"bread": [("pain", 1.0)]})
    translator = CombinedTranslator([one, two], names=["one", "two"])
    asking = ASKING._replace(query=Query("q", "bread", "en"))
    found = account(Translated(kind(*french), translator, to="fr"), asking)
    # A phrase's words share its weight: of pain one has a half, two a whole.
    assert {share[:2] for share in found.contributions} == {("bread", "pain")}
    by = {name: sum(share.score for share in found.contributions if share.source == name) for name in ("one", "two")}
    assert by == {"one": pytest.approx(found.score / 3), "two": pytest.approx(found.score * 2 / 3)}
    assert found.exact


def test_words_stand_as_they_are_where_nobody_translated(french):
    found = account(Lexical(*french), ASKING._replace(query=Query("q", "pain rouge", "fr")))
    assert [share[:3] for share in found.contributions] == [("pain", "pain", "bm25"), ("roug", "roug", "bm25")]
    assert sum(share.score for share in found.contributions) == pytest.approx(found.score)
    assert account(Lexical(*french), ASKING._replace(query=Query("q", "vin", "fr"))) == NOTHING


def test_terms_that_a_translator_names_are_those_it_knows(french):
    translator = Terms({"bread": [("pain", 1.0)], "red": [("roug", 1.0)]})
    found = account(Translated(Nested(*french), translator, to="fr", called="t"), ASKING)
    assert [share[:3] for share in found.contributions] == [("red", "roug", "t"), ("bread", "pain", "t")]


@pytest.mark.parametrize("where", [None, {"meta.year": [2020]}])
def test_a_translated_search_is_asked_once(where):
    inner = Listed(a=4.0)
    found = account(Translated(inner, WordForWord(WORDS), to="fr"), ASKING._replace(where=where))
    assert found == whole("listed", 4.0)
    (((query,), _, asked),) = inner.asked
    assert (query.text, query.lang) == ("rouge pain noir", "fr")
    assert asked == {**(where or {}), "lang": ["fr"]}


def test_a_reworded_query_says_who_reworded_it(french):
    synonyms = WordForWord({"miche": [("miche", 0.5), ("pain", 0.5)]})
    asking = ASKING._replace(query=Query("q", "miche", "fr"))
    found = account(Reworded(Lexical(*french), synonyms, called="synonyms"), asking)
    assert found.contributions == (Contribution("miche", "pain", "synonyms", pytest.approx(found.score)),)


def test_words_of_a_translated_query_are_known_inside_a_fusion(french):
    translator = WordForWord(WORDS)
    inner = Fused([Lexical(*french), Listed(b=1.0)])
    found = account(Translated(inner, translator, to="fr", called="t"), ASKING)
    assert found.score == pytest.approx(1 / 61)
    assert {share.source for share in found.list_contributions()} == {"t"}
    assert sum(share.score for share in found.list_contributions()) == pytest.approx(1 / 61)


def test_of_lists_that_were_merged_one_has_the_document():
    merged = Merged([Listed(b=2.0), Listed(c=8.0, a=4.0)])
    assert account(merged, ASKING) == whole("listed", 4.0)


def test_a_search_with_feedback_is_accounted_for_by_its_second_question():
    inner, texts = Listed(a=4.0), {"a": Document("a", "lava lava", "en")}
    expanded = Expanded(inner, lambda ids: [texts[id] for id in ids], lambda lang, term: 1.0)
    assert account(expanded, ASKING) == whole("listed", 4.0)
    assert inner.asked[-1][0][0].text == "red bread lava"


class Names:
    """Knows one word, and no name."""

    def knows(self, source, target):
        return True

    def translate(self, query, to):
        known = {("delay", "de"): "Verspätung"}
        return [Translation(word, (Alternative(known.get((word, to), word), 1.0),)) for word in query.text.split()]


def test_what_was_met_by_sound_and_inside_longer_words_says_so(tmp_path):
    documents = [
        Document("fan", "Овечкин забросил шайбу", "ru"),
        Document("weather", "Погода сегодня хорошая", "ru"),
        Document("late", "Wegen der Zugverspätungen warteten alle", "de"),
        Document("cake", "Kuchen mit Sahne", "de"),
    ]
    with EmbeddedStore.create(tmp_path / "c", dense={}, sparse=["terms"]) as store:
        index = TermIndex.build(store, fields=("text", "inner"))
        index.add(documents)
        clauses = Probabilistic(store, index.statistics)
        everywhere = Merged([Translated(clauses, Names(), to=lang, called="names") for lang in ("ru", "de")])

        def told(text, document):
            return account(everywhere, Asking(Query("q", text, "en"), document, 5))

        (share,) = told("delay", documents[2]).contributions
        assert share[:3] == ("delay", "…verspat", "names, inside")
        heard = told("Ovechkin", documents[0])
        assert {(s.query, s.document[0], s.source) for s in heard.contributions} == {("Ovechkin", "≈", "by sound")}
        assert sum(share.score for share in heard.contributions) == pytest.approx(heard.score)


class Letters:
    """Encodes a text by how many a, b and c it has."""

    dim, langs = 3, ("en", "fr")

    def encode(self, texts, lang):
        return np.array([[text.count(letter) for letter in "abc"] for text in texts], np.float32)


def test_a_vector_is_accounted_for_by_leaving_out_words(tmp_path):
    document = Document("z", "bbbbx aaax", "fr")
    with EmbeddedStore.create(tmp_path / "c", dense={"letters": 3}, sparse=[]) as store:
        store.add([Record(document, {"letters": np.array([2, 3, 0], np.float32)})])
        dense = Dense(store, Letters(), name="letters")
        found = account(dense, Asking(Query("q", "aay bby ccy", "en"), document, 5))
        # 2 x 2 + 2 x 3 = 10: without aay 6, without bby 4, ccy says nothing. Lost are 4 and 6.
        assert found.score == 10.0
        assert not found.exact
        assert found.contributions == (
            Contribution("aay", "aaax", "letters", pytest.approx(4.0)),
            Contribution("bby", "bbbbx", "letters", pytest.approx(6.0)),
        )


def test_a_reranker_is_accounted_for_by_leaving_out_words_or_by_the_place_it_left():
    class Words(Shortest):
        """Counts the words that both have."""

        langs = ("en", "fr")

        def score(self, query, documents):
            return np.array([sum(word in d.text for word in query.text.split()) for d in documents], np.float32)

    texts = {"a": A, "b": Document("b", "rouge", "fr"), "c": Document("c", "pain", "de")}
    reranked = Reranked(Listed(a=4.0, b=3.0, c=2.0), Words(), lambda ids: [texts[i] for i in ids], depth=2)

    def told(text, id, lang="en"):
        return account(reranked, Asking(Query("q", text, lang), texts[id], 5))

    assert told("rouge pain vin", "a") == ScoreExplanation(
        2.0, (Contribution("rouge", "", "words", 1.0), Contribution("pain", "", "words", 1.0)), exact=False
    )
    place = "place in the search before"
    # The third of two that are read again stands one below the worst of these, which has nothing of the query.
    assert told("pain", "c") == ScoreExplanation(-1.0, (Contribution("", "", place, -1.0),))
    assert told("rouge", "a", lang="de") == ScoreExplanation(4.0, (Contribution("", "", place, 4.0),))
