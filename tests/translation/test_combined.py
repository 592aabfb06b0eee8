"""Several translators, one answer."""

import pytest
from translators import FixedTranslator, translate_weights

from paragloss.errors import InputError, LanguageError
from paragloss.formats.dictionaries import Entry
from paragloss.translation import default
from paragloss.translation.combined import CombinedTranslator, list_known_targets, translate_many
from paragloss.translation.dictionary import Dictionary
from paragloss.types import Query, Translator

GENERAL = Dictionary.build(
    [Entry("server", "Diener"), Entry("server", "Server"), Entry("red", "rot"), Entry("web", "Netz")], "en", "de"
)
OWN = Dictionary.build([Entry("server", "Server"), Entry("web server", "Webserver")], "en", "de")


def combine(text, *translators, **options):
    return translate_weights(CombinedTranslator(translators, **options), text)


def test_alternatives_of_two_translators_weigh_more():
    assert isinstance(CombinedTranslator([GENERAL]), Translator)
    assert combine("server", GENERAL, OWN) == {"server": {"Server": 0.75, "Diener": 0.25}}
    assert combine("server", GENERAL, OWN, weights=[1, 3]) == {"server": {"Server": 0.875, "Diener": 0.125}}


def test_a_word_is_taken_from_the_only_one_that_knows_it_or_stays():
    assert combine("red Xanten", GENERAL, OWN) == {"red": {"rot": 1.0}, "Xanten": {"Xanten": 1.0}}


def test_a_phrase_stands_for_its_words_in_the_order_of_the_query():
    weights_by_source = combine("red web server", GENERAL, OWN)
    assert list(weights_by_source.items()) == [("red", {"rot": 1.0}), ("web server", {"Webserver": 1.0})]


def test_a_compound_stands_beside_its_words():
    own = Dictionary.build([Entry("late", "spät")], "en", "de")
    weights_by_source = combine("layer order", default.open(), own)
    assert list(weights_by_source) == ["layer", "layer order", "order"]
    assert "Schichtreihenfolge" in weights_by_source["layer order"]


def test_a_translator_of_other_languages_is_ignored():
    other = Dictionary.build([Entry("server", "serveur")], "en", "fr")
    assert combine("server", GENERAL, other) == {"server": {"Diener": 0.5, "Server": 0.5}}
    with pytest.raises(LanguageError, match="no dictionary for en->de; this one is en->fr"):
        combine("server", other)


def test_a_weight_for_each():
    with pytest.raises(ValueError, match="1 weights for 2 translators"):
        CombinedTranslator([GENERAL, OWN], weights=[1])


FRENCH = Dictionary.build([Entry("server", "serveur")], "en", "fr")


def test_a_translator_is_asked_which_languages_it_knows():
    assert list_known_targets(GENERAL, "en", ["fr", "de", "en"]) == ["de"]
    assert list_known_targets(CombinedTranslator([GENERAL, FRENCH]), "en", ["fr", "de", "sv"]) == ["fr", "de"]


def test_many_languages_at_once_equal_each_by_itself():
    combined = CombinedTranslator([GENERAL, FRENCH, OWN])
    query = Query("q", "web server", "en")
    by_language = translate_many(combined, query, ["fr", "de"])
    assert by_language == {lang: combined.translate(query, lang) for lang in ("fr", "de")}
    assert [a.text for clause in by_language["fr"] for a in clause.alternatives] == ["web", "serveur"]
    assert translate_many(GENERAL, query, ["de"]) == {"de": GENERAL.translate(query, "de")}
    with pytest.raises(LanguageError, match=r"no dictionary for en->sv; this one is en->de; .*en->fr"):
        translate_many(combined, query, ["de", "sv"])


def test_only_the_best_alternatives_are_kept_with_their_weights():
    assert combine("server", GENERAL, OWN, most=1) == {"server": {"Server": 0.75}}


def test_a_translator_of_weight_zero_is_ignored():
    assert combine("web server", GENERAL, OWN, weights=[1, 0]) == combine("web server", GENERAL)
    with pytest.raises(InputError, match="weight above 0"):
        CombinedTranslator([OWN], weights=[0.0])


def test_each_translator_s_alternatives_share_its_weight_whatever_they_sum_to():
    other = FixedTranslator({"server": {"Server": 0.3, "Ober": 0.1}})
    # 1/2 of (1/2, 1/2) and 1/2 of (3/4, 1/4)
    assert combine("server", GENERAL, other) == {"server": {"Server": 0.625, "Diener": 0.25, "Ober": 0.125}}
