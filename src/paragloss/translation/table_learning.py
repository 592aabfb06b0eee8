"""Learn word translations from texts that say the same in several languages: parallel sentences or whole documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations, permutations

import scipy.sparse as sp

from paragloss import artefacts
from paragloss.errors import InputError
from paragloss.translation import default
from paragloss.translation.default.table_unpacking import unpack_table
from paragloss.translation.parallel_terms import (
    LanguageTexts,
    extend_vocabulary,
    find_term_numbers,
    read_language,
    select_shared_texts,
)
from paragloss.translation.word_alignment import TermBags, align_terms
from paragloss.translation.word_table import Table, prune
from paragloss.types import Aligned

Direction = tuple[str, str]


@dataclass(frozen=True)
class TableSettings:
    """How to learn a table.

    :param source: learn only tables from this language
    :param target: learn only tables into this language
    :param iterations: rounds of expectation maximisation
    :param diagonal: how strongly words at similar positions are preferred; 0 is not at all
    :param symmetric: take the geometric mean of P(target | source) and P(source | target), which drops words that a
        rare word only occurred beside
    :param candidates: how many translations of a word are considered
    :param max_terms: long documents are truncated to this many distinct terms
    :param phrases: learn, and translate, collocations as one term
    :param min_probability: less likely translations are dropped
    :param max_alternatives: the number of translations that are kept of a word
    :param sharpness: the exponent of probabilities in a search. They come from the user's own texts, where words that
        occurred together by chance have small probabilities; an exponent above 1 lowers those first.
    :param start: continue from "default", the model in the package, or from a saved table
    :param start_weight: how many occurrences of each word the translations of the start count as
    """

    source: str = ""
    target: str = ""
    iterations: int = 5
    diagonal: float = 4.0
    symmetric: bool = True
    candidates: int = 100
    max_terms: int = 150
    phrases: bool = True
    min_probability: float = 0.01
    max_alternatives: int = 20
    sharpness: float = 2.0
    start: str = ""
    start_weight: float = 5.0


def learn_table(aligned: Aligned, settings: TableSettings) -> Table:
    """Learn a table of word translations for every two languages that share texts, in both directions.

    :param aligned: concepts with texts in two languages or more
    :param settings: which directions are learned, and how
    :raises InputError: if no text exists in two of the languages
    """
    directions = _list_directions(aligned, settings.source, settings.target)
    start_table = load_start_table(settings.start, directions) if settings.start else None
    texts = _read_texts(aligned, directions, start_table, settings)
    learned = _align_texts(texts, directions, start_table, settings)
    if not learned:
        raise InputError(f"no text is in two of the languages {', '.join(texts)}: nothing to learn from")
    pruned = {}
    for direction, matrix in learned.items():
        if direction in directions:
            pruned[direction] = prune(matrix, min_probability=settings.min_probability, most=settings.max_alternatives)
    words = {lang: language_texts.words for lang, language_texts in texts.items()}
    return Table(words, pruned, max_alternatives=settings.max_alternatives, sharpness=settings.sharpness)


def _read_texts(
    aligned: Aligned, directions: Sequence[Direction], start_table: Table | None, settings: TableSettings
) -> dict[str, LanguageTexts]:
    """Tokenize the texts of each language of some directions; their vocabularies have the start table's words, too."""
    texts: dict[str, LanguageTexts] = {}
    for lang in sorted(set(chain.from_iterable(directions))):
        texts[lang] = read_language(aligned, lang, max_terms=settings.max_terms, phrases=settings.phrases)
        if start_table is not None:
            texts[lang] = extend_vocabulary(texts[lang], start_table.words.get(lang))
    return texts


