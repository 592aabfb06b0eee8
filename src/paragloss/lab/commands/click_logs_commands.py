"""Commands that turn click logs into training data and judgments."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from paragloss.cli.help_layout import MEASURING
from paragloss.cli.output import Skipped, print_json, print_table
from paragloss.cli.program import AsJson, app
from paragloss.errors import InputError
from paragloss.lab.commands import data_files
from paragloss.types import JudgedCollection, Qrels, Query

MODELS = ("dctr", "tacm", "raw")
WORK = ("translate", "clean", "case")
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Skip lines that can't be read.")]


@app.command(rich_help_panel=MEASURING)
def clicks(
    log: Annotated[str, typer.Argument(help="Click log: JSON Lines, or Sogou's format.")],
    out: Annotated[str, typer.Option(help="Folder for queries.jsonl, qrels and scores.tsv.")],
    model: Annotated[
        str, typer.Option(help="Click model: dctr (click-through rate), tacm (time-aware), raw.")
    ] = "dctr",
    shares: Annotated[str, typer.Option(help="Shares of the best documents that get grade 1, 2, ...")] = "0.3,0.1",
    scores: Annotated[
        bool, typer.Option("--scores", help="Use scores (in thousandths) as grades, for train knrm --difference.")
    ] = False,
    frequency: Annotated[
        str, typer.Option("--asked", help="Keep queries of this frequency: 50.., ..50 or 50..1000.")
    ] = "",
    lang: Annotated[str, typer.Option(help="Language of queries that don't state one.")] = "",
    skip_bad: SkipBad = False,
) -> None:
    """Turn a click log into relevance judgments."""
    from paragloss.formats.text import open_output
    from paragloss.lab import clicks
    from paragloss.lab.clicks.log_files import read_log

    if model not in MODELS:
        raise InputError(f"--model {model!r}: expected one of {', '.join(MODELS)}")
    skipped = Skipped(skip_bad)
    sessions = list(read_log(log, on_error=skipped.on_error))
    spoken = {session.query: session.lang or lang for session in sessions}
    # All queries are numbered, judged or not, as `search --queries LOG` numbers them.
    ids = {text: f"q{number}" for number, text in enumerate(spoken, 1)}
    sessions = clicks.select_by_frequency(sessions, **_times(frequency))
    estimates = clicks.tacm(sessions).relevance() if model == "tacm" else getattr(clicks, model)(sessions)
    best = _numbers("--shares", shares)
    grades = clicks.thousandths(estimates) if scores else clicks.graded(estimates, clicks.cuts(estimates, best))
    queries = [Query(ids[text], text, spoken[text]) for text in grades]
    _write(Path(out), queries, {ids[text]: scores_of_query for text, scores_of_query in grades.items()})
    with open_output(Path(out, "scores.tsv")) as table:
        for text, scores_of_query in estimates.items():
            table.writelines(f"{ids[text]}\t{document}\t{score:.6g}\n" for document, score in scores_of_query.items())
    skipped.print_summary()
    pairs = sum(map(len, grades.values()))
    print(f"{len(sessions)} sessions, {len(queries)} queries, {pairs} judged pairs by {model}: {out}")


@app.command(rich_help_panel=MEASURING)
def log(
    work: Annotated[str, typer.Argument(help="What to do: translate, clean or case.")],
    judged: Annotated[str, typer.Argument(metavar="QUERIES,DOCUMENTS,JUDGMENTS", help="Or LOG,DOCUMENTS.")],
    out: Annotated[str, typer.Option(help="Folder for queries.jsonl and qrels.")] = "",
    by: Annotated[str, typer.Option("--with", help="Translator, as in `paragloss translate`.")] = "",
    to: Annotated[str, typer.Option(help="Language to translate the queries into.")] = "",
    case: Annotated[str, typer.Option(help="Capital letters: keep, lower or lower-first.")] = "keep",
    after: Annotated[str, typer.Option(help="clean: the folder that `log translate` wrote.")] = "",
    longest: Annotated[int, typer.Option(min=0, help="clean: drop ambiguous queries with more documents.")] = 200,
    at_random: Annotated[bool, typer.Option("--at-random", help="clean: remove as many pairs, at random.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="clean: random seed.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Make bilingual training data from a monolingual query log.

    translate: translate the queries; documents and judgments stay. clean: then drop queries that share a translation.
    case: keep or remove the capital letters of the queries.
    """
    if work not in WORK:
        raise InputError(f"no work {work!r}; there is {', '.join(WORK)}")
    if not out:
        raise InputError("no --out given: say which folder the queries and judgments go to")
    before = data_files.judged("log", judged.split(","))
    result, summary = {
        "translate": lambda: _translated(before, by, to, case),
        "clean": lambda: _cleaned(before, after, longest, seed, at_random),
        "case": lambda: _cased(before, case),
    }[work]()
    _write(Path(out), result.queries, result.qrels)
    if as_json:
        print_json(summary)
    else:
        print_table(["", ""], [[key, str(value)] for key, value in summary.items()])


