"""Translations that a pretrained encoder knows: for each word the nearest words of the other language, by CSLS.

The encoder is the teacher; what is kept is a table of words, and searching with it needs no encoder. It pays where
dictionaries and texts are thin, beside what was learned from them (docs/do/translation.md). The texts given only say
which words there are: they need not be translations of each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Annotated

import numpy as np
import scipy.sparse as sp

from paragloss.encoders import pretrained
from paragloss.errors import InputError
from paragloss.lab.settings import Seed, Setting, checked
from paragloss.ranking import neighbourhood
from paragloss.translation.parallel_terms import tokenize_texts
from paragloss.translation.word_table import Table, TermSpellings, prune
from paragloss.types import Aligned, Floats

#: What such translations count in a mixture where the model in the box counts 1.
TRUST = 0.25


@checked
def fit(
    aligned: Aligned,
    *,
    model: Annotated[str, Setting("The encoder: e5, use, the folder of a model, or an endpoint.")] = "e5",
    source: Annotated[str, Setting("Only tables from this language.")] = "",
    target: Annotated[str, Setting("Only tables into this language.")] = "",
    words: Annotated[int, Setting("How many of a language's commonest words.", min=2, max=1_000_000)] = 50_000,
    nearest: Annotated[int, Setting("How many translations of a word.", min=1, max=100)] = 5,
    temperature: Annotated[
        float, Setting("How fast a translation's weight falls with its CSLS.", above=0, max=100)
    ] = 0.05,
    seed: Seed = 0,
) -> Table:
    """Make a table for every two languages of the texts, in both directions.

    A translation's weight is exp(CSLS / `temperature`), the `nearest` of a word summing to one. `seed` is taken as
    every `fit` takes one; nothing here is random.
    """
    langs = sorted({lang for concept in aligned for lang in concept.texts})
    directions = [pair for pair in permutations(langs, 2) if source in ("", pair[0]) and target in ("", pair[1])]
    if not directions:
        raise InputError(f"no words to compare {source or 'any'}->{target or 'any'}: texts are in {', '.join(langs)}")
    if not pretrained.can_open(model):
        raise InputError(f"no encoder {model!r}: expected e5, use, a model's folder or the address of an endpoint")
    encoder = pretrained.open_encoder(pretrained.settings_for(model))
    common = {
        lang: list_frequent_terms(aligned, lang, words)
        for lang in dict.fromkeys(lang for pair in directions for lang in pair)
    }
    rows = {lang: encoder.encode_rows(lang_words.surfaces, lang, query=True) for lang, lang_words in common.items()}
    tables = {
        (a, b): find_nearest_words(rows[a], rows[b], nearest=nearest, temperature=temperature) for a, b in directions
    }
    return Table(common, tables, most=nearest, trust=TRUST)


def list_frequent_terms(aligned: Aligned, lang: str, max_terms: int) -> TermSpellings:
    """List the most frequent terms of a language's texts, each with its most frequent spelling."""
    texts = [text for c in aligned for text in (c.titles.get(lang), c.texts.get(lang)) if text]
    _, flat, words = tokenize_texts(texts, lang)
    order = np.argsort(-np.bincount(flat, minlength=len(words.terms)), kind="stable")[:max_terms].tolist()
    return TermSpellings([words.terms[i] for i in order], [words.surfaces[i] for i in order])


def find_nearest_words(
    rows: Floats, targets: Floats, *, nearest: int, temperature: float, block: int = 1024
) -> sp.csr_matrix:
    """Find the `nearest` targets of each row by CSLS; return their shares as a matrix (rows, targets)."""
    hubs, own = neighbourhood(targets, rows), neighbourhood(rows, targets)
    k = min(nearest, len(targets))
    columns, values = [], []
    for start in range(0, len(rows), block):
        scores = 2 * rows[start : start + block] @ targets.T - hubs - own[start : start + block, None]
        best = np.argpartition(-scores, k - 1, axis=1)[:, :k]
        csls = np.take_along_axis(scores, best, axis=1)
        columns.append(best)
        values.append(np.exp((csls - csls.max(axis=1, keepdims=True)) / temperature))
    return prune(_matrix(columns, values, (len(rows), len(targets))), min_probability=0.0, most=nearest)


def _matrix(columns: Sequence[np.ndarray], values: Sequence[np.ndarray], shape: tuple[int, int]) -> sp.csr_matrix:
    flat, k = np.concatenate(columns), columns[0].shape[1]
    start = np.arange(0, flat.size + 1, k)
    return sp.csr_matrix((np.concatenate(values).ravel().astype(np.float64), flat.ravel(), start), shape=shape)
