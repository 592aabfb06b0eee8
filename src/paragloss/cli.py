"""The command line: a thin layer over `engine`, `formats`, `models` and `evaluation`. The only part that prints."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import pkgutil
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from paragloss import __version__
from paragloss.errors import InputError, ParaglossError
from paragloss.types import Concept

app = typer.Typer(
    name="paragloss",
    help="Search documents in languages you don't read, and see why each one matched.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
T = TypeVar("T")

Collection = Annotated[str, typer.Argument(metavar="COLLECTION", help="A folder, or http://host:port/name.")]
In = Annotated[str, typer.Option("--in", metavar="COLLECTION", help="Where to search: a folder, or http://host/name.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def main() -> None:
    """Run a command; one line and an exit code for anything that goes wrong."""
    debug = "--debug" in sys.argv or bool(os.environ.get("PARAGLOSS_DEBUG"))
    sys.argv = [argument for argument in sys.argv if argument != "--debug"]
    warnings.showwarning = lambda message, *_, **__: print(f"paragloss: warning: {message}", file=sys.stderr)
    try:
        app()
    except ParaglossError as error:
        if debug:
            raise
        print(f"paragloss: error: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("paragloss: stopped; what was reported as done is kept", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except Exception as error:
        if debug:
            raise
        print(f"paragloss: internal error: {error!r} (--debug shows where)", file=sys.stderr)
        sys.exit(70)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"paragloss {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Search documents in languages you don't read, and see why each one matched. --debug shows tracebacks."""


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True}, add_help_option=False)
def train(
    context: typer.Context,
    method: Annotated[str, typer.Argument(help="cr5, lsi, opca, table, ...: see --help.")] = "",
    files: Annotated[
        list[str] | None, typer.Argument(help='Rows {"concept","lang","title","text"}, or en-xx.tsv.')
    ] = None,
    out: Annotated[str, typer.Option("--out", help="Where the model goes: a folder.")] = "",
    langs: Annotated[str, typer.Option(help="Only these languages, such as en,fr,zh.")] = "",
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip and count unusable rows.")] = False,
    help: Annotated[bool, typer.Option("--help", help="Show this message; with a METHOD, its settings.")] = False,
) -> None:
    """Learn a model from documents about the same concepts in several languages.

    A METHOD's own settings are flags too: `paragloss train cr5 --help` lists them.
    """
    from paragloss import engine
    from paragloss.formats.aligned import read_aligned

    if help or not method:
        print(context.get_help() if not method else _settings_help(method))
        raise typer.Exit(0 if help else 2)
    fit = _fit(method)
    paths, extras = [], []
    taken = [*(files or []), *context.args]
    while taken:
        word = taken.pop(0)
        if word.startswith("--"):
            extras.append((word, taken.pop(0) if taken and "=" not in word and _wants_value(fit, word) else None))
        else:
            paths.append(word)
    if not paths:
        raise InputError("no FILE given: name files with rows of concept, lang, title and text")
    if not out:
        raise InputError("no --out given: say where the model goes, such as --out models/cr5")
    settings = dict(_setting(fit, method, word, value) for word, value in extras)
    skipped = _Skipped(skip_bad)
    concepts = _in_languages(read_aligned(_tracked(paths, "reading"), on_error=skipped.note), langs)
    skipped.tell()
    started = time.perf_counter()
    if "progress" in inspect.signature(fit).parameters:
        with _Progress(f"training {method}") as bar:
            model = engine.train(fit, concepts, progress=bar.trained, **settings)
    else:
        model = engine.train(fit, concepts, **settings)
    model.save(out)
    print(f"trained {method} on {len(concepts)} concepts in {time.perf_counter() - started:.1f} s: {out}")


