"""Learn src/paragloss/gloss/word_associations.npz: which English words occur near each other.

    PARAGLOSS_DATA=... python studies/word_associations.py [--dim 64] [--terms 24000]

English texts of open sets (none of those that glosses are measured on), a sentence or a paragraph each; positive
pointwise mutual information of terms that stand in one text, long texts counting no more than short ones;
contexts smoothed by the power .75 (Levy, Goldberg and Dagan, 2015); the strongest directions, of which the spectrum's
square root is kept.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sets import folder

from paragloss.analysis import analyzer
from paragloss.translation import default

OPEN = ("ntrex", "tico19", "cataclysm", "wikidata", "storybooks", "gnome-help", "stellarium", "udhr")
TARGET_PATH = Path(__file__).parents[1] / "src" / "paragloss" / "gloss" / "word_associations.npz"
FEWEST, MIN_ASSOCIATION = 4, 0.2


def texts() -> Iterator[str]:
    """English sentences and paragraphs, with repetitions."""
    for path in sorted((folder() / "tatoeba").glob("en-*.tsv.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from (line.split("\t")[0] for line in lines)
    for name in OPEN:
        with lzma.open(folder() / "open" / "text" / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
            yield from (json.loads(line)["texts"].get("en", "")[:1500] for line in lines)
    for name in ("lohelp", "mdn"):
        with gzip.open(folder() / name / "en.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                yield from (part for part in json.loads(line)["text"][:2000].split("\n") if 20 < len(part) < 600)


def counted(max_terms: int) -> tuple[list[str], sp.csr_matrix]:
    """The most frequent terms that the model in the box can say, and which texts have them."""
    cut, index, ids, starts = analyzer("en").terms, dict[str, int](), list[int](), [0]
    for text in dict.fromkeys(texts()):
        ids += [index.setdefault(term, len(index)) for term in dict.fromkeys(cut(text)) if not term.isdigit()]
        starts.append(len(ids))
    shape = (len(starts) - 1, len(index))
    occurrences = sp.csr_matrix((np.ones(len(ids), np.float32), np.array(ids, np.int32), np.array(starts)), shape=shape)
    often, known_terms = np.asarray(occurrences.sum(axis=0))[0], default.open().vocabulary("en")
    terms = [term for term, column in index.items() if often[column] >= FEWEST and term in known_terms]
    terms.sort(key=lambda term: (-often[index[term]], term))
    return terms[:max_terms], occurrences[:, [index[term] for term in terms[:max_terms]]].tocsr()


def vectors(occurrences: sp.csr_matrix, dim: int) -> np.ndarray:
    """A unit row for each term."""
    long = np.maximum(np.asarray(occurrences.sum(axis=1))[:, 0] - 1, 1)
    together = (occurrences.T @ (sp.diags((1 / long).astype(np.float32)) @ occurrences)).tocsr()
    together.setdiag(0)
    cells, often = together.tocoo(), np.asarray(together.sum(axis=1))[:, 0]
    context = often**0.75 / (often**0.75).sum()
    values = np.log(np.maximum(cells.data / (often[cells.row] * context[cells.col] + 1e-12), 1e-9))
    is_kept = (values > 0) & (cells.data > MIN_ASSOCIATION)
    positive = sp.csr_matrix(
        (values[is_kept].astype(np.float32), (cells.row[is_kept], cells.col[is_kept])), shape=together.shape
    )
    basis = np.random.default_rng(0).standard_normal((positive.shape[1], dim + 16)).astype(np.float32)
    for _ in range(5):
        basis = positive.T @ np.linalg.qr(positive @ basis)[0]
    left, spectrum, _ = np.linalg.svd(basis, full_matrices=False)
    rows = positive @ left[:, :dim] / np.sqrt(np.maximum(spectrum[:dim], 1e-9))
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--dim", type=int, default=64)
    options.add_argument("--terms", type=int, default=24_000)
    arguments = options.parse_args()
    terms, occurrences = counted(arguments.terms)
    rows = np.round(127 * vectors(occurrences, arguments.dim)).astype(np.int8)
    often = np.asarray(occurrences.sum(axis=0))[0]
    weights = (np.log(often.max() / often) + 0.5).astype(np.float16)
    term_bytes = np.frombuffer("\n".join(terms).encode(), np.uint8)
    np.savez_compressed(TARGET_PATH, terms=term_bytes, rows=rows, weights=weights)
    print(f"{len(terms)} terms of {occurrences.shape[0]} texts, {TARGET_PATH.stat().st_size} bytes")


if __name__ == "__main__":
    main()
