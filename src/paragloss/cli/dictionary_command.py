"""The command that converts a dictionary file into a model."""

from __future__ import annotations

from typing import Annotated

import typer

from paragloss.cli.help_layout import TRAINING
from paragloss.cli.output import Skipped, check_model_folder
from paragloss.cli.program import app


@app.command(rich_help_panel=TRAINING)
def dictionary(
    file: Annotated[
        str, typer.Argument(help="MUSE or TSV pairs, dictd .index, .tei, CC-CEDICT .u8, Wiktionary .jsonl.")
    ],
    lang: Annotated[str, typer.Option(help="Language of the headwords.")],
    to: Annotated[str, typer.Option(help="Language of the translations.")],
    out: Annotated[str, typer.Option(help="Folder for the model.")],
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip entries that can't be read.")] = False,
) -> None:
    """Convert a dictionary file into a model for `index --model`."""
    from paragloss.formats.dictionaries import read_entries
    from paragloss.languages import normalise
    from paragloss.translation.dictionary import Dictionary

    check_model_folder(out)
    source, target = normalise(lang), normalise(to)
    skipped = Skipped(skip_bad)
    entries = read_entries(file, source, target, on_error=skipped.on_error)
    translator = Dictionary.build(entries, source, target)
    translator.save(out)
    skipped.print_summary()
    print(f"{len(translator)} headwords, {source} to {target}: {out}")
