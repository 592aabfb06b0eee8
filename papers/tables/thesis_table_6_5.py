"""Liu's Table 6.5: does the case of translated queries matter?

Data: `papers.simulated_log`, 2,000 training queries, and ten times as many. Our translator does not capitalise the
first word as the thesis' did, so training and test queries are capitalised, and analysis, which lower-cases, is made to
see capitals (`mark_capitals`); a word with a capital starts from the same vector as without. Test queries are
translated as the training queries are, as in the thesis.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from papers import simulated_log
from papers.corpora import Rows
from papers.simulated_log import fit_shared_vectors, simulate_log_of_part, train_ranker
from paragloss.lab.query_log import CASES, translate_queries
from paragloss.types import Floats

COLUMNS = (*simulated_log.COLUMNS, "English terms")
DATA = (*simulated_log.DATA, "ddtp/da.jsonl.gz")
PARTS = ("en-de", "en-da, 20,000 queries")
CASE_BY_ROW = {"Bilingual baseline": "keep", "All to lower case": "lower", "First word to lower case": "lower-first"}
#: Precedes a word that was capitalised: a letter, so that analysis keeps it, but of no language we know.
_CAPITAL_MARK = "\ua7fa"
_WORD = re.compile(r"[^\W\d_]+")


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    log = simulate_log_of_part(part, smoke=smoke)
    bilingual = log.translate_to_english(log.train)
    native = [log.native[query_id] for query_id in log.test_ids]
    test = translate_queries(native, log.fit_translator(), "en")
    vectors = add_capitalised_words(fit_shared_vectors(log.lang, log.is_smoke))
    rows = log.measure_random_order(seed)
    for row, case in CASE_BY_ROW.items():
        queries = [query._replace(text=fold_case(CASES[case], query.text)) for query in bilingual.queries]
        model = train_ranker(log, bilingual._replace(queries=queries), seed=seed, vectors=vectors)
        test_queries = {query.id: query._replace(text=fold_case(CASES[case], query.text)) for query in test}
        terms = float(len(model.vocabularies["en"]))
        rows[row] = {**log.measure_ranker(model, test_queries), "English terms": terms}
    return rows


def add_capitalised_words(vectors: Mapping[str, Mapping[str, Floats]]) -> dict[str, dict[str, Floats]]:
    """Give English words with a capital the vectors of the same words without.

    :param vectors: language -> word -> vector
    """
    english = vectors["en"]
    capitalised = {f"{_CAPITAL_MARK}{word}": vector for word, vector in english.items()}
    return {**vectors, "en": {**english, **capitalised}}


def fold_case(fold: Callable[[str], str], text: str) -> str:
    """Capitalise a text as a machine translator does, fold its case, and mark the capitals that are left."""
    return mark_capitals(fold(capitalise_first(text)))


def mark_capitals(text: str) -> str:
    """Mark capitalised words, so that `Apple` and `apple` remain different words after lower-casing.

    For experiments with case: both the training queries and the test queries of a model must be marked.
    """
    return _WORD.sub(lambda word: f"{_CAPITAL_MARK}{word[0]}" if word[0][0].isupper() else word[0], text)


def capitalise_first(text: str) -> str:
    """Capitalise the first letter, as a machine translator begins a sentence; the rest stays."""
    return text[:1].upper() + text[1:]
