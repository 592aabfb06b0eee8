"""The model in the box: learned, packed and measured.

    PARAGLOSS_DATA=... python studies/default_model.py learn   --work DIR [--langs de,hi]   about an hour on one core
    PARAGLOSS_DATA=... python studies/default_model.py pack    --work DIR                   into the package
    PARAGLOSS_DATA=... python studies/default_model.py measure --work DIR [--langs ...]     the figures of
    docs/understand/model.md

Every language is learned twice: from its training part, for the figures ("held"), and from everything, for shipping
("all"). `measure` packs the held one just as the shipped one is and measures that, and what packing costs it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import finishing
import learning
import numpy as np
import questions
import retrieval_of_tables as scoring
import sources

from paragloss.translation import default
from paragloss.translation.default.packing import pack
from paragloss.types import Translator

BUILDS = {"held": ("train",), "all": ("train", "valid", "test")}
ABOUT = {
    "about": "word translations learned from open data; see docs/understand/model.md",
    "licence": "CC BY-SA 4.0, attributions in NOTICE",
    "version": 1,
}
#: Languages of FLORES dev for which the hub is measured, and ten pairs without English.
SENTENCES = """
fr it es de pt nl da sv no fi pl ru uk cs sk sl hr bg hu ro el tr ar he fa hi bn ta th vi id ms tl zh ja ko ca ig am
"""
PAIRS = "da-vi hi-fr es-ru de-zh ar-fr ru-tr ja-pt fi-it ko-de vi-el"
MDN, LOHELP = "fr ja zh ru es ko pt", "de it fr nl pt sl el da es ru fi zh ja ko"
DEBIAN = "da it fr de sk ja uk ko pl ru es cs"


def learn(work: Path, langs: Sequence[str]) -> None:
    english = learning.Cutter("en")
    for lang in langs:
        if all((work / build / lang).is_dir() for build in BUILDS):
            continue  # a run that broke goes on
        start = time.process_time()
        bitext = learning.read(list(sources.pairs(lang)), lang, english)
        for build, parts in BUILDS.items():
            learning.save(learning.learned(bitext, parts=parts), work / build / lang)
        print(f"{lang}: {len(bitext.kinds):,} pairs, {time.process_time() - start:.0f} s of one core", flush=True)


def packed(work: Path, build: str, langs: Sequence[str], *, exact: bool = False) -> default.DefaultModel:
    size = {"zh": finishing.LARGE, "ja": finishing.LARGE}
    tables = {
        lang: finishing.finished(learning.load(work / build / lang), size.get(lang, finishing.CHOSEN)) for lang in langs
    }
    return pack(tables, about=ABOUT, exact=exact)


@cache
def task(kind: str, lang: str, source: str = "en") -> tuple[questions.Questions, list[scoring.Documents]]:
    """Questions by their name and the documents they are asked of, cut once."""
    corpus, _, direction = kind.partition("-")
    if direction == "titles":
        page_titles = questions.titles(corpus, lang)
    elif direction == "first":
        page_titles = questions.first_sentences(corpus, lang, source=source)
    elif corpus == "claims":
        page_titles = questions.claims(lang, part=direction, source=source)
    else:
        page_titles = {"flores": questions.sentences, "tatoeba": questions.everyday}[corpus](lang, source=source)
    fields = [[d.text for d in page_titles.documents]]
    if any(d.title for d in page_titles.documents):
        fields.append([d.title for d in page_titles.documents])
    full_texts = [d.full_text for d in page_titles.documents]  # what words hold inside counts with the text
    return page_titles, [
        scoring.Documents.read(texts, lang, inner=None if i else full_texts) for i, texts in enumerate(fields)
    ]


def ranks(model: Translator, kind: str, lang: str, source: str = "en") -> np.ndarray:
    """Reciprocal rank of each question; asked in the documents' own language it is plain BM25."""
    query_set, documents = task(kind, lang, source)
    if source == lang:
        clauses = [scoring.own_words(query) for query in query_set.queries]
    else:
        clauses = [scoring.translated(query, lang, model, inner=True) for query in query_set.queries]
    return scoring.reciprocal_ranks(scoring.scores(clauses, *documents), query_set.right)


