"""Zip files that Office documents and books consist of; sizes are checked before anything is unpacked."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from paragloss.errors import EmptyFileError, InputError
from paragloss.formats.text import MAX_DOCUMENT_BYTES, PathLike, parse_declared_language, read_bytes
from paragloss.formats.unpacking import ALWAYS_ALLOWED_BYTES, MAX_MEMBERS, MAX_RATIO, MAX_UNPACKED_BYTES
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
        self.path = path
        data = read_bytes(path, limit=4 * MAX_DOCUMENT_BYTES)
        kind = Path(path).suffix.lower() or "a zip archive"
        if data.startswith(OLE_SIGNATURE):
            message = "is encrypted, or an Office file until 2003; save it anew without a password"
            raise InputError(message, location=path)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            parts = self._zip.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            reason = str(error) or type(error).__name__
            message = f"can't be read as {kind} ({reason}); it is damaged or of another format"
            raise InputError(message, location=path) from error
        unpacked_bytes = sum(part.file_size for part in parts)
        max_unpacked_bytes = min(MAX_UNPACKED_BYTES, max(ALWAYS_ALLOWED_BYTES, MAX_RATIO * len(data)))
        if unpacked_bytes > max_unpacked_bytes or len(parts) > MAX_MEMBERS:
            sizes = f"{len(data):,} bytes that unpack to {unpacked_bytes:,} in {len(parts):,} parts"
            raise InputError(f"{sizes}; no real document does, so it is refused", location=path)
        self.names = dict.fromkeys(part.filename for part in parts)

    def read_part(self, name: str) -> bytes:
        """Return the bytes of a part; none if there is no such part.

        :raises InputError: if the part is damaged, encrypted or too large
        """
        if name not in self.names:
            return b""
        try:
            with self._zip.open(name) as stream:
                data = stream.read(_MAX_PART_BYTES + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
            raise InputError(
                f"its part {name!r} can't be unpacked ({error}); save it anew", location=self.path
            ) from error
        if len(data) > _MAX_PART_BYTES:
            raise InputError(
                f"its part {name!r} is larger than {_MAX_PART_BYTES:,} bytes; split it", location=self.path
            )
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
        properties: str = CORE_PROPERTIES,
        title: str = "",
        **attributes: Any,
    ) -> Document:
        """Build the document of this file, with the title and language that it declares.

        :param if_empty: the message of the error that is raised if there is no text
        :param properties: the part that declares title and language
        :param title: used where the file declares none
        """
        if not text:
            raise EmptyFileError(if_empty, location=self.path)
        declared_title, lang = self._read_properties(properties)
        return Document(id or Path(self.path).name, text, lang, declared_title or title, **attributes)

    def _read_properties(self, name: str) -> tuple[str, str]:
        """Return the first title and the first language that a part declares."""
        declared: dict[str, str] = {}
        for element in self.read_part_elements(name, ("title", "language")):
            declared.setdefault(element.tag, get_element_text(element))
        return declared.get("title", ""), parse_declared_language(declared.get("language", ""))
