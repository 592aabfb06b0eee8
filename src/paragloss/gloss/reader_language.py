"""Which sentences and words of a foreign text are in the reader's language already, so that they need no gloss."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from paragloss import languages
from paragloss.analysis import analyzer
from paragloss.gloss.lexicon import UNSPACED_LANGUAGES, Lexicon, is_stop_word
from paragloss.languages.scripts import foreign_letters
from paragloss.translation.default import DefaultModel

#: The difference of log-likelihoods from which on a sentence is in the reader's language. Of 920 FLORES sentences in 23
#: languages with Latin letters, and of as many in English, all are told apart (docs/understand/log-gloss.md).
MIN_LOG_LIKELIHOOD_MARGIN = 6.0
#: Up to this many words tell too little: each of them must be a word of the reader's language.
_MAX_WORDS_OF_PHRASE = 3
#: Longer sentences are examined only if they have a stop word of the reader's language that is none of their own.
_MAX_WORDS_WITHOUT_STOP_WORD = 5
#: A sentence with more letters that the reader's language does not have is foreign, whatever names are in it.
_MAX_FOREIGN_LETTERS = 1
_WORDS = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=10_000)
def is_in_readers_language(sentence: str, lang: str, to: str, lexicon: Lexicon, model: DefaultModel) -> bool:
    """Say whether a sentence of a text in `lang` is in the reader's language `to` instead.

    :param lexicon: has English words.
    :param model: has words of the reader's language.
    """
    if lang == to:
        return True
    words = _WORDS.findall(sentence.lower())
    if not words or len(foreign_letters(to).findall(sentence)) > _MAX_FOREIGN_LETTERS:
        return False
    if _share_script(lang, to) and not _has_readers_words(words, lang, to, lexicon, model):
        return False
    scores = languages.language_likelihoods(sentence, {lang, to})
    if to not in scores:
        return False
    return lang not in scores or scores[to] - scores[lang] > MIN_LOG_LIKELIHOOD_MARGIN


def _share_script(lang: str, to: str) -> bool:
    """Say whether two languages are written in the same letters, so that only words can tell them apart."""
    return bool(set(languages.scripts_of(lang)) & set(languages.scripts_of(to))) and to not in UNSPACED_LANGUAGES


def _has_readers_words(words: Sequence[str], lang: str, to: str, lexicon: Lexicon, model: DefaultModel) -> bool:
    """Say whether a long sentence has a stop word of the reader's language, or a short one only words of it."""
    if len(words) <= _MAX_WORDS_OF_PHRASE:
        return all(is_readers_word(word, to, lexicon, model) for word in words)
    has_stop_word = any(is_stop_word(word, to) and not is_stop_word(word, lang) for word in words)
    return has_stop_word or len(words) <= _MAX_WORDS_WITHOUT_STOP_WORD


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
