"""The clauses of a query in one language: each query term with the words that may translate it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from paragloss.analysis import analyzer
from paragloss.bm25 import Doubles, Integers, term_hashes
from paragloss.translation.subword_terms import SOUND_PREFIX, SUBWORD_WEIGHT
from paragloss.types import Analyzer, Query, Translation

#: How many documents are scored exactly for each query; more if more results are asked for. On held-out titles of two
#: collections 100 gave the same reciprocal ranks as 1,000 at a fifth of the time.
MAX_CANDIDATES = 200


class Clause(NamedTuple):
    """A query term and the words of one language that may translate it."""

    source: str
    weight: float  # how much the query term counts
    words: tuple[str, ...]
    hashes: Integers  # (n_words,)
    probabilities: Doubles  # (n_words,) they sum to 1; words of a phrase share that of the phrase
    subword_weights: Doubles  # (n_words,) how much it counts inside a compound; 0 in the query's own language


def split_into_clauses(query: Query, analyze: Callable[[str], Analyzer] = analyzer) -> list[Clause]:
    """Split a query into clauses, each of which has the words of one language that may stand for one query term.

    A translated query has a clause for each of its translated terms, except those that consist of stop words only. Any
    other query has a clause for each of its own words.

    :param analyze: returns the analyzer of a language.
    """
    if not query.clauses:
        return [_make_untranslated_clause(word, query.lang) for word in analyze(query.lang).terms(query.text)]
    clauses = [_split_alternatives(translation, query.lang, analyze) for translation in query.clauses]
    return [clause for clause in clauses if clause is not None]


@lru_cache(maxsize=20_000)  # people search for the same words again
def _split_alternatives(translation: Translation, lang: str, analyze: Callable[[str], Analyzer]) -> Clause | None:
    """Make the clause of a query term from its translations; None if they consist of stop words only.

    The words of a translation of several words share its weight, and a word of several translations adds up theirs.

    :param translation: a term of the query with its translations; a translation may come with its terms.
    :param lang: the language of the translations.
    :param analyze: returns the analyzer of a language.
    """
    tokenize = analyze(lang).terms
    total_weight = 0.0
    weight_by_word: dict[str, float] = {}
    for alternative in translation.alternatives:
        words = alternative.terms or tokenize(alternative.text)
        if words:
            total_weight += alternative.weight
        for word in words:
            weight_by_word[word] = weight_by_word.get(word, 0.0) + alternative.weight / len(words)
    if not weight_by_word:
        return None
    probabilities = {word: weight / total_weight for word, weight in weight_by_word.items()}
    subword_weights = [1.0 if word.startswith(SOUND_PREFIX) else SUBWORD_WEIGHT for word in weight_by_word]
    return _make_clause(translation.source, translation.weight, probabilities, subword_weights, lang)


@lru_cache(maxsize=20_000)
def _make_untranslated_clause(word: str, lang: str) -> Clause:
    """Make the clause of a word that is searched as it is."""
    return _make_clause(word, 1.0, {word: 1.0}, [0.0], lang)


def _make_clause(
    source: str, weight: float, probabilities: dict[str, float], subword_weights: Sequence[float], lang: str
) -> Clause:
    """Make a clause of words of a language; look up the hash of each word.

    :param source: the query term that the words may translate.
    :param weight: how much the query term counts.
    :param probabilities: of each word.
    :param subword_weights: for each word, how much it counts inside a compound.
    """
    hashes = term_hashes(lang)
    return Clause(
        source,
        weight,
        words=tuple(probabilities),
        hashes=np.array([hashes[word] for word in probabilities], np.int64),
        probabilities=np.array([*probabilities.values()], np.float64),
        subword_weights=np.array(subword_weights, np.float64),
    )


def attribute_clauses(query: Query, name: str) -> Query:
    """Return a query whose clauses say which translator they are from; those that say so already stay as they are."""
    clauses = [
        clause if clause.origins else clause._replace(origins=((name, 1.0, clause.alternatives),))
        for clause in query.clauses
    ]
    return query._replace(clauses=tuple(clauses))
