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
from paragloss.translation.related_languages import share_script

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
def is_in_readers_language(
    sentence: str, text_lang: str, reader_lang: str, lexicon: Lexicon, model: DefaultModel
) -> bool:
    """Say whether a sentence of a foreign text is in the reader's language: by letters, words and likelihood.

    :param text_lang: the language of the text as a whole.
    :param reader_lang: the reader's language.
    :param lexicon: its English meanings are the English words that are known.
    :param model: its vocabulary has the known words of any reader's language.
    """
    if text_lang == reader_lang:
        return True
    words = _WORDS.findall(sentence.lower())
    if not words or len(foreign_letters(reader_lang).findall(sentence)) > _MAX_FOREIGN_LETTERS:
        return False
    # Words tell the languages apart if both have the same letters, and the reader's has spaces.
    are_words_comparable = share_script(text_lang, reader_lang) and reader_lang not in UNSPACED_LANGUAGES
    if are_words_comparable and not _has_readers_words(words, text_lang, reader_lang, lexicon, model):
        return False
    return _is_clearly_likelier(sentence, reader_lang, text_lang)


def _has_readers_words(
    words: Sequence[str], text_lang: str, reader_lang: str, lexicon: Lexicon, model: DefaultModel
) -> bool:
    """Say whether a long sentence has a stop word of the reader's language, or a short one only words of it."""
    if len(words) <= _MAX_WORDS_OF_PHRASE:
        return all(is_readers_word(word, reader_lang, lexicon, model) for word in words)
    has_stop_word = any(is_stop_word(word, reader_lang) and not is_stop_word(word, text_lang) for word in words)
    return has_stop_word or len(words) <= _MAX_WORDS_WITHOUT_STOP_WORD


def _is_clearly_likelier(sentence: str, lang: str, other_lang: str) -> bool:
    """Say whether a sentence is much likelier in one language than in another, or is not in the other's script."""
    log_likelihoods = languages.language_likelihoods(sentence, {lang, other_lang})
    if lang not in log_likelihoods:
        return False
    if other_lang not in log_likelihoods:
        return True
    return log_likelihoods[lang] - log_likelihoods[other_lang] > MIN_LOG_LIKELIHOOD_MARGIN


@lru_cache(maxsize=20_000)
def is_readers_word(word: str, reader_lang: str, lexicon: Lexicon, model: DefaultModel) -> bool:
    """Say whether a word is spelled exactly as a word of the reader's language.

    :param lexicon: its English meanings are the English words that are known.
    :param model: its vocabulary has the known words of any reader's language.
    """
    if reader_lang not in model.langs:
        return False
    if is_stop_word(word.lower(), reader_lang):
        return True
    if reader_lang == "en" and lexicon.has_meaning(word.lower()):
        return True
    terms = analyzer(reader_lang).terms(word)
    return len(terms) == 1 and model.spelling(terms[0], reader_lang).lower() == word.lower()
