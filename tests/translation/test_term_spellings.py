"""How a term is shown: the spelling that is read as it, or else the one met most."""

from collections import Counter

from paragloss.translation.term_spellings import choose_spellings


def test_a_term_is_spelled_by_the_commonest_form_that_is_tokenized_into_it():
    written = Counter({("hous", "houses"): 3, ("hous", "house"): 5, ("hous", "housing estate"): 9})
    assert choose_spellings(written, "en") == {"hous": "house"}


def test_a_term_without_such_a_form_is_spelled_by_the_commonest():
    written = Counter({("hous", "a house and a home"): 2, ("hous", "two houses and homes"): 1})
    assert choose_spellings(written, "en") == {"hous": "a house and a home"}
