"""Print progress, tables, answers and summaries of skipped rows. Only the command line prints."""

from __future__ import annotations

import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from paragloss.cli.terminal_text import plain, plain_json, styles
from paragloss.errors import InputError

T = TypeVar("T")


#: The parts in which messages of one kind differ.
_DETAIL = re.compile(r"\([^()]*\)|'[^']*'|\"[^\"]*\"|\d[\d,.]*")


class Skipped:
    """Counts rows and files that can't be read, by reason, and lists them in a file.

    `on_error` is the callback for readers: None if the first bad row is to end the command.
    """

    def __init__(self, active: bool, file: str | Path = "") -> None:
        self.reasons: Counter[str] = Counter()
        self.first: InputError | None = None
        self.on_error = self._add if active else None
        self._path = Path(file) if file else None
        self._file: IO[str] | None = None

    @property
    def count(self) -> int:
        """The number of errors."""
        return self.reasons.total()

    def _add(self, error: InputError) -> None:
        self.reasons[" ".join(_DETAIL.sub("…", error.reason.split(";")[0]).split())] += 1
        self.first = self.first or error
        if self._path is not None:
            self._write_line(self._path, error)

    def _write_line(self, path: Path, row_error: InputError) -> None:
        try:
            if self._file is None:
                self._file = path.open("w", encoding="utf-8")
            self._file.write(f"{plain(row_error.location)}\t{plain(row_error.reason)}\n")
        except OSError as error:
            print(
                f"paragloss: {path} can't be written ({error.strerror}); skipped files are not listed", file=sys.stderr
            )
            self._path = None

    def print_summary(self) -> None:
        """Print how many rows were skipped, the most frequent reasons first, and where the list is."""
        if self._file is not None:
            self._file.close()
        if self.count:
            summary = f"skipped {self.count} unusable rows and files; the first: {plain(self.first)}"
            print(f"paragloss: {summary}", file=sys.stderr)
            for reason, count in self.reasons.most_common(10):
                print(f"paragloss: {count:7} {plain(reason)}", file=sys.stderr)
        if self._file is not None:
            print(f"paragloss: each of them: {self._path}", file=sys.stderr)


#: Scores below this one are 0 with the four decimals that are shown.
_MIN_SHOWN_SCORE = 5e-5


class _EncodingStart(NamedTuple):
    """When an encoder was first seen at work, and how many documents it had encoded by then."""

    start_time: float  # as `time.monotonic` tells it
    n_encoded: int

    def estimate_seconds_left(self, count: int, total: int) -> float:
        """Return how long an encoder of the same speed takes from `count` documents, more than at the start, to all."""
        seconds_per_document = (time.monotonic() - self.start_time) / (count - self.n_encoded)
        return seconds_per_document * (total - count)


class ProgressBar:
    """A progress bar on a terminal, and a line every few seconds on a pipe.

    Call it with the number of finished items and, where it is known, the total.
    """

    SECONDS_BETWEEN_LINES = 5.0

    def __init__(self, label: str) -> None:
        """Make a bar, which is shown from the beginning of a `with` block to its end.

        :param label: stands before the bar, and at the beginning of each line.
        """
        self._label = label
        self._bar = _make_bar()
        self._is_piped = not self._bar.console.is_terminal
        self._task = self._bar.add_task(label, total=None)
        self._last_print_time = time.monotonic()
        self.count = 0.0
        self._encoding_start: _EncodingStart | None = None

    def __call__(self, count: float, total: float | None = None) -> None:
        """Show how much is done.

        :param total: how much there is to do; None if that is not known.
        """
        self.count = count
        self._bar.update(self._task, completed=count, total=total)
        of_total = f" of {total:,.0f}" if total else ""
        self._print_on_pipe(f"{self._bar.tasks[0].description}: {count:,.0f}{of_total}")

    def _print_on_pipe(self, line: str) -> None:
        if self._is_piped and time.monotonic() - self._last_print_time >= self.SECONDS_BETWEEN_LINES:
            self._last_print_time = time.monotonic()
            print(f"paragloss: {line}", file=sys.stderr, flush=True)

    def counting(self, items: Iterable[T], total: int) -> Iterator[T]:
        """Yield the items, and show how many have been yielded."""
        for number, item in enumerate(items, start=1):
            yield item
            if number % 1000 == 0:
                self(number, total)

    def show_encoding(self, count: int, total: int) -> None:
        """Show how many documents an encoder has encoded, and about how long the others take.

        :param count: documents that are encoded.
        :param total: documents to encode, these included.
        """
        if self._encoding_start is None:
            self._encoding_start = _EncodingStart(time.monotonic(), count)
            self._bar.reset(self._task, description="encoding; searching already works", total=total)
        self.count = count
        self._bar.update(self._task, completed=count, total=total)
        line = f"encoding: {count:,} of {total:,} documents; searching already works"
        if count > self._encoding_start.n_encoded:
            seconds_left = self._encoding_start.estimate_seconds_left(count, total)
            line += f"; about {format_duration(seconds_left)} left"
        self._print_on_pipe(line)

    def show_scanning(self, path: Any, page: int, total: int) -> None:
        """Show how many pages of a scan have been read. The count of documents stays."""
        description = f"{self._label}: page {page} of {total} of {plain(Path(path).name)}"
        self._bar.update(self._task, description=description if page < total else self._label)
        self._print_on_pipe(f"{description}; documents so far: {self.count:,.0f}")

    def show_training(self, state: Any, _seconds_left: float = 0.0) -> None:
        """Show the progress of training: a share of the work, or an epoch with its loss and measure."""
        if isinstance(state, float):
            self(100 * state, 100)
            return
        measure = "" if state.measure is None else f", held out {state.measure:.4f}"
        self._bar.update(self._task, description=f"{self._label}: loss {state.loss:.4f}{measure}")
        self(state.epoch, state.epochs)

    def __enter__(self) -> ProgressBar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


