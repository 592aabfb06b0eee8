"""Word translations learned from texts that say the same thing: parallel sentences or whole documents.

The learning itself is the product's own (`translation.table_learning`); this file gives it the settings of a method.
"""

from __future__ import annotations

from typing import Annotated

from paragloss.lab.settings import Seed, Setting, checked
from paragloss.translation.table_learning import TableSettings, learn_table
from paragloss.translation.word_table import Table
from paragloss.types import Aligned


@checked
def fit(
    aligned: Aligned,
    *,
    source: Annotated[str, Setting("Learn tables from this language only.")] = "",
    target: Annotated[str, Setting("Learn tables into this language only.")] = "",
    iterations: Annotated[int, Setting("Rounds of expectation maximisation.", min=1, max=1000)] = 5,
    diagonal: Annotated[
        float,
        Setting("Strength of the prior for words at the same relative position; 0 turns it off.", min=0, max=1000),
    ] = 4.0,
    symmetric: Annotated[bool, Setting("Combine both directions; drops pairs that only co-occur.")] = True,
    candidates: Annotated[int, Setting("Candidate translations of a word.", min=1, max=1_000_000)] = 100,
    max_terms: Annotated[
        int, Setting("Maximum number of terms of a document; the most telling ones are used.", min=1)
    ] = 150,
    phrases: Annotated[bool, Setting("Treat neighbouring terms that belong together as one term.")] = True,
    min_probability: Annotated[float, Setting("Minimum probability of a translation.", min=0, max=1)] = 0.01,
    max_alternatives: Annotated[int, Setting("Maximum number of translations of a word.", min=1)] = 20,
    sharpness: Annotated[
        float,
        Setting("Power of the probabilities in a search; 1 leaves them unchanged.", min=0.1, max=10),
    ] = 2.0,
    start: Annotated[str, Setting('Model to train further: "default", or a saved table.')] = "",
    start_weight: Annotated[float, Setting("Weight of the initial table, in counts.", min=0, max=1e6)] = 5.0,
    seed: Seed = 0,
) -> Table:
    """Learn a table for every two languages that share texts, in both directions.

    The settings are explained in `TableSettings`. `seed` is accepted because every method has one; nothing is random.

    :param aligned: concepts with their texts in several languages
    :return: the probabilities of translations in each direction
    """
    settings = TableSettings(
        source, target, iterations, diagonal, symmetric, candidates, max_terms, phrases, min_probability,
        max_alternatives, sharpness, start, start_weight,
    )  # fmt: skip
    return learn_table(aligned, settings)
