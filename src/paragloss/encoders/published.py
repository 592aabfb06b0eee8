"""Published word vectors in one space (Cr5's joint_28, aligned fastText, ...) used as a model, from their files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.formats.text import file_stem, format_suffix
from paragloss.formats.vectors import parse_vector_source, read_multilingual_vectors
from paragloss.vocabulary import Vocabulary, by_term

_SUFFIXES = (".vec", ".txt", ".bin", ".w2v")


def files(path: str | Path) -> list[str]:
    """The files of word vectors that a path names: itself, several with commas between them, or a folder of nothing
    else; none where it names something else."""
    named = str(path).split(",")
    if Path(path).is_dir():
        named = [str(file) for file in sorted(Path(path).iterdir())]
    return named if named and all(_is_vectors(file) for file in named) else []


def name(path: str | Path) -> str:
    """What such files are called together, `joint_28` for joint_28_en.txt.gz,joint_28_fr.txt.gz; "" for a folder."""
    if Path(path).is_dir() or not (found := files(path)):
        return ""
    lang, file = parse_vector_source(found[0])
    return re.sub(rf"[._-]?{lang}([._-].*)?$", "", file_stem(file)) or "vectors"


def encoder(paths: Sequence[str]) -> BagEncoder:
    """A text is the sum of its words' vectors, as Cr5's authors have it. Words are looked up as our analysis cuts
    them from a text, and are not stemmed, as they are published."""
    towers = {}
    for lang, (words, rows) in read_multilingual_vectors(paths).items():
        terms, known = by_term(words, rows, lang, stem=False)
        towers[lang] = Tower(Vocabulary(lang, terms, np.ones(len(terms)), 1, stem=False), known)
    return BagEncoder(towers, weighting="count", meta={"method": "vectors", "files": [Path(p).name for p in paths]})


def opened(path: str | Path) -> BagEncoder:
    """A saved bag encoder, or the one that files of word vectors make."""
    return encoder(found) if (found := files(path)) else BagEncoder.load(path)


def _is_vectors(file: str) -> bool:
    path = Path(file.partition("=")[2] or file)
    return path.is_file() and format_suffix(path) in _SUFFIXES
