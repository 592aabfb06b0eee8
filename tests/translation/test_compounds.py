"""Words written together, taken apart into known ones and made of them."""

import pytest

from paragloss.translation.compounds import find_known_parts, join_words, split_compound


def find_parts(term, lang, *known_terms):
    return find_known_parts(term, lang, known_terms.__contains__)


def test_no_part_of_a_compound_is_shorter_than_three_letters():
    assert split_compound("zugzeit", "de", {"zug", "zeit"}.__contains__) == ["zug", "zeit"]
    assert split_compound("zeitzug", "de", {"zug", "zeit"}.__contains__) == ["zeit", "zug"]
    assert split_compound("zugab", "de", {"zug", "ab"}.__contains__) == []
    assert split_compound("abzug", "de", {"zug", "ab"}.__contains__) == []
    assert split_compound("zugtagweg", "de", {"zug", "tag", "weg"}.__contains__) == ["zug", "tag", "weg"]


def test_the_split_with_the_longest_last_part_is_taken():
    assert split_compound("staubecken", "de", {"stau", "staub", "becken", "ecken"}.__contains__) == ["stau", "becken"]


def test_linking_letters_between_two_words_are_left_out():
    assert split_compound("arbeitszeit", "de", {"arbeit", "zeit"}.__contains__) == ["arbeit", "zeit"]
    assert split_compound("arbeitxzeit", "de", {"arbeit", "zeit"}.__contains__) == []


def test_words_are_made_with_the_three_commonest_joints():
    assert join_words(["zug"], ["zeit"], "de") == ["zugzeit", "zugszeit", "zugnzeit"]
    assert join_words(["a"], ["b", "c"], "hu") == ["ab", "ac"]
    assert join_words(["zeile"], ["zeit"], "nl", max_linkers=9)[-1] == "zeilenzeit"  # with whatever may join words


def test_an_ending_is_removed_if_more_than_half_of_the_word_is_known():
    assert find_parts("microscope", "en", "micro") == []
    assert find_parts("microscope", "en", "micros") == ["micros"]
    assert find_parts("microscope", "en", "microsco", "micros") == ["microsco"]
    assert find_parts("microscope", "en", "microscop") == ["microscop"]
    assert find_parts("microscope", "en", "microscope") == []  # the word itself is no part of it
    assert find_parts("tales", "en", "tal") == []  # too short
    assert find_parts("talkers", "en", "talk") == ["talk"]


def test_a_compound_that_can_t_be_taken_apart_may_still_have_an_ending():
    assert find_parts("zugzeiten", "de", "zug", "zeiten") == ["zug", "zeiten"]
    assert find_parts("verspatungen", "de", "verspat") == ["verspat"]


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
