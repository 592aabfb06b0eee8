"""Read the documents of any supported file or folder; the format is told by the suffix, else by the first bytes."""

from __future__ import annotations

import codecs
import os
import tempfile
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import NamedTuple

from paragloss.errors import EmptyFileError, InputError
from paragloss.formats import (
    chats,
    csv,
    irds,
    jsonl,
    lsclir,
    mail,
    markdown,
    sandbox,
    scans,
    subtitles,
    trec,
    wikipedia,
)
from paragloss.formats.folder_files import guess_path_language, list_files
from paragloss.formats.foreign import READERS as FOREIGN_READERS
from paragloss.formats.pst import MAILBOX_SUFFIXES
from paragloss.formats.text import FileOutcome, OnError, PathLike, format_suffix, open_bytes, raise_or_report
from paragloss.formats.title_choice import choose_title
from paragloss.formats.tnef import SUFFIX as TNEF_SUFFIX
from paragloss.formats.tnef import WINMAIL_NAMES
from paragloss.formats.unpacking import UNPACKERS
from paragloss.languages import identify_document
from paragloss.types import Document

#: Files with a document in each row; the reader is given the prefix of the rows' ids.
_ROW_READERS: dict[str, Callable[..., Iterator[Document]]] = {
    **dict.fromkeys((".jsonl", ".ndjson"), jsonl.read_jsonl_documents),
    **dict.fromkeys((".csv", ".tsv"), csv.read_csv_documents),
}
_TABLES = frozenset({".csv", ".tsv"})
#: Collections of documents that have ids of their own.
_DUMP_READERS: dict[str, Callable[..., Iterator[Document]]] = {
    **dict.fromkeys((".trec", ".sgml"), trec.read_trec_documents),
    ".xml": wikipedia.read_wikipedia_dump,
    ".documents": lsclir.read_lsclir_documents,
}
_PLAIN_TEXT, _MBOX = ".txt", ".mbox"
#: Files of one document that are simple enough to be read in this process.
_TEXT_READERS: dict[str, Callable[..., Document]] = {
    _PLAIN_TEXT: markdown.read_plain,
    **dict.fromkeys((".md", ".markdown"), markdown.read_markdown),
    **dict.fromkeys((".srt", ".vtt"), subtitles.read_subtitles),
}
#: Files that hold other files and no text of their own.
_ARCHIVES = frozenset(UNPACKERS) - frozenset(FOREIGN_READERS) | MAILBOX_SUFFIXES
SUPPORTED_SUFFIXES = {*_ROW_READERS, *_DUMP_READERS, *_TEXT_READERS, _MBOX, *FOREIGN_READERS, *_ARCHIVES}
SUPPORTED_FORMATS = (
    f"{', '.join(sorted(SUPPORTED_SUFFIXES))}, maildirs, TREC <DOC> files, MediaWiki dumps, folders of them, "
    "and irds:DATASET; files may be packed with gzip, bzip2 or xz"
)
#: Archives inside archives, and attachments of attached mail, are opened to this depth.
MAX_NESTING = 3
#: A smaller picture among other files is an icon, not a page.
_MIN_PICTURE_BYTES = 10_000
#: Formats that can't be read, and one that such a file can be saved as.
_SUGGESTED_FORMATS = {".dot": ".docx", ".mobi": ".epub", ".pages": ".docx", ".rar": ".zip"}
#: The first bytes of files without a known suffix, in lower case and without white space before them.
_FIRST_BYTES = (
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
    (b"7z\xbc\xaf\x27\x1c", ".7z"),
    (b"!bdn", ".pst"),
    (b'x\x9f>"', ".tnef"),
)
#: What stands among the first bytes of a zip file of each format; another zip file is an archive.
_FIRST_BYTES_OF_ZIP = (
    (b"application/epub+zip", ".epub"),
    (b"application/vnd.oasis.opendocument.", ".odt"),
    (b"ppt/", ".pptx"),
    (b"xl/", ".xlsx"),
    (b"word/", ".docx"),
    (b"[Content_Types].xml", ".docx"),
    (b"", ".zip"),
)


