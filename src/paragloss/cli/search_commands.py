"""Commands that ask."""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paragloss.cli.output import Progress, print_json, print_table, show, writable
from paragloss.cli.program import AsJson, In, app
from paragloss.errors import InputError
from paragloss.formats.conditions import conditions
from paragloss.types import Query, Ranking

if TYPE_CHECKING:
    from paragloss.collection import Collection, SearchOptions


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What you are looking for, in your language.")] = "",
    collection: In = "",
    lang: Annotated[str, typer.Option(help="The language of the query; found out when not given.")] = "",
    to: Annotated[str, typer.Option(help="Languages to find documents in, such as da,it; all when not given.")] = "",
    k: Annotated[int | None, typer.Option(min=1, help="How many documents; 10, or 100 with --queries.")] = None,
    pipeline: Annotated[
        str, typer.Option(help="How to search: see `paragloss info`. Everything, fused, by default.")
    ] = "",
    where: Annotated[
        list[str] | None,
        typer.Option(help="Only documents with FIELD=VALUE, or <, <=, >, >= a number or date: year>=1999."),
    ] = None,
    since: Annotated[str, typer.Option(help="Only documents added since a day or moment: 2026-05-31.")] = "",
    no_default: Annotated[
        bool, typer.Option("--no-default", help="Leave out the model that comes with Paragloss, this time.")
    ] = False,
    queries: Annotated[str, typer.Option(help='A file of queries, rows {"id","lang","text"}.')] = "",
    run: Annotated[str, typer.Option(help="Where the TREC run goes, with --queries.")] = "",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that search, with --queries; as many as processors.")
    ] = None,
    explain_pipeline: Annotated[
        bool, typer.Option("--explain-pipeline", help="Print the nested searchers, and how the query is understood.")
    ] = False,
    why: Annotated[bool, typer.Option("--why", help="Say which words met, and through what.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find documents for a query, or make a run for a file of queries."""
    from paragloss.collection import Collection, SearchOptions
    from paragloss.collection.processes import processors

    if not collection:
        raise InputError("no --in given: say which collection to search")
    if bool(query) == bool(queries) and not (explain_pipeline and not queries):
        raise InputError("give either a query or --queries FILE")
    new = [f"added>={since}"] if since else []
    wanted = None if explain_pipeline else conditions([*(where or []), *new])
    options = SearchOptions(lang or None, to.split(",") if to else None, k or 10, pipeline or None, wanted)
    options = replace(options, reader=os.environ.get("LANG", "")[:2])
    with Collection.open(collection, default=not no_default) as engine:
        if explain_pipeline:
            print(engine.explain(query, options))
            return
        if queries:
            make_run(engine, queries, run, replace(options, k=k or 100), workers=workers or processors())
            return
        answer = engine.search(query, options)
        said = [answer.why(found.id) for found in answer.results] if why else []
    if as_json:
        print_json(_with_reasons(answer.as_json(), said))
    else:
        show(answer, said)


def _with_reasons(answer: dict[str, Any], said: list[dict[str, Any]]) -> dict[str, Any]:
    """The answer, each result with its parts where it was asked why."""
    for result, why in zip(answer["results"], said, strict=False):
        result["why"] = why["parts"]
    return answer


@app.command()
def translate(
    query: Annotated[str, typer.Argument(help="What to translate.")],
    lang: Annotated[str, typer.Option(help="The language of the query.")],
    to: Annotated[str, typer.Option(help="The language to translate into.")],
    by: Annotated[
        str, typer.Option("--with", help="A saved model, a dictionary file, apertium, or a server's URL.")
    ] = "",
    parallel: Annotated[str, typer.Option(help="Parallel texts to choose by, as `train parallel` keeps them.")] = "",
    one: Annotated[bool, typer.Option("--one", help="Only what parallel texts say most of.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say what each word of a query may be in another language, and how likely."""
    from paragloss.collection import translator
    from paragloss.gloss import Reader
    from paragloss.languages import normalise
    from paragloss.translation.parallel_texts import Parallel, Witnessed

    source, target = normalise(lang), normalise(to)
    words = translator(by, source, target) if by else Reader()
    if parallel:
        words = Witnessed(words, Parallel.load(parallel), one=one)
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


def make_run(engine: Collection, queries: str, run: str, options: SearchOptions, *, workers: int) -> None:
    from paragloss.formats.queries import read_queries
    from paragloss.formats.trec import write_run

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
        for some in engine.rankings(asked, options, workers=workers):
            batch = asked[len(results) : len(results) + len(some)]
            results.update({q.id: ranking for q, ranking in zip(batch, some, strict=True)})
            bar(len(results), len(asked))
    write_run(run, results, tag=options.pipeline or "paragloss")
    seconds = time.perf_counter() - started
    print(f"{len(asked)} queries in {seconds:.1f} s ({1000 * seconds / len(asked):.1f} ms each): {run}")
