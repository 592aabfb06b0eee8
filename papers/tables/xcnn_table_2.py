"""XCNN's Table 2: search within one language, BM25 and the monolingual half of XCNN.

Theirs: FIRE 2011-12, Hindi, 100 topics. Ours: MDN web docs (`papers.page_search`). XCNN has 10,000 words and 128
dimensions; BM25 has those words as in the paper, or all. "external data": pairs of a page's title and its text, in the
place of a title and its best match. FIRE is a part where its files are present.
"""

from __future__ import annotations

from functools import partial

from papers import original_data, page_search
from papers.corpora import BUDGET, Rows, fit_with_budget
from papers.tables.xcnn_table_1 import MAX_HUB_EPOCHS
from papers.verdicts import CHANCE_ROW
from paragloss.lab.methods import xcnn

FIRE_FILES = ("fire/hi", "fire/topics.hi", "fire/qrels", "wmt14/*.en", "wmt14/*.hi")
DATA, COLUMNS = ("mdn/fr.jsonl.gz", "mdn/mutual_links.tsv.gz"), (*page_search.MEASURES, *BUDGET)
PARTS, ORIGINAL_PARTS = ("fr", "zh", "ru", "es"), {"fire hi": FIRE_FILES}


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    lang = part.rpartition(" ")[2]
    task = original_data.make_search_task(part, lang, lang, smoke=smoke)
    settings = {"dim": 128, "max_terms": 10_000, "epochs": 0, "hub_epochs": 1 if smoke else MAX_HUB_EPOCHS}
    train = task.sample_train(seed)
    fit = partial(xcnn.fit, hub=lang, seed=seed, **settings)
    model, budget = fit_with_budget(fit, train)
    terms = set(model.tower(lang).vocabulary.terms)
    rows: Rows = {
        CHANCE_ROW: task.measure_run(task.search_randomly(seed)),
        "BM25, all words": task.measure_run(task.search_by_pipeline("bm25")),
        "BM25": task.measure_run(task.restrict_vocabulary(terms).search_by_pipeline("bm25")),
        "mono-XCNN": task.measure_run(task.search_by_vectors(model)) | budget,
    }
    clicks = task.list_external_pairs(lang)
    if clicks:
        model, budget = fit_with_budget(fit, train, clicks=clicks)
        rows["mono-XCNN, external data"] = task.measure_run(task.search_by_vectors(model)) | budget
    return rows
