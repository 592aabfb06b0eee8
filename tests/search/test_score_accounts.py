"""Accounts of scores by hand: what every wrapper makes of what it wraps, and who knew which word."""

from typing import NamedTuple

import numpy as np
import pytest
from fakes import FixedSearcher, ShortestFirst, WordTranslator

from paragloss.collection.retrieval import mix_readings
from paragloss.lab.matchings.nested import Nested
from paragloss.lab.matchings.structured import Probabilistic, Synonymous, Tempered
from paragloss.search.evidence import add_explanations
from paragloss.search.expanded import Expanded
from paragloss.search.fused import Fused, Merged
from paragloss.search.lexical import Lexical
from paragloss.search.reranked import Reranked
from paragloss.search.translated import Reworded, Translated
from paragloss.translation.combined import CombinedTranslator
from paragloss.types import (
    Alternative,
    Contribution,
    Document,
    Hit,
    Query,
    ScoreExplanation,
    Translation,
    Where,
)

NOTHING = ScoreExplanation(0.0)
RED_BREAD = Document("a", "pain rouge", "fr")


class Request(NamedTuple):
    query: Query
    document: Document
    k: int
    where: Where | None = None


REQUEST = Request(Query("q", "red bread", "en"), RED_BREAD, 5)


def explain_result(searcher, request):
    """Searches once; then only what was found is asked."""
    (ranking,) = searcher.search([request.query], request.k, request.where)
    return ranking.explain(request.document)


def opaque_account(name, score):
    """The account of a searcher that can't be looked into."""
    return ScoreExplanation(score, (Contribution("", "", name, score),), exact=False)


def test_scaling_an_account_scales_its_parts_and_shares():
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


def test_accounts_of_one_document_are_summed_part_by_part():
    first = ScoreExplanation(
        3.0, (Contribution("", "", "n", 1.0),), parts=(("p", ScoreExplanation(1.0)), ("r", ScoreExplanation(1.0)))
    )
    second = ScoreExplanation(2.0, exact=False, parts=(("p", ScoreExplanation(2.0)),))
    parts = (("p", ScoreExplanation(3.0)), ("r", ScoreExplanation(1.0)))
    assert add_explanations([first, NOTHING, second]) == ScoreExplanation(
        5.0, first.contributions, exact=False, parts=parts
    )
    assert add_explanations([NOTHING, second]) is second
    assert add_explanations([]) == NOTHING


def test_an_unlisted_document_has_an_empty_account_and_an_opaque_searcher_one_share():
    assert explain_result(FixedSearcher(a=2.5, b=1.0), REQUEST) == opaque_account("listed", 2.5)
    assert explain_result(FixedSearcher(b=1.0), REQUEST) == NOTHING
    assert explain_result(FixedSearcher(b=3.0, a=1.0), REQUEST._replace(k=1)) == NOTHING  # below what was asked for


def test_readings_of_a_query_in_two_languages_are_averaged_by_their_probabilities():
    english, french = (
        FixedSearcher(**hits).search([REQUEST.query], 5)[0] for hits in ({"a": 4.0, "b": 5.0}, {"a": 8.0})
    )
    mixed = mix_readings([(0.75, english), (0.25, french)], 1)
    assert mixed == [Hit("a", 0.75 * 4 + 0.25 * 8)]
    assert [share.score for share in mixed.explain(RED_BREAD).contributions] == [3.0, 2.0]
    unlisted = Document("b", "pain noir", "fr")  # below the number that was asked for
    assert mixed.explain(unlisted) == opaque_account("listed", 0.75 * 5)


def test_the_account_of_a_fusion_is_the_sum_of_its_searchers():
    fused = Fused([FixedSearcher(a=9.0), FixedSearcher(b=1.0), FixedSearcher(b=8.0, a=7.0)], weights=[1.0, 1.0, 2.0])
    account = explain_result(fused, REQUEST)
    assert [name for name, _ in account.parts] == ["1", "3"]  # the second did not find it
    assert [part.score for _, part in account.parts] == [pytest.approx(1 / 61), pytest.approx(2 / 62)]
    assert account.score == pytest.approx(1 / 61 + 2 / 62)
    assert not account.exact


