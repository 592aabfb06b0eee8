"""A model as an encoder for MTEB, the benchmark of text embeddings."""

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
    """An encoder of ours behind MTEB's EncoderProtocol.

    MTEB says which languages a task is in, not which one a text is in: that is detected text by text among those
    languages of the task that the model knows, unless `lang` is given.
    """

    def __init__(self, model: str | Encoder, *, lang: str = "", name: str = "paragloss/model") -> None:
        """Take an encoder or the folder of a saved one, the language of all texts, and the name for MTEB's results."""
        encoder: Any = load(model) if isinstance(model, str) else model
        self._encoder: Encoder = encoder
        self._lang = languages.normalise(lang) if lang else ""
        self.mteb_model_meta = ModelMeta.create_empty(
            {"name": name, "revision": "1", "embed_dim": encoder.dim, "similarity_fn_name": ScoringFunction.COSINE}
        )

    def encode(self, inputs: Any, *, task_metadata: Any = None, hf_subset: str = "", **_: Any) -> Floats:
        """Return one row per text of the batches in `inputs`."""
        candidate_langs = self._get_candidate_langs(task_metadata, hf_subset)
        rows = [self._encode_texts(list(batch["text"]), candidate_langs) for batch in inputs]
        return np.concatenate(rows) if rows else np.zeros((0, self._encoder.dim), np.float32)

    def _get_candidate_langs(self, task_metadata: Any, subset: str) -> list[str]:
        """Return the languages that texts of a task's subset may be in; all of the model where the task says none."""
        model_langs = list(self._encoder.langs)
        if self._lang:
            return [self._lang] if self._lang in model_langs else model_langs
        langscripts = getattr(task_metadata, "hf_subsets_to_langscripts", {}).get(subset, [])
        task_langs = {_parse_langscript(langscript) for langscript in langscripts}
        return sorted(task_langs.intersection(model_langs)) or model_langs

    def _encode_texts(self, texts: Sequence[str], candidate_langs: list[str]) -> Floats:
        """Return one row per text, encoded in its detected language; zeros for a text without letters."""
        rows = np.zeros((len(texts), self._encoder.dim), np.float32)
        text_langs = languages.identify(texts, candidate_langs)
        for lang in dict.fromkeys(filter(None, text_langs)):
            indices = [i for i, text_lang in enumerate(text_langs) if text_lang == lang]
            rows[indices] = self._encoder.encode([texts[i] for i in indices], lang)
        return rows

    def similarity(self, left: Any, right: Any) -> Floats:
        """Return the cosine of every pair of rows, shape (len(left), len(right))."""
        return np.asarray(_normalize(left) @ _normalize(right).T, np.float32)

    def similarity_pairwise(self, left: Any, right: Any) -> Floats:
        """Return the cosine of each row of `left` with the same row of `right`."""
        return np.asarray((_normalize(left) * _normalize(right)).sum(axis=1), np.float32)


def _parse_langscript(langscript: str) -> str:
    """Return our code of what MTEB writes as `eng-Latn`, "" for a language without one."""
    try:
        return languages.normalise(langscript)
    except LanguageError:
        return ""


def _normalize(rows: Any) -> Floats:
    rows = np.asarray(rows, np.float32)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12))
