"""Maps between monolingual word spaces, documents as idf-weighted means of mapped words.

The baselines of Cr5's tables 3 and 4: Mikolov et al. 2013 (also under Dinu et al.'s retrieval rule), Faruqui and
Dyer 2014, Artetxe et al. 2016, Smith et al. 2017, Conneau et al. 2018. The maps themselves are in `maps.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import MissingExtraError, ModelError
from paragloss.lab.learning.counting import Counted, count, text_of
from paragloss.lab.learning.monolingual import TRAINERS, Vectors, train
from paragloss.lab.settings import Dim, MaxTerms, MinDf, Seed, Setting, Stem, checked
from paragloss.lab.solving import maps
from paragloss.types import Aligned, Floats, Integers
from paragloss.vocabulary import Vocabulary, by_term

METHODS = ("procrustes", "least-squares", "cca", "orthogonal", "svd", "advrefine")
#: Word pairs of a dictionary: (source language, target language) -> (source word, target word), ...
Dictionary = Mapping[tuple[str, str], Sequence[tuple[str, str]]]
#: A map has failed when its agreement is not this far from chance towards 1.
_ALARM = 0.25


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 300,
    seed: Seed = 0,
    method: Annotated[str, Setting("How the map between two languages is learned.", words=METHODS)] = "procrustes",
    dictionary: Annotated[
        Dictionary | None, Setting("Word pairs to learn the map from, as files such as en-fr.tsv.")
    ] = None,
    vectors: Annotated[
        Mapping[str, Vectors] | None, Setting("Word vectors of each language, as files such as wiki.fr.vec.")
    ] = None,
    trainer: Annotated[str, Setting("What makes word vectors where none are given.", words=TRAINERS)] = "ppmi",
    window: Annotated[int, Setting("How far apart two words count as near, for word vectors.", min=1, max=100)] = 5,
    rounds: Annotated[int, Setting("How often procrustes and advrefine refine their map.", min=0, max=1000)] = 5,
    keep: Annotated[float, Setting("The share of directions that svd and cca leave.", above=0, max=1)] = 1.0,
    onto: Annotated[str, Setting("The language others are mapped onto; if none, the one with most documents.")] = "",
    epochs: Annotated[int, Setting("Epochs of the adversary (advrefine).", min=1, max=100_000)] = 5,
    steps: Annotated[int, Setting("Steps of an epoch (advrefine).", min=1, max=1_000_000)] = 1000,
    hidden: Annotated[int, Setting("How wide the adversary is (advrefine).", min=1, max=100_000)] = 512,
    stem: Stem = False,
    max_terms: MaxTerms = 200_000,
    min_df: MinDf = 3,
) -> BagEncoder:
    """Map every language onto one: `onto`, or that with most documents (ties: first in the alphabet).

    `vectors` are used as they are given; without them, they are trained on each language's own texts
    (`monolingual.train`). `dictionary` likewise; without one, the pairs are identical strings and words that occur
    in the same concepts (`seed_dictionary`), except for advrefine, which uses no pairs. `rounds` of refinement
    follow procrustes and advrefine; `keep` is the share of directions that svd and cca leave (two languages only).
    """
    counted, concepts = count(aligned, stem=stem, max_terms=max_terms, min_df=min_df)
    hub = onto or min(counted, key=lambda lang: (-len(counted[lang].concepts), lang))
    if hub not in counted:
        raise ModelError(f"onto {hub!r}: expected one of {', '.join(counted)}")
    making = {"dim": dim, "seed": seed, "window": window, "trainer": trainer}
    vocabularies, spaces = _spaces(aligned, counted, vectors, making)
    spaces = {lang: _prepared(rows, method) for lang, rows in _same_width(spaces, trained=vectors is None).items()}
    learn = partial(
        _learn, method=method, rounds=rounds, keep=keep, seed=seed, epochs=epochs, steps=steps, hidden=hidden
    )
    tables = {hub: spaces[hub]}
    about: dict[str, dict[str, float]] = {}
    for lang in sorted(counted.keys() - {hub}):
        pairs = np.zeros((0, 2), np.int64)
        if method != "advrefine":
            pairs = _pairs(lang, hub, counted, vocabularies, dictionary)
        P, Q = learn(spaces[lang], spaces[hub], pairs)
        if len(counted) == 2:
            tables = {lang: spaces[lang] @ P, hub: spaces[hub] @ Q}
        else:  # the hub must stay where it is for the others: Ammar et al. 2016, section 3.3
            tables[lang] = spaces[lang] @ (P @ np.linalg.pinv(Q))
        about[lang] = {"pairs": len(pairs), **health(spaces[lang] @ P, spaces[hub] @ Q, seed=seed)}
    failed = _failed(about, method, hub, spaces[hub].shape[1])
    towers = {lang: Tower(vocabularies[lang], maps.unit(tables[lang])) for lang in counted}
    meta: dict[str, Any] = {"method": f"alignment {method}", "hub": hub, "concepts": concepts, "seed": seed}
    return BagEncoder(towers, weighting="idf-mean", meta={**meta, "maps": about, "failed": failed})


def _spaces(
    aligned: Aligned, counted: Mapping[str, Counted], vectors: Mapping[str, Vectors] | None, making: Mapping[str, Any]
) -> tuple[dict[str, Vocabulary], dict[str, Floats]]:
    """Return each language's words and their vectors: the given ones, or some learned from its own texts."""
    vocabularies, spaces = {}, {}
    for lang, part in counted.items():
        if vectors is None:
            texts = (text_of(concept, lang) for concept in aligned if lang in concept.texts)
            spaces[lang] = train(texts, part.vocabulary, **making).rows
            vocabularies[lang] = part.vocabulary
        elif lang in vectors:
            terms, spaces[lang] = by_term(vectors[lang].words, vectors[lang].rows, lang, stem=part.vocabulary.stem)
            vocabularies[lang] = _of_words(terms, part.vocabulary)
        else:
            raise ModelError(f"no vectors for {lang}; have {', '.join(vectors)} (give them, or leave vectors out)")
    return vocabularies, spaces


