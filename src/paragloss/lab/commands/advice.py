"""Commands that recommend a pipeline and that analyse a trained kernel ranker."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paragloss.cli.help_layout import MEASURING
from paragloss.cli.output import print_json, print_table
from paragloss.cli.program import AsJson, app
from paragloss.errors import InputError

if TYPE_CHECKING:
    from paragloss.lab.advisor import Advice, ExpectedQuality


@app.command(rich_help_panel=MEASURING)
def advise(
    paths: Annotated[list[str], typer.Argument(help="Your documents, aligned texts and word lists.")],
    lang: Annotated[str, typer.Option(help="Language of your queries.")] = "en",
    as_json: AsJson = False,
) -> None:
    """Recommend a pipeline for your documents and this machine."""
    from paragloss.lab import advisor

    advice = advisor.advise(paths, lang=lang)
    if as_json:
        records = {"corpus": advice.corpus._asdict(), "machine": advice.machine._asdict()}
        print_json({**advice._asdict(), **records, "expected": [row._asdict() for row in advice.expected]})
    else:
        _print_advice(advice)


def _print_advice(advice: Advice) -> None:
    corpus, machine = advice.corpus, advice.machine
    if corpus.documents:
        counts = ", ".join(f"{code} {count:,}" for code, count in corpus.langs.items())
        print(f"{corpus.documents:,} documents of {corpus.mean_characters:,} characters: {counts}")
    for kind, pairs in (("aligned", corpus.aligned), ("dictionary", corpus.dictionaries)):
        for pair, count in pairs.items():
            print(f"{kind} {pair}: {count:,}")
    gpu = "a GPU" if machine.gpu else "no GPU"
    installed = ", ".join(machine.installed) or "none"
    print(f"{machine.cores} cores, {machine.memory / 1e9:.0f} GB, {gpu}; optional parts: {installed}")
    print("\n".join([f"\npipeline: {advice.pipeline}", *(f"  {reason}" for reason in advice.reasons)]))
    print("\nexpected (measured on the sets of docs/understand/results.md that are most like this):")
    header = ["system", "quality", "tasks", "documents/s", "ms a query"]
    print_table(header, [_format_expected(row) for row in advice.expected])
    suggestions = [f"  {number}. {text}" for number, text in enumerate(advice.suggestions, start=1)]
    print("\n".join(["\nwhat would help most:", *suggestions]))
    print("\n".join(["\ncommands:", *(f"  {command}" for command in advice.commands)]))


def _format_expected(row: ExpectedQuality) -> list[str]:
    costs = [f"{row.cost[name]:,.1f}" if name in row.cost else "" for name in ("documents/s", "ms/query")]
    return [row.system, f"{row.quality:.3f}", str(row.tasks), *costs]


@app.command(rich_help_panel=MEASURING)
def analyse(
    kind: Annotated[
        str, typer.Argument(help="What to analyse: kernels, translations, exact-match, data-size, quality.")
    ],
    files: Annotated[list[str], typer.Argument(help='Rows {"concept","lang","title","text"}, or en-xx.tsv.')],
    out: Annotated[str, typer.Option(help="Folder for the table and the plot.")],
    lang: Annotated[str, typer.Option(help="Language of the queries.")],
    to: Annotated[str, typer.Option(help="Language of the documents.")],
    model: Annotated[str, typer.Option(help="A trained K-NRM, if the analysis needs one.")] = "",
    translator: Annotated[str, typer.Option("--with", help="A saved translator, if the analysis needs one.")] = "",
    categories: Annotated[str, typer.Option(help="quality: file of concepts and their categories.")] = "",
) -> None:
    """Analyse a kernel ranker: weights, word pairs, training data."""
    from paragloss.lab.analyses import KINDS

    if kind not in KINDS:
        raise InputError(f"no analysis {kind!r}; there are {', '.join(KINDS)}")
    flags = {"source": lang, "target": to, "model": model, "translator": translator, "categories": categories}
    parameters = inspect.signature(KINDS[kind]).parameters
    arguments = {name: value for name, value in flags.items() if name in parameters and value}
    for name, parameter in parameters.items():
        if name in flags and name not in arguments and parameter.default is inspect.Parameter.empty:
            raise InputError(f"{kind} needs --{'with' if name == 'translator' else name}")
    table = KINDS[kind](files, Path(out), **arguments)
    print_table([str(cell) for cell in table.header], [[str(cell) for cell in row] for row in table.rows])
