"""Liu's Tables 6.11 and 6.12, Figure 6.9: how much does the quality of a translated test query matter?

Data: `paragloss.lab.recipes.searchlog`, 2,000 training queries, 1,000 test queries. The thesis' author judged 265
translations by hand. Here the English short description, written by a person, stands for the corrected query, and the
category is the share of its terms that the translation has: all (good), half or more (imperfect), fewer (bad), none
(not correct); a query none of whose words changed in translation is untranslatable. Categories of fewer than ten
queries are left out.
"""

from __future__ import annotations

from typing import Any

from paragloss.analysis import analyzer
from paragloss.evaluation.report import panels
from paragloss.lab.kernel_analysis import unknown_words
from paragloss.lab.query_log import translate_queries
from paragloss.lab.recipes import searchlog
from paragloss.lab.recipes.runner import Measured, Results
from paragloss.lab.recipes.searchlog import SMOKE, Size, in_english, log, measured, rerank, train

MINUTES, COLUMNS = 4, (*searchlog.MEASURES, "queries", "unknown words")
DATA, PARTS = searchlog.DATA, ("en-de",)
CATEGORIES = ("Good", "Imperfect", "Bad", "Not correct", "Untranslatable")
FEWEST = 10


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    made = log(SMOKE if smoke else Size(2000))
    one, two = train(made.train, seed=seed), train(in_english(made, made.train), seed=seed)
    native = [made.native[id] for id in made.test if made.shown[id]]
    translated = {q.id: q for q in translate_queries(native, searchlog.translator(made), "en")}
    texts = (made.native, translated, made.english)
    kinds = {query.id: category(*(some[query.id].text for some in texts)) for query in native}
    whole = {**made.native, **translated}  # those that found nothing are asked as they are, and count nowhere
    asked = {"monolingual": (one, made.native), "bilingual": (two, whole), "corrected": (two, made.english)}
    runs = {name: rerank(made, model, queries) for name, (model, queries) in asked.items()}
    rows: Measured = {}
    for kind in CATEGORIES:
        among = [id for id, found in kinds.items() if found == kind]
        if len(among) < (1 if smoke else FEWEST):
            continue
        for name, (model, queries) in asked.items():
            unknown = unknown_words(model, [queries[id] for id in among])
            rows[f"{kind}, {name}"] = {
                **measured(made, runs[name], among),
                "queries": float(len(among)),
                "unknown words": unknown.unknown / max(unknown.words, 1),
            }
    return rows


def category(source: str, translated: str, corrected: str) -> str:
    terms = analyzer("en").terms
    made, wanted = set(terms(translated)), set(terms(corrected))
    if made == set(terms(source)):
        return "Untranslatable"
    share = len(made & wanted) / max(len(wanted), 1)
    return "Good" if share == 1 else "Imperfect" if share >= 0.5 else "Bad" if share > 0 else "Not correct"


def plot(results: Results) -> dict[str, Any]:
    """Figure 6.9: how many queries each category has."""
    (rows,) = results.values.values()
    found = {row.split(",")[0]: columns["queries"][0] for row, columns in rows.items()}
    figure, (axis,) = panels(1, width=5)
    axis.bar(list(found), list(found.values()))
    axis.set(title="Figure 6.9", ylabel="queries")
    return {"figure-6-9.svg": figure}
