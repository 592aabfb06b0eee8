"""Every part of a search alone and all of them fused, on every real set; and one list over eight languages.

    PARAGLOSS_DATA=... python studies/fusion.py measure --into DIR [SET:LANG ...]    goes on where it was stopped
    PARAGLOSS_DATA=... python studies/fusion.py measure --box --into DIR ...         what is in the box only
    PARAGLOSS_DATA=... python studies/fusion.py table DIR                            tables and tests
    python studies/fusion.py keep DIR; paragloss recipes --docs docs                 puts them into README and docs
    PARAGLOSS_DATA=... python studies/fusion.py gather --into DIR [SET:LANG ...]     both kinds of evidence, other parts
    python studies/fusion.py weigh DIR                                               what meaning should count, by those
    PARAGLOSS_DATA=... python studies/fusion.py others [LANG ...]                    languages that no table knows
    PARAGLOSS_DATA=... python studies/fusion.py mixed [--part valid]                 lists over eight languages
    PARAGLOSS_DATA=... python studies/fusion.py trust [LANG ...]                     what a dictionary counts

Queries are English. Sets are `questions`': titles and first sentences find pages, sentences find their translations,
a few words and written questions find passages of news. `default` is the default model's held build, named by
PARAGLOSS_HELD (studies/default_model.py): the shipped one has seen some of the documents. `own` and `cr5` are learned
from the training concepts of the same collection, where it has them; `muse` are MUSE's word pairs. `box` is what is
searched when nobody adds anything: words, `default` and `meaning`. Everything searches
through the product's own pipelines. e5's vectors may come from a folder (see `computed`). p is the randomisation test
over queries, by Holm's correction over all comparisons of a table.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import computed
import fairness
import numpy as np
import questions
from sets import folder, sentences, split

from paragloss.collection import Collection, retrieval, train
from paragloss.evaluation import compare, evaluate
from paragloss.formats.dictionaries import read_pairs
from paragloss.lab.methods import cr5, table
from paragloss.lab.recipes import collected
from paragloss.ranking import rank
from paragloss.search import calibrated
from paragloss.translation import default, word_table
from paragloss.translation.dictionary import Dictionary
from paragloss.types import Concept, Hit, Query

PASSAGES, PAGES, SENTENCES = 225, 600, 500  # documents of a set, at most
MOST, LEARNED = 200, 2000
LANGS: Mapping[str, str] = {
    "asked": "es de fr ru ar hi zh ja ko tr vi fi sw ta el it pt id he",
    "claims": "es de fr it pt ru ar hi zh ja ko tr vi id fi sw ta he",
    "phrases": "es de ru ar hi zh vi",
    "flores": "es de fr ru ar hi zh ja ko tr fi vi",
    "tatoeba": "de fr ru ar hi ja tr fi",
    "lohelp-titles": "de it fr nl ru fi zh ja ko tr",
    "lohelp-first": "de it fr nl ru fi zh ja ko tr",
    "ddtp-titles": "da it fr de ja ru es pl",
    "ddtp-first": "da it fr de ja ru es pl",
    "mdn-titles": "fr ja zh ru es ko",
    "mdn-first": "fr ja zh ru es ko",
}
NAMES = {
    "asked": "written questions, passages of news",
    "claims": "five words of a sentence, passages of news",
    "phrases": "phrases of a sentence, passages of news",
    "flores": "FLORES sentences",
    "tatoeba": "Tatoeba sentences",
    "lohelp-titles": "LibreOffice help, titles",
    "lohelp-first": "LibreOffice help, first sentences",
    "ddtp-titles": "Debian descriptions, titles",
    "ddtp-first": "Debian descriptions, first sentences",
    "mdn-titles": "MDN web docs, titles",
    "mdn-first": "MDN web docs, first sentences",
}
OTHERS = "af az be bs cy et gl gu hy is kn lt lv ml mr mt my sr te"
MIXED = ("es", "de", "ru", "ar", "vi", "hi", "el", "zh")
SYSTEMS = ("words", "default", "muse", "own", "cr5", "meaning", "e5", "fast", "box", "fused")
PARTS = SYSTEMS[:-3]
#: What meaning's weight is chosen by: validation passages and training pages, that no figure is measured on.
CHOSEN_BY: Mapping[str, str] = {
    "asked": "de ru es ja hi vi fr it ar zh ta ko", "claims": "de ru es ja hi vi fr it ar zh ta ko",
    "phrases": "de ru hi vi ar zh ta ko", "lohelp-titles": "de ru es ja fr ko", "ddtp-titles": "de ru es fr ja",
    "mdn-titles": "ru es ja fr zh",
}  # fmt: skip
HELD = os.environ.get("PARAGLOSS_HELD", str(Path(default.__file__).parent / "data" / "model"))


def asked(name: str, lang: str) -> questions.Questions:
    corpus, _, kind = name.partition("-")
    if kind:
        made = questions.titles(corpus, lang) if kind == "titles" else questions.first_sentences(corpus, lang)
        return fewer(made, {"lohelp": 10_000, "ddtp": 800}.get(corpus, PAGES))
    make: Callable[[str], questions.Questions] = {
        "asked": questions.asked, "claims": questions.claims, "phrases": questions.phrases,
        "flores": questions.sentences, "tatoeba": questions.everyday,
    }[corpus]  # fmt: skip
    return fewer(make(lang), {"flores": SENTENCES, "tatoeba": PAGES}.get(corpus, 10_000))


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


def concepts(corpus: str, lang: str) -> list[Concept]:
    """What may be learned from: a collection's training part, none where it has none."""
    if corpus == "tatoeba":
        some = sentences(lang).train
    elif corpus in ("mdn", "lohelp", "ddtp"):
        some = [c for c in split(corpus, ["en", lang]).train if {"en", lang} <= c.texts.keys()]
    else:
        return []
    return random.Random(0).sample(some, min(LEARNED, len(some)))


