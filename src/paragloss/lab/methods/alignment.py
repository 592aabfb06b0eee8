"""Map the word vectors of one language into the space of another; documents are idf-weighted means of mapped words.

The baselines of Cr5's tables 3 and 4: Mikolov et al. 2013 (also under Dinu et al.'s retrieval rule), Faruqui and
Dyer 2014, Artetxe et al. 2016 and 2017 (self-learning), Smith et al. 2017, Conneau et al. 2018. The maps themselves are
in `maps.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import MissingExtraError, ModelError
from paragloss.lab.learning.counting import CountedTexts, count, text_of
from paragloss.lab.learning.monolingual import TRAINERS, WordEmbeddings, train_word_vectors
from paragloss.lab.settings import Dim, MaxTerms, MinDf, Seed, Setting, Stem, checked
from paragloss.lab.solving import maps
from paragloss.types import Aligned, Floats, Integers
from paragloss.vocabulary import Vocabulary, merge_word_vectors

#: The method that learns a map without word pairs: adversarial training, then refinement (Conneau et al. 2018).
UNSUPERVISED = "advrefine"
METHODS = ("procrustes", "least-squares", "cca", "orthogonal", "self-learning", "svd", UNSUPERVISED)
#: Word pairs of a dictionary: (source language, target language) -> (source word, target word), ...
Dictionary = Mapping[tuple[str, str], Sequence[tuple[str, str]]]
#: A map has failed if its agreement is not this part of the way from chance to 1.
MIN_RELATIVE_AGREEMENT = 0.25
#: How many of the most frequent words the quality of a map is measured with, and word pairs are guessed of.
MEASURED_WORDS, WORDS_FOR_GUESSES = 2000, 10_000
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


class MapQuality(NamedTuple):
    """How well a map between two spaces of word vectors works, judged without any known translations."""

    agreement: float  # how well the word pairs that the map finds predict each other; 1 at best
    n_mutual: int  # how many pairs it finds: words that are each other's nearest neighbour
    chance_agreement: float  # the agreement that is reached with a meaningless target


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

    Without `vectors`, word vectors are trained on each language's own texts (`monolingual.train_word_vectors`). Without
    a `dictionary`, the word pairs are identical strings and words that occur in the same concepts
    (`guess_word_pairs`). The method advrefine uses no pairs.

    :param aligned: concepts with their texts in several languages
    """
    counted, n_concepts = count(aligned, stem=stem, max_terms=max_terms, min_df=min_df)
    hub = _choose_hub(counted, onto)
    train_vectors = partial(train_word_vectors, dim=dim, seed=seed, window=window, trainer=trainer)
    if vectors is None:
        vocabularies, spaces = _train_word_vectors(aligned, counted, train_vectors)
    else:
        vocabularies, spaces = _select_given_vectors(counted, vectors)
    spaces = {lang: _prepare_vectors(rows, method) for lang, rows in spaces.items()}
    pairs_by_lang = _list_all_word_pairs(hub, counted, vocabularies, dictionary, method)
    tables, qualities = _map_all(spaces, hub, pairs_by_lang, method=method, seed=seed, **mapping)
    failed = _list_failed_maps(qualities, method, n_dimensions=spaces[hub].shape[1])
    _warn_of_failed_maps(failed, method, hub)
    towers = {lang: Tower(vocabularies[lang], maps.make_unit_rows(tables[lang])) for lang in counted}
    map_records = {lang: _describe_map(quality, len(pairs_by_lang[lang])) for lang, quality in qualities.items()}
    meta = {"method": f"alignment {method}", "hub": hub, "concepts": n_concepts, "seed": seed}
    return BagEncoder(towers, weighting="idf-mean", meta={**meta, "maps": map_records, "failed": failed})


def _choose_hub(counted: Mapping[str, CountedTexts], onto: str) -> str:
    """Return the language that the others are mapped onto: `onto`, or if it is "" that with most documents."""
    if onto and onto not in counted:
        raise ModelError(f"onto {onto!r}: expected one of {', '.join(counted)}")
    return onto or min(counted, key=lambda lang: (-len(counted[lang].concepts), lang))


