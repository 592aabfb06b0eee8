"""Word vectors of one language from its own texts: what word-space maps start from when no vectors are given.

The built-in way counts words within a window, takes positive pointwise mutual information and factors it: Levy,
Goldberg and Dagan, "Improving distributional similarity with lessons learned from word embeddings", TACL 2015.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.errors import MissingExtraError
from paragloss.lab.solving.spectral import Product, singular
from paragloss.types import Floats
from paragloss.vocabulary import Vocabulary

TRAINERS = ("ppmi", "word2vec", "fasttext")
#: Pairs held before they are added up.
_PAIRS = 8_000_000


class Vectors(NamedTuple):
    """Words, most frequent first, and one row for each."""

    words: Sequence[str]
    rows: Floats  # (words, dim)


def train(
    texts: Iterable[str], vocabulary: Vocabulary, *, dim: int, seed: int = 0, window: int = 5, trainer: str = "ppmi"
) -> Vectors:
    """Learn vectors for the words of `vocabulary`. `trainer`: ppmi (built in), word2vec or fasttext (gensim)."""
    sentences = [np.asarray(vocabulary.ids(text), np.int32) for text in texts]
    if trainer == "ppmi":
        rows = ppmi_vectors(cooccurrences(sentences, len(vocabulary), window=window), dim=dim, seed=seed)
    else:
        rows = _by_gensim(sentences, vocabulary, dim=dim, seed=seed, window=window, trainer=trainer)
    return Vectors(vocabulary.terms, rows)


def cooccurrences(
    sentences: Iterable[npt.NDArray[np.int32]], words: int, *, window: int = 5, contexts: int = 30_000
) -> sp.csr_matrix:
    """How often each word (rows) stands near each of the `contexts` most frequent words (columns); a neighbour at
    distance d counts (window + 1 - d) / window, the average of word2vec's shrinking windows."""
    contexts = min(contexts, words)
    total = sp.csr_matrix((words, contexts), dtype=np.float32)
    pending: list[npt.NDArray[np.int32]] = []
    buffered = 0
    gap = np.full(window, -1, np.int32)  # no pair crosses the end of a text
    for ids in sentences:
        pending += [ids, gap]
        buffered += (len(ids) + window) * 2 * window
        if buffered > _PAIRS:
            total = total + _window_counts(np.concatenate(pending), words, contexts, window)
            pending, buffered = [], 0
    if pending:
        total = total + _window_counts(np.concatenate(pending), words, contexts, window)
    return total


def _window_counts(stream: npt.NDArray[np.int32], words: int, contexts: int, window: int) -> sp.csr_matrix:
    words_of_pairs, contexts_of_pairs, weight = [], [], []
    for distance in range(1, window + 1):
        left, right = stream[:-distance], stream[distance:]
        for word, context in ((left, right), (right, left)):
            is_pair = (word >= 0) & (context >= 0) & (context < contexts)
            words_of_pairs.append(word[is_pair])
            contexts_of_pairs.append(context[is_pair])
            weight.append(np.full(int(is_pair.sum()), (window + 1 - distance) / window, np.float32))
    pairs = (np.concatenate(weight), (np.concatenate(words_of_pairs), np.concatenate(contexts_of_pairs)))
    return sp.csr_matrix(pairs, shape=(words, contexts))


def ppmi_vectors(counts: sp.csr_matrix, *, dim: int, seed: int = 0, smoothing: float = 0.75) -> Floats:
    """Factor max(0, log(p(w,c) / p(w) p(c)^smoothing)); rows are U S^0.5. A word seen alone has a row of zeros."""
    pairs = counts.tocoo()
    per_word = np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1e-12)
    per_context = np.maximum(np.asarray(counts.sum(axis=0)).ravel(), 1e-12) ** smoothing
    information = np.log(pairs.data * per_context.sum() / (per_word[pairs.row] * per_context[pairs.col]))
    positive = information > 0
    selected = information[positive].astype(np.float32)
    matrix = sp.csr_matrix((selected, (pairs.row[positive], pairs.col[positive])), shape=counts.shape)
    values, contexts = singular(Product(matrix), dim, seed=seed)
    return np.asarray((matrix @ contexts) / np.sqrt(values), np.float32)


def _by_gensim(
    sentences: list[npt.NDArray[np.int32]], vocabulary: Vocabulary, *, dim: int, seed: int, window: int, trainer: str
) -> Floats:
    try:
        from gensim.models import FastText, Word2Vec
    except ImportError:
        raise MissingExtraError(f"training {trainer} vectors", "vectors") from None
    words = [[vocabulary.terms[i] for i in ids] for ids in sentences]
    # One worker: with several the order of updates, and so the vectors, would differ from run to run.
    settings = {"vector_size": dim, "window": window, "min_count": 1, "sg": 1, "workers": 1, "seed": seed, "epochs": 5}
    learned = (FastText if trainer == "fasttext" else Word2Vec)(words, **settings).wv
    rows = np.zeros((len(vocabulary), dim), np.float32)
    for i, term in enumerate(vocabulary.terms):
        if term in learned.key_to_index:
            rows[i] = learned[term]
    return rows
