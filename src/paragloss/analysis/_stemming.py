"""Stemmers by language code: Snowball's (Porter, 2001), and small ones for languages that Snowball lacks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial

from paragloss.languages import known_codes, language_name

#: Snowball names its stemmers by the English names of their languages. These languages have stemmers of other names, or
#: those of their nearest relatives.
_SNOWBALL = {
    "af": "dutch",
    "ast": "spanish",
    "az": "turkish",
    "gl": "portuguese",
    "lb": "german",
    "oc": "catalan",
    "sco": "english",
    "bs": "serbian",
    "hr": "serbian",
    "ms": "indonesian",
    "nn": "norwegian",
    "sk": "czech",
    "st": "sesotho",
}

#: Korean particles and the endings of 'to do', 'to become' and 'to be' that turn a noun into a verb.
_KOREAN_ENDINGS = """
은 는 이 가 을 를 의 에 에서 에게 에게서 께 께서 로 으로 로서 으로서 로써 으로써 와 과 도 만 부터 까지 마다
처럼 보다 이나 나 이라 라 이란 란 이며 며 에는 에도 에서는 에서도 에서의 으로는 로는 으로의 로의 으로도 로도
에의 과의 와의 과는 와는 들 들은 들이 들을 들의 들에 들과 들로 들도 만을 만이 까지의 부터의 이다 입니다 이고 인 일
하다 하는 한 할 하여 해 해서 했다 하고 하며 하면 하기 하지 합니다 했습니다 하게 하도록 하십시오 하세요
된 되는 될 되어 됩니다 되었습니다 된다 되다 되고 되며 되면 되지 시키는 시킵니다 시킬 적 적인 적으로
"""

#: First syllables of particles that follow a consonant only, or a vowel only.
_AFTER_CONSONANT, _AFTER_VOWEL = "은을과으", "는를와가"
_SURE_PARTICLES = {"을", "를", "은", "는", "에서", "으로"}
#: Endings of nouns, adjectives and verbs where Snowball has no stemmer; the longest that leaves three letters goes.
_ENDINGS = {
    "uk": """
ами ями ові еві єві ією ах ях ам ям ів їв ей ою ею єю ого ього ому ьому ими іми ий ій їй ої ьої их іх їх им ім їм
а я о е є у ю і ї и ь й ати яти ити іти їти увати ювати ують юють ють уть ять ать ує ить їть ала ало али ила ило или
ла ло ли
""",
    "bg": """
ът ят та то те ите ата ята ото ето ията ове овете еве ища ищата ия ии иите ий ият а я и е о у ен на но ни ният ната
ното ните ски ска ско ските ският ската ското ал ала ало али ил ила ило или ял яла яло яли ем еш ете ат ям ам аш аме
ате им иш ва ваш ват вам ваме вате ване вания ването ше аше яше ах ях аха яха ха хме ен ена ено ени ан ана ано ани
""",
    "sl": """
a e i o u em om ega emu im ih imi ami ama oma ema ima ah eh am ov ev ij ja je ju jo ji jem jev ih al ala ali alo ale
il ila ili ilo ile el ela eli elo la li lo le ti ati iti eti uje ujejo ujem ejo ajo ijo aš amo ate iš imo ite en na no
ne ni nega nemu nih nim nimi nem ski ska sko ske skega skem skih skim skimi anje anja anju anjem enje enja enju enjem
""",
    "bn": """
টি টা টির টার টিকে টাকে গুলি গুলো গুলির গুলোর গুলিকে গুলোকে গুলিতে গুলোতে ের র কে তে য় ে রা দের েরা দেরকে ই ও েই েও এর
য়ের েছে েছেন ছে ছেন ছিল ছিলেন বে বেন েছিল েছিলেন ার ায় াতে ানো ান
""",
}
#: And, but, the, in, to, as, written together with a Hebrew word; and endings of its nouns and adjectives.
_HEBREW_PREFIXES, _HEBREW_ENDINGS = "והבלכ", "ים ות יות ית ה ת י"
#: Of, in, to and from before an Amharic word, and its endings.
_AMHARIC_PREFIXES, _AMHARIC_ENDINGS = "የበለከ", "ን ም ው ና ች ዎች ዎችን ዎቹ ቸው ውን ችን ችው ቸውን ዋ ት ታት ነት ዊ"


def get_stemmer(lang: str) -> Callable[[str], str]:
    """Return the function from word to stem; it returns the word itself for languages without a stemmer."""
    own_stemmers: dict[str, Callable[[str], str]] = {
        "am": partial(_strip_affixes, prefixes=_AMHARIC_PREFIXES, endings=_AMHARIC_ENDINGS),
        "he": partial(_strip_affixes, prefixes=_HEBREW_PREFIXES, endings=_HEBREW_ENDINGS),
        "ja": _strip_final_length,
        "ko": _strip_korean_particle,
        "sw": _find_swahili_root,
        **{code: partial(_strip_ending, endings=endings) for code, endings in _ENDINGS.items()},
    }
    return own_stemmers.get(lang) or _load_snowball_stemmer(lang)


def _load_snowball_stemmer(lang: str) -> Callable[[str], str]:
    """Return Snowball's function from word to stem; where Snowball has none, one that returns the word itself."""
    from Stemmer import Stemmer, algorithms

    algorithm = _SNOWBALL.get(lang) or (language_name(lang).lower() if lang in known_codes() else "")
    if algorithm not in algorithms():
        return lambda word: word
    # Size of its cache 0: words are cached by their analyzer.
    stem: Callable[[str], str] = Stemmer(algorithm, 0).stemWord
    return stem