def _list_all_word_pairs(
    hub: str,
    counted: dict[str, CountedTexts],
    vocabularies: dict[str, Vocabulary],
    dictionary: Dictionary | None,
    method: str,
) -> dict[str, Integers]:
    """Return for every language but the hub the pairs that its map is learned from: (pairs, 2) term numbers.

    :param hub: the language that others are mapped onto
    :param counted: texts of each language, from which pairs are guessed if there is no dictionary
    :param vocabularies: the words of each language that have vectors
    :param dictionary: pairs of words by their languages, or None
    :param method: one of METHODS; UNSUPERVISED needs no pairs and gets none
    :raises ModelError: if a language has fewer than two pairs
    """
    langs = sorted(counted.keys() - {hub})
    if method == UNSUPERVISED:
        return {lang: np.zeros((0, 2), np.int64) for lang in langs}
    pairs_by_lang = {}
    for lang in langs:
        if dictionary is None:
            pairs = _list_guessed_pairs(counted[lang], counted[hub], vocabularies[lang], vocabularies[hub])
        else:
            pairs = _list_dictionary_pairs(dictionary, vocabularies[lang], vocabularies[hub])
        if len(pairs) < 2:
            raise ModelError(
                f"{len(pairs)} word pairs for {lang}-{hub}: give a dictionary that covers the vocabularies"
            )
        pairs_by_lang[lang] = np.asarray(pairs, np.int64)
    return pairs_by_lang


def _map_all(
    spaces: Mapping[str, Floats], hub: str, pairs_by_lang: Mapping[str, Integers], *, seed: int, **mapping: Any
) -> tuple[dict[str, Floats], dict[str, MapQuality]]:
    """Map the word vectors of all languages into the space of one of them, the hub.

    :param spaces: word vectors of each language, (words, dimensions)
    :param hub: the language that others are mapped onto
    :param pairs_by_lang: for each language but the hub the pairs to learn its map from, (pairs, 2) rows
    :param mapping: settings of `_learn_map`
    :return: the mapped vectors of each language, and how good each map is
    """
    tables = {hub: spaces[hub]}
    qualities: dict[str, MapQuality] = {}
    for lang, pairs in pairs_by_lang.items():
        source_map, hub_map = _learn_map(spaces[lang], spaces[hub], pairs, seed=seed, **mapping)
        mapped_source = spaces[lang] @ source_map
        mapped_hub = spaces[hub] @ hub_map
        if len(spaces) == 2:
            tables = {lang: mapped_source, hub: mapped_hub}
        else:  # the hub must not move, because other languages are mapped onto it: Ammar et al. 2016, section 3.3
            tables[lang] = spaces[lang] @ (source_map @ np.linalg.pinv(hub_map))
        qualities[lang] = measure_map_quality(mapped_source, mapped_hub, seed=seed)
    return tables, qualities


def _train_word_vectors(
    aligned: Aligned, counted: Mapping[str, CountedTexts], train_vectors: Callable[..., WordEmbeddings]
) -> tuple[dict[str, Vocabulary], dict[str, Floats]]:
    """Learn word vectors of each language from its own texts.

    :param train_vectors: `monolingual.train_word_vectors` with its settings
    :return: the words of each language, and their vectors, (words, dimensions)
    """
    vocabularies, spaces = {}, {}
    for lang, part in counted.items():
        texts = (text_of(concept, lang) for concept in aligned if lang in concept.texts)
        spaces[lang] = train_vectors(texts, part.vocabulary).rows
        vocabularies[lang] = part.vocabulary
    return vocabularies, _trim_widths(spaces)


def _trim_widths(spaces: Mapping[str, Floats]) -> dict[str, Floats]:
    """Cut all vectors to the smallest width: a small corpus has fewer directions than were asked for."""
    width = min(rows.shape[1] for rows in spaces.values())
    return {lang: rows[:, :width] for lang, rows in spaces.items()}


