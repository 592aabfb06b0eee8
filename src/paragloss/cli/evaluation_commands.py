"""Commands that measure rankings and look into rankers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from paragloss.cli.help_layout import MEASURING
from paragloss.cli.output import print_json, print_table, writable, write_report
from paragloss.cli.program import AsJson, app


@app.command("eval", rich_help_panel=MEASURING)
def evaluate_(
    run: Annotated[str, typer.Argument(help="A TREC run.")],
    qrels: Annotated[str, typer.Argument(help="TREC judgments.")],
    measures: Annotated[str, typer.Option(help='Measures, such as "RR nDCG@10 P@1".')] = "",
    per_query: Annotated[bool, typer.Option("--per-query", help="Print a row for each query.")] = False,
    report: Annotated[str, typer.Option(help="HTML report to write.")] = "",
    as_json: AsJson = False,
) -> None:
    """Measure a TREC run against judgments."""
    from paragloss.evaluation import DEFAULT, evaluate, mean
    from paragloss.formats.queries import read_qrels
    from paragloss.formats.trec import read_run

    names = measures.replace(",", " ").split() or list(DEFAULT)
    if report:
        writable(report, "--report")
    found, judged = read_run(run), read_qrels(qrels)
    scores = evaluate(found, judged, names)
    answered = {"judged": len(judged), "answered": sum(bool(found.get(query)) for query in judged)}
    if report:
        write_report(report, {Path(run).stem: scores})
    if as_json:
        print_json({"mean": mean(scores), **answered, **({"queries": scores} if per_query else {})})
        return
    if per_query:
        print_table(["query", *names], [[q, *(f"{scores[n][q]:.4f}" for n in names)] for q in sorted(scores[names[0]])])
    print_table(["measure", "mean"], [[name, f"{value:.4f}"] for name, value in mean(scores).items()])
    print(
        f"{answered['answered']} of {len(judged)} judged queries were answered; the others count as 0", file=sys.stderr
    )


@app.command(rich_help_panel=MEASURING)
def compare(
    first: Annotated[str, typer.Argument(help="A TREC run: the baseline.")],
    second: Annotated[str, typer.Argument(help="Another TREC run.")],
    qrels: Annotated[str, typer.Argument(help="TREC judgments.")],
    measures: Annotated[str, typer.Option(help='Measures, such as "RR nDCG@10 P@1".')] = "",
    report: Annotated[str, typer.Option(help="HTML report to write.")] = "",
    as_json: AsJson = False,
) -> None:
    """Compare two runs, with significance tests."""
    from paragloss.evaluation import DEFAULT, compare, evaluate
    from paragloss.formats.queries import read_qrels
    from paragloss.formats.trec import read_run

    names = measures.replace(",", " ").split() or list(DEFAULT)
    if report:
        writable(report, "--report")
    judged = read_qrels(qrels)
    before, after = evaluate(read_run(first), judged, names), evaluate(read_run(second), judged, names)
    results = {name: compare(before[name], after[name]) for name in names}
    if report:
        write_report(report, {Path(first).stem: before, Path(second).stem: after})
    if as_json:
        print_json({name: result._asdict() for name, result in results.items()})
        return
    header = ["measure", "first", "second", "difference", "p (t)", "p (random.)", "won/tied/lost"]
    print_table(
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