@app.command()
def index(
    files: Annotated[list[str], typer.Argument(help="JSONL, CSV, TSV, TREC, HTML, PDF, DOCX, text; folders; irds:ID.")],
    into: Annotated[str, typer.Option("--into", help="The collection: a folder, or http://host:port/name.")],
    model: Annotated[list[str] | None, typer.Option("--model", help="A trained model; may be given again.")] = None,
    lang: Annotated[str, typer.Option(help="The language of documents that don't say theirs.")] = "",
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip and count unusable documents.")] = False,
    as_json: AsJson = False,
) -> None:
    """Add documents to a collection, making it when it isn't there. Documents with a known id are replaced."""
    from paragloss.engine import Engine
    from paragloss.formats.documents import read

    skipped = _Skipped(skip_bad)
    with Engine.open_or_create(into, models=model or []) as engine, _Progress("indexing") as bar:
        documents = (d for path in files for d in read(path, on_error=skipped.note))
        started = time.perf_counter()
        count = engine.index(documents, lang=lang or None, progress=bar)
        seconds = time.perf_counter() - started
        total = engine.count()
    skipped.tell()
    if as_json:
        _json({"indexed": count, "skipped": skipped.count, "documents": total, "seconds": round(seconds, 3)})
    else:
        speed = f"{count / max(seconds, 1e-9):,.0f}/s"
        print(f"indexed {count} documents in {seconds:.1f} s ({speed}): {into} now holds {total}")


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What you are looking for, in your language.")] = "",
    collection: In = "",
    lang: Annotated[str, typer.Option(help="The language of the query; found out when not given.")] = "",
    to: Annotated[str, typer.Option(help="Languages to find documents in, such as da,it; all when not given.")] = "",
    k: Annotated[int | None, typer.Option(min=1, help="How many documents; 10, or 100 with --queries.")] = None,
    pipeline: Annotated[
        str, typer.Option(help="How to search: see `paragloss info`. Everything, fused, by default.")
    ] = "",
    where: Annotated[
        list[str] | None, typer.Option(help="Only documents with FIELD=VALUE, such as meta.year=1999.")
    ] = None,
    queries: Annotated[str, typer.Option(help='A file of queries, rows {"id","lang","text"}.')] = "",
    run: Annotated[str, typer.Option(help="Where the TREC run goes, with --queries.")] = "",
    as_json: AsJson = False,
) -> None:
    """Find documents for a query, or make a run for a file of queries."""
    from paragloss.engine import Engine

    if not collection:
        raise InputError("no --in given: say which collection to search")
    if bool(query) == bool(queries):
        raise InputError("give either a query or --queries FILE")
    targets = to.split(",") if to else None
    with Engine.open(collection) as engine:
        conditions = _where(where or [])
        if queries:
            _run(engine, queries, run, lang=lang, to=targets, k=k or 100, pipeline=pipeline or None, where=conditions)
            return
        answer = engine.search(
            query, lang=lang or None, to=targets, k=k or 10, pipeline=pipeline or None, where=conditions
        )
    if as_json:
        _json(answer.as_json())
    else:
        _show(answer)


@app.command("eval")
def evaluate_(
    run: Annotated[str, typer.Argument(help="A TREC run.")],
    qrels: Annotated[str, typer.Argument(help="TREC judgments.")],
    measures: Annotated[str, typer.Option(help='Such as "RR nDCG@10 P@1".')] = "",
    per_query: Annotated[bool, typer.Option("--per-query", help="A row for every query.")] = False,
    report: Annotated[str, typer.Option(help="Write an HTML page with plots here.")] = "",
    as_json: AsJson = False,
) -> None:
    """Measure a run against judgments."""
    from paragloss.evaluation import DEFAULT, evaluate, mean
    from paragloss.formats.queries import read_qrels
    from paragloss.formats.trec import read_run

    names = measures.replace(",", " ").split() or list(DEFAULT)
    scores = evaluate(read_run(run), read_qrels(qrels), names)
    if report:
        _write_report(report, {Path(run).stem: scores})
    if as_json:
        _json({"mean": mean(scores), **({"queries": scores} if per_query else {})})
        return
    if per_query:
        _table(["query", *names], [[q, *(f"{scores[n][q]:.4f}" for n in names)] for q in sorted(scores[names[0]])])
    _table(["measure", "mean"], [[name, f"{value:.4f}"] for name, value in mean(scores).items()])


