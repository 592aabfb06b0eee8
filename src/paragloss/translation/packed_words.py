"""A sorted list of words in one block of bytes, each written as what it does not share with the word before it.

Besides the term (a stem, as the analyzer makes it) every entry holds its most frequent spelling. Opening a list unpacks
nothing: a look-up is a binary search over the first words of groups, then a walk through one group.

An entry is: letters shared with the term before it (1 byte), further letters of the term (1 byte and the letters), and
the spelling. A spelling is one byte (1 bit for a capital, 3 for letters removed from the term's end, 4 for letters
added) and the letters added; 15 letters added mean that the complete spelling follows, its length first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence, Set
from functools import cache
from itertools import islice

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
        # Binary searches need the same few first words again and again.
        self._read_first_word = cache(self._unpack_first_word)
        self._number_by_term: dict[str, int] | None = None

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[str]:
        """Iterate over all terms in their order."""
        return (term.decode() for term, _, _ in _unpack(self._data.tobytes()))

    def load_terms(self) -> Set[str]:
        """Return all terms and keep them in memory, which makes `find` ten times as fast."""
        if self._number_by_term is None:
            self._number_by_term = {term: number for number, term in enumerate(self)}
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
        """Return the number of a term, -1 if the list does not have it."""
        if self._number_by_term is not None:
            return self._number_by_term.get(term, -1)
        if not self._size:
            return -1
        key = term.encode()
        group = self._find_group(key)
        for position, (word, _, _) in enumerate(_unpack(self._read_group(group))):
            if word == key:
                return group * GROUP_SIZE + position
            if word > key:
                return -1
        return -1

    def entry(self, number: int) -> tuple[str, str]:
        """Return (term, spelling) of the word with a number."""
        group, position = divmod(number, GROUP_SIZE)
        words = list(islice(_unpack(self._read_group(group)), position + 1))
        term, code, added = words[position]
        return term.decode(), _unpack_spelling(term, code, added)

    def _find_group(self, key: bytes) -> int:
        """Return the last group whose first word is not greater than the key; group 0 if all are."""
        groups = range(len(self._starts) - 1)
        return max(bisect_right(groups, key, key=self._read_first_word) - 1, 0)

    def _unpack_first_word(self, group: int) -> bytes:
        """Return the first word of a group; cached as `_read_first_word`."""
        start = self._starts[group]
        return self._data[start + 2 : start + 2 + self._data[start + 1]].tobytes()

    def _read_group(self, group: int) -> bytes:
        return self._data[self._starts[group] : self._starts[group + 1]].tobytes()


def _unpack(data: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    """Yield (term, first byte of the spelling, bytes added) of each word of one or more groups.

    A word is packed as: the number of bytes that its term shares with the previous one, the number of further bytes,
    these bytes; then the first byte of the spelling, the number of bytes added if that byte does not tell it, and
    these bytes.
    """
    term = b""
    offset = 0
    while offset < len(data):
        n_shared, n_further = data[offset], data[offset + 1]
        term_end = offset + 2 + n_further
        term = term[:n_shared] + data[offset + 2 : term_end]
        code = data[term_end]
        added_start, n_added = term_end + 1, code & _ADDED_BITS
        if n_added == _COMPLETE_SPELLING:
            added_start, n_added = term_end + 2, data[term_end + 1]
        offset = added_start + n_added
        yield term, code, data[added_start:offset]


def _unpack_spelling(term: bytes, code: int, added: bytes) -> str:
    """Return the spelling of a term, given the first byte of the packed spelling and the letters that it adds."""
    if code & _ADDED_BITS == _COMPLETE_SPELLING:
        return added.decode()
    removed = (code >> 4) & _MAX_REMOVED
    text = (term[: len(term) - removed] + added).decode()
    return text[:1].upper() + text[1:] if code & _CAPITAL_BIT else text


def pack_words(terms: Sequence[str], spellings: Sequence[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
    """Pack words for a PackedWordList; the module describes the format.

    :param terms: different terms, sorted by their UTF-8 bytes.
    :param spellings: the most frequent spelling of each term.
    :return: the bytes of the list, and the offset of each group in them.
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
        suffix = word[n_shared:]
        packed += bytes([n_shared, len(suffix)]) + suffix + _pack_spelling(word, spelling)
        previous = word
    return np.frombuffer(bytes(packed), np.uint8), np.array(group_starts, np.uint32)


def _pack_spelling(term: bytes, spelling: str) -> bytes:
    """Pack a spelling as what it removes from the end of the term and adds, or completely if that is too much.

    "Houses" of the term "hous" is a byte that says: a capital, nothing removed, two letters added; and "es". A complete
    spelling that is too long is replaced by the term.
    """
    initial = spelling[:1]
    has_capital = initial != initial.lower() and initial.lower().upper() == initial
    uncapitalized = initial.lower() + spelling[1:] if has_capital else spelling
    letters = uncapitalized.encode()
    n_shared = _count_shared_bytes(term, letters)
    n_removed = len(term) - n_shared
    added = letters[n_shared:]
    if n_removed > _MAX_REMOVED or len(added) > _MAX_ADDED:
        return _pack_complete_spelling(term, spelling)
    capital_bit = _CAPITAL_BIT if has_capital else 0
    first_byte = capital_bit | n_removed << 4 | len(added)
    return bytes([first_byte]) + added


def _pack_complete_spelling(term: bytes, spelling: str) -> bytes:
    """Pack all letters of a spelling, or those of the term if the spelling is too long."""
    letters = spelling.encode()
    if len(letters) > _MAX_BYTES:
        letters = term
    return bytes([_COMPLETE_SPELLING, len(letters)]) + letters


def _count_shared_bytes(first: bytes, second: bytes) -> int:
    """Return how many bytes two words have in common at their beginning."""
    length = min(len(first), len(second))
    for position in range(length):
        if first[position] != second[position]:
            return position
    return length