def read_documents(
    path: PathLike,
    *,
    make_id: Callable[[str], str] = lambda relative: relative,
    should_read: Callable[[Path], bool] = lambda _: True,
    on_file_end: Callable[[Path, FileOutcome], None] = lambda *_: None,
    on_error: OnError = None,
    on_scanned_page: scans.ScanProgress = lambda *_: None,
    readers: int = 1,
) -> Iterator[Document]:
    """Read the documents of a file, a folder or `irds:DATASET`.

    The language of a document is the one that the file declares, else the one that its path names (`fr/a.txt`,
    `a.fr.txt`), else "". Its metadata say where it comes from: `path` is the file, `member` the file inside an archive,
    and `mail` the id of the message to which it is attached.

    :param path: the file or folder to read
    :param make_id: makes the id of a file from its path below the folder; rows without an id get that of their file
        and their number
    :param should_read: decides before a file is read whether to read it
    :param on_file_end: called after each file, with how much of it was read; and with FAILED for each folder that can't
        be listed
    :param on_error: called for each file or row that can't be read, and for each file of an unknown format; without
        it the first bad file raises, and a warning counts the files of unknown formats
    :param on_scanned_page: called after each page of a scan
    :param readers: how many processes read ahead in a folder; documents come in the order of the files all the same
    :return: the documents, read one after the other as they are asked for
    """
    if str(path).startswith(irds.IRDS_PREFIX):
        yield from irds.read_irds_documents(str(path))
        return
    file_reader = _FileReader(on_file_end, on_error, on_scanned_page, unread_parts=[])
    root = Path(path)
    if root.is_dir():
        yield from _FolderReader(root, make_id, should_read, file_reader, readers).read()
    elif should_read(root):
        source = _SourceFile(root, root.name, make_id(decode_path(root.name)))
        yield from file_reader.read_reporting_errors(source)


def decode_path(path: str) -> str:
    r"""Return a path as text; bytes that are not UTF-8 are written out, `caf\xe9.txt`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class _SourceFile(NamedTuple):
    """A file to read. `pending` is its document if another process reads it already; `problem` why it can't be read."""

    path: Path
    relative: str  # below the folder
    id: str
    pending: Future[Document] | None = None
    problem: str = ""


@dataclass
class _FolderReader:
    """Reads the files of a folder in their order, while other processes read the next ones ahead."""

    _folder: Path
    _make_id: Callable[[str], str]
    _should_read: Callable[[Path], bool]
    _file_reader: _FileReader
    _readers: int  # processes
    _n_supported: int = 0  # files of supported formats
    _n_left_out: Counter[str] = field(default_factory=Counter)  # other files, by suffix

    def read(self) -> Iterator[Document]:
        """Yield the documents of all files, in the order of the files.

        :raises InputError: if no file has a supported format
        """
        with closing(sandbox.ParallelReaders(self._readers, self._file_reader.on_scanned_page)) as readers:
            for source in self._list_sources_read_ahead(readers):
                yield from self._file_reader.read_reporting_errors(source)
        if not self._n_supported:
            self._report_empty_folder()
        if self._n_left_out and self._file_reader.on_error is None:
            self._warn_of_left_out_files()

    def _report_empty_folder(self) -> None:
        message = f"no file in this folder can be read; supported: {SUPPORTED_FORMATS}"
        error = InputError(message, location=self._folder)
        if self._file_reader.on_error is None:
            raise error
        self._file_reader.on_error(error)

    def _warn_of_left_out_files(self) -> None:
        counts = ", ".join(f"{count} {kind}" for kind, count in self._n_left_out.most_common(8))
        message = f"left out {self._n_left_out.total()} files of kinds that can't be read: {counts}"
        warnings.warn(f"{self._folder}: {message}", stacklevel=4)

    def _list_sources(self) -> Iterator[_SourceFile]:
        """Yield the files of the folder that are to be read, in the order of their paths, and count all files.

        A file of an unknown format can't be read. If the caller wants errors to be reported, such a file is yielded
        all the same, with the reason as its `problem`; otherwise it is left out.
        """
        reports_errors = self._file_reader.on_error is not None
        for relative, path in list_files(self._folder, on_error=self._report_unlisted):
            is_supported = is_readable_member(path)
            self._count_file(path, is_supported)
            if is_supported and self._should_read(path):
                yield _SourceFile(path, relative, self._make_id(decode_path(relative)))
            elif not is_supported and reports_errors:
                problem = _explain_unknown_format(_kind_by_name(path))
                yield _SourceFile(path, relative, "", problem=problem)

    def _count_file(self, path: Path, is_supported: bool) -> None:
        """Count a file among those of supported formats, or by its suffix among those that are left out."""
        if is_supported:
            self._n_supported += 1
        else:
            self._n_left_out[_kind_by_name(path) or "without a suffix"] += 1

    def _list_sources_read_ahead(self, readers: sandbox.ParallelReaders) -> Iterator[_SourceFile]:
        """Yield the files to read in their order, while other processes read those behind them.

        Up to two files for each process are read ahead, if their formats are those that only a child process reads.
        """
        queue = deque[_SourceFile]()
        for source in self._list_sources():
            queue.append(self._read_ahead(source, readers))
            if len(queue) > 2 * self._readers:
                yield queue.popleft()
        while queue:  # not `yield from queue`, which would keep all documents until the end
            yield queue.popleft()

    @staticmethod
    def _read_ahead(source: _SourceFile, readers: sandbox.ParallelReaders) -> _SourceFile:
        """Let other processes begin to read a file of a foreign format; return it with its pending document."""
        kind = _kind_by_name(source.path)
        if source.problem or kind not in FOREIGN_READERS:
            return source
        return source._replace(pending=readers.submit(kind, source.path, source.id))

    def _report_unlisted(self, error: InputError) -> None:
        """Report a folder that can't be listed; it counts as a file that could not be read."""
        if self._file_reader.on_error is None:
            raise error
        self._file_reader.on_file_end(Path(error.location), FileOutcome.FAILED)
        self._file_reader.on_error(error)


