"""Saying more than the query said before it is translated, and going through a third language."""

import pytest

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


class Thesaurus:
    """car is also automobile."""

    def knows(self, source, target):
        return source == target

    def translate(self, query, to):
        assert to == query.lang
        more = {"car": (("car", 1.0), ("automobile", 0.4))}
        return [
            Translation(w, tuple(Alternative(*a) for a in more.get(w, [(w, 1.0)]))) for w in query.text.split()
        ]  # fmt: skip


def weights(translations):
    return {t.source: {a.text: round(t.weight * a.weight, 6) for a in t.alternatives} for t in translations}


def test_synonyms_are_translated_with_their_weight():
    chained = ChainedTranslator(Thesaurus(), ENGLISH_GERMAN)
    assert isinstance(chained, Translator)
    # car: Auto 1; automobile 0.4: Auto and Kraftwagen 0.2 each. Auto would be 1.2.
    assert weights(chained.translate(Query("q", "red car", "en"), "de")) == {
        "red": {"rot": 1.0},
        "car": {"Auto": 1.0, "Kraftwagen": 0.2},
    }


def test_through_a_third_language():
    chained = ChainedTranslator(ENGLISH_GERMAN, GERMAN_FRENCH, via="de")
    assert weights(chained.translate(Query("q", "automobile", "en"), "fr")) == {
        # Auto 1/2: voiture and auto 1/4 each. Kraftwagen 1/2 is not known and stays.
        "automobile": {"Kraftwagen": 0.5, "voiture": 0.25, "auto": 0.25}
    }


def test_a_phrase_translated_word_by_word_is_a_phrase_again():
    class Phrase:
        def translate(self, query, to):
            return [Translation(query.text, (Alternative("red car", 1.0),))]

    found = ChainedTranslator(Phrase(), ENGLISH_GERMAN).translate(Query("q", "Ferrari", "en"), "de")
    assert weights(found) == {"Ferrari": {"rot Auto": 1.0}}


def test_a_word_that_leads_nowhere_stays():
    class Nothing:
        def translate(self, query, to):
            return []

    found = ChainedTranslator(Thesaurus(), Nothing()).translate(Query("q", "car", "en"), "de")
    assert weights(found) == {"car": {"car": 1.0}}


def test_only_the_best_ways_are_kept():
    found = ChainedTranslator(ENGLISH_GERMAN, GERMAN_FRENCH, via="de", most=1).translate(
        Query("q", "automobile", "en"), "fr"
    )
    assert weights(found) == {"automobile": {"Kraftwagen": 0.5}}


DOCUMENTS = {
    "1": Document("1", "volcano lava lava ash", "en"),
    "2": Document("2", "volcano lava mountain", "en"),
    "3": Document("3", "Vulkan Lava", "de"),
}
IDF = {"lava": 2.0, "ash": 3.0, "mountain": 1.0}


class Found:
    def __init__(self, *ids):
        self.ids, self.asked = ids, []

    def search(self, queries, k, where=None):
        self.asked.append((queries, k, where))
        return [[Hit(i, 1.0) for i in self.ids[:k]] for _ in queries]


def fetch(ids):
    return [DOCUMENTS[i] for i in ids]


def test_feedback_adds_what_the_first_hits_speak_of():
    feedback = FeedbackExpander(Found("1", "2"), fetch, lambda t: IDF.get(t, 0.5), terms=2, beta=0.6)
    # tf x idf over both: lava 3 x 2 = 6, ash 3, mountain 1; the query's own word, 1, gains 0.6 / 6.
    assert weights(feedback.translate(Query("q", "volcano", "en"), "en")) == {
        "volcano": {"volcano": 1.1},
        "lava": {"lava": 0.6},
        "ash": {"ash": 0.3},
    }


def test_documents_of_another_language_lend_no_words_and_nothing_found_adds_nothing():
    for searcher in (Found("3"), Found()):
        feedback = FeedbackExpander(searcher, fetch, lambda t: 1.0)
        assert weights(feedback.translate(Query("q", "volcano", "en"), "en")) == {"volcano": {"volcano": 1.0}}


def fed(text, *texts, idf=1.0, terms=5, **options):
    documents = [Document(str(i), one, "en") for i, one in enumerate(texts)]
    found = rocchio(
        as_clauses(Query("q", text, "en")), documents, "en", lambda t: idf, terms=terms, beta=0.6, **options
    )
    return {clause.source: round(clause.weight, 6) for clause in found}


def test_feedback_adds_five_terms_that_weigh_a_third_at_most_unless_told_otherwise():
    searcher = Found("1", "2")
    wide = {"1": Document("1", "volcano volcano ash ash lava rock smoke fire valley", "en"), "2": DOCUMENTS["3"]}
    feedback = FeedbackExpander(searcher, lambda ids: [wide[i] for i in ids], lambda t: 1.0)
    found = feedback.translate(Query("q", "volcano", "en"), "en")
    # ash twice, the others once each, by name
    assert weights(found[1:]) == {
        "ash": {"ash": 0.3}, "fire": {"fire": 0.15}, "lava": {"lava": 0.15}, "rock": {"rock": 0.15},
        "smoke": {"smoke": 0.15},
    }  # fmt: skip
    assert [clause.required for clause in found] == [True] + [False] * 5
    assert searcher.asked == [([Query("q", "volcano", "en")], 20, {"lang": ["en"]})]


def test_of_equal_terms_the_first_by_name_is_added():
    assert fed("volcano", "zebra apple", terms=1) == {"volcano": 1.0, "apple": 0.6}


def test_terms_count_however_common_they_are():
    assert fed("volcano", "lava lava ash", idf=0.01) == {"volcano": 1.0, "lava": 0.6, "ash": 0.3}
    assert fed("volcano", "lava lava ash", idf=0.0) == {"volcano": 1.0}


def test_the_query_s_own_terms_gain_beta_at_most_and_only_those_that_were_found():
    assert fed("volcano island", "volcano volcano volcano lava") == {"volcano": 1.6, "island": 1.0, "lava": 0.6}
    assert fed("volcano island", "volcano", idf=0.5) == {"volcano": 1.6, "island": 1.0}
    assert fed("volcano island", "volcano", alpha=0.5) == {"volcano": 1.1, "island": 0.5}


def test_an_alternative_gains_what_its_rarest_word_does_and_one_without_words_nothing():
    document = Document("1", "volcano lava lava", "en")
    clauses = [Translation(text, (Alternative(text, 1.0),)) for text in ("lava volcano", "lava island", "...")]
    found = rocchio(clauses, [document], "en", lambda t: 1.0, terms=1, beta=0.5)
    # There is nothing new, so lava's two are the most: of these volcano has one, island none.
    assert [clause.weight for clause in found] == [1.25, 1.0, 1.0]


def test_feedback_is_not_a_translation():
    with pytest.raises(LanguageError, match="stays in the query's language 'en'"):
        FeedbackExpander(Found(), fetch, lambda t: 1.0).translate(Query("q", "volcano", "en"), "de")


def test_clauses_of_a_plain_query_are_its_words():
    assert weights(as_clauses(Query("q", "the red cars", "en"))) == {"red": {"red": 1.0}, "cars": {"cars": 1.0}}
    own = (Translation("x", (Alternative("y", 0.5),)),)
    assert as_clauses(Query("q", "ignored", "en", own)) == list(own)
