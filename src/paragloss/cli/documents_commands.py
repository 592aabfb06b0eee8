"""Commands that list, show and delete documents, and that describe a collection or a model."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from paragloss.cli.help_layout import COLLECTIONS
from paragloss.cli.output import print_json, print_table
from paragloss.cli.program import AsJson, HiddenIn, In, OptionalLocation, app, choose_collection
from paragloss.cli.terminal_text import plain_lines
from paragloss.errors import InputError
from paragloss.formats.conditions import parse_conditions
from paragloss.types import Document


@app.command("list", rich_help_panel=COLLECTIONS)
def list_(
    argument: OptionalLocation = "",
    option: HiddenIn = "",
    where: Annotated[list[str] | None, typer.Option(help="Only documents with FIELD=VALUE, as in search.")] = None,
    k: Annotated[int, typer.Option(min=1, help="Number of documents.")] = 100,
    as_json: AsJson = False,
) -> None:
    """List the documents of a collection."""
    from paragloss.collection import Collection

    conditions = parse_conditions(where or [])
    with Collection.open(choose_collection(argument, option)) as collection:
        documents = list(collection.documents(where=conditions, k=k))
        total = collection.count(conditions)
    if as_json:
        print_json([_describe_document(document) for document in documents])
        return
    rows = [[document.id, document.lang, document.title or document.text[:60]] for document in documents]
    print_table(["id", "lang", "title"], rows)
    if total > len(documents):
        print(f"paragloss: {len(documents)} of {total}; --k shows more", file=sys.stderr)


def _describe_document(document: Document) -> dict[str, Any]:
    """Return the fields of a document that a list shows, as JSON."""
    return {"id": document.id, "lang": document.lang, "title": document.title, "meta": dict(document.meta)}


@app.command(rich_help_panel=COLLECTIONS)
def show(
    id: Annotated[str, typer.Argument(help="The id of a document.")], collection: In, as_json: AsJson = False
) -> None:
    """Print one document."""
    from paragloss.collection import Collection

    with Collection.open(collection) as opened:
        [document] = opened.get([id])
    if document is None:
        raise InputError(f"no document {id!r} in {collection}: `paragloss list {collection}` lists them")
    if as_json:
        print_json({**document._asdict(), "fields": dict(document.fields), "meta": dict(document.meta)})
        return
    attributes = {"id": document.id, "lang": document.lang, "title": document.title, **document.meta}
    print_table(["", ""], [[name, _format_value(value)] for name, value in attributes.items()])
    print("\n" + plain_lines(document.text))


@app.command(rich_help_panel=COLLECTIONS)
def delete(
    ids: Annotated[list[str], typer.Argument(help="Ids of documents.")],
    collection: Annotated[str, typer.Option("--from", "--in", metavar="COLLECTION", help="The collection.")],
) -> None:
    """Remove documents from a collection."""
    from paragloss.collection import Collection

    with Collection.open(collection) as opened:
        print(f"deleted {opened.delete(ids)} of {len(ids)} documents")


@app.command(rich_help_panel=COLLECTIONS)
def info(
    argument: Annotated[str, typer.Argument(metavar="COLLECTION|MODEL", help="A collection, or a saved model.")] = "",
    option: HiddenIn = "",
    as_json: AsJson = False,
) -> None:
    """Describe a collection or a model."""
    from paragloss.collection import describe

    description = describe(choose_collection(argument, option))
    if as_json:
        print_json(description)
        return
    rows: list[list[str]] = []
    for name, value in description.items():
        rows += _make_rows(name, value)
    print_table(["", ""], rows)


def _make_rows(key: str, value: Any) -> list[list[str]]:
    """Return the rows of a table for an entry of a description: one for each language or part of a pipeline, or one."""
    if key == "support":
        from paragloss.languages import language_name  # which loads numpy

        return [[f"{language_name(lang)} ({lang})", support] for lang, support in value.items()]
    if key == "options":
        lines = [f"{part:16}{', '.join(options)}".rstrip() for part, options in value.items()]
        return [[key if number == 0 else "", line] for number, line in enumerate(lines)]
    return [[key, _format_value(value)]]


def _format_value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
