"""How commands speak: progress, tables, answers, what was skipped. The only part of the package that prints."""

from __future__ import annotations

import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

from paragloss.cli.terminal_text import plain, plain_json, styles
from paragloss.errors import InputError

T = TypeVar("T")


#: What differs from one message to the next of its kind.
_DETAIL = re.compile(r"\([^()]*\)|'[^']*'|\"[^\"]*\"|\d[\d,.]*")


class Skipped:
    """Counts what --skip-bad left out, by reason, and lists it in a file; without it the first bad row ends the
    command."""

    def __init__(self, active: bool, file: str | Path = "") -> None:
        self.reasons: Counter[str] = Counter()
        self.first: InputError | None = None
        self.note = self._note if active else None
        self._path = Path(file) if file else None
        self._file: IO[str] | None = None

    @property
    def count(self) -> int:
        return self.reasons.total()

    def _note(self, error: InputError) -> None:
        self.reasons[" ".join(_DETAIL.sub("…", error.reason.split(";")[0]).split())] += 1
        self.first = self.first or error
        if self._path is not None:
            self._list(self._path, error)

    def _list(self, path: Path, wrong: InputError) -> None:
        try:
            if self._file is None:
                self._file = path.open("w", encoding="utf-8")
            self._file.write(f"{plain(wrong.location)}\t{plain(wrong.reason)}\n")
        except OSError as error:
            print(
                f"paragloss: {path} can't be written ({error.strerror}); skipped files are not listed", file=sys.stderr
            )
            self._path = None

    def tell(self) -> None:
        """Say what was left out, most frequent reasons first, and where the list is."""
        if self._file is not None:
            self._file.close()
        if self.count:
            unusable = f"skipped {self.count} unusable rows and files; the first: {plain(self.first)}"
            print(f"paragloss: {unusable}", file=sys.stderr)
            for reason, count in self.reasons.most_common(10):
                print(f"paragloss: {count:7} {plain(reason)}", file=sys.stderr)
        if self._file is not None:
            print(f"paragloss: each of them: {self._path}", file=sys.stderr)


class Progress:
    """A progress line on the terminal, and on a pipe a line every few seconds; called with what is done and the
    total."""

    #: Seconds between two lines on a pipe.
    EVERY = 5.0

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
        self._piped, self._printed = not console.is_terminal, time.monotonic()
        self.done = 0.0
        self._encoding_start: tuple[float, int] | None = None  # when the first documents were encoded, and how many

    def __call__(self, done: float, total: float | None = None) -> None:
        self.done = done
        self._bar.update(self._task, completed=done, total=total)
        of = f" of {total:,.0f}" if total else ""
        self._piped_line(f"{self._bar.tasks[0].description}: {done:,.0f}{of}")

    def _piped_line(self, line: str) -> None:
        if self._piped and time.monotonic() - self._printed >= self.EVERY:
            self._printed = time.monotonic()
            print(f"paragloss: {line}", file=sys.stderr, flush=True)

    def counting(self, items: Iterable[T], total: int) -> Iterator[T]:
        """The same items, counted as they go by."""
        for number, item in enumerate(items, start=1):
            yield item
            if number % 1000 == 0:
                self(number, total)

    def encoded(self, done: int, total: int) -> None:
        """Show how many documents an encoder has read of how many, and about how long the others take."""
        now = time.monotonic()
        if self._encoding_start is None:
            self._encoding_start = (now, done)
            self._bar.reset(self._task, description="encoding; searching already works", total=total)
        start_time, start_count = self._encoding_start
        self.done = done
        self._bar.update(self._task, completed=done, total=total)
        line = f"encoding: {done:,} of {total:,} documents; searching already works"
        if done > start_count:
            seconds_left = (now - start_time) * (total - done) / (done - start_count)
            line += f"; about {format_duration(seconds_left)} left"
        self._piped_line(line)

    def scanned(self, path: Any, done: int, total: int) -> None:
        """What a scan's reader says: how many of how many pages it has read. The count of documents stays."""
        what = f"{self._what}: page {done} of {total} of {plain(Path(path).name)}"
        self._bar.update(self._task, description=what if done < total else self._what)
        self._piped_line(f"{what}; documents so far: {self.done:,.0f}")

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