TRANSLATIONS = {"red": [("rouge", 1.0)], "bread": [("pain noir", 0.8), ("miche", 0.2)]}


class TermTranslator(WordTranslator):
    """Says which terms its words come down to."""

    def translate(self, query, to):
        clauses = super().translate(query, to)
        return [clause._replace(alternatives=tuple(a._replace(terms=(a.text,)) for a in clause.alternatives))
                for clause in clauses]  # fmt: skip


@pytest.fixture
def french(build_index):
    index, store = build_index(
        [RED_BREAD, Document("b", "pain noir", "fr"), Document("c", "vin", "fr")], fields=("text",)
    )
    return store, index.statistics


@pytest.mark.parametrize("kind", [Lexical, Tempered, Synonymous, Probabilistic])
def test_a_words_share_is_divided_among_the_translators_that_gave_it(french, kind):
    partial, complete = WordTranslator({"bread": [("pain noir", 1.0)]}), WordTranslator({"bread": [("pain", 1.0)]})
    translator = CombinedTranslator([partial, complete], names=["one", "two"])
    request = REQUEST._replace(query=Query("q", "bread", "en"))
    account = explain_result(Translated(kind(*french), translator, to="fr"), request)
    # A phrase's words share its weight: of pain one has a half, two a whole.
    assert {share[:2] for share in account.contributions} == {("bread", "pain")}
    score_by_source = {
        name: sum(share.score for share in account.contributions if share.source == name) for name in ("one", "two")
    }
    assert score_by_source == {"one": pytest.approx(account.score / 3), "two": pytest.approx(account.score * 2 / 3)}
    assert account.exact


def test_shares_of_an_untranslated_query_name_its_own_terms(french):
    account = explain_result(Lexical(*french), REQUEST._replace(query=Query("q", "pain rouge", "fr")))
    assert [share[:3] for share in account.contributions] == [("pain", "pain", "bm25"), ("roug", "roug", "bm25")]
    assert sum(share.score for share in account.contributions) == pytest.approx(account.score)
    assert explain_result(Lexical(*french), REQUEST._replace(query=Query("q", "vin", "fr"))) == NOTHING


def test_shares_name_the_terms_that_the_translator_gave(french):
    translator = TermTranslator({"bread": [("pain", 1.0)], "red": [("roug", 1.0)]})
    account = explain_result(Translated(Nested(*french), translator, to="fr", called="t"), REQUEST)
    assert [share[:3] for share in account.contributions] == [("red", "roug", "t"), ("bread", "pain", "t")]


@pytest.mark.parametrize("where", [None, {"meta.year": [2020]}])
def test_explaining_a_translated_result_searches_no_second_time(where):
    inner = FixedSearcher(a=4.0)
    account = explain_result(Translated(inner, WordTranslator(TRANSLATIONS), to="fr"), REQUEST._replace(where=where))
    assert account == opaque_account("listed", 4.0)
    (((query,), _, filters),) = inner.requests
    assert (query.text, query.lang) == ("rouge pain noir", "fr")
    assert filters == {**(where or {}), "lang": ["fr"]}


def test_shares_of_a_reworded_query_name_the_rewording_model(french):
    synonyms = WordTranslator({"miche": [("miche", 0.5), ("pain", 0.5)]})
    request = REQUEST._replace(query=Query("q", "miche", "fr"))
    account = explain_result(Reworded(Lexical(*french), synonyms, called="synonyms"), request)
    assert account.contributions == (Contribution("miche", "pain", "synonyms", pytest.approx(account.score)),)


