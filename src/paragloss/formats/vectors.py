"""Word vectors of other makers: word2vec (text and binary), fastText and MUSE `.vec`, GloVe, Cr5.

Which one a file is, its first bytes tell. The word on a line of text is everything before the last `dim` fields.
"""

from __future__ import annotations

import re
import warnings
from array import array
from collections import Counter
from collections.abc import Sequence
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
)
from paragloss.types import Floats

_BLOCK = 4096  # lines that tell how many numbers a word has
_HEADER = re.compile(rb"\s*(\d+)[ \t](\d+)[ \t]*\r?\n")
_NUMBER = re.compile(rb"[-+]?[0-9.]+(e[-+]?\d+)?[ \t\r\n]", re.IGNORECASE)
_MAX_DIM = 65_536


def read_vectors(path: PathLike) -> tuple[list[str], Floats]:
    """Words and their vectors, one float32 row each; of equal words the first is kept."""
    with open_bytes(path) as stream:
        start = stream.read(4096)
    header = _HEADER.match(start)
    if start.startswith(b"\x80") or format_suffix(path) in (".pkl", ".pickle"):
        raise InputError("a pickle runs what it says when it is opened; save its vectors as word2vec text", place=path)
    if header is not None and _is_binary(start[header.end() :]):
        words, matrix = _read_binary(path, int(header[1]), int(header[2]))
    else:
        words, matrix = _read_text(path, header is not None)
    return _unique(words, matrix)


def read_multilingual_vectors(paths: Sequence[str]) -> dict[str, tuple[list[str], Floats]]:
    """Vectors of several languages, from a file for each: `joint_28_fr.txt.gz`, `wiki.multi.fr.vec`, or fr=FILE."""
    found: dict[str, tuple[list[str], Floats]] = {}
    for given in paths:
        lang, path = parse_vector_source(given)
        if lang in found:
            raise InputError(f"vectors for {lang} were given before; give one file for each language", place=path)
        found[lang] = read_vectors(path)
    widths = {lang: matrix.shape[1] for lang, (_, matrix) in found.items()}
    if len(set(widths.values())) > 1:
        raise InputError(f"the vectors have different widths ({widths}); give vectors of one width")
    return found


def parse_vector_source(given: str) -> tuple[str, str]:
    """The language and the path of a file of vectors: said before it (fr=FILE), else the last code in its name."""
    lang, equals, path = given.partition("=")
    if equals and is_language_code(lang):
        return parse_language_code(lang), path
    for part in reversed(re.split(r"[._-]", file_stem(given))):
        if is_language_code(part):
            return parse_language_code(part), given
    raise InputError(f"no language in the file's name; call it such as wiki.fr.vec, or write fr={given}", place=given)


def _unique(words: list[str], matrix: Floats) -> tuple[list[str], Floats]:
    first = {word: row for row, word in reversed(list(enumerate(words)))}
    if len(first) == len(words):
        return words, matrix
    keep = sorted(first.values())
    warnings.warn(f"{len(words) - len(keep)} repeated words were left out", stacklevel=3)
    return [words[row] for row in keep], matrix[keep]


def _is_binary(start: bytes) -> bool:
    """Whether what stands behind the first word is no decimal number."""
    tail = start.lstrip(b"\n").partition(b" ")[2]
    return bool(tail) and _NUMBER.match(tail) is None


def _promised(first: str, path: PathLike) -> tuple[int, int]:
    """How many words of how many numbers a header says there are."""
    try:
        words, dim = (int(number) for number in first.split())
    except ValueError:
        expected = f"expected a number of words and one of dimensions, got {first[:40]!r}"
        raise InputError(expected, place=f"{path}:1") from None
    return words, dim


def _read_text(path: PathLike, has_header: bool) -> tuple[list[str], Floats]:
    source = files.read_lines(path)
    expected, dim = _promised(next(source)[1], path) if has_header else (0, 0)
    first = list(islice(source, _BLOCK))
    dim = dim or _dim([line.rstrip() for _, line in first], path)
    words, values = list[str](), array("f")
    for number, line in chain(first, source):
        if line := line.rstrip():
            try:
                word, row = _parsed(line, dim)
            except InputError as error:
                files.raise_or_report(error, path, number, None)
            words.append(word)
            values.extend(row)
    if len(words) < expected:
        short = f"the header promises {expected:,} words, the file has {len(words):,}; it is cut off, fetch it again"
        raise InputError(short, place=f"{path}:1")
    return words, np.array(values, np.float32).reshape(-1, dim)


def _dim(some: list[str], path: PathLike) -> int:
    """The commonest number of fields after one word: a word with blanks has more, a cut line fewer."""
    dim = Counter(line.count(" ") for line in some if line).most_common(1)[0][0]
    if not 2 <= dim <= _MAX_DIM:
        raise InputError(f"{dim} numbers after the word; expected lines 'word v1 v2 ...' with blanks", place=path)
    return dim


def _parsed(line: str, dim: int) -> tuple[str, list[float]]:
    word, *tail = line.rsplit(" ", dim)
    if len(tail) < dim or not word.strip():
        found = line.count(" ")
        raise InputError(f"{found} numbers after the word where {dim} are expected; parted by single blanks")
    try:
        row = array("f", map(float, tail)).tolist()
        bad = "" if isfinite(sum(row)) else "not finite"
    except (ValueError, OverflowError) as error:
        bad = str(error)
    if bad:
        raise InputError(f"no finite numbers: {' '.join(tail)[:40]!r} ...; expected {dim} of them ({bad})")
    return word, row


def _read_binary(path: PathLike, count: int, dim: int) -> tuple[list[str], Floats]:
    if not 1 <= dim <= _MAX_DIM:
        raise InputError(f"the header promises {dim} dimensions; expected 1 to {_MAX_DIM}", place=path)
    words: list[str] = []
    data = bytearray()
    with open_bytes(path) as stream:
        stream.readline(MAX_LINE_BYTES)
        for row in range(count):
            words.append(_binary_word(stream, path, row))
            values = stream.read(4 * dim)
            if len(values) < 4 * dim:
                raise EOFError(f"{row:,} of {count:,} words")
            data += values
    matrix: Floats = np.frombuffer(bytes(data), dtype="<f4").reshape(-1, dim).astype(np.float32, copy=False)
    if not np.isfinite(matrix).all():
        raise InputError("a value is not finite; the file is damaged, fetch it again", place=path)
    return words, matrix


def _binary_word(stream: BinaryIO, path: PathLike, row: int) -> str:
    word = bytearray()
    while (char := stream.read(1)) != b" ":
        if not char:
            raise EOFError(f"{row:,} words")
        word += char
        if len(word) > 4096:
            raise InputError(f"word {row + 1} is longer than 4,096 bytes; the file is not word2vec binary", place=path)
    try:
        return word.lstrip(b"\n").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"word {row + 1} is not UTF-8; convert the file", place=path) from error