class _FileReader(NamedTuple):
    """Reads single files and what is inside them, with the callbacks of one call of `read_documents`."""

    on_file_end: Callable[[Path, FileOutcome], None]
    on_error: OnError
    on_scanned_page: scans.ScanProgress
    unread_parts: list[InputError]  # rows, messages and members that could not be read, of the file that is being read

    def read_reporting_errors(self, source: _SourceFile) -> Iterator[Document]:
        """Yield the documents of a file that is not inside another one, and tell `on_file_end` of its end.

        An error is passed to `on_error`, or raised where there is none. A file that turns out to be empty counts as one
        that was read completely.
        """
        if source.problem and self.on_error is not None:
            self.on_error(InputError(source.problem, location=source.path))
            return
        self.unread_parts.clear()
        try:
            yield from self._read_file(source, depth=0)
            outcome = FileOutcome.PARTLY_READ if self.unread_parts else FileOutcome.READ
            self.on_file_end(source.path, outcome)
        except InputError as error:
            if self.on_error is None:
                raise
            outcome = FileOutcome.READ if isinstance(error, EmptyFileError) else FileOutcome.FAILED
            self.on_file_end(source.path, outcome)
            self.on_error(error)

    def _read_file(self, source: _SourceFile, depth: int) -> Iterator[Document]:
        """Yield the documents of a file by the reader of its format.

        :param depth: how many archives, mailboxes and messages the file is inside of
        """
        kind = _detect_kind(source.path)
        if kind in _ROW_READERS:
            yield from self._read_rows(source, kind)
        elif kind in _DUMP_READERS:
            yield from _DUMP_READERS[kind](source.path, on_error=self._row_error_handler())
        elif kind == _MBOX:
            yield from self._read_mbox(source, depth)
        elif kind == _PLAIN_TEXT and chats.is_chat(source.path):
            yield from self._read_chat(source, depth)
        elif kind in _ARCHIVES:
            yield from self._read_archive(source, kind, depth)
        else:
            yield from self._read_single_document(source, kind, depth)

    def _read_rows(self, source: _SourceFile, kind: str) -> Iterator[Document]:
        """Yield a document for each row of a file; one of a table tells its line."""
        for document in _ROW_READERS[kind](source.path, name=source.id, on_error=self._row_error_handler()):
            yield _place_row(document, source) if kind in _TABLES else document

    def _read_single_document(self, source: _SourceFile, kind: str, depth: int) -> Iterator[Document]:
        """Yield the document of a file, and those of its attachments if it is a mail message.

        A picture without words among the files of a folder is left out, unless errors are reported.

        :param kind: the suffix that names the format of the file
        :param depth: how many archives, mailboxes and messages the file is inside of
        """
        is_read_ahead = source.pending is not None  # only files of a folder are
        is_optional = is_read_ahead and kind in scans.IMAGES and self.on_error is None
        try:
            document = self._parse_file(source, kind)
        except InputError:
            if is_optional:
                return
            raise
        yield _complete_document(document, source, kind)
        if kind in UNPACKERS and "attachments" in document.fields:
            yield from self._read_attachments(source, kind, depth)

    def _parse_file(self, source: _SourceFile, kind: str) -> Document:
        """Return the document of a file as the reader of its format makes it; a folder's files may be read already."""
        if source.pending is not None:
            return source.pending.result()
        if kind in FOREIGN_READERS:
            return sandbox.SHARED_READER.read(kind, source.path, source.id, self.on_scanned_page)
        return _TEXT_READERS[kind](source.path, id=source.id)

    def _read_chat(self, source: _SourceFile, depth: int) -> Iterator[Document]:
        """Yield the days of a chat; the file as it is if it only looks like one."""
        days = chats.read_chat_days(source.path, id=source.id)
        if not days:
            yield from self._read_single_document(source, _PLAIN_TEXT, depth)
        for document in days:
            yield _complete_document(document, source, _PLAIN_TEXT)

    def _read_archive(self, source: _SourceFile, kind: str, depth: int) -> Iterator[Document]:
        """Yield the documents of the files in an archive, with ids such as `reports.zip/2020/a.pdf`."""
        if depth >= MAX_NESTING:
            raise InputError(f"archives inside archives are opened {MAX_NESTING} deep; unpack it", location=source.path)
        if kind in MAILBOX_SUFFIXES:
            yield from self._read_mailbox(source, depth)
            return
        with tempfile.TemporaryDirectory(prefix="paragloss-") as folder:
            sandbox.SHARED_READER.unpack(kind, source.path, folder)
            yield from self._read_unpacked(source, folder, depth)

    def _read_mailbox(self, source: _SourceFile, depth: int) -> Iterator[Document]:
        """Yield the messages of an Outlook mailbox, with ids such as `old.pst/Inbox/12.eml`, and their attachments."""
        next_message: int | None = 0
        while next_message is not None:
            with tempfile.TemporaryDirectory(prefix="paragloss-") as folder:
                part = sandbox.SHARED_READER.unpack_mailbox_part(source.path, folder, next_message)
                for problem in part.problems:
                    self._report_member(problem, str(source.path))
                yield from self._read_unpacked(source, folder, depth)
            next_message = part.next_message

    def _read_unpacked(self, source: _SourceFile, folder: str, depth: int) -> Iterator[Document]:
        """Yield the documents of the files that were unpacked into a folder; one that can't be read is reported.

        :param source: the archive, mailbox or message that they were unpacked from
        :param depth: how many files that is inside of
        """
        for relative, path in list_files(folder):
            if not is_readable_member(path):
                continue
            member = _SourceFile(path, f"{source.relative}/{relative}", f"{source.id}/{relative}")
            try:
                for document in self._read_file(member, depth + 1):
                    yield _place_inside(document, source.path, relative)
            except InputError as error:
                self._report_member(error.reason, f"{source.path}/{path.name}")

    def _read_attachments(self, source: _SourceFile, kind: str, depth: int) -> Iterator[Document]:
        """Yield the documents attached to a message; `meta["mail"]` is the id of the message.

        :param kind: the suffix that names the format of the message
        :param depth: how many files the message is inside of; nothing is read from `MAX_NESTING` on
        """
        if depth >= MAX_NESTING:
            return
        message = source._replace(relative=".")  # its folder, such as `fr/`, says nothing of attachments' languages
        with tempfile.TemporaryDirectory(prefix="paragloss-") as folder:
            sandbox.SHARED_READER.unpack(kind, source.path, folder)
            for document in self._read_unpacked(message, folder, depth):
                yield document._replace(meta={"mail": source.id, **document.meta})

    def _read_mbox(self, source: _SourceFile, depth: int) -> Iterator[Document]:
        """Yield the messages of an mbox file, with ids such as `inbox:12`, and their attachments.

        A message that can't be read is reported, and the rest is read.

        :param depth: how many files the mbox file is inside of; nothing is read from `MAX_NESTING` on
        """
        if depth >= MAX_NESTING:
            return
        with tempfile.TemporaryDirectory(prefix="paragloss-") as folder:
            message_file = Path(folder, "message.eml")
            for number, message_bytes in enumerate(mail.read_mbox_messages(source.path), 1):
                message_file.write_bytes(message_bytes)
                message = _SourceFile(message_file, source.relative, f"{source.id}:{number}")
                try:
                    for document in self._read_file(message, depth + 1):
                        yield _place_in_mbox(document, source.path, number)
                except InputError as error:
                    raise_or_report(InputError(error.reason), source.path, number, self._row_error_handler())

    def _row_error_handler(self) -> OnError:
        """Return what rows and messages that can't be read are passed to; None if the first one is to be raised."""
        return None if self.on_error is None else self._report_row

    def _report_row(self, error: InputError) -> None:
        self.unread_parts.append(error)
        if self.on_error is not None:
            self.on_error(error)

    def _report_member(self, reason: str, location: str) -> None:
        """Report what can't be read inside a file whose other parts are read: to `on_error`, else as a warning."""
        error = InputError(reason, location=location)
        self.unread_parts.append(error)
        if self.on_error is None:
            warnings.warn(f"left out: {error}", stacklevel=2)
        else:
            self.on_error(error)


