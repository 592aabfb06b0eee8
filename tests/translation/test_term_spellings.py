"""How a term is shown: the spelling that is read as it, or else the one met most."""

from collections import Counter

from paragloss.translation.term_spellings import choose_spellings


def test_the_commonest_spelling_that_is_read_as_the_term_stands_for_it():
    written = Counter({("hous", "houses"): 3, ("hous", "house"): 5, ("hous", "housing estate"): 9})
    assert choose_spellings(written, "en") == {"hous": "house"}


def test_where_no_spelling_is_read_as_the_term_the_commonest_stands():
    written = Counter({("hous", "a house and a home"): 2, ("hous", "two houses and homes"): 1})
    assert choose_spellings(written, "en") == {"hous": "a house and a home"}
