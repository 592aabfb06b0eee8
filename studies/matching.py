"""How should a query word's translations be matched? One formula for titles, questions, a few words and sentences.

    PARAGLOSS_DATA=... PARAGLOSS_HELD=MODEL python studies/matching.py choose [KIND:LANG ...]    training parts
    PARAGLOSS_DATA=... PARAGLOSS_HELD=MODEL python studies/matching.py report [KIND:LANG ...]    test parts, once

MODEL is the default model's held build (`default_model.py`), which has seen none of these documents. Every formula
scores every document, by the counts that the product keeps: title and text, each a BM25 field, what words hold inside
counting with the text. Reciprocal rank of the one right document; means are over kinds. Training parts are training
pages of three collections and validation parts of the others. p is the randomisation test over queries, which count so
that each kind counts alike where it is of the mean.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import questions
import scipy.sparse as sp
import sources
from retrieval_of_tables import K1, B, Documents

from paragloss.evaluation import compare
from paragloss.lab.recipes.sets import split
from paragloss.translation import default
from paragloss.translation.subword_terms import SOUND_PREFIX, SUBWORD_WEIGHT, add_sound_alternatives
from paragloss.types import Document, Query

KINDS: Mapping[str, str] = {
    "lohelp": "de ru es ja", "ddtp": "de ru es fr", "mdn": "ru es ja fr", "asked": "de ru es ja hi vi fr it",
    "claims": "de ru hi vi", "phrases": "de ru hi vi", "tatoeba": "de ru hi vi",
}  # fmt: skip
QUERIES, DOCUMENTS = 150, 1200


class Way(NamedTuple):
    """How a clause's alternatives count."""

    power: float = 1.0  #: of their probabilities; 0 makes them alike
    whole: str = "sum"  #: shares sum to one, or the greatest ("max") or the greatest in the collection ("held") is one
    join: str = "sum"  #: of their frequencies in a document, or the "best" of them
    rare: str = "sum"  #: the clause's df: of shares times df, of their "union", of the "best" alone
    cover: float = 0.0  #: power of the share of the query's weight that a document has at all
    own: float = 0.0  #: power of an alternative's frequency in the collection
    sure: float = 0.0  #: power of the likeliest's probability in what a clause counts
    itself: float = 1.0  #: what the word as it stands counts of its share
    sound: float = 1.0  #: what a name's sound counts of its share


TODAY = {"default": Way(), "synonyms": Way(power=0.0, whole="max", rare="union")}


class Asked(NamedTuple):
    """A query's alternatives, clause after clause."""

    first: np.ndarray  # (clauses,) where each begins
    p: np.ndarray  # (alternatives,) probabilities
    kind: np.ndarray  # (alternatives,) 0 for a translation, 1 for the word itself, 2 for a sound
    tf: list[np.ndarray]  # fields of (alternatives, documents)
    df: list[np.ndarray]  # fields of (alternatives,)
    norm: list[np.ndarray]  # fields of (documents,)


def sample(kind: str, lang: str, part: str) -> questions.Questions:
    if kind in ("lohelp", "ddtp", "mdn"):
        made = questions.titles(kind, lang, part=part, most=10_000)
    elif kind == "tatoeba":
        made = _everyday(lang, "test" if part == "test" else "valid")
    else:
        make = {"asked": questions.asked, "claims": questions.claims, "phrases": questions.phrases}[kind]
        made = make(lang, part="test" if part == "test" else "valid")
    kept = sorted(random.Random(0).sample(range(len(made.queries)), min(QUERIES, len(made.queries))))
    need = dict.fromkeys(made.right[i] for i in kept)
    rest = [i for i in range(len(made.documents)) if i not in need]
    chosen = sorted([*need, *random.Random(1).sample(rest, max(0, min(len(rest), DOCUMENTS - len(need))))])
    place = {document: i for i, document in enumerate(chosen)}
    return made._replace(
        queries=[made.queries[i] for i in kept],
        documents=[made.documents[i] for i in chosen],
        right=[place[made.right[i]] for i in kept],
    )


def _everyday(lang: str, part: str) -> questions.Questions:
    found = {pair.other: pair.en for pair in sources.tatoeba(lang) if pair.part == part}
    both = sorted({en: other for other, en in found.items()}.items())
    return questions._aligned("tatoeba", lang, "en", random.Random(0).sample(both, min(DOCUMENTS, len(both))))


