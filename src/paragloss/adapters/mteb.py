"""A model as an encoder for MTEB, the benchmark of text embeddings: any Encoder of ours, saved or in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paragloss import languages
from paragloss.collection import load
from paragloss.errors import LanguageError, MissingExtraError
from paragloss.types import Encoder, Floats

try:
    from mteb.models.model_meta import ModelMeta, ScoringFunction
except ImportError:
    raise MissingExtraError("the MTEB encoder", "mteb") from None


class ParaglossEncoder:
    """What MTEB's EncoderProtocol asks for. MTEB says which languages a task is in, not which a text is in: it is found
    out, text by text, among those of the task that the model knows; or `lang` says it."""

    def __init__(self, model: str | Encoder, *, lang: str = "", name: str = "paragloss/model") -> None:
        loaded: Any = load(model) if isinstance(model, str) else model
        self._encoder: Encoder = loaded
        self._lang = languages.normalise(lang) if lang else ""
        self.mteb_model_meta = ModelMeta.create_empty(
            {"name": name, "revision": "1", "embed_dim": loaded.dim, "similarity_fn_name": ScoringFunction.COSINE}
        )

    def encode(self, inputs: Any, *, task_metadata: Any = None, hf_subset: str = "", **_: Any) -> Floats:
        """One row per text of the batches."""
        among = self._among(task_metadata, hf_subset)
        rows = [self._rows(list(batch["text"]), among) for batch in inputs]
        return np.concatenate(rows) if rows else np.zeros((0, self._encoder.dim), np.float32)

    def _among(self, task: Any, subset: str) -> list[str]:
        """The languages a text of this part of a task may be in: those said, else all the model knows."""
        known = list(self._encoder.langs)
        if self._lang:
            return [self._lang] if self._lang in known else known
        subsets = getattr(task, "hf_subsets_to_langscripts", {}).get(subset, [])
        here = {code for code in map(_code, subsets) if code in known}
        return sorted(here) or known

    def _rows(self, texts: Sequence[str], among: list[str]) -> Floats:
        """One row per text, each read in its language; nothing but zeros for a text without letters."""
        rows = np.zeros((len(texts), self._encoder.dim), np.float32)
        langs = languages.identify(texts, among)
        for lang in dict.fromkeys(filter(None, langs)):
            which = [i for i, each in enumerate(langs) if each == lang]
            rows[which] = self._encoder.encode([texts[i] for i in which], lang)
        return rows

    def similarity(self, ours: Any, theirs: Any) -> Floats:
        """Cosines of every pair."""
        return np.asarray(_unit(ours) @ _unit(theirs).T, np.float32)

    def similarity_pairwise(self, ours: Any, theirs: Any) -> Floats:
        """Cosines row by row."""
        return np.asarray((_unit(ours) * _unit(theirs)).sum(axis=1), np.float32)


def _code(langscript: str) -> str:
    """Our code of what MTEB writes `eng-Latn`; nothing for a language that we have no code for."""
    try:
        return languages.normalise(langscript)
    except LanguageError:
        return ""


def _unit(rows: Any) -> Floats:
    rows = np.asarray(rows, np.float32)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12))
