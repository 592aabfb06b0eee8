"""A small bilingual search log for the recipes of Liu's thesis, made from Debian's package descriptions.

The thesis' log (Sogou-Log) can't be had, so its readers are simulated on real documents: the German short description
of a package is asked of German long descriptions (their first 300 characters), BM25 shows ten, and readers open what
is like the package's own description (`paragloss.clicks.simulate`). English queries are the English short descriptions,
written by people. Labels are the thesis': SAME (DCTR), DIFF (TACM), RAW (single clicks).
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sets import split

from paragloss import clicks
from paragloss.evaluation import evaluate, mean
from paragloss.formats.clicks import Session
from paragloss.models import cr5, knrm
from paragloss.ranking import rank
from paragloss.search.lexical import Lexical
from paragloss.search.terms import NAME, TermIndex
from paragloss.serving.knrm import Knrm
from paragloss.stores import create_store
from paragloss.translation import table
from paragloss.translation.querylog import translate_log
from paragloss.types import Concept, Document, Floats, Hit, Judged, Qrels, Query, Reranker, Run
from paragloss.vocabulary import Vocabulary, weigh

TEST, SHOWN = 300, 10
#: A tenth of the pairs shown have the highest grade, as many the next, two tenths the lowest above 0.
SHARES = (0.4, 0.2, 0.1)
EPOCHS, DIM = 4, 100


class Labels(NamedTuple):
    same: Qrels
    different: Qrels
    raw: Qrels


class Log(NamedTuple):
    """Queries are numbered by package; `german` and `english` hold both wordings of all of them."""

    train: Judged  # German queries, DCTR grades
    scored: Judged  # the same, the scores themselves as grades
    test: list[str]
    german: dict[str, Query]
    english: dict[str, Query]
    shown: dict[str, list[str]]
    documents: dict[str, Document]
    labels: Labels


@cache
def log(train_queries: int = 2000) -> Log:
    divided = split("ddtp", ["en", "de"])
    train, test = _some(divided.train, train_queries), _some(divided.test, TEST)
    concepts = [*train, *test]
    documents = {c.id: Document(c.id, c.texts["de"][:300], "de") for c in concepts}  # titles are the queries
    german = {c.id: Query(c.id, c.titles["de"], "de") for c in concepts}
    english = {c.id: Query(c.id, c.titles["en"], "en") for c in concepts}
    shown = _search(documents, german)
    sessions = _read(shown, documents)
    same, different = clicks.dctr(sessions), clicks.tacm(sessions).relevance()
    tested = {c.id for c in test}
    trained = [c.id for c in train if c.id in same]
    graded = clicks.graded(same, clicks.cuts(same, SHARES))
    scores = clicks.thousandths(same)
    asked = [german[id] for id in trained]
    return Log(
        Judged(asked, documents, {id: graded[id] for id in trained}),
        Judged(asked, documents, {id: scores[id] for id in trained}),
        [c.id for c in test],
        german,
        english,
        shown,
        documents,
        Labels(
            _only(graded, tested),
            _only(clicks.graded(different, clicks.cuts(different, SHARES)), tested),
            {
                q: {max(found, key=lambda d: (found[d], d)): 1}
                for q, found in clicks.raw(sessions).items()
                if q in tested
            },
        ),
    )


@cache
def translator() -> table.Table:
    """Learned from the training packages' short descriptions: what stands in for the thesis' translation service."""
    pairs = [Concept(c.id, dict(c.titles)) for c in _both(split("ddtp", ["en", "de"]).train)]
    return table.fit(pairs)


def shared_vectors() -> dict[str, dict[str, Floats]]:
    """Word vectors of both languages in one space, from Cr5 on the training packages: a start for K-NRM's table."""
    both = _both(split("ddtp", ["en", "de"]).train)
    langs = ("en", "de")
    texts = [c._replace(texts={lang: f"{c.titles[lang]}\n{c.texts[lang][:300]}" for lang in langs}) for c in both]
    space = cr5.fit(texts, dim=DIM)
    rows = {lang: space.words(lang) for lang in langs}
    # As long as vectors drawn from (-1, 1) are, so that the optimiser's steps mean the same.
    length = np.sqrt(DIM / 3)
    return {
        lang: {
            term: length * row / max(float(np.linalg.norm(row)), 1e-9)
            for term, row in zip(space.tower(lang).vocabulary.terms, rows[lang], strict=True)
        }
        for lang in langs
    }


