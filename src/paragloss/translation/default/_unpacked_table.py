"""A packed model as a Table, whole: for those who go on learning from it. Takes memory that the packed one does not."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp

from paragloss.translation.default._model import FALLBACK, DefaultModel
from paragloss.translation.default._rows import Rows, levels
from paragloss.translation.word_table import Table, TermSpellings, prune


def table(model: DefaultModel, pairs: Iterable[tuple[str, str]]) -> Table:
    """The model's probabilities between some languages; pairs that it does not have are left out."""
    wanted = [(a, b) for a, b in pairs if {a, b} <= set(model.langs)]
    words = {lang: _words(model, lang) for pair in wanted for lang in pair}
    return Table(words, {(a, b): _probability(model, a, b) for a, b in wanted})


def _words(model: DefaultModel, lang: str) -> TermSpellings:
    entries = [model._entry_of(lang, number) for number in range(len(model._open(lang).words))]
    return TermSpellings([term for term, _ in entries], [spelling for _, spelling in entries])


def _probability(model: DefaultModel, source: str, target: str) -> sp.csr_matrix:
    """Straight from or to English, else through it."""
    first = _into_english(model, source) if source != FALLBACK else None
    second = _from_english(model, target) if target != FALLBACK else None
    both = first @ second if first is not None and second is not None else first if second is None else second
    return prune(both, min_probability=0.01, most=20)


def _from_english(model: DefaultModel, lang: str) -> sp.csr_matrix:
    """(all English words, words of the language)"""
    opened = model._open(lang)
    assert opened.there is not None
    here = _matrix(opened.there, len(opened.words))
    rows = sp.csr_matrix(
        (np.ones(len(opened.english)), (opened.english, np.arange(len(opened.english)))),
        shape=(len(model._open(FALLBACK).words), len(opened.english)),
    )
    return (rows @ here).tocsr()


def _into_english(model: DefaultModel, lang: str) -> sp.csr_matrix:
    """(words of the language, all English words)"""
    opened = model._open(lang)
    assert opened.back is not None
    here = _matrix(opened.back, len(opened.english))
    shape = (len(opened.words), len(model._open(FALLBACK).words))
    return sp.csr_matrix((here.data, opened.english[here.indices], here.indptr), shape=shape)


def _matrix(rows: Rows, width: int) -> sp.csr_matrix:
    start = np.concatenate([[0], np.cumsum(rows.sizes.astype(np.int64))])
    return sp.csr_matrix((levels(rows.weights), rows.targets.astype(np.int64), start), shape=(len(rows.sizes), width))
