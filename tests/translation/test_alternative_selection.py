"""Which of a word's alternatives are used."""

import pytest
from translators import FixedTranslator, translate_weights

from paragloss.translation.alternative_selection import SelectiveTranslator

BANK = FixedTranslator({"bank": {"Bank": 0.6, "Ufer": 0.3, "Damm": 0.1}})


def select_alternatives(*choose, **options):
    return translate_weights(SelectiveTranslator(BANK, *choose, **options), "bank")["bank"]


@pytest.mark.parametrize(
    ("options", "alternatives"),
    [
        ({}, {"Bank": 0.6, "Ufer": 0.3, "Damm": 0.1}),
        ({"top": 2}, {"Bank": 0.6, "Ufer": 0.3}),
        ({"choose": "best"}, {"Bank": 1.0}),  # a single one has the whole weight
    ],
)
def test_all_the_best_or_the_best_few_alternatives_are_used(options, alternatives):
    assert select_alternatives(**options) == alternatives


def test_a_random_alternative_has_the_whole_weight_and_is_the_same_every_time():
    drawn = [select_alternatives("random", seed=seed) for seed in range(30)]
    assert {frozenset(one.items()) for one in drawn} == {frozenset({(text, 1.0)}) for text in ("Bank", "Ufer", "Damm")}
    assert drawn[0] == select_alternatives("random", seed=0) == select_alternatives("random")
    assert {text for seed in range(30) for text in select_alternatives("random", top=2, seed=seed)} == {"Bank", "Ufer"}
