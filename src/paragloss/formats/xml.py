"""Stream chosen elements out of XML of any size, without entities, external files and unbounded memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import IO, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from paragloss.errors import InputError
from paragloss.formats.text import MAX_DOCUMENT_BYTES, PathLike, open_bytes

_BLOCK = 1 << 18
_MAX_DEPTH = 100
#: An element counts as so many characters besides its names and texts.
_CHARACTERS_PER_ELEMENT = 64


def read_elements(path: PathLike, names: Collection[str]) -> Iterator[Element]:
    """Yield every outermost element of these names, without namespaces, as soon as it is closed."""
    with open_bytes(path) as stream:
        yield from parse_elements(stream, names, path)


def parse_elements(stream: IO[bytes], names: Collection[str], path: PathLike) -> Iterator[Element]:
    """Yield the outermost elements of these names in a stream of XML, without namespaces, as soon as each is closed.

    :param stream: the bytes of a file
    :param names: names of elements, without namespaces
    :param path: the file, which errors name
    :raises InputError: if the file is damaged, declares an entity, or has an element that is too large or too deep
    """
    handler = _ElementBuilder(frozenset(names))
    is_last_block = False
    while not is_last_block:
        block = stream.read(_BLOCK)
        is_last_block = not block
        try:
            handler.parser.Parse(block, is_last_block)
        except expat.ExpatError as error:
            reason = expat.errors.messages.get(error.code, str(error.code))
            message = f"not XML ({reason}); the file is damaged or cut off, fetch it again"
            raise InputError(message, location=f"{path}:{error.lineno}") from error
        except (InputError, ValueError, LookupError) as error:
            raise InputError(str(error), location=f"{path}:{handler.parser.CurrentLineNumber}") from None
        yield from handler.complete_elements
        handler.complete_elements.clear()


def get_element_text(element: Element) -> str:
    """Return all the text of an element in one line."""
    return " ".join("".join(element.itertext()).split())


class _ElementBuilder:
    """Handles the events of the parser and builds trees of the chosen elements only."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names
        self.complete_elements: list[Element] = []
        self.depth, self.size = 0, 0
        self.builder = TreeBuilder()
        self.parser = parser = expat.ParserCreate(namespace_separator="}")
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.data
        parser.EntityDeclHandler = _refuse_entity

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle an opening tag: begin an element if it is a chosen one or inside one, and pass over others.

        :param name: its name with its namespace, as expat gives it: `NAMESPACE}NAME`
        :param attributes: its attributes, named likewise
        :raises InputError: if elements are nested too deep, or the outermost one is too large
        """
        local_name = _remove_namespace(name)
        is_outermost = not self.depth
        if is_outermost and local_name not in self.names:
            return
        if is_outermost:
            self.builder = TreeBuilder()
            self.size = 0
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise InputError(f"elements are nested more than {_MAX_DEPTH} deep; no dictionary or dump does that")
        local_attributes = {_remove_namespace(key): value for key, value in attributes.items()}
        attribute_characters = sum(len(key) + len(value) for key, value in local_attributes.items())
        self.count_characters(_CHARACTERS_PER_ELEMENT + len(local_name) + attribute_characters)
        self.builder.start(local_name, local_attributes)

    def end(self, name: str) -> None:
        """Close an element; an outermost one is complete."""
        if not self.depth:
            return
        self.builder.end(_remove_namespace(name))
        self.depth -= 1
        if not self.depth:
            self.complete_elements.append(self.builder.close())

    def data(self, text: str) -> None:
        """Add text to the open element."""
        if self.depth:
            self.count_characters(len(text))
            self.builder.data(text)

    def count_characters(self, n_characters: int) -> None:
        """Count characters against the limit of one element."""
        self.size += n_characters
        if self.size > MAX_DOCUMENT_BYTES:
            raise InputError(f"one element is larger than {MAX_DOCUMENT_BYTES:,} characters; split the file")


def _remove_namespace(name: str) -> str:
    return name.rpartition("}")[2]


def _refuse_entity(name: str, *_: object) -> NoReturn:
    raise InputError(f"the file declares an entity, {name!r}, which is not allowed; write the text out instead")
