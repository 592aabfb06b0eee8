"""Open encoders that are stored in a folder, as they are published.

Three kinds are supported: ONNX (`model.onnx` beside `tokenizer.json`, run by onnxruntime), static word vectors
(`model.safetensors` of model2vec and of sentence-transformers' StaticEmbedding, run by numpy), and anything that
sentence-transformers opens. The encoder that Paragloss ships is a folder of the first kind. Pooling, prompts, maximal
length and further layers are read from the folder's configuration files.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from paragloss.errors import LanguageError, MissingExtraError, ModelError
from paragloss.languages import normalise
from paragloss.types import Floats

PASSAGE_PROMPT_NAMES = ("passage", "document", "corpus")
#: Texts that sentence-transformers encodes together.
BATCH_SIZE = 16
#: The maximal number of tokens of a text where the folder does not say.
DEFAULT_MAX_TOKENS = 512
#: A model up to this size is loaded once per process and run by one thread in each; a larger one is loaded once and run
#: by all threads.
MAX_BYTES_PER_PROCESS = 300_000_000
#: The languages in the front matter of a model card: lines that begin with a dash, a list in brackets, or one word.
_CARD_LANGUAGES = re.compile(r"^language:[ \t]*((?:\n\s*-\s*[\w-]+)+|\[[^\]]*\]|[\w-]+)", re.MULTILINE)
_LANGUAGE_CODE = re.compile(r"\b[A-Za-z]{2,3}\b")

# onnxruntime reads this when it is imported, which happens when the first text is encoded.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def is_model_folder(path: str | Path) -> bool:
    """Tell whether a folder holds an encoder of a known kind."""
    folder = Path(path)
    if not folder.is_dir():
        return False
    has_modules = (folder / "modules.json").is_file()  # of sentence-transformers
    return has_modules or find_onnx_file(folder) is not None or _find_static_table(folder) is not None


def open_model_folder(
    path: Path, *, query_prompt: str | None = None, passage_prompt: str | None = None
) -> OnnxEncoder | StaticEncoder | SentenceTransformerEncoder:
    """Open the encoder in a folder.

    :param query_prompt: put before queries; None for the folder's own prompt
    :param passage_prompt: put before passages, likewise
    :raises ModelError: if the folder holds no encoder
    """
    if not is_model_folder(path):
        raise ModelError(f"{path} holds no encoder: expected model.onnx and tokenizer.json, or modules.json")
    prompts = {
        True: _read_prompt(path, ("query",), query_prompt),
        False: _read_prompt(path, PASSAGE_PROMPT_NAMES, passage_prompt),
    }
    if _find_static_table(path):
        return StaticEncoder(path, prompts)
    return OnnxEncoder(path, prompts) if find_onnx_file(path) else SentenceTransformerEncoder(path, prompts)


def read_card_languages(path: Path) -> list[str]:
    """Return the languages that the model card of a folder declares, if there is one."""
    declaration = _CARD_LANGUAGES.search(_read_front_matter(path / "README.md"))
    if declaration is None:
        return []
    languages = set()
    for code in _LANGUAGE_CODE.findall(declaration.group(1)):
        with suppress(LanguageError):  # another word
            languages.add(normalise(code))
    return sorted(languages)


def _read_front_matter(path: Path) -> str:
    """Return the YAML at the beginning of a Markdown file, between lines of dashes; "" if there is none."""
    try:
        return path.read_text(encoding="utf-8").split("---")[1]
    except (OSError, IndexError, UnicodeDecodeError):
        return ""


class OnnxEncoder:
    """A transformer exported to ONNX.

    An output `sentence_embedding` is used as it is; otherwise the vectors of tokens are pooled. The model is loaded
    when the first text is encoded.

    Texts are run one by one: on a processor batches are no faster and need padding, and int8 models scale the
    activations of a whole batch together, so that a vector would depend on the other texts of its batch.
    """

    def __init__(self, path: Path, prompts: dict[bool, str]) -> None:
        self._path, self._prompts = path, prompts
        self._runner: _OnnxRunner | None = None
        self._dim = int(_read_json(path / "config.json").get("sentence_embedding_dimension") or 0)

    @property
    def multithreaded(self) -> bool:
        """Whether one process uses all processors."""
        file = find_onnx_file(self._path)
        return file is not None and file.stat().st_size > MAX_BYTES_PER_PROCESS

    @property
    def dim(self) -> int:
        """The number of columns of the vectors."""
        if not self._dim:
            self._dim = self.encode(["?"], query=True).shape[1]
        return self._dim

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats:
        """Return one row per text, encoded as queries or as passages."""
        if self._runner is None:
            self._runner = _OnnxRunner(self._path, multithreaded=self.multithreaded)
        return np.stack([self._runner.encode(self._prompts[query] + text) for text in texts])


class _OnnxRunner:
    """A loaded ONNX model with its tokenizer. Threads may share it."""

    def __init__(self, path: Path, *, multithreaded: bool) -> None:
        self._tokenizer = load_tokenizer(path)
        self._session = make_session(path, multithreaded=multithreaded)
        self._input_names = {node.name for node in self._session.get_inputs()}
        self._output_names = [node.name for node in self._session.get_outputs()]
        self._pooling, self._dense_layers = _read_pooling(path), _read_dense_layers(path)

    def encode(self, text: str) -> Floats:
        """Return the vector of a text: (dim,)."""
        inputs = make_onnx_inputs(self._tokenizer, [text], self._input_names)
        outputs = dict(zip(self._output_names, self._session.run(None, inputs), strict=True))
        if "sentence_embedding" in outputs:
            return np.asarray(outputs["sentence_embedding"][0], np.float32)
        token_vectors = outputs[self._output_names[0]]  # (1, tokens, width)
        mask = inputs.get("attention_mask", np.ones(token_vectors.shape[:2], np.int64))
        rows = pool_tokens(token_vectors, mask, self._pooling)
        for weight, bias in self._dense_layers:
            rows = np.tanh(rows @ weight.T + bias)
        return np.asarray(rows[0], np.float32)


class StaticEncoder:
    """A vector for each token, averaged: fast, and less accurate than a transformer."""

    multithreaded = True

    def __init__(self, path: Path, prompts: dict[bool, str]) -> None:
        """Load the table of token vectors and the tokenizer of a folder.

        :param path: the folder, in which `_find_static_table` finds a table.
        :param prompts: what is put before queries (True) and before passages (False).
        """
        file = _find_static_table(path)
        assert file is not None
        self._table = _read_static_table(file)
        self._prompts = prompts
        self._tokenizer = load_tokenizer(file.parent)
        self._tokenizer.no_padding()
        self.dim = self._table.shape[1]
        token_count = self._tokenizer.get_vocab_size()
        if token_count > len(self._table):
            raise ModelError(f"{file} has {len(self._table)} vectors for {token_count} tokens: copy the model again")

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats:
        """Return one row per text; a text without a token has the row 0."""
        prompted_texts = [self._prompts[query] + text for text in texts]
        encodings = self._tokenizer.encode_batch(prompted_texts, add_special_tokens=False)
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, encoding in zip(rows, encodings, strict=True):
            if encoding.ids:
                row[:] = self._table[encoding.ids].mean(axis=0)
        return rows


class SentenceTransformerEncoder:
    """Any model that sentence-transformers opens, on the device that it chooses."""

    multithreaded = True

    def __init__(self, path: Path, prompts: dict[bool, str]) -> None:
        package = import_extra("sentence_transformers")
        self._model: Any = package.SentenceTransformer(str(path), local_files_only=True)
        self._prompts = prompts
        self.dim = int(self._model.encode(["?"]).shape[1])

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats:
        """Return one row per text, encoded as queries or as passages."""
        rows = self._model.encode(
            list(texts), prompt=self._prompts[query], batch_size=BATCH_SIZE, show_progress_bar=False
        )
        return np.asarray(rows, np.float32)


def load_tokenizer(path: Path) -> Any:
    """Load the tokenizer of a folder; it truncates texts to the maximal length of the model and pads batches."""
    tokenizers = import_extra("tokenizers")
    if not (path / "tokenizer.json").is_file():
        raise ModelError(f"{path} holds no tokenizer.json: export the model with its fast tokenizer")
    tokenizer = tokenizers.Tokenizer.from_file(str(path / "tokenizer.json"))
    tokenizer.enable_truncation(max_length=_read_max_tokens(path))
    pad_id = _read_json(path / "config.json").get("pad_token_id") or 0
    tokenizer.enable_padding(pad_id=pad_id, pad_token=tokenizer.id_to_token(pad_id) or "[PAD]")
    return tokenizer


def make_session(path: Path, *, multithreaded: bool = True) -> Any:
    """Return an onnxruntime session for the ONNX model of a folder."""
    runtime = import_extra("onnxruntime")
    providers = [p for p in runtime.get_available_providers() if p.startswith(("CUDA", "CPU"))]
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    if not multithreaded:
        options.intra_op_num_threads = options.inter_op_num_threads = 1
    return runtime.InferenceSession(str(find_onnx_file(path)), options, providers=providers)


def make_onnx_inputs(tokenizer: Any, texts: list[Any], input_names: set[str]) -> dict[str, Any]:
    """Tokenize texts, or pairs of texts, into the inputs that an ONNX model takes."""
    encodings = tokenizer.encode_batch(texts)
    inputs = {
        "input_ids": np.array([encoding.ids for encoding in encodings], np.int64),
        "attention_mask": np.array([encoding.attention_mask for encoding in encodings], np.int64),
        "token_type_ids": np.array([encoding.type_ids for encoding in encodings], np.int64),
    }
    return {name: array for name, array in inputs.items() if name in input_names}


def pool_tokens(token_vectors: Any, mask: Any, pooling: str) -> Floats:
    """Reduce the vectors of tokens to one row per text: (texts, dim).

    :param token_vectors: (texts, tokens, dim); what has one row per text already is returned as it is
    :param mask: (texts, tokens), 0 for padding
    :param pooling: "cls" (the first token), "last", "max" (of each dimension) or "mean"
    """
    token_vectors, mask = np.asarray(token_vectors, np.float32), np.asarray(mask)
    if token_vectors.ndim == 2:
        return np.asarray(token_vectors)
    weights = mask[:, :, None].astype(np.float32)
    if pooling == "cls":
        rows = token_vectors[:, 0]
    elif pooling == "last":
        last_tokens = mask.sum(axis=1) - 1
        rows = token_vectors[np.arange(len(token_vectors)), last_tokens]
    elif pooling == "max":
        rows = np.where(weights > 0, token_vectors, -np.inf).max(axis=1)
    else:
        token_counts = np.maximum(weights.sum(axis=1), 1e-9)
        rows = (token_vectors * weights).sum(axis=1) / token_counts
    return np.asarray(rows)


def find_onnx_file(path: Path) -> Path | None:
    """Return the ONNX file of a folder, if it has one."""
    for file in (path / "model.onnx", path / "onnx" / "model.onnx"):
        if file.is_file():
            return file
    return None


def import_extra(module: str) -> Any:
    """Import a package of the extra `encoder`; raise MissingExtraError if it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(f"this model ({module})", "encoder") from None


