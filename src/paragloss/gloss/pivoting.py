"""Meanings in a language that is not English, through English.

The default model translates an English meaning into the other language; the lexicon of that language gives the English
meanings of each translation. A translation counts more, the more meanings it shares with the word to be glossed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from paragloss.analysis import analyzer
from paragloss.gloss.lexicon import Lexicon, LexiconEntry
from paragloss.translation.default import DefaultModel

_MAX_ENGLISH_MEANINGS = 3
_MAX_TRANSLATIONS = 6
#: The score of a translation that shares no meaning with the word, relative to one that shares all.
_MIN_OVERLAP_SCORE = 0.1
#: From this overlap on, a translation of a certain meaning is certain.
_CERTAIN_OVERLAP = 0.2


class _Candidate(NamedTuple):
    """A translation of one English meaning."""

    text: str
    score: float
    is_certain: bool


@lru_cache(maxsize=20_000)
def translate_entries(
    entries: tuple[LexiconEntry, ...], to: str, model: DefaultModel, lexicon: Lexicon
) -> tuple[LexiconEntry, ...]:
    """Translate the English meanings of a word into another language, likeliest first; their weights sum to 1.

    A translation of several meanings adds up what it gets for each; one that shares no meaning with the word gets
    little.

    :param entries: English meanings of the word.
    :param to: the language to translate them into.
    :param model: translates words.
    :param lexicon: has the English meanings of the translations.
    """
    weight_by_stem = {_stem(entry.text): entry.weight for entry in entries}
    candidates: list[_Candidate] = []
    for entry in entries[:_MAX_ENGLISH_MEANINGS]:
        candidates += _translate_entry(entry, weight_by_stem, to, model, lexicon)
    certain_texts = {candidate.text for candidate in candidates if candidate.is_certain}
    scores: dict[str, float] = {}
    for candidate in candidates:
        scores[candidate.text] = scores.get(candidate.text, 0.0) + candidate.score
    total_score = sum(scores.values())
    best_first = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    translated = []
    for text, score in best_first:
        if score:
            translated.append(LexiconEntry(text, score / total_score, entries[0].source, text in certain_texts))
    return tuple(translated)


def _translate_entry(
    entry: LexiconEntry, weight_by_stem: dict[str, float], to: str, model: DefaultModel, lexicon: Lexicon
) -> list[_Candidate]:
    """Translate one English meaning of a word: function words by the lexicon, others by the model.

    :param entry: the meaning, with its weight among all meanings of the word.
    :param weight_by_stem: the weights of all English meanings of the word, by their stems.
    :param to: the language to translate it into.
    :param model: translates words.
    :param lexicon: has function words, and the English meanings of the translations.
    """
    function_words = lexicon.find_entries(entry.text, f"en>{to}")
    if function_words:
        best_word = function_words[0]
        return [_Candidate(best_word.text, entry.weight * best_word.weight, entry.sure)]
    candidates = []
    for text, share in _translate_meaning(entry.text, to, model):
        overlap = _compute_overlap(weight_by_stem, text, to, lexicon)
        score = entry.weight * share * (_MIN_OVERLAP_SCORE + overlap)
        is_certain = entry.sure and overlap >= _CERTAIN_OVERLAP
        candidates.append(_Candidate(text, score, is_certain))
    return candidates


def _compute_overlap(weight_by_stem: dict[str, float], text: str, lang: str, lexicon: Lexicon) -> float:
    """Return which share of a word's English meanings a translation has too (0 to 1).

    :param weight_by_stem: the weights of the word's English meanings, by their stems.
    :param text: the translation.
    :param lang: its language.
    """
    entries = lexicon.find_entries(text, lang) or lexicon.find_entries(text.lower(), lang)
    translation_weights = {_stem(entry.text): entry.weight for entry in entries}
    return sum(min(weight, translation_weights.get(stem, 0.0)) for stem, weight in weight_by_stem.items())


def _stem(text: str) -> str:
    return " ".join(analyzer("en", stop=False).terms(text))


def _translate_meaning(english: str, to: str, model: DefaultModel) -> list[tuple[str, float]]:
    """Return translations of an English meaning with their shares; of several words the best ones are joined."""
    terms = analyzer("en", stop=False).terms(english)
    translations = [model.alternatives(term, "en", to)[:_MAX_TRANSLATIONS] for term in terms]
    if len(translations) == 1:
        return [(alternative.text, alternative.weight) for alternative in translations[0]]
    best_alternatives = [alternatives[0] for alternatives in translations if alternatives]
    if not best_alternatives:
        return []
    text = " ".join(alternative.text for alternative in best_alternatives)
    return [(text, min(alternative.weight for alternative in best_alternatives))]
