"""Which of a word's alternatives are used."""

from paragloss.translation.alternative_selection import SelectiveTranslator
from paragloss.types import Alternative, Query, Translation


class ThreeAlternativesTranslator:
    def knows(self, source, target):
        return True

    def translate(self, query, to):
        three = (Alternative("Bank", 0.6), Alternative("Ufer", 0.3), Alternative("Damm", 0.1))
        return [Translation(word, three) for word in query.text.split()]


def choose_alternatives(*choose, **options):
    (clause,) = SelectiveTranslator(ThreeAlternativesTranslator(), *choose, **options).translate(
        Query("q", "bank", "en"), "de"
    )
    return [a[:2] for a in clause.alternatives]


def test_all_alternatives_are_kept_by_default():
    assert choose_alternatives() == [("Bank", 0.6), ("Ufer", 0.3), ("Damm", 0.1)]


def test_the_number_of_alternatives_can_be_limited():
    assert choose_alternatives(top=2) == [("Bank", 0.6), ("Ufer", 0.3)]


def test_a_single_chosen_alternative_has_the_whole_weight():
    assert choose_alternatives("best") == [("Bank", 1.0)]
    assert {choose_alternatives("random", seed=seed)[0] for seed in range(30)} == {
        ("Bank", 1.0),
        ("Ufer", 1.0),
        ("Damm", 1.0),
    }
    assert {choose_alternatives("random", top=2, seed=seed)[0] for seed in range(30)} == {("Bank", 1.0), ("Ufer", 1.0)}
    assert choose_alternatives("random") == choose_alternatives("random", seed=0) == choose_alternatives("random")
