"""Which language a text is in, by py3langid's naive Bayes over byte n-grams (Lui and Baldwin, 2012), narrowed first by
the scripts each language is written in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from paragloss.languages import grams
from paragloss.languages.codes import bases, known_codes, normalise
from paragloss.languages.scripts import script_of, scripts_of

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

#: How much each judge of a few words counts, and the least it may say: none is that sure.
GRAMS, BYTES, _LEAST = 1.0, 0.5, -20.0
#: A document's language shows in its beginning; reading further only costs time.
_ENOUGH_CHARACTERS = 1500


def identify(texts: Iterable[str], among: Collection[str] | None = None) -> list[str | None]:
    """The language of each text, one of `among` if given; None for a text without letters."""
    candidates = None if among is None else frozenset(map(normalise, among))
    return [_identify(text, candidates) for text in texts]


def identify_one(text: str, among: Collection[str] | None = None) -> str | None:
    """The language of one text: see `identify`."""
    return identify([text], among)[0]


def language_likelihoods(text: str, among: Collection[str]) -> dict[str, float]:
    """For each candidate the logarithm of how likely a few words are in it, up to one number for all; none for a text
    without letters. Candidates that are not written in the text's script are left out, unless all are.

    Two judges are heard: the n-grams learned here (`grams`), and py3langid, which knows more languages. A candidate
    that the first does not know is as likely to it as the others on average.
    """
    script = script_of(text)
    if script is None:
        return {}
    candidates = sorted(_written_in(script, frozenset(map(normalise, among))))
    if len(candidates) == 1:
        return {candidates[0]: 0.0}
    near = _spread(grams.score_languages(text), candidates)
    far = _spread(
        {bases().get(label, label): score for label, score in _identifier().rank(f" {text} ")[::-1]}, candidates
    )
    return {lang: GRAMS * near[lang] + BYTES * far[lang] for lang in candidates}


def _spread(scores: Mapping[str, float], candidates: Sequence[str]) -> dict[str, float]:
    """Scores of candidates, counted from the best; at least `_LEAST`, and that half for those it does not know."""
    known_scores = {lang: scores[lang] for lang in candidates if lang in scores}
    best = max(known_scores.values(), default=0.0)
    return {lang: max(known_scores[lang] - best, _LEAST) if lang in known_scores else _LEAST / 2 for lang in candidates}


def _identify(text: str, among: frozenset[str] | None) -> str | None:
    text = text[:_ENOUGH_CHARACTERS]
    script = script_of(text)
    if script is None:
        return None
    candidates = _written_in(script, among)
    if len(candidates) == 1:
        return next(iter(candidates))
    # The model knows what words begin and end with, but only sees it between spaces.
    for label, _ in _identifier().rank(f" {text} "):
        lang = bases().get(label)
        if lang in candidates:
            return lang
    return min(candidates)


@lru_cache(maxsize=1024)
def _written_in(script: str, among: frozenset[str] | None) -> frozenset[str]:
    """The candidates written in a script; all of them if none is, since the caller knows they are the ones."""
    pool = among or frozenset(known_codes())
    return frozenset(lang for lang in pool if script in scripts_of(lang)) or pool


@cache
def _identifier() -> LanguageIdentifier:
    # Its own instance, only ever read: `rank` changes nothing, so threads may share it.
    from paragloss.languages._unpacked import identifier

    return identifier()
