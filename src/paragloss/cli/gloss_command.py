"""The command that says what foreign words mean."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from paragloss.cli.help_layout import COMMON
from paragloss.cli.output import print_json
from paragloss.cli.program import AsJson, app
from paragloss.errors import InputError, LanguageError

#: Stands behind a word that no source knows.
UNKNOWN_MARK = "?"


@app.command(rich_help_panel=COMMON)
def gloss(
    file: Annotated[str, typer.Argument(help="A text, HTML, PDF, Word, ... file; - reads standard input.")],
    to: Annotated[str, typer.Option(help="Language to explain the text in.")] = "en",
    lang: Annotated[str, typer.Option(help="Language of the text; detected by default.")] = "",
    by: Annotated[
        list[str] | None, typer.Option("--with", help="Also use this saved table or dictionary. Repeatable.")
    ] = None,
    asked: Annotated[str, typer.Option(help="What you are looking for; helps to choose between senses.")] = "",
    as_html: Annotated[
        bool, typer.Option("--html", help="Print an HTML page with the meanings above the words.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Explain a foreign text word by word, with a rough translation."""
    from paragloss import languages
    from paragloss.gloss import gloss as glossed

    text, file_lang = _read(file)
    source = languages.normalise(lang or file_lang) if lang or file_lang else languages.identify_one(text[:2000])
    if source is None:
        raise LanguageError(f"can't tell the language of {file}: say it with --lang")
    target = languages.normalise(to)
    found = glossed(text, source, target, _sources(by or [], source, target), asked=asked)
    if as_json:
        print_json(found.as_json())
    elif as_html:
        print(_page(text, found))
    else:
        _print(text, found)


def _read(file: str) -> tuple[str, str]:
    """The text and the language it says it is in."""
    from paragloss.formats.documents import read_documents

    if file == "-":
        return sys.stdin.read(), ""
    documents = list(read_documents(file))
    if not documents:
        raise InputError(f"{file} holds no text")
    return "\n".join(f"{d.title}\n{d.text}" if d.title else d.text for d in documents), documents[0].lang


def _sources(paths: list[str], source: str, target: str) -> dict[str, Any]:
    from paragloss.collection import translator
    from paragloss.collection.models import name_of
    from paragloss.gloss import lexicon
    from paragloss.translation import default

    own = {name_of(path): translator(path, source, target) for path in paths}
    return {**own, "default": default.open(), "lexicon": lexicon.open()}


def _print(text: str, found: Any) -> None:
    """Print the text, each word followed by its meanings; ~ stands before a guess, ? for an unknown word."""
    print(f"[{found.lang} -> {found.to}]  {found.rendering}\n")
    at = 0
    for word in found.words:
        sys.stdout.write(text[at : word.end])
        if word.meanings:
            sys.stdout.write(f"‹{_meanings(word)}›")
        elif word.romanised or word.kind == "unknown":
            sys.stdout.write(f"‹{word.romanised or UNKNOWN_MARK}›")
        at = word.end
    print(text[at:])


def _meanings(word: Any) -> str:
    """The first two meanings; a guess has ~ before it, as in the rendering."""
    return ("" if word.sure else "~") + ", ".join(meaning.text for meaning in word.meanings[:2])


def _page(text: str, found: Any) -> str:
    import html  # which starts with a table of all names of characters

    parts, at = [], 0
    for word in found.words:
        parts.append(html.escape(text[at : word.start]))
        above = _meanings(word) if word.meanings else word.romanised
        shown = html.escape(word.text)
        parts.append(f"<ruby>{shown}<rt>{html.escape(above)}</rt></ruby>" if above else shown)
        at = word.end
    parts.append(html.escape(text[at:]))
    body = "".join(parts).replace("\n", "<br>\n")
    style = (
        "body{font:1.1rem/2.4 serif;max-width:42em;margin:2em auto;padding:0 1em}rt{color:#356;font-family:sans-serif}"
    )
    return (
        f'<!doctype html>\n<html lang="{found.lang}"><meta charset="utf-8"><title>Gloss</title><style>{style}</style>\n'
        f'<p lang="{found.to}"><b>{html.escape(found.rendering)}</b></p>\n<p dir="auto">{body}</p></html>'
    )
