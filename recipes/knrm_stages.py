"""Reranking by K-NRM after each first stage: is it ever worse, and how often better?

    PARAGLOSS_DATA=... python recipes/knrm_stages.py [--pages 500] [--queries 200] [SET:LANG ...]

English titles (Tatoeba: sentences) find documents of another language, as in `fusion.py`. The table, Cr5 and K-NRM are
learned from `--pages` training concepts with the defaults of `paragloss train`; every ranking is the product's own.
Splits are by concept (Debian: by family of packages) before anything is fitted. p: randomisation test over queries.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import warnings
from pathlib import Path

from sets import known_item, sentences, split

from paragloss.engine import Engine, train
from paragloss.evaluation import compare, evaluate
from paragloss.models import cr5, knrm
from paragloss.translation import table
from paragloss.types import Concept, Document, Qrels, Query

PAIRS = ("lohelp:de", "lohelp:it", "lohelp:fr", "mdn:fr", "mdn:ja", "ddtp:it", "tatoeba:hi")
STAGES = ("bm25", "table", "cr5", "bm25+cr5+table")
#: Documents to be found: the right ones of all queries, and others up to so many.
MOST = 2000


def prepared(corpus: str, lang: str, pages: int, most: int) -> tuple[list[Concept], list[Query], list[Document], Qrels]:
    """Training concepts; queries, documents and judgments of others."""
    parts = sentences(lang) if corpus == "tatoeba" else split(corpus, ["en", lang])
    both = [c for c in parts.train if {"en", lang} <= c.texts.keys()]
    learned = random.Random(0).sample(both, min(pages, len(both)))
    test = [c._replace(titles={"en": c.texts["en"]}) for c in parts.test] if corpus == "tatoeba" else parts.test
    queries, documents, qrels = known_item(test, "en", [lang])
    queries = random.Random(0).sample(queries, min(most, len(queries)))
    wanted = {id for query in queries for id in qrels[query.id]}
    others = [document for document in documents if document.id not in wanted]
    kept = random.Random(0).sample(others, min(max(MOST - len(wanted), 0), len(others)))
    return learned, queries, [d for d in documents if d.id in wanted] + kept, {q.id: qrels[q.id] for q in queries}


def measured(corpus: str, lang: str, pages: int, most: int) -> dict[str, dict[str, float]]:
    learned, queries, documents, qrels = prepared(corpus, lang, pages, most)
    with tempfile.TemporaryDirectory() as place:
        train(cr5.fit, learned).save(Path(place, "cr5"))
        table.fit(learned).save(Path(place, "table"))
        knrm.fit(learned).save(Path(place, "knrm"))
        models = [str(Path(place, name)) for name in ("cr5", "table", "knrm")]
        with Engine.create(str(Path(place, "collection")), models=models) as engine:
            engine.index(documents)
            scores = {}
            for pipeline in [*STAGES, *(f"{stage}>knrm" for stage in STAGES)]:
                rankings = engine.rank(queries, k=100, to=[lang], pipeline=pipeline)
                run = {query.id: ranking for query, ranking in zip(queries, rankings, strict=True)}
                scores[pipeline] = evaluate(run, qrels, ["RR"])["RR"]
    return scores


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("pairs", nargs="*", default=PAIRS)
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    print(f"{'RR':12}{'queries':>8}" + "".join(f"{stage + ' > knrm':>26}" for stage in STAGES))
    better = worse = cells = 0
    for pair in options.pairs:
        scores = measured(*pair.split(":"), options.pages, options.queries)
        row = f"{pair:12}{len(scores['bm25']):8}"
        for stage in STAGES:
            test = compare(scores[stage], scores[f"{stage}>knrm"])
            sure = test.p_randomisation < 0.05
            better, worse = better + (sure and test.difference > 0), worse + (sure and test.difference < 0)
            cells += 1
            row += f"{test.first:10.3f} {test.second:.3f} p{test.p_randomisation:8.4f}"
        print(row, flush=True)
    print(f"of {cells}: significantly better {better}, worse {worse} (p < .05)")


if __name__ == "__main__":
    main()