def models(name: str, lang: str, place: Path) -> dict[str, str]:
    """Where each part's model is; learned once for all sets of a collection and a language."""
    corpus = name.partition("-")[0]
    kept = place / f"{corpus}.{lang}"
    found = {"default": HELD, "e5": "e5"}
    if (pairs := folder() / "muse" / f"en-{lang}.tsv.gz").is_file():
        if not (kept / "muse").is_dir():
            Dictionary.build(read_pairs(pairs), "en", lang).save(kept / "muse")
        found["muse"] = str(kept / "muse")
    learned = concepts(corpus, lang) if not (kept / "cr5").is_dir() else []
    if learned:
        table.fit(learned).save(kept / "own")
        train(cr5.fit, learned).save(kept / "cr5")
    return found | {part: str(kept / part) for part in ("own", "cr5") if (kept / part).is_dir()}


def pipelines(held: str, parts: Mapping[str, str]) -> dict[str, str]:
    """Each part alone and the box; or with e5, which takes the place of `meaning`, all but e5 and all, as a search
    without a pipeline does."""
    named = {"words": "bm25", "default": held}
    if "e5" not in parts:
        return named | {"meaning": "meaning", "box": f"bm25+{held}+meaning"}
    named |= {part: part for part in ("muse", "own", "cr5", "e5") if part in parts}
    weights = {"muse": Dictionary.trust, "own": word_table.USER_TABLE_TRUST}
    mixed = "+".join([held, *(f"{weight:g}*{part}" for part, weight in weights.items() if part in parts)])
    fast = f"bm25+mix({mixed})" if "+" in mixed else f"bm25+{mixed}"
    fast += "+cr5" if "cr5" in parts else ""
    return named | {"fast": fast, "fused": f"{fast}+e5"}


def measured(name: str, lang: str, parts: Mapping[str, str]) -> dict[str, dict[str, float]]:
    made = asked(name, lang)
    with (
        tempfile.TemporaryDirectory() as here,
        Collection.create(f"{here}/c", models=[*parts.values()], meaning=True, default=False) as engine,
    ):
        engine.index(made.documents)
        scores = {}
        for system, pipeline in pipelines(Path(HELD).name, parts).items():
            rankings = engine.rank(made.queries, k=100, to=[lang], pipeline=pipeline)
            run = {query.id: ranking for query, ranking in zip(made.queries, rankings, strict=True)}
            scores[system] = evaluate(run, made.qrels, ["RR"])["RR"]
    return scores


def measure(place: Path, pairs: Sequence[str], *, box: bool) -> None:
    place.mkdir(parents=True, exist_ok=True)
    for pair in pairs or [f"{name}:{lang}" for name, langs in LANGS.items() for lang in langs.split()]:
        kept = place / f"{pair}.json"
        if not kept.exists():
            name, lang = pair.split(":")
            scores = measured(name, lang, {"default": HELD} if box else models(name, lang, place))
            kept.write_text(json.dumps(scores))
            print(pair, " ".join(f"{s} {np.mean(list(v.values())):.3f}" for s, v in scores.items()), flush=True)


def read(place: Path) -> dict[str, dict[str, dict[str, float]]]:
    return {path.name[:-5]: json.loads(path.read_text()) for path in sorted(place.glob("*.json"))}


