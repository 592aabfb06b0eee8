"""Scripts: the letters that languages and texts are written in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache, lru_cache

from paragloss.languages.codes import normalise

#: Scripts as ranges of code points: enough to tell whose letters a text is written in.
_SCRIPT_RANGES = {
    "Latn": "A-Za-zªºÀ-ÖØ-öø-ʯḀ-ỿ",
    "Grek": "Ͱ-Ͽἀ-῿",
    "Cyrl": "Ѐ-ԯ",
    "Armn": "Ա-֏",
    "Hebr": "א-ת",
    "Arab": "ؠ-ي\u066e-ۿݐ-ݿﭐ-﷿ﹰ-ﻼ",
    "Ethi": "ሀ-፿",
    "Geor": "Ⴀ-ჿⴀ-ⴭᲐ-Ჿ",
    "Deva": "\u0900-ॿ",
    "Beng": "ঀ-৾",
    "Guru": "\u0a00-੶",
    "Gujr": "\u0a80-૿",
    "Orya": "\u0b00-୷",
    "Taml": "\u0b80-௺",
    "Telu": "\u0c00-౿",
    "Knda": "ಀ-ೳ",
    "Mlym": "\u0d00-ൿ",
    "Sinh": "\u0d80-෴",
    "Thai": "ก-๛",
    "Laoo": "ກ-ໟ",
    "Tibt": "ༀ-࿚",
    "Mymr": "က-႟",
    "Khmr": "ក-៹",
    "Hang": "가-힣ᄀ-ᇿㄱ-ㆎ",
    "Kana": "ぁ-ゖァ-ヺーｦ-ﾟ",
    "Hani": "一-鿿㐀-䶿豈-﫿",
    "Thaa": "ހ-ޱ",
    "Olck": "ᱚ-ᱽ",
    "Mtei": "ꯀ-ꯢ",
}

#: Languages not written in Latin letters only; every other language is taken to be "Latn".
_SCRIPTS_OF = {
    lang: tuple(scripts.split("+"))
    for scripts, langs in {
        "Grek": "el",
        "Cyrl": "ab av ba be bg ce cu cv kk kv ky mk mn os ru tg tt uk",
        "Cyrl+Latn": "bs sr uz",
        "Armn": "hy",
        "Hebr": "he yi",
        "Arab": "ar ckb fa ks ps sd ug ur",
        "Arab+Latn": "ku az",
        "Ethi": "am ti",
        "Geor": "ka",
        "Deva": "hi mr ne sa mai gom pi",
        "Beng": "as bn",
        "Beng+Mtei": "mni",
        "Olck": "sat",
        "Guru+Arab": "pa",
        "Gujr": "gu",
        "Orya": "or",
        "Taml": "ta",
        "Telu": "te",
        "Knda": "kn",
        "Mlym": "ml",
        "Sinh": "si",
        "Thai": "th",
        "Laoo": "lo",
        "Tibt": "bo dz",
        "Mymr": "my",
        "Khmr": "km",
        "Hang+Hani": "ko",
        "Kana+Hani": "ja",
        "Hani": "zh",
        "Thaa": "dv",
    }.items()
    for lang in langs.split()
}

#: One character of these scripts counts as several letters.
_WEIGHTS = {"Hani": 3, "Kana": 3, "Hang": 2}
#: Beside letters of another script Latin ones count this much: commands, code and names are Latin in every language.
LATIN_WEIGHT_BESIDE_OTHERS = 0.5


def scripts_of(code: str) -> tuple[str, ...]:
    """Return the ISO 15924 codes of the scripts a language is usually written in."""
    return _SCRIPTS_OF.get(normalise(code), ("Latn",))


def script_of(text: str) -> str | None:
    """Return the script of most letters of a text, None if it has none. Any kana makes Han letters Japanese."""
    return _choose_script(_weigh_scripts(text))


def script_of_language(text: str) -> str | None:
    """Return the script that the language of a text is written in; Latin letters count half beside others."""
    letter_weights = _weigh_scripts(text)
    if len(letter_weights) > 1 and "Latn" in letter_weights:
        letter_weights["Latn"] *= LATIN_WEIGHT_BESIDE_OTHERS
    return _choose_script(letter_weights)


def _choose_script(letter_weights: Mapping[str, float]) -> str | None:
    script = max(letter_weights, key=letter_weights.__getitem__, default=None)
    return "Kana" if script == "Hani" and "Kana" in letter_weights else script


def scripts_in(text: str) -> list[str]:
    """Return the scripts of all letters of a text."""
    return [*_weigh_scripts(text)]


def weigh_letters(text: str) -> int:
    """Count the letters of a text; a Chinese, Japanese or Korean character counts as several letters."""
    return int(sum(_weigh_scripts(text).values()))


def _weigh_scripts(text: str) -> dict[str, float]:
    weights = dict[str, float]()
    for letter, count in Counter(text).items():
        script = _script(letter)
        if script:
            weights[script] = weights.get(script, 0) + count * _WEIGHTS.get(script, 1)
    return weights


@cache
def foreign_letters(code: str) -> re.Pattern[str]:
    """Return a pattern of letters that are neither Latin nor of a language's own scripts."""
    return re.compile(f"[{''.join(r for s, r in _SCRIPT_RANGES.items() if s not in ('Latn', *scripts_of(code)))}]")


@lru_cache(maxsize=1 << 16)
def _script(letter: str) -> str:
    match = _script_pattern().match(letter)
    return (match.lastgroup or "") if match else ""


@cache
def _script_pattern() -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{script}>[{ranges}])" for script, ranges in _SCRIPT_RANGES.items()))
