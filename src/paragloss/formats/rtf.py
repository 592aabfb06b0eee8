"""Rich Text files (.rtf): their text without its marks, by striprtf."""

from __future__ import annotations

import re
import struct
from pathlib import Path

from paragloss.errors import EmptyFileError, InputError
from paragloss.formats.text import MAX_DOCUMENT_BYTES, PathLike, read_bytes
from paragloss.types import Document

#: What every compressed text is taken to be preceded by ([MS-OXRTFCP] 2.1.2.1), and how far a reference reaches back.
_RTF_DICTIONARY = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor "
    rb"MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_RTF_WINDOW = 4096
_COMPRESSED_HEADER = struct.Struct("<II4s")
#: The title is searched among the first characters.
_CHARACTERS_WITH_TITLE = 100_000
_TITLE = re.compile(r"\{\\title ([^{}\\]{1,300})\}")


def read_rtf(path: PathLike, *, id: str = "") -> Document:
    """Read a Rich Text file as one document. Letters are decoded with the code page that the file or the font names.

    :param path: a `.rtf` file
    :param id: the id of the document; by default the file's name
    :raises InputError: if the file is damaged, of another format, or has no text
    """
    source = read_bytes(path).decode("latin-1")
    if not source.lstrip().startswith("{\\rtf"):
        raise InputError("does not begin with {\\rtf; it is damaged or of another format", location=path)
    try:
        text = extract_rtf_text(source)
    except Exception as error:  # a damaged file fails anywhere inside the library
        reason = error or type(error).__name__
        raise InputError(f"can't be read as .rtf ({reason}); save it anew", location=path) from error
    if not text:
        raise EmptyFileError("no text in the document; give one that has some", location=path)
    title = _TITLE.search(source[:_CHARACTERS_WITH_TITLE])
    return Document(id or Path(path).name, text, "", title[1].strip() if title else "")


def extract_rtf_text(source: str) -> str:
    """Return the text of Rich Text without its marks."""
    from striprtf.striprtf import rtf_to_text

    text = str(rtf_to_text(source, errors="replace"))  # type: ignore[no-untyped-call]
    # Characters outside the first plane are written as two halves.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", "").strip()


def decompress_rtf(data: bytes) -> bytes:
    """Return the Rich Text that Outlook stores compressed ([MS-OXRTFCP] 3.1.3), b"" if the data is something else."""
    if len(data) < _COMPRESSED_HEADER.size:
        return b""
    _, raw_size, kind = _COMPRESSED_HEADER.unpack_from(data)
    content = data[_COMPRESSED_HEADER.size + 4 :]  # behind a checksum
    if kind == b"MELA":
        return content[:raw_size]
    return _expand_references(content)[len(_RTF_DICTIONARY) :][:raw_size] if kind == b"LZFu" else b""


def _expand_references(content: bytes) -> bytes:
    """Decompress the content of Outlook's LZFu format.

    A byte of eight flags precedes eight items. An item is a byte of text, or, if its flag is set, a reference of two
    bytes to text before it.

    :param content: the compressed bytes, without header and checksum
    :return: the dictionary of the format with the text behind it, up to the end mark or the first damage
    """
    output = bytearray(_RTF_DICTIONARY)
    position = 0
    while position < len(content) and len(output) < MAX_DOCUMENT_BYTES:
        flags = content[position]
        position += 1
        for bit in range(8):  # the lowest bit is the flag of the first item
            is_reference = flags >> bit & 1
            if not is_reference:
                output += content[position : position + 1]
                position += 1
                continue
            reference = int.from_bytes(content[position : position + 2], "big")
            position += 2
            if not _append_referenced_text(output, reference):
                return bytes(output)
    return bytes(output)


def _append_referenced_text(output: bytearray, reference: int) -> bool:
    """Append the earlier text that a reference of Outlook's LZFu format stands for.

    :param output: the text so far, which is extended; a reference may run into what it appends itself
    :param reference: 12 bits for a position among the last 4,096 bytes, 4 bits for the length less two; a reference to
        the current position is the end mark
    :return: False if the reference is the end mark, or damaged, so that nothing was appended
    """
    position = reference >> 4
    length = (reference & 15) + 2
    distance = (len(output) - position) % _RTF_WINDOW  # from the end of the output back to the referenced text
    if distance == 0 or distance > len(output):
        return False
    for _ in range(length):
        output.append(output[-distance])
    return True