def fields(documents: Sequence[Document], lang: str) -> list[Documents]:
    texts = Documents.read([d.text for d in documents], lang, inner=[d.whole for d in documents])
    titles = [d.title for d in documents]
    return [texts, Documents.read(titles, lang)] if any(titles) else [texts]


def asked(
    query: Query, model: default.DefaultModel, documents: Sequence[Documents], columns: Sequence[sp.csc_matrix]
) -> Asked:
    lang = documents[0].lang
    clauses = []
    for clause in add_sound_alternatives(model.translate(query, lang), query.lang, lang):
        words: dict[str, float] = {}
        itself = set(_cut(lang, clause.source)) if len(clause.alternatives) > 1 else set()
        for text, weight, known in clause.alternatives:
            some = known or tuple(_cut(lang, text))
            for word in some:
                words[word] = words.get(word, 0.0) + weight / len(some)
        if words:
            clauses.append({w: (p, 2 if w[0] == SOUND_PREFIX else int(w in itself)) for w, p in words.items()})
    every = [
        (word, p / sum(p for p, _ in words.values()), kind) for words in clauses for word, (p, kind) in words.items()
    ]
    tf, df, norm = [], [], []
    for one, matrix in zip(documents, columns, strict=True):
        counts, held = np.zeros((len(every), matrix.shape[0])), np.zeros(len(every))
        for row, (word, *_) in enumerate(every):
            for place, share in (
                (one.number.get(word), 1.0),
                (one.inner.get(word), 1.0 if word[0] == SOUND_PREFIX else SUBWORD_WEIGHT),
            ):
                if place is not None:
                    start, end = matrix.indptr[place : place + 2]
                    counts[row, matrix.indices[start:end]] += share * matrix.data[start:end]
                    held[row] += share * (end - start)
        tf.append(counts)
        df.append(np.minimum(held, matrix.shape[0]))
        norm.append(K1 * (1 - B + B * one.length / max(one.length.mean(), 1e-9)))
    first = np.cumsum([0, *map(len, clauses)])[:-1]
    return Asked(first, np.array([p for _, p, _ in every]), np.array([k for *_, k in every]), tf, df, norm)


@cache
def _cut(lang: str, text: str) -> list[str]:
    return questions.analyzer(lang).terms(text)


def scores(one: Asked, way: Way) -> np.ndarray:
    """Of all documents."""
    if not len(one.p):
        return np.zeros(len(one.norm[0]))
    number, size = len(one.norm[0]), np.diff(one.first, append=len(one.p))
    share = one.p**way.power * np.array([1.0, way.itself, way.sound])[one.kind]
    anywhere = np.maximum.reduce(one.df)
    if way.own:
        share = share * (anywhere + 0.5) ** way.own
    if way.whole == "held":
        share = np.where(anywhere > 0, share, 0.0)
    best = (np.add if way.whole == "sum" else np.maximum).reduceat(share, one.first)
    share = share / np.repeat(np.where(best > 0, best, 1.0), size)
    importance = np.maximum.reduceat(np.where(anywhere > 0, one.p, 0.0), one.first) ** way.sure
    total, weight = np.zeros(number), np.zeros(len(one.first))
    met = np.zeros((len(one.first), number), bool)
    for tf, df, norm in zip(one.tf, one.df, one.norm, strict=True):
        idf = importance * _rarity(one, way, share, df, number)
        if way.join == "each":  # every alternative has its own idf, the best counts
            own = np.log1p((number - df + 0.5) / (df + 0.5))
            total += importance @ np.maximum.reduceat((share * own)[:, None] * tf / (tf + norm), one.first, axis=0)
            continue
        if way.join == "noisy":
            kept = 1 - np.multiply.reduceat(1 - share[:, None] * tf / (tf + norm), one.first, axis=0)
            total += idf @ kept
            continue
        joined = (np.add if way.join == "sum" else np.maximum).reduceat(share[:, None] * tf, one.first, axis=0)
        total += idf @ (joined / (joined + norm))
        met |= joined > 0
        weight = np.maximum(weight, idf)
    if way.cover:
        total = total * (weight @ met / max(weight.sum(), 1e-9)) ** way.cover
    return total


