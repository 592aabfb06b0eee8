"""XCNN's Tables 3 and 4: ad-hoc search across languages; rows "known" have only queries of mostly known words.

Theirs: FIRE 2011-12, English topics, Hindi news, everything learned from WMT14 sentences. Ours: MDN web docs
(`papers.page_search`), everything learned from other pages; 10,000 words, 128 dimensions. "known": queries with four
words in five in the vocabulary (Table 4). "XCNN, external data" also trains its hub, English, on the pairs (title, own
text) of all pages that are not searched, as the paper does with queries and clicked titles. "MT" is BM25 with a table's
best word; Spanish also has Apertium where it is installed. FIRE, without such pairs, is a part where its files are
present.
"""

from __future__ import annotations

from papers import original_data, page_search
from papers.corpora import BUDGET, Columns, Rows
from papers.tables.xcnn_table_1 import APERTIUM_ROW, fit_methods
from papers.tables.xcnn_table_2 import FIRE_FILES
from papers.translators import has_apertium
from papers.verdicts import CHANCE_ROW
from paragloss.lab.methods import table as table_method
from paragloss.types import Concept, Run
from paragloss.vocabulary import Vocabulary

DATA, COLUMNS = ("mdn/fr.jsonl.gz", "mdn/mutual_links.tsv.gz"), (*page_search.MEASURES, *BUDGET)
PARTS = ("en-fr", "en-zh", "en-ru", "en-es")
ORIGINAL_PARTS = {"fire en-hi": (*FIRE_FILES, "fire/topics.en")}
KNOWN_WORDS_PER_UNKNOWN = 4


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    lang = part.rpartition("en-")[2]
    task = original_data.make_search_task(part, "en", lang, smoke=smoke)
    train = task.sample_train(seed)
    runs: dict[str, Run] = {CHANCE_ROW: task.search_randomly(seed)}
    budgets: dict[str, Columns] = {}
    for name, model, budget in fit_methods(train, task.list_external_pairs("en"), seed):
        runs[name], budgets[name] = task.search_by_vectors(model), budget
    runs["MT"] = task.search_by_pipeline("table:best,tempered", [("table", table_method.fit(train))])
    if has_apertium(lang):
        runs[APERTIUM_ROW] = task.search_by_pipeline("mt:apertium,tempered")
    rows: Rows = {name: task.measure_run(run) | budgets.get(name, {}) for name, run in runs.items()}
    known_queries = select_known_queries(task, train)
    if known_queries:
        rows |= {f"{name}, known": task.measure_run(run, known_queries) for name, run in runs.items()}
    return rows


def select_known_queries(task: page_search.PageTask, train: list[Concept]) -> list[str]:
    """Select the queries with at least four known words for each unknown one."""
    vocabulary, _ = Vocabulary.build([c.texts["en"] for c in train], "en", min_df=2, max_terms=10_000)
    query_ids = []
    for query in task.queries:
        unknown_count, known_count = len(vocabulary.list_unknown_terms(query.text)), len(vocabulary.ids(query.text))
        if known_count and known_count >= KNOWN_WORDS_PER_UNKNOWN * unknown_count:
            query_ids.append(query.id)
    return query_ids