def _select_given_vectors(
    counted: Mapping[str, CountedTexts], vectors: Mapping[str, WordEmbeddings]
) -> tuple[dict[str, Vocabulary], dict[str, Floats]]:
    """Return the words of each counted language that have given vectors, and these vectors, (words, dimensions).

    :param counted: the texts of each language
    :param vectors: words with their vectors by language
    :raises ModelError: if a language has no vectors, or the vectors have different widths
    """
    vocabularies, spaces = {}, {}
    for lang, part in counted.items():
        if lang not in vectors:
            raise ModelError(f"no vectors for {lang}; have {', '.join(vectors)} (give them, or leave vectors out)")
        words, rows = vectors[lang].words, vectors[lang].rows
        terms, spaces[lang] = merge_word_vectors(words, rows, lang, stem=part.vocabulary.stem)
        vocabularies[lang] = _make_vocabulary(terms, part.vocabulary)
    widths = {lang: rows.shape[1] for lang, rows in spaces.items()}
    if len(set(widths.values())) > 1:
        raise ModelError(f"the vectors have different widths ({widths}): give vectors of one width")
    return vocabularies, spaces


def _list_failed_maps(qualities: Mapping[str, MapQuality], method: str, *, n_dimensions: int) -> list[str]:
    """List the languages whose map is hardly better than chance.

    A map that was learned from word pairs is only suspect if it has more mutual neighbours than dimensions: fewer can't
    tell a good map from a bad one.

    :param qualities: the quality of the map of each language
    :param method: one of METHODS, by which the maps were learned
    :param n_dimensions: width of the word vectors
    """
    failed = []
    for lang, quality in qualities.items():
        min_agreement = quality.chance_agreement + MIN_RELATIVE_AGREEMENT * (1 - quality.chance_agreement)
        can_be_judged = method == UNSUPERVISED or quality.n_mutual > n_dimensions
        if can_be_judged and quality.agreement < min_agreement:
            failed.append(lang)
    return failed


def _warn_of_failed_maps(failed: Sequence[str], method: str, hub: str) -> None:
    """Warn that the maps of some languages into the hub's space are no better than chance.

    :param failed: the languages; without any there is no warning
    :param method: one of METHODS
    :param hub: the language that others are mapped onto
    """
    if not failed:
        return
    warnings.warn(
        f"the {method} map from {', '.join(failed)} to {hub} has failed: the word pairs it finds agree with each "
        "other hardly more than those of unrelated spaces; give a (better) dictionary, or more text",
        stacklevel=4,  # the line that calls `fit`
    )


def guess_word_pairs(source: CountedTexts, target: CountedTexts, *, fewest: int = 2) -> Integers:
    """Guess word pairs from aligned documents: (pairs, 2) term numbers.

    First come words that are each other's best by the cosine of the sets of concepts they occur in, then identical
    strings of four letters or more among words without a pair. Only the most frequent words are used.

    :param fewest: in how many concepts both words of a pair occur at least
    :return: numbers of source and target terms, ordered by source term
    """
    target_by_source = _pair_by_concepts(source, target, fewest)
    paired_targets = set(target_by_source.values())
    for source_term, target_term in _list_identical_terms(source.vocabulary, target.vocabulary):
        if source_term not in target_by_source and target_term not in paired_targets:
            target_by_source[source_term] = target_term
    return np.asarray(sorted(target_by_source.items()), np.int64).reshape(-1, 2)


def _pair_by_concepts(source: CountedTexts, target: CountedTexts, fewest: int) -> dict[int, int]:
    """Pair terms that are each other's best by the cosine of the sets of concepts they occur in.

    :param fewest: in how many concepts both words of a pair occur at least
    :return: source term number -> target term number
    """
    shared_concepts = np.intersect1d(source.concepts, target.concepts)
    source_columns = _make_concept_columns(source, shared_concepts)
    target_columns = _make_concept_columns(target, shared_concepts)
    best_target, n_shared = _find_best_columns(source_columns, target_columns)  # (source terms,) each
    best_source, _ = _find_best_columns(target_columns, source_columns)  # (target terms,)
    is_mutual = best_source[best_target] == np.arange(len(best_target))
    paired_sources = np.flatnonzero(is_mutual & (n_shared >= fewest))
    return dict(zip(paired_sources.tolist(), best_target[paired_sources].tolist(), strict=True))


def _list_identical_terms(source: Vocabulary, target: Vocabulary) -> list[tuple[int, int]]:
    """List long enough terms that are among the most frequent of both vocabularies, by their numbers in either."""
    pairs = []
    for source_term, term in enumerate(source.terms[:WORDS_FOR_GUESSES]):
        target_term = target.index.get(term, WORDS_FOR_GUESSES)
        if len(term) >= MIN_IDENTICAL_LETTERS and target_term < WORDS_FOR_GUESSES:
            pairs.append((source_term, target_term))
    return pairs