def _translated(before: JudgedCollection, by: str, to: str, case: str) -> tuple[JudgedCollection, dict[str, object]]:
    from paragloss.collection import translator
    from paragloss.lab import query_log
    from paragloss.languages import normalise

    if not by or not to:
        raise InputError("translate needs --with TRANSLATOR and --to LANGUAGE")
    target = normalise(to)
    translated = query_log.translate_log(before, translator(by, before.queries[0].lang, target), target, case=case)
    shared = query_log.ambiguous(before.queries, translated.queries)
    summary = {"queries": len(translated.queries), "language": target, "ambiguous translations": len(shared)}
    lengths = query_log.list_lengths(before, translated)
    return translated, {**summary, "documents of ambiguous queries": lengths.ranges}


def _cleaned(
    before: JudgedCollection, after: str, longest: int, seed: int, at_random: bool
) -> tuple[JudgedCollection, dict[str, object]]:
    from paragloss.formats.queries import read_qrels, read_queries
    from paragloss.lab import query_log

    if not after:
        raise InputError("clean needs --after FOLDER: what `paragloss log translate` wrote")
    queries, qrels = read_queries(Path(after, "queries.jsonl")), read_qrels(Path(after, "qrels"))
    translated = JudgedCollection(list(queries), before.documents, qrels)
    cleaned = query_log.clean(before, translated, longest=longest)
    result = query_log.clean_at_random(translated, cleaned.pairs_left, seed=seed) if at_random else cleaned.judged
    summary = {"ambiguous": cleaned.ambiguous, "removed": len(translated.queries) - len(result.queries)}
    return result, {**summary, "pairs before": cleaned.pairs, "pairs after": sum(map(len, result.qrels.values()))}


def _cased(before: JudgedCollection, case: str) -> tuple[JudgedCollection, dict[str, object]]:
    from paragloss.lab.query_log import CASES

    if case not in CASES:
        raise InputError(f"--case {case!r}: expected one of {', '.join(CASES)}")
    queries = [query._replace(text=CASES[case](query.text)) for query in before.queries]
    changed = sum(
        query_before.text != query_after.text for query_before, query_after in zip(before.queries, queries, strict=True)
    )
    return before._replace(queries=queries), {"queries": len(queries), "changed": changed}


def _write(folder: Path, queries: Iterable[Query], qrels: Qrels) -> None:
    from paragloss.formats.jsonl import write_jsonl_queries
    from paragloss.formats.trec import write_qrels

    folder.mkdir(parents=True, exist_ok=True)
    write_jsonl_queries(folder / "queries.jsonl", queries)
    write_qrels(folder / "qrels", qrels)


def _numbers(flag: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{flag} {text!r}: expected numbers with commas between them") from None


def _times(text: str) -> dict[str, int]:
    """Read MINIMUM..BELOW, either of which may be missing, as arguments of `select_by_frequency`."""
    minimum, dots, below = text.partition("..")
    if not text:
        return {}
    if not dots or not (minimum + below).isdecimal():
        raise InputError(f"--asked {text!r}: expected how often, as 50.., ..50 or 50..1000")
    return {name: int(number) for name, number in (("minimum", minimum), ("below", below)) if number}