def overview(place: Path) -> dict[str, dict]:
    """For each set the mean over its languages, and what the fusion gains over each part with its corrected p."""
    found, kept, tests = read(place), {}, []
    for name in LANGS:
        here = {pair: scores for pair, scores in found.items() if pair.startswith(f"{name}:")}
        if here:
            pooled = {s: values for s in SYSTEMS if (values := _pooled(here, s))}
            means = {s: round(_mean(values), 6) for s, values in pooled.items()}
            whole = pooled["fused" if "fused" in pooled else "box"]
            kept[name] = {"name": NAMES[name], "languages": len(here), "queries": len(whole), "RR": means}
            kept[name] |= {"gain": {}, "p": {}}
            for part in [part for part in PARTS if part in pooled]:
                fused = {query: whole[query] for query in pooled[part]}
                tests.append((kept[name], part, compare(pooled[part], fused)))
    for (told, part, test), p in zip(tests, _holm([t.p_randomisation for *_, t in tests]), strict=True):
        told["gain"][part], told["p"][part] = round(test.difference, 4), round(p, 5)
    return kept


def tabled(place: Path) -> None:
    """Set by set, then pair by pair."""
    print("| RR | languages | queries | " + " | ".join(SYSTEMS) + " |\n" + "|---" * (len(SYSTEMS) + 3) + "|")
    kept = overview(place)
    for told in kept.values():
        cells = [f"{told['RR'][s]:.3f}" if s in told["RR"] else "-" for s in SYSTEMS]
        print(f"| {told['name']} | {told['languages']} | {told['queries']} | " + " | ".join(cells) + " |")
    print("\nfused against each part, all languages together (p by Holm):")
    for name, told in kept.items():
        for part, gain in told["gain"].items():
            print(f"  {name:14} {part:8} {gain:+.3f} p {told['p'][part]:.4f}")
    for fusion, parts in (("box", ("words", "default", "meaning")), ("fused", PARTS)):
        against = []
        for pair, scores in [(pair, scores) for pair, scores in read(place).items() if fusion in scores]:
            best = max((s for s in parts if s in scores), key=lambda s: _mean(scores[s]))
            against.append((pair, best, compare(scores[best], scores[fusion])))
        corrected = _holm([test.p_randomisation for *_, test in against])
        above = sum(test.difference > 0 and p < 0.05 for (*_, test), p in zip(against, corrected, strict=True))
        print(f"\n{fusion} against the best part of each of {len(against)} pairs: {above} above by Holm; below:")
        for (pair, best, test), p in zip(against, corrected, strict=True):
            if test.difference < 0:
                print(f"  {pair:18} {best:8} {test.difference:+.3f} p {test.p_randomisation:.4f}, by Holm {p:.4f}")


def keep(place: Path) -> None:
    """Into the package's collected.json, which README and docs/understand/fusion.md are written from."""
    known = json.loads(collected.SHIPPED.read_text(encoding="utf-8"))
    measured = overview(place)
    name = "fusion" if all("fused" in told["RR"] for told in measured.values()) else "box"
    text = json.dumps({**known, name: measured}, ensure_ascii=False, indent=1)
    collected.SHIPPED.write_text(text + "\n", encoding="utf-8")


def _pooled(pairs: Mapping[str, Mapping[str, Mapping[str, float]]], system: str) -> dict[str, float]:
    return {f"{pair} {q}": rr for pair, scores in pairs.items() for q, rr in scores.get(system, {}).items()}


def _mean(scores: Mapping[str, float]) -> float:
    return float(np.mean(list(scores.values())))


def _holm(p: Sequence[float]) -> list[float]:
    order, found, most = sorted(range(len(p)), key=lambda i: p[i]), [0.0] * len(p), 0.0
    for place, i in enumerate(order):
        most = found[i] = max(most, min(1.0, p[i] * (len(p) - place)))
    return found


def others(langs: Sequence[str]) -> None:
    """FLORES sentences in languages that the default model has no words of: words as they stand, meaning, both."""
    print("| | words | meaning | the box |\n|---|---|---|---|")
    for lang in langs or OTHERS.split():
        made = asked("flores", lang)
        with tempfile.TemporaryDirectory() as here, Collection.create(f"{here}/c", meaning=True) as engine:
            engine.index(made.documents)
            runs = [ranked(engine, made.queries, pipeline, [lang]) for pipeline in ("bm25", "meaning", None)]
            found = [_mean(evaluate(run, made.qrels, ["RR"])["RR"]) for run in runs]
        print(f"| {lang} | " + " | ".join(f"{rr:.3f}" for rr in found) + " |", flush=True)


