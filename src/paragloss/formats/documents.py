"""The front door to documents: any supported file or folder, chosen by its suffix, else by its first bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from paragloss.errors import InputError
from paragloss.formats import csv, docx, folder, html, irds, jsonl, markdown, pdf, trec, wikipedia
from paragloss.formats.text import BROKEN, OnError, PathLike, broken, open_bytes, suffix
from paragloss.types import Document

SUPPORTED = (
    ".jsonl, .csv, .tsv, .txt, .md, .html, .pdf, .docx, TREC <DOC> files, MediaWiki .xml dumps, "
    "folders of them, and irds:DATASET; files may be packed with gzip, bzip2 or xz"
)
_ROWS: dict[str, Callable[..., Iterator[Document]]] = {
    ".jsonl": jsonl.read_documents,
    ".ndjson": jsonl.read_documents,
    ".csv": csv.read_documents,
    ".tsv": csv.read_documents,
    ".trec": trec.read_documents,
    ".sgml": trec.read_documents,
    ".xml": wikipedia.read_documents,
}
_PAGES: dict[str, Callable[..., Document]] = {
    ".txt": markdown.read_plain,
    ".md": markdown.read_markdown,
    ".markdown": markdown.read_markdown,
    ".html": html.read_html,
    ".htm": html.read_html,
    ".xhtml": html.read_html,
    ".pdf": pdf.read_pdf,
    ".docx": docx.read_docx,
}
# How a file without a known suffix begins, in lower case and without white space before it.
_STARTS = (
    (b"{", ".jsonl"),
    (b"%pdf-", ".pdf"),
    (b"pk\x03\x04", ".docx"),
    (b"<doc>", ".trec"),
    (b"<doc ", ".trec"),
    (b"<mediawiki", ".xml"),
    (b"<!doctype html", ".html"),
    (b"<html", ".html"),
)


def read(path: PathLike, *, on_error: OnError = None) -> Iterator[Document]:
    """Documents of a file, a folder or `irds:DATASET`.

    A page's id is its path below the folder, and so is `meta["path"]`. Its language is what the page itself says,
    else what its path says (`fr/a.txt`, `a.fr.txt`), else "".
    """
    if str(path).startswith(irds.PREFIX):
        yield from irds.read_documents(str(path))
        return
    if not Path(path).is_dir():
        yield from _file(Path(path), Path(path).name, _kind(Path(path)), on_error)
        return
    count = 0
    for name, file in folder.files(path):
        kind = suffix(file)
        if kind in _ROWS or kind in _PAGES:
            count += 1
            try:
                yield from _file(file, name, kind, on_error)
            except InputError as error:
                # A whole file that is bad (empty, cut off) is to its folder what a bad row is to its file.
                if on_error is None:
                    raise
                on_error(error)
    if not count:
        raise InputError(f"{path}: no file in this folder can be read; supported: {SUPPORTED}")


def _file(path: Path, name: str, kind: str, on_error: OnError) -> Iterator[Document]:
    if kind in _ROWS:
        yield from _ROWS[kind](path, on_error=on_error)
        return
    page = _PAGES[kind](path, id=name)
    yield page._replace(lang=page.lang or folder.path_lang(name), meta={**page.meta, "path": name})


def _kind(path: Path) -> str:
    kind = suffix(path)
    if kind in _ROWS or kind in _PAGES:
        return kind
    with open_bytes(path) as stream:
        try:
            start = stream.read(4096)
        except BROKEN as error:
            raise broken(path, error) from error
    start = start.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for beginning, found in _STARTS:
        if start.startswith(beginning):
            return found
    raise InputError(f"{path}: neither its suffix {kind!r} nor its beginning tells its format; supported: {SUPPORTED}")
