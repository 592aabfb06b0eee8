"""Saying more than the query said before it is translated, and going through a third language."""

import pytest
from translators import FixedTranslator, list_weights, translate_weights

from paragloss.errors import LanguageError
from paragloss.formats.dictionaries import Entry
from paragloss.translation.dictionary import Dictionary
from paragloss.translation.expansion import ChainedTranslator, FeedbackExpander, as_clauses, rocchio
from paragloss.types import Alternative, Document, Hit, Query, Translation, Translator

ENGLISH_GERMAN = Dictionary.build(
    [Entry("car", "Auto"), Entry("automobile", "Auto"), Entry("automobile", "Kraftwagen"), Entry("red", "rot")],
    "en",
    "de",
)
GERMAN_FRENCH = Dictionary.build([Entry("Auto", "voiture"), Entry("Auto", "auto"), Entry("rot", "rouge")], "de", "fr")


THESAURUS = FixedTranslator({"car": {"car": 1.0, "automobile": 0.4}, "ferrari": {"red car": 1.0}})


def test_synonyms_are_translated_with_their_weight():
    chained = ChainedTranslator(THESAURUS, ENGLISH_GERMAN)
    assert isinstance(chained, Translator)
    # car: Auto 1; automobile 0.4: Auto and Kraftwagen 0.2 each. Auto would be 1.2.
    assert translate_weights(chained, "red car") == {"red": {"rot": 1.0}, "car": {"Auto": 1.0, "Kraftwagen": 0.2}}
    # a phrase translated word by word is a phrase again
    assert translate_weights(chained, "Ferrari") == {"Ferrari": {"rot Auto": 1.0}}


def test_through_a_third_language_the_best_alternatives_are_kept():
    # Auto 1/2: voiture and auto 1/4 each. Kraftwagen 1/2 is not known and stays.
    expected = {"Kraftwagen": 0.5, "voiture": 0.25, "auto": 0.25}
    chained = ChainedTranslator(ENGLISH_GERMAN, GERMAN_FRENCH, via="de")
    assert translate_weights(chained, "automobile", to="fr") == {"automobile": expected}
    chained = ChainedTranslator(ENGLISH_GERMAN, GERMAN_FRENCH, via="de", most=1)
    assert translate_weights(chained, "automobile", to="fr") == {"automobile": {"Kraftwagen": 0.5}}


def test_a_word_without_translation_stays():
    class Nothing:
        def translate(self, query, to):
            return []

    assert translate_weights(ChainedTranslator(THESAURUS, Nothing()), "car") == {"car": {"car": 1.0}}


DOCUMENTS = {
    "1": Document("1", "volcano lava lava ash", "en"),
    "2": Document("2", "volcano lava mountain", "en"),
    "3": Document("3", "Vulkan Lava", "de"),
}
IDF = {"lava": 2.0, "ash": 3.0, "mountain": 1.0}


class FixedSearcher:
    def __init__(self, *ids):
        self.ids, self.requests = ids, []

    def search(self, queries, k, where=None):
        self.requests.append((queries, k, where))
        return [[Hit(i, 1.0) for i in self.ids[:k]] for _ in queries]


def fetch(ids):
    return [DOCUMENTS[i] for i in ids]


def test_feedback_adds_terms_of_the_first_hits():
    feedback = FeedbackExpander(FixedSearcher("1", "2"), fetch, lambda t: IDF.get(t, 0.5), terms=2, beta=0.6)
    # tf x idf over both: lava 3 x 2 = 6, ash 3, mountain 1; the query's own word, 1, gains 0.6 / 6.
    assert list_weights(feedback.translate(Query("q", "volcano", "en"), "en")) == {
        "volcano": {"volcano": 1.1},
        "lava": {"lava": 0.6},
        "ash": {"ash": 0.3},
    }


def test_documents_of_other_languages_and_empty_rankings_add_no_terms():
    for searcher in (FixedSearcher("3"), FixedSearcher()):
        feedback = FeedbackExpander(searcher, fetch, lambda t: 1.0)
        assert list_weights(feedback.translate(Query("q", "volcano", "en"), "en")) == {"volcano": {"volcano": 1.0}}


def expand_by_feedback(text, *texts, idf=1.0, terms=5, **options):
    documents = [Document(str(i), text_of_document, "en") for i, text_of_document in enumerate(texts)]
    clauses = rocchio(
        as_clauses(Query("q", text, "en")), documents, "en", lambda t: idf, terms=terms, beta=0.6, **options
    )
    return {clause.source: round(clause.weight, 6) for clause in clauses}


def test_feedback_adds_five_terms_of_limited_weight_by_default():
    searcher = FixedSearcher("1", "2")
    documents = {"1": Document("1", "volcano volcano ash ash lava rock smoke fire valley", "en"), "2": DOCUMENTS["3"]}
    feedback = FeedbackExpander(searcher, lambda ids: [documents[i] for i in ids], lambda t: 1.0)
    clauses = feedback.translate(Query("q", "volcano", "en"), "en")
    # ash twice, the others once each, by name
    assert list_weights(clauses[1:]) == {
        "ash": {"ash": 0.3}, "fire": {"fire": 0.15}, "lava": {"lava": 0.15}, "rock": {"rock": 0.15},
        "smoke": {"smoke": 0.15},
    }  # fmt: skip
    assert [clause.required for clause in clauses] == [True] + [False] * 5
    assert searcher.requests == [([Query("q", "volcano", "en")], 20, {"lang": ["en"]})]


def test_of_equal_terms_the_first_by_name_is_added():
    assert expand_by_feedback("volcano", "zebra apple", terms=1) == {"volcano": 1.0, "apple": 0.6}


def test_terms_count_however_common_they_are():
    assert expand_by_feedback("volcano", "lava lava ash", idf=0.01) == {"volcano": 1.0, "lava": 0.6, "ash": 0.3}
    assert expand_by_feedback("volcano", "lava lava ash", idf=0.0) == {"volcano": 1.0}


def test_terms_of_the_query_that_documents_contain_gain_up_to_beta():
    assert expand_by_feedback("volcano island", "volcano volcano volcano lava") == {
        "volcano": 1.6,
        "island": 1.0,
        "lava": 0.6,
    }
    assert expand_by_feedback("volcano island", "volcano", idf=0.5) == {"volcano": 1.6, "island": 1.0}
    assert expand_by_feedback("volcano island", "volcano", alpha=0.5) == {"volcano": 1.1, "island": 0.5}


def test_an_alternative_gains_what_its_rarest_word_does_and_one_without_words_nothing():
    document = Document("1", "volcano lava lava", "en")
    clauses = [Translation(text, (Alternative(text, 1.0),)) for text in ("lava volcano", "lava island", "...")]
    expanded = rocchio(clauses, [document], "en", lambda t: 1.0, terms=1, beta=0.5)
    # There is nothing new, so lava's two are the most: of these volcano has one, island none.
    assert [clause.weight for clause in expanded] == [1.25, 1.0, 1.0]


def test_feedback_is_not_a_translation():
    with pytest.raises(LanguageError, match="stays in the query's language 'en'"):
        FeedbackExpander(FixedSearcher(), fetch, lambda t: 1.0).translate(Query("q", "volcano", "en"), "de")


def test_clauses_of_a_plain_query_are_its_words():
    assert list_weights(as_clauses(Query("q", "the red cars", "en"))) == {"red": {"red": 1.0}, "cars": {"cars": 1.0}}
    own = (Translation("x", (Alternative("y", 0.5),)),)
    assert as_clauses(Query("q", "ignored", "en", own)) == list(own)