# What meaning counts


def gather(place: Path, pairs: Sequence[str]) -> None:
    """For each query the documents that words or meaning found, with what each kind says, and which one is right."""
    place.mkdir(parents=True, exist_ok=True)
    held = Path(HELD).name
    for pair in pairs or [f"{name}:{lang}" for name, langs in CHOSEN_BY.items() for lang in langs.split()]:
        name, lang = pair.split(":")
        made = fewer(unseen(name, lang), PAGES)
        with (
            tempfile.TemporaryDirectory() as here,
            Collection.create(f"{here}/c", models=[HELD], meaning=True) as engine,
        ):
            engine.index(made.documents)
            searcher = retrieval.searcher(engine.state, f"bm25+{held}+meaning", "en", [lang])
            assert isinstance(searcher, calibrated.Calibrated)
            rows = []
            for number, (query, right) in enumerate(zip(made.queries, made.right, strict=True)):
                by_words, by_meaning = kinds(searcher, query)
                for id in {**by_words, **by_meaning}:
                    is_right = id == made.documents[right].id
                    rows.append((number, by_words.get(id, 0.0), by_meaning.get(id, 0.0), is_right))
        np.save(place / f"{pair}.npy", np.array(rows, np.float32))
        print(pair, len(made.queries), len(made.documents), flush=True)


def kinds(searcher: calibrated.Calibrated, query: Query) -> tuple[dict[str, float], dict[str, float]]:
    """What words say of documents, and what meaning does, in the one language that is searched."""
    (found,) = searcher.gather([query], 100)
    *words, meaning = [dict(part[0]) for part in found.shares]
    return calibrated.evidence(list(zip(words, searcher.weights, strict=False)), []), meaning


def unseen(name: str, lang: str) -> questions.Questions:
    """A set's validation or training part."""
    corpus, _, kind = name.partition("-")
    if kind:
        return questions.titles(corpus, lang, part="train")
    make = {"asked": questions.asked, "claims": questions.claims, "phrases": questions.phrases}[corpus]
    return make(lang, part="valid")


def weigh(place: Path) -> None:
    """Mean RR of each kind of query for weights of meaning, the same for all."""
    weights = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 1.0)
    print("| meaning counts | " + " | ".join(CHOSEN_BY) + " | mean |\n" + "|---" * (len(CHOSEN_BY) + 2) + "|")
    for weight in weights:
        kinds = [
            np.mean([_reciprocal(np.load(file), weight) for file in sorted(place.glob(f"{name}:*.npy"))])
            for name in CHOSEN_BY
        ]
        print(f"| {weight:g} | " + " | ".join(f"{kind:.3f}" for kind in kinds) + f" | {np.mean(kinds):.4f} |")


def _reciprocal(rows: np.ndarray, weight: float) -> float:
    number, right = rows[:, 0].astype(int), rows[:, 3] > 0
    evidence = rows[:, 1] + weight * rows[:, 2]
    best = np.full(number.max() + 1, np.inf)
    best[number[right]] = evidence[right]
    above = np.bincount(number, evidence > best[number], minlength=len(best))
    return float(np.mean(np.where(np.isfinite(best), 1 / (1 + above), 0.0)))


# One list over eight languages


def mixed(part: str) -> None:
    """One right passage in each language; then in one of them only, the others' right ones taken out."""
    sets = {
        "ten words": lambda lang: questions.claims(lang, part=part, words=10),
        "phrases of twelve words": lambda lang: questions.phrases(lang, part=part, words=12),
        "questions": lambda lang: questions.asked(lang, part=part),
    }
    held, systems = Path(HELD).name, {}
    systems["as they are"] = f"sum(3*bm25+8*{held})"
    systems |= {"fast": f"bm25+{held}", "best": f"bm25+{held}+e5"}
    for name, make in sets.items():
        made = {lang: make(lang) for lang in MIXED}
        documents, queries, qrels, langs = together(made)
        with (
            tempfile.TemporaryDirectory() as place,
            Collection.create(f"{place}/c", models=[HELD, "e5"], meaning=False) as engine,
        ):
            engine.index(documents)
            for system, pipeline in systems.items():
                run = ranked(engine, queries, pipeline, MIXED)
                among, fair = fairness.first(run, qrels, langs, at=len(MIXED)), fairness.measure(run, qrels, langs)
                alone = np.mean(in_one_language(engine, queries, qrels, langs, pipeline))
                print(f"| {name}, {len(queries)} | {system} | {np.mean(list(among.values())):.3f} | "
                      f"{min(among.values()):.2f} ({min(among, key=among.__getitem__)}) | {fair.fairness:.2f} | "
                      f"{fair.mean:.3f} | {alone:.3f} | "
                      + " ".join(f"{lang} {share:.2f}" for lang, share in among.items()), flush=True)  # fmt: skip


