"""Streams chosen elements out of XML of any size: no entities but XML's own, no external files, bounded memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from paragloss.errors import InputError
from paragloss.formats.text import BROKEN, WHOLE_LIMIT, PathLike, broken, open_bytes

_BLOCK = 1 << 18
_MAX_DEPTH = 100


def elements(path: PathLike, names: Collection[str], *, limit: int = WHOLE_LIMIT) -> Iterator[Element]:
    """Every outermost element of these names, without namespaces, as soon as it closes; the rest is let go."""
    handler = _Handler(frozenset(names), limit)
    with open_bytes(path) as stream:
        final = False
        while not final:
            try:
                block = stream.read(_BLOCK)
            except BROKEN as error:
                raise broken(path, error) from error
            final = not block
            try:
                handler.parser.Parse(block, final)
            except expat.ExpatError as error:
                reason = expat.errors.messages.get(error.code, str(error.code))
                raise InputError(
                    f"not XML ({reason}); the file is damaged or cut off, fetch it again",
                    place=f"{path}:{error.lineno}",
                ) from error
            except InputError as error:
                raise InputError(str(error), place=f"{path}:{handler.parser.CurrentLineNumber}") from None
            yield from handler.done
            handler.done.clear()


START, END, TEXT = "start", "end", "text"


def events(data: bytes, path: PathLike) -> Iterator[tuple[str, str, dict[str, str]]]:
    """(START, name, attributes), (END, name, {}) and (TEXT, text, {}) of an XML file in memory; names without
    their namespace, attributes with the prefix they were written with."""
    found: list[tuple[str, str, dict[str, str]]] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True
    names, nothing = _Local(), dict[str, str]()
    parser.StartElementHandler = lambda name, attributes: found.append((START, names[name], attributes))
    parser.EndElementHandler = lambda name: found.append((END, names[name], nothing))
    parser.CharacterDataHandler = lambda text: found.append((TEXT, text, nothing))
    parser.EntityDeclHandler = _entity
    for at in range(0, len(data) + 1, _BLOCK):
        try:
            parser.Parse(data[at : at + _BLOCK], at + _BLOCK > len(data))
        except (expat.ExpatError, InputError, UnicodeDecodeError, ValueError, LookupError) as error:
            raise InputError(
                f"its XML can't be read ({error}); the file is damaged, save it anew", place=path
            ) from None
        yield from found
        found.clear()


class _Local(dict[str, str]):
    """Names without their prefix."""

    def __missing__(self, name: str) -> str:
        self[name] = found = name.rpartition(":")[2]
        return found


def first_texts(data: bytes, names: Collection[str], path: PathLike) -> dict[str, str]:
    """What the first element of each name says, where there is one."""
    texts: dict[str, str] = {}
    open_, pieces = "", list[str]()
    for event, name, _ in events(data, path):
        if event == START and name in names and name not in texts:
            open_, pieces = name, []
        elif event == TEXT and open_:
            pieces.append(name)
        elif event == END and name == open_:
            texts[name], open_ = " ".join("".join(pieces).split()), ""
    return texts


def local(element: Element) -> str:
    """The element's name without its namespace."""
    return str(element.tag).rpartition("}")[2]


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
        self.grow(len(name) + sum(len(key) + len(value) for key, value in attributes.items()) + 64)
        self.builder.start(name, {key.rpartition("}")[2]: value for key, value in attributes.items()})

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
