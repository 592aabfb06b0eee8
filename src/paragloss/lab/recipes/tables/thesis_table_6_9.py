"""Liu's Table 6.9: ambiguous translations with long document lists taken out, against as many pairs at random.

Data: `paragloss.lab.recipes.searchlog`, 1,000 training queries. Short descriptions are hardly ever translated alike, so
each is also asked by its first word alone: all that ask with one word share their documents, as searches for one word
did in the thesis' log. The thesis' bounds are 100, 200 and 1,000 documents, ours 20, 50 and 100.
"""

from __future__ import annotations

from paragloss.lab.query_log import clean, clean_at_random, translate_log
from paragloss.lab.recipes import bilingual
from paragloss.lab.recipes.bilingual import measured, rerank, train
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.searchlog import SMOKE, Log, Size, log
from paragloss.types import Judged, Query

MINUTES, COLUMNS = 7, bilingual.MEASURES
DATA, PARTS = bilingual.DATA, ("en-de",)
BOUNDS = {"low": 20, "middle": 50, "high": 100}


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    made, source, translated = logs(smoke)
    learned = {}
    for name, bound in list(BOUNDS.items())[: 1 if smoke else None]:
        cleaned = clean(source, translated, longest=bound)
        learned[f"{name} bound, ambiguous"] = cleaned.judged
        learned[f"{name} bound, random"] = clean_at_random(translated, cleaned.kept, seed=seed)
    learned["Nothing removed"] = translated
    return {row: measured(made, rerank(made, train(some, seed=seed), made.english)) for row, some in learned.items()}


def logs(smoke: bool) -> tuple[Log, Judged, Judged]:
    """All of it, what is learned from, and that in English."""
    made = log(SMOKE if smoke else Size(1000))
    source = with_first_words(made.train)
    return made, source, translate_log(source, bilingual.translator(made), "en", case="lower")


def with_first_words(judged: Judged) -> Judged:
    """The log, and queries of one word: what was opened for a description was opened for its first word."""
    qrels = dict(judged.qrels)
    short: dict[str, Query] = {}
    for query in judged.queries:
        word = query.text.split()[0].strip(",.:;()")
        if word:
            short.setdefault(word, Query(f"word {word}", word, query.lang))
            merged = qrels.setdefault(short[word].id, {})
            for name, grade in judged.qrels[query.id].items():
                merged[name] = max(grade, merged.get(name, 0))
    return judged._replace(queries=[*judged.queries, *short.values()], qrels=qrels)
