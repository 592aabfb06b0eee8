"""XCNN's Tables 3 and 4: ad-hoc search across languages; rows "known" have only queries of mostly known words.

Theirs: FIRE 2011-12, English topics, Hindi news, everything learned from WMT14 sentences. Ours: MDN web docs
(`papers.page_search`), everything learned from other pages; 10,000 words, 128 dimensions. "known": queries with four
words in five in the vocabulary (Table 4). "MT" is BM25 with a table's best word; Spanish also has Apertium where it is
installed. FIRE is a part where its files are present.
"""

from __future__ import annotations

from papers import original_data
from papers.corpora import Rows
from papers.page_search import (
    MEASURES,
    PageTask,
    make_page_task,
    measure_run,
    search_by_pipeline,
    search_by_vectors,
    search_randomly,
)
from papers.tables.xcnn_table_1 import APERTIUM_ROW, COMMON_SETTINGS, METHODS, has_apertium
from papers.tables.xcnn_table_2 import FIRE_FILES
from papers.verdicts import CHANCE_ROW, PaperColumn, PaperTable
from paragloss.lab.methods import table as table_method
from paragloss.types import Concept, Run
from paragloss.vocabulary import Vocabulary

MINUTES, DATA, COLUMNS = 40, ("mdn/fr.jsonl.gz", "mdn/mutual_links.tsv.gz"), MEASURES
PARTS = ("en-fr", "en-zh", "en-ru", "en-es")
ORIGINAL_PARTS = {"fire en-hi": (*FIRE_FILES, "fire/topics.en")}
KNOWN_WORDS_PER_UNKNOWN = 4
FIGURES = {"CL-LSI": 0.0420, "OPCA": 0.0663, "S2Net from OPCA": 0.0734, "BAE": 0.1057, "MT": 0.1273, "XCNN": 0.1312}
PAPER = PaperTable(
    "FIRE 2011-12, 100 English topics, Hindi news; everything learned from WMT14 sentences",
    [PaperColumn("nDCG@10", {"fire en-hi": FIGURES, "all": FIGURES}, tolerance=0.01)],
)


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    corpus, _, lang = part.rpartition("en-")
    task = original_data.make_fire_task("en", smoke=smoke) if corpus else make_page_task("en", lang, smoke=smoke)
    train = task.sample_train(seed)
    runs: dict[str, Run] = {CHANCE_ROW: search_randomly(task, seed)}
    for name, (fit, settings) in METHODS.items():
        runs[name] = search_by_vectors(fit(train, seed=seed, **COMMON_SETTINGS, **settings), task)
    runs["MT"] = search_by_pipeline(task, "table:best", [("table", table_method.fit(train))])
    if has_apertium(lang):
        runs[APERTIUM_ROW] = search_by_pipeline(task, "mt:apertium")
    rows: Rows = {name: measure_run(task, run) for name, run in runs.items()}
    known_queries = select_known_queries(task, train)
    if known_queries:
        rows |= {f"{name}, known": measure_run(task, run, known_queries) for name, run in runs.items()}
    return rows


def select_known_queries(task: PageTask, train: list[Concept]) -> list[str]:
    """Select the queries with at least four known words for each unknown one."""
    vocabulary, _ = Vocabulary.build([c.texts["en"] for c in train], "en", min_df=2, max_terms=10_000)
    query_ids = []
    for query in task.queries:
        unknown, known = len(vocabulary.unknown(query.text)), len(vocabulary.ids(query.text))
        if known and known >= KNOWN_WORDS_PER_UNKNOWN * unknown:
            query_ids.append(query.id)
    return query_ids
