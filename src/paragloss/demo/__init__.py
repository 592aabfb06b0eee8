"""The demonstration: sixty concepts of general interest in twelve languages, with queries and judgments."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paragloss.collection import Collection
from paragloss.demo.measurement import measure_by_language
from paragloss.demo.texts import ITSELF, RELATED, concepts, documents, queries, related
from paragloss.errors import InputError

__all__ = ["ITSELF", "QUESTIONS", "RELATED", "concepts", "documents", "queries", "related", "run"]

#: The searches of the demonstration: a query, its language, and the languages to find documents in.
QUESTIONS = (
    ("how do bees make honey", "en", ["sw", "hi", "zh"]),
    ("tremblement de terre et secousses", "fr", ["ar", "da", "vi"]),
    ("Wie entsteht ein Regenbogen?", "de", ["es", "ru", "it"]),
    ("咖啡豆", "zh", ["en", "it", "sw"]),
    ("समुद्री तूफ़ान और तेज़ हवा", "hi", ["en", "ru", "ar"]),
)
NEXT_STEPS = """
Try next:
  paragloss search --in {into}/collection "a storm at sea that floods the coast" --to fr,sw
  paragloss search --in {into}/collection "月球引力" --lang zh
  paragloss info {into}/collection
  paragloss index YOUR_FOLDER --into my-collection
  paragloss --help
  paragloss serve {into}/collection          # then open http://localhost:8000/"""


def run(into: Path, *, show: Callable[[Any], None], say: Callable[[str], None]) -> None:
    """Index the demonstration into a new collection in a folder, search it and measure its results.

    :param into: the folder; the collection of an earlier demonstration in it is replaced.
    :param show: prints an answer.
    :param say: prints a line.
    :raises InputError: if the folder is there and has no demonstration.
    """
    _clear_folder(into)
    say("Indexing sixty concepts in twelve languages; the default model needs no training ...")
    with Collection.open_or_create(str(into / "collection"), meaning=False) as collection:
        collection.index(documents())
        say(f"{collection.count()} documents. Now some searches across languages:\n")
        for text, lang, to in QUESTIONS:
            show(collection.search(text, lang=lang, to=to, k=3))
            say("")
        for line in measure_by_language(collection):
            say(line)
    say(NEXT_STEPS.format(into=into))


def _clear_folder(into: Path) -> None:
    """Make the folder of a demonstration, or remove the collection of an earlier one from it.

    :raises InputError: if the folder is there and has no demonstration.
    """
    marker = into / ".paragloss-demo"
    if into.exists() and not marker.is_file():
        raise InputError(f"{into} exists and is not a demonstration: choose another folder with --into")
    shutil.rmtree(into / "collection", ignore_errors=True)
    into.mkdir(parents=True, exist_ok=True)
    marker.touch()
