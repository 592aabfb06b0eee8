"""Synthetic documents with the statistics that matter to a solver: Zipf's law, topics shared by the languages, aligned
concepts. Made by seed, on a processor or a graphics card, as tf-idf rows of unit length in compressed form."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch


class Language(NamedTuple):
    """One language's documents, by rows and by columns: (indptr, indices, values), int32 and float32."""

    rows: tuple[torch.Tensor, torch.Tensor, torch.Tensor]
    columns: tuple[torch.Tensor, torch.Tensor, torch.Tensor]
    shape: tuple[int, int]
    concepts: torch.Tensor

    def scipy(self) -> sp.csr_matrix:
        indptr, indices, values = (part.cpu().numpy() for part in self.rows)
        return sp.csr_matrix((values, indices, indptr), shape=self.shape)


def languages(
    concepts: int,
    count: int,
    terms: int,
    *,
    tokens: int = 170,
    topics: int = 3000,
    coverage: float = 1.0,
    seed: int = 0,
    device: str = "cpu",
) -> list[Language]:
    """Each concept has three topics, some topics being more common than others. A word of a document is a common one
    (Zipf over the whole vocabulary) or, half of the time, one of its topics' 300 words (Zipf again). `tokens` words
    give about five sixths as many distinct ones. `coverage` is the share of concepts a language has."""
    chance = torch.Generator(device).manual_seed(seed)
    about = _zipf(topics, (concepts, 3), 0.7, chance, device)
    matrices = []
    for _ in range(count):
        is_covered = torch.rand(concepts, generator=chance, device=device) < coverage
        owned = is_covered.nonzero()[:, 0]
        topic_words = _zipf(terms, (topics, 300), 0.7, chance, device)
        pieces = []
        for start in range(0, len(owned), 50_000):
            part = owned[start : start + 50_000]
            shape = (len(part), tokens)
            common = _zipf(terms, shape, 1.0, chance, device)
            topic_of = torch.randint(3, shape, generator=chance, device=device)
            topic = about[part].gather(1, topic_of)
            special = topic_words[topic, _zipf(300, shape, 0.9, chance, device)]
            word = torch.where(torch.rand(shape, generator=chance, device=device) < 0.5, common, special)
            row = torch.arange(start, start + len(part), device=device)[:, None]
            pieces.append((row * terms + word).flatten().unique(return_counts=True))
        key, counts = torch.cat([k for k, _ in pieces]), torch.cat([c for _, c in pieces])
        matrices.append(_compressed(key, counts, len(owned), terms, owned))
    return matrices


def _zipf(size: int, shape: tuple[int, ...], power: float, chance: torch.Generator, device: str) -> torch.Tensor:
    """Ranks 0 .. size-1 with probability about (rank + 2)^-power, by inverting the integral."""
    u = torch.rand(shape, generator=chance, device=device, dtype=torch.float64)
    if power == 1.0:
        x = 2 * torch.exp(u * math.log((size + 2) / 2))
    else:
        low, high = 2 ** (1 - power), (size + 2) ** (1 - power)
        x = (low + u * (high - low)) ** (1 / (1 - power))
    return (x.long() - 2).clamp(0, size - 1)


def _compressed(key: torch.Tensor, counts: torch.Tensor, docs: int, terms: int, owned: torch.Tensor) -> Language:
    row, word = key // terms, key % terms
    df = torch.bincount(word, minlength=terms).clamp(min=1)
    values = counts.float() * (torch.log(docs / df.float()) + 1)[word]
    norms = torch.zeros(docs, device=key.device).index_add_(0, row, values * values).sqrt()
    values = values / norms[row]
    by_column = torch.argsort(word * docs + row)
    return Language(
        (_pointers(row, docs), word.int(), values),
        (_pointers(word[by_column], terms), row[by_column].int(), values[by_column]),
        (docs, terms),
        owned,
    )


def _pointers(owner: torch.Tensor, size: int) -> torch.Tensor:
    edges = torch.zeros(size + 1, dtype=torch.int64, device=owner.device)
    edges[1:] = torch.bincount(owner, minlength=size).cumsum(0)
    return edges.int()


def mean_nonzeros(parts: list[Language]) -> float:
    return float(np.mean([len(part.rows[1]) / part.shape[0] for part in parts]))
