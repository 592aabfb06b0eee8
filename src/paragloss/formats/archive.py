"""Zip files that Office documents and books consist of; sizes are checked before anything is unpacked."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from paragloss.errors import EmptyFileError, InputError
from paragloss.formats.text import (
    MAX_DOCUMENT_BYTES,
    MAX_PACKED_FILE_BYTES,
    PathLike,
    parse_declared_language,
    read_bytes,
)
from paragloss.formats.unpacking import MAX_MEMBERS, limit_unpacked_bytes
from paragloss.formats.xml import get_element_text, parse_elements
from paragloss.types import Document

#: The part of Word, PowerPoint and Excel files that declares title and language.
CORE_PROPERTIES = "docProps/core.xml"
#: The first bytes of OLE containers: Office files until 2003, and encrypted ones of today.
OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAX_PART_BYTES = 2 * MAX_DOCUMENT_BYTES


class DocumentArchive:
    """The parts of a zip file by name; a part is unpacked when it is read."""

    def __init__(self, path: PathLike) -> None:
        """Open an archive.

        :raises InputError: if it is damaged or encrypted, or would unpack to far more than real documents do
        """
        data = read_bytes(path, limit=MAX_PACKED_FILE_BYTES)
        self.path = path
        self._zip = _open_zip(data, path)
        parts = self._zip.infolist()
        _check_declared_sizes(parts, len(data), path)
        self.names = dict.fromkeys(part.filename for part in parts)  # each once, in their order

    def read_part(self, name: str) -> bytes:
        """Return the bytes of a part, b"" if there is no such part.

        :param name: the part's path in the archive, such as `word/document.xml`
        :raises InputError: if the part is damaged, encrypted or too large
        """
        if name not in self.names:
            return b""
        try:
            with self._zip.open(name) as stream:
                data = stream.read(_MAX_PART_BYTES + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
            message = f"its part {name!r} can't be unpacked ({error}); save it anew"
            raise InputError(message, location=self.path) from error
        if len(data) > _MAX_PART_BYTES:
            message = f"its part {name!r} is larger than {_MAX_PART_BYTES:,} bytes; split it"
            raise InputError(message, location=self.path)
        return data

    def read_part_elements(self, name: str, tags: Collection[str]) -> Iterator[Element]:
        """Yield the outermost elements with these tags in a part; none if there is no such part."""
        data = self.read_part(name)
        return parse_elements(io.BytesIO(data), tags, self.path) if data else iter(())

    def make_document(
        self,
        id: str,
        text: str,
        if_empty: str,
        *,
        properties_part: str = CORE_PROPERTIES,
        title: str = "",
        fields: Mapping[str, str] = {},
        meta: Mapping[str, Any] = {},
    ) -> Document:
        """Build the document of this file, with the title and language that it declares.

        :param id: the id of the document; if it is "", the file's name
        :param text: its text
        :param if_empty: the message of the error that is raised if there is no text
        :param properties_part: the name of the part that declares title and language
        :param title: used where the file declares none
        :param fields: the fields of the document
        :param meta: its metadata
        """
        if not text:
            raise EmptyFileError(if_empty, location=self.path)
        declared_title, lang = self._read_properties(properties_part)
        return Document(id or Path(self.path).name, text, lang, declared_title or title, fields, meta)

    def _read_properties(self, name: str) -> tuple[str, str]:
        """Return the first title and the first language that a part declares."""
        declared: dict[str, str] = {}
        for element in self.read_part_elements(name, ("title", "language")):
            declared.setdefault(element.tag, get_element_text(element))
        return declared.get("title", ""), parse_declared_language(declared.get("language", ""))


def _open_zip(data: bytes, path: PathLike) -> zipfile.ZipFile:
    """Open the content of a zip file.

    :param data: the bytes of the file
    :param path: its path, which errors name
    :raises InputError: if the file is encrypted, damaged or of another format
    """
    if data.startswith(OLE_SIGNATURE):
        message = "is encrypted, or an Office file until 2003; save it anew without a password"
        raise InputError(message, location=path)
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        kind = Path(path).suffix.lower() or "a zip archive"
        reason = str(error) or type(error).__name__
        message = f"can't be read as {kind} ({reason}); it is damaged or of another format"
        raise InputError(message, location=path) from error


def _check_declared_sizes(parts: Sequence[zipfile.ZipInfo], file_size: int, path: PathLike) -> None:
    """Raise InputError if the parts would unpack to far more bytes, or are far more, than in real documents."""
    unpacked_size = sum(part.file_size for part in parts)
    if unpacked_size > limit_unpacked_bytes(file_size) or len(parts) > MAX_MEMBERS:
        sizes = f"{file_size:,} bytes that unpack to {unpacked_size:,} in {len(parts):,} parts"
        raise InputError(f"{sizes}; no real document does, so it is refused", location=path)
