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
    source: Annotated[str, Setting("Only tables from this language.")] = "",
    target: Annotated[str, Setting("Only tables into this language.")] = "",
    iterations: Annotated[int, Setting("Rounds of expectation maximisation.", min=1, max=1000)] = 5,
    diagonal: Annotated[
        float, Setting("How much words at similar positions belong together; 0 is not at all.", min=0, max=1000)
    ] = 4.0,
    symmetric: Annotated[
        bool, Setting("Take both directions together; drops what a rare word only stood beside.")
    ] = True,
    candidates: Annotated[int, Setting("How many translations of a word are weighed.", min=1, max=1_000_000)] = 100,
    max_terms: Annotated[int, Setting("Long documents are cut to so many terms.", min=1)] = 150,
    phrases: Annotated[bool, Setting("Learn neighbours that belong together as one term.")] = True,
    min_probability: Annotated[float, Setting("Less likely translations are dropped.", min=0, max=1)] = 0.01,
    max_alternatives: Annotated[int, Setting("The most translations kept of a word.", min=1)] = 20,
    sharpness: Annotated[
        float,
        Setting("What probabilities are raised to when searching; 1 leaves them as they are.", min=0.1, max=10),
    ] = 2.0,
    start: Annotated[
        str, Setting('What to learn on from: "default", the model of the package, or a saved table.')
    ] = "",
    start_weight: Annotated[float, Setting("How many times what the start says has been met.", min=0, max=1e6)] = 5.0,
    seed: Seed = 0,
) -> Table:
    """Learn a table for every two languages that share texts, in both directions.

    The settings are explained in `TableSettings`. `seed` is accepted because every method has one; nothing is random.
    """
    settings = {name: value for name, value in locals().items() if name not in ("aligned", "seed")}
    return learn_table(aligned, TableSettings(**settings))
