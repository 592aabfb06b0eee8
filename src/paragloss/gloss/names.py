"""Names and words that nobody knows, in Latin letters: the English name that a word sounds like, where there is one, or
else its sounds. Knows nothing of meanings."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from paragloss.analysis import analyzer
from paragloss.analysis.romanisation import romanised
from paragloss.analysis.sound import sound
from paragloss.gloss import spelling
from paragloss.gloss.lexicon import NAMES, Lexicon
from paragloss.translation.default import Default

#: How likely a known English spelling must be among all that a word may have. Below it no name is given: a wrong one
#: misleads (docs/understand/gloss.md); nor is one of fewer letters.
NEAR, FEWEST = 0.6, 4
#: What counts for a spelling, as logarithms: that it is an English word, with a capital, one of the lexicon's, and
#: how usual a name it is.
_WORD, _LARGE, _SAID, _USUAL = 2.0, 1.0, 1.0, 4.0
_VOWELS = frozenset("aeiou")
#: What a vowel costs beside a consonant, where one name has it and the other has not: scripts leave vowels out, put
#: them in, and write them by their own ear.
_VOWEL, _KIN = 0.35, 0.4
#: Consonants that languages exchange.
_KINDS = {letter: kind for kind, letters in enumerate(("bpfv", "td", "kgh", "szc", "lr", "mn")) for letter in letters}
#: English spelling by its sound: the first group that fits.
_SPELLED = re.compile("tsch|sch|tch|dsh|dzh|ch|sh|zh|ts|tz|ph|th|dh|kh|gh|ck|qu|c(?=[eiy])|[cqxwjy]|ee|oo|ou|eu|e$")
_SOUNDS = {
    **dict.fromkeys(("tsch", "sch", "tch", "dsh", "dzh", "ch", "sh", "zh", "j", "ts", "tz"), "c"),
    "ph": "f",
    "th": "t",
    "dh": "d",
    "kh": "h",
    "gh": "g",
    "ck": "k",
    "qu": "kv",
    "q": "k",
    "x": "ks",
    "w": "v",
    "y": "i",
    "ee": "i",
    "oo": "u",
    "ou": "u",
    "eu": "u",
    "e": "",
}
_DOUBLED = re.compile(r"(.)\1")
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


class Spelled(NamedTuple):
    """A word as English writes it, how likely so, and whether that is a known word, and one with a capital."""

    text: str
    share: float
    known: bool
    large: bool


@lru_cache(maxsize=20_000)
def spelled(word: str, lang: str, lexicon: Lexicon, english: Default) -> Spelled | None:
    """The likeliest English spelling of a word in another script, known words before others; nothing for a language
    whose spelling was not learned."""
    found = []
    for text, share in spelling.spelled(word, lang):
        written, weight = _listed(text, lexicon, english)
        found.append((math.exp(weight) * share, written or text, bool(written)))
    if not found:
        return None
    best, text, known = max(found)
    share = best / sum(weight for weight, *_ in found)
    return Spelled(text, share, known and share >= NEAR and len(text) >= FEWEST, text[:1].isupper())


def _listed(text: str, lexicon: Lexicon, english: Default) -> tuple[str, float]:
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


@lru_cache(maxsize=50_000)
def _sounding(word: str) -> str:
    """A word in Latin letters by its sounds, as English spells them."""
    plain = "".join(char for char in unicodedata.normalize("NFD", word.lower()) if char.isascii() and char.isalpha())
    return _DOUBLED.sub(r"\1", _SPELLED.sub(lambda found: _SOUNDS.get(found[0], "s" if found[0] == "c" else ""), plain))


def alike(one: str, other: str) -> float:
    """From 0 to 1 how alike two names sound, by the letters that must be exchanged, put in or left out."""
    first, second = _sounding(one), _sounding(other)
    costs = [[_VOWEL if char in _VOWELS else 1.0 for char in word] for word in (first, second)]
    before = [0.0]
    for cost in costs[1]:
        before.append(before[-1] + cost)
    for a, cost_a in zip(first, costs[0], strict=True):
        row = [before[0] + cost_a]
        for j, (b, cost_b) in enumerate(zip(second, costs[1], strict=True)):
            row.append(min(before[j + 1] + cost_a, row[-1] + cost_b, before[j] + _exchanged(a, b)))
        before = row
    return 1 - before[-1] / max(*map(sum, costs), 1.0)


def _exchanged(a: str, b: str) -> float:
    if a == b:
        return 0.0
    if a in _VOWELS and b in _VOWELS:
        return _VOWEL
    return _KIN if a in _KINDS and _KINDS[a] == _KINDS.get(b) else 1.0
