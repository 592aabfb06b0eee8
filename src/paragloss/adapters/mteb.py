"""A model as an encoder for MTEB, the benchmark of text embeddings: any Encoder of ours, saved or in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paragloss import languages
from paragloss.engine import load
from paragloss.errors import MissingExtraError
from paragloss.types import Encoder, Floats

try:
    from mteb.models.model_meta import ModelMeta, ScoringFunction
except ImportError:
    raise MissingExtraError("the MTEB encoder", "mteb") from None


class ParaglossEncoder:
    """What MTEB's EncoderProtocol asks for. MTEB does not say which language a text is in: `lang` does, or it is found
    out, text by text, among those the model knows."""

    def __init__(self, model: str | Encoder, *, lang: str = "", name: str = "paragloss/model") -> None:
        loaded: Any = load(model) if isinstance(model, str) else model
        self._encoder: Encoder = loaded
        self._lang = languages.normalise(lang) if lang else ""
        self.mteb_model_meta = ModelMeta.create_empty(
            {"name": name, "revision": "1", "embed_dim": loaded.dim, "similarity_fn_name": ScoringFunction.COSINE}
        )

    def encode(self, inputs: Any, **_: Any) -> Floats:
        """One row per text of the batches; what the task says of itself changes nothing."""
        rows = [self.rows(list(batch["text"])) for batch in inputs]
        return np.concatenate(rows) if rows else np.zeros((0, self._encoder.dim), np.float32)

    def rows(self, texts: Sequence[str]) -> Floats:
        """One row per text, each read in its language."""
        known = set(self._encoder.langs)
        said = [self._lang or found for found in (languages.identify(texts) if not self._lang else [""] * len(texts))]
        rows = np.zeros((len(texts), self._encoder.dim), np.float32)
        fallback = "en" if "en" in known else next(iter(self._encoder.langs))
        langs = [lang if lang in known else fallback for lang in said]
        for lang in dict.fromkeys(langs):
            which = [i for i, each in enumerate(langs) if each == lang]
            rows[which] = self._encoder.encode([texts[i] for i in which], lang)
        return rows

    def similarity(self, ours: Any, theirs: Any) -> Floats:
        """Cosines of every pair."""
        return np.asarray(_unit(ours) @ _unit(theirs).T, np.float32)

    def similarity_pairwise(self, ours: Any, theirs: Any) -> Floats:
        """Cosines row by row."""
        return np.asarray((_unit(ours) * _unit(theirs)).sum(axis=1), np.float32)


def _unit(rows: Any) -> Floats:
    rows = np.asarray(rows, np.float32)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12))
