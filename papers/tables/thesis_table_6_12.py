"""Liu's Tables 6.11 and 6.12, Figure 6.9: how much does the quality of a translated test query matter?

Data: `papers.simulated_log`, 2,000 training queries, and ten times as many; 1,000 test queries. The thesis' author
judged 265 translations by hand. Here the English short description, written by a person, is the corrected query, and
the category is the share of its terms that the translation has: all (good), half or more (imperfect), fewer (bad),
none (not correct); a query none of whose words changed in translation is untranslatable. Categories of fewer than ten
queries are left out.
"""

from __future__ import annotations

from typing import Any

from papers import simulated_log
from papers.corpora import Rows, training_budget
from papers.kernel_analysis import measure_unknown_share
from papers.runner import Results
from papers.simulated_log import SearchLog, simulate_log_of_part, train_ranker
from paragloss.analysis import analyzer
from paragloss.evaluation.report import panels
from paragloss.lab.query_log import translate_queries
from paragloss.types import Query

COLUMNS = (*simulated_log.COLUMNS, "queries", "unknown words")
DATA = (*simulated_log.DATA, "ddtp/da.jsonl.gz")
PARTS = ("en-de", "en-da, 20,000 queries")
CATEGORIES = ("Good", "Imperfect", "Bad", "Not correct", "Untranslatable")
MIN_QUERIES = 10


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    log = simulate_log_of_part(part, smoke=smoke)
    monolingual = train_ranker(log, log.train, seed=seed)
    bilingual = train_ranker(log, log.translate_to_english(log.train), seed=seed)
    answered = [log.native[query_id] for query_id in log.test_ids if log.results[query_id]]
    translated = {q.id: q for q in translate_queries(answered, log.fit_translator(), "en")}
    systems = {
        "monolingual": (monolingual, log.native),
        "bilingual": (bilingual, {**log.native, **translated}),  # queries without results count nowhere
        "corrected": (bilingual, log.english),
    }
    runs = {name: log.rerank(model, queries) for name, (model, queries) in systems.items()}
    rows = log.measure_random_order(seed)
    for category, query_ids in group_by_category(log, answered, translated).items():
        if len(query_ids) < (1 if smoke else MIN_QUERIES):
            continue
        for name, (model, queries) in systems.items():
            rows[f"{category}, {name}"] = {
                **log.measure_run(runs[name], query_ids),
                "queries": float(len(query_ids)),
                "unknown words": measure_unknown_share(model, [queries[query_id] for query_id in query_ids]),
                **training_budget(model.meta),
            }
    return rows


def group_by_category(log: SearchLog, queries: list[Query], translated: dict[str, Query]) -> dict[str, list[str]]:
    """Group queries by the quality of their translation."""
    groups: dict[str, list[str]] = {category: [] for category in CATEGORIES}
    for query in queries:
        category = categorize(query.text, translated[query.id].text, log.english[query.id].text)
        groups[category].append(query.id)
    return groups


def categorize(source: str, translated: str, corrected: str) -> str:
    """Judge a translation by the share of the corrected query's terms that it has."""
    terms = analyzer("en").terms
    translated_terms, corrected_terms = set(terms(translated)), set(terms(corrected))
    if translated_terms == set(terms(source)):
        return "Untranslatable"
    share = len(translated_terms & corrected_terms) / max(len(corrected_terms), 1)
    if share == 1:
        return "Good"
    if share >= 0.5:
        return "Imperfect"
    return "Bad" if share > 0 else "Not correct"


def plot(results: Results) -> dict[str, Any]:
    """Draw Figure 6.9: the number of queries in each category."""
    (rows,) = results.values.values()
    counts = {row.split(",")[0]: columns["queries"][0] for row, columns in rows.items() if "queries" in columns}
    figure, (axis,) = panels(1, width=5)
    axis.bar(list(counts), list(counts.values()))
    axis.set(title="Figure 6.9", ylabel="queries")
    return {"figure-6-9.svg": figure}