def measure(work: Path, langs: Sequence[str]) -> None:
    model = packed(work, "held", langs)
    size = sum(array.nbytes for array in model._arrays.values())
    print(f"packed: {len(langs) + 1} languages, {size / 1e6:.1f} MB")
    measured_sentences(model, langs)
    measured_pairs(model, langs)
    measured_questions(model, langs)
    measured_collections(model, langs)
    measured_packing(model, work, langs)


def measured_sentences(model: Translator, langs: Sequence[str]) -> None:
    print("\nFLORES dev, 997 sentences: share found first\nlang  en->x  x->en")
    rows = []
    for lang in SENTENCES.split():
        if lang in langs:
            rows.append(
                [(ranks(model, "flores", *direction) == 1).mean() for direction in ((lang, "en"), ("en", lang))]
            )
            print(f"{lang:4}  " + "  ".join(f"{value:.3f}" for value in rows[-1]), flush=True)
    print("mean  " + "  ".join(f"{value:.4f}" for value in np.mean(rows, axis=0)))


def measured_pairs(model: Translator, langs: Sequence[str]) -> None:
    print("\nFLORES dev, through English: share found first")
    rows = []
    for source, target in (pair.split("-") for pair in PAIRS.split()):
        if {source, target} <= set(langs):
            rows.append((ranks(model, "flores", target, source) == 1).mean())
            print(f"{source}-{target}  {rows[-1]:.3f}", flush=True)
    print(f"mean   {np.mean(rows):.4f}")


def measured_questions(model: Translator, langs: Sequence[str]) -> None:
    print("\nquestions, RR: model / monolingual BM25 (share of it)")
    kinds = {"claims-test": questions.LANGS, "mdn-first": MDN, "lohelp-first": LOHELP, "ddtp-first": DEBIAN}
    for kind, wanted_sets in kinds.items():
        values = []
        for lang in wanted_sets.split():
            if lang in langs:
                through_english, own = (ranks(model, kind, lang, source).mean() for source in ("en", lang))
                values.append((through_english, own))
                query_count = len(task(kind, lang)[0].queries)
                print(
                    f"{kind:13} {lang:3} {query_count:5}  {through_english:.3f} / {own:.3f}  "
                    f"({through_english / own:.2f})",
                    flush=True,
                )
        if values:
            print(f"{kind:13} mean  " + " / ".join(f"{value:.4f}" for value in np.mean(values, axis=0)), flush=True)


def measured_collections(model: Translator, langs: Sequence[str]) -> None:
    print("\nRR of a model that has seen nothing of the collection")
    kinds = {"tatoeba": " ".join(langs), "mdn-titles": MDN, "lohelp-titles": LOHELP, "ddtp-titles": DEBIAN}
    for kind, wanted_sets in kinds.items():
        values = {}
        for lang in wanted_sets.split():
            if lang in langs and (kind != "tatoeba" or len(task(kind, lang)[0].queries) >= 50):
                values[lang] = ranks(model, kind, lang).mean()
        if values:
            cells = " ".join(f"{lang} {value:.3f}" for lang, value in values.items())
            print(f"{kind:13} {np.mean(list(values.values())):.4f}  {cells}", flush=True)


def measured_packing(model: Translator, work: Path, langs: Sequence[str]) -> None:
    """Against every word and phrase, more translations of each, and full precision."""
    unpruned = finishing.CHOSEN._replace(words=10**7, phrases=10**7, min_probability=0.001, max_translations=50)
    losses = []
    for lang in [lang for lang in ("es", "de", "ru", "ar", "hi", "vi", "el", "zh") if lang in langs]:
        exact = pack({lang: finishing.finished(learning.load(work / "held" / lang), unpruned)}, exact=True)
        losses.append([ranks(compared_model, "claims-test", lang).mean() for compared_model in (exact, model)])
        print(f"packing {lang}: {losses[-1][0]:.4f} whole, {losses[-1][1]:.4f} packed", flush=True)
    print(f"loss of packing, RR: {np.mean(losses, axis=0) @ [1, -1]:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=["learn", "pack", "measure"])
    parser.add_argument("--work", type=Path, required=True, help="folder for what is learned of each language")
    parser.add_argument("--langs", default=",".join(sources.LANGS))
    options = parser.parse_args()
    langs = options.langs.split(",")
    if options.step == "learn":
        learn(options.work, langs)
    elif options.step == "pack":
        packed(options.work, "all", langs).save(Path(default.__file__).parent / "data" / "model")
    else:
        measure(options.work, langs)


if __name__ == "__main__":
    main()