def _failed(about: Mapping[str, Mapping[str, float]], method: str, hub: str, width: int) -> list[str]:
    """The languages whose map is hardly better than chance, with a warning. Fewer words than directions can't tell a
    good map from a bad one; a map learned from nothing is suspect then."""
    failed = [
        lang
        for lang, map_ in about.items()
        if map_["agreement"] < map_["chance"] + _ALARM * (1 - map_["chance"])
        and (method == "advrefine" or map_["mutual"] > width)
    ]
    if failed:
        warnings.warn(
            f"the {method} map from {', '.join(failed)} to {hub} has failed: the word pairs it finds agree with each "
            "other hardly more than those of unrelated spaces; give a (better) dictionary, or more text",
            stacklevel=4,
        )
    return failed


def seed_dictionary(source: Counted, target: Counted, *, words: int = 10_000, fewest: int = 2) -> Integers:
    """Word pairs that the aligned documents suggest, as ids: those that are each other's best by the cosine of the
    sets of concepts they occur in, then identical strings of four letters or more among words not yet paired."""
    shared = np.intersect1d(source.concepts, target.concepts)
    X, Y = (_occurrence(part, shared, words) for part in (source, target))
    ahead, support = _best(X, Y)
    back, _ = _best(Y, X)
    agree = np.flatnonzero((back[ahead] == np.arange(len(ahead))) & (support >= fewest))
    pairs = dict(zip(agree.tolist(), ahead[agree].tolist(), strict=True))
    selected = set(pairs.values())
    for i, term in enumerate(source.vocabulary.terms[:words]):
        j = target.vocabulary.index.get(term, words)
        if len(term) >= 4 and i not in pairs and j < words and j not in selected:
            pairs[i] = j
    return np.asarray(sorted(pairs.items()), np.int64).reshape(-1, 2)


def health(mapped: Floats, target: Floats, *, seed: int = 0, words: int = 2000) -> dict[str, float]:
    """Is this map more than chance? `agreement` is how well the pairs it finds predict each other, `mutual` how many
    there are, `chance` the agreement that refinement reaches with a target that means nothing: each dimension of the
    real one shuffled on its own."""
    mapped, target = maps.unit(mapped[:words]), maps.unit(target[:words])
    noise = np.random.default_rng(seed)
    shuffled = maps.unit(np.stack([noise.permutation(column) for column in target.T], axis=1))
    P, _ = maps.refined(mapped, shuffled, np.eye(mapped.shape[1], dtype=np.float32), rounds=3)
    agreement, mutual = maps.agreement(mapped, target, seed=seed)
    chance, _ = maps.agreement(maps.unit(mapped @ P), shuffled, seed=seed)
    return {"agreement": agreement, "mutual": mutual, "chance": chance}


