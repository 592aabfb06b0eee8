"""A sorted list of words in one block of bytes, each written as what it does not share with the word before it.

Besides the term (a stem, as the analyzer makes it) every entry holds its most frequent spelling. Opening a list unpacks
nothing: a look-up is a binary search over the first words of groups, then a walk through one group.

An entry is: letters shared with the term before it (1 byte), further letters of the term (1 byte and the letters), and
the spelling. A spelling is one byte (1 bit for a capital, 3 for letters removed from the term's end, 4 for letters
added) and the letters added; 15 letters added mean that the complete spelling follows, its length first.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence, Set
from functools import cached_property

import numpy as np
import numpy.typing as npt

#: Words in a group; the first of each shares no letters.
GROUP_SIZE = 8
_CAPITAL_BIT = 0x80
_MAX_REMOVED = 7
_MAX_ADDED = 14
_ADDED_BITS = 15
_COMPLETE_SPELLING = 15
_MAX_BYTES = 255
#: From this many terms on, `contains_terms` unpacks each group once.
_MANY_TERMS = 10


class PackedWordList:
    """The words of one language, numbered in their order."""

    def __init__(self, data: npt.NDArray[np.uint8], starts: npt.NDArray[np.uint32], size: int) -> None:
        """Open a list.

        :param data: the packed words.
        :param starts: the offset of each group in `data`.
        :param size: the number of words.
        """
        self._data: memoryview = data.data
        self._starts = [*starts.tolist(), len(data)]  # Python integers: reading from an array takes ten times as long
        self._size = size
        self._first_words = _FirstWords(self._data, self._starts)
        self._number_by_term: dict[str, int] | None = None

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[str]:
        """Iterate over all terms in their order."""
        data, terms, term, offset = self._data.tobytes(), list[bytes](), b"", 0
        end = len(data)
        while offset < end:  # as `_unpack`, which takes twice as long
            term_end = offset + 2 + data[offset + 1]
            term = term[: data[offset]] + data[offset + 2 : term_end]
            terms.append(term)
            added = data[term_end] & _ADDED_BITS
            offset = term_end + 1 + added if added != _COMPLETE_SPELLING else term_end + 2 + data[term_end + 1]
        return iter(b"\n".join(terms).decode().split("\n") if terms else ())

    def load_terms(self) -> Set[str]:
        """Return all terms and keep them in memory, which makes `find` ten times as fast."""
        if self._number_by_term is None:
            self._number_by_term = dict(zip(self, range(self._size), strict=False))
        return self._number_by_term.keys()

    def join_words(self) -> str:
        """Return all terms and spellings that differ from them in one string, between spaces."""
        words = []
        for term, code, added in _unpack(self._data.tobytes()):
            words.append(term)
            if code & _ADDED_BITS == _COMPLETE_SPELLING:
                words.append(added)
            elif code & ~_CAPITAL_BIT:
                words.append(term[: len(term) - ((code >> 4) & _MAX_REMOVED)] + added)
        return f" {b' '.join(words).decode()} "

    def find(self, term: str) -> int:
        """Return the number of a term, -1 if the list does not have it.

        The words of its group are compared in order. `n_shared` counts the bytes that the term shares with the word
        before the current one, which sorts before the term. A word that shares fewer bytes with its predecessor sorts
        after the term, which is then missing; one that shares more sorts before it and is skipped.
        """
        if self._number_by_term is not None:
            return self._number_by_term.get(term, -1)
        key = term.encode()
        group = self._find_group(key)
        data = self._read_group(group) if self._size else b""
        offset, n_shared = 0, 0
        for position in range(GROUP_SIZE):
            if offset == len(data) or data[offset] < n_shared:
                return -1
            term_end = offset + 2 + data[offset + 1]
            if data[offset] == n_shared:
                suffix, key_suffix = data[offset + 2 : term_end], key[n_shared:]
                if suffix >= key_suffix:
                    return group * GROUP_SIZE + position if suffix == key_suffix else -1
                n_shared += _count_shared_bytes(suffix, key_suffix)
            offset = _skip_spelling(data, term_end)
        return -1

    def contains_terms(self, terms: Sequence[str]) -> list[bool]:
        """Say for each term whether the list has it; many terms are looked up group by group."""
        if len(terms) < _MANY_TERMS:
            return [self.find(term) >= 0 for term in terms]
        terms_by_group: dict[int, set[bytes]] = {-1: set()}  # -1: before the first group
        answers = []
        for term in terms:
            key = term.encode()
            group = bisect(self._all_first_words, key) - 1
            if group not in terms_by_group:
                terms_by_group[group] = {term_of_group for term_of_group, _, _ in _unpack(self._read_group(group))}
            answers.append(key in terms_by_group[group])
        return answers

    @cached_property
    def _all_first_words(self) -> list[bytes]:
        return [self._first_words[group] for group in range(len(self._starts) - 1)]

    def entry(self, number: int) -> tuple[str, str]:
        """Return (term, spelling) of a word."""
        group, position = divmod(number, GROUP_SIZE)
        data, offset, term = self._read_group(group), 0, b""
        for _ in range(position + 1):
            term_end = offset + 2 + data[offset + 1]
            term = term[: data[offset]] + data[offset + 2 : term_end]
            offset = _skip_spelling(data, term_end)
        return term.decode(), _unpack_spelling(term, data[term_end], _added_bytes(data, term_end, offset))

    def _find_group(self, key: bytes) -> int:
        """Return the last group whose first word is not greater than the key; group 0 if all are."""
        low, high, first_words = 0, len(self._starts) - 1, self._first_words
        while high - low > 1:
            middle = (low + high) // 2
            if first_words[middle] <= key:
                low = middle
            else:
                high = middle
        return low

    def _read_group(self, group: int) -> bytes:
        return self._data[self._starts[group] : self._starts[group + 1]].tobytes()


class _FirstWords(dict[int, bytes]):
    """The first word of each group, read when it is first needed: binary searches need the same few."""

    def __init__(self, data: memoryview, starts: Sequence[int]) -> None:
        self._data, self._starts = data, starts

    def __missing__(self, group: int) -> bytes:
        start = self._starts[group]
        self[group] = word = self._data[start + 2 : start + 2 + self._data[start + 1]].tobytes()
        return word


def _unpack(data: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    """Yield (term, first byte of the spelling, bytes added) of each word of one or more groups."""
    term, offset, end = b"", 0, len(data)
    while offset < end:
        term_end = offset + 2 + data[offset + 1]
        term = term[: data[offset]] + data[offset + 2 : term_end]
        offset = _skip_spelling(data, term_end)
        yield term, data[term_end], _added_bytes(data, term_end, offset)


def _skip_spelling(data: bytes, term_end: int) -> int:
    """Return the offset of the next word, given where a word's spelling begins."""
    added = data[term_end] & _ADDED_BITS
    return term_end + 1 + added if added != _COMPLETE_SPELLING else term_end + 2 + data[term_end + 1]


