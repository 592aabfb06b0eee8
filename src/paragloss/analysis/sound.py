"""How a word of any script sounds, as the consonants it has: what a name keeps when another language writes it.

Twenty symbols: B C D F G H J K L M N P R S T V W Z as read in English, C for ch, J for its voiced sister, X for sh, Q
for ng. Vowels, Y and doubled letters are left out; so is W outside Latin letters, where it is as often a vowel. What
remains different between languages (Arabic has no P) is learned: see `translation.sounds`.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from paragloss.analysis._words import TermCache

#: Letters that say another sound than anyascii's, or nothing: Greek pairs, Hebrew and Arabic vowels, Indian nasals.
_LETTERS = """
μπ=b ντ=d γκ=g γγ=ng γχ=nh τζ=j τσ=ch ου=u χ=h ευ=ev αυ=av ψ=ps
וו=v ו= ב=b פ=p ף=p כ=k ך=k ג׳=j צ׳=ch ז׳=j צ=ts ץ=ts ה= י=
و= ي= ى= ی= ة= ه=h ع= غ=g تش=ch دج=j چ=ch ژ=j ق=k ث=th ح=h خ=kh
ं=n ँ=n ং=n ঁ=n श=sh ष=sh শ=sh ষ=sh ஷ=sh ஃப=f ஃ= ச=s ங=n ஞ=n व=v
ж=j дж=j х=h щ=sh ц=ts г=g ล=l ฌ=ch ซ=s
"""
#: Groups of Latin letters, the first that fits counts, by how a script was written in them.
_GROUPS = {
    "Latn": """tsch=C tch=C dsch=J sch=X tsh=C dzh=J shch=X dj=J dg(?=[eiy])=J sh=X ch=C zh=J kh=H ph=F th=T dh=D gh=G
ck=K qu=K ng=Q x=KS q=K c(?=[eiy])=S c=K j=J""",
    "Indic": "ch=C jh=J kh=K gh=G th=T dh=D ph=F bh=B sh=X ng=Q x=KS q=K c=C j=J",
    "Hani": "zh=J ch=C sh=X ng=N x=X q=C c=S j=J",
    "other": "shch=X tsh=C dzh=J sh=X ch=C zh=J kh=H ph=F th=T dh=D gh=G ng=Q x=KS q=K c=K j=J",
}
_PLAIN = {letter: letter.upper() for letter in "bdfghklmnprstvwz"}
#: Of each byte that letter, and the bytes that say nothing.
_SAID = bytes(range(256)).upper()
_UNSAID = bytes(code for code in range(128) if chr(code) not in _PLAIN)
#: What a group of Latin letters has in it, and doubled letters; vowels are left out anyway.
_GROUPED, _doubled = re.compile("[chjqx]|[dn]g"), re.compile(r"([b-df-hj-np-tv-xz])\1")
#: What becomes of what is left beside groups, which have become large letters.
_KEPT = {code: _PLAIN.get(chr(code), "") for code in range(128)} | {ord(one): one for one in string.ascii_uppercase}
_REST = {"Latn": _KEPT, "other": _KEPT | {ord("w"): ""}}
#: Nobody's name is longer; what is, is no name.
_LONGEST = 40


class _Rules(NamedTuple):
    pattern: re.Pattern[str]
    becomes: Mapping[tuple[str, bool], str]  # of letters, and whether a rule looks ahead

    def applied(self, word: str) -> str:
        becomes = self.becomes
        return self.pattern.sub(lambda found: becomes[found[0], found.lastindex is not None], word)


def _sound(word: str) -> str:
    if not word or len(word) > _LONGEST:
        return ""
    script, word = _script(word), word.lower()
    if script == "Latn" and word.isascii() and not _GROUPED.search(word):
        return _once(word).encode().translate(_SAID, _UNSAID).decode()
    if script != "Latn":
        word = _rules(_LETTERS).applied(_without_greek_accents(word))
    text = _rules(_GROUPS[script]).applied(_once(_ascii(word).lower()))
    return text.translate(_REST["Latn" if script == "Latn" else "other"])


#: The consonants of a word, `MRKL` for Merkel, Меркель and ميركل; empty for what has none.
phonetic_key: Callable[[str], str] = TermCache(_sound).__getitem__


def _once(word: str) -> str:
    return _doubled.sub(r"\1", word) if _doubled.search(word) else word


def _ascii(word: str) -> str:
    if word.isascii():
        return word
    from anyascii import anyascii

    found: str = anyascii(word)
    return found


def _script(word: str) -> str:
    if word.isascii():
        return "Latn"
    highest = max(map(ord, word))
    if highest < 0x370 or 0x1E00 <= highest < 0x1F00:
        return "Latn"
    if 0x900 <= highest < 0xE80:
        return "Indic"
    return "Hani" if 0x3400 <= highest < 0xA000 else "other"


def _without_greek_accents(word: str) -> str:
    if not any("\u0370" <= char < "\u0400" for char in word):
        return word
    return "".join(char for char in unicodedata.normalize("NFD", word) if not "\u0300" <= char <= "\u036f")


@cache
def _rules(text: str) -> _Rules:
    """Without groups around letters, so that `re` passes over what no rule begins with."""
    pairs = [rule.rpartition("=")[::2] for rule in text.split()]
    if text is _LETTERS:  # what says nothing keeps two consonants apart as a vowel does
        pairs = sorted(((letters, symbol or "a") for letters, symbol in pairs), key=lambda pair: -len(pair[0]))
    pattern = re.compile("|".join(letters.replace("[", "([").replace("]", "])") for letters, _ in pairs))
    ahead = [(letters.partition("(?=")[::2], symbol) for letters, symbol in pairs]
    return _Rules(pattern, {(plain, bool(next_)): symbol for (plain, next_), symbol in ahead})
