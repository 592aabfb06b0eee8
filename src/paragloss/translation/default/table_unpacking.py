"""Unpack a default model as a Table, from which `train table --start default` continues. This takes much memory."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp

from paragloss.translation.default._model import PIVOT, DefaultModel
from paragloss.translation.default._rows import TranslationRows, decode_weights
from paragloss.translation.word_table import Table, TermSpellings, prune

_MIN_PROBABILITY = 0.01
_MAX_TRANSLATIONS = 20


def unpack_table(model: DefaultModel, pairs: Iterable[tuple[str, str]]) -> Table:
    """Return the model's probabilities between some languages; pairs that it does not have are left out."""
    known_pairs = [(source, target) for source, target in pairs if {source, target} <= set(model.langs)]
    words = {lang: _list_words(model, lang) for pair in known_pairs for lang in pair}
    return Table(
        words, {(source, target): _compute_probabilities(model, source, target) for source, target in known_pairs}
    )


def _list_words(model: DefaultModel, lang: str) -> TermSpellings:
    words = model.read_language(lang).words
    entries = [words.entry(number) for number in range(len(words))]
    return TermSpellings([term for term, _ in entries], [spelling for _, spelling in entries])


def _compute_probabilities(model: DefaultModel, source: str, target: str) -> sp.csr_matrix:
    """Return P(target word | source word): directly from or to English, otherwise through it."""
    if source == PIVOT:
        probabilities = _from_english(model, target)
    elif target == PIVOT:
        probabilities = _into_english(model, source)
    else:
        probabilities = _into_english(model, source) @ _from_english(model, target)
    return prune(probabilities, min_probability=_MIN_PROBABILITY, most=_MAX_TRANSLATIONS)


def _from_english(model: DefaultModel, lang: str) -> sp.csr_matrix:
    """Return (all English words, words of the language)."""
    language = model.read_language(lang)
    assert language.from_english is not None
    known_rows = _make_matrix(language.from_english, len(language.words))
    n_known = len(language.english)
    placement = sp.csr_matrix(
        (np.ones(n_known), (language.english, np.arange(n_known))),
        shape=(len(model.read_language(PIVOT).words), n_known),
    )
    return (placement @ known_rows).tocsr()


def _into_english(model: DefaultModel, lang: str) -> sp.csr_matrix:
    """Return (words of the language, all English words)."""
    language = model.read_language(lang)
    assert language.into_english is not None
    known_columns = _make_matrix(language.into_english, len(language.english))
    shape = (len(language.words), len(model.read_language(PIVOT).words))
    return sp.csr_matrix(
        (known_columns.data, language.english[known_columns.indices], known_columns.indptr), shape=shape
    )


def _make_matrix(rows: TranslationRows, width: int) -> sp.csr_matrix:
    starts = np.concatenate([[0], np.cumsum(rows.sizes.astype(np.int64))])
    shape = (len(rows.sizes), width)
    return sp.csr_matrix((decode_weights(rows.weights), rows.targets.astype(np.int64), starts), shape=shape)
