"""Streams chosen elements out of XML of any size: no entities but XML's own, no external files, bounded memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import IO, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from paragloss.errors import InputError
from paragloss.formats.text import MAX_DOCUMENT_BYTES, PathLike, open_bytes

_BLOCK = 1 << 18
_MAX_DEPTH = 100


def read_elements(path: PathLike, names: Collection[str], *, limit: int = MAX_DOCUMENT_BYTES) -> Iterator[Element]:
    """Every outermost element of these names, without namespaces, as soon as it closes; the rest is let go."""
    with open_bytes(path) as stream:
        yield from parse_elements(stream, names, path, limit=limit)


def parse_elements(
    stream: IO[bytes], names: Collection[str], path: PathLike, *, limit: int = MAX_DOCUMENT_BYTES
) -> Iterator[Element]:
    """The same of a stream; `path` is where errors are said to be."""
    handler = _Handler(frozenset(names), limit)
    final = False
    while not final:
        block = stream.read(_BLOCK)
        final = not block
        try:
            handler.parser.Parse(block, final)
        except expat.ExpatError as error:
            reason = expat.errors.messages.get(error.code, str(error.code))
            raise InputError(
                f"not XML ({reason}); the file is damaged or cut off, fetch it again", place=f"{path}:{error.lineno}"
            ) from error
        except (InputError, ValueError, LookupError) as error:
            raise InputError(str(error), place=f"{path}:{handler.parser.CurrentLineNumber}") from None
        yield from handler.done
        handler.done.clear()


def get_element_text(element: Element) -> str:
    """All it says, in one line."""
    return " ".join("".join(element.itertext()).split())


class _Handler:
    """Builds a tree only inside the elements asked for."""

    def __init__(self, names: frozenset[str], limit: int) -> None:
        self.names, self.limit = names, limit
        self.done: list[Element] = []
        self.depth, self.size = 0, 0
        self.builder = TreeBuilder()
        self.parser = parser = expat.ParserCreate(namespace_separator="}")
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.data
        parser.EntityDeclHandler = _entity

    def start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition("}")[2]
        if not self.depth:
            if name not in self.names:
                return
            self.builder, self.size = TreeBuilder(), 0
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise InputError(f"elements are nested more than {_MAX_DEPTH} deep; no dictionary or dump does that")
        if attributes:
            attributes = {key.rpartition("}")[2]: value for key, value in attributes.items()}
        self.grow(64 + len(name) + sum(map(len, attributes)) + sum(map(len, attributes.values())))
        self.builder.start(name, attributes)

    def end(self, name: str) -> None:
        if not self.depth:
            return
        self.builder.end(name.rpartition("}")[2])
        self.depth -= 1
        if not self.depth:
            self.done.append(self.builder.close())

    def data(self, text: str) -> None:
        if self.depth:
            self.grow(len(text))
            self.builder.data(text)

    def grow(self, size: int) -> None:
        self.size += size
        if self.size > self.limit:
            raise InputError(f"one element is larger than {self.limit:,} characters; split the file")


def _entity(name: str, *_: object) -> NoReturn:
    raise InputError(f"the file declares an entity, {name!r}, which is not allowed; write the text out instead")
