"""Which language is a query in? Judged by its letters, by the collection and by the models it is asked of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from paragloss import languages
from paragloss.analysis import analyzer
from paragloss.errors import InputError, LanguageError
from paragloss.ranking import rank_hits
from paragloss.search.fused import plain_sum
from paragloss.statistics import Statistics
from paragloss.types import Hit, Multilingual, Query, Ranking, TermList

#: No query is longer; what is longer is a document.
MOST_CHARACTERS, MOST_TERMS = 10_000, 300
#: How a word's rate in the documents of a language speaks for it: the rate a word of a query has on average, how many
#: documents' worth of that is added to what was counted (so that a language with few documents says little), and how
#: much all of it counts beside the letters.
RATE, SMOOTHING, COLLECTION = 0.01, 50.0, 0.5
#: How much it counts whether the models know the words.
COVERAGE = 1.0
#: A language that no document is in is a little less likely.
ABROAD = -0.5
#: A language at least this likely beside the likeliest is searched as well.
DOUBT = 0.15
#: Names tell no language. Where the likeliest is less likely than this, or all words are written large, the one that
#: models know most names in is searched as well, and counts so much of it.
UNSURE, FALLBACK, HALF = 0.5, "en", 0.5
#: Only so many of the likeliest are looked up in the models.
_LOOKED_UP = 4


class Guess(NamedTuple):
    """A language a query may be in, and how likely."""

    lang: str
    share: float


def checked(query: Query) -> Query:
    """The query, with its language's base code where it says one; refused where it is empty or no query any more."""
    if not query.text.strip():
        raise InputError("the query is empty: say what you are looking for")
    if len(query.text) > MOST_CHARACTERS:
        raise InputError(
            f"the query has {len(query.text):,} characters, at most {MOST_CHARACTERS:,} can be asked: shorten it"
        )
    return query._replace(lang=languages.normalise(query.lang)) if query.lang else query


def bounded(query: Query) -> Query:
    """The query, refused where it has more terms than can be answered in a moment; the language it is in is known."""
    if (terms := len(analyzer(query.lang).terms(query.text))) > MOST_TERMS:
        raise InputError(f"the query has {terms:,} terms, at most {MOST_TERMS:,} can be asked: shorten it")
    return query


def guesses(text: str, statistics: Statistics, models: Mapping[str, object]) -> list[Guess]:
    """The languages a query may be in, likeliest first: of those of the documents and of the models, all there are
    where there are none."""
    spoken = {lang for model in models.values() for lang in (model.langs if isinstance(model, Multilingual) else ())}
    among = ({*statistics.langs, *spoken} - {languages.UNKNOWN}) or languages.known_codes()
    scores = languages.language_likelihoods(text, among)
    if not scores:
        raise LanguageError(f"can't tell the language of {text!r}: say it with --lang")
    for lang in scores:
        scores[lang] += COLLECTION * _spoken_here(text, lang, statistics) + (
            0.0 if lang in statistics.langs else ABROAD
        )
    for lang in sorted(scores, key=lambda lang: -scores[lang])[:_LOOKED_UP] if len(scores) > 1 else ():
        scores[lang] += COVERAGE * _known_to(text, lang, models)
    best = max(scores.values())
    shares = {lang: float(np.exp(score - best)) for lang, score in scores.items()}
    total = sum(shares.values())
    return sorted((Guess(lang, share / total) for lang, share in shares.items()), key=lambda g: (-g.share, g.lang))


def likely(found: Sequence[Guess], text: str, models: Mapping[str, object], reader: str = FALLBACK) -> list[Guess]:
    """Of guesses those that are searched: two at most, and the fallback where the words seem to be names. Where all do,
    and the reader's language has as many of them, they are the reader's."""
    some = [guess for guess in found if guess.share >= DOUBT][:2] or list(found[:1])
    large, langs = all(word[0].isupper() for word in text.split()), {guess.lang for guess in found}
    known = _known(text, reader, models) if large and reader in langs else 0
    if known and (some[0].share < UNSURE or known >= _known(text, some[0].lang, models)):
        return [Guess(reader, 1.0)]
    if (large or some[0].share < UNSURE) and FALLBACK in langs - {guess.lang for guess in some}:
        some.append(Guess(FALLBACK, HALF * some[0].share))
    return some


def expected(rankings: Sequence[tuple[float, Sequence[Hit]]], k: int) -> Ranking:
    """Of rankings with how likely each is the right one: every document with the sum of its scores times that."""
    scores = plain_sum([ranking for _, ranking in rankings], [share for share, _ in rankings])
    return rank_hits((Hit(id, score) for id, score in scores.items()), k)


def _spoken_here(text: str, lang: str, statistics: Statistics) -> float:
    """How much likelier the words are in the documents of a language than anywhere: the logarithm, over all words."""
    documents = statistics.documents("text", lang)
    if not documents:
        return 0.0
    terms = list(dict.fromkeys(analyzer(lang).terms(text)))
    df = statistics.df("text", lang, terms).astype(np.float64)
    rates = (df + SMOOTHING * RATE) / (documents + SMOOTHING)
    return float(np.log(rates / RATE).sum()) if len(terms) else 0.0


def _known_to(text: str, lang: str, models: Mapping[str, object]) -> float:
    """The logarithm of the share of the words that some model knows; 0 where no model speaks the language."""
    terms = list(dict.fromkeys(analyzer(lang).terms(text)))
    if not terms or not _term_lists(models, lang):
        return 0.0
    return float(np.log((_known(text, lang, models) + 0.5) / (len(terms) + 0.5)))


def _known(text: str, lang: str, models: Mapping[str, object]) -> int:
    """How many of the words some model knows."""
    knowing = _term_lists(models, lang)
    return sum(any(model.has_term(term, lang) for model in knowing) for term in set(analyzer(lang).terms(text)))


def _term_lists(models: Mapping[str, object], lang: str) -> list[TermList]:
    return [model for model in models.values() if isinstance(model, TermList) and lang in model.langs]
