"""Read word vectors of other tools: word2vec (text and binary), fastText and MUSE `.vec`, GloVe, Cr5.

The first bytes of a file tell its format. The word on a line of text is everything before the last `dim` fields.
"""

from __future__ import annotations

import re
import warnings
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from math import isfinite
from typing import BinaryIO

import numpy as np

from paragloss.errors import InputError
from paragloss.formats import text as files
from paragloss.formats.text import (
    MAX_LINE_BYTES,
    PathLike,
    file_stem,
    format_suffix,
    is_language_code,
    open_bytes,
    parse_language_code,
    parse_numbered_items,
)
from paragloss.types import Floats

#: Lines from which the number of dimensions is guessed, bytes by which the format is detected, bytes of a word.
_LINES_FOR_GUESS, _BYTES_FOR_DETECTION, _MAX_WORD_BYTES = 4096, 4096, 4096
_HEADER = re.compile(rb"\s*(\d+)[ \t](\d+)[ \t]*\r?\n")
_NUMBER = re.compile(rb"[-+]?[0-9.]+(e[-+]?\d+)?[ \t\r\n]", re.IGNORECASE)
_MAX_DIM = 65_536


def read_vectors(path: PathLike) -> tuple[list[str], Floats]:
    """Read the word vectors of one language, in any of the formats that other tools write.

    :param path: the file, which may be compressed
    :return: the words and their vectors, (n_words, dim) float32; of equal words the first is used
    :raises InputError: if the file is damaged, or a pickle
    """
    with open_bytes(path) as stream:
        start = stream.read(_BYTES_FOR_DETECTION)
    is_pickle = start.startswith(b"\x80") or format_suffix(path) in (".pkl", ".pickle")
    if is_pickle:
        message = "a pickle runs what it says when it is opened; save its vectors as word2vec text"
        raise InputError(message, location=path)
    header = _HEADER.match(start)
    if header is not None and _is_binary(start[header.end() :]):
        words, matrix = _read_binary(path, int(header[1]), int(header[2]))
    else:
        words, matrix = _read_text(path, header is not None)
    return _remove_repeated_words(words, matrix)


def read_multilingual_vectors(sources: Sequence[str]) -> dict[str, tuple[list[str], Floats]]:
    """Read vectors of several languages.

    :param sources: a file for each language, whose name ends in it, such as `wiki.multi.fr.vec`, or `fr=FILE`
    :return: words and vectors by language, see `read_vectors`
    :raises InputError: if a language comes twice, or the vectors have different widths
    """
    vectors: dict[str, tuple[list[str], Floats]] = {}
    for source in sources:
        lang, path = parse_vector_source(source)
        if lang in vectors:
            raise InputError(f"vectors for {lang} were given before; give one file for each language", location=path)
        vectors[lang] = read_vectors(path)
    widths = {lang: matrix.shape[1] for lang, (_, matrix) in vectors.items()}
    if len(set(widths.values())) > 1:
        raise InputError(f"the vectors have different widths ({widths}); give vectors of one width")
    return vectors


def parse_vector_source(source: str) -> tuple[str, str]:
    """Return language and path of a file of vectors: the language is before it (fr=FILE), or last in its name."""
    lang, equals, path = source.partition("=")
    if equals and is_language_code(lang):
        return parse_language_code(lang), path
    for part in reversed(re.split(r"[._-]", file_stem(source))):
        if is_language_code(part):
            return parse_language_code(part), source
    raise InputError(
        f"no language in the file's name; call it such as wiki.fr.vec, or write fr={source}", location=source
    )


def _remove_repeated_words(words: list[str], matrix: Floats) -> tuple[list[str], Floats]:
    """Keep the first row of each word, and warn of the others."""
    first_row = {word: row for row, word in reversed(list(enumerate(words)))}
    if len(first_row) == len(words):
        return words, matrix
    rows = sorted(first_row.values())
    warnings.warn(f"{len(words) - len(rows)} repeated words were left out", stacklevel=3)
    return [words[row] for row in rows], matrix[rows]


def _is_binary(start: bytes) -> bool:
    """Say whether the bytes after the first word are no decimal number."""
    tail = start.lstrip(b"\n").partition(b" ")[2]
    return bool(tail) and _NUMBER.match(tail) is None


def _parse_header(first: str, path: PathLike) -> tuple[int, int]:
    """Return the number of words and of dimensions that a header declares."""
    try:
        words, dim = (int(number) for number in first.split())
    except ValueError:
        expected = f"expected a number of words and one of dimensions, got {first[:40]!r}"
        raise InputError(expected, location=f"{path}:1") from None
    return words, dim


def _read_text(path: PathLike, has_header: bool) -> tuple[list[str], Floats]:
    """Read a text file with a word and its vector on each line.

    :param has_header: whether the first line has the numbers of words and of dimensions; without it the dimensions are
        guessed
    :return: the words and their vectors, (n_words, dim)
    :raises InputError: if a line has no vector of that many finite numbers, or words are missing at the end
    """
    numbered_lines = files.read_lines(path)
    n_promised, dim = 0, 0  # 0 where the header promises nothing
    if has_header:
        _, header = next(numbered_lines)
        n_promised, dim = _parse_header(header, path)
    if not dim:
        first_lines = list(islice(numbered_lines, _LINES_FOR_GUESS))
        dim = _guess_dimensions([line.rstrip() for _, line in first_lines], path)
        numbered_lines = chain(first_lines, numbered_lines)
    words, matrix = _parse_vectors(numbered_lines, dim, path)
    _check_word_count(len(words), n_promised, path)
    return words, matrix


