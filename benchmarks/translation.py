"""How well do queries find documents of another language, by the way they are translated? P@1 and RR, with BM25.

    PARAGLOSS_DATA=... python benchmarks/translation.py [--only NAME,NAME] [SET:LANG ...]

English queries against documents of LANG; every query has one right answer. Tatoeba: a sentence finds its translation.
ddtp, lohelp, mdn: a title finds the document (text only, or the title would answer for the body). What a table or a
model learns from is disjoint from what is searched. "native" asks in the documents' own language: what perfect
translation would give.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from paragloss.analysis import analyzer
from paragloss.evaluation.significance import compare
from paragloss.formats.dictionaries import read_pairs
from paragloss.lab.methods import cr5, table
from paragloss.lab.recipes.wordnet import WordNet
from paragloss.translation import word_table
from paragloss.translation.combined import CombinedTranslator
from paragloss.translation.cooccurrence import Cooccurrence, DisambiguatingTranslator
from paragloss.translation.dictionary import Dictionary
from paragloss.translation.embedding import EmbeddingTranslator
from paragloss.translation.expansion import ChainedTranslator
from paragloss.types import Alternative, Concept, Query, Translation, Translator

DATA = Path(os.environ.get("PARAGLOSS_DATA", "~/.cache/paragloss")).expanduser()
DEFAULT = "tatoeba:fr tatoeba:fi tatoeba:ru tatoeba:hi ddtp:it lohelp:de lohelp:fr mdn:fr mdn:ru mdn:ja"
#: How a searcher may read alternatives: summed by weight, as one word, or as one word of mixed counts (PSQ).
FORMS = ("weighted", "synonym", "psq")
QUERIES, TEXTS = 400, 12_000


class Problem(NamedTuple):
    name: str
    lang: str
    train: list[Concept]
    queries: list[Query]
    native: list[Query]  # the same, in the documents' language
    documents: list[str]  # documents[i] answers queries[i], for the first len(queries) of them


def problem(name: str, lang: str, *, queries: int = 1000, most: int = 40_000, seed: int = 0) -> Problem:
    aligned = sentences(lang) if name == "tatoeba" else pages(name, lang)
    groups: dict[str, list[Concept]] = {}
    for concept in aligned:
        groups.setdefault(concept.id.split(":")[0], []).append(concept)  # a package stays on one side
    keys = sorted(groups)
    random.Random(seed).shuffle(keys)
    shuffled = [concept for key in keys for concept in groups[key]]
    held = len(shuffled) // 4
    test, train = shuffled[:held], shuffled[held : held + most]
    if name == "tatoeba":
        asked = [(c.texts["en"], c.texts[lang]) for c in test]
    else:
        asked = [(c.titles.get("en", ""), c.titles.get(lang, "")) for c in test]
    right = [i for i, (en, other) in enumerate(asked) if en and other and en != other][:queries]
    rest = sorted(set(range(held)) - set(right))
    documents = [test[i].texts[lang] for i in [*right, *rest]]
    return Problem(
        name,
        lang,
        train,
        [Query(str(n), asked[i][0], "en") for n, i in enumerate(right)],
        [Query(str(n), asked[i][1], lang) for n, i in enumerate(right)],
        documents,
    )


def sentences(lang: str) -> list[Concept]:
    with gzip.open(DATA / "tatoeba" / f"en-{lang}.tsv.gz", "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    return [Concept(str(i), {"en": row[0], lang: row[1]}) for i, row in enumerate(rows)]


def pages(name: str, lang: str) -> list[Concept]:
    found: dict[str, dict[str, dict[str, str]]] = {}
    for one in ("en", lang):
        with gzip.open(DATA / name / f"{one}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                found.setdefault(row["concept"], {})[one] = row
    both = {key: rows for key, rows in found.items() if len(rows) == 2}
    return [
        Concept(key, {k: r["text"] for k, r in rows.items()}, {k: r.get("title", "") for k, r in rows.items()})
        for key, rows in both.items()
    ]


class Bm25:
    """Plain BM25 over one set of documents, in four ways of reading a translated query."""

    def __init__(self, documents: Sequence[str], lang: str, *, k1: float = 1.2, b: float = 0.75) -> None:
        self.terms = analyzer(lang).terms
        self.index: dict[str, int] = {}
        rows = [[self.index.setdefault(t, len(self.index)) for t in self.terms(d)] for d in documents]
        start = np.cumsum([0] + [len(row) for row in rows])
        flat = np.array([i for row in rows for i in row], np.int32)
        tf = sp.csr_matrix((np.ones(len(flat), np.float32), flat, start), shape=(len(rows), len(self.index)))
        tf.sum_duplicates()
        self.tf = tf.tocsc()
        self.df = np.diff(self.tf.indptr).astype(float)
        length = np.asarray(tf.sum(axis=1)).ravel()
        self.damp = k1 * (1 - b + b * length / length.mean())
        self.k1 = k1

    def weights(self, alternatives: Iterable[Alternative]) -> dict[int, float]:
        found: dict[int, float] = {}
        for alternative in alternatives:
            words = self.terms(alternative.text)
            for word in words:
                if (i := self.index.get(word)) is not None:
                    found[i] = found.get(i, 0.0) + alternative.weight / len(words)
        return found

    def scores(self, clauses: Sequence[Translation], form: str) -> np.ndarray:
        total = np.zeros(self.tf.shape[0])
        for clause in clauses:
            weights = self.weights(clause.alternatives)
            if form == "weighted":
                for i, weight in weights.items():
                    self._add(total, {i: 1.0}, weight)
            elif weights:
                self._add(total, weights if form == "psq" else dict.fromkeys(weights, 1.0), 1.0)
        return total

    def _add(self, total: np.ndarray, mix: dict[int, float], weight: float) -> None:
        count = np.zeros(len(total))
        for i, part in mix.items():
            rows = slice(self.tf.indptr[i], self.tf.indptr[i + 1])
            count[self.tf.indices[rows]] += part * self.tf.data[rows]
        df = min(sum(part * self.df[i] for i, part in mix.items()), len(total))
        at = np.flatnonzero(count)
        idf = np.log(1 + (len(total) - df + 0.5) / (df + 0.5))
        total[at] += weight * idf * count[at] * (self.k1 + 1) / (count[at] + self.damp[at])


class Same:
    """The query as it stands."""

    def knows(self, source: str, target: str) -> bool:
        return True

    def translate(self, query: Query, to: str) -> list[Translation]:
        return [Translation(w, (Alternative(w, 1.0),)) for w in analyzer(query.lang).terms(query.text)]


def ranks(bm25: Bm25, queries: Sequence[Query], translator: Translator, to: str, form: str) -> np.ndarray:
    """Where the right answer stands, 1 is first; equal scores count against it."""
    found = []
    for number, query in enumerate(queries):
        scores = bm25.scores(translator.translate(query, to), form)
        mine = scores[number]
        found.append(int((scores >= mine).sum()) if mine > 0 else len(scores))
    return np.array(found)


def systems(this: Problem) -> dict[str, Callable[[], Translator]]:
    """What is compared, each made only when its turn comes."""
    entries = list(read_pairs(DATA / "muse" / f"en-{this.lang}.tsv.gz"))

    def dictionary(choose: str = "every") -> Dictionary:
        return Dictionary.build(entries, "en", this.lang, choose=choose)

    @cache
    def learn() -> word_table.Table:
        return table.fit(this.train, source="en")

    @cache
    def space() -> Any:
        return cr5.fit(this.train, dim=200, lengths=(1, 1000))

    def disambiguated() -> Translator:
        return DisambiguatingTranslator(dictionary(), Cooccurrence.build(this.documents, this.lang))

    made: dict[str, Callable[[], Translator]] = {
        "as it stands": Same,
        "MUSE, every word": dictionary,
        "MUSE, best word": lambda: dictionary("best"),
        "MUSE, random word": lambda: dictionary("random"),
        "MUSE, co-occurrence": disambiguated,
        "table": learn,
        "table + MUSE": lambda: CombinedTranslator([learn(), dictionary()], weights=[2, 1]),
    }
    if Path("/usr/share/wordnet/index.noun").is_file():
        made["WordNet > table"] = lambda: ChainedTranslator(WordNet(), learn())
    for top in (1, 3, 5):
        made[f"Cr5 words, top {top}"] = lambda top=top: EmbeddingTranslator(space(), top=top)
    return made


def table_of(this: Problem, *, only: str | None = None) -> None:
    """P@1 and RR of every system in three forms; the best of a system is tested against MUSE's every word."""
    bm25 = Bm25(this.documents, this.lang)
    print(f"\n{this.name} en->{this.lang}: {len(this.queries)} queries, {len(this.documents):,} documents, "
          f"{len(this.train):,} texts to learn from")  # fmt: skip
    found = ranks(bm25, this.native, Same(), this.lang, "psq")
    print(f"  {'native':22}            P@1 {np.mean(found == 1):.3f}  RR {np.mean(1 / found):.3f}")
    base: dict[str, dict[str, float]] = {}
    for name, make in systems(this).items():
        if only and not name.startswith(tuple(only.split(","))):
            continue
        began = time.perf_counter()
        translator = make()
        learning = time.perf_counter() - began
        for form in FORMS:
            began = time.perf_counter()
            for query in this.queries:
                translator.translate(query, this.lang)
            each = (time.perf_counter() - began) / len(this.queries) * 1e3
            found = ranks(bm25, this.queries, translator, this.lang, form)
            scores = {query.id: float(1 / rank) for query, rank in zip(this.queries, found, strict=True)}
            if name == "MUSE, every word":
                base[form] = scores
            against = ""
            if form in base and name != "MUSE, every word":
                p = compare(base[form], scores, rounds=10_000).p_randomisation
                against = f"  p {p:.4f} against MUSE"
            print(f"  {name:22} {form:9}  P@1 {np.mean(found == 1):.3f}  RR {np.mean(1 / found):.3f}  "
                  f"made in {learning:5.1f} s, {each:5.2f} ms a query{against}", flush=True)  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=DEFAULT.split(), metavar="SET:LANG")
    parser.add_argument("--only", help="systems whose name begins with one of these, with commas between")
    chosen = parser.parse_args()
    for wanted in chosen.sets:
        table_of(problem(*wanted.split(":"), queries=QUERIES, most=TEXTS), only=chosen.only)
