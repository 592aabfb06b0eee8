"""How commands speak: progress, tables, answers, what was skipped. The only part of the package that prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from paragloss.errors import InputError

T = TypeVar("T")


class Skipped:
    """Counts what --skip-bad left out; without it the first bad row ends the command."""

    def __init__(self, active: bool) -> None:
        self.count = 0
        self.first: InputError | None = None
        self.note = self._note if active else None

    def _note(self, error: InputError) -> None:
        self.count += 1
        self.first = self.first or error

    def tell(self) -> None:
        if self.count:
            print(f"paragloss: skipped {self.count} unusable rows; the first: {self.first}", file=sys.stderr)


class Progress:
    """A progress line on the terminal, silent when nobody is looking; called with what is done and the total."""

    def __init__(self, what: str) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        console = Console(stderr=True)
        self._what = what
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task(what, total=None)

    def __call__(self, done: float, total: float | None = None) -> None:
        self._bar.update(self._task, completed=done, total=total)

    def encoded(self, done: int, total: int) -> None:
        """What a slow encoder says: how many of how many documents it has read."""
        self._bar.update(self._task, description="encoding")
        self(done, total)

    def trained(self, done: Any, _left: float = 0.0) -> None:
        """What training says: the share of the work done, or an epoch with its loss and measure."""
        if isinstance(done, float):
            self(100 * done, 100)
            return
        measured = "" if done.measure is None else f", held out {done.measure:.4f}"
        self._bar.update(self._task, description=f"{self._what}: loss {done.loss:.4f}{measured}")
        self(done.epoch, done.epochs)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


def tracked(items: Sequence[T], what: str) -> Iterator[T]:
    with Progress(what) as bar:
        for number, item in enumerate(items, start=1):
            bar(number, len(items))
            yield item


def show(answer: Any) -> None:
    """An answer for people: languages, scores, titles and what matched, in bold where the terminal can."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    console.print(f"{answer.query.text}  [{answer.query.lang}]", style="bold", markup=False)
    if not answer.results:
        console.print("  nothing found", style="dim")
    for place, result in enumerate(answer.results, start=1):
        line = Text(f"{place:3}. ")
        line.append(f"{result.lang:<3}", style="cyan")
        line.append(f"{result.score:8.4f}  ", style="dim")
        line.append(result.title or result.id, style="bold")
        console.print(line)
        snippet = Text("     ")
        at = 0
        for start, end in result.marks:
            snippet.append(result.snippet[at:start])
            snippet.append(result.snippet[start:end], style="bold underline")
            at = end
        snippet.append(result.snippet[at:])
        console.print(snippet)


def write_report(path: str, runs: dict[str, Any]) -> None:
    from paragloss.evaluation.report import report

    Path(path).write_text(report(runs), encoding="utf-8")
    print(f"report: {path}", file=sys.stderr)


def print_table(header: list[str], rows: list[list[str]]) -> None:
    """Columns, aligned; plain text, so that it can be cut and pasted."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, *rows] if any(header) else rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1))
