"""Words through the default model and e5, alone and fused; and lists over several languages.

    PARAGLOSS_DATA=... python recipes/encoders.py pairs [SET:LANG ...]     RR of each part and of both
    PARAGLOSS_DATA=... python recipes/encoders.py mixed [WORDS]            fairness of one list over seven languages

PARAGLOSS_HELD names the default model's held build (recipes/default_model.py): the shipped one has seen these passages.
Everything goes through the product's own engine. Sets are `questions`'. e5 takes half a second a paragraph on one core;
PARAGLOSS_VECTORS may name a folder with vectors computed elsewhere by the same weights (keys.json: blake2b-8 digests of
"query: ..." and "passage: ...", vectorsN.npy: their float16 rows), and what is not there is computed here.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import questions

from paragloss.engine import Engine
from paragloss.evaluation import compare, evaluate, fairness
from paragloss.ranking import rank
from paragloss.search import calibrated
from paragloss.serving.pretrained import packages
from paragloss.translation import default
from paragloss.types import Document, Hit, Qrels, Query

PAIRS = [f"{name}:{lang}" for name, langs in {
    "claims": "ar de fi hi ru vi zh", "flores": "ar hi ru zh",
    "lohelp-titles": "de fi ru zh", "lohelp-first": "de fi ru zh",
    "mdn-titles": "ru zh", "mdn-first": "ru zh", "ddtp-titles": "de ru", "ddtp-first": "de ru",
}.items() for lang in langs.split()]  # fmt: skip
MIXED = ("ar", "de", "fi", "hi", "ru", "vi", "zh")
WORDS = os.environ.get("PARAGLOSS_HELD", str(Path(default.__file__).parent / "data" / "model"))
SYSTEMS = {"bm25": "bm25", "table": "model", "e5": "e5", "fast": "bm25+model", "fused": "bm25+model+e5"}
MOST = 250


class Computed:
    """e5's vectors from a folder; the package itself for what is not there."""

    alone, dim = True, 384

    def __init__(self, folder: Path) -> None:
        self._place = {key: i for i, key in enumerate(json.loads((folder / "keys.json").read_text()))}
        self._rows = np.concatenate([np.load(file) for file in sorted(folder.rglob("vectors*.npy"))])
        self._rest: packages.E5 | None = None

    def encode(self, texts: Sequence[str], *, query: bool) -> np.ndarray:
        prefix = "query: " if query else "passage: "
        keys = [hashlib.blake2b(f"{prefix}{text}".encode(), digest_size=8).hexdigest() for text in texts]
        missing = [i for i, key in enumerate(keys) if key not in self._place]
        rows = self._rows[[self._place.get(key, 0) for key in keys]].astype(np.float32)
        if missing:
            self._rest = self._rest or packages.E5()
            rows[missing] = self._rest.encode([texts[i] for i in missing], query=query)
        return rows


def asked(name: str, lang: str) -> questions.Questions:
    corpus, _, kind = name.partition("-")
    if name == "claims":
        made = questions.claims(lang)
    elif name == "flores":
        made = questions.sentences(lang)
    else:
        made = questions.titles(corpus, lang) if kind == "titles" else questions.first_sentences(corpus, lang)
    return fewer(made, {"flores": 500, "mdn": 600, "ddtp": 800}.get(corpus, 10_000))