def is_readable_member(path: Path) -> bool:
    """Say whether a file in a folder or an archive is read; small pictures are not, nor pictures without Tesseract."""
    kind = _kind_by_name(path)
    if kind in scans.IMAGES:
        return scans.can_read_scans() and path.stat().st_size >= _MIN_PICTURE_BYTES
    return kind in SUPPORTED_SUFFIXES


def _complete_document(document: Document, source: _SourceFile, kind: str) -> Document:
    """Add what a file's path says: the title and the language if it has none, and in `meta` its date and path.

    A declared language is checked against the text. Without one the language is "": it is identified when the document
    is indexed, unless the user says it.

    :param source: the file that the document was read from
    :param kind: the suffix that names the file's format
    """
    title = choose_title(document, source.relative, kind)
    declared_lang = document.lang or guess_path_language(source.relative)
    lang = identify_document(document.text, title, declared_lang) if declared_lang else ""
    modified = date.fromtimestamp(os.stat(source.path).st_mtime).isoformat()
    meta = {"modified": modified, **document.meta, "path": decode_path(os.path.abspath(source.path))}
    return document._replace(lang=lang or "", title=title, meta=meta)


def _place_row(document: Document, table: _SourceFile) -> Document:
    """Record in a row's `meta` its table and, unless it has an id of its own, its line; columns of these names stay."""
    name, _, line = document.id.rpartition(":")
    row = {"row": int(line)} if name == table.id and line.isdigit() else {}
    return document._replace(meta={"path": decode_path(os.path.abspath(table.path)), **row, **document.meta})


