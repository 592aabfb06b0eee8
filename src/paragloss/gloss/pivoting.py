"""Meanings in a language that is not English, through English.

The default model translates an English meaning into the other language; the lexicon of that language gives the English
meanings of each translation. A translation counts more, the more meanings it shares with the word to be glossed.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    entries: tuple[LexiconEntry, ...], target_lang: str, model: DefaultModel, lexicon: Lexicon
) -> tuple[LexiconEntry, ...]:
    """Translate the English meanings of a foreign word into the language of a reader who does not read English.

    Only the first meanings are translated. A German reader of a word that means "castle" (0.6) or "lock" (0.4) gets
    "Schloss" first, since it translates both.

    :param entries: the English meanings of the word, likeliest first, with their weights.
    :param target_lang: the reader's language.
    :param model: translates English words.
    :param lexicon: has the English meanings of the translations, by which they are judged.
    :return: the translations, likeliest first; their weights sum to 1. () if there are none.
    """
    weight_by_stem = {_stem(entry.text): entry.weight for entry in entries}
    candidates: list[_Candidate] = []
    for entry in entries[:_MAX_ENGLISH_MEANINGS]:
        candidates += _translate_entry(entry, weight_by_stem, target_lang, model, lexicon)
    certain_texts = {candidate.text for candidate in candidates if candidate.is_certain}
    translations = []
    for text, share in _rank_by_score(candidates):
        is_certain = text in certain_texts
        translations.append(LexiconEntry(text, share, entries[0].source, is_certain))
    return tuple(translations)


def _rank_by_score(candidates: Sequence[_Candidate]) -> list[tuple[str, float]]:
    """Rank the translations of a word's meanings by their scores; a text that translates several adds up its scores.

    :param candidates: translations of the meanings, each with a score; those of equal text are one translation.
    :return: each text with its share of the sum of all scores, the largest first; those without a score are left out.
    """
    scores: dict[str, float] = {}
    for candidate in candidates:
        scores[candidate.text] = scores.get(candidate.text, 0.0) + candidate.score
    total_score = sum(scores.values())
    best_first = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [(text, score / total_score) for text, score in best_first if score]


def _translate_entry(
    entry: LexiconEntry, weight_by_stem: dict[str, float], target_lang: str, model: DefaultModel, lexicon: Lexicon
) -> list[_Candidate]:
    """Translate one English meaning of a word: a function word by the lexicon, any other by the model.

    A translation of the model scores more, the more English meanings it has in common with the word.

    :param entry: the meaning, with its weight among all meanings of the word.
    :param weight_by_stem: the weights of all English meanings of the word, by their stems.
    :param target_lang: the language to translate it into.
    :param model: translates words.
    :param lexicon: has function words, and the English meanings of the translations.
    :return: the translations, each with its score; [] if the model does not know the meaning.
    """
    function_words = lexicon.find_entries(entry.text, f"en>{target_lang}")
    if function_words:
        best_word = function_words[0]
        return [_Candidate(best_word.text, entry.weight * best_word.weight, entry.sure)]
    candidates = []
    for text, share in _translate_meaning(entry.text, target_lang, model):
        overlap = _compute_overlap(weight_by_stem, text, target_lang, lexicon)
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


def _translate_meaning(english: str, target_lang: str, model: DefaultModel) -> list[tuple[str, float]]:
    """Translate an English meaning by a model that knows single words only.

    :return: the translations of a single word, each with its share of all translations. Of several words there is one
        translation, their best translations joined ("big school" becomes "groß Schule"), with the smallest of their
        shares. [] if the model knows none of the words.
    """
    terms = analyzer("en", stop=False).terms(english)
    translations = [model.alternatives(term, "en", target_lang)[:_MAX_TRANSLATIONS] for term in terms]
    if len(translations) == 1:
        return [(alternative.text, alternative.weight) for alternative in translations[0]]
    best_alternatives = [alternatives[0] for alternatives in translations if alternatives]
    if not best_alternatives:
        return []
    text = " ".join(alternative.text for alternative in best_alternatives)
    return [(text, min(alternative.weight for alternative in best_alternatives))]
