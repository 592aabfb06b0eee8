"""A bilingual search log for the recipes of Liu's thesis, made from Debian's package descriptions.

The thesis' log (Sogou-Log) can't be had, so its readers are simulated on real documents: the foreign short
description of a package is asked of foreign long descriptions (their first 300 characters), BM25 shows ten, and
readers open what is like the package's own description (`lab.clicks.simulate`). English queries are the English
short descriptions, written by people. Labels are the thesis': SAME (DCTR), DIFF (TACM), RAW (single clicks).
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paragloss.lab import clicks
from paragloss.lab.clicks.log_files import Session
from paragloss.lab.recipes.sets import split
from paragloss.search.lexical import Lexical
from paragloss.search.terms import NAME, TermIndex
from paragloss.stores import create_store
from paragloss.types import Concept, Document, Judged, Qrels, Query
from paragloss.vocabulary import Vocabulary, weigh

SHOWN = 10
#: A tenth of the pairs shown have the highest grade, as many the next, two tenths the lowest above 0.
SHARES = (0.4, 0.2, 0.1)


class Size(NamedTuple):
    """How many queries are learned from and asked; `lines` reads the beginning of the files only."""

    train: int
    test: int = 1000
    lines: int | None = None


SMOKE = Size(60, 40, 500)


class Labels(NamedTuple):
    same: Qrels
    different: Qrels
    raw: Qrels


class Log(NamedTuple):
    """Queries are named by package; `native` and `english` hold both wordings of all of them."""

    lang: str
    train: Judged  # native queries, DCTR grades
    scored: Judged  # the same, the scores themselves as grades
    test: list[str]
    native: dict[str, Query]
    english: dict[str, Query]
    shown: dict[str, list[str]]
    documents: dict[str, Document]
    labels: Labels
    learned: list[Concept]  # packages a translator may learn from


@lru_cache(maxsize=1)
def log(size: Size, lang: str = "de") -> Log:
    divided = split("ddtp", ["en", lang], lines=size.lines)
    learned = _both(divided.train, lang)
    train, test = _evenly(learned, size.train), _evenly(_both(divided.test, lang), size.test)
    concepts = [*train, *test]
    documents = {c.id: Document(c.id, c.texts[lang][:300], lang) for c in concepts}  # titles are the queries
    native = {c.id: Query(c.id, c.titles[lang], lang) for c in concepts}
    english = {c.id: Query(c.id, c.titles["en"], "en") for c in concepts}
    shown = _search(documents, native)
    sessions = readers(shown, wanted(shown, documents, lang), lang)
    same, different = clicks.dctr(sessions), clicks.tacm(sessions).relevance()
    graded, scores = clicks.graded(same, clicks.cuts(same, SHARES)), clicks.thousandths(same)
    trained = [c.id for c in train if c.id in same]
    asked = [native[id] for id in trained]
    return Log(
        lang,
        Judged(asked, documents, {id: graded[id] for id in trained}),
        Judged(asked, documents, {id: scores[id] for id in trained}),
        [c.id for c in test],
        native,
        english,
        shown,
        documents,
        _labels(sessions, graded, different, {c.id for c in test}),
        learned,
    )


def only(qrels: Qrels, wanted: set[str]) -> Qrels:
    return {query: grades for query, grades in qrels.items() if query in wanted}


def _labels(sessions: list[Session], same: Qrels, different: clicks.Scores, tested: set[str]) -> Labels:
    raw = {q: {max(found, key=lambda d: (found[d], d)): 1} for q, found in clicks.raw(sessions).items()}
    other = clicks.graded(different, clicks.cuts(different, SHARES))
    return Labels(*(only(qrels, tested) for qrels in (same, other, raw)))


def _both(concepts: Sequence[Concept], lang: str) -> list[Concept]:
    return [c for c in concepts if all(c.titles.get(code) and c.texts.get(code) for code in (lang, "en"))]


def _evenly(concepts: Sequence[Concept], count: int) -> list[Concept]:
    """Evenly over the alphabet of packages."""
    return [concepts[i] for i in np.linspace(0, len(concepts) - 1, min(count, len(concepts))).astype(int)]


def _search(documents: Mapping[str, Document], queries: Mapping[str, Query]) -> dict[str, list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        store = create_store(str(Path(folder) / "log"), dense={}, sparse=[NAME])
        index = TermIndex.build(store, fields=("text",))
        index.add(list(documents.values()))
        index.refresh()
        found = Lexical(store, index.statistics).search(list(queries.values()), SHOWN)
        store.close()
    return {id: [hit.id for hit in ranking] for id, ranking in zip(queries, found, strict=True)}


class Wanted(NamedTuple):
    """How likely readers of a query are to open each document, and to be content with it."""

    attraction: clicks.Scores
    satisfaction: clicks.Scores


def wanted(shown: Mapping[str, Sequence[str]], documents: Mapping[str, Document], lang: str) -> Wanted:
    """Readers want the package they ask for, and are half content with what is described in the same words."""
    order = {id: i for i, id in enumerate(documents)}
    vocabulary, counts = Vocabulary.build([d.text for d in documents.values()], lang, min_df=1)
    rows = weigh(counts, vocabulary.idf, "tfidf")
    found = Wanted({}, {})
    for query, names in shown.items():
        if names:
            like = np.asarray((rows[[order[d] for d in names]] @ rows[order[query]].T).todense()).ravel().tolist()
            pairs = list(zip(names, like, strict=True))
            found.attraction[query] = {d: 0.9 if d == query else 0.05 + 0.6 * c for d, c in pairs}
            found.satisfaction[query] = {d: 0.8 if d == query else 0.1 + 0.5 * c for d, c in pairs}
    return found


def readers(shown: dict[str, list[str]], habits: Wanted, lang: str, times: int | dict[str, int] = 30) -> list[Session]:
    """What so many readers of each query do, or as many as are given for it."""
    some = {query: names for query, names in shown.items() if names}
    return clicks.simulate(some, *habits, sessions=times, lang=lang, depth=0.95, swaps=8, seed=1)
