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
from paragloss.cli.output import ProgressBar, Skipped, check_model_folder, print_json, print_table, tracked
from paragloss.cli.program import AsJson, app
from paragloss.errors import InputError
from paragloss.lab.commands import data_files
from paragloss.lab.commands.flags import format_settings_help, parse_settings, split_arguments, summarize_method
from paragloss.lab.settings import read_options
from paragloss.methods import load_method, load_methods
from paragloss.types import Concept, JudgedCollection

#: Flags that the command does not know are settings of the method.
_PASS_UNKNOWN_FLAGS = {"allow_extra_args": True, "ignore_unknown_options": True}
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


@app.command(context_settings=_PASS_UNKNOWN_FLAGS, add_help_option=False, rich_help_panel=TRAINING)
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
    if help or not method:
        text = _format_train_help(method) if method else _format_command_help(context, "fit")
        print(text)
        raise typer.Exit(0 if help else 2)
    if out:
        check_model_folder(out)
    fits = [function for _, function in _list_fits(load_method(method))]
    paths, texts_by_flag = split_arguments([*(files or []), *context.args], fits)
    if judged or _are_judgments(paths):
        judged_sets = [",".join(paths)] if paths else []
        _train_judged(method, texts_by_flag, [*judged_sets, *(judged or [])], out)
    elif add_language:
        _add_language(method, texts_by_flag, _read_concepts(paths, "", skip_bad), add_language, to, out)
    else:
        _train_aligned(method, texts_by_flag, paths, langs, skip_bad, out)


@app.command(context_settings=_PASS_UNKNOWN_FLAGS, add_help_option=False, rich_help_panel=TRAINING)
def tune(
    context: typer.Context,
    method: Method = "",
    files: Files = None,
    plot: Annotated[str, typer.Option(help="Plot file, such as tune.svg.")] = "",
    langs: Langs = "",
    judged: JudgedFiles = None,
    skip_bad: SkipBad = False,
    as_json: AsJson = False,
    help: Help = False,
) -> None:
    """Find good settings of a method on held-out data. `paragloss tune cr5 --help` lists them."""
    if help or not method:
        text = _format_tune_help(method) if method else _format_command_help(context, "tune")
        print(text)
        raise typer.Exit(0 if help else 2)
    module = load_method(method, "tune")
    paths, texts_by_flag = split_arguments([*(files or []), *context.args], [module.tune])
    settings = parse_settings(method, module.tune, texts_by_flag)
    # What a method is tuned on is the first argument of its function: judgments, or aligned texts.
    first_argument = next(iter(inspect.signature(module.tune).parameters))
    data: JudgedCollection | list[Concept]
    if first_argument == "judged":
        data = _read_one_judged_set(method, paths, judged)
    else:
        data = _read_concepts(paths, langs, skip_bad)
    tuning = module.tune(data, **settings)
    if plot:
        module.plot(tuning, plot)
        print(f"plot: {plot}", file=sys.stderr)
    _print_rows(*module.table(tuning), as_json=as_json)


def _print_rows(header: Sequence[str], rows: Sequence[Sequence[Any]], *, as_json: bool) -> None:
    """Print the rows of a tuning as a table, or as JSON objects."""
    if as_json:
        print_json([dict(zip(header, row, strict=True)) for row in rows])
    else:
        print_table(list(header), [[_format_cell(cell) for cell in row] for row in rows])


def _read_one_judged_set(method: str, paths: Sequence[str], judged: Sequence[str] | None) -> JudgedCollection:
    """Read the only judged collection: that of the option --judged, or else that of the three paths."""
    arguments = list(judged or [])
    if paths and not judged:
        arguments = [",".join(paths)]
    sets = data_files.read_judgments("--judged", arguments)
    if len(sets) != 1:
        raise InputError(f"{method} is tuned on one set of judgments: give QUERIES DOCUMENTS JUDGMENTS once")
    return sets[0]