def format_duration(seconds: float) -> str:
    """Return a duration as people say it: 40 s, 12 min, 3 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"


def tracked(items: Sequence[T], what: str) -> Iterator[T]:
    with Progress(what) as bar:
        for number, item in enumerate(items, start=1):
            bar(number, len(items))
            yield item


def show(answer: Any, reasons: Sequence[dict[str, Any]] = ()) -> None:
    """An answer for people: languages, scores, titles and what matched, in bold where the terminal can; with `reasons`,
    which words met."""
    styled = styles(sys.stdout)
    others = f", perhaps {', '.join(answer.others)}" if answer.others else ""
    print(styled(f"{plain(answer.query.text)}  [{answer.query.lang}{others}]", "bold"))
    if warning := str(answer.understood):
        print(styled(f"  {plain(warning)}", "yellow"))
    if answer.suggestion:
        print(styled(f"  Did you mean: {plain(answer.suggestion)}?", "yellow"))
    for note in answer.notes:
        print(styled(f"  {plain(note)}", "yellow"))
    if not answer.results:
        print(styled("  nothing found", "dim"))
        for lang, words in answer.searched.items():
            print(styled(f"  searched in {lang} for: {plain(words)}", "dim"))
    for place, result in enumerate(answer.results, start=1):
        lang, fit = styled(f"{result.lang:<3}", "cyan"), styled(f"{result.fit:6.2f}  ", "dim")
        print(f"{place:3}. {lang}{fit}{styled(plain(result.title or result.id), 'bold')}")
        print(styled(f"     {plain(_place(result))}", "dim"))
        if result.copies:
            print(styled(f"     {1 + len(result.copies)} copies, also in {plain(', '.join(result.copies))}", "dim"))
        snippet, at = "     ", 0
        for start, end in result.marks:
            snippet += plain(result.snippet[at:start]) + styled(plain(result.snippet[start:end]), "marked")
            at = end
        print(snippet + plain(result.snippet[at:]))
        for line in why_lines(reasons[place - 1]) if reasons else ():
            print(styled(f"     {line}", "dim"))


def _place(result: Any) -> str:
    """Where a document is: its file, the page, and whether that was read from a scan."""
    meta = result.meta
    page = f", page {meta['page']}" if meta.get("pages", 1) > 1 else ""
    page += f", at {meta['time']}" if "time" in meta else ""
    page += f", message {meta['message']}" if "message" in meta else ""
    scan = f", read from a scan ({meta['confidence']:.0%} sure)" if "scanned" in meta else ""
    return f"{meta.get('path') or result.id}{page}{scan}"


def why_lines(why: dict[str, Any], *, most: int = 8) -> list[str]:
    """An explanation as lines: the strongest pairs of words with what they carried and through what, then the parts."""
    sums: dict[tuple[str, str, str], float] = {}
    for part in why["parts"]:
        for pair in part["pairs"]:
            key = (pair["query"], pair["document"], pair["source"] or "others")
            sums[key] = sums.get(key, 0.0) + pair["score"]
    named = {key: score for key, score in sums.items() if key[0] or key[1]}
    best = sorted(named.items(), key=lambda item: -abs(item[1]))[:most]
    rest = why["score"] - sum(score for _, score in best)
    wide = [max((len(plain(key[i])) for key, _ in best), default=0) for i in (0, 1)]
    lines = [
        f"{score:8.4f}  {plain(ours or '·'):<{wide[0]}} → {plain(theirs or '·'):<{wide[1]}}  {plain(source)}"
        for (ours, theirs, source), score in best
    ]
    if abs(rest) > 5e-5:
        lines.append(f"{rest:8.4f}  everything else")
    parts = [f"{p['part']} {p['score']:.4f}{' (words approximate)' if p['approximate'] else ''}" for p in why["parts"]]
    return [*lines, f"{why['score']:8.4f}  = {plain(' + '.join(parts)) or 'not found by this search'}"]


def writable(path: str, what: str) -> str:
    """The path of an output, known to be writable before the work begins."""
    folder = Path(path).absolute().parent
    if Path(path).is_dir():
        raise InputError(f"{what} {path} is a folder: name a file")
    if not folder.is_dir():
        raise InputError(f"{what} {path}: there is no folder {folder}: make it first")
    if not os.access(path if Path(path).exists() else folder, os.W_OK):
        raise InputError(f"{what} {path} can't be written: check its permissions, or choose another place")
    return path


def writable_model(path: str) -> str:
    """The folder of a model to be made, known to be writable before the work begins."""
    final = Path(path)
    if final.exists() and not (final / "meta.json").is_file():
        raise InputError(f"--out {path} exists and is not a saved model: choose another place or remove it")
    above = final.absolute().parent
    while not above.exists():
        above = above.parent
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise InputError(f"--out {path}: {above} can't be written: check its permissions, or choose another place")
    return path


def print_table(header: list[str], rows: list[list[str]]) -> None:
    """Columns, aligned; plain text, so that it can be cut and pasted."""
    rows = [[plain(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, *rows] if any(header) else rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def print_json(value: Any) -> None:
    print(plain_json(value))
