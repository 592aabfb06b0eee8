"""The language of pipelines: text to a small tree and back. Knows its signs, nothing of what the names mean.

ranked  = fused { ">" part }                         rerank what is on the left
fused   = term { "+" term }                          fuse rankings
term    = [ number "*" ] chain                       how far it is trusted
chain   = step { "|" step }                          the query flows through, left to right
step    = part | "(" ranked ")"
part    = name [ ":" option { "," option } ] [ "(" ranked ")" ]
option  = name [ "=" name ]
name    = letters, digits and anything that is no sign | "in quotes, "" for a quote"
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple, TypeAlias

from paragloss.errors import LineSyntaxError

_SIGNS = ">+*|:,=()"
_TOKEN = re.compile(r'\s*(?:([>+*|:,=()])|"((?:[^"]|"")*)"|([^\s>+*|:,=()"]+))')
_NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+")
#: Parentheses within parentheses; more is no pipeline a person wrote.
_DEEPEST = 20


@dataclass(frozen=True)
class Option:
    """`name=value`, or a word by itself. `at` is where it stands."""

    name: str
    value: str | None = None
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Part:
    """Something with a name, its options, and what it holds in parentheses."""

    name: str
    options: tuple[Option, ...] = ()
    inner: Node | None = None
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Chain:
    """Two steps or more that the query flows through."""

    steps: tuple[Node, ...]


@dataclass(frozen=True)
class Term:
    """One ranking of several, and how far it is trusted; None says nothing of it."""

    weight: float | None
    search: Node


@dataclass(frozen=True)
class Fused:
    """Several rankings made one; or one, with a weight."""

    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Ranked:
    """What is found, and the rerankers that look at it again, in turn."""

    search: Node
    rerankers: tuple[Part, ...]


Node: TypeAlias = Part | Chain | Fused | Ranked


def parse(text: str) -> Node:
    """The tree of a pipeline; an error points at what could not be read."""
    return _Parser(text).whole()


def place(node: Node) -> int:
    """Where a node begins in the text it was read from."""
    if isinstance(node, Chain):
        return place(node.steps[0])
    if isinstance(node, Fused):
        return place(node.terms[0].search)
    return place(node.search) if isinstance(node, Ranked) else node.at


class _Token(NamedTuple):
    at: int
    sign: str  # "" for a word, "end" behind the last
    word: str
    quoted: bool = False


class _Parser:
    """One function to a rule; each takes what is its own and leaves the rest."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = 0
        self._depth = 0

    def whole(self) -> Node:
        node = self._ranked()
        if self._here.sign != "end":
            raise self._wrong("nothing, or one of + | >")
        return node

    def _ranked(self) -> Node:
        node = self._fused()
        rerankers = []
        while self._take(">"):
            rerankers.append(self._part("a reranker's name"))
        return Ranked(node, tuple(rerankers)) if rerankers else node

    def _fused(self) -> Node:
        terms = [self._term()]
        while self._take("+"):
            terms.append(self._term())
        return terms[0].search if len(terms) == 1 and terms[0].weight is None else Fused(tuple(terms))

    def _term(self) -> Term:
        number, star = self._here, self._tokens[min(self._next + 1, len(self._tokens) - 1)]
        if star.sign != "*":
            return Term(None, self._chain())
        if number.sign or number.quoted or not _NUMBER.fullmatch(number.word):
            raise self._wrong("a number before *, such as 0.3*cr5")
        self._next += 2
        return Term(float(number.word), self._chain())

    def _chain(self) -> Node:
        steps = [self._step()]
        while self._take("|"):
            steps.append(self._step())
        return steps[0] if len(steps) == 1 else Chain(tuple(steps))

    def _step(self) -> Node:
        return self._group() if self._here.sign == "(" else self._part("the name of a part, or (")

    def _part(self, expected: str) -> Part:
        name = self._word(expected)
        options = []
        if self._take(":"):
            options.append(self._option())
            while self._take(","):
                options.append(self._option())
        return Part(name.word, tuple(options), self._group() if self._here.sign == "(" else None, name.at)

    def _option(self) -> Option:
        name = self._word("an option")
        return Option(name.word, self._word("a value").word if self._take("=") else None, name.at)

    def _group(self) -> Node:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._wrong(f"at most {_DEEPEST} parentheses inside each other")
        self._next += 1
        inner = self._ranked()
        if not self._take(")"):
            raise self._wrong(") or one of + | >")
        self._depth -= 1
        return inner

    @property
    def _here(self) -> _Token:
        return self._tokens[self._next]

    def _take(self, sign: str) -> bool:
        there = self._here.sign == sign
        self._next += there
        return there

    def _word(self, expected: str) -> _Token:
        token = self._here
        if token.sign:
            raise self._wrong(expected)
        self._next += 1
        return token

    def _wrong(self, expected: str) -> LineSyntaxError:
        token = self._here
        found = "the pipeline ends" if token.sign == "end" else f"found {token.sign or token.word!r}"
        return LineSyntaxError(f"{found} where {expected} was expected", self._text, token.at)


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    end = len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:  # only a quote can be no token
            raise LineSyntaxError("a quote that never ends", text, text.index('"', at))
        sign, quoted, word = found.groups()
        start = found.end() - len(found[0].lstrip())
        yield _Token(start, sign or "", word or (quoted or "").replace('""', '"'), quoted is not None)
        at = found.end()
    yield _Token(end, "end", "")


def written(node: Node) -> str:
    """The shortest text that is read as this tree."""
    if isinstance(node, Ranked):
        return ">".join([_inside(node.search, Ranked), *map(_written_part, node.rerankers)])
    if isinstance(node, Fused):
        return "+".join(
            ("" if term.weight is None else f"{Decimal(repr(term.weight)):f}*") + _inside(term.search, Ranked, Fused)
            for term in node.terms
        )
    if isinstance(node, Chain):
        return "|".join(_inside(step, Ranked, Fused, Chain) for step in node.steps)
    return _written_part(node)


def _inside(node: Node, *kinds: type[Node]) -> str:
    return f"({written(node)})" if isinstance(node, kinds) else written(node)


def _written_part(part: Part) -> str:
    options = ",".join(_name(o.name) + ("" if o.value is None else f"={_name(o.value)}") for o in part.options)
    inner = "" if part.inner is None else f"({written(part.inner)})"
    return _name(part.name) + (f":{options}" if options else "") + inner


def _name(text: str) -> str:
    if text and not any(char in _SIGNS or char == '"' or char.isspace() for char in text):
        return text
    return '"' + text.replace('"', '""') + '"'
