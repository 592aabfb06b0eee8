"""The papers' tables and analyses, run from the command line."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from paragloss.cli.help_layout import MEASURING
from paragloss.cli.output import print_json, print_table
from paragloss.cli.program import AsJson, app
from paragloss.errors import InputError


@app.command(rich_help_panel=MEASURING)
def recipes(
    name: Annotated[str, typer.Argument(help="Name of a recipe; lists all without one.")] = "",
    smoke: Annotated[bool, typer.Option("--smoke", help="Run on tiny data, in seconds.")] = False,
    out: Annotated[str, typer.Option(help="Folder for results; an interrupted run continues there.")] = "",
    seeds: Annotated[str, typer.Option(help="Random seeds, such as 0,1,2.")] = "",
    part: Annotated[list[str] | None, typer.Option(help="Run this part only. Repeatable.")] = None,
    docs: Annotated[
        str, typer.Option(help="Write results.md, results.html and the papers' tables into this folder.")
    ] = "",
    leaderboard: Annotated[str, typer.Option(help="Folder for leaderboard files (MTEB format).")] = "",
    as_json: AsJson = False,
) -> None:
    """Reproduce a table or figure of the papers."""
    from paragloss.lab.recipes import markdown_tables, runner, verdicts

    if docs:
        _write_docs(Path(docs), out)
        return
    if leaderboard:
        from paragloss.lab.recipes import collected as collecting
        from paragloss.lab.recipes import leaderboard as boards

        known = collecting.collect(Path(out)) if out else collecting.shipped()
        print(f"{boards.write(known, Path(leaderboard))} files in {leaderboard}")
        return
    if not name:
        _list(as_json)
        return
    folder = Path(out or f"results/{name}")
    drawn = _seeds(seeds)
    results = runner.run(
        name,
        folder,
        smoke=smoke,
        seeds=drawn,
        only=part or (),
        report=lambda what: print(f"paragloss: {name}: {what}", file=sys.stderr, flush=True),
    )
    if as_json:
        print_json(results.as_json())
        return
    print(markdown_tables.table(results.as_json()))
    print(verdicts.verdict(results.as_json()))
    print(f"written: {folder}", file=sys.stderr)


@app.command(rich_help_panel=MEASURING)
def advise(
    paths: Annotated[list[str], typer.Argument(help="Your documents, aligned texts and word lists.")],
    lang: Annotated[str, typer.Option(help="Language of your queries.")] = "en",
    as_json: AsJson = False,
) -> None:
    """Recommend a pipeline for your documents and this machine."""
    from paragloss.lab.advisor import advise
    from paragloss.lab.recipes import collected as collecting

    advice = advise(paths, collecting.shipped(), lang=lang)
    if as_json:
        print_json({**advice._asdict(), "corpus": advice.corpus._asdict(), "machine": advice.machine._asdict(),
                    "expected": [e._asdict() for e in advice.expected]})  # fmt: skip
        return
    corpus = advice.corpus
    if corpus.documents:
        shares = ", ".join(f"{code} {count:,}" for code, count in corpus.langs.items())
        print(f"{corpus.documents:,} documents of {corpus.characters:,} characters: {shares}")
    for what, pairs in (("aligned", corpus.aligned), ("dictionary", corpus.dictionaries)):
        for pair, count in pairs.items():
            print(f"{what} {pair}: {count:,}")
    here = advice.machine
    parts = ", ".join(here.installed) or "none"
    print(f"{here.cores} cores, {here.memory / 1e9:.0f} GB, {'a' if here.gpu else 'no'} GPU; optional parts: {parts}")
    print(f"\npipeline: {advice.pipeline}")
    for reason in advice.reasons:
        print(f"  {reason}")
    print("\nexpected (measured on the sets of docs/understand/results.md that are most like this):")
    print_table(
        ["system", "quality", "tasks", "documents/s", "ms a query"],
        [
            [e.system, f"{e.quality:.3f}", str(e.tasks), *(_of(e.cost, name) for name in ("documents/s", "ms/query"))]
            for e in advice.expected
        ],
    )
    print("\nwhat would help most:")
    for number, help_ in enumerate(advice.helps, start=1):
        print(f"  {number}. {help_}")
    print("\ncommands:")
    for command in advice.commands:
        print(f"  {command}")


@app.command(rich_help_panel=MEASURING)
def analyse(
    kind: Annotated[
        str, typer.Argument(help="What to analyse: kernels, translations, exact-match, data-size, quality.")
    ],
    files: Annotated[list[str], typer.Argument(help='Rows {"concept","lang","title","text"}, or en-xx.tsv.')],
    out: Annotated[str, typer.Option(help="Folder for the table and the plot.")],
    lang: Annotated[str, typer.Option(help="Language of the queries.")],
    to: Annotated[str, typer.Option(help="Language of the documents.")],
    model: Annotated[str, typer.Option(help="A trained K-NRM, if the analysis needs one.")] = "",
    by: Annotated[str, typer.Option("--with", help="A saved translator, if the analysis needs one.")] = "",
    categories: Annotated[str, typer.Option(help="quality: file of concepts and their categories.")] = "",
) -> None:
    """Analyse a kernel ranker: weights, word pairs, training data."""
    from paragloss.lab.analyses import KINDS

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


def _of(cost: Mapping[str, float], name: str) -> str:
    return f"{cost[name]:,.1f}" if name in cost else ""


def _list(as_json: bool) -> None:
    from paragloss.lab.recipes import load, names, runner

    rows = []
    for name in names():
        module = load(name)
        lacking = runner.missing(module)
        reads = ", ".join(dict.fromkeys(path.split("/")[0] for path in module.DATA)) or "nothing"
        here = "no data: " + lacking[0] if lacking else "ready"
        rows.append([name, str(module.MINUTES), reads, here, runner.title(module)])
    if as_json:
        keys = ("name", "minutes", "reads", "data", "title")
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
        return
    print_table(["recipe", "minutes", "reads", "data", "what"], rows)


def _write_docs(docs: Path, measured: str) -> None:
    """From what the package knows, and what was measured under a folder, if one is named."""
    import json

    from paragloss.lab.recipes import collected as collecting
    from paragloss.lab.recipes import pages

    if not docs.is_dir():
        raise InputError(f"--docs {docs}: there is no such folder")
    results = collecting.shipped()
    if measured:
        results = collecting.joined(results, collecting.collect(Path(measured)))
        text = json.dumps(results, ensure_ascii=False, indent=1)
        collecting.SHIPPED.write_text(text + "\n", encoding="utf-8")
    for path in pages.write(results, docs):
        print(f"written: {path}", file=sys.stderr)


def _seeds(text: str) -> list[int] | None:
    if not text:
        return None
    if not all(part.strip().isdigit() for part in text.split(",")):
        raise InputError(f"--seeds {text!r}: expected whole numbers with commas between them, such as 0,1,2")
    return [int(part) for part in text.split(",")]
