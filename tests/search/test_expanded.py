"""Searching twice: the first hits lend the query their words."""

import pytest
from fakes import Listed

from paragloss.search.expanded import Expanded
from paragloss.types import Alternative, Document, Hit, Query, Translation

DOCUMENTS = {
    "eruption": Document("eruption", "Vulkan Lava Lava Asche", "de"),
    "geology": Document("geology", "Lava Gestein", "de"),
    "money": Document("money", "Bank Geld", "de"),
    "english": Document("english", "volcano magma magma magma", "en"),
}


class Overlap:
    """Scores a document by the weight of the query's words in it."""

    def __init__(self):
        self.asked = []

    def search(self, queries, k, where=None):
        self.asked += queries
        return [self.one(query)[:k] for query in queries]

    def one(self, query):
        words = dict.fromkeys(query.text.split(), 1.0)
        if query.clauses:
            words = {a.text: a.weight for clause in query.clauses for a in clause.alternatives}
        scores = {d.id: sum(words.get(w, 0) for w in d.text.split()) for d in DOCUMENTS.values()}
        hits = [Hit(i, s) for i, s in scores.items() if s > 0]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))


def expanded(**options):
    return Expanded(Overlap(), lambda ids: [DOCUMENTS[i] for i in ids], lambda lang, term: 1.0, **options)


def test_a_document_without_the_querys_word_is_found_through_its_neighbours():
    query = Query("q", "Vulkan", "de")
    assert [hit.id for hit in Overlap().search([query], 10)[0]] == ["eruption"]
    assert [hit.id for hit in expanded().search([query], 10)[0]] == ["eruption", "geology"]


def test_weights_are_alpha_for_the_query_and_up_to_beta_for_the_new():
    again = expanded(alpha=0.8, beta=0.4).expand(Query("q", "Vulkan", "de"), [Hit("eruption", 1.0)])
    found = {c.source: c.weight for c in again.clauses}
    # Lava twice, Asche once; Vulkan once as well, which the document adds to what the query gave it.
    assert found == pytest.approx({"Vulkan": 1.0, "Lava": 0.4, "Asche": 0.2})
    assert again.text == "Vulkan Lava Asche"


def test_clauses_of_a_translated_query_stay_and_their_words_gain_what_documents_say():
    own = Translation("lava", (Alternative("Lava", 0.7), Alternative("Magma", 0.3)))
    again = expanded(terms=1).expand(Query("q", "Lava", "de", (own,)), [Hit("eruption", 1.0)])
    # Lava is there twice, Asche, the best new word, once: the clause gains all of beta.
    assert again.clauses[0].alternatives == own.alternatives
    assert again.clauses[0].weight == 1.3
    assert [c.required for c in again.clauses] == [True, False]
    assert [c.source for c in again.clauses[1:]] == ["Asche"]


def test_documents_of_other_languages_lend_no_words():
    again = expanded().expand(Query("q", "volcano", "de"), [Hit("english", 1.0)])
    assert [c.source for c in again.clauses] == ["volcano"]


def test_a_query_that_finds_nothing_stays_as_it_is():
    assert expanded().search([Query("q", "Nichts", "de")], 10) == [[]]


def test_only_the_first_hits_count():
    # Both "eruption" and "money" match with one word each; ties go by id, so "eruption" alone is looked at.
    searcher = Overlap()
    wrapped = Expanded(searcher, lambda ids: [DOCUMENTS[i] for i in ids], lambda lang, term: 1.0, depth=1)
    wrapped.search([Query("q", "Vulkan Geld", "de")], 10)
    assert {c.source for c in searcher.asked[1].clauses} == {"Vulkan", "Geld", "Lava", "Asche"}


def test_ten_documents_are_looked_at_unless_told():
    inner = Listed()
    for options in ({}, {"depth": 3}):
        Expanded(inner, lambda ids: [], lambda lang, term: 1.0, **options).search([Query("q", "Vulkan", "de")], 5)
    assert [k for _, k, _ in inner.asked] == [10, 5, 3, 5]
