"""Map the word vectors of one language into the space of another; documents are idf-weighted means of mapped words.

The baselines of Cr5's tables 3 and 4: Mikolov et al. 2013 (also under Dinu et al.'s retrieval rule), Faruqui and
Dyer 2014, Artetxe et al. 2016 and 2017 (self-learning), Smith et al. 2017, Conneau et al. 2018. The maps themselves are
in `maps.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import MissingExtraError, ModelError
from paragloss.lab.learning.counting import Counted, count, text_of
from paragloss.lab.learning.monolingual import TRAINERS, WordEmbeddings, train_word_vectors
from paragloss.lab.settings import Dim, MaxTerms, MinDf, Seed, Setting, Stem, checked
from paragloss.lab.solving import maps
from paragloss.types import Aligned, Floats, Integers
from paragloss.vocabulary import Vocabulary, merge_word_vectors

METHODS = ("procrustes", "least-squares", "cca", "orthogonal", "self-learning", "svd", "advrefine")
#: Word pairs of a dictionary: (source language, target language) -> (source word, target word), ...
Dictionary = Mapping[tuple[str, str], Sequence[tuple[str, str]]]
#: A map has failed if its agreement is not this part of the way from chance to 1.
MIN_RELATIVE_AGREEMENT = 0.25
#: Identical strings of fewer letters are not taken for translations.
MIN_IDENTICAL_LETTERS = 4


Method: TypeAlias = Annotated[str, Setting("Method that learns the map between two languages.", words=METHODS)]
WordPairs: TypeAlias = Annotated[
    Dictionary | None, Setting("Word pairs to learn the map from, as files such as en-fr.tsv.")
]
GivenVectors: TypeAlias = Annotated[
    Mapping[str, WordEmbeddings] | None, Setting("Word vectors of each language, as files such as wiki.fr.vec.")
]
Trainer: TypeAlias = Annotated[str, Setting("Method for word vectors if none are given.", words=TRAINERS)]
Window: TypeAlias = Annotated[
    int, Setting("How many words before and after a word are its context, for word vectors.", min=1, max=100)
]
Onto: TypeAlias = Annotated[
    str, Setting("The language others are mapped onto; by default the one with most documents.")
]


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 300,
    seed: Seed = 0,
    method: Method = "procrustes",
    dictionary: WordPairs = None,
    vectors: GivenVectors = None,
    trainer: Trainer = "ppmi",
    window: Window = 5,
    onto: Onto = "",
    stem: Stem = False,
    max_terms: MaxTerms = 200_000,
    min_df: MinDf = 3,
    **mapping: Annotated[Any, _learn_map],
) -> BagEncoder:
    """Map every language onto one: `onto`, or that with most documents (ties: first in the alphabet).

    `vectors` are used as they are given; without them, they are trained on each language's own texts
    (`monolingual.train_word_vectors`). `dictionary` likewise; without one, the pairs are identical strings and words
    that occur in the same concepts (`seed_dictionary`), except for advrefine, which uses no pairs. `mapping` are the
    settings of `_learn_map`.
    """
    counted, concepts = count(aligned, stem=stem, max_terms=max_terms, min_df=min_df)
    hub = _choose_hub(counted, onto)
    training = {"dim": dim, "seed": seed, "window": window, "trainer": trainer}
    vocabularies, spaces = _get_word_vectors(aligned, counted, vectors, training)
    spaces = _trim_widths(spaces, trained=vectors is None)
    spaces = {lang: _prepare_vectors(rows, method) for lang, rows in spaces.items()}
    pairs_by_lang = _list_all_word_pairs(hub, counted, vocabularies, dictionary, method)
    tables, figures = _map_all(spaces, hub, pairs_by_lang, method=method, seed=seed, **mapping)
    failed = _list_failed_maps(figures, method, hub, spaces[hub].shape[1])
    towers = {lang: Tower(vocabularies[lang], maps.unit(tables[lang])) for lang in counted}
    meta: dict[str, Any] = {"method": f"alignment {method}", "hub": hub, "concepts": concepts, "seed": seed}
    return BagEncoder(towers, weighting="idf-mean", meta={**meta, "maps": figures, "failed": failed})


def _choose_hub(counted: Mapping[str, Counted], onto: str) -> str:
    """Return the language that others are mapped onto: `onto`, or that with most documents."""
    if onto and onto not in counted:
        raise ModelError(f"onto {onto!r}: expected one of {', '.join(counted)}")
    return onto or min(counted, key=lambda lang: (-len(counted[lang].concepts), lang))


def _list_all_word_pairs(
    hub: str,
    counted: dict[str, Counted],
    vocabularies: dict[str, Vocabulary],
    dictionary: Dictionary | None,
    method: str,
) -> dict[str, Integers]:
    """Return for every language but the hub the pairs that its map is learned from: (pairs, 2) term numbers."""
    pairs_by_lang = {}
    for lang in sorted(counted.keys() - {hub}):
        if method == "advrefine":
            pairs_by_lang[lang] = np.zeros((0, 2), np.int64)
        else:
            pairs_by_lang[lang] = _list_word_pairs(lang, hub, counted, vocabularies, dictionary)
    return pairs_by_lang


def _map_all(
    spaces: Mapping[str, Floats], hub: str, pairs_by_lang: Mapping[str, Integers], *, seed: int, **mapping: Any
) -> tuple[dict[str, Floats], dict[str, dict[str, float]]]:
    """Map the word vectors of all languages onto those of the hub.

    :param mapping: settings of `_learn_map`
    :return: the mapped vectors of each language, and how good each map is
    """
    tables = {hub: spaces[hub]}
    figures: dict[str, dict[str, float]] = {}
    for lang, pairs in pairs_by_lang.items():
        P, Q = _learn_map(spaces[lang], spaces[hub], pairs, seed=seed, **mapping)
        if len(spaces) == 2:
            tables = {lang: spaces[lang] @ P, hub: spaces[hub] @ Q}
        else:  # the hub must not move, because other languages are mapped onto it: Ammar et al. 2016, section 3.3
            tables[lang] = spaces[lang] @ (P @ np.linalg.pinv(Q))
        figures[lang] = {"pairs": len(pairs), **health(spaces[lang] @ P, spaces[hub] @ Q, seed=seed)}
    return tables, figures


def _get_word_vectors(
    aligned: Aligned,
    counted: Mapping[str, Counted],
    vectors: Mapping[str, WordEmbeddings] | None,
    training: Mapping[str, Any],
) -> tuple[dict[str, Vocabulary], dict[str, Floats]]:
    """Return each language's words and their vectors: the given ones, or some trained on its own texts.

    :param training: settings of `monolingual.train_word_vectors`
    """
    vocabularies, spaces = {}, {}
    for lang, part in counted.items():
        if vectors is None:
            texts = (text_of(concept, lang) for concept in aligned if lang in concept.texts)
            spaces[lang] = train_word_vectors(texts, part.vocabulary, **training).rows
            vocabularies[lang] = part.vocabulary
        elif lang in vectors:
            terms, spaces[lang] = merge_word_vectors(
                vectors[lang].words, vectors[lang].rows, lang, stem=part.vocabulary.stem
            )
            vocabularies[lang] = _make_vocabulary(terms, part.vocabulary)
        else:
            raise ModelError(f"no vectors for {lang}; have {', '.join(vectors)} (give them, or leave vectors out)")
    return vocabularies, spaces


def _list_failed_maps(figures: Mapping[str, Mapping[str, float]], method: str, hub: str, width: int) -> list[str]:
    """List the languages whose map is hardly better than chance, and warn of them.

    Fewer mutual neighbours than dimensions can't tell a good map from a bad one; only a map that was learned without
    word pairs is suspect then.

    :param figures: result of `health` for each language
    :param width: number of dimensions
    """
    failed = []
    for lang, map_figures in figures.items():
        chance = map_figures["chance"]
        is_poor = map_figures["agreement"] < chance + MIN_RELATIVE_AGREEMENT * (1 - chance)
        if is_poor and (method == "advrefine" or map_figures["mutual"] > width):
            failed.append(lang)
    if failed:
        warnings.warn(
            f"the {method} map from {', '.join(failed)} to {hub} has failed: the word pairs it finds agree with each "
            "other hardly more than those of unrelated spaces; give a (better) dictionary, or more text",
            stacklevel=4,
        )
    return failed


def seed_dictionary(source: Counted, target: Counted, *, words: int = 10_000, fewest: int = 2) -> Integers:
    """Guess word pairs from aligned documents: (pairs, 2) term numbers.

    First come words that are each other's best by the cosine of the sets of concepts they occur in, then identical
    strings of four letters or more among words without a pair.

    :param words: how many of the most frequent words are used
    :param fewest: in how many concepts both words of a pair occur at least
    :return: numbers of source and target terms, ordered by source term
    """
    target_by_source = _pair_by_concepts(source, target, words, fewest)
    paired_targets = set(target_by_source.values())
    for source_term, target_term in _list_identical_terms(source.vocabulary, target.vocabulary, words):
        if source_term not in target_by_source and target_term not in paired_targets:
            target_by_source[source_term] = target_term
    return np.asarray(sorted(target_by_source.items()), np.int64).reshape(-1, 2)


def _pair_by_concepts(source: Counted, target: Counted, words: int, fewest: int) -> dict[int, int]:
    """Pair terms that are each other's best by the cosine of the sets of concepts they occur in.

    :return: source term number -> target term number
    """
    shared_concepts = np.intersect1d(source.concepts, target.concepts)
    source_columns = _make_concept_columns(source, shared_concepts, words)
    target_columns = _make_concept_columns(target, shared_concepts, words)
    best_target, support = _find_best_columns(source_columns, target_columns)
    best_source, _ = _find_best_columns(target_columns, source_columns)
    is_mutual = best_source[best_target] == np.arange(len(best_target))
    paired_sources = np.flatnonzero(is_mutual & (support >= fewest))
    return dict(zip(paired_sources.tolist(), best_target[paired_sources].tolist(), strict=True))


def _list_identical_terms(source: Vocabulary, target: Vocabulary, words: int) -> list[tuple[int, int]]:
    """List long enough terms that are among the first `words` of both vocabularies, by their numbers in either."""
    pairs = []
    for source_term, term in enumerate(source.terms[:words]):
        target_term = target.index.get(term, words)
        if len(term) >= MIN_IDENTICAL_LETTERS and target_term < words:
            pairs.append((source_term, target_term))
    return pairs


def health(mapped: Floats, target: Floats, *, seed: int = 0, words: int = 2000) -> dict[str, float]:
    """Measure whether a map is better than chance.

    :param mapped: (source words, dimensions) mapped source vectors, most frequent words first
    :param target: (target words, dimensions) target vectors, most frequent words first
    :param seed: of the shuffling, and of the split of word pairs into halves
    :param words: how many words are used
    :return: `agreement`, how well the pairs it finds predict each other; `mutual`, how many there are; `chance`, the
        agreement that refinement reaches with a meaningless target, the real one with each dimension shuffled
    """
    mapped, target = maps.unit(mapped[:words]), maps.unit(target[:words])
    agreement, n_mutual = maps.agreement(mapped, target, seed=seed)
    return {"agreement": agreement, "mutual": n_mutual, "chance": _measure_chance(mapped, target, seed)}


def _measure_chance(mapped: Floats, target: Floats, seed: int) -> float:
    """Return the agreement after refining a map to a target whose words are shuffled in each dimension."""
    random = np.random.default_rng(seed)
    shuffled_columns = [random.permutation(column) for column in target.T]
    shuffled = maps.unit(np.stack(shuffled_columns, axis=1))
    unchanged = np.eye(mapped.shape[1], dtype=np.float32)
    refined_map, _ = maps.refined(mapped, shuffled, unchanged, rounds=3)
    chance, _ = maps.agreement(maps.unit(mapped @ refined_map), shuffled, seed=seed)
    return chance


def _learn_map(
    source: Floats,
    target: Floats,
    pairs: Integers,
    *,
    method: str,
    rounds: Annotated[int, Setting("Rounds of refinement (procrustes, advrefine).", min=0, max=1000)] = 5,
    keep: Annotated[float, Setting("Share of directions that svd and cca keep.", above=0, max=1)] = 1.0,
    **adversary: Annotated[Any, _learn_without_pairs],
) -> maps.Pair:
    """Learn a map between two spaces by one of METHODS.

    :param pairs: (pairs, 2) rows of `source` and `target` that translate each other
    :param adversary: settings of `_learn_without_pairs`
    """
    x, y = source[pairs[:, 0]], target[pairs[:, 1]]
    if method == "least-squares":
        return maps.least_squares(x, y)
    if method == "cca":
        return maps.canonical(x, y, keep=keep)
    if method == "svd":
        return maps.both_rotated(x, y, keep=keep)
    if method == "orthogonal":
        return maps.procrustes(x, y)
    if method == "advrefine":
        P, Q = _learn_without_pairs(source, target, **adversary)
    else:
        P, Q = maps.procrustes(x, y)
    if method == "self-learning":
        return maps.self_learned(source, target, P), Q
    P, _ = maps.refined(source, target, P, rounds=rounds)
    return P, Q


def _learn_without_pairs(
    source: Floats,
    target: Floats,
    *,
    seed: Seed = 0,
    epochs: Annotated[int, Setting("Epochs of the adversary (advrefine).", min=1, max=100_000)] = 5,
    steps: Annotated[int, Setting("Steps of an epoch (advrefine).", min=1, max=1_000_000)] = 1000,
    hidden: Annotated[int, Setting("Width of the adversary (advrefine).", min=1, max=100_000)] = 512,
) -> maps.Pair:
    """Learn a rotation by adversarial training."""
    try:
        from paragloss.lab.descent.adversarial import adversarial
    except ImportError:
        raise MissingExtraError("advrefine", "train") from None
    P = adversarial(source, target, seed=seed, epochs=epochs, steps=steps, hidden=hidden)
    return P, np.eye(target.shape[1], dtype=np.float32)


def _trim_widths(spaces: dict[str, Floats], *, trained: bool) -> dict[str, Floats]:
    """Cut all vectors to the smallest width: a small corpus has fewer directions than were asked for.

    :raises ModelError: if the vectors were given, not trained, and have different widths
    """
    widths = {lang: rows.shape[1] for lang, rows in spaces.items()}
    if not trained and len(set(widths.values())) > 1:
        raise ModelError(f"the vectors have different widths ({widths}): give vectors of one width")
    return {lang: rows[:, : min(widths.values())] for lang, rows in spaces.items()}


def _prepare_vectors(rows: Floats, method: str) -> Floats:
    """Normalize vectors as the paper of each method does before it learns a map."""
    if method == "least-squares":
        return np.asarray(rows, np.float32)
    if method == "cca":
        return maps.without_mean(rows)
    return maps.unit(rows) if method == "svd" else maps.centred(rows)


def _list_word_pairs(
    lang: str, hub: str, counted: dict[str, Counted], vocabularies: dict[str, Vocabulary], dictionary: Dictionary | None
) -> Integers:
    """Return the dictionary of two languages, read in either direction, or a guessed one: (pairs, 2) term numbers.

    :raises ModelError: if there are fewer than two pairs
    """
    source, target = vocabularies[lang], vocabularies[hub]
    pairs = []
    if dictionary is None:
        source_terms, target_terms = counted[lang].vocabulary.terms, counted[hub].vocabulary.terms
        for i, j in seed_dictionary(counted[lang], counted[hub]):
            if source_terms[i] in source.index and target_terms[j] in target.index:
                pairs.append((source.index[source_terms[i]], target.index[target_terms[j]]))
    else:
        entries = [*dictionary.get((lang, hub), ()), *((b, a) for a, b in dictionary.get((hub, lang), ()))]
        for source_word, target_word in dict.fromkeys(entries):
            source_ids, target_ids = source.ids(source_word), target.ids(target_word)
            if len(source_ids) == len(target_ids) == 1:
                pairs.append((source_ids[0], target_ids[0]))
    if len(pairs) < 2:
        raise ModelError(f"{len(pairs)} word pairs for {lang}-{hub}: give a dictionary that covers the vocabularies")
    return np.asarray(pairs, np.int64)


def _make_vocabulary(words: Sequence[str], corpus: Vocabulary) -> Vocabulary:
    """Make a vocabulary of given words with the corpus's document frequencies."""
    df = [corpus.df[corpus.index[word]] if word in corpus.index else 0 for word in words]
    return Vocabulary(corpus.lang, words, df, corpus.documents, stem=corpus.stem)


