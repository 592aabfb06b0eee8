"""Measure encoders alone, per kind of query and language: mean reciprocal rank of the right document.

    PARAGLOSS_DATA=... python studies/student_figures.py meaning e5 [FOLDER ...] [--kinds titles five-words questions]

Kinds: English titles of MDN and LibreOffice help against the titles of the same pages in another language; five words
of an English sentence, and written English questions, against passages of news and health text that no training text is
from (`studies/questions.py`, part "test"); English sentences of FLORES against their translations, in all languages,
with the ten languages that fall furthest behind the last encoder named. Writes each figure as a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator

import numpy as np
import questions
import sources

from papers.corpora import read_collection
from paragloss.encoders import pretrained

LANGS = {
    "titles-mdn": "ja fr zh ko ru es",
    "titles-lohelp": "de it hu ja tr vi fi el",
    "five-words": "de ru zh hi ta sw",
    "questions": "de ru zh hi ta sw",
}
MAX_QUERIES = 300
FLORES_SENTENCES = 150
#: What FLORES calls Norwegian.
FLORES_CODES = {"nb": "no"}


class RetrievalSet:
    """Queries in English, documents in one language, and the row of the right document for each query."""

    def __init__(self, kind: str, lang: str, queries: list[str], documents: list[str], right: list[int]) -> None:
        self.kind, self.lang, self.queries, self.documents, self.right = kind, lang, queries, documents, right


def make_title_set(collection: str, lang: str) -> RetrievalSet:
    """Pair the English titles of a collection with the titles of the same pages in another language."""
    pairs: dict[str, str] = {}
    for concept in read_collection(collection, ("en", lang)):
        english, other = concept.titles.get("en", ""), concept.titles.get(lang, "")
        if english and other and english != other:
            pairs.setdefault(other, english)
    chosen = sorted(random.Random(0).sample(sorted(pairs.items()), min(MAX_QUERIES, len(pairs))))
    documents, queries = [other for other, _ in chosen], [english for _, english in chosen]
    return RetrievalSet(f"titles-{collection}", lang, queries, documents, list(range(len(chosen))))


def make_passage_set(kind: str, lang: str) -> RetrievalSet:
    """Take five-word queries or written questions for held-out passages of news and health text."""
    question_set = (questions.claims if kind == "five-words" else questions.read_written_questions)(lang, part="test")
    step = max(1, len(question_set.queries) // MAX_QUERIES)
    queries = [query.text for query in question_set.queries[::step]]
    return RetrievalSet(
        kind, lang, queries, [document.text for document in question_set.documents], question_set.right[::step]
    )


def make_flores_sets() -> Iterator[RetrievalSet]:
    """Pair English sentences with their translations into every language of FLORES."""
    rows = [row["texts"] for row in sources.rows("flores")[::5][:FLORES_SENTENCES]]
    for lang in sorted(set(rows[0]) - {"en"}):
        rows_of_lang = [row for row in rows if lang in row]
        documents = [row[lang] for row in rows_of_lang]
        yield RetrievalSet(
            "flores", lang, [row["en"] for row in rows_of_lang], documents, list(range(len(rows_of_lang)))
        )


def make_sets(kinds: list[str]) -> Iterator[RetrievalSet]:
    for kind, langs in LANGS.items():
        for lang in langs.split() if kind.split("-")[0] in kinds or kind in kinds else ():
            yield make_title_set(kind[7:], lang) if kind.startswith("titles-") else make_passage_set(kind, lang)
    if "flores" in kinds:
        yield from make_flores_sets()


def compute_reciprocal_rank(model: pretrained.Pretrained, retrieval_set: RetrievalSet) -> float:
    lang = FLORES_CODES.get(retrieval_set.lang, retrieval_set.lang)
    documents = model.passages.encode(retrieval_set.documents, lang)
    scores = model.encode(retrieval_set.queries, "en") @ documents.T
    right = scores[np.arange(len(scores)), retrieval_set.right]
    return float((1 / (scores >= right[:, None]).sum(axis=1)).mean())


def report(figures: dict[tuple[str, str], dict[str, float]], encoders: list[str]) -> None:
    """Print the means per kind, and of FLORES the ten languages where the first encoder is furthest behind the last."""
    kinds = sorted({kind for kind, _ in figures})
    for kind in kinds:
        rows = [values for (other, _), values in figures.items() if other == kind]
        means = " ".join(f"{name} {np.mean([row[name] for row in rows]):.3f}" for name in encoders)
        print(f"{kind} ({len(rows)} languages): {means}", flush=True)
    flores = [
        (values[encoders[0]] - values[encoders[-1]], lang)
        for (kind, lang), values in figures.items()
        if kind == "flores"
    ]
    worst = [f"{lang} {figures['flores', lang][encoders[0]]:.3f} ({lead:+.3f})" for lead, lang in sorted(flores)[:10]]
    print("worst of FLORES:", ", ".join(worst))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoders", nargs="+", help="short names or folders")
    parser.add_argument("--kinds", nargs="+", default=["titles", "five-words", "questions", "flores"])
    args = parser.parse_args()
    models = {name: pretrained.open_encoder(pretrained.settings_for(name)) for name in args.encoders}
    figures: dict[tuple[str, str], dict[str, float]] = {}
    for retrieval_set in make_sets(args.kinds):
        if not all(
            FLORES_CODES.get(retrieval_set.lang, retrieval_set.lang) in model.langs for model in models.values()
        ):
            print(f"{retrieval_set.lang} is not a language of every encoder", file=sys.stderr)
            continue
        values = {name: compute_reciprocal_rank(model, retrieval_set) for name, model in models.items()}
        figures[retrieval_set.kind, retrieval_set.lang] = values
        print(json.dumps({"kind": retrieval_set.kind, "lang": retrieval_set.lang, **values}), flush=True)
    report(figures, args.encoders)


if __name__ == "__main__":
    main()