def _learn(
    source: Floats, target: Floats, pairs: Integers, *, method: str, rounds: int, keep: float, **adversary: int
) -> maps.Pair:
    x, y = source[pairs[:, 0]], target[pairs[:, 1]]
    if method == "least-squares":
        return maps.least_squares(x, y)
    if method == "cca":
        return maps.canonical(x, y, keep=keep)
    if method == "svd":
        return maps.both_rotated(x, y, keep=keep)
    if method == "orthogonal":
        return maps.procrustes(x, y)
    if method == "procrustes":
        P, Q = maps.procrustes(x, y)
    else:
        try:
            from paragloss.lab.descent.adversarial import adversarial
        except ImportError:
            raise MissingExtraError("advrefine", "train") from None
        P, Q = adversarial(source, target, **adversary), np.eye(target.shape[1], dtype=np.float32)
    P, _ = maps.refined(source, target, P, rounds=rounds)
    return P, Q


def _same_width(spaces: dict[str, Floats], *, trained: bool) -> dict[str, Floats]:
    """Cut all vectors to the smallest width: a small corpus has fewer directions than were asked for."""
    widths = {lang: rows.shape[1] for lang, rows in spaces.items()}
    if not trained and len(set(widths.values())) > 1:
        raise ModelError(f"the vectors have different widths ({widths}): give vectors of one width")
    return {lang: rows[:, : min(widths.values())] for lang, rows in spaces.items()}


def _prepared(rows: Floats, method: str) -> Floats:
    """Transform vectors as each paper does before it learns a map."""
    if method == "least-squares":
        return np.asarray(rows, np.float32)
    if method == "cca":
        return maps.without_mean(rows)
    return maps.unit(rows) if method == "svd" else maps.centred(rows)


def _pairs(
    lang: str, hub: str, counted: dict[str, Counted], vocabularies: dict[str, Vocabulary], dictionary: Dictionary | None
) -> Integers:
    """Return the dictionary from `lang` to `hub` as ids, read in either direction."""
    if dictionary is None:
        seeds = seed_dictionary(counted[lang], counted[hub])
        words = [(counted[lang].vocabulary.terms[i], counted[hub].vocabulary.terms[j]) for i, j in seeds]
        index = vocabularies[lang].index, vocabularies[hub].index
        word_pairs = [(index[0][a], index[1][b]) for a, b in words if a in index[0] and b in index[1]]
    else:
        entries = [*dictionary.get((lang, hub), ()), *((b, a) for a, b in dictionary.get((hub, lang), ()))]
        cut = [(vocabularies[lang].ids(a), vocabularies[hub].ids(b)) for a, b in dict.fromkeys(entries)]
        word_pairs = [(a[0], b[0]) for a, b in cut if len(a) == len(b) == 1]
    if len(word_pairs) < 2:
        raise ModelError(
            f"{len(word_pairs)} word pairs for {lang}-{hub}: give a dictionary that covers the vocabularies"
        )
    return np.asarray(word_pairs, np.int64)


def _of_words(words: Sequence[str], corpus: Vocabulary) -> Vocabulary:
    """Make a vocabulary of given words with the corpus's document frequencies."""
    df = [corpus.df[corpus.index[word]] if word in corpus.index else 0 for word in words]
    return Vocabulary(corpus.lang, words, df, corpus.documents, stem=corpus.stem)


def _occurrence(part: Counted, shared: Integers, words: int) -> sp.csc_matrix:
    """Mark which of the most frequent words occur in which shared concepts, in columns of unit length."""
    rows = part.counts[np.isin(part.concepts, shared)][:, :words]
    occurrence = sp.csc_matrix(
        (np.ones(rows.nnz, np.float32), rows.indices, rows.indptr), shape=rows.shape[::-1]
    ).T.tocsc()
    occurrence.data /= np.repeat(np.sqrt(np.maximum(np.diff(occurrence.indptr), 1)), np.diff(occurrence.indptr)).astype(
        np.float32
    )
    return occurrence


def _best(X: sp.csc_matrix, Y: sp.csc_matrix, *, block: int = 1000) -> tuple[Integers, npt.NDArray[Any]]:
    """Find for each column of X the column of Y with the highest cosine, and in how many concepts both occur."""
    best, support = [], []
    sizes = np.diff(X.indptr), np.diff(Y.indptr)
    for start in range(0, X.shape[1], block):
        cosine = (X[:, start : start + block].T @ Y).toarray()
        best_columns = cosine.argmax(axis=1)
        best.append(best_columns)
        cooccurrences = cosine[np.arange(len(best_columns)), best_columns] * np.sqrt(
            sizes[0][start : start + block] * sizes[1][best_columns]
        )
        support.append(np.rint(cooccurrences))
    return np.concatenate(best), np.concatenate(support)
