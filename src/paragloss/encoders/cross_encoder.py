"""A cross-encoder from a folder, as others publish them, as a reranker: it reads query and document together. ONNX
(`model.onnx` beside `tokenizer.json`) through onnxruntime, anything else through sentence-transformers. Nothing is
fetched; what is saved names the folder. A long document counts as its best passage.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paragloss import artefacts
from paragloss.encoders.pretrained import model_folder, passages
from paragloss.errors import ModelError
from paragloss.types import Document, Floats, Query

KIND = "cross_encoder"
_TOGETHER = 16
#: Passages of a document that are read: its first ones, for each is as dear as a document.
_PASSAGES = 3


class CrossEncoder:
    """Scores are whatever the model gives for "relevant": comparable within one ranking."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._pairs = _onnx(self.path) if model_folder.onnx_file(self.path) else _sentence_transformers(self.path)

    def score(self, query: Query, documents: Sequence[Document]) -> Floats:
        texts = [passages.read(document)[:_PASSAGES] for document in documents]
        pairs = [(query.text, text) for some in texts for text in some]
        scores = [self._pairs(pairs[start : start + _TOGETHER]) for start in range(0, len(pairs), _TOGETHER)]
        flat = np.concatenate([np.zeros(0, np.float32), *scores])
        ends = np.cumsum([len(some) for some in texts])
        return np.array([part.max() for part in np.split(flat, ends[:-1])] if texts else [], np.float32)

    def save(self, path: str | Path) -> None:
        artefacts.save(path, KIND, meta={"path": str(self.path.resolve())})


def load(path: str | Path) -> CrossEncoder:
    return CrossEncoder(artefacts.load(path, kind=KIND).meta["path"])


def is_cross_encoder(path: str | Path) -> bool:
    """Whether a folder's own configuration says that it classifies pairs."""
    try:
        config = json.loads((Path(path) / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    kinds = config.get("architectures") if isinstance(config, dict) else None
    return any(str(kind).endswith("ForSequenceClassification") for kind in kinds or [])


def _onnx(path: Path) -> Any:
    tokens, session = model_folder.tokenizer(path), model_folder.session(path)
    wanted = {one.name for one in session.get_inputs()}

    def score(pairs: Sequence[tuple[str, str]]) -> Floats:
        found = np.asarray(session.run(None, model_folder.feeds(tokens, list(pairs), wanted))[0], np.float32)
        if found.ndim != 2 or len(found) != len(pairs) or found.shape[1] > 2:
            raise ModelError(
                f"{path} gives {found.shape} for {len(pairs)} pairs: a cross-encoder gives one score or two"
            )
        return np.asarray(found[:, -1] - (found[:, 0] if found.shape[1] == 2 else 0), np.float32)

    return score


def _sentence_transformers(path: Path) -> Any:
    model = model_folder.library("sentence_transformers").CrossEncoder(str(path), local_files_only=True)
    return lambda pairs: np.asarray(model.predict(list(pairs), show_progress_bar=False), np.float32).reshape(-1)
