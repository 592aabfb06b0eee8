"""Commands that search a collection and translate queries."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paragloss.cli.help_layout import COMMON, TRAINING
from paragloss.cli.output import ProgressBar, check_writable, print_answer, print_json, print_table
from paragloss.cli.program import AsJson, In, app, get_reader_language, split_codes
from paragloss.errors import InputError
from paragloss.formats.conditions import AcceptedValue, parse_conditions
from paragloss.types import Query, Ranking, Translation

if TYPE_CHECKING:
    from paragloss.collection import Collection, SearchOptions

SEARCHING, MANY_QUERIES = "How to search", "Many queries"

QueryText = Annotated[
    str, typer.Argument(help="What you are looking for, in your language; behind -- if it begins with -.")
]
QueryLang = Annotated[str, typer.Option(help="Language of the query; detected by default.")]
DocumentLangs = Annotated[str, typer.Option(help="Find documents in these languages only, such as da,it.")]
ResultCount = Annotated[int | None, typer.Option(min=1, help="Number of results; 10, or 100 with --queries.")]
Pipeline = Annotated[
    str,
    typer.Option(
        help="Search pipeline, such as bm25+cr5; default: words and meaning, by one model.", rich_help_panel=SEARCHING
    ),
]
Conditions = Annotated[
    list[str] | None,
    typer.Option(help="Filter: FIELD=VALUE, or a range such as year>=1999. Repeatable."),
]
Since = Annotated[str, typer.Option(help="Only documents added since a day or moment: 2026-05-31.")]
NoDefault = Annotated[
    bool, typer.Option("--no-default", help="Search without the default model.", rich_help_panel=SEARCHING)
]
AsTyped = Annotated[
    bool,
    typer.Option("--as-typed", help="No other spellings of names, and no correction.", rich_help_panel=SEARCHING),
]
Queries = Annotated[str, typer.Option(help='File of queries, rows {"id","lang","text"}.', rich_help_panel=MANY_QUERIES)]
RunFile = Annotated[str, typer.Option(help="TREC run file to write.", rich_help_panel=MANY_QUERIES)]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Number of processes; default: all processors.", rich_help_panel=MANY_QUERIES),
]
ExplainPipeline = Annotated[
    bool,
    typer.Option("--explain-pipeline", help="Print how the pipeline reads the query.", rich_help_panel=SEARCHING),
]
Why = Annotated[bool, typer.Option("--why", help="Explain each result: which words matched, and by which source.")]


@app.command(rich_help_panel=COMMON)
def search(
    query: QueryText = "",
    collection: In = "",
    lang: QueryLang = "",
    to: DocumentLangs = "",
    k: ResultCount = None,
    pipeline: Pipeline = "",
    where: Conditions = None,
    since: Since = "",
    no_default: NoDefault = False,
    as_typed: AsTyped = False,
    queries: Queries = "",
    run: RunFile = "",
    workers: Workers = None,
    explain_pipeline: ExplainPipeline = False,
    why: Why = False,
    as_json: AsJson = False,
) -> None:
    """Search a collection.

    Takes one query, or a file of queries (--queries) and writes a TREC run.
    """
    from paragloss.collection import Collection, SearchOptions

    _check_request(collection, query, queries, explain_pipeline=explain_pipeline)
    default_count = 100 if queries else 10
    options = SearchOptions(
        lang=lang or None, to=split_codes(to), k=k or default_count, pipeline=pipeline or None,
        where=None if explain_pipeline else _parse_filters(where or [], since),
        reader=get_reader_language(), variants=not as_typed,
    )  # fmt: skip
    with Collection.open(collection, default=not no_default) as opened:
        if explain_pipeline:
            print(opened.explain(query, options))
        elif queries:
            write_run_file(opened, queries, run, options, workers=workers)
        else:
            _search_and_print(opened, query, options, why=why, as_json=as_json)


def _check_request(collection: str, query: str, queries: str, *, explain_pipeline: bool) -> None:
    """Raise InputError unless there is a collection, and a query or a file of queries; an explanation needs neither."""
    if not collection:
        raise InputError("no --in given: say which collection to search")
    has_nothing_to_do = not (query or queries or explain_pipeline)
    if has_nothing_to_do or (query and queries):
        raise InputError("give either a query or --queries FILE")


def _parse_filters(conditions: list[str], since: str) -> dict[str, list[AcceptedValue]]:
    """Parse conditions on documents, and the day or moment since which they were added, "" for any."""
    if since:
        conditions = [*conditions, f"added>={since}"]
    return parse_conditions(conditions)


def _search_and_print(collection: Collection, query: str, options: SearchOptions, *, why: bool, as_json: bool) -> None:
    """Search and print the answer.

    :param query: as it was typed; it may have operators.
    :param options: the languages, filters, number of results and so on.
    :param why: explain every result.
    :param as_json: print JSON instead of text.
    """
    answer = collection.search(query, options)
    reasons = [answer.why(result.id) for result in answer.results] if why else []
    if as_json:
        content = answer.as_json()
        if why:
            for result, reason in zip(content["results"], reasons, strict=True):
                result["why"] = reason["parts"]
        print_json(content)
    else:
        print_answer(answer, reasons)
    sys.stdout.flush()  # before the collection is closed, which takes a while


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
    from paragloss.collection import translator as open_translator
    from paragloss.gloss import LexiconTranslator
    from paragloss.languages import normalise
    from paragloss.translation.parallel_texts import Parallel, ReweightedTranslator

    source, target = normalise(lang), normalise(to)
    translator = open_translator(by, source, target) if by else LexiconTranslator()
    if parallel:
        translator = ReweightedTranslator(translator, Parallel.load(parallel), best_only=best_only)
    clauses = translator.translate(Query("", query, source), target)
    if as_json:
        print_json([_encode_clause(clause) for clause in clauses])
        return
    rows = [row for clause in clauses for row in _make_rows(clause)]
    print_table([lang, to, "weight"], rows)


def _make_rows(clause: Translation) -> list[list[str]]:
    """Return a row for each translation of a word: the word, in the first row only, the translation and its weight."""
    return [
        [clause.source if rank == 0 else "", alternative.text, f"{alternative.weight:.3f}"]
        for rank, alternative in enumerate(clause.alternatives)
    ]


def _encode_clause(clause: Translation) -> dict[str, Any]:
    return {"source": clause.source, "alternatives": [alternative._asdict() for alternative in clause.alternatives]}


def write_run_file(
    collection: Collection, queries_path: str, run: str, options: SearchOptions, *, workers: int | None
) -> None:
    """Search for every query of a file, and write the rankings as a TREC run.

    :param queries_path: the file of queries.
    :param run: the file to write.
    :param workers: how many processes search; as many as there are processors by default.
    """
    from paragloss.formats.trec import write_run
    from paragloss.processes import processors

    if not run:
        raise InputError("no --run given: say where the run goes, such as --run out.trec")
    check_writable(run, "--run")
    queries = _read_distinct_queries(queries_path)
    start_time = time.perf_counter()
    rankings = _rank_with_progress(collection, queries, options, workers or processors())
    write_run(run, rankings, tag=options.pipeline or "paragloss")
    seconds = time.perf_counter() - start_time
    milliseconds_per_query = 1000 * seconds / len(queries)
    print(f"{len(queries)} queries in {seconds:.1f} s ({milliseconds_per_query:.1f} ms each): {run}")


def _rank_with_progress(
    collection: Collection, queries: list[Query], options: SearchOptions, workers: int
) -> dict[str, Ranking]:
    """Search for queries by several processes and show the progress; return the rankings by the ids of the queries."""
    rankings: list[Ranking] = []  # in the order of the queries
    with ProgressBar("searching") as bar:
        for batch in collection.rank_batches(queries, options, workers=workers):
            rankings += batch
            bar(len(rankings), len(queries))
    return dict(zip([query.id for query in queries], rankings, strict=True))


def _read_distinct_queries(path: str) -> list[Query]:
    """Read a file of queries; raise InputError if it has none, or several of one id."""
    from paragloss.formats.queries import read_queries

    queries = list(read_queries(path))
    if not queries:
        raise InputError(f"{path} holds no queries")
    counts_by_id = Counter(query.id for query in queries)
    repeated_ids = [query_id for query_id, count in counts_by_id.items() if count > 1]
    if repeated_ids:
        problem = f"{path} has {len(repeated_ids)} ids more than once, the first {repeated_ids[0]!r}"
        raise InputError(f"{problem}: give each query its own id")
    return queries
