"""The command that explains a foreign text word by word."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from paragloss.cli.help_layout import COMMON
from paragloss.cli.output import print_json
from paragloss.cli.program import AsJson, app
from paragloss.errors import InputError, LanguageError

#: Printed after a word that no source knows.
UNKNOWN_MARK = "?"
#: Characters of a text by which its language is identified.
_MAX_IDENTIFIED_LENGTH = 2000
_STYLE = "body{font:1.1rem/2.4 serif;max-width:42em;margin:2em auto;padding:0 1em}rt{color:#356;font-family:sans-serif}"


@app.command(rich_help_panel=COMMON)
def gloss(
    file: Annotated[str, typer.Argument(help="A text, HTML, PDF, Word, ... file; - reads standard input.")],
    to: Annotated[str, typer.Option(help="Language to explain the text in.")] = "en",
    lang: Annotated[str, typer.Option(help="Language of the text; detected by default.")] = "",
    dictionaries: Annotated[
        list[str] | None, typer.Option("--with", help="Also use this saved table or dictionary. Repeatable.")
    ] = None,
    question: Annotated[
        str, typer.Option("--asked", help="What you are looking for; helps to choose between senses.")
    ] = "",
    as_html: Annotated[
        bool, typer.Option("--html", help="Print an HTML page with the meanings above the words.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Explain a foreign text word by word, with a rough translation."""
    from paragloss.gloss import gloss as gloss_text
    from paragloss.languages import normalise

    text, file_lang = _read_text(file)
    source = _choose_language(lang or file_lang, text, file)
    target = normalise(to)
    glossed = gloss_text(text, source, target, _open_sources(dictionaries or [], source, target), query=question)
    if as_json:
        print_json(glossed.as_json())
    elif as_html:
        print(_make_page(text, glossed))
    else:
        _print_glosses(text, glossed)


def _read_text(file: str) -> tuple[str, str]:
    """Return the text of a file with its titles, and the language that the file states, or ""."""
    from paragloss.formats.documents import read_documents

    if file == "-":
        return sys.stdin.read(), ""
    documents = list(read_documents(file))
    if not documents:
        raise InputError(f"{file} holds no text")
    texts = [f"{document.title}\n{document.text}" if document.title else document.text for document in documents]
    return "\n".join(texts), documents[0].lang


def _choose_language(stated_lang: str, text: str, file: str) -> str:
    """Return the code of the stated language, or that of the text where none is stated."""
    from paragloss import languages

    if stated_lang:
        return languages.normalise(stated_lang)
    identified = languages.identify_one(text[:_MAX_IDENTIFIED_LENGTH])
    if identified is None:
        raise LanguageError(f"can't tell the language of {file}: say it with --lang")
    return identified


def _open_sources(paths: list[str], source: str, target: str) -> dict[str, Any]:
    from paragloss.collection import translator
    from paragloss.collection.models import get_model_name
    from paragloss.gloss import lexicon
    from paragloss.translation import default

    given_sources = {get_model_name(path): translator(path, source, target) for path in paths}
    return {**given_sources, "default": default.open(), "lexicon": lexicon.open()}


def _print_glosses(text: str, glossed: Any) -> None:
    """Print a text, each word followed by its meanings: "Biene‹bee›"; ~ stands before a guess, ? for an unknown word.

    :param text: the text as it was read
    :param glossed: the `Gloss` of the text
    """
    print(f"[{glossed.lang} -> {glossed.to}]  {glossed.rendering}\n")
    position = 0
    for word in glossed.words:
        sys.stdout.write(text[position : word.end])
        if word.meanings:
            sys.stdout.write(f"‹{_format_meanings(word)}›")
        elif word.romanised or word.kind == "unknown":
            sys.stdout.write(f"‹{word.romanised or UNKNOWN_MARK}›")
        position = word.end
    print(text[position:])


def _format_meanings(word: Any) -> str:
    """Return the first two meanings; a guess has ~ before it, as in the rendering."""
    return ("" if word.sure else "~") + ", ".join(meaning.text for meaning in word.meanings[:2])


def _make_page(text: str, glossed: Any) -> str:
    """Return an HTML page with the meanings above the words.

    :param text: the text.
    :param glossed: the `Gloss` of the text.
    """
    from html import escape  # slow to import: it builds a table of all names of characters

    body = _mark_up_words(text, glossed.words).replace("\n", "<br>\n")
    return (
        f'<!doctype html>\n<html lang="{glossed.lang}"><meta charset="utf-8"><title>Gloss</title>'
        f"<style>{_STYLE}</style>\n"
        f'<p lang="{glossed.to}"><b>{escape(glossed.rendering)}</b></p>\n<p dir="auto">{body}</p></html>'
    )


def _mark_up_words(text: str, words: Iterable[Any]) -> str:
    """Return a text as HTML in which each word has its meaning above it.

    :param words: the glossed words of the text, with their offsets in it.
    """
    from html import escape

    pieces: list[str] = []
    position = 0
    for word in words:
        meaning = _format_meanings(word) if word.meanings else word.romanised
        glossed_word = escape(word.text)
        if meaning:
            glossed_word = f"<ruby>{glossed_word}<rt>{escape(meaning)}</rt></ruby>"
        pieces += [escape(text[position : word.start]), glossed_word]
        position = word.end
    pieces.append(escape(text[position:]))
    return "".join(pieces)
