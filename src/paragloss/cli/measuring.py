"""Commands that measure rankings and look into rankers."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Annotated

import typer

from paragloss.cli.app import AsJson, app
from paragloss.cli.output import print_json, print_table, writable, write_report
from paragloss.errors import InputError


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
    print_table([str(cell) for cell in made.header], [[str(cell) for cell in row] for row in made.rows])
