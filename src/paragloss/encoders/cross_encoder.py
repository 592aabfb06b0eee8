"""Rerank documents with a cross-encoder from a folder: it reads query and document together.

ONNX models (`model.onnx` beside `tokenizer.json`) are run by onnxruntime, others by sentence-transformers. Nothing is
downloaded; a saved model names its folder. A long document gets the score of its best passage.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from paragloss import artefacts
from paragloss.analysis import passages
from paragloss.encoders.pretrained import model_folder
from paragloss.errors import ModelError
from paragloss.types import Document, Floats, Query

KIND = "cross_encoder"
PAIRS_PER_BATCH = 16
#: Only the first passages of a document are read, since each costs as much as a short document.
MAX_PASSAGES_PER_DOCUMENT = 3

TextPair: TypeAlias = tuple[str, str]  # query, passage
PairScorer: TypeAlias = Callable[[Sequence[TextPair]], Floats]


class CrossEncoder:
    """A reranker. Its scores are those the model gives for "relevant": comparable within one ranking."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        has_onnx = model_folder.find_onnx_file(self.path) is not None
        self._score_pairs: PairScorer = (
            _OnnxPairScorer(self.path) if has_onnx else _open_sentence_transformers(self.path)
        )

    def score(self, query: Query, documents: Sequence[Document]) -> Floats:
        """Return one score per document, (documents,): the score of its best passage for the query.

        Only the first MAX_PASSAGES_PER_DOCUMENT passages of a document are read.
        """
        if not documents:
            return np.zeros(0, np.float32)
        pairs: list[TextPair] = []
        pair_counts = []  # of each document, at least 1
        for document in documents:
            document_passages = passages.read_passages(document)[:MAX_PASSAGES_PER_DOCUMENT]
            pairs += [(query.text, passage) for passage in document_passages]
            pair_counts.append(len(document_passages))
        document_starts = np.cumsum(pair_counts)[:-1]  # without that of the first document
        scores_by_document = np.split(self._score_in_batches(pairs), document_starts)
        return np.array([passage_scores.max() for passage_scores in scores_by_document], np.float32)

    def _score_in_batches(self, pairs: Sequence[TextPair]) -> Floats:
        """Return a score for each pair: (pairs,)."""
        batches = [pairs[start : start + PAIRS_PER_BATCH] for start in range(0, len(pairs), PAIRS_PER_BATCH)]
        return np.concatenate([self._score_pairs(batch) for batch in batches])

    def save(self, path: str | Path) -> None:
        """Write the location of the model's folder; the weights stay where they are."""
        artefacts.save(path, KIND, meta={"path": str(self.path.resolve())})


def load(path: str | Path) -> CrossEncoder:
    """Open the cross-encoder whose location was saved in a folder."""
    return CrossEncoder(artefacts.load(path, kind=KIND).meta["path"])


def is_cross_encoder(path: str | Path) -> bool:
    """Tell whether the configuration of a folder says that its model classifies pairs of texts."""
    try:
        config = json.loads((Path(path) / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    architectures = config.get("architectures") if isinstance(config, dict) else None
    return any(str(name).endswith("ForSequenceClassification") for name in architectures or [])


class _OnnxPairScorer:
    """Scores pairs of texts with the ONNX model of a folder.

    A model with two outputs gives the logits of irrelevant and relevant; their difference is the score.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tokenizer = model_folder.load_tokenizer(path)
        self._session = model_folder.make_session(path)
        self._input_names = {node.name for node in self._session.get_inputs()}

    def __call__(self, pairs: Sequence[TextPair]) -> Floats:
        """Return a score for each pair: (pairs,)."""
        inputs = model_folder.make_onnx_inputs(self._tokenizer, list(pairs), self._input_names)
        logits = np.asarray(self._session.run(None, inputs)[0], np.float32)
        if logits.ndim != 2 or len(logits) != len(pairs) or logits.shape[1] > 2:
            raise ModelError(
                f"{self._path} gives {logits.shape} for {len(pairs)} pairs: a cross-encoder gives one score or two"
            )
        irrelevant = logits[:, 0] if logits.shape[1] == 2 else 0.0
        return np.asarray(logits[:, -1] - irrelevant, np.float32)


def _open_sentence_transformers(path: Path) -> PairScorer:
    package = model_folder.import_extra("sentence_transformers")
    model = package.CrossEncoder(str(path), local_files_only=True)

    def score_pairs(pairs: Sequence[TextPair]) -> Floats:
        return np.asarray(model.predict(list(pairs), show_progress_bar=False), np.float32).reshape(-1)

    return score_pairs
