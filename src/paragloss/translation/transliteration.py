"""Write names in another script, letter by letter.

From Cyrillic, Greek, Hangul and kana into Latin, and from Latin into Cyrillic and Greek. It is rough: a name may then
match, but it is not always spelled right.

Pass `carry` to a Dictionary for words that have no entry.
"""

from __future__ import annotations

import re
import unicodedata

from paragloss.languages import scripts_of


def _parse_rules(text: str) -> dict[str, str]:
    """Parse `a=b c=d` into {a: b, c: d}; `a=` drops a letter."""
    return dict(rule.split("=") for rule in text.split())


_LATIN = _parse_rules("""
а=a б=b в=v г=g д=d е=e ё=yo ж=zh з=z и=i й=y к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u ф=f х=kh ц=ts ч=ch ш=sh щ=shch
ъ= ы=y ь= э=e ю=yu я=ya і=i ї=yi є=ye ґ=g ў=u ј=j љ=lj њ=nj ћ=c ђ=dj џ=dz
α=a β=v γ=g δ=d ε=e ζ=z η=i θ=th ι=i κ=k λ=l μ=m ν=n ξ=x ο=o π=p ρ=r σ=s τ=t υ=y φ=f χ=ch ψ=ps ω=o ς=s
""")
_FROM_LATIN = {
    "Cyrl": _parse_rules("""
    shch=щ zh=ж kh=х ts=ц ch=ч sh=ш yo=ё yu=ю ya=я a=а b=б c=к d=д e=е f=ф g=г h=х i=и j=дж k=к l=л m=м n=н o=о p=п
    q=к r=р s=с t=т u=у v=в w=в x=кс y=й z=з
    """),
    "Grek": _parse_rules("""
    th=θ ph=φ ch=χ ps=ψ ou=ου a=α b=β c=κ d=δ e=ε f=φ g=γ h=χ i=ι j=τζ k=κ l=λ m=μ n=ν o=ο p=π q=κ r=ρ s=σ t=τ u=ου
    v=β w=β x=ξ y=υ z=ζ
    """),
}


def carry(word: str, to: str) -> str:
    """Write a word in a script of language `to`; it stays as it is if there are no rules for that."""
    scripts = scripts_of(to)
    latin = to_latin(word)
    if "Latn" in scripts:
        return latin
    for script in scripts:
        if script in _FROM_LATIN and latin.isascii():
            return from_latin(latin, script)
    return word


def to_latin(word: str) -> str:
    """Replace letters of Cyrillic, Greek, Hangul and kana by Latin ones; everything else stays."""
    return "".join(map(_romanize_letter, word))


def from_latin(word: str, script: str) -> str:
    """Write ASCII letters in Cyrillic or Greek; the longest rule applies first, and a letter without rule stays.

    :param script: "Cyrl" or "Grek"
    """
    rules = _FROM_LATIN[script]
    longest_first = "|".join(sorted(rules, key=len, reverse=True))
    text = re.sub(longest_first, lambda match: rules[match[0]], word.lower())
    return text[:1].upper() + text[1:] if word[:1].isupper() else text


def _romanize_letter(char: str) -> str:
    """Replace one character by Latin letters, if there is a rule or its Unicode name gives its sound.

    Names are those of Korean syllables and Japanese letters; any other character without a rule is returned unchanged.
    """
    lower = char.lower()
    plain_letter = unicodedata.normalize("NFD", lower)[0]
    # Greek vowels lose their accents; й and ї are letters of their own, so they are looked up before decomposition.
    latin = _LATIN.get(lower, _LATIN.get(plain_letter))
    if latin is not None:
        is_capital = char != lower
        return latin.capitalize() if is_capital else latin
    name = unicodedata.name(char, "")
    for prefix in ("HANGUL SYLLABLE ", "HIRAGANA LETTER ", "KATAKANA LETTER "):
        if name.startswith(prefix):
            return name.removeprefix(prefix).removeprefix("SMALL ").lower()
    return char
