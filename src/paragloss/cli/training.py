"""Commands that make models."""

from __future__ import annotations

import inspect
import time
from typing import Annotated

import typer

from paragloss.cli.app import app
from paragloss.cli.output import Progress, Skipped, tracked
from paragloss.cli.settings import fit_of, setting, settings_help, wants_value
from paragloss.errors import InputError
from paragloss.types import Concept


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
        print(context.get_help() if not method else settings_help(method))
        raise typer.Exit(0 if help else 2)
    fit = fit_of(method)
    paths, extras = [], []
    taken = [*(files or []), *context.args]
    while taken:
        word = taken.pop(0)
        if word.startswith("--"):
            extras.append((word, taken.pop(0) if taken and "=" not in word and wants_value(fit, word) else None))
        else:
            paths.append(word)
    if not paths:
        raise InputError("no FILE given: name files with rows of concept, lang, title and text")
    if not out:
        raise InputError("no --out given: say where the model goes, such as --out models/cr5")
    settings = dict(setting(fit, method, word, value) for word, value in extras)
    skipped = Skipped(skip_bad)
    concepts = in_languages(read_aligned(tracked(paths, "reading"), on_error=skipped.note), langs)
    skipped.tell()
    started = time.perf_counter()
    if "progress" in inspect.signature(fit).parameters:
        with Progress(f"training {method}") as bar:
            model = engine.train(fit, concepts, progress=bar.trained, **settings)
    else:
        model = engine.train(fit, concepts, **settings)
    model.save(out)
    print(f"trained {method} on {len(concepts)} concepts in {time.perf_counter() - started:.1f} s: {out}")


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

    source, target, skipped = normalise(lang), normalise(to), Skipped(skip_bad)
    made = Dictionary.build(read_entries(file, source, target, on_error=skipped.note), source, target)
    made.save(out)
    skipped.tell()
    print(f"{len(made)} headwords, {source} to {target}: {out}")


def in_languages(concepts: list[Concept], langs: str) -> list[Concept]:
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