def _read_static_table(file: Path) -> Floats:
    """Return the only table of a safetensors file: (tokens, dim)."""
    arrays = import_extra("safetensors.numpy").load_file(str(file))
    tables = [array for array in arrays.values() if array.ndim == 2]
    if len(tables) != 1:
        raise ModelError(f"{file} holds {len(tables)} tables: expected one of vectors for tokens")
    return np.asarray(tables[0], np.float32)


def _read_pooling(path: Path) -> str:
    """Return how a model reduces token vectors to one, as `pool_tokens` names it; "mean" if its folder says nothing."""
    config = _read_json(path / "1_Pooling" / "config.json")
    mode = config.get("pooling_mode")
    if isinstance(mode, str):
        return "last" if mode == "lasttoken" else mode
    pooling_by_flag = {
        "pooling_mode_cls_token": "cls",
        "pooling_mode_max_tokens": "max",
        "pooling_mode_lasttoken": "last",
    }
    for flag, pooling in pooling_by_flag.items():
        if config.get(flag):
            return pooling
    return "mean"


def _read_dense_layers(path: Path) -> list[tuple[Floats, Floats]]:
    """Return matrix (out, in) and bias (out,) of the tanh layers after the pooling, such as LaBSE's.

    :raises ModelError: if a layer has no safetensors file or another activation
    """
    layers = []
    for folder in sorted(path.glob("[0-9]_Dense")):
        file = folder / "model.safetensors"
        activation = str(_read_json(folder / "config.json").get("activation_function", ""))
        if not file.is_file() or "Tanh" not in activation:
            raise ModelError(f"{folder} can't be read without sentence-transformers' own code: use its torch weights")
        arrays = import_extra("safetensors.numpy").load_file(str(file))
        weight = np.asarray(arrays["linear.weight"], np.float32)
        bias = np.asarray(arrays.get("linear.bias", np.zeros(len(weight))), np.float32)
        layers.append((weight, bias))
    return layers


