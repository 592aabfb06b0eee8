"""Commands that fill a collection and look at what it holds."""

from __future__ import annotations

import json
import time
from typing import Annotated, Any

import typer

from paragloss.cli.app import AsJson, app
from paragloss.cli.output import Progress, Skipped, print_json, print_table


@app.command()
def index(
    files: Annotated[list[str], typer.Argument(help="JSONL, CSV, TSV, TREC, HTML, PDF, DOCX, text; folders; irds:ID.")],
    into: Annotated[str, typer.Option("--into", help="The collection: a folder, or http://host:port/name.")],
    model: Annotated[
        list[str] | None, typer.Option("--model", help="A trained model, or e5, use, a folder, a URL; again for more.")
    ] = None,
    vectors: Annotated[
        str, typer.Option(help="How finely a pretrained model's are kept: float32, float16, int8 or binary.")
    ] = "float32",
    lang: Annotated[str, typer.Option(help="The language of documents that don't say theirs.")] = "",
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip and count unusable documents.")] = False,
    as_json: AsJson = False,
) -> None:
    """Add documents to a collection, making it when it isn't there. Documents with a known id are replaced."""
    from paragloss.engine import Engine
    from paragloss.formats.documents import read

    skipped = Skipped(skip_bad)
    opened = Engine.open_or_create(into, models=model or [], precision=vectors)
    with opened as engine, Progress("indexing") as bar:
        documents = (d for path in files for d in read(path, on_error=skipped.note))
        started = time.perf_counter()
        count = engine.index(documents, lang=lang or None, progress=bar, encoding=bar.encoded)
        seconds = time.perf_counter() - started
        total = engine.count()
    skipped.tell()
    if as_json:
        print_json({"indexed": count, "skipped": skipped.count, "documents": total, "seconds": round(seconds, 3)})
    else:
        speed = f"{count / max(seconds, 1e-9):,.0f}/s"
        print(f"indexed {count} documents in {seconds:.1f} s ({speed}): {into} now holds {total}")


@app.command()
def delete(
    ids: Annotated[list[str], typer.Argument(help="Ids of documents.")],
    collection: Annotated[str, typer.Option("--from", metavar="COLLECTION", help="The collection.")],
) -> None:
    """Remove documents from a collection."""
    from paragloss.engine import Engine

    with Engine.open(collection) as engine:
        print(f"deleted {engine.delete(ids)} of {len(ids)} documents")


@app.command()
def info(what: Annotated[str, typer.Argument(metavar="COLLECTION|MODEL")], as_json: AsJson = False) -> None:
    """Say what a collection or a model holds."""
    from paragloss.engine import describe

    about = describe(what)
    if as_json:
        print_json(about)
    else:
        print_table(["", ""], [row for key, value in about.items() for row in _rows(key, value)])


def _rows(key: str, value: Any) -> list[list[str]]:
    """A line, or one for each of the options that a part may have."""
    if key == "options":
        lines = [f"{part:16}{', '.join(said)}".rstrip() for part, said in value.items()]
        return [[key if not number else "", line] for number, line in enumerate(lines)]
    return [[key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]]
