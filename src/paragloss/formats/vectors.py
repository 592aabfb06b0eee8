"""Word vectors of other makers: word2vec (text and binary), fastText and MUSE `.vec`, GloVe, Cr5.

Which one a file is, its first bytes tell. The word on a line of text is everything before the last `dim` fields.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO, Literal

import numpy as np

from paragloss.errors import InputError
from paragloss.formats.text import (
    BROKEN,
    LINE_LIMIT,
    OnError,
    PathLike,
    broken,
    checked_lang,
    lines,
    looks_like_lang,
    open_binary_output,
    open_bytes,
    report,
    stem,
    suffix,
)
from paragloss.types import Floats

_BLOCK = 4096  # lines parsed at once
_HEADER = re.compile(rb"\s*(\d+)[ \t](\d+)[ \t]*\r?\n")
_NUMBER = re.compile(rb"[-+]?[0-9.]+(e[-+]?\d+)?[ \t\r\n]", re.IGNORECASE)
_MAX_DIM = 65_536


def read_vectors(path: PathLike, *, limit: int | None = None, on_error: OnError = None) -> tuple[list[str], Floats]:
    """Words and their vectors, one float32 row each; of equal words the first is kept. `limit` stops after so many
    rows, which in most files are the most frequent words."""
    with open_bytes(path) as stream:
        try:
            start = stream.read(4096)
        except BROKEN as error:
            raise broken(path, error) from error
    header = _HEADER.match(start)
    if start.startswith(b"\x80") or suffix(path) in (".pkl", ".pickle"):
        raise InputError("a pickle runs what it says when it is opened; save its vectors as word2vec text", place=path)
    if header is not None and _is_binary(start[header.end() :]):
        words, matrix = _read_binary(path, int(header[1]), int(header[2]), limit)
    else:
        words, matrix = _read_text(path, header is not None, limit, on_error)
    return _unique(words, matrix)


def read_languages(paths: Sequence[str]) -> dict[str, tuple[list[str], Floats]]:
    """Vectors of several languages, from a file for each: `joint_28_fr.txt.gz`, `wiki.multi.fr.vec`, or fr=FILE."""
    found: dict[str, tuple[list[str], Floats]] = {}
    for given in paths:
        lang, path = language_of(given)
        if lang in found:
            raise InputError(f"vectors for {lang} were given before; give one file for each language", place=path)
        found[lang] = read_vectors(path)
    widths = {lang: matrix.shape[1] for lang, (_, matrix) in found.items()}
    if len(set(widths.values())) > 1:
        raise InputError(f"the vectors have different widths ({widths}); give vectors of one width")
    return found


def language_of(given: str) -> tuple[str, str]:
    """The language and the path of a file of vectors: said before it (fr=FILE), else the last code in its name."""
    lang, equals, path = given.partition("=")
    if equals and looks_like_lang(lang):
        return checked_lang(lang), path
    for part in reversed(re.split(r"[._-]", stem(given))):
        if looks_like_lang(part):
            return checked_lang(part), given
    raise InputError(f"no language in the file's name; call it such as wiki.fr.vec, or write fr={given}", place=given)


def write_vectors(
    path: PathLike,
    words: Sequence[str],
    matrix: Floats,
    *,
    format: Literal["word2vec", "glove", "binary"] = "word2vec",
) -> None:
    """Write vectors so that every float32 comes back: text with a header (word2vec), without (glove), or binary."""
    rows = np.asarray(matrix, dtype=np.float32)
    if rows.ndim != 2 or len(words) != len(rows):
        raise InputError(f"{len(words)} words but a matrix of shape {rows.shape}; give one row per word")
    with open_binary_output(path) as out:
        if format != "glove":
            out.write(f"{len(rows)} {rows.shape[1]}\n".encode())
        for word, row in zip(words, rows, strict=True):
            _check(word, format)
            if format == "binary":
                out.write(word.encode() + b" " + row.astype("<f4").tobytes() + b"\n")
            else:
                # Nine digits name a float32 exactly.
                out.write((word + " " + " ".join([f"{value:.9g}" for value in row.tolist()]) + "\n").encode())


def _check(word: str, format: str) -> None:
    if not word or "\n" in word or "\0" in word or word != word.strip() or (format == "binary" and " " in word):
        raise InputError(
            f"the word {word!r} can't stand in a {format} file; words there have no line ends or outer blanks"
        )


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


def _read_text(path: PathLike, has_header: bool, limit: int | None, on_error: OnError) -> tuple[list[str], Floats]:
    source = lines(path, on_error=on_error)
    expected = 0
    dim = 0
    if has_header:
        _, first = next(source)
        expected, dim = _promised(first, path)
    wanted = islice(source, limit) if limit is not None else source
    words: list[str] = []
    blocks: list[Floats] = []
    rows = 0
    while block := [(number, line.rstrip()) for number, line in islice(wanted, _BLOCK)]:
        dim = dim or _dim(block, path)
        good = list(_split(block, dim, path, on_error))
        rows += len(block)
        for taken, values in _parsed(good, dim, path, on_error):
            words.extend(taken)
            blocks.append(values)
    if has_header and limit is None and rows < expected:
        short = f"the header promises {expected:,} words, the file has {rows:,}; it is cut off, fetch it again"
        report(InputError(short), path, 1, on_error)
    if not words:
        raise InputError("no vectors; expected lines 'word v1 v2 ...'", place=path)
    return words, np.concatenate(blocks)


def _dim(block: list[tuple[int, str]], path: PathLike) -> int:
    """The commonest number of fields after one word: a word with blanks has more, a cut line fewer."""
    dim = Counter(line.count(" ") for _, line in block if line).most_common(1)[0][0]
    if not 2 <= dim <= _MAX_DIM:
        raise InputError(
            f"{dim} numbers after the word; expected lines 'word v1 v2 ...' with blanks", place=f"{path}:{block[0][0]}"
        )
    return dim


def _split(block: list[tuple[int, str]], dim: int, path: PathLike, on_error: OnError) -> Iterator[tuple[int, str, str]]:
    for number, line in block:
        blanks = line.count(" ")
        if blanks == dim and line[0] != " ":
            word, _, tail = line.partition(" ")
        elif blanks > dim:
            word = line.rsplit(" ", dim)[0]
            tail = line[len(word) + 1 :]
        else:
            word, tail = "", ""
        if not word.strip():
            if line:
                wrong = f"{blanks} numbers after the word where {dim} are expected; parted by single blanks"
                report(InputError(wrong), path, number, on_error)
            continue
        yield number, word, tail


def _parsed(
    good: list[tuple[int, str, str]], dim: int, path: PathLike, on_error: OnError
) -> Iterator[tuple[list[str], Floats]]:
    """Numbers of many lines at once, which is what makes it fast; line by line only where some line is bad."""
    if not good:
        return
    try:
        values = _numbers([tail for _, _, tail in good], dim)
    except ValueError as error:
        if len(good) == 1:
            shown = good[0][2][:40]
            report(
                InputError(f"no finite numbers: {shown!r} ...; expected {dim} of them ({error})"),
                path,
                good[0][0],
                on_error,
            )
            return
        half = len(good) // 2
        yield from _parsed(good[:half], dim, path, on_error)
        yield from _parsed(good[half:], dim, path, on_error)
        return
    yield [word for _, word, _ in good], values


def _numbers(tails: list[str], dim: int) -> Floats:
    values: Floats = np.loadtxt(tails, dtype=np.float32, comments=None, delimiter=" ", ndmin=2)
    if values.shape != (len(tails), dim):
        raise ValueError(f"{values.shape[1]} columns")
    if not np.isfinite(values).all():
        raise ValueError("not finite")
    return values


def _read_binary(path: PathLike, count: int, dim: int, limit: int | None) -> tuple[list[str], Floats]:
    if not 1 <= dim <= _MAX_DIM:
        raise InputError(f"the header promises {dim} dimensions; expected 1 to {_MAX_DIM}", place=path)
    count = count if limit is None else min(count, limit)
    words: list[str] = []
    data = bytearray()
    with open_bytes(path) as stream:
        try:
            stream.readline(LINE_LIMIT)
            for row in range(count):
                words.append(_binary_word(stream, path, row))
                values = stream.read(4 * dim)
                if len(values) < 4 * dim:
                    raise EOFError(f"{row:,} of {count:,} words")
                data += values
        except BROKEN as error:
            raise broken(path, error) from error
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
