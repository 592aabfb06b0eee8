"""Liu's Tables 6.1 and 6.2: K-NRM trained on one language and asked in translation, or trained on two.

Data: `papers.simulated_log`; 4,000 training queries in German (1,500 in Spanish) where the thesis had 91,313.
Dictionary: MUSE, best translation. Machine: in German a table learned from the training packages' short descriptions,
in Spanish Apertium where it is installed; it also translates the training queries. "As shown" is BM25 with the native
query. Rows that the thesis does not have: pairs by difference of score, and a start from random word vectors.
"unknown words" is the share of the test queries' words that the model was not trained on (thesis: 16 % and 2 %).
"""

from __future__ import annotations

from papers import simulated_log
from papers.corpora import Rows
from papers.kernel_analysis import measure_unknown_share
from papers.simulated_log import LEARNING_RATE_FROM_RANDOM, SearchLog, simulate_log, train_ranker
from papers.translators import build_muse_dictionary, has_apertium, translate_by_apertium
from paragloss.encoders.kernel_ranker import Knrm
from paragloss.lab.query_log import translate_queries
from paragloss.types import Hit, Query, Translator

COLUMNS = (*simulated_log.COLUMNS, "unknown words")
PARTS = ("en-de", "en-es")
DATA = (*simulated_log.DATA, "ddtp/es.jsonl.gz", "muse/en-de.tsv.gz", "muse/en-es.tsv.gz")
#: A pair is learned from if the click-through rates differ by this many thousandths.
MIN_DIFFERENCE = 100


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    lang = part.removeprefix("en-")
    log = simulate_log(4000, lang, smoke=smoke)
    dictionary = build_muse_dictionary(lang, choose="best")
    machine = choose_machine(log)
    models = train_models(log, machine, seed)
    bm25_run = {q: [Hit(doc_id, -float(rank)) for rank, doc_id in enumerate(log.results[q])] for q in log.test_ids}
    systems: dict[str, tuple[Knrm, dict[str, Query]]] = {
        "Monolingual baseline": (models["monolingual"], log.native),
        "Monolingual, pairs by difference of score": (models["monolingual, by difference"], log.native),
        "Dictionary translation": (models["monolingual"], translate_test_queries(log, dictionary)),
        "Machine translation": (models["monolingual"], translate_test_queries(log, machine)),
        "Bilingual baseline": (models["bilingual"], log.english),
        "Bilingual, random start": (models["bilingual, random start"], log.english),
        "Bilingual, pairs by difference of score": (models["bilingual, by difference"], log.english),
    }
    rows: Rows = {**log.measure_random_order(seed), "As shown (BM25)": log.measure_run(bm25_run)}
    for name, (model, queries) in systems.items():
        unknown = measure_unknown_share(model, [queries[query_id] for query_id in log.test_ids])
        rows[name] = {**log.measure_ranker(model, queries), "unknown words": unknown}
    return rows


def train_models(log: SearchLog, machine: Translator, seed: int) -> dict[str, Knrm]:
    """Train all rankers of the table."""
    bilingual = log.translate_to_english(log.train, machine)
    scored_bilingual = bilingual._replace(qrels=log.scored_train.qrels)
    random_start = {"vectors": None, "learning_rate": LEARNING_RATE_FROM_RANDOM}
    return {
        "monolingual": train_ranker(log, log.train, seed=seed),
        "bilingual": train_ranker(log, bilingual, seed=seed),
        "bilingual, random start": train_ranker(log, bilingual, seed=seed, **random_start),
        "monolingual, by difference": train_ranker(log, log.scored_train, difference=MIN_DIFFERENCE, seed=seed),
        "bilingual, by difference": train_ranker(log, scored_bilingual, difference=MIN_DIFFERENCE, seed=seed),
    }


def choose_machine(log: SearchLog) -> Translator:
    """Choose Apertium for Spanish where it is installed, otherwise a table learned from the packages."""
    if not has_apertium(log.lang):
        return log.fit_translator()
    training_texts = [query.text for query in log.train.queries]
    test_texts = [log.english[query_id].text for query_id in log.test_ids]
    return translate_by_apertium({(log.lang, "en"): training_texts, ("en", log.lang): test_texts})


def translate_test_queries(log: SearchLog, translator: Translator) -> dict[str, Query]:
    """Translate the English test queries into the documents' language."""
    english = [log.english[query_id] for query_id in log.test_ids]
    return {query.id: query for query in translate_queries(english, translator, log.lang)}