def _read_prompt(path: Path, names: Sequence[str], override: str | None) -> str:
    """Return what is put before texts: `override` if given, else the folder's first prompt of these names, else ""."""
    if override is not None:
        return override
    prompts = _read_json(path / "config_sentence_transformers.json").get("prompts") or {}
    for name in names:
        if prompts.get(name):
            return str(prompts[name])
    return ""


def _read_max_tokens(path: Path) -> int:
    length = _read_json(path / "sentence_bert_config.json").get("max_seq_length")
    if length:
        return int(length)
    positions = _read_json(path / "config.json").get("max_position_embeddings") or DEFAULT_MAX_TOKENS
    return int(min(positions, DEFAULT_MAX_TOKENS))


def _find_static_table(path: Path) -> Path | None:
    """Return the file with the word vectors of a static model, or None if the folder holds no static model.

    The weights of a transformer lie in a file of the same name: the folder's settings tell which it is.
    """
    modules = path / "modules.json"
    has_static_module = modules.is_file() and b"StaticEmbedding" in modules.read_bytes()
    if not has_static_module and _read_json(path / "config.json").get("model_type") != "model2vec":
        return None
    for folder in (path / "0_StaticEmbedding", path):
        table = folder / "model.safetensors"
        if table.is_file() and (folder / "tokenizer.json").is_file():
            return table
    return None


def _read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one if the file is missing or holds something else."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} can't be read ({error}): copy the model again") from None
    return content if isinstance(content, dict) else {}
