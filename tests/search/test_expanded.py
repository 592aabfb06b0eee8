"""Searching twice: the first hits lend the query their words."""

import pytest
from fakes import FixedSearcher

from paragloss.search.expanded import Expanded
from paragloss.types import Alternative, Document, Hit, Query, Translation

DOCUMENTS = {
    "eruption": Document("eruption", "Vulkan Lava Lava Asche", "de"),
    "geology": Document("geology", "Lava Gestein", "de"),
    "money": Document("money", "Bank Geld", "de"),
    "english": Document("english", "volcano magma magma magma", "en"),
}


class WordOverlapSearcher:
    """Scores a document by the weight of the query's words in it."""

    def search(self, queries, k, where=None):
        return [self.rank_query(query)[:k] for query in queries]

    def rank_query(self, query):
        words = dict.fromkeys(query.text.split(), 1.0)
        if query.clauses:
            words = {a.text: a.weight for clause in query.clauses for a in clause.alternatives}
        scores = {d.id: sum(words.get(w, 0) for w in d.text.split()) for d in DOCUMENTS.values()}
        hits = [Hit(i, s) for i, s in scores.items() if s > 0]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))


def make_expanded(searcher=None, **options):
    read_documents = lambda ids: [DOCUMENTS[i] for i in ids]  # noqa: E731
    return Expanded(searcher or WordOverlapSearcher(), read_documents, lambda lang, term: 1.0, **options)


@pytest.mark.parametrize(("text", "expected"), [("Vulkan", ["eruption", "geology"]), ("Nichts", [])])
def test_a_document_without_the_querys_word_is_found_through_its_neighbours(text, expected):
    assert [hit.id for hit in make_expanded().search([Query("q", text, "de")], 10)[0]] == expected


def test_weights_are_alpha_for_the_query_and_up_to_beta_for_the_new():
    expanded_query = make_expanded(alpha=0.8, beta=0.4).expand(Query("q", "Vulkan", "de"), [Hit("eruption", 1.0)])
    weights = {c.source: c.weight for c in expanded_query.clauses}
    # Lava twice, Asche once; Vulkan once as well, which the document adds to what the query gave it.
    assert weights == pytest.approx({"Vulkan": 1.0, "Lava": 0.4, "Asche": 0.2})
    assert expanded_query.text == "Vulkan Lava Asche"


def test_clauses_of_a_translated_query_keep_their_alternatives_and_gain_weight_from_documents():
    own = Translation("lava", (Alternative("Lava", 0.7), Alternative("Magma", 0.3)))
    expanded_query = make_expanded(terms=1).expand(Query("q", "Lava", "de", (own,)), [Hit("eruption", 1.0)])
    # Lava is there twice, Asche, the best new word, once: the clause gains all of beta.
    assert expanded_query.clauses[0].alternatives == own.alternatives
    assert expanded_query.clauses[0].weight == 1.3
    assert [c.required for c in expanded_query.clauses] == [True, False]
    assert [c.source for c in expanded_query.clauses[1:]] == ["Asche"]


def test_documents_of_other_languages_lend_no_words():
    expanded_query = make_expanded().expand(Query("q", "volcano", "de"), [Hit("english", 1.0)])
    assert [c.source for c in expanded_query.clauses] == ["volcano"]


@pytest.mark.parametrize(("options", "depth"), [({}, 10), ({"depth": 1}, 1)])
def test_feedback_reads_no_more_documents_than_its_depth(options, depth):
    inner = FixedSearcher(eruption=2.0, money=1.0)
    make_expanded(inner, **options).search([Query("q", "Vulkan", "de")], 5)
    assert [k for _, k, _ in inner.requests] == [depth, 5]
    words = {clause.source for clause in inner.requests[1][0][0].clauses}
    assert words == {"Vulkan", "Lava", "Asche"} | ({"Bank", "Geld"} if depth > 1 else set())
