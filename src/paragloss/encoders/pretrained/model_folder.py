"""A model in a folder, as others publish them: ONNX (`model.onnx` beside `tokenizer.json`, through onnxruntime), static
word vectors (`model.safetensors` of model2vec and of sentence-transformers' StaticEmbedding, through numpy), or
anything sentence-transformers opens. Pooling, prefixes, length and normalisation are read from the folder's own files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from paragloss.errors import LanguageError, MissingExtraError, ModelError
from paragloss.languages import normalise
from paragloss.types import Floats

_PASSAGE_PROMPTS = ("passage", "document", "corpus")
_TOGETHER = 16
_LONGEST = 512


def is_model(path: str | Path) -> bool:
    """Whether a folder looks like one of these."""
    path = Path(path)
    return path.is_dir() and (
        (path / "modules.json").is_file() or onnx_file(path) is not None or _static(path) is not None
    )


def opened(path: Path, *, query: str | None, passage: str | None) -> Onnx | Static | SentenceTransformer:
    """The model with what reads it; `query` and `passage` stand before the folder's own prefixes."""
    if not is_model(path):
        raise ModelError(f"{path} holds no encoder: expected model.onnx and tokenizer.json, or modules.json")
    prompts = {True: _prompt(path, ("query",), query), False: _prompt(path, _PASSAGE_PROMPTS, passage)}
    if _static(path):
        return Static(path, prompts)
    return Onnx(path, prompts) if onnx_file(path) else SentenceTransformer(path, prompts)


def languages(path: Path) -> list[str]:
    """The languages its card names, if it has one."""
    try:
        head = (path / "README.md").read_text(encoding="utf-8").split("---")[1]
    except (OSError, IndexError, UnicodeDecodeError):
        return []
    declared = re.search(r"^language:[ \t]*((?:\n\s*-\s*[\w-]+)+|\[[^\]]*\]|[\w-]+)", head, re.M)
    found = []
    for code in re.findall(r"\b[A-Za-z]{2,3}\b", declared.group(1)) if declared else []:
        try:
            found.append(normalise(code))
        except LanguageError:
            continue
    return sorted(set(found))


class Onnx:
    """A transformer exported to ONNX. A `sentence_embedding` it gives is taken as it is; else tokens are pooled."""

    alone = True

    def __init__(self, path: Path, prompts: dict[bool, str]) -> None:
        self._tokenizer = tokenizer(path)
        self._prompts, self._pooling, self._denses = prompts, _pooling(path), _denses(path)
        self._session = session(path)
        self._inputs = {one.name for one in self._session.get_inputs()}
        self._outputs = [one.name for one in self._session.get_outputs()]
        self.dim = self.encode(["?"], query=True).shape[1]

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats:
        texts = [self._prompts[query] + text for text in texts]
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))  # texts of one length need no padding
        parts = [self._batch([texts[i] for i in order[s : s + _TOGETHER]]) for s in range(0, len(order), _TOGETHER)]
        rows = np.concatenate(parts)
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return np.asarray(rows[back], np.float32)

    def _batch(self, texts: Sequence[str]) -> Floats:
        given = feeds(self._tokenizer, list(texts), self._inputs)
        found = dict(zip(self._outputs, self._session.run(None, given), strict=True))
        if "sentence_embedding" in found:
            return np.asarray(found["sentence_embedding"], np.float32)
        rows = pooled(next(iter(found.values())), given["attention_mask"], self._pooling)
        for weight, bias in self._denses:
            rows = np.tanh(rows @ weight.T + bias)
        return rows


class Static:
    """A vector for each token, averaged: fast, and no match for a transformer."""

    alone = True

    def __init__(self, path: Path, prompts: dict[bool, str]) -> None:
        table = _static(path)
        assert table is not None
        arrays = library("safetensors.numpy").load_file(str(table))
        rows = [array for array in arrays.values() if array.ndim == 2]
        if len(rows) != 1:
            raise ModelError(f"{table} holds {len(rows)} tables: expected one of vectors for tokens")
        self._table = np.asarray(rows[0], np.float32)
        self._tokenizer, self._prompts = tokenizer(table.parent), prompts
        self._tokenizer.no_padding()
        self.dim = self._table.shape[1]
        if (words := self._tokenizer.get_vocab_size()) > len(self._table):
            raise ModelError(f"{table} has {len(self._table)} vectors for {words} tokens: copy the model again")

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats:
        encoded = self._tokenizer.encode_batch([self._prompts[query] + t for t in texts], add_special_tokens=False)
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, found in zip(rows, encoded, strict=True):
            if found.ids:
                row[:] = self._table[found.ids].mean(axis=0)
        return rows


class SentenceTransformer:
    """Whatever sentence-transformers opens, on the device it finds."""

    alone = True

    def __init__(self, path: Path, prompts: dict[bool, str]) -> None:
        opener = library("sentence_transformers")
        self._model: Any = opener.SentenceTransformer(str(path), local_files_only=True)
        self._prompts = prompts
        self.dim = int(self._model.encode(["?"]).shape[1])

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats:
        found = self._model.encode(
            list(texts), prompt=self._prompts[query], batch_size=_TOGETHER, show_progress_bar=False
        )
        return np.asarray(found, np.float32)


