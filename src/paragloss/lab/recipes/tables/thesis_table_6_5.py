"""Liu's Table 6.5: does the case of translated queries matter?

Data: `lab.recipes.searchlog`, 2,000 training queries. Our translator doesn't write capitals at the beginning as
the thesis' did, so they are put there, in training and test queries alike, and analysis, which lower-cases, is made
to see capitals (`query_log.mark_capitals`). Test queries are translated as the training queries are, as in the thesis.
"""

from __future__ import annotations

from collections.abc import Callable

from paragloss.lab.query_log import CASES, capitalised, mark_capitals, translate_queries
from paragloss.lab.recipes import bilingual
from paragloss.lab.recipes.bilingual import in_english, measured, rerank, train
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.searchlog import SMOKE, Size, log

MINUTES, COLUMNS = 5, (*bilingual.MEASURES, "English terms")
DATA, PARTS = bilingual.DATA, ("en-de",)
NAMES = {"keep": "Bilingual baseline", "lower": "All to lower case", "lower-first": "First word to lower case"}


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    made = log(SMOKE if smoke else Size(2000))
    translated = in_english(made, made.train)
    asked = translate_queries([made.native[id] for id in made.test], bilingual.translator(made), "en")
    rows: Measured = {}
    for case, name in NAMES.items():
        queries = [query._replace(text=seen(CASES[case], query.text)) for query in translated.queries]
        model = train(translated._replace(queries=queries), seed=seed)
        test = {query.id: query._replace(text=seen(CASES[case], query.text)) for query in asked}
        terms = float(len(model.vocabularies["en"]))
        rows[name] = {**measured(made, rerank(made, model, test)), "English terms": terms}
    return rows


def seen(fold: Callable[[str], str], text: str) -> str:
    """As a machine writes it, then folded; capitals that are left are another word."""
    return mark_capitals(fold(capitalised(text)))
