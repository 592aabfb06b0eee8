"""What words hold inside, and how names sound: what finds documents whose words no table knows."""

import pytest

from paragloss.analysis import analyzer
from paragloss.translation import default, sounds
from paragloss.translation.name_alternatives import add_sound_alternatives
from paragloss.translation.subword_terms import (
    SOUND_PREFIX,
    find_subword_matches,
    has_spoken_spellings,
    list_subword_terms,
    sounds_of_split_names,
)
from paragloss.types import Alternative, Query, Translation


def list_sounds(terms, lang):
    return [term for term in list_subword_terms(terms, lang) if term[0] == SOUND_PREFIX]


@pytest.mark.parametrize(("lang", "term", "subwords"), [
    ("de", "wasserzug", ["≈WSRZG", "wass", "zug"]),  # an unknown compound has its parts, and a sound as a name has
    ("de", "wass", []),  # known
    ("de", "fenst", []),
    ("de", "1989", []),  # a number
    ("de", "aeiou", []),  # no consonants
    ("de", "xantpol", ["≈KSNTPL"]),
    ("ru", "москв", ["≈MSKV"]),  # a known word that sounds as its English is a name
    ("en", "london", ["≈LNDN"]),  # English names are written with a capital
    ("en", "window", []),
    ("ka", "ქართული", []),  # a language without a model
])  # fmt: skip
def test_a_term_has_its_known_parts_and_the_sound_of_a_name(lang, term, subwords):
    assert list_subword_terms([term], lang) == subwords


@pytest.mark.parametrize(
    ("lang", "word", "part"),
    [("ko", "2008년", "2008"), ("zh", "巴基斯坦政府", "政府"), ("fi", "vesipuistossani", "vesipuisto")],
)
def test_a_long_token_has_the_known_words_in_it(lang, word, part):
    assert part in list_subword_terms([word], lang)


def test_a_name_split_into_pieces_has_one_sound():
    assert {term for term, _ in sounds.list_pronunciations("Provenzano", "en", "zh")} & {
        sound[1:] for sound in list_sounds(["普罗文", "扎", "诺"], "zh")
    }


@pytest.mark.parametrize(
    ("lang", "written"),
    [("ru", "овечкин"), ("ar", "اوفتشكين"), ("hi", "ओवेच्किन"), ("el", "οβετσκιν"), ("ja", "オベチキン")],
)
def test_an_unknown_name_matches_other_scripts_by_sound(lang, written):
    (clause,) = add_sound_alternatives([Translation("Ovechkin", (Alternative("Ovechkin", 1.0),))], "en", lang)
    query_terms = {term for alternative in clause.alternatives for term in alternative.terms}
    assert query_terms & set(list_sounds([written], lang))
    assert sum(alternative.weight for alternative in clause.alternatives) == pytest.approx(1.0)


def test_only_names_have_sounds():
    model = default.open()
    common, name = model.translate(Query("", "water Paris", "en"), "ru")
    assert add_sound_alternatives([common], "en", "ru") == [common]
    (with_sound,) = add_sound_alternatives([name], "en", "ru")
    assert any(a.text[0] == SOUND_PREFIX for a in with_sound.alternatives)
    assert with_sound.alternatives[0].text == name.alternatives[0].text


@pytest.mark.parametrize(("to", "word", "alternatives", "expected"), [
    ("ru", "Ovechkin", {"Ovechkin": 1.0}, {"Ovechkin": 0.5, "≈": 0.5}),
    ("de", "Ovechkin", {"Ovechkin": 1.0}, {"Ovechkin": 0.75, "≈": 0.25}),  # in the same script
    ("ru", "Merkel", {"Меркель": 0.5, "Merkel": 0.5}, {"Меркель": 0.4, "Merkel": 0.4, "≈": 0.2}),
    ("ru", "Merkel", {"a": 0.3, "b": 0.1}, {"a": 0.6, "b": 0.2, "≈": 0.2}),  # all sum to one
    ("de", "Merkel", {"Merkl": 1.0}, {"Merkl": 0.9, "≈": 0.1}),
    ("ru", "window", {"окно": 1.0}, {"окно": 1.0}),
    ("ru", "Angela Merkel", {"Angela Merkel": 1.0}, {"Angela Merkel": 1.0}),  # a phrase has no sound of its own
])  # fmt: skip
def test_the_weight_of_a_sound_depends_on_how_well_the_word_is_known_and_on_scripts(to, word, alternatives, expected):
    clause = Translation(word, tuple(Alternative(text, weight) for text, weight in alternatives.items()))
    (with_sounds,) = add_sound_alternatives([clause], "en", to)
    weights = {}
    for text, weight, _ in with_sounds.alternatives:
        key = SOUND_PREFIX if text.startswith(SOUND_PREFIX) else text
        weights[key] = weights.get(key, 0.0) + weight
    assert weights == pytest.approx(expected)


@pytest.mark.parametrize(("terms", "sound_terms"), [
    # pu, luo, wen, zha, nuo: P, L, N, J, N
    ("普 罗 文 扎 诺", "≈PLN ≈PLNJ ≈LNJ ≈LNJN ≈NJN"),
    ("普罗 文 扎诺", "≈PLN ≈PLNJN ≈NJN"),
    ("普 罗 x 文 扎", ""),  # too few on either side
    ("普罗文扎诺", ""),  # in one piece it is a word like others
    ("普罗文 扎诺普罗 文", "≈PLNJNPL ≈JNPLN"),  # eight characters are no name
])  # fmt: skip
def test_names_in_pieces_have_two_to_four_neighbours_and_three_characters_or_more(terms, sound_terms):
    assert sounds_of_split_names(terms.split(), "zh") == sound_terms.split()


def test_a_name_also_has_the_sound_of_its_written_form():
    """The stemmer takes the first letter of Battuta for a preposition."""
    (span,) = analyzer("ar").spans("بطوطة")
    assert list_sounds([span.term], "ar") == []
    assert list_subword_terms([span.term], "ar", ["بطوطة"]) == ["≈BTT"]
    assert has_spoken_spellings("ar")
    assert not has_spoken_spellings("de")  # where letters are Latin, names mostly stay as they are


def test_a_known_word_has_no_sound_whatever_its_form():
    (span,) = analyzer("ru").spans("книгами")
    assert not [term for term in list_subword_terms([span.term], "ru", ["книгами"]) if term[0] == SOUND_PREFIX]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("de", "Der Wasserzug hatte Zugverspätung wie Xantpol und Fenster am Wasser"),
        ("ko", "2008년 서울에서 대통령"),
        ("zh", "巴基斯坦政府在北京"),
        ("ar", "بطوطة في لندن"),
        ("ru", "Меркель в Москве с книгами"),
    ],
)
def test_finding_subword_matches_equals_listing_all_subword_terms(lang, text):
    tokenized = analyzer(lang).tokenize(text)
    subwords = {
        (subword, position)
        for position, (w, t) in enumerate(zip(tokenized.spell_words(), tokenized.terms, strict=True))
        for subword in list_subword_terms([t], lang, [w] if has_spoken_spellings(lang) else ())
    }
    assert subwords
    assert set(find_subword_matches(tokenized, lang, {subword for subword, _ in subwords})) == subwords
    subword = min(subwords)
    assert set(find_subword_matches(tokenized, lang, {subword[0]})) == {
        candidate for candidate in subwords if candidate[0] == subword[0]
    }
    assert not set(find_subword_matches(tokenized, lang, {"nobody"}))