def together(made: Mapping[str, questions.Questions]) -> tuple[list, list[Query], dict, dict[str, str]]:
    """The passages that all languages have, in all of them, and the queries with a right one in each."""
    shared = min(len(some.documents) for some in made.values())
    documents = [d._replace(id=f"{d.id}.{lang}") for lang, some in made.items() for d in some.documents[:shared]]
    langs = {document.id: document.lang for document in documents}
    one = next(some for some in made.values() if len(some.documents) == shared)
    asked = [(query, f"passage{right}") for query, right in zip(one.queries, one.right, strict=True)]
    asked = random.Random(5).sample(asked, min(MOST, len(asked)))
    qrels = {query.id: {f"{right}.{lang}": 1 for lang in made} for query, right in asked}
    return documents, [query for query, _ in asked], qrels, langs


def ranked(engine: Collection, queries: Sequence[Query], pipeline: str | None, to: Sequence[str]) -> dict:
    rankings = engine.rank(queries, k=100, to=to, pipeline=pipeline)
    return {query.id: ranking for query, ranking in zip(queries, rankings, strict=True)}


def in_one_language(
    engine: Collection, queries: Sequence[Query], qrels: Mapping, langs: Mapping[str, str], pipeline: str
) -> list[float]:
    """Reciprocal ranks of the one right document when the other languages have none."""
    found = {lang: ranked(engine, queries, pipeline, [lang]) for lang in MIXED}
    merge = by_score if pipeline.startswith("sum") else calibrated.merged
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


# What a dictionary that a reader brings counts beside the default model


def trust(langs: Sequence[str]) -> None:
    """Validation passages found by a few words and by questions, with MUSE's pairs at several weights."""
    weights, held = (0.0, 0.3, 1.0, 1.5, 3.0), Path(HELD).name
    print("| RR | queries | " + " | ".join(f"{weight:g}" for weight in weights) + " |")
    for lang in langs or [lang for lang in LANGS["claims"].split() if (folder() / f"muse/en-{lang}.tsv.gz").is_file()]:
        sets = {"claims": questions.claims(lang, part="valid"), "asked": questions.asked(lang, part="valid")}
        for name, made in sets.items():
            made, scores = fewer(made, 10_000), []
            with tempfile.TemporaryDirectory() as place:
                muse = Path(place) / "muse"
                Dictionary.build(read_pairs(folder() / "muse" / f"en-{lang}.tsv.gz"), "en", lang).save(muse)
                with Collection.create(f"{place}/c", models=[HELD, str(muse)], meaning=False) as engine:
                    engine.index(made.documents)
                    for weight in weights:
                        run = ranked(engine, made.queries, f"bm25+mix({held}+{weight:g}*muse)", [lang])
                        scores.append(_mean(evaluate(run, made.qrels, ["RR"])["RR"]))
            print(
                f"| {name} {lang} | {len(made.queries)} | " + " | ".join(f"{s:.3f}" for s in scores) + " |", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(dest="what", required=True)
    one = what.add_parser("measure")
    one.add_argument("--into", type=Path, required=True)
    one.add_argument("--box", action="store_true")
    one.add_argument("pairs", nargs="*")
    what.add_parser("table").add_argument("place", type=Path)
    what.add_parser("keep").add_argument("place", type=Path)
    one = what.add_parser("gather")
    one.add_argument("--into", type=Path, required=True)
    one.add_argument("pairs", nargs="*")
    what.add_parser("others").add_argument("langs", nargs="*")
    what.add_parser("weigh").add_argument("place", type=Path)
    what.add_parser("mixed").add_argument("--part", default="test")
    what.add_parser("trust").add_argument("langs", nargs="*")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    computed.install()
    if args.what == "measure":
        measure(args.into, args.pairs, box=args.box)
    elif args.what == "table":
        tabled(args.place)
    elif args.what == "keep":
        keep(args.place)
    elif args.what == "trust":
        trust(args.langs)
    elif args.what == "gather":
        gather(args.into, args.pairs)
    elif args.what == "others":
        others(args.langs)
    elif args.what == "weigh":
        weigh(args.place)
    else:
        mixed(args.part)


if __name__ == "__main__":
    main()
