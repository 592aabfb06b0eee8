"""Commands that measure rankings and look into rankers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paragloss.cli.help_layout import MEASURING
from paragloss.cli.output import print_json, print_table, writable
from paragloss.cli.program import AsJson, app

if TYPE_CHECKING:
    from paragloss.evaluation import Scores

Judgments = Annotated[str, typer.Argument(help="TREC judgments.")]
Measures = Annotated[str, typer.Option(help='Measures, such as "RR nDCG@10 P@1".')]
Report = Annotated[str, typer.Option(help="HTML report to write.")]


@app.command("eval", rich_help_panel=MEASURING)
def evaluate_(
    run: Annotated[str, typer.Argument(help="A TREC run.")],
    qrels: Judgments,
    measures: Measures = "",
    per_query: Annotated[bool, typer.Option("--per-query", help="Print a row for each query.")] = False,
    report: Report = "",
    as_json: AsJson = False,
) -> None:
    """Measure a TREC run against judgments."""
    from paragloss.evaluation import mean

    [scores], answered, judged = _measured([run], qrels, measures, report)
    if as_json:
        told = {"mean": mean(scores), "judged": judged, "answered": answered}
        print_json({**told, **({"queries": scores} if per_query else {})})
        return
    if per_query:
        queries = sorted(next(iter(scores.values())))
        rows = [[query, *(f"{values[query]:.4f}" for values in scores.values())] for query in queries]
        print_table(["query", *scores], rows)
    print_table(["measure", "mean"], [[name, f"{value:.4f}"] for name, value in mean(scores).items()])
    print(f"{answered} of {judged} judged queries were answered; the others count as 0", file=sys.stderr)


@app.command(rich_help_panel=MEASURING)
def compare(
    first: Annotated[str, typer.Argument(help="A TREC run: the baseline.")],
    second: Annotated[str, typer.Argument(help="Another TREC run.")],
    qrels: Judgments,
    measures: Measures = "",
    report: Report = "",
    as_json: AsJson = False,
) -> None:
    """Compare two runs, with significance tests."""
    from paragloss.evaluation import compare

    (before, after), _, _ = _measured([first, second], qrels, measures, report)
    results = {name: compare(before[name], after[name]) for name in before}
    if as_json:
        print_json({name: result._asdict() for name, result in results.items()})
        return
    rows = [
        [name, f"{r.first:.4f}", f"{r.second:.4f}", f"{r.difference:+.4f}", f"{r.p_t:.4g}", f"{r.p_randomisation:.4g}"]
        + [f"{r.wins}/{r.ties}/{r.losses}"]
        for name, r in results.items()
    ]
    print_table(["measure", "first", "second", "difference", "p (t)", "p (random.)", "won/tied/lost"], rows)


def _measured(runs: list[str], qrels: str, measures: str, report: str) -> tuple[list[Scores], int, int]:
    """The scores of each run, how many judged queries the last one answered, and how many there are; with a report
    written where one is wanted."""
    from paragloss.evaluation import DEFAULT, evaluate
    from paragloss.evaluation.report import report as page
    from paragloss.formats.queries import read_qrels
    from paragloss.formats.trec import read_run

    if report:
        writable(report, "--report")
    judged, found = read_qrels(qrels), [read_run(run) for run in runs]
    scores = [evaluate(run, judged, measures.replace(",", " ").split() or DEFAULT) for run in found]
    if report:
        named = {Path(run).stem: each for run, each in zip(runs, scores, strict=True)}
        Path(report).write_text(page(named), encoding="utf-8")
        print(f"report: {report}", file=sys.stderr)
    return scores, sum(bool(found[-1].get(query)) for query in judged), len(judged)