def measure_map_quality(mapped: Floats, target: Floats, *, seed: int = 0) -> MapQuality:
    """Measure by the most frequent words whether a map is better than chance.

    :param mapped: (source words, dimensions) mapped source vectors, most frequent words first
    :param target: (target words, dimensions) target vectors, most frequent words first
    :param seed: of the shuffling, and of the split of word pairs into halves
    :return: the agreement of the map, and as chance the agreement that refinement reaches with a meaningless target,
        the real one with each dimension shuffled
    """
    unit_mapped = maps.make_unit_rows(mapped[:MEASURED_WORDS])
    unit_target = maps.make_unit_rows(target[:MEASURED_WORDS])
    agreement, n_mutual = maps.measure_agreement(unit_mapped, unit_target, seed=seed)
    return MapQuality(agreement, n_mutual, _measure_chance(unit_mapped, unit_target, seed))


def _describe_map(quality: MapQuality, n_pairs: int) -> dict[str, float]:
    """Return what a model saves about one of its maps.

    :param n_pairs: how many word pairs it was learned from
    """
    return {
        "pairs": n_pairs,
        "agreement": quality.agreement,
        "mutual": quality.n_mutual,
        "chance": quality.chance_agreement,
    }


def _measure_chance(mapped: Floats, target: Floats, seed: int) -> float:
    """Return the agreement that refinement reaches with a meaningless target: each dimension of `target` shuffled.

    :param mapped: (source words, dimensions) unit vectors; `target` likewise
    """
    random = np.random.default_rng(seed)
    shuffled_columns = [random.permutation(column) for column in target.T]
    shuffled = maps.make_unit_rows(np.stack(shuffled_columns, axis=1))
    identity = np.eye(mapped.shape[1], dtype=np.float32)
    refined_map, _ = maps.refine_rotation(mapped, shuffled, identity, rounds=3)
    chance, _ = maps.measure_agreement(maps.make_unit_rows(mapped @ refined_map), shuffled, seed=seed)
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
) -> maps.MapPair:
    """Learn a map between two spaces of word vectors by one of METHODS.

    :param source: (source words, dimensions); `target` likewise
    :param pairs: (pairs, 2) rows of `source` and `target` that translate each other
    :param adversary: settings of `_learn_without_pairs`
    :return: the map of the source and that of the target: mapped vectors are products with these matrices
    """
    source_pairs, target_pairs = source[pairs[:, 0]], target[pairs[:, 1]]  # (pairs, dimensions)
    if method == "cca":
        return maps.learn_canonical_projections(source_pairs, target_pairs, keep=keep)
    if method == "svd":
        return maps.learn_two_rotations(source_pairs, target_pairs, keep=keep)
    identity = np.eye(target.shape[1], dtype=np.float32)  # all other methods leave the target where it is
    if method == "least-squares":
        return maps.learn_least_squares(source_pairs, target_pairs), identity
    if method == UNSUPERVISED:
        rotation = _learn_without_pairs(source, target, **adversary)
    else:
        rotation = maps.learn_rotation(source_pairs, target_pairs)
    if method == "self-learning":
        rotation = maps.self_learn_rotation(source, target, rotation)
    elif method in ("procrustes", UNSUPERVISED):
        rotation, _ = maps.refine_rotation(source, target, rotation, rounds=rounds)
    return rotation, identity


def _learn_without_pairs(
    source: Floats,
    target: Floats,
    *,
    seed: Seed = 0,
    epochs: Annotated[int, Setting("Epochs of the adversary (advrefine).", min=1, max=100_000)] = 5,
    steps: Annotated[int, Setting("Steps of an epoch (advrefine).", min=1, max=1_000_000)] = 1000,
    hidden: Annotated[int, Setting("Width of the adversary (advrefine).", min=1, max=100_000)] = 512,
) -> Floats:
    """Learn a rotation of the source by adversarial training, without word pairs: (dimensions, dimensions).

    :param source: (source words, dimensions); `target` likewise
    """
    try:
        from paragloss.lab.descent.adversarial import learn_adversarial_rotation
    except ImportError:
        raise MissingExtraError(UNSUPERVISED, "train") from None
    return learn_adversarial_rotation(source, target, seed=seed, epochs=epochs, steps=steps, hidden=hidden)