def _added_bytes(data: bytes, term_end: int, next_offset: int) -> bytes:
    """Return the letters of a spelling, which begins at `term_end`."""
    has_length = data[term_end] & _ADDED_BITS == _COMPLETE_SPELLING
    return data[term_end + 1 + has_length : next_offset]


def _unpack_spelling(term: bytes, code: int, added: bytes) -> str:
    """Return the spelling of a term, given the first byte of the packed spelling and the letters that it adds."""
    if code & _ADDED_BITS == _COMPLETE_SPELLING:
        return added.decode()
    removed = (code >> 4) & _MAX_REMOVED
    text = (term[: len(term) - removed] + added).decode()
    return text[:1].upper() + text[1:] if code & _CAPITAL_BIT else text


def pack_words(terms: Sequence[str], spellings: Sequence[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
    """Pack terms, sorted by their UTF-8 bytes, with a spelling of each.

    :return: the bytes of the list, and the offset of each group.
    """
    packed = bytearray()
    group_starts: list[int] = []
    previous = b""
    for number, (term, spelling) in enumerate(zip(terms, spellings, strict=True)):
        word = term.encode()
        assert previous < word, f"{term!r} is out of order"
        assert len(word) <= _MAX_BYTES, f"{term!r} is too long"
        is_first_of_group = number % GROUP_SIZE == 0
        if is_first_of_group:
            group_starts.append(len(packed))
        n_shared = 0 if is_first_of_group else _count_shared_bytes(previous, word)
        packed += bytes([n_shared, len(word) - n_shared])
        packed += word[n_shared:]
        packed += _pack_spelling(word, spelling)
        previous = word
    return np.frombuffer(bytes(packed), np.uint8), np.array(group_starts, np.uint32)


def _pack_spelling(term: bytes, spelling: str) -> bytes:
    """Pack a spelling as what it removes from the end of the term and adds, or completely if that is too much."""
    initial = spelling[:1]
    has_capital = initial != initial.lower() and initial.lower().upper() == initial
    lower = (initial.lower() + spelling[1:] if has_capital else spelling).encode()
    n_shared = _count_shared_bytes(term, lower)
    n_removed, added = len(term) - n_shared, lower[n_shared:]
    if n_removed <= _MAX_REMOVED and len(added) <= _MAX_ADDED:
        return bytes([_CAPITAL_BIT * has_capital | n_removed << 4 | len(added)]) + added
    complete = spelling.encode()
    if len(complete) > _MAX_BYTES:
        complete = term
    return bytes([_COMPLETE_SPELLING, len(complete)]) + complete


def _count_shared_bytes(first: bytes, second: bytes) -> int:
    """Return how many bytes two words have in common at their beginning."""
    length = min(len(first), len(second))
    for position in range(length):
        if first[position] != second[position]:
            return position
    return length
