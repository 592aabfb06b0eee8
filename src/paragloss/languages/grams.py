"""Score how likely a few words are in each language, by a linear classifier over hashed character n-grams.

Learned from open sets of sentences, words and names by studies/identification.py.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

BUCKETS = 49_152
MAX_GRAM_LETTERS = 5
#: Letters and the marks that go with them, in runs.
_WORD = re.compile(r"(?:[^\W\d_]|[\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff'’])+")
#: A query is short; only the beginning of anything longer is read.
MAX_CHARACTERS = 400
#: Not compressed: unpacking would take each process 40 ms, reading it takes 4.
_FILE = Path(__file__).with_name("grams.npz")


def hash_grams(text: str) -> npt.NDArray[np.int32]:
    """Return the buckets of a text's words and of their runs of one to five letters, as often as they occur."""
    grams: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFC", text[:MAX_CHARACTERS]).lower()):
        marked_word = f"<{word}>"
        grams.append(marked_word)
        for size in range(1, MAX_GRAM_LETTERS + 1):
            grams.extend(marked_word[start : start + size] for start in range(len(marked_word) - size + 1))
    return np.array([zlib.crc32(gram.encode("utf-8", "replace")) % BUCKETS for gram in grams], np.int32)


def score_languages(text: str) -> Mapping[str, float]:
    """Return the log-likelihood of a text in each language the model knows, up to one number added to all."""
    weights, scale, langs = _load_model()
    sums = weights[hash_grams(text)].sum(axis=0, dtype=np.int64) * scale
    return dict(zip(langs, sums.tolist(), strict=True))


@cache
def _load_model() -> tuple[npt.NDArray[np.int8], float, tuple[str, ...]]:
    """Return the weights (buckets, languages), what each is multiplied by, and the language codes."""
    with np.load(_FILE, allow_pickle=False) as arrays:
        return arrays["weights"], arrays["scale"].item(), tuple(arrays["langs"].tolist())
