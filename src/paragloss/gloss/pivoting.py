"""Meanings in a language that is not English, through English.

The default model translates an English meaning into the other language; the lexicon of that language gives the English
meanings of each translation. A translation counts more, the more meanings it shares with the word to be glossed.
"""

from __future__ import annotations

from functools import lru_cache

from paragloss.analysis import analyzer
from paragloss.gloss.lexicon import Lexicon, LexiconEntry
from paragloss.translation.default import DefaultModel

_MAX_ENGLISH_MEANINGS = 3
_MAX_TRANSLATIONS = 6
#: The score of a translation that shares no meaning with the word, relative to one that shares all.
_MIN_OVERLAP_SCORE = 0.1
#: From this overlap on, a translation of a certain meaning is certain.
_CERTAIN_OVERLAP = 0.2


@lru_cache(maxsize=20_000)
def translate_entries(
    entries: tuple[LexiconEntry, ...], to: str, model: DefaultModel, lexicon: Lexicon
) -> tuple[LexiconEntry, ...]:
    """Translate the English entries of a word into another language, likeliest first."""
    weight_by_stem = {_stem(entry.text): entry.weight for entry in entries}
    scores: dict[str, float] = {}
    certain: dict[str, bool] = {}
    for entry in entries[:_MAX_ENGLISH_MEANINGS]:
        function_words = lexicon.find_entries(entry.text, f"en>{to}")
        if function_words:
            text = function_words[0].text
            scores[text] = scores.get(text, 0.0) + entry.weight * function_words[0].weight
            certain[text] = entry.sure
            continue
        for text, share in _translate_meaning(entry.text, to, model):
            overlap = _compute_overlap(weight_by_stem, text, to, lexicon)
            scores[text] = scores.get(text, 0.0) + entry.weight * share * (_MIN_OVERLAP_SCORE + overlap)
            certain[text] = certain.get(text, False) or (entry.sure and overlap >= _CERTAIN_OVERLAP)
    total = sum(scores.values())
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    source = entries[0].source
    return tuple(LexiconEntry(text, score / total, source, certain[text]) for text, score in ranked if score)


def _compute_overlap(weight_by_stem: dict[str, float], text: str, lang: str, lexicon: Lexicon) -> float:
    """Return how much of a word's English meanings a translation has as its own (0 to 1)."""
    entries = lexicon.find_entries(text, lang) or lexicon.find_entries(text.lower(), lang)
    back = {_stem(entry.text): entry.weight for entry in entries}
    return sum(min(weight, back.get(stem, 0.0)) for stem, weight in weight_by_stem.items())


def _stem(text: str) -> str:
    return " ".join(analyzer("en", stop=False).terms(text))


def _translate_meaning(english: str, to: str, model: DefaultModel) -> list[tuple[str, float]]:
    """Translate English words; of several words the best translations are joined."""
    terms = analyzer("en", stop=False).terms(english)
    translations = [model.alternatives(term, "en", to)[:_MAX_TRANSLATIONS] for term in terms]
    if len(translations) == 1:
        return [(alternative.text, alternative.weight) for alternative in translations[0]]
    best = [alternatives[0] for alternatives in translations if alternatives]
    if not best:
        return []
    return [(" ".join(alternative.text for alternative in best), min(alternative.weight for alternative in best))]
