"""A small collection to look at, sixty concepts of general interest in twelve languages, and what to do with it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paragloss.collection import Collection
from paragloss.demo.measurement import measured
from paragloss.demo.texts import ITSELF, RELATED, concepts, documents, queries, related
from paragloss.errors import InputError

__all__ = ["ITSELF", "QUESTIONS", "RELATED", "concepts", "documents", "queries", "related", "run"]

#: What the demonstration asks: a query, its language, and the languages to find documents in.
QUESTIONS = (
    ("how do bees make honey", "en", ["sw", "hi", "zh"]),
    ("tremblement de terre et secousses", "fr", ["ar", "da", "vi"]),
    ("Wie entsteht ein Regenbogen?", "de", ["es", "ru", "it"]),
    ("咖啡豆", "zh", ["en", "it", "sw"]),
    ("समुद्री तूफ़ान और तेज़ हवा", "hi", ["en", "ru", "ar"]),
)


def run(into: Path, *, show: Callable[[Any], None], say: Callable[[str], None]) -> None:
    """Index, search and measure the demonstration in a folder; its collection is made anew each time."""
    if into.exists() and not (into / ".paragloss-demo").is_file():
        raise InputError(f"{into} exists and is not a demonstration: choose another folder with --into")
    shutil.rmtree(into / "collection", ignore_errors=True)
    into.mkdir(parents=True, exist_ok=True)
    (into / ".paragloss-demo").touch()
    say("Indexing sixty concepts in twelve languages; the default model needs no training ...")
    with Collection.open_or_create(str(into / "collection"), meaning=False) as engine:
        engine.index(documents())
        say(f"{engine.count()} documents. Now some searches across languages:\n")
        for text, lang, to in QUESTIONS:
            show(engine.search(text, lang=lang, to=to, k=3))
            say("")
        for line in measured(engine):
            say(line)
    say("")
    say(
        "Try next:\n"
        f'  paragloss search --in {into}/collection "a storm at sea that floods the coast" --to fr,sw\n'
        f'  paragloss search --in {into}/collection "月球引力" --lang zh\n'
        f"  paragloss info {into}/collection\n"
        "  paragloss index YOUR_FOLDER --into my-collection\n"
        "  paragloss --help\n"
        f"  paragloss serve {into}/collection          # then open http://localhost:8000/"
    )