def test_shares_inside_a_fusion_name_the_translator(french):
    translator = WordTranslator(TRANSLATIONS)
    inner = Fused([Lexical(*french), FixedSearcher(b=1.0)])
    account = explain_result(Translated(inner, translator, to="fr", called="t"), REQUEST)
    assert account.score == pytest.approx(1 / 61)
    assert {share.source for share in account.list_contributions()} == {"t"}
    assert sum(share.score for share in account.list_contributions()) == pytest.approx(1 / 61)


def test_a_merged_result_has_the_account_of_the_list_it_came_from():
    merged = Merged([FixedSearcher(b=2.0), FixedSearcher(c=8.0, a=4.0)])
    assert explain_result(merged, REQUEST) == opaque_account("listed", 4.0)


def test_a_search_with_feedback_is_explained_by_its_expanded_query():
    inner, texts = FixedSearcher(a=4.0), {"a": Document("a", "lava lava", "en")}
    expanded = Expanded(inner, lambda ids: [texts[id] for id in ids], lambda lang, term: 1.0)
    assert explain_result(expanded, REQUEST) == opaque_account("listed", 4.0)
    assert inner.requests[-1][0][0].text == "red bread lava"


class OneWordTranslator:
    """Knows one word, and no name."""

    def knows(self, source, target):
        return True

    def translate(self, query, to):
        translations = {("delay", "de"): "Verspätung"}
        return [
            Translation(word, (Alternative(translations.get((word, to), word), 1.0),)) for word in query.text.split()
        ]


def test_matches_by_sound_and_inside_compounds_say_so_in_their_shares(build_index):
    documents = [
        # His sound is that of the name as it is written: its stem is зуброт.
        Document("fan", "Зубротев забросил шайбу", "ru"),
        Document("weather", "Погода сегодня хорошая", "ru"),
        Document("late", "Wegen der Zugverspätungen warteten alle", "de"),
        Document("cake", "Kuchen mit Sahne", "de"),
    ]
    index, store = build_index(documents, fields=("text", "inner"))
    clauses = Probabilistic(store, index.statistics)
    searcher = Merged([Translated(clauses, OneWordTranslator(), to=lang, called="names") for lang in ("ru", "de")])

    def explain_text(text, document):
        return explain_result(searcher, Request(Query("q", text, "en"), document, 5))

    (share,) = explain_text("delay", documents[2]).contributions
    assert share[:3] == ("delay", "…verspat", "names, inside")
    by_sound = explain_text("Zubrotev", documents[0])
    assert {(s.query, s.document[0], s.source) for s in by_sound.contributions} == {("Zubrotev", "≈", "by sound")}
    assert sum(share.score for share in by_sound.contributions) == pytest.approx(by_sound.score)


def test_a_reranked_score_is_shared_by_leaving_out_words_or_named_by_its_earlier_place():
    class WordOverlap(ShortestFirst):
        """Counts the words that both have."""

        langs = ("en", "fr")

        def score(self, query, documents):
            return np.array([sum(word in d.text for word in query.text.split()) for d in documents], np.float32)

    texts = {"a": RED_BREAD, "b": Document("b", "rouge", "fr"), "c": Document("c", "pain", "de")}
    reranked = Reranked(FixedSearcher(a=4.0, b=3.0, c=2.0), WordOverlap(), lambda ids: [texts[i] for i in ids], depth=2)

    def explain_text(text, id, lang="en"):
        return explain_result(reranked, Request(Query("q", text, lang), texts[id], 5))

    assert explain_text("rouge pain vin", "a") == ScoreExplanation(
        2.0, (Contribution("rouge", "", "wordoverlap", 1.0), Contribution("pain", "", "wordoverlap", 1.0)), exact=False
    )
    source = "place in the search before"
    # The third of two that are read again stands one below the worst of these, which has nothing of the query.
    assert explain_text("pain", "c") == ScoreExplanation(-1.0, (Contribution("", "", source, -1.0),))
    assert explain_text("rouge", "a", lang="de") == ScoreExplanation(4.0, (Contribution("", "", source, 4.0),))
