"""Commands that ask."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paragloss.cli.help_layout import COMMON, TRAINING
from paragloss.cli.output import Progress, print_json, print_table, show, writable
from paragloss.cli.program import AsJson, In, app
from paragloss.errors import InputError
from paragloss.formats.conditions import parse_conditions
from paragloss.types import Query, Ranking

if TYPE_CHECKING:
    from paragloss.collection import Collection, SearchOptions

HOW, MANY = "How to search", "Many queries"


@app.command(rich_help_panel=COMMON)
def search(
    query: Annotated[str, typer.Argument(help="What you are looking for, in your language.")] = "",
    collection: In = "",
    lang: Annotated[str, typer.Option(help="Language of the query; detected by default.")] = "",
    to: Annotated[str, typer.Option(help="Find documents in these languages only, such as da,it.")] = "",
    k: Annotated[int | None, typer.Option(min=1, help="Number of results; 10, or 100 with --queries.")] = None,
    pipeline: Annotated[
        str, typer.Option(help="Search pipeline, such as bm25+cr5; default: all parts, fused.", rich_help_panel=HOW)
    ] = "",
    where: Annotated[
        list[str] | None,
        typer.Option(help="Filter: FIELD=VALUE, or a range such as year>=1999. Repeatable."),
    ] = None,
    since: Annotated[str, typer.Option(help="Only documents added since a day or moment: 2026-05-31.")] = "",
    no_default: Annotated[
        bool, typer.Option("--no-default", help="Search without the default model.", rich_help_panel=HOW)
    ] = False,
    queries: Annotated[
        str, typer.Option(help='File of queries, rows {"id","lang","text"}.', rich_help_panel=MANY)
    ] = "",
    run: Annotated[str, typer.Option(help="TREC run file to write.", rich_help_panel=MANY)] = "",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes; default: all processors.", rich_help_panel=MANY)
    ] = None,
    explain_pipeline: Annotated[
        bool, typer.Option("--explain-pipeline", help="Print how the pipeline reads the query.", rich_help_panel=HOW)
    ] = False,
    why: Annotated[
        bool, typer.Option("--why", help="Explain each result: which words matched, and through what.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Search a collection.

    Takes one query, or a file of queries (--queries) and writes a TREC run.
    """
    from paragloss.collection import Collection, SearchOptions

    if not collection:
        raise InputError("no --in given: say which collection to search")
    if bool(query) == bool(queries) and not (explain_pipeline and not queries):
        raise InputError("give either a query or --queries FILE")
    new = [f"added>={since}"] if since else []
    wanted = None if explain_pipeline else parse_conditions([*(where or []), *new])
    options = SearchOptions(lang or None, to.split(",") if to else None, k or 10, pipeline or None, wanted)
    options = replace(options, reader=os.environ.get("LANG", "")[:2])
    with Collection.open(collection, default=not no_default) as engine:
        if explain_pipeline:
            print(engine.explain(query, options))
            return
        if queries:
            make_run(engine, queries, run, replace(options, k=k or 100), workers=workers)
            return
        answer = engine.search(query, options)
        reasons = [answer.why(found.id) for found in answer.results] if why else []
        if as_json:
            print_json(_with_reasons(answer.as_json(), reasons))
        else:
            show(answer, reasons)
        sys.stdout.flush()  # closing takes a while, which nobody need wait for


def _with_reasons(answer: dict[str, Any], reasons: list[dict[str, Any]]) -> dict[str, Any]:
    """The answer, each result with its parts where it was asked why."""
    for result, why in zip(answer["results"], reasons, strict=False):
        result["why"] = why["parts"]
    return answer


@app.command(rich_help_panel=TRAINING)
def translate(
    query: Annotated[str, typer.Argument(help="The words to translate.")],
    lang: Annotated[str, typer.Option(help="Language of the query.")],
    to: Annotated[str, typer.Option(help="Language to translate into.")],
    by: Annotated[
        str, typer.Option("--with", help="Translate with this saved model, dictionary file, engine or URL.")
    ] = "",
    parallel: Annotated[str, typer.Option(help="Choose by these parallel texts (`train parallel`).")] = "",
    best_only: Annotated[bool, typer.Option("--one", help="Keep the most frequent translation only.")] = False,
    as_json: AsJson = False,
) -> None:
    """Translate a query word by word, with probabilities."""
    from paragloss.collection import translator
    from paragloss.gloss import LexiconTranslator
    from paragloss.languages import normalise
    from paragloss.translation.parallel_texts import Parallel, ReweightedTranslator

    source, target = normalise(lang), normalise(to)
    words = translator(by, source, target) if by else LexiconTranslator()
    if parallel:
        words = ReweightedTranslator(words, Parallel.load(parallel), best_only=best_only)
    clauses = words.translate(Query("", query, source), target)
    if as_json:
        print_json([{"source": c.source, "alternatives": [a._asdict() for a in c.alternatives]} for c in clauses])
        return
    rows = [
        [clause.source if not place else "", alternative.text, f"{alternative.weight:.3f}"]
        for clause in clauses
        for place, alternative in enumerate(clause.alternatives)
    ]
    print_table([lang, to, "weight"], rows)


def make_run(engine: Collection, queries: str, run: str, options: SearchOptions, *, workers: int | None) -> None:
    from paragloss.formats.queries import read_queries
    from paragloss.formats.trec import write_run
    from paragloss.processes import processors

    if not run:
        raise InputError("no --run given: say where the run goes, such as --run out.trec")
    writable(run, "--run")
    asked = list(read_queries(queries))
    if not asked:
        raise InputError(f"{queries} holds no queries")
    if twice := [id for id, count in Counter(q.id for q in asked).items() if count > 1]:
        raise InputError(
            f"{queries} has {len(twice)} ids more than once, the first {twice[0]!r}: give each query its own"
        )
    results: dict[str, Ranking] = {}
    started = time.perf_counter()
    with Progress("searching") as bar:
        for some in engine.rankings(asked, options, workers=workers or processors()):
            batch = asked[len(results) : len(results) + len(some)]
            results.update({q.id: ranking for q, ranking in zip(batch, some, strict=True)})
            bar(len(results), len(asked))
    write_run(run, results, tag=options.pipeline or "paragloss")
    seconds = time.perf_counter() - started
    print(f"{len(asked)} queries in {seconds:.1f} s ({1000 * seconds / len(asked):.1f} ms each): {run}")