@app.command()
def compare(
    first: Annotated[str, typer.Argument(help="A TREC run: the baseline.")],
    second: Annotated[str, typer.Argument(help="Another TREC run.")],
    qrels: Annotated[str, typer.Argument(help="TREC judgments.")],
    measures: Annotated[str, typer.Option(help='Such as "RR nDCG@10 P@1".')] = "",
    report: Annotated[str, typer.Option(help="Write an HTML page with plots here.")] = "",
    as_json: AsJson = False,
) -> None:
    """Say whether the second run is better than the first: paired t-test and randomisation test."""
    from paragloss.evaluation import DEFAULT, compare, evaluate
    from paragloss.formats.queries import read_qrels
    from paragloss.formats.trec import read_run

    names = measures.replace(",", " ").split() or list(DEFAULT)
    judged = read_qrels(qrels)
    before, after = evaluate(read_run(first), judged, names), evaluate(read_run(second), judged, names)
    results = {name: compare(before[name], after[name]) for name in names}
    if report:
        _write_report(report, {Path(first).stem: before, Path(second).stem: after})
    if as_json:
        _json({name: result._asdict() for name, result in results.items()})
        return
    header = ["measure", "first", "second", "difference", "p (t)", "p (random.)", "won/tied/lost"]
    _table(
        header,
        [
            [
                name,
                f"{r.first:.4f}",
                f"{r.second:.4f}",
                f"{r.difference:+.4f}",
                f"{r.p_t:.4g}",
                f"{r.p_randomisation:.4g}",
                f"{r.wins}/{r.ties}/{r.losses}",
            ]
            for name, r in results.items()
        ],
    )


@app.command()
def info(what: Annotated[str, typer.Argument(metavar="COLLECTION|MODEL")], as_json: AsJson = False) -> None:
    """Say what a collection or a model holds."""
    from paragloss.engine import describe

    about = describe(what)
    if as_json:
        _json(about)
    else:
        _table(
            ["", ""], [[key, value if isinstance(value, str) else json.dumps(value)] for key, value in about.items()]
        )


@app.command()
def translate(
    query: Annotated[str, typer.Argument(help="What to translate.")],
    by: Annotated[str, typer.Option("--with", help="A saved model, a dictionary file, apertium, or a server's URL.")],
    lang: Annotated[str, typer.Option(help="The language of the query.")],
    to: Annotated[str, typer.Option(help="The language to translate into.")],
    as_json: AsJson = False,
) -> None:
    """Say what each word of a query may be in another language, and how likely."""
    from paragloss.engine import translator
    from paragloss.languages import normalise
    from paragloss.types import Query

    source, target = normalise(lang), normalise(to)
    clauses = translator(by, source, target).translate(Query("", query, source), target)
    if as_json:
        _json([{"source": c.source, "alternatives": [a._asdict() for a in c.alternatives]} for c in clauses])
        return
    rows = [
        [clause.source if not place else "", alternative.text, f"{alternative.weight:.3f}"]
        for clause in clauses
        for place, alternative in enumerate(clause.alternatives)
    ]
    _table([lang, to, "weight"], rows)


