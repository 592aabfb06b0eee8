"""The grammar of pipelines: parse text into a small tree. Knows nothing of what the names mean.

ranked  = fused { ">" part }                         rerank the results
fused   = term { "+" term }                          fuse rankings
term    = [ number "*" ] chain                       a ranking with its weight
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
from typing import NamedTuple, TypeAlias

from paragloss.errors import LineSyntaxError

_TOKEN = re.compile(r'\s*(?P<token>(?P<sign>[>+*|:,=()])|"(?P<quoted>(?:[^"]|"")*)"|(?P<word>[^\s>+*|:,=()"]+))')
_NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+")
#: Parentheses inside parentheses; nobody writes a pipeline with more.
MAX_DEPTH = 20


@dataclass(frozen=True)
class PartOption:
    """`name=value`, or a word by itself. `at` is its offset in the text."""

    name: str
    value: str | None = None
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class PipelinePart:
    """A name, its options, and the pipeline in parentheses after it."""

    name: str
    options: tuple[PartOption, ...] = ()
    inner: Node | None = None
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Chain:
    """Two steps or more that the query flows through."""

    steps: tuple[Node, ...]


@dataclass(frozen=True)
class Term:
    """One of several rankings, and its weight; None if none is written."""

    weight: float | None
    search: Node


@dataclass(frozen=True)
class FusedTerms:
    """Several rankings that are fused; or one with a weight."""

    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Ranked:
    """A search, and the rerankers that score its results again, one after the other."""

    search: Node
    rerankers: tuple[PipelinePart, ...]


Node: TypeAlias = PipelinePart | Chain | FusedTerms | Ranked


def parse(text: str) -> Node:
    """Return the tree of a pipeline; a LineSyntaxError points at what is wrong."""
    return _Parser(text).parse()


def find_start(node: Node) -> int:
    """Return the offset of a node in the text that it was parsed from."""
    if isinstance(node, Chain):
        return find_start(node.steps[0])
    if isinstance(node, FusedTerms):
        return find_start(node.terms[0].search)
    return find_start(node.search) if isinstance(node, Ranked) else node.at


class _Token(NamedTuple):
    at: int
    sign: str  # "" for a word, "end" behind the last
    word: str
    quoted: bool = False


class _Parser:
    """One method for each rule of the grammar; each consumes the tokens of its rule."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokenize(text))
        self._position = 0
        self._depth = 0

    def parse(self) -> Node:
        node = self._parse_ranked()
        if self._token.sign != "end":
            raise self._make_error("nothing, or one of + | >")
        return node

    def _parse_ranked(self) -> Node:
        node = self._parse_fused()
        rerankers = []
        while self._skip(">"):
            rerankers.append(self._parse_part("a reranker's name"))
        return Ranked(node, tuple(rerankers)) if rerankers else node

    def _parse_fused(self) -> Node:
        terms = [self._parse_term()]
        while self._skip("+"):
            terms.append(self._parse_term())
        return terms[0].search if len(terms) == 1 and terms[0].weight is None else FusedTerms(tuple(terms))

    def _parse_term(self) -> Term:
        number = self._token
        has_weight = number.sign != "end" and self._tokens[self._position + 1].sign == "*"
        if not has_weight:
            return Term(None, self._parse_chain())
        if number.sign or number.quoted or not _NUMBER.fullmatch(number.word):
            raise self._make_error("a number before *, such as 0.3*cr5")
        self._position += 2
        return Term(float(number.word), self._parse_chain())

    def _parse_chain(self) -> Node:
        steps = [self._parse_step()]
        while self._skip("|"):
            steps.append(self._parse_step())
        return steps[0] if len(steps) == 1 else Chain(tuple(steps))

    def _parse_step(self) -> Node:
        return self._parse_group() if self._token.sign == "(" else self._parse_part("the name of a part, or (")

    def _parse_part(self, expected: str) -> PipelinePart:
        name = self._read_word(expected)
        options = []
        if self._skip(":"):
            options.append(self._parse_option())
            while self._skip(","):
                options.append(self._parse_option())
        inner = self._parse_group() if self._token.sign == "(" else None
        return PipelinePart(name.word, tuple(options), inner, name.at)

    def _parse_option(self) -> PartOption:
        name = self._read_word("an option")
        value = self._read_word("a value").word if self._skip("=") else None
        return PartOption(name.word, value, name.at)

    def _parse_group(self) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._make_error(f"at most {MAX_DEPTH} parentheses inside each other")
        self._position += 1
        inner = self._parse_ranked()
        if not self._skip(")"):
            raise self._make_error(") or one of + | >")
        self._depth -= 1
        return inner

    @property
    def _token(self) -> _Token:
        return self._tokens[self._position]

    def _skip(self, sign: str) -> bool:
        """Consume a sign if it is the next token; return whether it was."""
        is_next = self._token.sign == sign
        self._position += is_next
        return is_next

    def _read_word(self, expected: str) -> _Token:
        token = self._token
        if token.sign:
            raise self._make_error(expected)
        self._position += 1
        return token

    def _make_error(self, expected: str) -> LineSyntaxError:
        token = self._token
        problem = "the pipeline ends" if token.sign == "end" else f"found {token.sign or token.word!r}"
        return LineSyntaxError(f"{problem} where {expected} was expected", self._text, token.at)


def _tokenize(text: str) -> Iterator[_Token]:
    """Yield the signs, words and quoted words of a pipeline, and an "end" token.

    :raises LineSyntaxError: for a quote that is not closed.
    """
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:  # every character but a quote begins a token
            raise LineSyntaxError("a quote that never ends", text, text.index('"', position))
        start = match.start("token")
        if match["sign"]:
            yield _Token(start, match["sign"], "")
        elif match["quoted"] is not None:
            yield _Token(start, "", match["quoted"].replace('""', '"'), quoted=True)
        else:
            yield _Token(start, "", match["word"])
        position = match.end()
    yield _Token(end, "end", "")
