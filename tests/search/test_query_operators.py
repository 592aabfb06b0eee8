"""Operators that people type are parsed into words and conditions; what can't be used is explained."""

from datetime import date

import pytest

from paragloss.search.query_operators import (
    MAX_CHECKED_TERMS,
    QueryOperators,
    intersect_filters,
    parse_operators,
)
from paragloss.types import Range


def day(year, month=1, day=1):
    return float(date(year, month, day).toordinal())


@pytest.mark.parametrize(
    "query",
    [
        "how do bees make honey",
        "Tools - Options",
        "e-mail C++ 10-20",
        "temperature -5",
        "error: file not found",
        "--verbose",
        'the 5" screen',
        "-",
        "Array.from() a:b",
    ],
)
def test_a_query_without_operators_is_left_as_it_is(query):
    assert parse_operators(query) == QueryOperators(query)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"garbage collection" java', QueryOperators("garbage collection java", required=("garbage collection",))),
        ("“state  of\tthe art”", QueryOperators("state of the art", required=("state of the art",))),
        ("+Paris hotel -Texas", QueryOperators("Paris hotel", required=("Paris",), excluded=("Texas",))),
        ('ship -"war ship"', QueryOperators("ship", excluded=("war ship",))),
        ("budget lang:de,fr", QueryOperators("budget", languages=("de", "fr"))),
        ("budget LANG:German", QueryOperators("budget", languages=("de",))),
        ('file:*.pdf budget file:"my report*"', QueryOperators("budget", file_patterns=("*.pdf", "my report*"))),
        ("budget after:2020-03", QueryOperators("budget", days=Range(day(2020, 3)))),
        ("budget before:2021 after:2020", QueryOperators("budget", days=Range(day(2020), day(2021), high_open=True))),
    ],
)
def test_operators_become_conditions_and_their_words_are_searched(query, expected):
    assert parse_operators(query) == expected
    assert expected.has_conditions


@pytest.mark.parametrize(
    ("query", "text", "noted"),
    [
        ("budget lang:klingonese", "budget", "lang:klingonese"),
        ("budget before:2020-13-45", "budget", "before:2020-13-45"),
        ("budget after:yesterday", "budget", "after:yesterday"),
        ("budget lang: file:", "budget", "file: was left out: write its value right behind it"),
        ("budget lang:,", "budget", "as in lang:de"),
        ('budget "of the year', 'budget "of the year', "not closed"),
        ("-budget", "-budget", "nothing to look for"),
        ("lang:de after:2020", "lang:de after:2020", "nothing to look for"),
    ],
)
def test_an_operator_that_cannot_be_used_is_explained(query, text, noted):
    parsed = parse_operators(query)
    assert parsed.text == text
    assert not parsed.has_conditions
    assert noted in " ".join(parsed.notes)


def test_terms_beyond_the_limit_are_plain_words():
    parsed = parse_operators(" ".join(f"+word{number}" for number in range(MAX_CHECKED_TERMS + 5)))
    assert len(parsed.required) == MAX_CHECKED_TERMS
    assert f"word{MAX_CHECKED_TERMS + 4}" in parsed.text
    assert len(parsed.notes) == 1


def test_only_patterns_of_extensions_are_extensions():
    assert parse_operators("a file:*.PDF file:*.docx").extensions == ["pdf", "docx"]
    assert parse_operators("a file:*.pdf file:report*").extensions == []
    assert parse_operators("a").extensions == []


def test_two_filters_share_values_and_ranges():
    first = {"meta.kind": ["pdf", "txt"], "meta.dated": [Range(10.0, 20.0)], "lang": ["de"]}
    second = {"meta.kind": ["txt", "md"], "meta.dated": [Range(None, 15.0, high_open=True)]}
    expected = {"meta.kind": ["txt"], "meta.dated": [Range(10.0, 15.0, high_open=True)], "lang": ["de"]}
    assert intersect_filters(first, second) == intersect_filters(second, first) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (Range(10.0, 20.0), Range(12.0, 30.0), Range(12.0, 20.0)),
        (Range(10.0, 20.0, low_open=True), Range(10.0, 20.0, high_open=True), Range(10.0, 20.0, True, True)),
        (Range(None, 20.0), Range(5.0, None), Range(5.0, 20.0)),
    ],
)
def test_the_overlap_of_two_ranges_ends_where_the_narrower_one_does(first, second, expected):
    for pair in ((first, second), (second, first)):
        assert intersect_filters({"day": [pair[0]]}, {"day": [pair[1]]}) == {"day": [expected]}
