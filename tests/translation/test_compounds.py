"""Words written together, taken apart into known ones and made of them."""

import pytest

from paragloss.translation.compounds import find_known_parts, join_words, split_compound


def held(term, lang, *known):
    return find_known_parts(term, lang, known.__contains__)


def test_no_part_of_a_compound_is_shorter_than_three_letters():
    assert split_compound("zugzeit", "de", {"zug", "zeit"}.__contains__) == ["zug", "zeit"]
    assert split_compound("zeitzug", "de", {"zug", "zeit"}.__contains__) == ["zeit", "zug"]
    assert split_compound("zugab", "de", {"zug", "ab"}.__contains__) == []
    assert split_compound("abzug", "de", {"zug", "ab"}.__contains__) == []
    assert split_compound("zugtagweg", "de", {"zug", "tag", "weg"}.__contains__) == ["zug", "tag", "weg"]


def test_of_two_ways_the_longest_last_part_is_taken():
    assert split_compound("staubecken", "de", {"stau", "staub", "becken", "ecken"}.__contains__) == ["stau", "becken"]


def test_what_joins_two_words_is_left_out():
    assert split_compound("arbeitszeit", "de", {"arbeit", "zeit"}.__contains__) == ["arbeit", "zeit"]
    assert split_compound("arbeitxzeit", "de", {"arbeit", "zeit"}.__contains__) == []


def test_words_are_made_with_the_three_commonest_joints():
    assert join_words(["zug"], ["zeit"], "de") == ["zugzeit", "zugszeit", "zugnzeit"]
    assert join_words(["a"], ["b", "c"], "hu") == ["ab", "ac"]
    assert join_words(["zeile"], ["zeit"], "nl", max_linkers=9)[-1] == "zeilenzeit"  # with whatever may join words


def test_an_ending_is_taken_off_where_more_than_half_of_the_word_is_known():
    assert held("microscope", "en", "micro") == []
    assert held("microscope", "en", "micros") == ["micros"]
    assert held("microscope", "en", "microsco", "micros") == ["microsco"]
    assert held("microscope", "en", "microscop") == ["microscop"]
    assert held("microscope", "en", "microscope") == []  # the word itself is no part of it
    assert held("tales", "en", "tal") == []  # too short
    assert held("talkers", "en", "talk") == ["talk"]


def test_a_compound_that_can_t_be_taken_apart_may_still_have_an_ending():
    assert held("zugzeiten", "de", "zug", "zeiten") == ["zug", "zeiten"]
    assert held("verspatungen", "de", "verspat") == ["verspat"]


@pytest.mark.parametrize(
    ("term", "known", "holds"),
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
def test_where_words_are_not_written_apart_they_are_found_inside(term, known, holds):
    assert held(term, "zh", *known.split()) == holds


def test_thai_words_have_three_characters_or_more():
    assert held("abcde", "th", "ab", "cde") == ["cde"]
    assert held("abcde", "zh", "ab", "cde") == ["ab", "cde"]
