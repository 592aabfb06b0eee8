"""Reduce a word of any script to the consonants it is pronounced with: what a name has in common between languages.

Twenty symbols: B C D F G H J K L M N P R S T V W Z as read in English, C for ch, J for its voiced counterpart, X for
sh, Q for ng. Vowels, Y and doubled letters are left out, and W outside Latin letters, where it is as often a vowel.
Remaining differences between languages (Arabic has no P) are learned: see `translation.sounds`.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from paragloss.analysis._words import TermCache

#: Letters with another sound than anyascii gives them, or none: Greek pairs, Hebrew and Arabic vowels, Indian nasals.
_LETTER_RULES = """
μπ=b ντ=d γκ=g γγ=ng γχ=nh τζ=j τσ=ch ου=u χ=h ευ=ev αυ=av ψ=ps
וו=v ו= ב=b פ=p ף=p כ=k ך=k ג׳=j צ׳=ch ז׳=j צ=ts ץ=ts ה= י=
و= ي= ى= ی= ة= ه=h ع= غ=g تش=ch دج=j چ=ch ژ=j ق=k ث=th ح=h خ=kh
ं=n ँ=n ং=n ঁ=n श=sh ष=sh শ=sh ষ=sh ஷ=sh ஃப=f ஃ= ச=s ங=n ஞ=n व=v
ж=j дж=j х=h щ=sh ц=ts г=g ล=l ฌ=ch ซ=s
"""
#: Groups of Latin letters, the first that matches, by the script that was written in them.
_GROUP_RULES = {
    "Latn": """tsch=C tch=C dsch=J sch=X tsh=C dzh=J shch=X dj=J dg(?=[eiy])=J sh=X ch=C zh=J kh=H ph=F th=T dh=D gh=G
ck=K qu=K ng=Q x=KS q=K c(?=[eiy])=S c=K j=J""",
    "Indic": "ch=C jh=J kh=K gh=G th=T dh=D ph=F bh=B sh=X ng=Q x=KS q=K c=C j=J",
    "Hani": "zh=J ch=C sh=X ng=N x=X q=C c=S j=J",
    "other": "shch=X tsh=C dzh=J sh=X ch=C zh=J kh=H ph=F th=T dh=D gh=G ng=Q x=KS q=K c=K j=J",
}
_PLAIN = {letter: letter.upper() for letter in "bdfghklmnprstvwz"}
#: For `bytes.translate`: each byte in upper case, and the ASCII bytes without a sound of their own.
_UPPER_CASE = bytes(range(256)).upper()
_SILENT_BYTES = bytes(code for code in range(128) if chr(code) not in _PLAIN)
#: Latin letters that some rule of `_GROUP_RULES` may apply to, and doubled consonants.
_GROUPED, _DOUBLED = re.compile("[chjqx]|[dn]g"), re.compile(r"([b-df-hj-np-tv-xz])\1")
#: The symbol of each character that is left when groups have become capital letters.
_LATIN_SYMBOLS = {code: _PLAIN.get(chr(code), "") for code in range(128)} | {ord(c): c for c in string.ascii_uppercase}
_OTHER_SYMBOLS = _LATIN_SYMBOLS | {ord("w"): ""}
#: Longer words are no names.
MAX_NAME_LENGTH = 40


class _Rule(NamedTuple):
    """Some letters, perhaps with a lookahead such as `c(?=[eiy])`, and the symbol of their sound."""

    letters: str
    symbol: str


class _Rules(NamedTuple):
    """Replacements of letters: a pattern of all of them, and the symbol of each."""

    pattern: re.Pattern[str]
    symbols: Mapping[tuple[str, bool], str]  # by the letters, and whether the rule looks ahead

    def apply(self, word: str) -> str:
        symbols = self.symbols
        return self.pattern.sub(lambda match: symbols[match[0], match.lastindex is not None], word)


def _compute_phonetic_key(word: str) -> str:
    if not word or len(word) > MAX_NAME_LENGTH:
        return ""
    script, word = _classify_script(word), word.lower()
    if script == "Latn" and word.isascii() and not _GROUPED.search(word):
        return _merge_doubled(word).encode().translate(_UPPER_CASE, _SILENT_BYTES).decode()
    if script != "Latn":
        word = _compile_letter_rules().apply(_strip_greek_accents(word))
    text = _compile_group_rules(script).apply(_merge_doubled(_transliterate(word).lower()))
    return text.translate(_LATIN_SYMBOLS if script == "Latn" else _OTHER_SYMBOLS)


#: Returns the consonants of a word, `MRKL` for Merkel, Меркель and ميركل; empty for a word without any.
phonetic_key: Callable[[str], str] = TermCache(_compute_phonetic_key).__getitem__


def _merge_doubled(word: str) -> str:
    return _DOUBLED.sub(r"\1", word) if _DOUBLED.search(word) else word


def _transliterate(word: str) -> str:
    if word.isascii():
        return word
    from anyascii import anyascii

    transliterated: str = anyascii(word)
    return transliterated


def _classify_script(word: str) -> str:
    """Return the key of `_GROUP_RULES` that fits the letters of a word."""
    if word.isascii():
        return "Latn"
    highest = max(map(ord, word))
    if highest < 0x370 or 0x1E00 <= highest < 0x1F00:
        return "Latn"
    if 0x900 <= highest < 0xE80:
        return "Indic"
    return "Hani" if 0x3400 <= highest < 0xA000 else "other"


def _strip_greek_accents(word: str) -> str:
    if not any("\u0370" <= char < "\u0400" for char in word):
        return word
    return "".join(char for char in unicodedata.normalize("NFD", word) if not "\u0300" <= char <= "\u036f")


@cache
def _compile_letter_rules() -> _Rules:
    """Compile `_LETTER_RULES`, longer groups first; a silent letter keeps two consonants apart as a vowel does."""
    rules = [_Rule(rule.letters, rule.symbol or "a") for rule in _parse_rules(_LETTER_RULES)]
    return _compile_rules(sorted(rules, key=lambda rule: -len(rule.letters)))


@cache
def _compile_group_rules(script: str) -> _Rules:
    return _compile_rules(_parse_rules(_GROUP_RULES[script]))


def _parse_rules(text: str) -> list[_Rule]:
    """Parse rules `letters=symbol`."""
    rules: list[_Rule] = []
    for rule in text.split():
        letters, _, symbol = rule.rpartition("=")
        rules.append(_Rule(letters, symbol))
    return rules


def _compile_rules(rules: Sequence[_Rule]) -> _Rules:
    """Compile rules, of which the first that matches is applied, into one pattern.

    It has no groups around letters, only inside lookaheads, so `re` skips characters that no rule begins with.
    """
    alternatives = [rule.letters.replace("[", "([").replace("]", "])") for rule in rules]
    symbols: dict[tuple[str, bool], str] = {}
    for rule in rules:
        letters, _, lookahead = rule.letters.partition("(?=")
        symbols[letters, bool(lookahead)] = rule.symbol
    return _Rules(re.compile("|".join(alternatives)), symbols)