def _check_word_count(n_words: int, n_promised: int, path: PathLike) -> None:
    """Raise InputError if a file has fewer words than its header promises."""
    if n_words < n_promised:
        problem = f"the header promises {n_promised:,} words, the file has {n_words:,}"
        raise InputError(f"{problem}; it is cut off, fetch it again", location=f"{path}:1")


def _parse_vectors(numbered_lines: Iterator[tuple[int, str]], dim: int, path: PathLike) -> tuple[list[str], Floats]:
    """Parse lines of a word and its vector; blank lines are left out.

    :param numbered_lines: the lines with their numbers in the file `path`, which errors name
    :param dim: how many numbers a vector has
    :return: the words and their vectors, (n_words, dim)
    """

    def parse_line(_number: int, line: str) -> tuple[str, list[float]]:
        return _parse_vector(line, dim)

    lines_with_text = ((number, line.rstrip()) for number, line in numbered_lines if line.strip())
    words: list[str] = []
    values = array("f")  # of all vectors, one behind the other
    for word, vector in parse_numbered_items(lines_with_text, parse_line, path, on_error=None):
        words.append(word)
        values.extend(vector)
    return words, np.array(values, np.float32).reshape(-1, dim)


def _guess_dimensions(lines: list[str], path: PathLike) -> int:
    """Return the most frequent number of blanks in a line: a word with blanks adds some, a truncated line has fewer."""
    dim = Counter(line.count(" ") for line in lines if line).most_common(1)[0][0]
    if not 2 <= dim <= _MAX_DIM:
        raise InputError(f"{dim} numbers after the word; expected lines 'word v1 v2 ...' with blanks", location=path)
    return dim


def _parse_vector(line: str, dim: int) -> tuple[str, list[float]]:
    """Split a line into the word and its vector.

    :param dim: how many numbers the vector has; all before them is the word, which may have blanks
    :raises InputError: if there are fewer numbers, or one is not finite
    """
    word, *fields = line.rsplit(" ", dim)
    if len(fields) < dim or not word.strip():
        raise InputError(f"{line.count(' ')} numbers after the word where {dim} are expected; parted by single blanks")
    try:
        return word, _parse_finite_numbers(fields)
    except (ValueError, OverflowError) as error:
        beginning = " ".join(fields)[:40]
        raise InputError(f"no finite numbers: {beginning!r} ...; expected {dim} of them ({error})") from None


def _parse_finite_numbers(fields: list[str]) -> list[float]:
    """Return numbers rounded to 32-bit floats; raise ValueError or OverflowError if one is none, or not finite."""
    numbers = array("f", map(float, fields)).tolist()
    if not isfinite(sum(numbers)):
        raise ValueError("not finite")
    return numbers


def _read_binary(path: PathLike, n_words: int, dim: int) -> tuple[list[str], Floats]:
    """Read word2vec's binary format: after the header each word, a blank, and its numbers as 32-bit floats.

    :param n_words: words that the header promises
    :param dim: dimensions that the header promises
    :return: the words and their vectors, (n_words, dim)
    :raises InputError: if the dimensions or a value are impossible, or the file ends too early
    """
    if not 1 <= dim <= _MAX_DIM:
        raise InputError(f"the header promises {dim} dimensions; expected 1 to {_MAX_DIM}", location=path)
    vector_size = 4 * dim  # bytes
    words: list[str] = []
    data = bytearray()  # of all vectors, one behind the other
    with open_bytes(path) as stream:  # which turns an EOFError into an InputError that names the file
        stream.readline(MAX_LINE_BYTES)  # the header
        for number in range(n_words):
            words.append(_read_binary_word(stream, path, number))
            vector_bytes = stream.read(vector_size)
            if len(vector_bytes) < vector_size:
                raise EOFError(f"{number:,} of {n_words:,} words")
            data += vector_bytes
    return words, _parse_binary_vectors(bytes(data), dim, path)


def _parse_binary_vectors(data: bytes, dim: int, path: PathLike) -> Floats:
    """Return 32-bit floats as vectors, (n_words, dim); raise InputError if one is not finite."""
    matrix: Floats = np.frombuffer(data, dtype="<f4").reshape(-1, dim).astype(np.float32, copy=False)
    if not np.isfinite(matrix).all():
        raise InputError("a value is not finite; the file is damaged, fetch it again", location=path)
    return matrix


def _read_binary_word(stream: BinaryIO, path: PathLike, number: int) -> str:
    """Read a word of word2vec's binary format up to the blank behind it.

    :param stream: the file, at the beginning of the word
    :param path: the file's path, which errors name
    :param number: how many words were read before; errors say so
    :raises EOFError: if the file ends before the blank
    :raises InputError: if the word is too long or not UTF-8
    """
    word = bytearray()
    while (byte := stream.read(1)) != b" ":
        if not byte:
            raise EOFError(f"{number:,} words")
        word += byte
        if len(word) > _MAX_WORD_BYTES:
            message = f"word {number + 1} is longer than {_MAX_WORD_BYTES:,} bytes; the file is not word2vec binary"
            raise InputError(message, location=path)
    try:
        return word.lstrip(b"\n").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"word {number + 1} is not UTF-8; convert the file", location=path) from error
