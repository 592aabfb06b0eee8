"""Open text files, compressed or not, and read lines of bounded length; knows nothing of formats.

Text is UTF-8; another encoding is guessed, and a warning names the guess. An error names the file, the line and the
remedy; a reader with `on_error` reports a bad row there and goes on, otherwise the error is raised.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import BinaryIO, TextIO, TypeAlias, TypeVar, cast

from paragloss.atomic_files import replace_file
from paragloss.errors import EmptyFileError, InputError, LanguageError
from paragloss.formats.encodings import Utf8Stream, detect_encoding
from paragloss.languages import known_codes, normalise

S = TypeVar("S")
T = TypeVar("T")
PathLike: TypeAlias = str | Path
OnError: TypeAlias = Callable[[InputError], None] | None


class FileOutcome(Enum):
    """How much of a file was read."""

    READ = "read"
    PARTLY_READ = "partly read"  # without rows, messages or members that could not be read
    FAILED = "failed"


#: No line of text is longer than this; a file of one endless line must not fill the memory.
MAX_LINE_BYTES = 16 * 2**20
#: No single document (a page, a topic file, a TREC document) is larger than this.
MAX_DOCUMENT_BYTES = 64 * 2**20
#: No file of one document with pictures or compressed parts (PDF, Office, winmail.dat) is larger than this.
MAX_PACKED_FILE_BYTES = 4 * MAX_DOCUMENT_BYTES
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".dz")

_BLOCK = 1 << 20
#: Errors that reading a damaged compressed file may raise.
_DAMAGE_ERRORS = (EOFError, zlib.error, lzma.LZMAError, OSError)


def parse_language_code(lang: str) -> str:
    """Return the base code of a language: `pt` for `pt-br` and `POR`."""
    try:
        return normalise(lang)
    except LanguageError as error:
        raise InputError(str(error)) from None


def is_language_code(word: str) -> bool:
    """Say whether a part of a path names a language: a code of two letters, and perhaps a region."""
    return re.fullmatch(r"[a-z]{2}([-_][A-Za-z]{2,4})?", word) is not None and word[:2] in known_codes()


def parse_declared_language(code: str) -> str:
    """Return the code of the language that a document declares; "" if it declares none, or an unknown one."""
    base = re.match(r"[A-Za-z]{2,3}(?=$|[-_])", code.strip())
    try:
        return normalise(base[0]) if base else ""
    except LanguageError:
        return ""


def file_stem(path: PathLike) -> str:
    """Return a file's name without its suffixes of format and compression: `en-de` for `a/en-de.tsv.gz`."""
    name = Path(path)
    return (name.with_suffix("") if name.suffix.lower() in COMPRESSED_SUFFIXES else name).stem


def format_suffix(path: PathLike) -> str:
    """Return the suffix that names the format, in lower case: `.tsv` for `a/en-de.tsv.gz`."""
    name = Path(path)
    return (name.with_suffix("") if name.suffix.lower() in COMPRESSED_SUFFIXES else name).suffix.lower()