def _make_concept_columns(part: Counted, shared_concepts: Integers, words: int) -> sp.csc_matrix:
    """Return which of the most frequent words occur in which shared concepts: (concepts, words), unit columns."""
    counts = part.counts[np.isin(part.concepts, shared_concepts)][:, :words]
    ones = np.ones(counts.nnz, np.float32)
    columns = sp.csr_matrix((ones, counts.indices, counts.indptr), shape=counts.shape).tocsc()
    sizes = np.diff(columns.indptr)
    columns.data /= np.repeat(np.sqrt(np.maximum(sizes, 1)), sizes).astype(np.float32)
    return columns


def _find_best_columns(
    source: sp.csc_matrix, target: sp.csc_matrix, *, block: int = 1000
) -> tuple[Integers, npt.NDArray[Any]]:
    """Find for each source column the target column with the highest cosine, and how many concepts both share.

    :param block: source columns computed at a time
    """
    best_parts, support_parts = [], []
    source_sizes, target_sizes = np.diff(source.indptr), np.diff(target.indptr)
    for start in range(0, source.shape[1], block):
        cosines = (source[:, start : start + block].T @ target).toarray()
        best = cosines.argmax(axis=1)
        best_cosines = cosines[np.arange(len(best)), best]
        best_parts.append(best)
        support_parts.append(np.rint(best_cosines * np.sqrt(source_sizes[start : start + block] * target_sizes[best])))
    return np.concatenate(best_parts), np.concatenate(support_parts)
