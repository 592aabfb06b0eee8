"""A small collection to look at: sixty concepts of general interest in seven languages, and what to do with them.

The texts were written for Paragloss. `concepts.jsonl` is aligned by concept; `queries.jsonl` asks for each concept
in each language.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from paragloss.engine import Engine
from paragloss.evaluation import evaluate, mean
from paragloss.formats.jsonl import read_aligned, read_documents, read_queries
from paragloss.types import Concept, Document, Qrels, Query, Run

#: What the demonstration asks: a query, its language, and the languages to find documents in.
QUESTIONS = (
    ("how do bees make honey", "en", ["fr", "hi", "zh"]),
    ("tremblement de terre et secousses", "fr", ["en", "da", "vi"]),
    ("penicillina e batteri", "it", ["en", "zh", "da"]),
    ("咖啡豆", "zh", ["en", "it", "hi"]),
    ("समुद्री तूफ़ान और तेज़ हवा", "hi", ["en", "fr", "vi"]),
)


def concepts() -> list[Concept]:
    """The collection as training data."""
    with as_file(files(__package__) / "concepts.jsonl") as path:
        return read_aligned([path])


def documents() -> list[Document]:
    """The collection as documents, `concept.lang` being their ids."""
    with as_file(files(__package__) / "concepts.jsonl") as path:
        return list(read_documents(path))


def queries() -> tuple[list[Query], Qrels]:
    """A query per concept and language, and the documents that answer it: those on the concept in other languages."""
    with as_file(files(__package__) / "queries.jsonl") as path:
        asked = list(read_queries(path))
    by_concept: dict[str, dict[str, str]] = {}
    for document in documents():
        by_concept.setdefault(document.id.rsplit(".", 1)[0], {})[document.lang] = document.id
    return asked, {
        query.id: {id: 1 for lang, id in by_concept[query.id.rsplit("-", 1)[0]].items() if lang != query.lang}
        for query in asked
    }


def run(into: Path, *, show: Callable[[Any], None], say: Callable[[str], None]) -> None:
    """Index and search the demonstration in a folder, which is made anew each time."""
    if into.exists() and not (into / ".paragloss-demo").is_file():
        from paragloss.errors import InputError

        raise InputError(f"{into} exists and is not a demonstration: choose another folder with --into")
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    (into / ".paragloss-demo").touch()
    say("Indexing sixty concepts in seven languages; the default model needs no training ...")
    with Engine.open_or_create(str(into / "collection")) as engine:
        engine.index(documents())
        say(f"{engine.count()} documents. Now some searches across languages:\n")
        for text, lang, to in QUESTIONS:
            show(engine.search(text, lang=lang, to=to, k=3))
            say("")
        say("Every query of every language, asked of the other six; the default model has not seen these documents:")
        for name, pipeline in (("words as they stand (BM25)", "bm25"), ("default", None)):
            say(f"  {name:28}{_measured(engine, pipeline)}")
    say("")
    say(
        "Try next:\n"
        f'  paragloss search --in {into}/collection "stormy weather at sea" --to fr,vi\n'
        f'  paragloss search --in {into}/collection "飞行的鸟" --lang zh\n'
        f"  paragloss info {into}/collection\n"
        "  paragloss index YOUR_FOLDER --into my-collection\n"
        "  paragloss --help\n"
        f"  paragloss serve {into}/collection          # then open http://localhost:8000/"
    )


def _measured(engine: Engine, pipeline: str | None) -> str:
    """How well one way of searching finds the documents on a query's concept in other languages."""
    asked, qrels = queries()
    run: Run = {}
    for lang in engine.langs:
        mine = [query for query in asked if query.lang == lang]
        others = [other for other in engine.langs if other != lang]
        run |= dict(zip([q.id for q in mine], engine.rank(mine, k=100, to=others, pipeline=pipeline), strict=True))
    return ", ".join(f"{name} {value:.3f}" for name, value in mean(evaluate(run, qrels, ["RR", "P@1", "R@10"])).items())