def _make_bar() -> Any:
    """Return a `rich` progress bar on standard error, which shows nothing where that is no terminal."""
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )


def format_duration(seconds: float) -> str:
    """Return a duration as people say it: 40 s, 12 min, 3 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"


def tracked(items: Sequence[T], label: str) -> Iterator[T]:
    """Yield items with a progress bar."""
    with ProgressBar(label) as bar:
        for number, item in enumerate(items, start=1):
            bar(number, len(items))
            yield item


def print_answer(answer: Any, reasons: Sequence[dict[str, Any]] = ()) -> None:
    """Print an answer: the language, fit, title and snippet of every result, with matches in bold where possible.

    :param answer: the `Answer` of a collection.
    :param reasons: explanations of the results, in the same order, to be printed below them.
    """
    styled = styles(sys.stdout)
    _print_query(answer, styled)
    for number, result in enumerate(answer.results, start=1):
        _print_result(number, result, styled)
        if reasons:
            for line in format_explanation(reasons[number - 1]):
                print(styled(f"     {line}", "dim"))


def _print_query(answer: Any, styled: Callable[[str, str], str]) -> None:
    """Print the query of an answer, remarks on it, and the words that were searched for if nothing was found.

    :param styled: returns a text in a style, such as "bold".
    """
    languages = answer.query.lang
    if answer.others:
        languages += f", perhaps {', '.join(answer.others)}"
    print(styled(f"{plain(answer.query.text)}  [{languages}]", "bold"))
    for remark in _list_remarks(answer):
        print(styled(f"  {plain(remark)}", "yellow"))
    if not answer.results:
        print(styled("  nothing found", "dim"))
        for lang, words in answer.searched.items():
            print(styled(f"  searched in {lang} for: {plain(words)}", "dim"))


def _list_remarks(answer: Any) -> list[str]:
    """Return what an answer says about the query: words that were not understood, a suggestion, and notes."""
    suggestion = f"Did you mean: {answer.suggestion}?" if answer.suggestion else ""
    return [remark for remark in (str(answer.understood), suggestion, *answer.notes) if remark]


def _print_result(number: int, result: Any, styled: Callable[[str, str], str]) -> None:
    """Print one result with its number, where it is, its copies and its snippet.

    :param number: its rank from 1.
    :param result: a `Result` of an answer.
    :param styled: returns a text in a style, such as "bold".
    """
    lang = styled(f"{result.lang:<3}", "cyan")
    fit = styled(f"{result.fit:6.2f}  ", "dim")
    title = styled(plain(result.title or result.id), "bold")
    print(f"{number:3}. {lang}{fit}{title}")
    print(styled(f"     {plain(_format_source(result))}", "dim"))
    if result.copies:
        print(styled(f"     {1 + len(result.copies)} copies, also in {plain(', '.join(result.copies))}", "dim"))
    print(f"     {_mark_matches(result.snippet, result.marks, styled)}")


def _mark_matches(snippet: str, marks: Iterable[tuple[int, int]], styled: Callable[[str, str], str]) -> str:
    """Return a snippet with its matches, given by their offsets, in the style of matches."""
    text = ""
    position = 0
    for start, end in marks:
        text += plain(snippet[position:start]) + styled(plain(snippet[start:end]), "marked")
        position = end
    return text + plain(snippet[position:])


def _format_source(result: Any) -> str:
    """Return the file of a result, its position in it, and whether that was read from a scan."""
    meta = result.meta
    position = f", page {meta['page']}" if meta.get("pages", 1) > 1 else ""
    position += f", at {meta['time']}" if "time" in meta else ""
    position += f", message {meta['message']}" if "message" in meta else ""
    position += f", row {meta['row']}" if "row" in meta else ""
    scan = f", read from a scan ({meta['confidence']:.0%} sure)" if "scanned" in meta else ""
    return f"{meta.get('path') or result.id}{position}{scan}"


class _WordPair(NamedTuple):
    """A word of the query, the word of a document that it matches, and the source that says so."""

    query_word: str
    document_word: str
    source: str


def format_explanation(why: dict[str, Any], *, max_pairs: int = 8) -> list[str]:
    """Format the explanation of a score: a line for each of the strongest pairs of words, and one for the parts.

    :param why: the explanation as `Collection.why` returns it.
    :param max_pairs: pairs of words that are shown; the others are added up.
    """
    scores = _sum_pair_scores(why["parts"])
    strongest = sorted(scores, key=lambda pair: -abs(scores[pair]))[:max_pairs]
    lines = _format_pairs({pair: scores[pair] for pair in strongest})
    remaining_score = why["score"] - sum(scores[pair] for pair in strongest)
    if abs(remaining_score) > _MIN_SHOWN_SCORE:
        lines.append(f"{remaining_score:8.4f}  everything else")
    parts = plain(_format_parts(why["parts"])) or "not found by this search"
    return [*lines, f"{why['score']:8.4f}  = {parts}"]


def _format_pairs(scores: Mapping[_WordPair, float]) -> list[str]:
    """Return a line for each pair of words, its score first, with aligned columns."""
    query_width = max((len(plain(pair.query_word)) for pair in scores), default=0)
    document_width = max((len(plain(pair.document_word)) for pair in scores), default=0)
    lines: list[str] = []
    for pair, score in scores.items():
        query_word, document_word = plain(pair.query_word or "·"), plain(pair.document_word or "·")
        words = f"{query_word:<{query_width}} → {document_word:<{document_width}}"
        lines.append(f"{score:8.4f}  {words}  {plain(pair.source)}")
    return lines


def _sum_pair_scores(parts: Sequence[dict[str, Any]]) -> dict[_WordPair, float]:
    """Add up the scores of equal pairs of words in all parts of a score; pairs without any word are left out."""
    scores: dict[_WordPair, float] = {}
    for part in parts:
        for pair in part["pairs"]:
            if pair["query"] or pair["document"]:
                word_pair = _WordPair(pair["query"], pair["document"], pair["source"] or "others")
                scores[word_pair] = scores.get(word_pair, 0.0) + pair["score"]
    return scores


def _format_parts(parts: Sequence[dict[str, Any]]) -> str:
    """Return the parts of a score with their scores, as a sum."""
    addends = []
    for part in parts:
        remark = " (words approximate)" if part["approximate"] else ""
        addends.append(f"{part['part']} {part['score']:.4f}{remark}")
    return " + ".join(addends)


def check_writable(path: str, label: str) -> str:
    """Return the path of an output file; raise InputError if it can't be written, before the work begins."""
    folder = Path(path).absolute().parent
    if Path(path).is_dir():
        raise InputError(f"{label} {path} is a folder: name a file")
    if not folder.is_dir():
        raise InputError(f"{label} {path}: there is no folder {folder}: make it first")
    if not os.access(path if Path(path).exists() else folder, os.W_OK):
        raise InputError(f"{label} {path} can't be written: check its permissions, or choose another place")
    return path


def check_model_folder(path: str) -> str:
    """Return the folder of a model; raise InputError if it can't be written, before the work begins."""
    folder = Path(path)
    if folder.exists() and not (folder / "meta.json").is_file():
        raise InputError(f"--out {path} exists and is not a saved model: choose another place or remove it")
    parent = folder.absolute().parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(f"--out {path}: {parent} can't be written: check its permissions, or choose another place")
    return path


def print_table(header: list[str], rows: list[list[str]]) -> None:
    """Print aligned columns as plain text that can be pasted elsewhere; an empty header is not printed."""
    rows = [[plain(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, *rows] if any(header) else rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(plain_json(value))
