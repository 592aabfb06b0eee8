"""Make a translation table from a pretrained encoder: for each word the nearest words of the other language, by CSLS.

Searching with the table needs no encoder. It helps where dictionaries and parallel texts are rare, in addition to what
was learned from them (docs/do/translation.md). The texts only say which words there are: they need not be translations
of each other.
"""

from __future__ import annotations

from itertools import chain, permutations
from typing import Annotated

import numpy as np
import scipy.sparse as sp

from paragloss.encoders import pretrained
from paragloss.errors import InputError
from paragloss.lab.settings import Seed, Setting, checked
from paragloss.ranking import neighbourhood
from paragloss.translation.parallel_terms import tokenize_texts
from paragloss.translation.word_table import Table, TermSpellings, prune
from paragloss.types import Aligned, Floats, Integers

#: Weight of such translations in a mixture in which the default model has weight 1.
TRUST = 0.25


@checked
def fit(
    aligned: Aligned,
    *,
    model: Annotated[str, Setting("The encoder: e5, use, the folder of a model, or an endpoint.")] = "e5",
    source: Annotated[str, Setting("Learn tables from this language only.")] = "",
    target: Annotated[str, Setting("Learn tables into this language only.")] = "",
    words: Annotated[int, Setting("Number of most frequent words of each language.", min=2, max=1_000_000)] = 50_000,
    nearest: Annotated[int, Setting("Translations of a word.", min=1, max=100)] = 5,
    temperature: Annotated[
        float, Setting("Temperature of the softmax over CSLS that gives a translation's weight.", above=0, max=100)
    ] = 0.05,
    seed: Seed = 0,
) -> Table:
    """Make a table for every two languages of the texts, in both directions.

    A translation's weight is exp(CSLS / `temperature`), the `nearest` of a word summing to one. `seed` is taken as
    every `fit` takes one; nothing here is random.

    :param aligned: concepts with texts, from which the words are taken
    :return: a table for each direction between two languages
    """
    directions = _list_directions(aligned, source, target)
    if not pretrained.can_open(model):
        raise InputError(f"no encoder {model!r}: expected e5, use, a model's folder or the address of an endpoint")
    encoder = pretrained.open_encoder(pretrained.settings_for(model))
    terms, vectors = {}, {}
    for lang in dict.fromkeys(chain(*directions)):
        terms[lang] = list_frequent_terms(aligned, lang, words)
        vectors[lang] = encoder.encode_rows(terms[lang].surfaces, lang, query=True)
    tables = {}
    for from_lang, to_lang in directions:
        tables[from_lang, to_lang] = find_nearest_words(
            vectors[from_lang], vectors[to_lang], nearest=nearest, temperature=temperature
        )
    return Table(terms, tables, max_alternatives=nearest, trust=TRUST)


def _list_directions(aligned: Aligned, source: str, target: str) -> list[tuple[str, str]]:
    """List the pairs of different languages of the texts, from `source` and to `target` ("" for any)."""
    langs = sorted({lang for concept in aligned for lang in concept.texts})
    directions = []
    for from_lang, to_lang in permutations(langs, 2):
        if source in ("", from_lang) and target in ("", to_lang):
            directions.append((from_lang, to_lang))
    if not directions:
        raise InputError(f"no words to compare {source or 'any'}->{target or 'any'}: texts are in {', '.join(langs)}")
    return directions


def list_frequent_terms(aligned: Aligned, lang: str, max_terms: int) -> TermSpellings:
    """List the most frequent terms of a language's texts, each with its most frequent spelling."""
    texts = []
    for concept in aligned:
        texts += [text for text in (concept.titles.get(lang), concept.texts.get(lang)) if text]
    sequences, spellings = tokenize_texts(texts, lang)
    counts = np.bincount(sequences.terms, minlength=sequences.n_terms)
    order = np.argsort(-counts, kind="stable")[:max_terms].tolist()
    return TermSpellings([spellings.terms[i] for i in order], [spellings.surfaces[i] for i in order])


def find_nearest_words(
    rows: Floats, targets: Floats, *, nearest: int, temperature: float, block: int = 1024
) -> sp.csr_matrix:
    """Find the `nearest` targets of each row by CSLS; return their shares as a matrix (rows, targets).

    :param rows: (rows, dim) unit vectors
    :param targets: (targets, dim) unit vectors
    :param temperature: a share is proportional to exp(CSLS / temperature)
    :param block: rows computed at a time
    """
    target_hubness = neighbourhood(targets, rows)  # (targets,)
    row_hubness = neighbourhood(rows, targets)  # (rows,)
    k = min(nearest, len(targets))
    column_parts, share_parts = [], []
    for start in range(0, len(rows), block):
        stop = start + block
        csls = 2 * rows[start:stop] @ targets.T - target_hubness - row_hubness[start:stop, None]
        best_columns = np.argpartition(-csls, k - 1, axis=1)[:, :k]  # (rows of the block, k)
        best_csls = np.take_along_axis(csls, best_columns, axis=1)
        highest = best_csls.max(axis=1, keepdims=True)  # subtracted so that nothing overflows
        column_parts.append(best_columns)
        share_parts.append(np.exp((best_csls - highest) / temperature))
    matrix = _make_matrix(np.concatenate(column_parts), np.concatenate(share_parts), len(targets))
    return prune(matrix, min_probability=0.0, most=nearest)


def _make_matrix(columns: Integers, values: Floats, n_columns: int) -> sp.csr_matrix:
    """Make a sparse matrix of rows that have k entries each; `columns` and `values` are (rows, k)."""
    starts = np.arange(0, columns.size + 1, columns.shape[1])
    entries = (values.ravel().astype(np.float64), columns.ravel(), starts)
    return sp.csr_matrix(entries, shape=(len(columns), n_columns))
