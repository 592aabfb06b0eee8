"""Which of a word's alternatives are used."""

from paragloss.translation.alternative_selection import SelectiveTranslator
from paragloss.types import Alternative, Query, Translation


class Fixed:
    def knows(self, source, target):
        return True

    def translate(self, query, to):
        three = (Alternative("Bank", 0.6), Alternative("Ufer", 0.3), Alternative("Damm", 0.1))
        return [Translation(word, three) for word in query.text.split()]


def chosen(*choose, **options):
    (clause,) = SelectiveTranslator(Fixed(), *choose, **options).translate(Query("q", "bank", "en"), "de")
    return [a[:2] for a in clause.alternatives]


def test_every_alternative_unless_told_otherwise():
    assert chosen() == [("Bank", 0.6), ("Ufer", 0.3), ("Damm", 0.1)]


def test_only_so_many_of_the_best():
    assert chosen(top=2) == [("Bank", 0.6), ("Ufer", 0.3)]


def test_the_best_or_one_by_lot_has_the_whole_weight():
    assert chosen("best") == [("Bank", 1.0)]
    assert {chosen("random", seed=seed)[0] for seed in range(30)} == {("Bank", 1.0), ("Ufer", 1.0), ("Damm", 1.0)}
    assert {chosen("random", top=2, seed=seed)[0] for seed in range(30)} == {("Bank", 1.0), ("Ufer", 1.0)}
    assert chosen("random") == chosen("random", seed=0) == chosen("random")
