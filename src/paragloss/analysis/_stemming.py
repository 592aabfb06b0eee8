"""From a word to its stem: Snowball's stemmers (Porter, 2001) by language code, and small ones of our own where
Snowball has none and the endings are few and regular."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial

from paragloss.languages import known_codes, language_name

#: Snowball calls its stemmers by the English names of their languages, but for one; a language without a stemmer takes
#: that of its nearest relative.
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

#: What the particles beginning so can't follow: an open or a closed syllable.
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
_HEBREW_BEGINNINGS, _HEBREW_ENDINGS = "והבלכ", "ים ות יות ית ה ת י"
#: Of, in, to and from before an Amharic word, and its endings.
_AMHARIC_BEGINNINGS, _AMHARIC_ENDINGS = "የበለከ", "ን ም ው ና ች ዎች ዎችን ዎቹ ቸው ውን ችን ችው ቸውን ዋ ት ታት ነት ዊ"


def stemmer(lang: str) -> Callable[[str], str]:
    """A function from word to stem; the word itself for languages without a stemmer."""
    if lang == "ko":
        return _korean_noun
    if lang in _ENDINGS:
        return partial(_without_ending, endings=_ENDINGS[lang])
    if lang == "he":
        return partial(_inner, beginnings=_HEBREW_BEGINNINGS, endings=_HEBREW_ENDINGS)
    if lang == "am":
        return partial(_inner, beginnings=_AMHARIC_BEGINNINGS, endings=_AMHARIC_ENDINGS)
    if lang == "sw":
        return _swahili_root
    if lang == "ja":
        return _without_final_length
    from Stemmer import Stemmer, algorithms

    algorithm = _SNOWBALL.get(lang) or (language_name(lang).lower() if lang in known_codes() else "")
    if algorithm not in algorithms():
        return lambda word: word
    # Our memo already sees every word once; a second cache inside would only take memory.
    stem: Callable[[str], str] = Stemmer(algorithm, 0).stemWord
    return stem


def _korean_noun(word: str) -> str:
    """A word without its particle. Some particles only follow a consonant, others only a vowel, which tells 책을 (book,
    as object) from 마을 (village); after one syllable only the surest are taken off."""
    for noun, ending in _partings(word, _KOREAN_ENDINGS):
        if len(noun) == 1 and ending not in _SURE_PARTICLES:
            continue
        # Syllables are laid out 28 to a vowel, first the one without a final consonant.
        closed = (ord(noun[-1]) - ord("가")) % 28 > 0
        if not ("가" <= noun[-1] <= "힣" and ending[0] in (_AFTER_VOWEL if closed else _AFTER_CONSONANT)):
            return noun
    return word


def _without_ending(word: str, endings: str) -> str:
    if len(word) > 5 and word.endswith(("ся", "сь")):
        word = word[:-2]
    return next((stem for stem, _ in _partings(word, endings) if len(stem) >= 3), word)


def _inner(word: str, beginnings: str, endings: str) -> str:
    """Letters before a word are taken off as long as three are left, whether they were words or not: so they are gone
    from every form alike."""
    while len(word) > 3 and word[0] in beginnings:
        word = word[1:]
    return next((stem for stem, _ in _partings(word, endings) if len(stem) >= 3), word)


def _swahili_root(word: str) -> str:
    """A verb without who, when and whom, a noun without its class, either without its last vowel."""
    for pattern in _swahili():
        found = pattern.match(word)
        if found:
            word = found[1]
            break
    return word[:-1] if len(word) > 3 and word[-1] in "aeiou" else word


@cache
def _swahili() -> tuple[re.Pattern[str], ...]:
    who, whom = "(?:ni|u|a|tu|m|wa|i|ki|vi|zi|li|ya|pa|ku)", "(?:ni|ku|m|mw|tu|wa|i|ki|vi|zi|ya|ji)?"
    verb = f"(?:ha)?{who}(?:na|li|ta|me|nge|ka|taka)(?:yo|lo|cho|vyo|zo|o|ye)?{whom}(.{{3,}})$"
    return tuple(map(re.compile, (verb, "(?:ku|kw)(.{3,})$", "(?:mw|wa|ki|vi|ma|mi|m|u)(.{4,})$")))


def _partings(word: str, endings: str) -> Iterator[tuple[str, str]]:
    """(stem, ending) for every known ending of a word, the longest ending first."""
    ending_set, longest = _known_endings(endings)
    for cut in range(max(1, len(word) - longest), len(word)):
        if word[cut:] in ending_set:
            yield word[:cut], word[cut:]


@cache
def _known_endings(endings: str) -> tuple[frozenset[str], int]:
    return frozenset(endings.split()), max(map(len, endings.split()))


def _without_final_length(word: str) -> str:
    """Long katakana words are written with and without a final length mark."""
    return word[:-1] if len(word) >= 4 and word[-1] == "ー" else word