def _align_texts(
    texts: Mapping[str, LanguageTexts],
    directions: Sequence[Direction],
    start_table: Table | None,
    settings: TableSettings,
) -> dict[Direction, sp.csr_matrix]:
    """Estimate the translation probabilities of every two languages that share texts, in both directions.

    :param texts: the tokenized texts of each language
    :param directions: pairs of languages that are wanted; both directions are returned where one of them is
    :param start_table: a table to continue from
    :return: (source, target) -> probabilities, (source terms, target terms)
    """
    learned: dict[Direction, sp.csr_matrix] = {}
    for first, second in combinations(texts, 2):
        forward, backward = (first, second), (second, first)
        is_wanted = forward in directions or backward in directions
        if not is_wanted:
            continue
        first_bags, second_bags = select_shared_texts(texts[first], texts[second])
        n_shared_texts = len(first_bags.starts) - 1
        if not n_shared_texts:
            continue
        forward_prior = _make_prior_counts(start_table, forward, texts, settings.start_weight)
        backward_prior = _make_prior_counts(start_table, backward, texts, settings.start_weight)
        learned[forward], learned[backward] = _align_both_directions(
            first_bags, second_bags, (forward_prior, backward_prior), settings
        )
    return learned


def load_start_table(start: str, directions: Sequence[Direction]) -> Table:
    """Load the table to continue from: the model in the package for some directions, or a saved table."""
    if start == default.KIND:
        return unpack_table(default.open(), directions)
    if artefacts.read_kind(start) == default.KIND:
        return unpack_table(default.load(start), directions)
    return Table.load(start)


def _list_directions(aligned: Aligned, source: str, target: str) -> list[Direction]:
    """List the directions to learn: all, or those from `source` or into `target`."""
    langs = sorted({lang for concept in aligned for lang in concept.texts})
    directions = [pair for pair in permutations(langs, 2) if source in ("", pair[0]) and target in ("", pair[1])]
    if not directions:
        raise InputError(f"nothing to learn a table {source or 'any'}->{target or 'any'} from: texts are in {langs}")
    return directions


def _align_both_directions(
    first: TermBags, second: TermBags, priors: Sequence[sp.csr_matrix | None], settings: TableSettings
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Estimate P(second | first) and P(first | second) of the terms of two languages.

    With `settings.symmetric` both are the geometric mean of the two, seen from either side.

    :param first: texts of one language
    :param second: their translations, in the same order
    :param priors: for either direction, counts that are added to those of the texts; None for none
    """
    align = partial(
        align_terms, iterations=settings.iterations, diagonal=settings.diagonal, candidates=settings.candidates
    )
    with ThreadPoolExecutor(2) as pool:  # numpy releases the interpreter's lock for most of the work
        forward_job = pool.submit(align, first, second, prior=priors[0])
        backward_job = pool.submit(align, second, first, prior=priors[1])
        forward, backward = forward_job.result().probability, backward_job.result().probability
    if not settings.symmetric:
        return forward, backward
    forward_mean = forward.multiply(backward.T).sqrt()
    backward_mean = backward.multiply(forward.T).sqrt()
    return forward_mean.tocsr(), backward_mean.tocsr()


def _make_prior_counts(
    start_table: Table | None, direction: Direction, texts: Mapping[str, LanguageTexts], weight: float
) -> sp.csr_matrix | None:
    """Return the probabilities of the start table times `weight`, as counts of the terms of the texts.

    :param direction: the pair of languages, (source, target)
    :param texts: the tokenized texts of each language, whose vocabularies have the words of the start table
    :param weight: how many occurrences of each word the probabilities count as
    :return: counts (source terms, target terms); None if there is no start table of this direction
    """
    if start_table is None or direction not in start_table.probabilities:
        return None
    source, target = direction
    cells = start_table.probabilities[direction].tocoo()
    rows = find_term_numbers(texts[source].words, start_table.words[source])
    columns = find_term_numbers(texts[target].words, start_table.words[target])
    shape = (len(texts[source].words.terms), len(texts[target].words.terms))
    return sp.csr_matrix((weight * cells.data, (rows[cells.row], columns[cells.col])), shape=shape)