def _train_aligned(
    method: str, texts_by_flag: dict[str, list[str]], paths: Sequence[str], langs: str, skip_bad: bool, out: str
) -> None:
    """Train a model on aligned texts, which are about the same concepts in several languages, and save it.

    :param method: name of the method, such as "cr5"
    :param texts_by_flag: settings of the method as they were typed
    :param paths: files of aligned texts
    :param langs: languages to learn from, such as "en,fr"; "" for all
    :param skip_bad: skip rows that can't be read
    :param out: folder to save the model to
    """
    from paragloss import collection as engine

    fit = load_method(method).fit
    settings = parse_settings(method, fit, texts_by_flag)
    _require_files_and_out(paths, out)
    aligned = _read_concepts(paths, langs, skip_bad)
    train_model = partial(engine.train, fit, aligned, **settings)
    reports_progress = "progress" in read_options(fit)
    _train_and_save(method, train_model, f"{len(aligned)} concepts", out, reports_progress=reports_progress)


def _train_judged(method: str, texts_by_flag: dict[str, list[str]], judged_sets: list[str], out: str) -> None:
    """Train a model on judgments, which say how relevant documents are to queries, and save it.

    :param method: name of the method, such as "knrm"
    :param texts_by_flag: settings of the method as they were typed
    :param judged_sets: paths of files, each set written QUERIES,DOCUMENTS,JUDGMENTS
    :param out: folder to save the model to
    :raises InputError: if the method can't learn from judgments, a setting is wrong, or files or the folder are missing
    """
    module = load_method(method)
    if not hasattr(module, "fit_judged"):
        raise InputError(f"{method} does not learn from judgments; ordinal and knrm do")
    settings = parse_settings(method, module.fit_judged, texts_by_flag)
    _require_files_and_out(judged_sets, out)
    collections = data_files.read_judgments("--judged", judged_sets)
    query_count = sum(len(collection.queries) for collection in collections)
    train_model = partial(module.fit_judged, *collections, **settings)
    reports_progress = "progress" in read_options(module.fit_judged)
    _train_and_save(method, train_model, f"{query_count} queries", out, reports_progress=reports_progress)


def _add_language(
    method: str, texts_by_flag: dict[str, list[str]], aligned: list[Concept], lang: str, model: str, out: str
) -> None:
    """Add a language to a saved model and save it.

    :param texts_by_flag: settings of the method as they were typed
    :param aligned: texts in the new language and in those of the model
    :param lang: the new language
    :param model: folder of the model
    :param out: folder to save to; "" for that of the model
    :raises InputError: if the method can't add languages, no model is given, or a setting is wrong
    """
    from paragloss import collection as engine
    from paragloss.languages import normalise

    module = load_method(method)
    if not hasattr(module, "add_language"):
        raise InputError(f"{method} can't add a language to a model; cr5 can")
    if not model:
        raise InputError("no --to given: say which model the language is added to")
    settings = parse_settings(method, module.add_language, texts_by_flag)
    code = normalise(lang)
    out_folder = out or model
    started = time.perf_counter()
    extended_model = engine.add_language(module.add_language, model, aligned, code, **settings)
    extended_model.save(out_folder)
    seconds = time.perf_counter() - started
    print(f"added {code} from {len(aligned)} concepts in {seconds:.1f} s: {out_folder}")


def _train_and_save(
    method: str, train_model: Callable[..., Any], data_size: str, out: str, *, reports_progress: bool
) -> None:
    """Train a model, save it to a folder and print how long that took.

    The line printed is such as "trained cr5 on 200 concepts in 3.1 s: models/cr5".

    :param method: name of the method, as it is printed
    :param train_model: trains and returns the model; the data and the settings are bound to it
    :param data_size: what the model is trained on, as it is printed: "200 concepts"
    :param out: folder to save the model to
    :param reports_progress: whether `train_model` has an argument `progress`, a function that it calls as it proceeds
    """
    started = time.perf_counter()
    model = _train_with_bar(method, train_model) if reports_progress else train_model()
    model.save(out)
    seconds = time.perf_counter() - started
    print(f"trained {method} on {data_size} in {seconds:.1f} s: {out}")


