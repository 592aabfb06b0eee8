"""Words written together, taken apart into known ones and made of them."""

import pytest

from paragloss.translation.compounds import find_known_parts, join_words, split_compound


def find_parts(term, lang, *known_terms):
    return find_known_parts(term, lang, known_terms.__contains__)


@pytest.mark.parametrize(
    ("term", "known_words", "parts"),
    [
        ("zugzeit", "zug zeit", ["zug", "zeit"]),
        ("zeitzug", "zug zeit", ["zeit", "zug"]),
        ("zugab", "zug ab", []),  # a part has three letters or more
        ("abzug", "zug ab", []),
        ("zugtagweg", "zug tag weg", ["zug", "tag", "weg"]),
        ("zug", "zug", []),
        ("zugzzz", "zug", []),
        ("staubecken", "stau staub becken ecken", ["stau", "becken"]),  # the longest last part
        ("arbeitszeit", "arbeit zeit", ["arbeit", "zeit"]),  # without the linking letter
        ("arbeitxzeit", "arbeit zeit", []),
    ],
)
def test_compounds_are_split_into_known_words(term, known_words, parts):
    assert split_compound(term, "de", set(known_words.split()).__contains__) == parts


def test_words_are_made_with_the_three_commonest_joints():
    assert join_words(["zug"], ["zeit"], "de") == ["zugzeit", "zugszeit", "zugnzeit"]
    assert join_words(["a"], ["b", "c"], "hu") == ["ab", "ac"]
    assert join_words(["zeile"], ["zeit"], "nl", max_linkers=9)[-1] == "zeilenzeit"  # with whatever may join words


@pytest.mark.parametrize(
    ("term", "lang", "known_words", "parts"),
    [
        ("microscope", "en", "micro", []),  # half of the word is not enough
        ("microscope", "en", "micros", ["micros"]),
        ("microscope", "en", "microsco micros", ["microsco"]),
        ("microscope", "en", "microscope", []),  # the word itself is no part of it
        ("tales", "en", "tal", []),  # too short
        ("talkers", "en", "talk", ["talk"]),
        ("zugzeiten", "de", "zug zeiten", ["zug", "zeiten"]),
        ("verspatungen", "de", "verspat", ["verspat"]),  # no compound, but a word with an ending
    ],
)
def test_an_ending_is_removed_if_more_than_half_of_the_word_is_known(term, lang, known_words, parts):
    assert find_parts(term, lang, *known_words.split()) == parts


@pytest.mark.parametrize(
    ("term", "known_words", "expected"),
    [
        ("abcd", "ab cd", ["ab", "cd"]),
        ("abcxde", "abc de", ["abc", "de"]),  # one character between
        ("abcdef", "ab cd ef abcdef", ["abcdef"]),  # the fewest words
        ("abcdef", "abcd cdef ab", ["ab", "cdef"]),  # the fewest characters left out
        ("abcde", "ab cde abc de", ["ab", "cde"]),  # of equals the longest last word, as in compounds
        ("abxy", "ab", ["ab"]),  # half of it
        ("abxyz", "ab", []),  # less than half
        ("xxab", "ab", ["ab"]),
        ("axb", "a b", []),  # single characters say nothing
        ("xabcdefgh", "abcdefgh", ["abcdefgh"]),
        ("xabcdefghi", "abcdefghi", []),  # nine characters are no word
    ],
)
def test_known_words_are_found_in_texts_without_spaces(term, known_words, expected):
    assert find_parts(term, "zh", *known_words.split()) == expected


def test_thai_words_have_three_characters_or_more():
    assert find_parts("abcde", "th", "ab", "cde") == ["cde"]
    assert find_parts("abcde", "zh", "ab", "cde") == ["ab", "cde"]
