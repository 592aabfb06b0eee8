"""XCNN's Table 2: search within one language, BM25 and the monolingual half of XCNN.

Theirs: FIRE 2011-12, Hindi, 100 topics. Ours: MDN web docs (`papers.page_search`). XCNN has 10,000 words and 128
dimensions; BM25 has those words as in the paper, or all. FIRE is a part where its files are present.
"""

from __future__ import annotations

from papers import original_data
from papers.corpora import Rows
from papers.page_search import (
    MEASURES,
    make_page_task,
    measure_run,
    restrict_vocabulary,
    search_by_pipeline,
    search_by_vectors,
    search_randomly,
)
from papers.verdicts import CHANCE_ROW, PaperColumn, PaperTable
from paragloss.lab.methods import xcnn

FIRE_FILES = ("fire/hi", "fire/topics.hi", "fire/qrels", "wmt14/*.en", "wmt14/*.hi")
MINUTES, DATA, COLUMNS = 10, ("mdn/fr.jsonl.gz", "mdn/mutual_links.tsv.gz"), MEASURES
PARTS, ORIGINAL_PARTS = ("fr", "zh", "ru", "es"), {"fire hi": FIRE_FILES}
#: The columns the paper argues with come first: nDCG@1 and MRR, where mono-XCNN is above BM25.
FIGURES = {
    "nDCG@1": {"BM25": 0.2800, "mono-XCNN": 0.3000},
    "MRR": {"BM25": 0.3851, "mono-XCNN": 0.4173},
    "nDCG@10": {"BM25": 0.2758, "mono-XCNN": 0.2233},
}
PAPER = PaperTable(
    "FIRE 2011-12, 100 Hindi topics, 331,599 news articles",
    [PaperColumn(column, {"fire hi": rows, "all": rows}, tolerance=0.01) for column, rows in FIGURES.items()],
)


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    corpus, _, lang = part.rpartition(" ")
    task = original_data.make_fire_task(lang, smoke=smoke) if corpus else make_page_task(lang, lang, smoke=smoke)
    settings = {"dim": 128, "max_terms": 10_000, "epochs": 0, "hub_epochs": 1 if smoke else 5}
    model = xcnn.fit(task.sample_train(seed), hub=lang, seed=seed, **settings)
    terms = set(model.tower(lang).vocabulary.terms)
    return {
        CHANCE_ROW: measure_run(task, search_randomly(task, seed)),
        "BM25, all words": measure_run(task, search_by_pipeline(task, "bm25")),
        "BM25": measure_run(task, search_by_pipeline(restrict_vocabulary(task, terms), "bm25")),
        "mono-XCNN": measure_run(task, search_by_vectors(model, task)),
    }