def _train_with_bar(method: str, train_model: Callable[..., Any]) -> Any:
    """Train a model while a progress bar shows how far the training is, and return the model.

    :param train_model: trains the model, and calls its argument `progress` as it proceeds
    """
    with ProgressBar(f"training {method}") as bar:
        return train_model(progress=bar.show_training)


def _read_concepts(paths: Sequence[str], langs: str, skip_bad: bool) -> list[Concept]:
    """Read aligned texts, and keep those in `langs` ("" for all)."""
    from paragloss.lab.aligned_files import read_aligned

    _require_files(paths)
    skipped = Skipped(skip_bad)
    concepts = select_languages(read_aligned(tracked(list(paths), "reading"), on_error=skipped.on_error), langs)
    skipped.print_summary()
    return concepts


def _require_files_and_out(paths: Sequence[str], out: str) -> None:
    _require_files(paths)
    if not out:
        raise InputError("no --out given: say where the model goes, such as --out models/cr5")


def _require_files(paths: Sequence[str]) -> None:
    if not paths:
        raise InputError("no FILE given: name files with rows of concept, lang, title and text")


def _are_judgments(paths: Sequence[str]) -> bool:
    from paragloss.formats.text import format_suffix

    return any(format_suffix(path) in data_files.LSCLIR for path in paths)


def _format_train_help(method: str) -> str:
    """Write the help of `train` with the settings of one method."""
    usage = f"train {method} FILE... --out MODEL [--langs en,fr] [--skip-bad] [settings]"
    return format_settings_help(usage, _list_fits(load_method(method)))


def _list_fits(module: ModuleType) -> list[tuple[str, Callable[..., Any]]]:
    """List the functions of a method that make models, each with the heading of its settings in the help."""
    headings = {
        "fit": "Settings",
        "fit_judged": "With --judged QUERIES,DOCUMENTS,JUDGMENTS",
        "add_language": "With --add-language xx --to MODEL",
    }
    return [(heading, getattr(module, name)) for name, heading in headings.items() if hasattr(module, name)]


def _format_tune_help(method: str) -> str:
    """Write the help of `tune` with the settings of one method."""
    sections = [("Settings", load_method(method, "tune").tune)]
    return format_settings_help(f"tune {method} FILE... [--plot FILE] [settings]", sections)


def _format_command_help(context: typer.Context, function: str) -> str:
    """Write the help of a command without a method, and list the methods that have a function, such as "fit"."""
    return f"{context.get_help()}\n\n{_list_methods(function)}"


def _list_methods(function: str) -> str:
    """List the installed methods that have a function, such as "fit", each with its first sentence."""
    names = sorted(load_methods(function))
    width = max(map(len, names))
    lines = [f"  {name:<{width}}  {summarize_method(name, function)}" for name in names]
    return "\n".join(["Methods:", *lines])


def _format_cell(cell: Any) -> str:
    if isinstance(cell, tuple | list):
        return ",".join(map(str, cell))
    return f"{cell:.4f}" if isinstance(cell, float) else str(cell)


def select_languages(concepts: list[Concept], langs: str) -> list[Concept]:
    """Keep the texts in the given languages, such as "en,fr", or all if `langs` is empty.

    :param concepts: concepts with their texts by language; those without a text that is kept are left out
    :param langs: codes separated by commas
    :raises InputError: if no text is left
    """
    from paragloss.languages import normalise

    codes = {normalise(lang) for lang in langs.split(",")} if langs else set()
    selected = []
    for concept in concepts:
        texts = {lang: text for lang, text in concept.texts.items() if not langs or lang in codes}
        if texts:
            selected.append(concept._replace(texts=texts))
    if not selected:
        raise InputError(f"no document in {langs or 'any language'} to train on")
    return selected
