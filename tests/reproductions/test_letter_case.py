"""Capital letters of Table 6.5 of the thesis."""

from papers.tables.thesis_clicks import fold_case, mark_capitals
from paragloss.analysis import analyzer


def test_the_first_letter_is_capitalised_and_the_rest_stays():
    assert fold_case(str, "live Video") == mark_capitals("Live Video")


def test_marked_capitals_survive_analysis():
    tokenize = analyzer("en").terms
    low, high = tokenize(mark_capitals("apple pie")), tokenize(mark_capitals("Apple pie"))
    assert low == tokenize("apple pie")
    assert low[0] != high[0]
    assert low[1] == high[1]
