"""Table 6.5 of Liu's thesis in shape: does the case of translated queries matter?

Data: `bilingual_log`, 2,000 training queries. Our translator doesn't write capitals at the beginning as the thesis'
did, so they are put there, in training and test queries alike, and analysis, which lower-cases, is made to see
capitals (`mark_capitals`). Test queries are translated as the training queries are, as in the thesis.
Run: python recipes/thesis_6_5.py
"""

from __future__ import annotations

from collections.abc import Callable

from bilingual_log import MEASURES, bilingual, log, measured, rerank, table_of, train, translator

from paragloss.translation.querylog import CASES, capitalised, mark_capitals, translate_queries

THESIS = {
    "Bilingual baseline": [0.2996, 0.3813, 0.43881, 0.3382, 0.3716, 0.4446, 0.3622],
    "All to lower case": [0.2650, 0.3697, 0.43437, 0.3163, 0.3660, 0.4353, 0.3436],
    "First word to lower case": [0.2772, 0.3786, 0.4364, 0.3070, 0.3599, 0.4318, 0.3471],
}
NAMES = {"keep": "Bilingual baseline", "lower": "All to lower case", "lower-first": "First word to lower case"}

if __name__ == "__main__":
    made = log()
    translated = bilingual(made)
    asked = translate_queries([made.german[id] for id in made.test], translator(), "en")

    def seen(fold: Callable[[str], str], text: str) -> str:
        return mark_capitals(fold(capitalised(text)))

    rows = {}
    for case, name in NAMES.items():
        queries = [query._replace(text=seen(CASES[case], query.text)) for query in translated.queries]
        model = train(translated._replace(queries=queries))
        test = {query.id: query._replace(text=seen(CASES[case], query.text)) for query in asked}
        rows[name] = [*measured(made, rerank(made, model, test)), len(model.vocabularies["en"])]
    print(table_of("Table 6.5: case of English queries", (*MEASURES, "en terms"), rows, THESIS))
