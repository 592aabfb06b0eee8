"""Commands that look after a collection: its models, its health, the folders it follows."""

from __future__ import annotations

import itertools
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from paragloss.cli.help_layout import COLLECTIONS
from paragloss.cli.output import Progress, print_json, print_table
from paragloss.cli.program import AsJson, Location, app
from paragloss.cli.terminal_text import plain
from paragloss.errors import PruneError


@app.command(rich_help_panel=COLLECTIONS)
def models(
    collection: Location,
    add: Annotated[list[str] | None, typer.Option(help="Add this model, or replace the one of the same name.")] = None,
    remove: Annotated[list[str] | None, typer.Option(help="Remove this model.")] = None,
    as_json: AsJson = False,
) -> None:
    """List, add or remove the models of a collection."""
    from paragloss.collection import Collection

    with Collection.open(collection) as engine:
        for name in remove or []:
            engine.remove_model(name)
        for path in add or []:
            engine.add_model(path)
        if add:
            with Progress("encoding") as bar:
                engine.index([], encoding=bar.encoded)
        listed = engine.info()["models"]
    if as_json:
        print_json(listed)
    elif not listed:
        print(f"{collection} has no models of its own")
    else:
        print_table(["model", "kind"], [[name, a if isinstance(a, str) else a["kind"]] for name, a in listed.items()])


@app.command(rich_help_panel=COLLECTIONS)
def learn(
    collection: Location,
    langs: Annotated[str, typer.Option(help="Languages to learn from, such as en,de; default: all.")] = "",
    show: Annotated[bool, typer.Option("--show", help="List the translations that changed.")] = False,
    strike: Annotated[
        list[str] | None, typer.Option(help="Forget a translation, such as layer=Schicht. Repeatable.")
    ] = None,
    glossary: Annotated[bool, typer.Option("--glossary", help="Copy the words of --show into the glossary.")] = False,
    as_json: AsJson = False,
) -> None:
    """Learn translations from pages that the collection has in two languages.

    The result is kept only if it finds held-out pages better.
    """
    from paragloss.collection import Collection, learned

    with Collection.open(collection) as engine:
        state = engine.state
        for pair in strike or []:
            word, _, meaning = pair.partition("=")
            print(f"struck out {learned.strike(state, word.strip(), meaning.strip())} entries of {pair}")
        if show or glossary:
            terms = learned.terms(state)
            if glossary:
                print(f"your glossary has {learned.as_glossary(state, terms)} pairs now")
            if as_json:
                print_json([term._asdict() for term in terms])
            elif show:
                rows = [[f"{t.lang}-{t.to}", t.word, t.meaning, f"{t.share:.2f}", t.before] for t in terms]
                print_table(["", "word", "learned", "share", "before"], rows)
        if show or glossary or strike:
            return
        found = learned.learn(state, [lang for lang in langs.split(",") if lang])
    if as_json:
        print_json({**found._asdict(), "gains": [gain._asdict() for gain in found.gains]})
        return
    print(f"{found.pages} pages in two languages or more, {found.blocks} blocks that say the same")
    for g in found.gains:
        message = f"{g.pages} pages kept aside found with RR {g.before:.3f} before, {g.after:.3f} after"
        print(f"{g.source}->{g.target}: {message}")
    print("taken: `paragloss learn --show` lists its words" if found.taken else "not taken: it does not help")


@app.command(rich_help_panel=COLLECTIONS)
def check(collection: Location, as_json: AsJson = False) -> None:
    """Check a collection for damage, for example after a disk error."""
    from paragloss.collection.integrity import check as examined

    with Progress("checking") as bar:
        findings = examined(collection, progress=bar)
    if as_json:
        print_json([finding._asdict() for finding in findings])
    for finding in [] if as_json else findings:
        print(f"{finding.what}: {finding.remedy}")
    if findings:
        raise typer.Exit(1)
    if not as_json:
        print(f"{collection} is whole")


@app.command(rich_help_panel=COLLECTIONS)
def repair(collection: Location) -> None:
    """Rebuild a collection in which `check` found damage. The old one is kept."""
    from paragloss.collection.integrity import repair as repaired

    with Progress("repairing") as bar:
        kept, lost, aside = repaired(collection, progress=bar)
    left_out = f", left out {lost} that can't be read (index their files again)" if lost else ""
    print(f"kept {kept} documents in {collection}{left_out}; what was there is now {aside}")


@app.command(rich_help_panel=COLLECTIONS)
def watch(
    folders: Annotated[list[str], typer.Argument(help="Folders or files to watch.")],
    into: Annotated[str, typer.Option("--into", help="The collection: a folder, or qdrant+http://host:port/name.")],
    every: Annotated[float, typer.Option(min=0.2, help="Seconds between checks.")] = 5.0,
    rounds: Annotated[int, typer.Option(min=0, help="Stop after this many checks; 0 means never.")] = 0,
    prune_anyway: Annotated[
        bool,
        typer.Option(
            "--prune-anyway",
            help="Remove documents also if over a third of them or all files of a folder are gone.",
        ),
    ] = False,
) -> None:
    """Index files of folders whenever they change, until stopped.

    Documents of removed files are removed, unless a folder is missing or so many files are gone that it may be a disk
    that is not mounted.
    """
    from paragloss.collection import Collection

    reporter = _NewMessages()
    with Collection.open_or_create(into) as collection:
        for number in itertools.count(1):
            with reporter.collecting_warnings():
                try:
                    report = collection.index_files(
                        folders, prune=True, prune_anyway=prune_anyway, on_error=reporter.add
                    )
                    if report.read or report.removed:
                        stamp = time.strftime("%H:%M:%S")
                        print(f"{stamp}  {report.read} documents read, {report.removed} removed", flush=True)
                except PruneError as error:
                    reporter.add(error)
            reporter.print_new()
            if number == rounds:
                return
            time.sleep(every)


class _NewMessages:
    """Prints each warning and error of repeated checks once, until it has not come up for a check."""

    def __init__(self) -> None:
        self._printed: set[str] = set()
        self._current: dict[str, None] = {}

    def add(self, message: object) -> None:
        self._current[str(message)] = None

    @contextmanager
    def collecting_warnings(self) -> Iterator[None]:
        """Take warnings given inside the block as messages."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for warning in caught:
            self.add(warning.message)

    def print_new(self) -> None:
        """Print the messages of this check that the one before didn't have."""
        for message in self._current:
            if message not in self._printed:
                print(f"paragloss: warning: {plain(message)}", file=sys.stderr, flush=True)
        self._printed, self._current = set(self._current), {}
