"""From a word to its stem: Snowball's stemmers (Porter, 2001) by language code, and small ones of our own where
Snowball has none and the endings are few and regular."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

_SNOWBALL = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ms": "indonesian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}

#: Korean particles and the endings of 'to do', 'to become' and 'to be' that turn a noun into a verb.
_KOREAN_ENDINGS = """
은 는 이 가 을 를 의 에 에서 에게 에게서 께 께서 로 으로 로서 으로서 로써 으로써 와 과 도 만 부터 까지 마다
처럼 보다 이나 나 이라 라 이란 란 이며 며 에는 에도 에서는 에서도 에서의 으로는 로는 으로의 로의 으로도 로도
에의 과의 와의 과는 와는 들 들은 들이 들을 들의 들에 들과 들로 들도 만을 만이 까지의 부터의 이다 입니다 이고 인 일
하다 하는 한 할 하여 해 해서 했다 하고 하며 하면 하기 하지 합니다 했습니다 하게 하도록 하십시오 하세요
된 되는 될 되어 됩니다 되었습니다 된다 되다 되고 되며 되면 되지 시키는 시킵니다 시킬 적 적인 적으로
"""


def stemmer(lang: str) -> Callable[[str], str]:
    """A function from word to stem; the word itself for languages without a stemmer."""
    if lang == "ko":
        return _korean_noun
    if lang == "ja":
        return _without_final_length
    if lang in _SNOWBALL:
        from Stemmer import Stemmer

        # Our memo already sees every word once; a second cache inside would only take memory.
        stem: Callable[[str], str] = Stemmer(_SNOWBALL[lang], 0).stemWord
        return stem
    return lambda word: word


def _korean_noun(word: str) -> str:
    """A word without its particle, if two syllables remain: shorter remains are too often another word."""
    for ending in _korean_endings():
        if word.endswith(ending) and len(word) >= len(ending) + 2:
            return word[: -len(ending)]
    return word


@cache
def _korean_endings() -> list[str]:
    return sorted(_KOREAN_ENDINGS.split(), key=len, reverse=True)


def _without_final_length(word: str) -> str:
    """Long katakana words are written with and without a final length mark."""
    return word[:-1] if len(word) >= 4 and word[-1] == "ー" else word