def _prepare_vectors(rows: Floats, method: str) -> Floats:
    """Normalize vectors as the paper of each method does before it learns a map."""
    if method == "least-squares":
        return np.asarray(rows, np.float32)
    if method == "cca":
        return maps.subtract_mean(rows)
    return maps.make_unit_rows(rows) if method == "svd" else maps.normalize_and_center(rows)


def _list_guessed_pairs(
    source_texts: CountedTexts, target_texts: CountedTexts, source: Vocabulary, target: Vocabulary
) -> list[tuple[int, int]]:
    """Guess word pairs from aligned texts (`guess_word_pairs`), and return them as numbers of other vocabularies."""
    pairs = []
    for source_number, target_number in guess_word_pairs(source_texts, target_texts):
        source_term = source_texts.vocabulary.terms[source_number]
        target_term = target_texts.vocabulary.terms[target_number]
        if source_term in source.index and target_term in target.index:
            pairs.append((source.index[source_term], target.index[target_term]))
    return pairs


def _list_dictionary_pairs(dictionary: Dictionary, source: Vocabulary, target: Vocabulary) -> list[tuple[int, int]]:
    """Return the dictionary of two languages, read in either direction, as pairs of term numbers.

    Entries that are not one known term in each language are left out.

    :param dictionary: pairs of words by their languages
    :param source: the words that have vectors in one language
    :param target: those in the other
    """
    entries = list(dictionary.get((source.lang, target.lang), ()))
    for target_word, source_word in dictionary.get((target.lang, source.lang), ()):
        entries.append((source_word, target_word))
    pairs = []
    for source_word, target_word in dict.fromkeys(entries):
        source_ids, target_ids = source.ids(source_word), target.ids(target_word)
        if len(source_ids) == 1 and len(target_ids) == 1:
            pairs.append((source_ids[0], target_ids[0]))
    return pairs


def _make_vocabulary(words: Sequence[str], corpus: Vocabulary) -> Vocabulary:
    """Make a vocabulary of given words with the corpus's document frequencies."""
    df = [corpus.df[corpus.index[word]] if word in corpus.index else 0 for word in words]
    return Vocabulary(corpus.lang, words, df, corpus.documents, stem=corpus.stem)


def _make_concept_columns(part: CountedTexts, shared_concepts: Integers) -> sp.csc_matrix:
    """Return which of the most frequent words occur in which shared concepts: (concepts, words), unit columns."""
    counts = part.counts[np.isin(part.concepts, shared_concepts)][:, :WORDS_FOR_GUESSES]
    ones = np.ones(counts.nnz, np.float32)
    columns = sp.csr_matrix((ones, counts.indices, counts.indptr), shape=counts.shape).tocsc()
    sizes = np.diff(columns.indptr)
    columns.data /= np.repeat(np.sqrt(np.maximum(sizes, 1)), sizes).astype(np.float32)
    return columns


def _find_best_columns(
    source: sp.csc_matrix, target: sp.csc_matrix, *, block: int = 1000
) -> tuple[Integers, npt.NDArray[Any]]:
    """Find for each source column the target column with the highest cosine, and how many concepts both share.

    :param source: (concepts, source terms) columns of length 1, from `_make_concept_columns`
    :param target: (concepts, target terms) likewise
    :param block: source columns computed at a time
    :return: target columns and numbers of shared concepts, (source terms,) each
    """
    best_parts, n_shared_parts = [], []
    source_sizes = np.diff(source.indptr)  # (source terms,) concepts of each term
    target_sizes = np.diff(target.indptr)  # (target terms,)
    for start in range(0, source.shape[1], block):
        stop = start + block
        cosines = (source[:, start:stop].T @ target).toarray()  # (terms of the block, target terms)
        best = cosines.argmax(axis=1)
        best_cosines = cosines[np.arange(len(best)), best]
        # A cosine is the number of shared concepts divided by these norms.
        norms = np.sqrt(source_sizes[start:stop] * target_sizes[best])
        best_parts.append(best)
        n_shared_parts.append(np.rint(best_cosines * norms))
    return np.concatenate(best_parts), np.concatenate(n_shared_parts)
