"""Commands that make models."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Annotated, Any

import typer

from paragloss.cli.help_layout import TRAINING
from paragloss.cli.output import Progress, Skipped, check_model_folder, print_json, print_table, tracked
from paragloss.cli.program import AsJson, In, app
from paragloss.errors import InputError
from paragloss.lab.commands import data_files
from paragloss.lab.commands.flags import separated, settings_help, summary, values
from paragloss.lab.settings import options
from paragloss.methods import load_method, load_methods
from paragloss.types import Concept, JudgedCollection

#: Words that the command does not know are the method's own flags.
_OPEN = {"allow_extra_args": True, "ignore_unknown_options": True}
Method = Annotated[str, typer.Argument(help="Method: cr5, lsi, opca, table, ...")]
Files = Annotated[
    list[str] | None, typer.Argument(help='Rows {"concept","lang","title","text"}, or en-xx.tsv; LS-CLIR files.')
]
Langs = Annotated[str, typer.Option(help="Use these languages only, such as en,fr,zh.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Skip rows that can't be read.")]
Help = Annotated[bool, typer.Option("--help", help="Show this message; with a METHOD, its settings.")]
JudgedFiles = Annotated[
    list[str] | None,
    typer.Option(help="Learn from QUERIES,DOCUMENTS,JUDGMENTS or LOG,DOCUMENTS (ordinal, knrm). Repeatable."),
]

#: Fewer concepts than these leave too few to measure by.
_TELLING = 100


@app.command(context_settings=_OPEN, add_help_option=False, rich_help_panel=TRAINING)
def train(
    context: typer.Context,
    method: Method = "",
    files: Files = None,
    out: Annotated[str, typer.Option("--out", help="Folder for the model.")] = "",
    langs: Langs = "",
    judged: JudgedFiles = None,
    add_language: Annotated[str, typer.Option(help="cr5: add this language to the model of --to.")] = "",
    to: Annotated[str, typer.Option("--to", help="Model to add the language to.")] = "",
    skip_bad: SkipBad = False,
    help: Help = False,
) -> None:
    """Learn a model from documents about the same concepts in several languages.

    Each METHOD has options of its own: `paragloss train cr5 --help` lists them.
    """
    from paragloss import collection as engine

    if help or not method:
        print(_help(method, context) if method else f"{context.get_help()}\n\n{_methods('fit')}")
        raise typer.Exit(0 if help else 2)
    module = load_method(method)
    if out:
        check_model_folder(out)
    fits = [module.fit, *(getattr(module, name) for name in ("fit_judged", "add_language") if hasattr(module, name))]
    paths, texts_by_flag = separated([*(files or []), *context.args], fits)
    if judged or _are_judgments(paths):
        _train_judged(method, module, texts_by_flag, [*([",".join(paths)] if paths else []), *(judged or [])], out)
    elif add_language:
        _add_language(method, module, texts_by_flag, _concepts(paths, "", skip_bad), add_language, to, out)
    else:
        settings = values(method, module.fit, texts_by_flag)
        _needed(out, paths)
        aligned = _concepts(paths, langs, skip_bad)
        run = partial(engine.train, module.fit, aligned)
        _fit_and_save(method, f"{len(aligned)} concepts", out, module.fit, run, settings)
        if method == "table" and settings.get("start"):
            _gained(aligned, settings)


@app.command(context_settings=_OPEN, add_help_option=False, rich_help_panel=TRAINING)
def tune(
    context: typer.Context,
    method: Method = "",
    files: Files = None,
    plot: Annotated[str, typer.Option(help="Plot file, such as tune.svg.")] = "",
    langs: Langs = "",
    judged: JudgedFiles = None,
    collection: In = "",
    queries: Annotated[str, typer.Option(help='fusion: file of queries, rows {"id","lang","text"}.')] = "",
    qrels: Annotated[str, typer.Option(help="fusion: TREC judgments.")] = "",
    measure: Annotated[str, typer.Option(help="fusion: measure to optimise, such as RR or nDCG@10.")] = "RR",
    to: Annotated[str, typer.Option("--to", help="fusion: languages of the documents, such as fr,de.")] = "",
    skip_bad: SkipBad = False,
    as_json: AsJson = False,
    help: Help = False,
) -> None:
    """Find good settings of a method on held-out data. `paragloss tune cr5 --help` lists them.

    `tune fusion --in COLLECTION --queries FILE --qrels FILE` learns the weights of the parts from your judgments.
    """
    if method == "fusion" and not help:
        _tune_fusion(collection, queries, qrels, measure=measure, to=to, as_json=as_json)
        return
    if help or not method:
        method = "" if method == "fusion" else method
        usage = f"tune {method} FILE... [--plot FILE] [settings]"
        help_text = settings_help(usage, [("Settings", load_method(method, "tune").tune)]) if method else None
        print(help_text or f"{context.get_help()}\n\n{_methods('tune')}")
        raise typer.Exit(0 if help else 2)
    module = load_method(method, "tune")
    paths, texts_by_flag = separated([*(files or []), *context.args], [module.tune])
    settings = values(method, module.tune, texts_by_flag)
    if next(iter(inspect.signature(module.tune).parameters)) == "judged":
        tuning = module.tune(_read_one_judged_set(method, paths, judged), **settings)
    else:
        _needed("-", paths)
        tuning = module.tune(_concepts(paths, langs, skip_bad), **settings)
    if plot:
        module.plot(tuning, plot)
        print(f"plot: {plot}", file=sys.stderr)
    header, rows = module.table(tuning)
    if as_json:
        print_json([dict(zip(header, row, strict=True)) for row in rows])
    else:
        print_table(list(header), [[_cell(cell) for cell in row] for row in rows])


def _read_one_judged_set(method: str, paths: Sequence[str], judged: Sequence[str] | None) -> JudgedCollection:
    sets = data_files.judgments("--judged", list(judged or ([",".join(paths)] if paths else [])))
    if len(sets) != 1:
        raise InputError(f"{method} is tuned on one set of judgments: give QUERIES DOCUMENTS JUDGMENTS once")
    return sets[0]


def _tune_fusion(collection: str, queries: str, qrels: str, *, measure: str, to: str, as_json: bool) -> None:
    from paragloss.collection import Collection
    from paragloss.formats.queries import read_qrels, read_queries
    from paragloss.lab import tuning

    for flag, value in (("--in", collection), ("--queries", queries), ("--qrels", qrels)):
        if not value:
            raise InputError(f"no {flag} given: tune fusion --in COLLECTION --queries FILE --qrels FILE")
    targets = [lang.strip() for lang in to.split(",") if lang.strip()] or None
    query_list, judged = list(read_queries(queries)), read_qrels(qrels)
    with Collection.open(collection) as engine:
        tuned = tuning.tune(engine, query_list, judged, measure=measure, to=targets)
    if as_json:
        print_json({**tuned._asdict(), "test": tuned.test._asdict(), "pipeline": tuned.pipeline})
        return
    rows = zip(tuned.parts, tuned.before, tuned.after, strict=True)
    print_table(["part", "without judgments", "with them"], [[part, f"{b:g}", f"{a:g}"] for part, b, a in rows])
    test = tuned.test
    print(
        f"{tuned.measure} of {tuned.queries} queries, each measured with weights that others chose: {test.first:.4f} "
        f"to {test.second:.4f} (p {test.p_randomisation:.4g})\nsearch with: --pipeline {tuned.pipeline!r}"
    )


def _train_judged(
    method: str, module: ModuleType, texts_by_flag: dict[str, list[str]], sets: list[str], out: str
) -> None:
    if not hasattr(module, "fit_judged"):
        raise InputError(f"{method} does not learn from judgments; ordinal and knrm do")
    settings = values(method, module.fit_judged, texts_by_flag)
    _needed(out, sets)
    learned = data_files.judgments("--judged", sets)
    queries = sum(len(judged_set.queries) for judged_set in learned)
    _fit_and_save(method, f"{queries} queries", out, module.fit_judged, partial(module.fit_judged, *learned), settings)


def _add_language(
    method: str,
    module: ModuleType,
    texts_by_flag: dict[str, list[str]],
    aligned: list[Concept],
    lang: str,
    to: str,
    out: str,
) -> None:
    from paragloss import collection as engine
    from paragloss.languages import normalise

    if not hasattr(module, "add_language"):
        raise InputError(f"{method} can't add a language to a model; cr5 can")
    if not to:
        raise InputError("no --to given: say which model the language is added to")
    settings, code = values(method, module.add_language, texts_by_flag), normalise(lang)
    started = time.perf_counter()
    engine.add_language(module.add_language, to, aligned, code, **settings).save(out or to)
    print(f"added {code} from {len(aligned)} concepts in {time.perf_counter() - started:.1f} s: {out or to}")


def _gained(aligned: list[Concept], settings: dict[str, Any]) -> None:
    """Say what learning on was worth: once more without a tenth of the texts, which are then looked for."""
    from paragloss.lab.learning_on import gain

    if len(aligned) < _TELLING:
        print(f"{len(aligned)} concepts are too few to say by how much that helps: {_TELLING} would do")
        return
    for source, target, texts, before, after in gain(aligned, **settings):
        print(f"{source}->{target}: {texts} held-out texts found with RR {before:.3f} before, {after:.3f} after")


def _fit_and_save(
    method: str, amount: str, out: str, fit: Callable[..., Any], run: Callable[..., Any], settings: dict[str, Any]
) -> None:
    """Run a fit with a progress bar where it can tell how far it is, and save what it gives."""
    started = time.perf_counter()
    if "progress" in options(fit):
        with Progress(f"training {method}") as bar:
            model = run(progress=bar.show_training, **settings)
    else:
        model = run(**settings)
    model.save(out)
    print(f"trained {method} on {amount} in {time.perf_counter() - started:.1f} s: {out}")


def _concepts(paths: Sequence[str], langs: str, skip_bad: bool) -> list[Concept]:
    from paragloss.lab.aligned_files import read_aligned

    skipped = Skipped(skip_bad)
    concepts = in_languages(read_aligned(tracked(list(paths), "reading"), on_error=skipped.on_error), langs)
    skipped.print_summary()
    return concepts


def _needed(out: str, paths: Sequence[str]) -> None:
    if not paths:
        raise InputError("no FILE given: name files with rows of concept, lang, title and text")
    if not out:
        raise InputError("no --out given: say where the model goes, such as --out models/cr5")


def _are_judgments(paths: Sequence[str]) -> bool:
    from paragloss.formats.text import format_suffix

    return any(format_suffix(path) in data_files.LSCLIR for path in paths)


def _help(method: str, context: typer.Context) -> str:
    module = load_method(method)
    sections = [("Settings", module.fit)]
    if hasattr(module, "fit_judged"):
        sections.append(("With --judged QUERIES,DOCUMENTS,JUDGMENTS", module.fit_judged))
    if hasattr(module, "add_language"):
        sections.append(("With --add-language xx --to MODEL", module.add_language))
    return settings_help(f"train {method} FILE... --out MODEL [--langs en,fr] [--skip-bad] [settings]", sections)


def _methods(function: str) -> str:
    width = max(map(len, load_methods(function)))
    lines = [f"  {name:<{width}}  {summary(name, function)}" for name in sorted(load_methods(function))]
    return "\n".join(["Methods:", *lines])


def _cell(cell: Any) -> str:
    if isinstance(cell, tuple | list):
        return ",".join(map(str, cell))
    return f"{cell:.4f}" if isinstance(cell, float) else str(cell)


def in_languages(concepts: list[Concept], langs: str) -> list[Concept]:
    """Keep the texts of some languages, or all if none is given."""
    from paragloss.languages import normalise

    if langs:
        language_codes = {normalise(lang) for lang in langs.split(",")}
        concepts = [
            c._replace(texts={of: text for of, text in c.texts.items() if of in language_codes}) for c in concepts
        ]
    selected = [concept for concept in concepts if concept.texts]
    if not selected:
        raise InputError(f"no document in {langs or 'any language'} to train on")
    return selected
