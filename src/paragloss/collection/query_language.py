"""Identify the language of a query by its letters, the collection's documents, and the models it is searched with."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from paragloss import languages
from paragloss.analysis import analyzer
from paragloss.errors import InputError, LanguageError
from paragloss.statistics import Statistics
from paragloss.types import Multilingual, Query, TermList

#: Longer texts are refused as queries.
MAX_CHARACTERS, MAX_TERMS = 10_000, 300
#: The average rate of a query word in the documents of its language, and how many documents of that rate are added to
#: what was counted, so that a language with few documents has little weight.
AVERAGE_RATE, SMOOTHING_DOCUMENTS = 0.01, 50.0
#: Weights of the rates of words in the documents, and of the share of words that models know, beside the letters.
COLLECTION_WEIGHT, COVERAGE_WEIGHT = 0.5, 1.0
#: What is added to the score of a language that no document is in.
FOREIGN_PENALTY = -0.5
#: The second likeliest language is searched as well if it is at least this likely.
MIN_SHARE_OF_SECOND = 0.15
#: Names have no language. If the likeliest language is less likely than this, or all words are capitalized, the
#: language that models know most names in is searched as well, with a part of the likeliest one's share.
MIN_SURE_SHARE, FALLBACK, FALLBACK_WEIGHT = 0.5, "en", 0.5
#: Of so many languages, the likeliest ones, the words are looked up in the models.
MAX_LANGUAGES_IN_MODELS = 4


class Guess(NamedTuple):
    """A language a query may be in, and how likely."""

    lang: str
    share: float


def normalise_query(query: Query) -> Query:
    """Check that a query can be asked, and return it with the base code of its language ("en" for "en-GB").

    :raises InputError: if the query is empty or too long.
    """
    if not query.text.strip():
        raise InputError("the query is empty: say what you are looking for")
    if len(query.text) > MAX_CHARACTERS:
        raise InputError(
            f"the query has {len(query.text):,} characters, at most {MAX_CHARACTERS:,} can be asked: shorten it"
        )
    return query._replace(lang=languages.normalise(query.lang)) if query.lang else query


def check_term_count(query: Query) -> None:
    """Raise InputError if a query, whose language is known, has too many terms to be answered in a moment."""
    n_terms = len(analyzer(query.lang).terms(query.text))
    if n_terms > MAX_TERMS:
        raise InputError(f"the query has {n_terms:,} terms, at most {MAX_TERMS:,} can be asked: shorten it")


def guess_languages(text: str, statistics: Statistics, models: Mapping[str, object]) -> list[Guess]:
    """Return the languages a query may be in, likeliest first.

    The score of a language is a log-likelihood of three summands: how likely its letters are, how usual the words are
    in the collection's documents of the language, and, for the few likeliest languages, how many words models know.

    :param statistics: those of the collection, with the document frequencies of terms.
    :param models: those of the collection by name; some of them know words.
    :return: guesses whose shares sum to 1; equal ones are ordered by language code.
    :raises LanguageError: if the text has no letters that tell a language.
    """
    scores = languages.language_likelihoods(text, _list_possible_languages(statistics, models))
    if not scores:
        raise LanguageError(f"can't tell the language of {text!r}: say it with --lang")
    for lang in scores:
        scores[lang] += _weigh_documents(text, lang, statistics)
    if len(scores) > 1:
        likeliest_langs = sorted(scores, key=lambda lang: -scores[lang])[:MAX_LANGUAGES_IN_MODELS]
        for lang in likeliest_langs:
            scores[lang] += COVERAGE_WEIGHT * _score_by_models(text, lang, models)
    guesses = [Guess(lang, share) for lang, share in _compute_shares(scores).items()]
    return sorted(guesses, key=lambda guess: (-guess.share, guess.lang))


def _list_possible_languages(statistics: Statistics, models: Mapping[str, object]) -> Collection[str]:
    """Return the languages of the documents and of the models; if there are none, all known languages."""
    langs = set(statistics.langs)
    for model in models.values():
        if isinstance(model, Multilingual):
            langs.update(model.langs)
    langs.discard(languages.UNKNOWN)
    return langs or languages.known_codes()


def _weigh_documents(text: str, lang: str, statistics: Statistics) -> float:
    """Return what the documents of a collection add to the score of a language; a penalty if none is in it."""
    penalty = 0.0 if lang in statistics.langs else FOREIGN_PENALTY
    return COLLECTION_WEIGHT * _score_by_documents(text, lang, statistics) + penalty


def _compute_shares(log_likelihoods: Mapping[str, float]) -> dict[str, float]:
    """Turn log-likelihoods into shares that sum to 1."""
    highest = max(log_likelihoods.values())
    likelihoods = {lang: float(np.exp(value - highest)) for lang, value in log_likelihoods.items()}
    total = sum(likelihoods.values())
    return {lang: likelihood / total for lang, likelihood in likelihoods.items()}


def select_readings(
    guesses: Sequence[Guess], text: str, models: Mapping[str, object], reader: str = FALLBACK
) -> list[Guess]:
    """Select the languages in which a query is searched.

    At most two are, and English as well if all words seem to be names or no language is likely. But if they seem to be
    names, and models know as many of them in the reader's language as in the likeliest one, only that is searched.

    :param guesses: the languages that the query may be in, likeliest first.
    :param text: the query.
    :param models: those of the collection by name; some of them know words.
    :param reader: the reader's language.
    :return: the selected languages; their shares need not sum to 1.
    """
    likely_guesses = [guess for guess in guesses if guess.share >= MIN_SHARE_OF_SECOND]
    readings = likely_guesses[:2] or list(guesses[:1])
    likeliest = readings[0]
    possible_langs = {guess.lang for guess in guesses}
    seem_names = all(word[0].isupper() for word in text.split())
    if seem_names and reader in possible_langs and _prefers_language(reader, likeliest, text, models):
        return [Guess(reader, 1.0)]
    unselected_langs = possible_langs - {guess.lang for guess in readings}
    needs_fallback = seem_names or likeliest.share < MIN_SURE_SHARE
    if needs_fallback and FALLBACK in unselected_langs:
        readings.append(Guess(FALLBACK, FALLBACK_WEIGHT * likeliest.share))
    return readings


def _prefers_language(lang: str, likeliest: Guess, text: str, models: Mapping[str, object]) -> bool:
    """Tell whether a query of names should be read in another language than the likeliest one.

    It should if models know at least as many of its words in that language. If the likeliest language is unsure, one
    known word is enough.

    :param lang: the other language.
    :param likeliest: the likeliest language.
    :param models: those of the collection by name; some of them know words.
    """
    n_known = _count_known_words(text, lang, models)
    if n_known == 0:
        return False
    if likeliest.share < MIN_SURE_SHARE:
        return True
    return n_known >= _count_known_words(text, likeliest.lang, models)


def _score_by_documents(text: str, lang: str, statistics: Statistics) -> float:
    """Return the log of how much likelier the words are in the documents of a language than on average."""
    n_documents = statistics.documents("text", lang)
    if not n_documents:
        return 0.0
    terms = list(dict.fromkeys(analyzer(lang).terms(text)))
    df = statistics.df("text", lang, terms).astype(np.float64)
    rates = (df + SMOOTHING_DOCUMENTS * AVERAGE_RATE) / (n_documents + SMOOTHING_DOCUMENTS)
    return float(np.log(rates / AVERAGE_RATE).sum()) if len(terms) else 0.0


def _score_by_models(text: str, lang: str, models: Mapping[str, object]) -> float:
    """Return the log of the share of the words that some model knows; 0 if no model has the language."""
    terms = list(dict.fromkeys(analyzer(lang).terms(text)))
    if not terms or not _select_term_lists(models, lang):
        return 0.0
    return float(np.log((_count_known_words(text, lang, models) + 0.5) / (len(terms) + 0.5)))


def _count_known_words(text: str, lang: str, models: Mapping[str, object]) -> int:
    """Return how many of the words of a query some model knows."""
    term_lists = _select_term_lists(models, lang)
    terms = set(analyzer(lang).terms(text))
    return sum(any(model.has_term(term, lang) for model in term_lists) for term in terms)


def _select_term_lists(models: Mapping[str, object], lang: str) -> list[TermList]:
    return [model for model in models.values() if isinstance(model, TermList) and lang in model.langs]