def fewer(made: questions.Questions, most: int) -> questions.Questions:
    """At most `most` documents, and of the queries those whose answer is among them: e5 is slow."""
    if len(made.documents) > most:
        kept = sorted(random.Random(0).sample(range(len(made.queries)), min(len(made.queries), most * 5 // 8)))
        need = list(dict.fromkeys(made.right[i] for i in kept))
        order = random.Random(1).sample(range(len(made.documents)), len(made.documents))
        chosen = sorted([*need, *[i for i in order if i not in set(need)][: most - len(need)]])
        place = {document: i for i, document in enumerate(chosen)}
        made = made._replace(
            queries=[made.queries[i] for i in kept],
            documents=[made.documents[i] for i in chosen],
            right=[place[made.right[i]] for i in kept],
        )
    some = sorted(random.Random(5).sample(range(len(made.queries)), min(MOST, len(made.queries))))
    return made._replace(queries=[made.queries[i] for i in some], right=[made.right[i] for i in some])


def ranked(engine: Engine, queries: Sequence[Query], pipeline: str, to: Sequence[str]) -> dict:
    rankings = engine.rank(queries, k=100, to=to, pipeline=pipeline)
    return {query.id: ranking for query, ranking in zip(queries, rankings, strict=True)}


def pairs(chosen: Sequence[str]) -> None:
    print(f"{'RR':20}{'queries':>8}" + "".join(f"{name:>8}" for name in SYSTEMS) + "   fused against the best part")
    every: dict[str, list[float]] = {name: [] for name in SYSTEMS}
    for pair in chosen or PAIRS:
        name, lang = pair.split(":")
        made = asked(name, lang)
        with tempfile.TemporaryDirectory() as place, Engine.create(f"{place}/c", models=[WORDS, "e5"]) as engine:
            engine.index(made.documents)
            scores = {
                system: evaluate(ranked(engine, made.queries, pipeline, [lang]), made.qrels, ["RR"])["RR"]
                for system, pipeline in SYSTEMS.items()
            }
        means = {system: float(np.mean(list(values.values()))) for system, values in scores.items()}
        for system, mean in means.items():
            every[system].append(mean)
        best = max(("bm25", "table", "e5"), key=lambda system: means[system])
        test = compare(scores[best], scores["fused"])
        print(
            f"{pair:20}{len(made.queries):8}" + "".join(f"{mean:8.3f}" for mean in means.values())
            + f"   {test.difference:+.3f} {best} p {test.p_randomisation:.4f}", flush=True,
        )  # fmt: skip
    print(f"{'mean of the pairs':28}" + "".join(f"{np.mean(means):8.3f}" for means in every.values()))
    for system in ("table", "e5"):
        test = compare(*({str(i): mean for i, mean in enumerate(every[s])} for s in (system, "fused")))
        print(f"fused against {system}, over pairs: {test.difference:+.3f} p {test.p_randomisation:.5f}")


def mixed(words: int) -> None:
    """One right passage in each of seven languages; then in one of them only."""
    queries, documents, qrels, langs = [], [], {}, {}
    chance = random.Random(0)
    for run in questions.runs("test"):
        here = [row for row in run if all(lang in row for lang in (*MIXED, "en"))]
        for start in range(0, len(here), 4):
            passage, number = here[start : start + 4], len(documents) // len(MIXED)
            for lang in MIXED:
                langs[f"{number}.{lang}"] = lang
                documents.append(Document(f"{number}.{lang}", " ".join(row[lang] for row in passage), lang))
            for row in passage:
                if text := questions.keywords(row["en"], "en", words, chance):
                    queries.append(Query(f"q{len(queries)}", text, "en"))
                    qrels[queries[-1].id] = {f"{number}.{lang}": 1 for lang in MIXED}
    queries = random.Random(5).sample(queries, min(MOST, len(queries)))
    qrels = {query.id: qrels[query.id] for query in queries}
    pipelines = {"scores as they are": "sum(3*bm25+8*model)", "calibrated": "bm25+model"}
    with tempfile.TemporaryDirectory() as place, Engine.create(f"{place}/c", models=[WORDS]) as engine:
        engine.index(documents)
        for name, pipeline in pipelines.items():
            run = ranked(engine, queries, pipeline, MIXED)
            among, fair = fairness.first(run, qrels, langs, at=len(MIXED)), fairness.measure(run, qrels, langs)
            print(f"{name}: of {len(queries)} queries' right passages in {len(MIXED)} languages among the first "
                  f"{len(MIXED)}: {np.mean(list(among.values())):.3f}, least {min(among.values()):.3f}; "
                  f"fairness {fair.fairness:.3f}, exposure {fair.mean:.3f}; "
                  + " ".join(f"{lang} {share:.2f}" for lang, share in among.items()), flush=True)  # fmt: skip
            rr = np.mean(in_one_language(engine, queries, qrels, langs, pipeline))
            print(
                f"  right in one language only, the others' right ones taken out before merging: RR {rr:.3f}",
                flush=True,
            )


def in_one_language(
    engine: Engine, queries: Sequence[Query], qrels: Qrels, langs: Mapping[str, str], pipeline: str
) -> list[float]:
    """Reciprocal ranks of the one right document when the other languages have none."""
    found = {lang: ranked(engine, queries, pipeline, [lang]) for lang in MIXED}
    merge = calibrated.merged if pipeline.startswith("bm25") else by_score
    ranks = []
    for right in MIXED:
        for query in queries:
            lists = [
                {h.id: h.score for h in found[lang][query.id] if lang == right or h.id not in qrels[query.id]}
                for lang in MIXED
            ]
            order = [hit.id for hit in merge(lists, 1000)]
            wanted = next(id for id in qrels[query.id] if langs[id] == right)
            ranks.append(1 / (1 + order.index(wanted)) if wanted in order else 0.0)
    return ranks


def by_score(lists: Sequence[Mapping[str, float]], k: int) -> list[Hit]:
    return rank((Hit(id, score) for scores in lists for id, score in scores.items()), k)


def main() -> None:
    warnings.simplefilter("ignore")
    if folder := os.environ.get("PARAGLOSS_VECTORS"):
        computed = Computed(Path(folder))
        packages.opened = lambda name: computed  # the same weights, computed elsewhere
    what, *more = sys.argv[1:] or ["pairs"]
    if what == "mixed":
        mixed(int(more[0]) if more else 10)
    else:
        pairs(more)


if __name__ == "__main__":
    main()