@contextmanager
def open_bytes(path: PathLike) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, decompressed if its first bytes are those of gzip, bzip2 or xz.

    :raises InputError: also while reading, if the file is damaged or truncated
    """
    try:
        raw = cast(io.BufferedReader, open(path, "rb", buffering=_BLOCK))  # noqa: SIM115 - closed below
    except (OSError, ValueError) as error:
        message = f"can't be opened ({_get_reason(error)}); check the path and its permissions"
        raise InputError(message, location=path) from error
    with raw:
        try:
            yield _decompress(raw)
        except _DAMAGE_ERRORS as error:
            remedy = "the file is damaged or cut off, fetch it again"
            raise InputError(f"can't be read to its end ({error}); {remedy}", location=path) from error


@contextmanager
def open_utf8(path: PathLike) -> Iterator[BinaryIO]:
    """Open a text file as UTF-8 bytes without a mark; another encoding is guessed, with a warning."""
    with open_bytes(path) as stream:
        sample = cast(io.BufferedReader, stream).peek(_BLOCK)
        encoding = detect_encoding(sample)
        if encoding != "utf-8":
            warnings.warn(f"{path}: read as {encoding}, which it looks like; convert it if that is wrong", stacklevel=5)
            stream = cast(BinaryIO, io.BufferedReader(Utf8Stream(stream, encoding, path), _BLOCK))
        elif sample.startswith(codecs.BOM_UTF8):
            stream.read(len(codecs.BOM_UTF8))
        yield stream


def read_bytes(path: PathLike, *, limit: int = MAX_DOCUMENT_BYTES) -> bytes:
    """Return all bytes of a file, decompressed; an error if they are more than `limit`."""
    with open_bytes(path) as stream:
        return _read_stream(stream, path, limit)


def limit_text(texts: Iterable[str], path: PathLike) -> Iterator[str]:
    """Yield the parts of a document's text; raise InputError once they are too long together.

    The text may be compressed in its file, `path`, so that the size of the file does not limit it.
    """
    n_characters = 0
    for text in texts:
        n_characters += len(text)
        if n_characters > MAX_DOCUMENT_BYTES:
            raise InputError(f"more than {MAX_DOCUMENT_BYTES:,} characters of text; split the file", location=path)
        yield text


def join_fields(**lines_by_field: Iterable[str]) -> dict[str, str]:
    """Return the fields of a document, each a text of some lines; fields without lines are left out."""
    fields = {name: "\n".join(lines) for name, lines in lines_by_field.items()}
    return {name: text for name, text in fields.items() if text}


def _read_stream(stream: BinaryIO, path: PathLike, limit: int) -> bytes:
    data = stream.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"more than {limit:,} bytes in one document; split it into smaller ones", location=path)
    return data


def read_text(path: PathLike) -> str:
    """Return the text of a file; an error if it is empty."""
    with open_utf8(path) as stream:
        data = _read_stream(stream, path, MAX_DOCUMENT_BYTES)
    try:
        text = decode_utf8(data)
    except InputError as error:
        raise InputError(str(error), location=path) from error.__cause__
    if not text.strip():
        raise EmptyFileError("the file is empty; give a file with text", location=path)
    return text


def read_lines(path: PathLike, *, on_error: OnError = None) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, line without its end) of every line of a text file, blank ones too.

    :param path: the file, which may be compressed
    :param on_error: called with the error of each line that is too long or not UTF-8; without it the error is raised
    :raises EmptyFileError: if all lines are blank
    """
    has_text = False
    with open_utf8(path) as stream:
        for number, (offset, line_bytes) in enumerate(_split_lines(stream), 1):
            try:
                line = _decode_line(line_bytes, offset)
            except InputError as error:
                has_text = True  # a line that can't be decoded is not blank
                raise_or_report(error, path, number, on_error)
                continue
            has_text = has_text or bool(line.strip())
            yield number, line.rstrip("\r\n")
    if not has_text:
        raise EmptyFileError("the file is empty; give a file with at least one row", location=path)


