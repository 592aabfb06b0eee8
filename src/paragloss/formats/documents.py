"""The front door to documents: any supported file or folder, chosen by its suffix, else by its first bytes."""

from __future__ import annotations

import os
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import date
from pathlib import Path
from typing import NamedTuple

from paragloss.errors import InputError
from paragloss.formats import csv, irds, jsonl, lsclir, mail, markdown, sandbox, scans, subtitles, trec, wikipedia
from paragloss.formats import folder_files as folder
from paragloss.formats.foreign import READERS as FOREIGN
from paragloss.formats.text import OnError, PathLike, format_suffix, open_bytes
from paragloss.types import Document

SUPPORTED_FORMATS = (
    f".jsonl, .csv, .tsv, LS-CLIR .documents, .txt, .md, .srt, .vtt, .mbox, maildirs, {', '.join(FOREIGN)}, "
    "TREC <DOC> files, MediaWiki .xml dumps, "
    "folders of them, and irds:DATASET; files may be packed with gzip, bzip2 or xz"
)
_TABLES: dict[str, Callable[..., Iterator[Document]]] = {
    **dict.fromkeys((".jsonl", ".ndjson"), jsonl.read_jsonl_documents),
    **dict.fromkeys((".csv", ".tsv"), csv.read_csv_documents),
    ".mbox": mail.read_mbox,
}
_DUMPS: dict[str, Callable[..., Iterator[Document]]] = {
    **dict.fromkeys((".trec", ".sgml"), trec.read_trec_documents),
    ".xml": wikipedia.read_wikipedia_dump,
    ".documents": lsclir.read_lsclir_documents,
}
_PAGES: dict[str, Callable[..., Document]] = {
    ".txt": markdown.read_plain,
    **dict.fromkeys((".md", ".markdown"), markdown.read_markdown),
    **dict.fromkeys((".srt", ".vtt"), subtitles.read_subtitles),
}
SUPPORTED_SUFFIXES = {*_TABLES, *_DUMPS, *_PAGES, *FOREIGN}
#: A smaller picture among other files is an icon, not a page.
_SMALLEST = 10_000
#: What can't be read, and what it can be saved as.
_INSTEAD = {".doc": ".docx", ".dot": ".docx", ".xls": ".xlsx", ".ppt": ".pptx", ".mobi": ".epub", ".pages": ".docx"}
# How a file without a known suffix begins, in lower case and without white space before it.
_STARTS = (
    (b"{\\rtf", ".rtf"),
    (b"{", ".jsonl"),
    (b"%pdf-", ".pdf"),
    (b"<doc>", ".trec"),
    (b"<doc ", ".trec"),
    (b"<mediawiki", ".xml"),
    (b"<!doctype html", ".html"),
    (b"<html", ".html"),
    (b"webvtt", ".vtt"),
    (b"from ", ".mbox"),
    (b"\x89png", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
)
# What stands in a zip archive of each kind, among its first bytes.
_ZIPPED = (
    (b"application/epub+zip", ".epub"),
    (b"application/vnd.oasis.opendocument.", ".odt"),
    (b"ppt/", ".pptx"),
    (b"xl/", ".xlsx"),
    (b"", ".docx"),
)


def read_documents(
    path: PathLike,
    *,
    name: Callable[[str], str] | None = None,
    wanted: Callable[[Path], bool] = lambda _: True,
    ended: Callable[[Path, bool], None] = lambda *_: None,
    on_error: OnError = None,
    scanning: scans.ScanProgress = lambda *_: None,
    readers: int = 1,
) -> Iterator[Document]:
    """Documents of a file, a folder or `irds:DATASET`.

    A page's id is its path below the folder, or what `name` makes of that; rows without an id are called after that
    and their line. `meta["path"]` is where a page's file is. Its language is what the page itself says, else what
    its path says (`fr/a.txt`, `a.fr.txt`), else "". With `on_error` a file that can't be read is reported there like
    a bad row, and so is every file of a kind that can't be; without, a warning counts those. `wanted` is asked before
    each file is read, and `ended` told after it whether it was read to its end; also of folders that can't be listed;
    `scanning` is told of every page of a scan.
    Of a folder so many `readers` read the next files while these are made use of; their order stays.
    """
    if str(path).startswith(irds.IRDS_PREFIX):
        yield from irds.read_irds_documents(str(path))
        return
    named = name or (lambda relative: relative)
    if not Path(path).is_dir():
        if wanted(Path(path)):
            alone = _File(Path(path), Path(path).name, named(decode_path(Path(path).name)))
            yield from _reported(alone, ended, on_error, scanning)
        return
    read_, left_out, waiting = 0, Counter[str](), deque[_File]()
    with sandbox.open_parallel_readers(readers, scanning) as ask:
        for relative, file in folder.list_files(path, unread=lambda folder: ended(folder, False), on_error=on_error):
            kind = _by_name(file)
            if kind in SUPPORTED_SUFFIXES and not (kind in scans.IMAGES and _no_page(file)):
                read_ += 1
                if wanted(file):
                    id = named(decode_path(relative))
                    waiting.append(_File(file, relative, id, ask(kind, file, id) if kind in FOREIGN else None))
            else:
                left_out[kind or "without a suffix"] += 1
                if on_error is not None:
                    waiting.append(_File(file, relative, "", wrong=_unreadable(kind)))
            if len(waiting) > 2 * readers:
                yield from _reported(waiting.popleft(), ended, on_error, scanning)
        while waiting:
            yield from _reported(waiting.popleft(), ended, on_error, scanning)
    if not read_:
        raise InputError(f"no file in this folder can be read; supported: {SUPPORTED_FORMATS}", place=path)
    if left_out and on_error is None:
        kinds = ", ".join(f"{count} {kind}" for kind, count in left_out.most_common(8))
        warnings.warn(f"{path}: left out {left_out.total()} files of kinds that can't be read: {kinds}", stacklevel=2)


class _File(NamedTuple):
    """A file, its path below the folder, what it is called, and what will be its page where that is being read; or what
    is `wrong` with its kind."""

    path: Path
    relative: str
    name: str
    page: Future[Document] | None = None
    wrong: str = ""


def _reported(
    file: _File, ended: Callable[[Path, bool], None], on_error: OnError, scanning: scans.ScanProgress
) -> Iterator[Document]:
    """The documents of a file. One that is bad as a whole is to its folder what a bad row is to its file."""
    if file.wrong and on_error is not None:
        on_error(InputError(file.wrong, place=file.path))
        return
    try:
        yield from _documents(file, _kind(file.path), on_error, scanning)
        ended(file.path, True)
    except InputError as error:
        if on_error is None:
            raise
        ended(file.path, False)
        on_error(error)


def _documents(file: _File, kind: str, on_error: OnError, scanning: scans.ScanProgress) -> Iterator[Document]:
    path, name = file.path, file.name
    if kind in _TABLES:
        yield from _TABLES[kind](path, name=name, on_error=on_error)
        return
    if kind in _DUMPS:
        yield from _DUMPS[kind](path, on_error=on_error)
        return
    if file.page is not None:
        try:
            page = file.page.result()
        except InputError:
            if kind in scans.IMAGES and on_error is None:
                return  # one of a folder's pictures that has no words
            raise
    else:
        page = sandbox.READER.read(kind, path, name, scanning) if kind in FOREIGN else _PAGES[kind](path, id=name)
    where = decode_path(os.path.abspath(path))
    changed = date.fromtimestamp(os.stat(path).st_mtime).isoformat()
    meta = {"modified": changed, **page.meta, "path": where}
    yield page._replace(lang=page.lang or folder.guess_path_language(file.relative), meta=meta)


def decode_path(path: str) -> str:
    """A path as text, also one whose bytes are not: those are written out, `caf\\xe9.txt`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _by_name(path: Path) -> str:
    return ".eml" if mail.is_in_maildir(path) else format_suffix(path)


def _no_page(picture: Path) -> bool:
    """Whether a picture in a folder is not worth reading, or can't be."""
    return not scans.is_tesseract_installed() or picture.stat().st_size < _SMALLEST


def _kind(path: Path) -> str:
    kind = _by_name(path)
    if kind in SUPPORTED_SUFFIXES:
        return kind
    with open_bytes(path) as stream:
        start = stream.read(4096)
    if start.startswith(b"PK\x03\x04"):
        return next(found for sign, found in _ZIPPED if sign in start)
    start = start.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for beginning, found in _STARTS:
        if start.startswith(beginning):
            return found
    raise InputError(_unreadable(kind), place=path)


def _unreadable(kind: str) -> str:
    if kind in _INSTEAD:
        return f"{kind} files can't be read; save it as {_INSTEAD[kind]}"
    return f"neither its suffix {kind!r} nor its beginning tells its format; supported: {SUPPORTED_FORMATS}"
