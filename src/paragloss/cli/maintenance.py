"""Commands that maintain a collection: its models, its integrity and the folders it follows."""

from __future__ import annotations

import itertools
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paragloss.cli.help_layout import COLLECTIONS
from paragloss.cli.output import ProgressBar, print_json, print_table
from paragloss.cli.program import AsJson, Location, app
from paragloss.cli.terminal_text import plain
from paragloss.errors import PruneError

if TYPE_CHECKING:
    from paragloss.collection import Collection
    from paragloss.collection.learned import LearnedTerm, LearningReport
    from paragloss.collection.state import State


@app.command(rich_help_panel=COLLECTIONS)
def models(
    collection: Location,
    add: Annotated[list[str] | None, typer.Option(help="Add this model, or replace the one of the same name.")] = None,
    remove: Annotated[list[str] | None, typer.Option(help="Remove this model.")] = None,
    as_json: AsJson = False,
) -> None:
    """List, add or remove the models of a collection."""
    from paragloss.collection import Collection

    with Collection.open(collection) as opened:
        for name in remove or []:
            opened.remove_model(name)
        for path in add or []:
            opened.add_model(path)
        if add:
            with ProgressBar("encoding") as bar:
                opened.index([], encoding=bar.show_encoding)
        descriptions = opened.info()["models"]
    if as_json:
        print_json(descriptions)
    elif not descriptions:
        print(f"{collection} has no models of its own")
    else:
        _print_kinds(descriptions)


def _print_kinds(descriptions: dict[str, Any]) -> None:
    """Print the kind of each model; a description is the kind alone, or has it among others."""
    rows = []
    for name, description in descriptions.items():
        rows.append([name, description if isinstance(description, str) else description["kind"]])
    print_table(["model", "kind"], rows)


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

    with Collection.open(collection) as opened:
        if strike:
            _forget_translations(opened.state, strike)
        changed_terms = learned.list_learned_terms(opened.state) if show or glossary else []
        if glossary:
            _copy_to_glossary(opened.state, changed_terms)
        if show or (glossary and as_json):
            _print_learned_terms(changed_terms, as_json=as_json)
        does_learn = not (strike or show or glossary)  # these options only deal with what was learned before
        if does_learn:
            _learn_from_pages(opened.state, langs, as_json=as_json)


def _forget_translations(state: State, pairs: list[str]) -> None:
    """Remove learned translations from a collection, and print for each how many entries were removed.

    :param state: the open collection.
    :param pairs: words with their translations, such as `layer=Schicht`.
    """
    from paragloss.collection import learned

    for pair in pairs:
        word, _, meaning = pair.partition("=")
        removed_count = learned.remove_translation(state, word.strip(), meaning.strip())
        print(f"forgot {removed_count} entries of {pair}")


def _copy_to_glossary(state: State, terms: Sequence[LearnedTerm]) -> None:
    """Add translations that were learned to the user's glossary, and print how many pairs it has then."""
    from paragloss.collection import learned

    pair_count = learned.copy_to_glossary(state, terms)
    print(f"your glossary has {pair_count} pairs now")


def _print_learned_terms(terms: Sequence[LearnedTerm], *, as_json: bool) -> None:
    """Print translations that were learned, each with its share and the translation before, as a table or as JSON."""
    if as_json:
        print_json([term._asdict() for term in terms])
        return
    rows = []
    for term in terms:
        languages = f"{term.lang}-{term.to}"
        rows.append([languages, term.word, term.meaning, f"{term.share:.2f}", term.before])
    print_table(["", "word", "learned", "share", "before"], rows)


def _learn_from_pages(state: State, langs: str, *, as_json: bool) -> None:
    """Learn translations from pages that the collection has in two languages, and print how much that helped.

    :param state: the open collection, which gets what was learned if that finds held-out pages better.
    :param langs: the codes of the languages to learn from, such as "en,de"; "" for all.
    """
    from paragloss.collection import learned

    lang_codes = [lang for lang in langs.split(",") if lang]
    report = learned.learn_from_pages(state, lang_codes)
    _print_learning_report(report, as_json=as_json)


def _print_learning_report(report: LearningReport, *, as_json: bool) -> None:
    """Print from how much was learned, how much better held-out pages are found, and whether the result is kept."""
    if as_json:
        print_json({**report._asdict(), "gains": [gain._asdict() for gain in report.gains]})
        return
    print(f"{report.pages} pages in two languages or more, {report.blocks} blocks that say the same")
    for gain in report.gains:
        message = f"{gain.pages} held-out pages found with RR {gain.before:.3f} before, {gain.after:.3f} after"
        print(f"{gain.source}->{gain.target}: {message}")
    print("kept: `paragloss learn --show` lists its words" if report.accepted else "not kept: it does not help")


@app.command(rich_help_panel=COLLECTIONS)
def check(collection: Location, as_json: AsJson = False) -> None:
    """Check a collection for damage, for example after a disk error."""
    from paragloss.collection.integrity import check_collection

    with ProgressBar("checking") as bar:
        findings = check_collection(collection, progress=bar)
    if as_json:
        print_json([finding._asdict() for finding in findings])
    elif findings:
        for finding in findings:
            print(f"{finding.fault}: {finding.remedy}")
    else:
        print(f"{collection} is not damaged")
    if findings:
        raise typer.Exit(1)


@app.command(rich_help_panel=COLLECTIONS)
def repair(collection: Location) -> None:
    """Rebuild a collection in which `check` found damage. The old one is kept."""
    from paragloss.collection.integrity import repair_collection

    with ProgressBar("repairing") as bar:
        kept_count, lost_count, damaged_copy = repair_collection(collection, progress=bar)
    left_out = f", left out {lost_count} that can't be read (index their files again)" if lost_count else ""
    print(f"kept {kept_count} documents in {collection}{left_out}; the damaged collection is now {damaged_copy}")


@app.command(rich_help_panel=COLLECTIONS)
def watch(
    folders: Annotated[list[str], typer.Argument(help="Folders or files to watch.")],
    into: Annotated[str, typer.Option("--into", help="The collection: a folder, or qdrant+http://host:port/name.")],
    seconds_between: Annotated[float, typer.Option("--every", min=0.2, help="Seconds between checks.")] = 5.0,
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

    messages = _NewMessages()
    with Collection.open_or_create(into) as collection:
        for number in itertools.count(1):
            with messages.collecting_warnings():
                _index_changes(collection, folders, prune_anyway, messages)
            messages.print_new()
            if number == rounds:
                return
            time.sleep(seconds_between)


def _index_changes(collection: Collection, folders: list[str], prune_anyway: bool, messages: _NewMessages) -> None:
    """Index files that have changed, remove documents of those that are gone, and print how many if there are any."""
    try:
        report = collection.index_files(folders, prune=True, prune_anyway=prune_anyway, on_error=messages.add)
    except PruneError as error:
        messages.add(error)
        return
    if report.read or report.removed:
        current_time = time.strftime("%H:%M:%S")
        print(f"{current_time}  {report.read} documents read, {report.removed} removed", flush=True)


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
