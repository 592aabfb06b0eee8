"""Which language a few words are in: a linear classifier over hashed character n-grams, learned from open sets of
sentences, words and names by studies/identification.py. It says how likely each of its languages is, no more."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paragloss.languages._unpacked import Arrays, unpacked

BUCKETS = 49_152
_LONGEST = 5
#: Letters and the marks that go with them, in runs.
_WORD = re.compile(r"(?:[^\W\d_]|[\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff'’])+")
#: A query is short; of anything longer the beginning will do.
_ENOUGH = 400
_FILE = Path(__file__).with_name("grams.npz")


def grams(text: str) -> npt.NDArray[np.int32]:
    """The buckets of a text's words and of their runs of one to five letters; a bucket may come more than once."""
    found = []
    for word in _WORD.findall(unicodedata.normalize("NFC", text[:_ENOUGH]).lower()):
        marked = f"<{word}>"
        found.append(marked)
        for size in range(1, _LONGEST + 1):
            found.extend(marked[at : at + size] for at in range(len(marked) - size + 1))
    return np.array([zlib.crc32(gram.encode("utf-8", "replace")) % BUCKETS for gram in found], np.int32)


def score_languages(text: str) -> Mapping[str, float]:
    """For each language the model knows, the logarithm of how likely the text is in it, up to one number for all."""
    weights, scale, langs = _model()
    sums = weights[grams(text)].sum(axis=0, dtype=np.int64) * scale
    return dict(zip(langs, sums.tolist(), strict=True))


@cache
def _model() -> tuple[npt.NDArray[np.int8], float, tuple[str, ...]]:
    file = _FILE.stat()
    kept = unpacked(f"grams-{file.st_size}-{file.st_mtime_ns}", _packed, _sound)
    return kept["weights"], kept["scale"].item(), tuple(str(lang) for lang in kept["langs"])


def _sound(kept: Arrays) -> bool:
    return kept["weights"].shape == (BUCKETS, len(kept["langs"]))


def _packed() -> Arrays:
    with np.load(_FILE, allow_pickle=False) as packed:
        return dict(packed)