# What the files of a folder say


def tokenizer(path: Path) -> Any:
    """The folder's tokenizer, cutting where its model ends."""
    made_by = library("tokenizers")
    if not (path / "tokenizer.json").is_file():
        raise ModelError(f"{path} holds no tokenizer.json: export the model with its fast tokenizer")
    made = made_by.Tokenizer.from_file(str(path / "tokenizer.json"))
    made.enable_truncation(max_length=_longest(path))
    pad = _json(path / "config.json").get("pad_token_id") or 0
    made.enable_padding(pad_id=pad, pad_token=made.id_to_token(pad) or "[PAD]")
    return made


def feeds(tokens: Any, texts: list[Any], wanted: set[str]) -> dict[str, Any]:
    """Texts, or pairs of texts, as what an ONNX model takes."""
    encoded = tokens.encode_batch(texts)
    given = {
        "input_ids": np.array([one.ids for one in encoded], np.int64),
        "attention_mask": np.array([one.attention_mask for one in encoded], np.int64),
        "token_type_ids": np.array([one.type_ids for one in encoded], np.int64),
    }
    return {name: array for name, array in given.items() if name in wanted}


def pooled(tokens: Any, mask: Any, pooling: str) -> Floats:
    """One row for each text: the first token's, the last's, the greatest of each dimension, or the mean."""
    tokens, mask = np.asarray(tokens, np.float32), np.asarray(mask)
    if tokens.ndim == 2:
        return np.asarray(tokens)
    if pooling == "cls":
        return np.asarray(tokens[:, 0])
    if pooling == "last":
        return np.asarray(tokens[np.arange(len(tokens)), mask.sum(axis=1) - 1])
    if pooling == "max":
        return np.asarray(np.where(mask[:, :, None] > 0, tokens, -np.inf).max(axis=1))
    weights = mask[:, :, None].astype(np.float32)
    return np.asarray((tokens * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9))


def _pooling(path: Path) -> str:
    config = _json(path / "1_Pooling" / "config.json")
    if isinstance(mode := config.get("pooling_mode"), str):
        return {"lasttoken": "last"}.get(mode, mode)
    named = {"pooling_mode_cls_token": "cls", "pooling_mode_max_tokens": "max", "pooling_mode_lasttoken": "last"}
    return next((name for key, name in named.items() if config.get(key)), "mean")


def _denses(path: Path) -> list[tuple[Floats, Floats]]:
    """Layers after the pooling, such as LaBSE's: a matrix, a shift, tanh."""
    found = []
    for folder in sorted(path.glob("[0-9]_Dense")):
        config, file = _json(folder / "config.json"), folder / "model.safetensors"
        if not file.is_file() or "Tanh" not in str(config.get("activation_function", "")):
            raise ModelError(f"{folder} can't be read without sentence-transformers' own code: use its torch weights")
        arrays = library("safetensors.numpy").load_file(str(file))
        weight = np.asarray(arrays["linear.weight"], np.float32)
        found.append((weight, np.asarray(arrays.get("linear.bias", np.zeros(len(weight))), np.float32)))
    return found


def _prompt(path: Path, names: Sequence[str], given: str | None) -> str:
    if given is not None:
        return given
    prompts = _json(path / "config_sentence_transformers.json").get("prompts") or {}
    return next((str(prompts[name]) for name in names if prompts.get(name)), "")


def _longest(path: Path) -> int:
    length = _json(path / "sentence_bert_config.json").get("max_seq_length")
    return int(length or min(_json(path / "config.json").get("max_position_embeddings") or _LONGEST, _LONGEST))


def session(path: Path) -> Any:
    """The folder's ONNX model, ready to run."""
    runtime = library("onnxruntime")
    providers = [p for p in runtime.get_available_providers() if p.startswith(("CUDA", "CPU"))]
    return runtime.InferenceSession(str(onnx_file(path)), providers=providers)


def onnx_file(path: Path) -> Path | None:
    return next((file for file in (path / "model.onnx", path / "onnx" / "model.onnx") if file.is_file()), None)


def _static(path: Path) -> Path | None:
    """The table of a static model; a transformer's weights have the same name, but no such configuration."""
    modules = path / "modules.json"
    static = modules.is_file() and b"StaticEmbedding" in modules.read_bytes()
    if static or _json(path / "config.json").get("model_type") == "model2vec":
        for folder in (path / "0_StaticEmbedding", path):
            if (folder / "model.safetensors").is_file() and (folder / "tokenizer.json").is_file():
                return folder / "model.safetensors"
    return None


def _json(path: Path) -> dict[str, Any]:
    """What a file says; an empty object where there is none, or something else."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return content if isinstance(content, dict) else {}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} can't be read ({error}): copy the model again") from None


def library(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(f"this model ({module})", "encoder") from None
