"""The training file of K-NRM's authors: term ids of a query, of a better and of a worse document. Knows no words."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from paragloss.errors import InputError


class Triples(NamedTuple):
    """Queries, better and worse documents as term ids from 0, and by how much the better one is better."""

    queries: list[list[int]]
    better: list[list[int]]
    worse: list[list[int]]
    margins: list[float]


def read_triples(path: str | Path) -> Triples:
    """The authors' training file: `query<TAB>better<TAB>worse<TAB>difference[<TAB>idf]`, ids from 1 joined by commas.

    An id of -1 is a word out of the vocabulary and left out; the idf column is not used.
    """
    found = Triples([], [], [], [])
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            fields = line.rstrip("\n").split("\t")
            try:
                if len(fields) not in (4, 5):
                    raise ValueError(f"{len(fields)} columns")
                texts = [[i - 1 for i in map(int, field.split(",")) if i != -1] for field in fields[:3]]
                if any(i < 0 for text in texts for i in text):
                    raise ValueError("an id below 1")
                found.margins.append(float(fields[3]))
            except ValueError as error:
                raise InputError(
                    f"{path}:{number}: {error}; expected query, better, worse (ids from 1, with commas), difference"
                ) from None
            for column, text in zip(found[:3], texts, strict=True):
                column.append(text)
    return found
