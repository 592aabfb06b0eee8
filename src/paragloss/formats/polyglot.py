"""Polyglot's embeddings (Al-Rfou et al. 2013): a pickle of `(words, V x 64 floats)`, read without running any of it.

The few names such a pickle needs stand for inert records of ours; any other name is refused, so that nothing of
Python or numpy is ever called with what the file says.
"""

from __future__ import annotations

import pickle
import pickletools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from paragloss.errors import InputError
from paragloss.formats.text import BROKEN, PathLike, broken, open_bytes
from paragloss.types import Floats

_DAMAGED = (*BROKEN, ValueError, TypeError, IndexError, KeyError, MemoryError, OverflowError)
_FLOATS = {"f4", "f8"}


class _Inert:
    """What a name in the pickle becomes: it keeps its arguments and its state and does nothing."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Array(_Inert): ...


class _Dtype(_Inert): ...


def _bytes(text: Any, encoding: Any) -> bytes:
    """Python 3 pickles bytes for old protocols as latin-1 text to be encoded."""
    if not isinstance(text, str):
        raise pickle.UnpicklingError("bytes that are no text")
    return text.encode("latin-1")


_ALLOWED: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Inert,
    ("numpy", "dtype"): _Dtype,
    ("_codecs", "encode"): _bytes,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Callable[..., Any]:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise InputError(
                f"the pickle asks for {module}.{name}, which word vectors don't need; don't trust it"
            ) from None

    def persistent_load(self, pid: Any) -> NoReturn:
        raise InputError("the pickle refers to something outside it, which word vectors don't need; don't trust it")


def read_polyglot(path: PathLike) -> tuple[list[str], Floats]:
    """Words and vectors."""
    _check_memo(path)
    with open_bytes(path) as stream:
        try:
            # As bytes: Python 2's strings are then told apart from its unicode.
            found = _Unpickler(stream, encoding="bytes").load()
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        except Exception as error:  # a damaged pickle raises nearly anything
            raise broken(path, error) from error
    if not isinstance(found, tuple | list) or len(found) != 2 or not isinstance(found[1], _Array):
        raise InputError(f"{path}: the pickle holds no pair of words and array; give Polyglot's embeddings_pkl file")
    words, matrix = _words(found[0], path), _matrix(found[1], path)
    if len(words) != len(matrix):
        raise InputError(f"{path}: {len(words)} words but {len(matrix)} vectors; the file is damaged, fetch it again")
    return words, matrix


def _check_memo(path: PathLike) -> None:
    """A pickle numbers what it remembers one after another; a number out of turn would only reserve memory."""
    with open_bytes(path) as stream:
        try:
            for count, (opcode, argument, _) in enumerate(pickletools.genops(stream)):
                if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and int(argument or 0) > count:
                    raise InputError(f"{path}: the pickle jumps to memory cell {argument:,}; don't trust it")
        except _DAMAGED as error:
            raise broken(path, error) from error


def _words(found: Any, path: PathLike) -> list[str]:
    if not isinstance(found, tuple | list) or not all(isinstance(word, str | bytes) for word in found):
        raise InputError(f"{path}: the words are no list of texts; give Polyglot's embeddings_pkl file")
    try:
        return [word if isinstance(word, str) else word.decode("utf-8") for word in found]
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: a word is not UTF-8; convert the file") from error


def _matrix(array: _Array, path: PathLike) -> Floats:
    try:
        _, shape, dtype, fortran, data = array.state
        rows, columns = (int(size) for size in shape)
        kind = _text(dtype.arguments[0])
        order = _text(dtype.state[1])
        if kind not in _FLOATS or order not in "<>=|" or not isinstance(data, bytes) or min(rows, columns) < 0:
            raise ValueError(f"{rows} x {columns} of {kind!r}")
        flat = np.frombuffer(data, dtype=("<" if order in "=|" else order) + kind)
        matrix: Floats = flat.reshape(rows, columns, order="F" if fortran else "C").astype(np.float32)
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(
            f"{path}: the array is no matrix of floats ({error}); give Polyglot's embeddings_pkl file"
        ) from error
    return np.ascontiguousarray(matrix)


def _text(value: Any) -> str:
    return value.decode("ascii") if isinstance(value, bytes) else str(value)