@app.command()
def dictionary(
    file: Annotated[
        str, typer.Argument(help="MUSE or TSV pairs, dictd .index, .tei, CC-CEDICT .u8, Wiktionary .jsonl.")
    ],
    lang: Annotated[str, typer.Option(help="The language of the headwords.")],
    to: Annotated[str, typer.Option(help="The language of the translations.")],
    out: Annotated[str, typer.Option(help="Where the model goes: a folder.")],
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip and count unusable entries.")] = False,
) -> None:
    """Make a dictionary that collections can be searched with: `index --model` takes it."""
    from paragloss.formats.dictionaries import read_entries
    from paragloss.languages import normalise
    from paragloss.translation.dictionary import Dictionary

    source, target, skipped = normalise(lang), normalise(to), _Skipped(skip_bad)
    made = Dictionary.build(read_entries(file, source, target, on_error=skipped.note), source, target)
    made.save(out)
    skipped.tell()
    print(f"{len(made)} headwords, {source} to {target}: {out}")


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
def analyse(
    kind: Annotated[str, typer.Argument(help="kernels, translations, exact-match, data-size or quality.")],
    files: Annotated[list[str], typer.Argument(help='Rows {"concept","lang","title","text"}, or en-xx.tsv.')],
    out: Annotated[str, typer.Option(help="Where the table and the plot go: a folder.")],
    lang: Annotated[str, typer.Option(help="The language of the queries.")],
    to: Annotated[str, typer.Option(help="The language of the documents.")],
    model: Annotated[str, typer.Option(help="A trained K-NRM, where the kind needs one.")] = "",
    by: Annotated[str, typer.Option("--with", help="A saved translator, where the kind needs one.")] = "",
    categories: Annotated[str, typer.Option(help="A file of concepts and their categories, for quality.")] = "",
) -> None:
    """Look into a kernel ranker: its weights, its word pairs, its data. Writes a table and a plot."""
    from paragloss.analyses import KINDS

    if kind not in KINDS:
        raise InputError(f"no analysis {kind!r}; there are {', '.join(KINDS)}")
    given = {"source": lang, "target": to, "model": model, "translator": by, "categories": categories}
    taken = inspect.signature(KINDS[kind]).parameters
    options = {name: value for name, value in given.items() if name in taken and value}
    needed = [n for n in taken if n in given and n not in options and taken[n].default is inspect.Parameter.empty]
    if needed:
        raise InputError(f"{kind} needs --{'with' if needed[0] == 'translator' else needed[0]}")
    made = KINDS[kind](files, Path(out), **options)
    _table([str(cell) for cell in made.header], [[str(cell) for cell in row] for row in made.rows])


@app.command()
def demo(
    into: Annotated[str, typer.Option("--into", help="Where the demonstration goes.")] = ".demo",
) -> None:
    """Build a small collection in seven languages, train Cr5 on it, and search across languages."""
    from paragloss.demo import run

    run(Path(into), show=_show, say=print)


# --- what commands share ---------------------------------------------------------------------------------------------


class _Skipped:
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


class _Progress:
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

    def trained(self, done: Any, _left: float = 0.0) -> None:
        """What training says: the share of the work done, or an epoch with its loss and measure."""
        if isinstance(done, float):
            self(100 * done, 100)
            return
        measured = "" if done.measure is None else f", held out {done.measure:.4f}"
        self._bar.update(self._task, description=f"{self._what}: loss {done.loss:.4f}{measured}")
        self(done.epoch, done.epochs)

    def __enter__(self) -> _Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


def _tracked(items: Sequence[T], what: str) -> Iterator[T]:
    with _Progress(what) as bar:
        for number, item in enumerate(items, start=1):
            bar(number, len(items))
            yield item


def _in_languages(concepts: list[Concept], langs: str) -> list[Concept]:
    """Only what is in some languages, when they are said."""
    from paragloss.languages import normalise

    if langs:
        wanted = {normalise(lang) for lang in langs.split(",")}
        concepts = [
            c._replace(texts={lang: text for lang, text in c.texts.items() if lang in wanted}) for c in concepts
        ]
    kept = [concept for concept in concepts if concept.texts]
    if not kept:
        raise InputError(f"no document in {langs or 'any language'} to train on")
    return kept


def _methods() -> list[str]:
    names = []
    for folder in ("models", "translation"):
        package = importlib.import_module(f"paragloss.{folder}")
        for found in pkgutil.iter_modules(package.__path__):
            source = Path(package.__path__[0], f"{found.name}.py")
            if not found.name.startswith("_") and "\ndef fit(" in source.read_text(encoding="utf-8"):
                names.append(f"{folder}.{found.name}")
    return names


