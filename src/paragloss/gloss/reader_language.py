"""Which sentences and words of a foreign text are in the reader's language already, so that they need no gloss."""

from __future__ import annotations

import re
from functools import lru_cache

from paragloss import languages
from paragloss.analysis import analyzer
from paragloss.gloss.lexicon import Lexicon, is_stop_word
from paragloss.translation.default import DefaultModel

#: The difference of log-likelihoods from which on a sentence is in the reader's language. Of 920 FLORES sentences in 23
#: languages with Latin letters, and of as many in English, all are told apart (docs/understand/log-gloss.md).
MIN_LOG_LIKELIHOOD_MARGIN = 6.0
#: Up to this many words tell too little: each of them must be a word of the reader's language.
_MAX_WORDS_OF_PHRASE = 3
#: Longer sentences are examined only if they have a stop word of the reader's language that is none of their own.
_MAX_WORDS_WITHOUT_STOP_WORD = 5
_WORDS = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=10_000)
def is_in_readers_language(sentence: str, lang: str, to: str, lexicon: Lexicon, model: DefaultModel) -> bool:
    """Say whether a sentence of a text in `lang` is in the reader's language `to` instead."""
    words = _WORDS.findall(sentence.lower())
    if lang == to or not words:
        return lang == to
    has_stop_word = any(is_stop_word(word, to) and not is_stop_word(word, lang) for word in words)
    if len(words) > _MAX_WORDS_WITHOUT_STOP_WORD and not has_stop_word:
        return False
    if len(words) <= _MAX_WORDS_OF_PHRASE and not all(is_readers_word(word, to, lexicon, model) for word in words):
        return False
    scores = languages.language_likelihoods(sentence, {lang, to})
    if to not in scores:
        return False
    return lang not in scores or scores[to] - scores[lang] > MIN_LOG_LIKELIHOOD_MARGIN


@lru_cache(maxsize=20_000)
def is_readers_word(text: str, to: str, lexicon: Lexicon, model: DefaultModel) -> bool:
    """Say whether a word is spelled exactly as a word of the reader's language."""
    if to not in model.langs:
        return False
    if is_stop_word(text.lower(), to):
        return True
    if to == "en" and lexicon.has_meaning(text.lower()):
        return True
    terms = analyzer(to).terms(text)
    return len(terms) == 1 and model.spelling(terms[0], to).lower() == text.lower()
