"""The command that recommends a pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from paragloss.cli.help_layout import MEASURING
from paragloss.cli.output import print_json, print_table
from paragloss.cli.program import AsJson, app

if TYPE_CHECKING:
    from paragloss.lab.advisor import Advice, CorpusSummary, ExpectedQuality


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
    """Print a recommendation: the documents, the machine, the pipeline, its quality, and what to do next."""
    _print_corpus(advice.corpus)
    machine = advice.machine
    gpu = "a GPU" if machine.gpu else "no GPU"
    installed = ", ".join(machine.installed) or "none"
    print(f"{machine.cores} cores, {machine.memory / 1e9:.0f} GB, {gpu}; optional parts: {installed}")
    _print_indented(f"pipeline: {advice.pipeline}", advice.reasons)
    print("\nexpected (measured on the sets of docs/understand/results.md that are most like this):")
    header = ["system", "quality", "tasks", "documents/s", "ms a query"]
    print_table(header, [_format_expected(row) for row in advice.expected])
    suggestions = [f"{number}. {text}" for number, text in enumerate(advice.suggestions, start=1)]
    _print_indented("what would help most:", suggestions)
    _print_indented("commands:", advice.commands)


def _print_indented(heading: str, lines: Sequence[str]) -> None:
    """Print an empty line, a heading, and lines that are indented below it."""
    print(f"\n{heading}")
    for line in lines:
        print(f"  {line}")


def _print_corpus(corpus: CorpusSummary) -> None:
    """Print how many documents, aligned texts and word pairs there are in each language."""
    if corpus.documents:
        counts = ", ".join(f"{code} {count:,}" for code, count in corpus.langs.items())
        print(f"{corpus.documents:,} documents of {corpus.mean_characters:,} characters: {counts}")
    for kind, pairs in (("aligned", corpus.aligned), ("dictionary", corpus.dictionaries)):
        for pair, count in pairs.items():
            print(f"{kind} {pair}: {count:,}")


def _format_expected(row: ExpectedQuality) -> list[str]:
    costs = [f"{row.cost[name]:,.1f}" if name in row.cost else "" for name in ("documents/s", "ms/query")]
    return [row.system, f"{row.quality:.3f}", str(row.tasks), *costs]
