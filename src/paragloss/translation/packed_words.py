"""A sorted list of words in one block of bytes, each written as what it does not share with the word before it.

Besides the term (a stem, as the analyzer makes it) every entry says how it is most often spelled. Nothing is unpacked
when a list is opened: a look-up is a binary search over the first words of groups, then a walk through one group.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence, Set
from functools import cached_property

import numpy as np
import numpy.typing as npt

#: Words in a group; the first of each is written whole.
GROUP = 8
#: A spelling is one byte and a few letters: 1 bit for a capital, 3 for letters cut off the term, 4 for letters added.
_CAPITAL, _MOST_CUT, _MOST_ADDED = 0x80, 7, 14
_WHOLE = 15  # in place of a number of letters added: the whole spelling follows, its length first
_LONGEST = 255
#: So many words are looked up group by group.
_MANY = 10


class PackedWordList:
    """The words of one language, numbered in their order."""

    def __init__(self, data: npt.NDArray[np.uint8], starts: npt.NDArray[np.uint32], size: int) -> None:
        self._data: memoryview = data.data
        self._starts = [*starts.tolist(), len(data)]  # Python's numbers: a look at an array costs ten times as much
        self._size = size
        self._firsts = _Firsts(self._data, self._starts)
        self._known: dict[str, int] | None = None

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[str]:
        """All terms, in their order."""
        data, terms, term, here = self._data.tobytes(), list[bytes](), b"", 0
        end = len(data)
        while here < end:  # as `_unpacked`, which takes twice as long
            stop = here + 2 + data[here + 1]
            term = term[: data[here]] + data[here + 2 : stop]
            terms.append(term)
            added = data[stop] & 15
            here = stop + 1 + added if added != _WHOLE else stop + 2 + data[stop + 1]
        return iter(b"\n".join(terms).decode().split("\n") if terms else ())

    def known(self) -> Set[str]:
        """All terms, which are kept in memory from now on: `find` is ten times as quick."""
        if self._known is None:
            self._known = dict(zip(self, range(self._size), strict=False))
        return self._known.keys()

    def written(self) -> str:
        """All terms and other spellings between spaces."""
        found = []
        for term, code, added in _unpacked(self._data.tobytes()):
            found.append(term)
            if code & 15 == _WHOLE:
                found.append(added)
            elif code & ~_CAPITAL:
                found.append(term[: len(term) - ((code >> 4) & _MOST_CUT)] + added)
        return f" {b' '.join(found).decode()} "

    def find(self, term: str) -> int:
        """Its number, or -1."""
        if self._known is not None:
            return self._known.get(term, -1)
        wanted = term.encode()
        group = self._group_of(wanted)
        data, here, alike = self._bytes(group) if self._size else b"", 0, 0
        for place in range(GROUP):  # `alike`: how many bytes the word before, which is smaller, begins with as this one
            if here == len(data) or data[here] < alike:
                return -1
            stop = here + 2 + data[here + 1]
            if data[here] == alike:
                rest, left = data[here + 2 : stop], wanted[alike:]
                if rest >= left:
                    return group * GROUP + place if rest == left else -1
                alike += _shared(rest, left)
            here = _after(data, stop)
        return -1

    def have(self, terms: Sequence[str]) -> list[bool]:
        """Of each term whether it is here; many are looked up group by group."""
        if len(terms) < _MANY:
            return [self.find(term) >= 0 for term in terms]
        groups: dict[int, set[bytes]] = {}
        found = []
        for wanted in (term.encode() for term in terms):
            group = bisect(self._every_first, wanted) - 1
            if group >= 0 and group not in groups:
                groups[group] = {word for word, _, _ in _unpacked(self._bytes(group))}
            found.append(group >= 0 and wanted in groups[group])
        return found

    @cached_property
    def _every_first(self) -> list[bytes]:
        return [*map(self._firsts.__getitem__, range(len(self._starts) - 1))]

    def entry(self, number: int) -> tuple[str, str]:
        """A word as term and as spelled."""
        group, place = divmod(number, GROUP)
        data, here, term = self._bytes(group), 0, b""
        for _ in range(place + 1):
            stop = here + 2 + data[here + 1]
            term = term[: data[here]] + data[here + 2 : stop]
            added = data[stop] & 15
            here = stop + 1 + added if added != _WHOLE else stop + 2 + data[stop + 1]
        return term.decode(), _spelled(term, data[stop], data[stop + 1 + (added == _WHOLE) : here])

    def _group_of(self, wanted: bytes) -> int:
        """The last group whose first word is not beyond; the first where all are."""
        low, high, firsts = 0, len(self._starts) - 1, self._firsts
        while high - low > 1:
            middle = (low + high) // 2
            if firsts[middle] <= wanted:
                low = middle
            else:
                high = middle
        return low

    def _bytes(self, group: int) -> bytes:
        return self._data[self._starts[group] : self._starts[group + 1]].tobytes()


class _Firsts(dict[int, bytes]):
    """The first words of groups, read when they are first asked for: looking up a word asks for the same few."""

    def __init__(self, data: memoryview, starts: Sequence[int]) -> None:
        self._data, self._starts = data, starts

    def __missing__(self, group: int) -> bytes:
        start = self._starts[group]
        self[group] = first = self._data[start + 2 : start + 2 + self._data[start + 1]].tobytes()
        return first


def _unpacked(data: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    """The words of one or more groups: the term, and the byte and letters that say how it is spelled."""
    term, here, end = b"", 0, len(data)
    while here < end:
        stop = here + 2 + data[here + 1]
        term = term[: data[here]] + data[here + 2 : stop]
        here = _after(data, stop)
        yield term, data[stop], data[stop + 1 + (data[stop] & 15 == _WHOLE) : here]


def _after(data: bytes, stop: int) -> int:
    """Where the next word begins, given where a word's letters end and its spelling begins."""
    added = data[stop] & 15
    return stop + 1 + added if added != _WHOLE else stop + 2 + data[stop + 1]


