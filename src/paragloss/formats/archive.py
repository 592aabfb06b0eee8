"""Zip archives that office files and books are: what they unpack to is checked before anything is unpacked."""

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
from paragloss.formats.xml import get_element_text, parse_elements
from paragloss.types import Document

#: Where Word, PowerPoint and Excel say what a file is called.
CORE = "docProps/core.xml"

_MAX_UNPACKED = 512 * 2**20
_MAX_RATIO = 200
_SMALL = 8 * 2**20  # below this any ratio will do: XML of repeated rows packs well
_MAX_PARTS = 20_000
#: One part of an archive is never larger than this once unpacked.
_MAX_PART = 2 * MAX_DOCUMENT_BYTES


class Archive:
    """The parts of a zip file by name; a part is unpacked when it is asked for."""

    def __init__(self, path: PathLike) -> None:
        self.path = path
        self.data = read_bytes(path, limit=4 * MAX_DOCUMENT_BYTES)
        kind = Path(path).suffix.lower() or "a zip archive"
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(self.data))
            parts = self._zip.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            reason = str(error) or type(error).__name__
            raise InputError(
                f"can't be read as {kind} ({reason}); it is damaged or of another format", place=path
            ) from error
        unpacked = sum(part.file_size for part in parts)
        if unpacked > _MAX_UNPACKED or len(parts) > _MAX_PARTS or unpacked > max(_SMALL, _MAX_RATIO * len(self.data)):
            raise InputError(
                f"{len(self.data):,} bytes that unpack to {unpacked:,} in {len(parts):,} parts; "
                "no real document does, so it is refused",
                place=path,
            )
        self.names = dict.fromkeys(part.filename for part in parts)

    def part(self, name: str) -> bytes:
        """A part's bytes; empty where there is no such part."""
        if name not in self.names:
            return b""
        try:
            with self._zip.open(name) as stream:
                data = stream.read(_MAX_PART + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
            raise InputError(f"its part {name!r} can't be unpacked ({error}); save it anew", place=self.path) from error
        if len(data) > _MAX_PART:
            raise InputError(f"its part {name!r} is larger than {_MAX_PART:,} bytes; split it", place=self.path)
        return data

    def elements(self, name: str, names: Collection[str]) -> Iterator[Element]:
        """The outermost elements of these names in a part; none where there is no such part."""
        data = self.part(name)
        return parse_elements(io.BytesIO(data), names, self.path) if data else iter(())

    def document(self, id: str, text: str, empty: str, *, about: str = CORE, title: str = "", **found: Any) -> Document:
        """Its text, under the title that the file declares or else this one; an error where there is no text."""
        if not text:
            raise EmptyFileError(empty, place=self.path)
        declared, lang = self.about(about)
        return Document(id or Path(self.path).name, text, lang, declared or title, **found)

    def about(self, name: str) -> tuple[str, str]:
        """The title and the language that a part declares, the first of each."""
        told: dict[str, str] = {}
        for element in self.elements(name, ("title", "language")):
            told.setdefault(element.tag, get_element_text(element))
        return told.get("title", ""), parse_declared_language(told.get("language", ""))