def _place_in_mbox(document: Document, mbox: Path, number: int) -> Document:
    """Record in a document's `meta` the mbox file it comes from and the number of its message, from 1.

    The time at which the message was unpacked, `modified`, is dropped.
    """
    meta = {**document.meta, "path": decode_path(os.path.abspath(mbox)), "message": number}
    meta.pop("modified", None)
    return document._replace(meta=meta)


def _place_inside(document: Document, container: Path, relative: str) -> Document:
    """Point a document that was unpacked into a temporary folder to the file it comes from."""
    inner = document.meta.get("member")
    member = f"{relative}/{inner}" if inner else relative
    meta = {**document.meta, "path": decode_path(os.path.abspath(container)), "member": member}
    return document._replace(meta=meta)


def _kind_by_name(path: Path) -> str:
    if path.name.lower() in WINMAIL_NAMES:
        return TNEF_SUFFIX
    return ".eml" if mail.is_in_maildir(path) else format_suffix(path)


#: Bytes that tell the format of a file, and where a tar archive has its mark.
_BYTES_FOR_DETECTION, _TAR_MARK_OFFSET = 4096, 257


def _detect_kind(path: Path) -> str:
    """Return the suffix of a file's format, by its name, else by its first bytes.

    :raises InputError: if neither tells
    """
    kind = _kind_by_name(path)
    if kind in SUPPORTED_SUFFIXES:
        return kind
    with open_bytes(path) as stream:
        detected_kind = _detect_kind_by_content(stream.read(_BYTES_FOR_DETECTION))
    if not detected_kind:
        raise InputError(_explain_unknown_format(kind), location=path)
    return detected_kind


def _detect_kind_by_content(start: bytes) -> str:
    """Return the suffix of the format that the first bytes of a file tell, "" if they tell none."""
    if start.startswith(b"PK\x03\x04"):
        return next(kind for mark, kind in _FIRST_BYTES_OF_ZIP if mark in start)
    if start[_TAR_MARK_OFFSET:].startswith(b"ustar"):
        return ".tar"
    visible_start = start.removeprefix(codecs.BOM_UTF8).lstrip().lower()
    return next((kind for beginning, kind in _FIRST_BYTES if visible_start.startswith(beginning)), "")


def _explain_unknown_format(kind: str) -> str:
    if kind in _SUGGESTED_FORMATS:
        return f"{kind} files can't be read; save it as {_SUGGESTED_FORMATS[kind]}"
    return f"neither its suffix {kind!r} nor its beginning tells its format; supported: {SUPPORTED_FORMATS}"