def _strip_korean_particle(word: str) -> str:
    """Remove the particle of a noun; after one syllable only the surest particles are removed."""
    for noun, ending in _split_endings(word, _KOREAN_ENDINGS):
        is_sure = len(noun) > 1 or ending in _SURE_PARTICLES
        if is_sure and _can_follow_syllable(ending, noun[-1]):
            return noun
    return word


def _can_follow_syllable(particle: str, syllable: str) -> bool:
    """Tell whether a Korean particle may follow a syllable.

    Some particles follow a consonant only, others a vowel only, which tells 책을 (book, as object) from 마을 (village).
    """
    if not "가" <= syllable <= "힣":
        return True
    # Unicode has 28 syllables for each pair of consonant and vowel; the first has no final consonant.
    ends_in_consonant = (ord(syllable) - ord("가")) % 28 > 0
    return particle[0] not in (_AFTER_VOWEL if ends_in_consonant else _AFTER_CONSONANT)


def _strip_ending(word: str, endings: str) -> str:
    """Remove the reflexive ending of East Slavic verbs, then the longest ending that leaves three letters."""
    if len(word) > 5 and word.endswith(("ся", "сь")):
        word = word[:-2]
    return _strip_longest_ending(word, endings)


def _strip_affixes(word: str, prefixes: str, endings: str) -> str:
    """Remove letters that may be prefixed words while three are left, then the longest ending that leaves three.

    First letters of the word proper are removed, too, but from all its forms alike.
    """
    while len(word) > 3 and word[0] in prefixes:
        word = word[1:]
    return _strip_longest_ending(word, endings)


def _strip_longest_ending(word: str, endings: str) -> str:
    """Remove the longest ending that leaves three letters."""
    return next((stem for stem, _ in _split_endings(word, endings) if len(stem) >= 3), word)


def _find_swahili_root(word: str) -> str:
    """Return a verb without the prefixes of subject, tense and object, or a noun without its class prefix.

    The final vowel is removed, too.
    """
    for pattern in _compile_swahili_patterns():
        match = pattern.match(word)
        if match:
            word = match[1]
            break
    return word[:-1] if len(word) > 3 and word[-1] in "aeiou" else word


@cache
def _compile_swahili_patterns() -> tuple[re.Pattern[str], ...]:
    """Compile patterns of finite verbs, infinitives and nouns; the group is the root."""
    subject, tense = "(?:ni|u|a|tu|m|wa|i|ki|vi|zi|li|ya|pa|ku)", "(?:na|li|ta|me|nge|ka|taka)"
    relative, object_ = "(?:yo|lo|cho|vyo|zo|o|ye)?", "(?:ni|ku|m|mw|tu|wa|i|ki|vi|zi|ya|ji)?"
    verb = f"(?:ha)?{subject}{tense}{relative}{object_}(.{{3,}})$"
    return tuple(map(re.compile, (verb, "(?:ku|kw)(.{3,})$", "(?:mw|wa|ki|vi|ma|mi|m|u)(.{4,})$")))


def _split_endings(word: str, endings: str) -> Iterator[tuple[str, str]]:
    """Yield stem and ending for every ending of a word that is in the list, the longest ending first."""
    ending_set, max_length = _parse_endings(endings)
    for split in range(max(1, len(word) - max_length), len(word)):
        if word[split:] in ending_set:
            yield word[:split], word[split:]


@cache
def _parse_endings(endings: str) -> tuple[frozenset[str], int]:
    """Return the endings of a list, and the length of the longest."""
    return frozenset(endings.split()), max(map(len, endings.split()))


def _strip_final_length(word: str) -> str:
    """Remove the final length mark of long katakana words, which are written with and without it."""
    return word[:-1] if len(word) >= 4 and word[-1] == "ー" else word
