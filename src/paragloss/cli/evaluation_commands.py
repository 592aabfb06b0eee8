"""Commands that measure and compare rankings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from paragloss.cli.help_layout import MEASURING
from paragloss.cli.output import check_writable, print_json, print_table
from paragloss.cli.program import AsJson, app
from paragloss.types import Qrels, Ranking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paragloss.evaluation import Comparison, Scores

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

    measured = _measure_runs([run], qrels, measures, report)
    [rankings], [scores] = measured.runs, measured.scores
    judged_count = len(measured.judgments)
    answered_count = sum(bool(rankings.get(query_id)) for query_id in measured.judgments)
    if as_json:
        summary = {"mean": mean(scores), "judged": judged_count, "answered": answered_count}
        if per_query:
            summary["queries"] = scores
        print_json(summary)
        return
    if per_query:
        _print_scores_by_query(scores)
    print_table(["measure", "mean"], [[name, f"{value:.4f}"] for name, value in mean(scores).items()])
    print(f"{answered_count} of {judged_count} judged queries were answered; the others count as 0", file=sys.stderr)


def _print_scores_by_query(scores: Scores) -> None:
    """Print a row for each query with its value of every measure."""
    query_ids = sorted(next(iter(scores.values())))
    rows = []
    for query_id in query_ids:
        values = [values_by_query[query_id] for values_by_query in scores.values()]
        rows.append([query_id, *(f"{value:.4f}" for value in values)])
    print_table(["query", *scores], rows)


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
    from paragloss.evaluation import compare as compare_scores

    first_scores, second_scores = _measure_runs([first, second], qrels, measures, report).scores
    results = {name: compare_scores(first_scores[name], second_scores[name]) for name in first_scores}
    if as_json:
        print_json({name: result._asdict() for name, result in results.items()})
    else:
        _print_comparison(results)


def _print_comparison(results: Mapping[str, Comparison]) -> None:
    """Print a row for each measure with the means of both runs and the tests of their difference."""
    rows = []
    for name, result in results.items():
        means = [f"{result.first:.4f}", f"{result.second:.4f}", f"{result.difference:+.4f}"]
        p_values = [f"{result.p_t:.4g}", f"{result.p_randomisation:.4g}"]
        rows.append([name, *means, *p_values, f"{result.wins}/{result.ties}/{result.losses}"])
    print_table(["measure", "first", "second", "difference", "p (t)", "p (random.)", "won/tied/lost"], rows)


class _MeasuredRuns(NamedTuple):
    """Judgments, and the runs that were measured against them with the scores of each."""

    judgments: Qrels
    runs: list[dict[str, Ranking]]  # id of a query -> what the run found for it
    scores: list[Scores]


def _measure_runs(run_paths: list[str], qrels: str, measures: str, report: str) -> _MeasuredRuns:
    """Measure runs against judgments.

    :param run_paths: the files of the runs
    :param qrels: the file of judgments
    :param measures: names of measures, separated by spaces or commas; the usual ones if empty
    :param report: the HTML file to write a report to; none if empty
    """
    from paragloss.evaluation import DEFAULT, evaluate
    from paragloss.formats.queries import read_qrels
    from paragloss.formats.trec import read_run

    if report:
        check_writable(report, "--report")
    judgments = read_qrels(qrels)
    runs = [read_run(path) for path in run_paths]
    measure_names = measures.replace(",", " ").split() or DEFAULT
    scores = [evaluate(run, judgments, measure_names) for run in runs]
    if report:
        _write_report(report, run_paths, scores)
    return _MeasuredRuns(judgments, runs, scores)


def _write_report(report: str, run_paths: list[str], scores: list[Scores]) -> None:
    from paragloss.evaluation.report import report as make_report

    scores_by_name = {Path(path).stem: run_scores for path, run_scores in zip(run_paths, scores, strict=True)}
    Path(report).write_text(make_report(scores_by_name), encoding="utf-8")
    print(f"report: {report}", file=sys.stderr)