def _fit(method: str) -> Any:
    for name in _methods():
        if name.split(".")[1] == method.replace("-", "_"):
            return importlib.import_module(f"paragloss.{name}").fit
    have = ", ".join(sorted(name.split(".")[1] for name in _methods()))
    raise InputError(f"no method {method!r}; there are {have}")


#: Settings that may be left out, or be a word or a path.
_WORDS = ("str | None", "str | Path | None", "Path | None")


def _flags(fit: Any) -> dict[str, inspect.Parameter]:
    """A fit function's settings that can be said in one word."""
    return {
        f"--{name.replace('_', '-').strip('-')}": parameter
        for name, parameter in inspect.signature(fit).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
        and (isinstance(parameter.default, int | float | str) or parameter.annotation in _WORDS)
    }


def _wants_value(fit: Any, word: str) -> bool:
    parameter = _flags(fit).get(word)
    return parameter is not None and not isinstance(parameter.default, bool)


def _setting(fit: Any, method: str, word: str, value: str | None) -> tuple[str, Any]:
    flags = _flags(fit)
    if "=" in word:
        word, value = word.split("=", 1)
    negated = word.startswith("--no-") and f"--{word[5:]}" in flags
    parameter = flags.get(f"--{word[5:]}" if negated else word)
    if parameter is None:
        raise InputError(f"{method} has no setting {word}; it has {', '.join(sorted(flags))}")
    if isinstance(parameter.default, bool):
        return parameter.name, not negated
    if parameter.default is None and value is not None:
        return parameter.name, value
    try:
        return parameter.name, type(parameter.default)(value)
    except (TypeError, ValueError):
        raise InputError(f"{word} needs a {type(parameter.default).__name__}, got {value!r}") from None


def _settings_help(method: str) -> str:
    fit = _fit(method)
    lines = [
        f"Usage: paragloss train {method} FILE... --out MODEL [settings]",
        "",
        inspect.getdoc(fit) or "",
        "",
        "Settings:",
    ]
    lines += [f"  {flag} {parameter.default!r}" for flag, parameter in _flags(fit).items()]
    return "\n".join(lines)


def _where(conditions: Iterable[str]) -> dict[str, list[str | int | bool]]:
    where: dict[str, list[str | int | bool]] = {}
    for condition in conditions:
        field, equals, value = condition.partition("=")
        if not equals or not field:
            raise InputError(f"--where {condition!r}: write FIELD=VALUE, such as meta.year=1999")
        where.setdefault(field, []).append(int(value) if value.lstrip("-").isdigit() else value)
    return where


def _run(
    engine: Any, queries: str, run: str, *, lang: str, to: list[str] | None, k: int, pipeline: str | None, where: Any
) -> None:
    from paragloss.formats.queries import read_queries
    from paragloss.formats.trec import write_run

    if not run:
        raise InputError("no --run given: say where the run goes, such as --run out.trec")
    asked = [q if q.lang else q._replace(lang=lang) for q in read_queries(queries)]
    if not asked:
        raise InputError(f"{queries} holds no queries")
    results = {}
    started = time.perf_counter()
    with _Progress("searching") as bar:
        for start in range(0, len(asked), 64):
            batch = asked[start : start + 64]
            rankings = engine.rank(batch, k=k, to=to, pipeline=pipeline, where=where)
            results.update({q.id: ranking for q, ranking in zip(batch, rankings, strict=True)})
            bar(start + len(batch), len(asked))
    write_run(run, results, tag=pipeline or "paragloss")
    seconds = time.perf_counter() - started
    print(f"{len(asked)} queries in {seconds:.1f} s ({1000 * seconds / len(asked):.1f} ms each): {run}")


def _show(answer: Any) -> None:
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


def _write_report(path: str, runs: dict[str, Any]) -> None:
    from paragloss.evaluation.report import report

    Path(path).write_text(report(runs), encoding="utf-8")
    print(f"report: {path}", file=sys.stderr)


def _table(header: list[str], rows: list[list[str]]) -> None:
    """Columns, aligned; plain text, so that it can be cut and pasted."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, *rows] if any(header) else rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