def _spelled(term: bytes, code: int, added: bytes) -> str:
    if code & 15 == _WHOLE:
        return added.decode()
    cut = (code >> 4) & _MOST_CUT
    text = (term[: len(term) - cut] + added).decode()
    return text[:1].upper() + text[1:] if code & _CAPITAL else text


def pack_words(terms: Sequence[str], spellings: Sequence[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
    """The bytes of a list sorted by its terms' UTF-8, and where each group starts."""
    out, starts, last = bytearray(), [], b""
    for number, (term, spelling) in enumerate(zip(terms, spellings, strict=True)):
        word = term.encode()
        assert last < word, f"{term!r} is out of order"
        assert len(word) <= _LONGEST, f"{term!r} is too long"
        if number % GROUP == 0:
            starts.append(len(out))
        shared = _shared(last, word) if number % GROUP else 0
        out += bytes([shared, len(word) - shared]) + word[shared:] + _spelling(word, spelling)
        last = word
    return np.frombuffer(bytes(out), np.uint8), np.array(starts, np.uint32)


def _spelling(term: bytes, spelling: str) -> bytes:
    capital = spelling[:1] != spelling[:1].lower() and spelling[:1].lower().upper() == spelling[:1]
    plain = (spelling[:1].lower() + spelling[1:] if capital else spelling).encode()
    shared = _shared(term, plain)
    cut, added = len(term) - shared, plain[shared:]
    if cut <= _MOST_CUT and len(added) <= _MOST_ADDED:
        return bytes([_CAPITAL * capital | cut << 4 | len(added)]) + added
    whole = spelling.encode()
    if len(whole) > _LONGEST:
        whole = term
    return bytes([_WHOLE, len(whole)]) + whole


def _shared(one: bytes, other: bytes) -> int:
    """How many bytes two words begin with alike."""
    most = min(len(one), len(other))
    for place in range(most):
        if one[place] != other[place]:
            return place
    return most