def bilingual(made: Log, *, case: str = "keep") -> Judged:
    """The training log with its queries translated to English."""
    return in_english(made.train, case=case)


def in_english(judged: Judged, *, case: str = "keep") -> Judged:
    return translate_log(judged, translator(), "en", case=case)


def train(judged: Judged, **settings: Any) -> Knrm:
    import torch

    torch.set_num_threads(1)  # batches are small: a second thread waits more than it works
    return knrm.fit_judged(judged, dim=DIM, **{"epochs": EPOCHS, "batch": 32, "per_positive": 2, "seed": 0, **settings})


def rerank(made: Log, model: Reranker, queries: Mapping[str, Query]) -> Run:
    """The test queries' ten documents in the model's order."""
    run = {}
    for id in made.test:
        documents = [made.documents[d] for d in made.shown[id]]
        scores = model.score(queries[id], documents) if documents else []
        run[id] = rank((Hit(d.id, float(s)) for d, s in zip(documents, scores, strict=True)), SHOWN)
    return run


MEASURES = ("SAME @1", "SAME @5", "SAME @10", "DIFF @1", "DIFF @5", "DIFF @10", "RAW MRR")


def measured(made: Log, run: Run, among: Sequence[str] | None = None) -> list[float]:
    """The seven columns of the thesis' tables."""
    wanted = set(made.test if among is None else among)
    ndcg = ("nDCG@1", "nDCG@5", "nDCG@10")
    labels = Labels(*(_only(qrels, wanted) for qrels in made.labels))
    found = [mean(evaluate(run, qrels, ndcg)) for qrels in (labels.same, labels.different)]
    return [one[name] for one in found for name in ndcg] + [mean(evaluate(run, labels.raw, ("RR",)))["RR"]]


def table_of(
    title: str, header: Sequence[str], ours: Mapping[str, Sequence[Any]], thesis: Mapping[str, Sequence[Any]]
) -> str:
    """Our rows, and under them the thesis' with the same columns."""
    width = max(map(len, [*ours, *thesis, "thesis, Sogou-Log"])) + 2
    lines = [title, " " * width + "".join(f"{name:>10}" for name in header)]
    for label, rows in (("ours", ours), ("thesis", thesis)):
        lines.append(f"-- {label}")
        lines += [f"{name:<{width}}" + "".join(f"{_cell(value):>10}" for value in row) for name, row in rows.items()]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _both(concepts: Sequence[Concept]) -> list[Concept]:
    return [c for c in concepts if all(c.titles.get(lang) and c.texts.get(lang) for lang in ("de", "en"))]


def _some(concepts: Sequence[Concept], count: int) -> list[Concept]:
    """Evenly over the alphabet of packages."""
    usable = _both(concepts)
    return [usable[i] for i in np.linspace(0, len(usable) - 1, min(count, len(usable))).astype(int)]


def _search(documents: Mapping[str, Document], queries: Mapping[str, Query]) -> dict[str, list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        store = create_store(str(Path(folder) / "log"), dense={}, sparse=[NAME])
        index = TermIndex.build(store, fields=("text",))
        index.add(list(documents.values()))
        index.refresh()
        found = Lexical(store, index.statistics).search(list(queries.values()), SHOWN)
        store.close()
    return {id: [hit.id for hit in ranking] for id, ranking in zip(queries, found, strict=True)}


def _read(shown: Mapping[str, Sequence[str]], documents: Mapping[str, Document]) -> list[Session]:
    """Readers want the package they ask for, and are half content with what is described in the same words."""
    order = {id: i for i, id in enumerate(documents)}
    vocabulary, counts = Vocabulary.build([d.text for d in documents.values()], "de", min_df=1)
    rows = weigh(counts, vocabulary.idf, "tfidf")
    attraction, satisfaction = {}, {}
    for query, found in shown.items():
        if found:
            like = np.asarray((rows[[order[d] for d in found]] @ rows[order[query]].T).todense()).ravel().tolist()
            attraction[query] = {d: 0.9 if d == query else 0.05 + 0.6 * c for d, c in zip(found, like, strict=True)}
            satisfaction[query] = {d: 0.8 if d == query else 0.1 + 0.5 * c for d, c in zip(found, like, strict=True)}
    some = {query: found for query, found in shown.items() if found}
    return clicks.simulate(some, attraction, satisfaction, sessions=30, lang="de", depth=0.95, swaps=8, seed=1)


def _only(qrels: Qrels, wanted: set[str]) -> Qrels:
    return {query: grades for query, grades in qrels.items() if query in wanted}
