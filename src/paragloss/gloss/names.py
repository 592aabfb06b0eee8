"""Names and words that nobody knows, in Latin letters: the English name that a word sounds like, where there is one, or
else its sounds. Knows nothing of meanings."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache

from paragloss.analysis import analyzer
from paragloss.analysis.romanisation import romanised
from paragloss.analysis.sound import sound
from paragloss.gloss import english_letters
from paragloss.gloss.lexicon import NAMES, Lexicon
from paragloss.translation.default import DefaultModel

#: How likely an English word must be among all that a word may be spelled as, times its letters: short ones are chance.
#: Below it stands the word as it sounds: a wrong name misleads (docs/understand/gloss.md).
NEAR = 3.8
#: What counts for a spelling, as logarithms: that it is an English word, with a capital, one of the lexicon's, and
#: how usual a name it is.
_WORD, _LARGE, _SAID, _USUAL = 2.0, 1.0, 1.0, 4.0
_VOWELS = frozenset("aeiou")
_KANA = """
アa イi ウu エe オo カka キki クku ケke コko ガga ギgi グgu ゲge ゴgo サsa シshi スsu セse ソso ザza ジji ズzu ゼze ゾzo
タta チchi ツtsu テte トto ダda ヂji ヅzu デde ドdo ナna ニni ヌnu ネne ノno ハha ヒhi フfu ヘhe ホho
バba ビbi ブbu ベbe ボbo パpa ピpi プpu ペpe ポpo マma ミmi ムmu メme モmo ヤya ユyu ヨyo ラra リri ルru レre ロro ワwa
ヲo ンn ヴvu ーー ッッ ァaァ ィiァ ゥuァ ェeァ ォoァ ャyaャ ュyuャ ョyoャ
"""
_INITIAL = "g kk n d tt r m b pp s ss - j jj ch k t p h".split()  # noqa: SIM905
_MEDIAL = "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split()  # noqa: SIM905
_FINAL = "- k k ks n n n t l k m l l l p l m p p t t ng t t k t p t".split()  # noqa: SIM905
#: What a final consonant is before a vowel.
_CARRIED = "- g kk s n j n d r g m b s t p r m b s s ss ng j ch k t p -".split()  # noqa: SIM905


@lru_cache(maxsize=20_000)
def named(word: str, lang: str, lexicon: Lexicon, english: DefaultModel) -> tuple[str, float] | None:
    """The English name or word that a word in another script spells, and how likely; nothing if none is likely
    enough."""
    found = []
    for text, share in english_letters.spelled(word, lang):
        written, weight = _listed(text, lexicon, english)
        found.append((math.exp(weight) * share, written))
    best, written = max(found, default=(0.0, ""))
    share = best / sum(weight for weight, _ in found) if written else 0.0
    return (written, share) if share * len(written) >= NEAR else None


def _listed(text: str, lexicon: Lexicon, english: DefaultModel) -> tuple[str, float]:
    """A spelling as it is written where it is known, and what that counts; "" where it is not."""
    terms = analyzer("en", stop=False).terms(text)
    written = english.spelling(terms[0], "en") if len(terms) == 1 else ""
    written = written if _plain(written) == text else ""
    weight = _WORD + _LARGE * written[:1].isupper() if written else 0.0
    for said in (text, text.capitalize()):
        if lexicon.says(said):
            return _name(text, lexicon, written or said, weight + _SAID)
    return _name(text, lexicon, written, weight)


def _name(text: str, lexicon: Lexicon, written: str, weight: float) -> tuple[str, float]:
    usual = [(one.weight, one.text) for one in lexicon.look(sound(text), NAMES) if _plain(one.text) == text]
    return (max(usual)[1], weight + _USUAL * max(usual)[0]) if usual else (written, weight)


def _plain(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(char))


def latin(word: str, lang: str) -> str:
    """A word in Latin letters, as near to its sound as letters say it; as it is written if they don't: Chinese
    characters in Japanese."""
    if all(char in _letters() for char in word):
        return _with_vowels(word)
    kana = [chr(ord(char) + 0x60) if "ぁ" <= char <= "ゖ" else char for char in word]
    if all(char in _kana() for char in kana):
        return _from_kana(kana)
    if lang == "ja":
        return word
    return _from_hangul(word) if all("가" <= char <= "힣" for char in word) else romanised(word)


def _with_vowels(word: str) -> str:
    """Arabic and Hebrew letters, with vowels where they are written or can't be missing."""
    said = ""
    for place, char in enumerate(word):
        sound = _letters()[char]
        if "/" in sound:  # a vowel behind a consonant, a consonant elsewhere
            vowel, consonant = sound.split("/")
            sound = vowel if said and said[-1] not in _VOWELS else consonant
        elif (
            sound
            and sound not in _VOWELS
            and said
            and said[-1] not in _VOWELS
            and (place == 1 or said[-2:-1] not in _VOWELS)
        ):
            sound = "a" + sound
        said += sound
    return said


@cache
def _letters() -> dict[str, str]:
    pairs = """
    ا=a أ=a إ=i آ=a ء= ى=a ة=a ئ=e ؤ=o ب=b ت=t ث=th ج=j ح=h خ=kh د=d ذ=dh ر=r ز=z س=s ش=sh ص=s ض=d ط=t ظ=z ع=a غ=gh
    ف=f ق=q ك=k ک=k ل=l م=m ن=n ه=h و=o/w ي=i/y ی=i/y پ=p چ=ch ژ=zh گ=g
    א=a ב=b ג=g ד=d ה=h ו=o/v ז=z ח=h ט=t י=i/y כ=k ך=k ל=l מ=m ם=m נ=n ן=n ס=s ע=a פ=p ף=f צ=ts ץ=ts ק=k ר=r ש=sh ת=t
    """
    return dict(pair.split("=") for pair in pairs.split())


@cache
def _kana() -> dict[str, str]:
    return {one[0]: one[1:] for one in _KANA.split()}


def _from_kana(word: Sequence[str]) -> str:
    """By Hepburn's rules; small letters change the one before them."""
    said, doubled = "", False
    for char in word:
        sound = _kana()[char]
        if sound in "ーッ":
            doubled = sound == "ッ"
            continue
        if sound.endswith("ァ"):
            bare = said[:-1] if said[-1:] in _VOWELS else said
            said = (bare + "w" if said[-1:] == "u" and bare[-1:] in ("", *_VOWELS) else bare) + sound[0]
        elif sound.endswith("ャ"):
            bare = said.removesuffix("i")
            said = bare + (sound[1] if bare.endswith(("sh", "ch", "j")) else sound[:2])
        else:
            said += (sound[0] if doubled and sound[0] not in _VOWELS else "") + sound
        doubled = False
    return said


def _from_hangul(word: str) -> str:
    """By the Revised Romanisation, without the changes between consonants."""
    said, last = "", 0
    for number, place in enumerate(ord(char) - 0xAC00 for char in word):
        initial, medial, final = place // 588, place % 588 // 28, place % 28
        open_ = _INITIAL[initial] == "-"
        if number:
            said += (_CARRIED if open_ else _FINAL)[last].strip("-")
        same = not open_ and _INITIAL[initial] == "r" and number and _FINAL[last] == "l"
        said += ("l" if same else _INITIAL[initial].strip("-")) + _MEDIAL[medial]
        last = final
    return said + _FINAL[last].strip("-")
