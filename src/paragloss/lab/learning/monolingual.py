"""Learn word vectors of one language from its own texts; maps between languages start from them.

The built-in way counts words within a window, takes positive pointwise mutual information and factors it: Levy,
Goldberg and Dagan, "Improving distributional similarity with lessons learned from word embeddings", TACL 2015.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.errors import MissingExtraError
from paragloss.lab.solving.spectral import Product, find_singular_vectors
from paragloss.types import Floats
from paragloss.vocabulary import Vocabulary

TRAINERS = ("ppmi", "word2vec", "fasttext")
#: How many of the most frequent words are counted as neighbours.
MAX_CONTEXTS = 30_000
#: Word pairs held in memory before they are summed.
MAX_BUFFERED_PAIRS = 8_000_000
#: Stands between two texts in a stream of word numbers.
NO_WORD = -1
#: Passes of word2vec and fastText over the texts.
GENSIM_EPOCHS = 5


class WordEmbeddings(NamedTuple):
    """Words, most frequent first, and one row for each."""

    words: Sequence[str]
    rows: Floats  # (words, dim)


def train_word_vectors(
    texts: Iterable[str], vocabulary: Vocabulary, *, dim: int, seed: int = 0, window: int = 5, trainer: str = "ppmi"
) -> WordEmbeddings:
    """Learn a vector for each word of a vocabulary from texts of its language.

    :param dim: length of the vectors; the built-in way makes shorter ones of a small vocabulary
    :param window: how many words before and after a word are its context
    :param trainer: "ppmi" (built in), "word2vec" or "fasttext" (both by gensim)
    """
    sentences = [np.asarray(vocabulary.ids(text), np.int32) for text in texts]
    if trainer == "ppmi":
        counts = count_cooccurrences(sentences, len(vocabulary), window=window)
        rows = factor_ppmi(counts, dim=dim, seed=seed)
    else:
        rows = _train_with_gensim(sentences, vocabulary, dim=dim, seed=seed, window=window, trainer=trainer)
    return WordEmbeddings(vocabulary.terms, rows)


def count_cooccurrences(sentences: Iterable[npt.NDArray[np.int32]], n_words: int, *, window: int = 5) -> sp.csr_matrix:
    """Count how often each word occurs near each of the most frequent words: (words, contexts).

    A neighbour at distance d counts (window + 1 - d) / window, the average of word2vec's shrinking windows.

    :param sentences: word numbers of each text; the most frequent word has number 0
    :param n_words: size of the vocabulary
    :param window: the largest distance of neighbours
    """
    n_contexts = min(MAX_CONTEXTS, n_words)
    total = sp.csr_matrix((n_words, n_contexts), dtype=np.float32)
    for stream in _join_sentences(sentences, window):
        total = total + _count_in_window(stream, n_words, n_contexts, window)
    return total


def _join_sentences(sentences: Iterable[npt.NDArray[np.int32]], window: int) -> Iterator[npt.NDArray[np.int32]]:
    """Join texts to streams of word numbers that hold about MAX_BUFFERED_PAIRS pairs of neighbours each.

    Between texts there are `window` times NO_WORD, so that no pair crosses the end of a text.

    :param sentences: word numbers of each text
    :param window: the largest distance of neighbours
    """
    gap = np.full(window, NO_WORD, np.int32)
    buffer: list[npt.NDArray[np.int32]] = []
    n_pairs = 0  # in the buffer, at most
    for word_ids in sentences:
        buffer += [word_ids, gap]
        n_pairs += (len(word_ids) + window) * 2 * window
        if n_pairs > MAX_BUFFERED_PAIRS:
            yield np.concatenate(buffer)
            buffer = []
            n_pairs = 0
    if buffer:
        yield np.concatenate(buffer)


def _count_in_window(stream: npt.NDArray[np.int32], n_words: int, n_contexts: int, window: int) -> sp.csr_matrix:
    """Count the weighted neighbours of each word in a stream of word numbers: (words, contexts).

    :param stream: word numbers; NO_WORD has no neighbours
    :param n_words: size of the vocabulary
    :param n_contexts: words with lower numbers than this are counted as neighbours
    :param window: the largest distance of a neighbour
    """
    word_parts, context_parts, weight_parts = [], [], []
    for distance in range(1, window + 1):
        weight = (window + 1 - distance) / window
        left, right = stream[:-distance], stream[distance:]
        for words, contexts in ((left, right), (right, left)):  # neighbours on the right, and on the left
            is_pair = (words > NO_WORD) & (contexts > NO_WORD) & (contexts < n_contexts)
            word_parts.append(words[is_pair])
            context_parts.append(contexts[is_pair])
            weight_parts.append(np.full(int(is_pair.sum()), weight, np.float32))
    cells = (np.concatenate(word_parts), np.concatenate(context_parts))
    return sp.csr_matrix((np.concatenate(weight_parts), cells), shape=(n_words, n_contexts))


def factor_ppmi(counts: sp.csr_matrix, *, dim: int, seed: int = 0, smoothing: float = 0.75) -> Floats:
    """Factor the positive pointwise mutual information of words and contexts; return word vectors (words, dim).

    The information of a word w and a context c is max(0, log(p(w, c) / p(w) p(c)^smoothing)). The vectors are U S^0.5
    of the singular value decomposition of this matrix. A word without neighbours has a row of zeros.

    :param counts: (words, contexts) how often each word occurs near each context word
    :param seed: of the decomposition's random start
    :param smoothing: below 1, rare contexts count less
    """
    pairs = counts.tocoo()
    word_totals = np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1e-12)  # (words,)
    context_totals = np.maximum(np.asarray(counts.sum(axis=0)).ravel(), 1e-12) ** smoothing  # (contexts,)
    chance = word_totals[pairs.row] * context_totals[pairs.col]  # (stored counts,)
    information = np.log(pairs.data * context_totals.sum() / chance)  # (stored counts,)
    is_positive = information > 0
    cells = (pairs.row[is_positive], pairs.col[is_positive])
    matrix = sp.csr_matrix((information[is_positive].astype(np.float32), cells), shape=counts.shape)
    values, right_vectors = find_singular_vectors(Product(matrix), dim, seed=seed)
    return np.asarray((matrix @ right_vectors) / np.sqrt(values), np.float32)


def _train_with_gensim(
    sentences: list[npt.NDArray[np.int32]], vocabulary: Vocabulary, *, dim: int, seed: int, window: int, trainer: str
) -> Floats:
    """Train skip-gram vectors of the words of a vocabulary with gensim: (words, dim).

    A word that occurs in no text has a row of zeros.

    :param sentences: word numbers of each text
    :param window: how many words before and after a word are its context
    :param trainer: "word2vec" or "fasttext"
    """
    make_model = _import_gensim_model(trainer)
    tokenized_texts = [[vocabulary.terms[i] for i in word_ids] for word_ids in sentences]
    # One worker: with several the order of updates, and so the vectors, would differ from run to run.
    trained_model = make_model(
        tokenized_texts,
        vector_size=dim,
        window=window,
        seed=seed,
        min_count=1,
        sg=1,  # skip-gram
        epochs=GENSIM_EPOCHS,
        workers=1,
    )
    return _arrange_rows(trained_model.wv, vocabulary.terms, dim)


def _import_gensim_model(trainer: str) -> Callable[..., Any]:
    """Import the class of gensim that trains "word2vec" or "fasttext" vectors.

    :raises MissingExtraError: if gensim is not installed
    """
    try:
        from gensim.models import FastText, Word2Vec
    except ImportError:
        raise MissingExtraError(f"training {trainer} vectors", "vectors") from None
    model_class: Callable[..., Any] = FastText if trainer == "fasttext" else Word2Vec
    return model_class


def _arrange_rows(vectors: Any, words: Sequence[str], dim: int) -> Floats:
    """Copy the vectors of words in the order of the words, zeros for a word that was not learned: (words, dim).

    :param vectors: gensim's KeyedVectors
    """
    rows = np.zeros((len(words), dim), np.float32)
    for i, word in enumerate(words):
        if word in vectors.key_to_index:
            rows[i] = vectors[word]
    return rows
