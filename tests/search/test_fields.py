"""Fields of documents, what they say, and how much they count."""

import pytest

from paragloss.bm25 import Layout, term_hashes
from paragloss.index.terms import (
    choose_field_weights,
    count_documents,
    language_of,
    list_own_fields,
    read_field,
    translation_field,
)
from paragloss.statistics import Statistics
from paragloss.types import Document

STATISTICS = Statistics(Layout(("title", "text", "headings", "aliases", "text@en", "inner")))


def test_users_can_name_fields_of_documents_but_not_internal_ones():
    assert list_own_fields(STATISTICS) == ["title", "text", "headings", "aliases"]
    assert translation_field("en") == "text@en"
    assert (language_of("text@en"), language_of("text")) == ("en", "")


@pytest.mark.parametrize(
    ("wanted_weights", "expected"),
    [
        (None, {"title": 1.0, "text": 1.0, "headings": 0.5, "aliases": 1.0}),
        ({"title": 3.0, "text": 0.0}, {"title": 3.0, "headings": 0.5, "aliases": 1.0}),
        ({"title": None}, {"title": 1.0}),  # said without a weight: searched alone
        ({"title": None, "headings": 2.0}, {"title": 1.0, "headings": 2.0}),
    ],
)
def test_weights_of_fields_and_their_defaults(wanted_weights, expected):
    assert choose_field_weights(STATISTICS, wanted_weights) == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://example.org/wiki/Mount_Etna.html?x=1", "wiki Mount Etna html"),
        ("/a%20b/c-d", "a b c d"),
        ("http://[broken/page", "http: [broken page"),  # no address at all is taken as it is
    ],
)
def test_an_address_is_read_as_the_words_in_it(address, expected):
    document = Document("d", "a text", "en", "a title", {"url": address, "strong": "as_it_is"})
    assert read_field(document, "url") == expected
    assert [read_field(document, field) for field in ("text", "title", "strong", "headings")] == [
        "a text",
        "a title",
        "as_it_is",
        "",
    ]


def test_a_translated_field_is_tokenized_in_its_own_language():
    layout = Layout(("text", "text@en"))
    document = Document("d", "les chevaux", "fr", fields={"text@en": "the horses"})
    bags = count_documents(layout, [document]).bags
    assert bags.length.tolist() == [1, 1]  # neither article
    horse = layout.ids(layout.field("text@en"), [term_hashes("fr")["hors"]])
    assert horse[0] in bags.ids  # a term of English, of a document in French
