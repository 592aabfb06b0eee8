"""The command that looks up a list of names or terms."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paragloss.cli.help_layout import COMMON
from paragloss.cli.output import ProgressBar, check_writable, print_json, print_table
from paragloss.cli.program import AsJson, In, app, get_reader_language, split_codes
from paragloss.errors import InputError

if TYPE_CHECKING:
    from paragloss.collection.term_table import TermCount

#: Characters of the first title that the printed table shows.
_MAX_TITLE_LENGTH = 50


@app.command(rich_help_panel=COMMON)
def batch(
    terms: Annotated[str, typer.Argument(help="File of names or terms: one in a line, or a CSV file; - reads input.")],
    collection: In = "",
    out: Annotated[str, typer.Option(help="CSV file to write, with every document and its places.")] = "",
    lang: Annotated[str, typer.Option(help="Language of the terms; detected by default.")] = "",
    to: Annotated[str, typer.Option(help="Look into documents in these languages only, such as da,it.")] = "",
    as_typed: Annotated[bool, typer.Option("--as-typed", help="No other spellings of names.")] = False,
    as_json: AsJson = False,
) -> None:
    """Look up many names or terms: in which documents each occurs, and how often.

    A term matches like a phrase, as written or translated, and may have operators: Jean Martin lang:fr. Ctrl-C
    stops; what has been counted until then is printed and written.
    """
    from paragloss.collection import Collection, SearchOptions

    if not collection:
        raise InputError("no --in given: say which collection to search")
    if out:
        check_writable(out, "--out")
    term_list = _read_terms(terms)
    options = SearchOptions(lang=lang or None, to=split_codes(to), reader=get_reader_language(), variants=not as_typed)
    with Collection.open(collection) as engine:
        counts = _count_until_stopped(engine.count_terms(term_list, options), len(term_list))
        _write_out(counts, out)
    if as_json:
        print_json([term_count.as_json() for term_count in counts])
    else:
        _print_counts(counts)


def _print_counts(counts: Iterable[TermCount]) -> None:
    """Print a row for each term: how often it occurs, in how many documents, and the title of the best one."""
    rows = []
    for term_count in counts:
        title = ""
        if term_count.listed:
            best_document = term_count.listed[0]
            title = (best_document.title or best_document.id)[:_MAX_TITLE_LENGTH]
        rows.append([term_count.term, str(term_count.hits), str(term_count.documents), title])
    print_table(["term", "hits", "documents", "best document"], rows)


def _read_terms(file: str) -> list[str]:
    from paragloss.collection.term_table import MAX_TERMS, read_terms
    from paragloss.formats.text import read_text

    text = sys.stdin.read() if file == "-" else read_text(file)
    terms = read_terms(text.splitlines(), is_csv=Path(file).suffix.lower() == ".csv")
    if not terms:
        raise InputError(f"{file} holds no terms: write one in each line")
    if len(terms) > MAX_TERMS:
        raise InputError(f"{file} holds {len(terms):,} terms; at most {MAX_TERMS:,} can be looked up at once")
    return terms


def _count_until_stopped(rows: Iterator[TermCount], total: int) -> list[TermCount]:
    """Return the rows that were counted until the end or Ctrl-C."""
    counted: list[TermCount] = []
    with ProgressBar("looking up") as bar:
        try:
            for row in rows:
                counted.append(row)
                bar(len(counted), total)
        except KeyboardInterrupt:
            print(f"paragloss: stopped after {len(counted)} of {total} terms", file=sys.stderr)
    return counted


def _write_out(rows: Iterable[TermCount], out: str) -> None:
    from paragloss.collection.term_table import write_term_table

    if out:
        with open(out, "w", encoding="utf-8-sig", newline="") as stream:
            write_term_table(stream, rows)
