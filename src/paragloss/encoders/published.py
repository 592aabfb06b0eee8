"""Use published word vectors in one space (Cr5's joint_28, aligned fastText, ...) as an encoder, from their files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.formats.text import file_stem, format_suffix
from paragloss.formats.vectors import parse_vector_source, read_multilingual_vectors
from paragloss.vocabulary import Vocabulary, merge_word_vectors

_SUFFIXES = (".vec", ".txt", ".bin", ".w2v")


def list_vector_files(path: str | Path) -> list[str]:
    """Return the files of word vectors that a path names, or none if it names something else.

    A path names one file, several separated by commas, or a folder that holds nothing else.
    """
    paths = str(path).split(",")
    if Path(path).is_dir():
        paths = [str(file) for file in sorted(Path(path).iterdir())]
    return paths if paths and all(_is_vector_file(file) for file in paths) else []


def find_common_name(path: str | Path) -> str:
    """Return the common name of files, `joint_28` for joint_28_en.txt.gz,joint_28_fr.txt.gz; "" for a folder."""
    vector_files = list_vector_files(path)
    if Path(path).is_dir() or not vector_files:
        return ""
    lang, file = parse_vector_source(vector_files[0])
    return re.sub(rf"[._-]?{lang}([._-].*)?$", "", file_stem(file)) or "vectors"


def make_vector_encoder(paths: Sequence[str]) -> BagEncoder:
    """Return an encoder that sums the vectors of the words of a text, as the authors of Cr5 do.

    Words are looked up as our analyzers produce them, without stemming, since published words are not stemmed.
    """
    towers = {}
    for lang, (words, rows) in read_multilingual_vectors(paths).items():
        terms, table = merge_word_vectors(words, rows, lang, stem=False)
        towers[lang] = Tower(Vocabulary(lang, terms, np.ones(len(terms)), 1, stem=False), table)
    return BagEncoder(towers, weighting="count", meta={"method": "vectors", "files": [Path(p).name for p in paths]})


def open_bag_encoder(path: str | Path) -> BagEncoder:
    """Open a saved bag encoder, or make one from files of word vectors."""
    vector_files = list_vector_files(path)
    return make_vector_encoder(vector_files) if vector_files else BagEncoder.load(path)


def _is_vector_file(file: str) -> bool:
    path = Path(file.partition("=")[2] or file)
    return path.is_file() and format_suffix(path) in _SUFFIXES