def _rarity(one: Asked, way: Way, share: np.ndarray, df: np.ndarray, number: int) -> np.ndarray:
    """The idf of each clause in one field."""
    if way.rare == "mean":
        size = np.diff(one.first, append=len(one.p))
        part = share / np.repeat(np.maximum(np.add.reduceat(share, one.first), 1e-9), size)
        return np.add.reduceat(part * np.log1p((number - df + 0.5) / (df + 0.5)), one.first)
    if way.rare == "union":
        seen = number * (1 - np.multiply.reduceat(1 - share * df / number, one.first))
    elif way.rare == "best":
        seen = np.maximum.reduceat(share * df, one.first)
    elif way.rare == "half":
        union = number * (1 - np.multiply.reduceat(1 - share * df / number, one.first))
        seen = np.sqrt(union * np.maximum.reduceat(share * df, one.first))
    elif way.rare == "likely":
        seen = np.maximum.reduceat(np.where(share == 1, df, 0.0), one.first)
    else:
        seen = np.minimum(np.add.reduceat(share * df, one.first), number)
    return np.log1p((number - seen + 0.5) / (seen + 0.5))


def ranks(pairs: Sequence[str], part: str, ways: Mapping[str, Way]) -> dict[str, dict[str, dict[str, float]]]:
    """Of each formula and each kind the reciprocal rank of each query."""
    model = default.DefaultModel.load(Path(os.environ["PARAGLOSS_HELD"]))
    found: dict[str, dict[str, dict[str, float]]] = {name: {} for name in ways}
    for kind, lang in (pair.split(":") for pair in pairs):
        made = sample(kind, lang, part)
        documents = fields(made.documents, lang)
        columns = [one.counts.tocsc() for one in documents]
        for query, right in zip(made.queries, made.right, strict=True):
            one = asked(query, model, documents, columns)
            for name, way in ways.items():
                each = scores(one, way)
                better = (each > each[right]).sum() + (each[:right] == each[right]).sum()
                rr = 1.0 / (1 + better) if each[right] > 0 else 0.0
                found[name].setdefault(kind, {})[f"{kind}:{lang}:{query.id}"] = float(rr)
        split.__globals__["_read"].cache_clear()
    return found


def table(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, float]:
    kinds = list(next(iter(found.values())))
    print("| RR | " + " | ".join(kinds) + " | mean |\n" + "|---" * (len(kinds) + 2) + "|")
    means = {}
    for name, by in found.items():
        each = [float(np.mean(list(by[kind].values()))) for kind in kinds]
        means[name] = float(np.mean(each))
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in each) + f" | {means[name]:.4f} |", flush=True)
    return means


#: What was chosen; the product's is `statistics.tempered`.
CHOSEN = Way(0.2, "held", rare="union", own=-0.1)


def ways() -> dict[str, Way]:
    """What is measured, and what was chosen with one thing changed."""
    made = TODAY | {"chosen": CHOSEN}
    for field, values in {
        "power": [0.0, 0.1, 0.3, 0.5, 1.0], "whole": ["max", "sum"], "join": ["best", "each", "noisy"],
        "rare": ["sum", "best", "mean"], "cover": [0.1, 0.3], "own": [-0.2, 0.0, 0.1], "sure": [0.1, 0.3],
        "itself": [0.5, 1.5, 2.0], "sound": [0.6],
    }.items():  # fmt: skip
        made |= {f"{field} {value}": CHOSEN._replace(**{field: value}) for value in values}
    return made


def report(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    kinds = found["chosen"]
    queries = sum(map(len, kinds.values()))
    for name in TODAY:
        for kind, chosen in kinds.items():
            test = compare(found[name][kind], chosen)
            print(f"{kind}: {test.difference:+.3f} on {name}, p {test.p_randomisation:.4f}, {len(chosen)} queries")
        each = [
            {query: rr * queries / len(kinds) / len(by[kind]) for kind in kinds for query, rr in by[kind].items()}
            for by in (found[name], kinds)
        ]
        test = compare(*each)
        print(f"mean: {test.difference:+.4f} on {name}, p {test.p_randomisation:.4f}, {queries} queries")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["choose", "report"])
    parser.add_argument("pairs", nargs="*")
    args = parser.parse_args()
    pairs = args.pairs or [f"{kind}:{lang}" for kind, langs in KINDS.items() for lang in langs.split()]
    if args.what == "choose":
        table(ranks(pairs, "train", ways()))
    else:
        found = ranks(pairs, "test", TODAY | {"chosen": CHOSEN})
        table(found)
        report(found)


if __name__ == "__main__":
    main()
