"""Attachments inside `winmail.dat`, in which Outlook sends mail in its own format (TNEF, [MS-OXTNEF]).

The file is a signature and a sequence of attributes, each with its level, number, length, content and checksum. The
text of the message is not read: the mail around the file has it.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import IO

from paragloss.errors import InputError
from paragloss.formats.text import MAX_PACKED_FILE_BYTES, PathLike, read_bytes

#: What Outlook calls the file, and the suffix by which this package knows the format.
WINMAIL_NAMES = ("winmail.dat", "win.dat")
SUFFIX = ".tnef"
_SIGNATURE = 0x223E9F78
#: The signature and a key that is not used.
_HEADER = struct.Struct("<IH")
_ATTRIBUTE = struct.Struct("<BII")
_CHECKSUM_BYTES = 2
#: Numbers of attributes: the code page of names, the begin of an attachment, its name and its content.
_CODE_PAGE, _ATTACHMENT_BEGIN, _ATTACHMENT_NAME, _ATTACHMENT_CONTENT = 0x69007, 0x69002, 0x18010, 0x6800F


def read_tnef_attachments(path: PathLike) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield (name, content) of every file that is packed into a `winmail.dat`.

    The attributes of a `winmail.dat` come in this order: the code page of names; then, for each file, the mark of its
    beginning, its name and its content.

    :raises InputError: if the file is damaged or of another format
    """
    data = read_bytes(path, limit=MAX_PACKED_FILE_BYTES)
    encoding = "cp1252"
    name = ""
    for number, content in _read_attributes(data, path):
        if number == _CODE_PAGE and len(content) >= 4:
            encoding = f"cp{int.from_bytes(content[:4], 'little')}"
        elif number == _ATTACHMENT_BEGIN:
            name = ""
        elif number == _ATTACHMENT_NAME:
            name = _decode(content.rstrip(b"\0"), encoding)
        elif number == _ATTACHMENT_CONTENT:
            yield name or "unnamed", io.BytesIO(content)


def _read_attributes(data: bytes, path: PathLike) -> Iterator[tuple[int, bytes]]:
    """Yield (number, content) of each attribute of a `winmail.dat`.

    Behind a signature an attribute is its level, its number, the length of its content, the content and a checksum.

    :param data: the bytes of the file
    :param path: its path, which errors name
    :raises InputError: if the file is of another format, or ends inside an attribute
    """
    remedy = "ask for the files as ordinary attachments"
    damage = InputError(f"is no mail of Outlook's (TNEF), or damaged; {remedy}", location=path)
    if len(data) < _HEADER.size or _HEADER.unpack_from(data)[0] != _SIGNATURE:
        raise damage
    offset = _HEADER.size
    while offset < len(data):
        content_start = offset + _ATTRIBUTE.size
        if content_start > len(data):
            raise damage
        _level, number, length = _ATTRIBUTE.unpack_from(data, offset)
        content_end = content_start + length
        offset = content_end + _CHECKSUM_BYTES
        if offset > len(data):
            raise damage
        yield number, data[content_start:content_end]


def _decode(text: bytes, encoding: str) -> str:
    try:
        return text.decode(encoding)
    except (LookupError, UnicodeDecodeError):
        return text.decode("utf-8", errors="replace")
