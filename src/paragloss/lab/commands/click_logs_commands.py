"""Commands that turn click logs into training data and judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paragloss.cli.help_layout import MEASURING
from paragloss.cli.output import Skipped, print_json, print_table
from paragloss.cli.program import AsJson, app
from paragloss.errors import InputError
from paragloss.lab.commands import data_files
from paragloss.types import Document, JudgedCollection, Qrels, Query

if TYPE_CHECKING:
    from paragloss.lab.clicks import Scores
    from paragloss.lab.clicks.log_files import Session

#: Click models of the command `clicks`, and steps of the command `log`.
MODELS = ("dctr", "tacm", "raw")
LOG_STEPS = ("translate", "clean")
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Skip lines that can't be read.")]


@app.command(rich_help_panel=MEASURING)
def clicks(
    log: Annotated[str, typer.Argument(help="Click log: JSON Lines, or Sogou's format.")],
    out: Annotated[str, typer.Option(help="Folder for queries.jsonl, qrels and scores.tsv.")],
    model: Annotated[
        str, typer.Option(help="Click model: dctr (click-through rate), tacm (time-aware), raw.")
    ] = "dctr",
    shares: Annotated[str, typer.Option(help="Shares of the best documents that get grade 1, 2, ...")] = "0.3,0.1",
    uses_scores: Annotated[
        bool, typer.Option("--scores", help="Use scores (in thousandths) as grades, for train knrm --difference.")
    ] = False,
    frequency: Annotated[
        str, typer.Option("--asked", help="Keep queries of this frequency: 50.., ..50 or 50..1000.")
    ] = "",
    lang: Annotated[str, typer.Option(help="Language of queries that don't state one.")] = "",
    skip_bad: SkipBad = False,
) -> None:
    """Turn a click log into relevance judgments."""
    from paragloss.lab import clicks
    from paragloss.lab.clicks.log_files import read_log

    if model not in MODELS:
        raise InputError(f"--model {model!r}: expected one of {', '.join(MODELS)}")
    skipped = Skipped(skip_bad)
    sessions = list(read_log(log, on_error=skipped.on_error))
    query_by_text = _number_queries(sessions, lang)
    sessions = clicks.select_by_frequency(sessions, **_parse_frequency(frequency))
    relevance = _estimate_relevance(model, sessions)
    grade_shares = _parse_numbers("--shares", shares)
    grades = clicks.round_to_thousandths(relevance) if uses_scores else _grade_by_shares(relevance, grade_shares)
    qrels = {query_by_text[text].id: grade_by_document for text, grade_by_document in grades.items()}
    _write_judgments(Path(out), [query_by_text[text] for text in grades], qrels)
    _write_scores(Path(out, "scores.tsv"), query_by_text, relevance)
    skipped.print_summary()
    pairs = sum(map(len, grades.values()))
    print(f"{len(sessions)} sessions, {len(qrels)} queries, {pairs} judged pairs by {model}: {out}")


def _estimate_relevance(model: str, sessions: Sequence[Session]) -> Scores:
    """Estimate the relevance of documents to queries by one of MODELS."""
    from paragloss.lab import clicks

    if model == "tacm":
        return clicks.tacm(sessions).relevance()
    return clicks.dctr(sessions) if model == "dctr" else clicks.raw(sessions)


def _grade_by_shares(relevance: Scores, shares: Sequence[float]) -> Qrels:
    """Grade documents by their relevance: the best share of all documents gets the highest grade, and so on."""
    from paragloss.lab import clicks

    return clicks.grade_scores(relevance, clicks.compute_grade_bounds(relevance, shares))


def _number_queries(sessions: Sequence[Session], lang: str) -> dict[str, Query]:
    """Make a Query of each query text in a log; those whose session states no language are in `lang`.

    All queries are numbered, judged or not, as `search --queries LOG` numbers them.
    """
    lang_by_text = {session.query: session.lang or lang for session in sessions}
    return {text: Query(f"q{number}", text, lang_by_text[text]) for number, text in enumerate(lang_by_text, 1)}


def _write_scores(path: Path, query_by_text: Mapping[str, Query], relevance: Scores) -> None:
    """Write a line for each query and document: their ids and the estimated relevance, separated by tabs."""
    from paragloss.formats.text import open_output

    with open_output(path) as table:
        for text, score_by_document in relevance.items():
            query_id = query_by_text[text].id
            table.writelines(f"{query_id}\t{doc_id}\t{score:.6g}\n" for doc_id, score in score_by_document.items())


@app.command(rich_help_panel=MEASURING)
def log(
    step: Annotated[str, typer.Argument(metavar="work", help="What to do: translate or clean.")],
    log_files: Annotated[str, typer.Argument(metavar="QUERIES,DOCUMENTS,JUDGMENTS", help="Or LOG,DOCUMENTS.")],
    out: Annotated[str, typer.Option(help="Folder for queries.jsonl and qrels.")] = "",
    translator_name: Annotated[str, typer.Option("--with", help="Translator, as in `paragloss translate`.")] = "",
    to: Annotated[str, typer.Option(help="Language to translate the queries into.")] = "",
    case: Annotated[str, typer.Option(help="translate: capital letters: keep, lower or lower-first.")] = "keep",
    translated_folder: Annotated[
        str, typer.Option("--after", help="clean: the folder that `log translate` wrote.")
    ] = "",
    max_documents: Annotated[
        int, typer.Option("--longest", min=0, help="clean: drop ambiguous queries with more documents.")
    ] = 200,
    as_json: AsJson = False,
) -> None:
    """Make bilingual training data from a monolingual query log.

    translate: translate the queries; documents and judgments stay. clean: then drop queries that share a translation.
    """
    if step not in LOG_STEPS:
        raise InputError(f"no work {step!r}; there is {', '.join(LOG_STEPS)}")
    if not out:
        raise InputError("no --out given: say which folder the queries and judgments go to")
    original_log = data_files.read_judged_files("log", log_files.split(","))
    if step == "translate":
        result, summary = _translate_queries(original_log, translator_name, to, case)
    else:
        result, summary = _remove_ambiguous_queries(original_log, translated_folder, max_documents)
    _write_judgments(Path(out), result.queries, result.qrels)
    _print_summary(summary, as_json=as_json)


def _print_summary(summary: Mapping[str, object], *, as_json: bool) -> None:
    """Print named figures as a table, or as a JSON object."""
    if as_json:
        print_json(summary)
    else:
        print_table(["", ""], [[key, str(value)] for key, value in summary.items()])


def _translate_queries(
    original_log: JudgedCollection, translator_name: str, lang: str, letter_case: str
) -> tuple[JudgedCollection, dict[str, object]]:
    """Translate the queries of a log; return the translated log and a summary to print.

    :param original_log: the log in the language of its users
    :param translator_name: as in `paragloss translate`
    :param lang: the language to translate into
    :param letter_case: what happens to capital letters, one of `query_log.CASES`
    """
    from paragloss.collection import translator
    from paragloss.lab import query_log
    from paragloss.languages import normalise

    if not translator_name or not lang:
        raise InputError("translate needs --with TRANSLATOR and --to LANGUAGE")
    target = normalise(lang)
    query_translator = translator(translator_name, original_log.queries[0].lang, target)
    translated_log = query_log.translate_log(original_log, query_translator, target, case=letter_case)
    ids_by_translation = query_log.find_ambiguous(original_log.queries, translated_log.queries)
    return translated_log, {
        "queries": len(translated_log.queries),
        "language": target,
        "ambiguous translations": len(ids_by_translation),
        "documents of ambiguous queries": query_log.measure_judged_counts(original_log, translated_log).ranges,
    }


def _remove_ambiguous_queries(
    original_log: JudgedCollection, translated_folder: str, max_documents: int
) -> tuple[JudgedCollection, dict[str, object]]:
    """Remove queries from a translated log whose translation is also that of another query.

    :param original_log: the log with its queries as users wrote them
    :param translated_folder: the folder with the same queries translated, and their judgments
    :param max_documents: how many documents an ambiguous query may have to stay
    :return: the translated log without these queries, and counts to print of what was removed
    """
    from paragloss.lab import query_log

    translated_log = _read_translated_log(translated_folder, original_log.documents)
    cleaned = query_log.remove_ambiguous_queries(original_log, translated_log, max_judged=max_documents)
    return cleaned.judged, {
        "ambiguous": cleaned.ambiguous,
        "removed": cleaned.removed,
        "pairs before": cleaned.pairs,  # pairs of a query and a document that is judged for it
        "pairs after": cleaned.pairs_left,
    }


def _read_translated_log(folder: str, documents: Mapping[str, Document]) -> JudgedCollection:
    """Read the queries and judgments that `log translate` wrote.

    :param folder: path of the folder that they are in
    :param documents: the documents that are judged, by id
    :raises InputError: if no folder is given, or a file in it can't be read
    """
    from paragloss.formats.queries import read_qrels, read_queries

    if not folder:
        raise InputError("clean needs --after FOLDER: what `paragloss log translate` wrote")
    queries = list(read_queries(Path(folder, "queries.jsonl")))
    return JudgedCollection(queries, documents, read_qrels(Path(folder, "qrels")))


def _write_judgments(folder: Path, queries: Iterable[Query], qrels: Qrels) -> None:
    from paragloss.formats.jsonl import write_jsonl_queries
    from paragloss.formats.trec import write_qrels

    folder.mkdir(parents=True, exist_ok=True)
    write_jsonl_queries(folder / "queries.jsonl", queries)
    write_qrels(folder / "qrels", qrels)


def _parse_numbers(flag: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{flag} {text!r}: expected numbers with commas between them") from None


def _parse_frequency(text: str) -> dict[str, int]:
    """Parse how often queries are asked, such as "50..1000", as arguments of `select_by_frequency`.

    :param text: MINIMUM..BELOW, of which either may be missing; "" for no bounds
    :return: the bounds that are given, as "minimum" and "below"
    :raises InputError: if it is written otherwise
    """
    if not text:
        return {}
    minimum, dots, below = text.partition("..")
    has_bounds_of_digits = (minimum + below).isdecimal()  # False if both bounds are missing
    if not dots or not has_bounds_of_digits:
        raise InputError(f"--asked {text!r}: expected how often, as 50.., ..50 or 50..1000")
    bounds = {}
    if minimum:
        bounds["minimum"] = int(minimum)
    if below:
        bounds["below"] = int(below)
    return bounds