def _split_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, line) of every line of a stream; of one that is too long only as much as shows that it is."""
    offset = 0
    while line := stream.readline(MAX_LINE_BYTES + 1):
        yield offset, line
        offset += len(line)
        if not line.endswith(b"\n"):
            offset += _skip_line(stream)


def _decode_line(line_bytes: bytes, offset: int) -> str:
    if len(line_bytes) > MAX_LINE_BYTES:
        raise InputError(f"the line is longer than {MAX_LINE_BYTES:,} bytes; put one record on a line")
    return decode_utf8(line_bytes, offset)


def parse_lines(path: PathLike, parse: Callable[[int, str], T], *, on_error: OnError = None) -> Iterator[T]:
    """Yield `parse(number, line)` of every line that is not blank; errors are given file and line."""
    numbered_lines = ((number, line) for number, line in read_lines(path, on_error=on_error) if line.strip())
    return parse_numbered_items(numbered_lines, parse, path, on_error)


def parse_numbered_items(
    items: Iterable[tuple[int, S]], make: Callable[[int, S], T], path: PathLike, on_error: OnError
) -> Iterator[T]:
    """Yield `make(number, item)` of every numbered item of a file; errors are given file and number."""
    for number, item in items:
        try:
            record = make(number, item)
        except InputError as error:
            raise_or_report(error, path, number, on_error)
            continue
        yield record


def decode_utf8(data: bytes, offset: int = 0) -> str:
    """Decode the text of a file, or a part of it, as UTF-8.

    :param data: the bytes
    :param offset: where they begin in the file, for the message of an error
    :raises InputError: if there is a zero byte or one that is not UTF-8
    """
    if b"\0" in data:
        zero_offset = offset + data.index(b"\0")
        raise InputError(f"a zero byte at offset {zero_offset}: this is binary, not text; give a UTF-8 text file")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte 0x{data[error.start]:02x} at offset {offset + error.start} is not UTF-8; "
            "convert the file, for example: iconv -f LATIN1 -t UTF-8"
        ) from error


def raise_or_report(error: InputError, path: PathLike, number: int, on_error: OnError) -> None:
    """Give an error its file and line, and raise it or pass it to `on_error`."""
    placed = InputError(str(error), location=f"{path}:{number}")
    if on_error is None:
        raise placed from error.__cause__
    on_error(placed)


def _get_reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


@contextmanager
def open_output(path: PathLike) -> Iterator[TextIO]:
    """Open a UTF-8 file for writing, gzipped if its name ends in `.gz`; it gets its name only when it is complete.

    :raises InputError: if the file can't be created
    """
    final_path = Path(path)
    if final_path.exists() and not final_path.is_file():  # a pipe or a device is written, not replaced
        with _open_for_writing(final_path, final_path) as output:
            yield output
    else:
        with replace_file(final_path) as temporary_path, _open_for_writing(temporary_path, final_path) as output:
            yield output


@contextmanager
def _open_for_writing(path: Path, final_path: Path) -> Iterator[TextIO]:
    """Open a file for writing UTF-8 text.

    :param path: the name of the file while it is written
    :param final_path: its name when it is complete, which errors name; the text is gzipped if it ends in `.gz`
    :raises InputError: if the file can't be created
    """
    try:
        raw = open(path, "wb")  # noqa: SIM115 - closed below
    except OSError as error:
        message = f"can't be written ({error.strerror}); check the folder and its permissions"
        raise InputError(message, location=final_path) from error
    with raw, _compress_by_name(raw, final_path) as output:
        text = io.TextIOWrapper(output, encoding="utf-8", newline="\n", write_through=False)
        yield text
        text.detach()  # writes what is left in its buffer, and leaves closing the files to the blocks that opened them


def _compress_by_name(raw: BinaryIO, final_path: Path) -> BinaryIO:
    """Return a stream that writes what it gets gzipped into another one, or that one if the path has no suffix `.gz`.

    The gzip header has no name and no time, so that the same text always gives the same bytes.
    """
    if final_path.suffix.lower() != ".gz":
        return raw
    return cast(BinaryIO, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6))


def _decompress(raw: io.BufferedReader) -> BinaryIO:
    magic = raw.peek(6)[:6]
    if magic.startswith(b"\x1f\x8b"):
        return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=raw)), _BLOCK))
    if magic.startswith(b"BZh"):
        return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, bz2.BZ2File(raw)), _BLOCK))
    if magic == b"\xfd7zXZ\0":
        return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, lzma.LZMAFile(raw)), _BLOCK))
    return raw


def _skip_line(stream: BinaryIO) -> int:
    """Read up to the end of a line, in blocks; return the number of bytes."""
    skipped = 0
    while raw := stream.readline(_BLOCK):
        skipped += len(raw)
        if raw.endswith(b"\n"):
            break
    return skipped
