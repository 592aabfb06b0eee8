"""Normalise the spelling of words, language by language, so that variants of a word become the same term.

Every function takes one token, and is called once per distinct token.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache

from paragloss.analysis._characters import APOSTROPHES, GERSHAYIM, JOINERS, is_word_character

#: Marked letters that are letters of their own in a language; other accents on Latin and Greek letters are dropped.
#: Where accents are reading aids or often left out (fr it pt ca ro en nl ...) nothing is kept; Spanish keeps its ñ.
_OWN_LETTERS = {
    "az": "çəğıöşü",
    "bs": "čćđšž",
    "cs": "áčďéěíňóřšťúůýž",
    "da": "æøå",
    "es": "ñ",
    "et": "äõöüšž",
    "fi": "äöå",
    "gl": "ñ",
    "hr": "čćđšž",
    "hu": "áéíóöőúüű",
    "is": "áðéíóúýþæö",
    "lt": "ąčęėįšųūž",
    "lv": "āčēģīķļņšūž",
    "no": "æøå",
    "nn": "æøå",
    "pl": "ąćęłńóśźż",
    "sk": "áäčďéíĺľňóôŕšťúýž",
    "sl": "čšž",
    "sq": "çë",
    "sr": "čćđšž",
    "sv": "åäö",
    "tr": "çğıöşü",
}
#: Marks that change the word: nothing is dropped.
_ALL_MARKS_MATTER = {"vi"}
#: Letters that Unicode does not take apart into a plain letter and a mark.
_PLAIN = {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i", "ĳ": "ij"}

#: Articles and pronouns that lose their vowel before another: the word proper follows the apostrophe.
_ELIDED = {
    "fr": "l d c j m n s t qu jusqu lorsqu puisqu quoiqu",
    "it": "l un d c m t s v gl dell all dall nell sull coll quell quest bell sant tutt anch cos com dov quant",
    "ca": "l d m n s t",
    "ga": "d b m",
    "pt": "d",
    "oc": "l d m n s t qu",
}
#: Endings set off by an apostrophe: possessives and clitics. Turkish sets every ending of a name off so.
_TRAILING = {
    "en": "s",
    "nl": "s",
    "de": "s",
    "da": "s",
    "no": "s",
    "sv": "s",
    "tl": "y t",
}
_CUT_AT_APOSTROPHE = {"tr", "az"}

#: Names whose signs are part of them.
_SIGNED_NAMES = {"c++": "cpp", "c#": "csharp", "f#": "fsharp"}

_TATWEEL = "\u0640"  # lengthens Arabic words; Unicode classifies it as a letter
_OPTIONAL_MARKS = str.maketrans(
    "",
    "",
    JOINERS
    + _TATWEEL
    + "".join(map(chr, [*range(0x610, 0x61B), *range(0x64B, 0x653), 0x656, 0x657, 0x658, 0x670]))  # Arabic vowels
    + "".join(map(chr, [*range(0x591, 0x5BE), 0x5BF, 0x5C1, 0x5C2, 0x5C4, 0x5C5, 0x5C7]))  # Hebrew points
    + "\u0300\u0301",  # stress marks that no letter took up, as in Russian
)
_ARABIC = str.maketrans(dict.fromkeys("أإآٱ", "ا") | {"ى": "ي", "ئ": "ي", "ؤ": "و", "ة": "ه"})
_PERSIAN = str.maketrans(
    dict.fromkeys("أإٱ", "ا") | dict.fromkeys("يىئ", "ی") | {"ك": "ک", "ؤ": "و"} | dict.fromkeys("ةۀ", "ه")
)
_URDU = str.maketrans({"أ": "ا", "ك": "ک"} | dict.fromkeys("يى", "ی") | dict.fromkeys("هةۀ", "ہ"))
#: For each language the letters that are written in several ways, with the one that is used for all of them.
_SPELLING_VARIANTS: dict[str, Mapping[int, int | str | None]] = {
    **dict.fromkeys(("fa", "ckb", "ps"), _PERSIAN),
    "ur": _URDU,
    **dict.fromkeys(("ru", "be"), str.maketrans("ё", "е")),
    "ro": str.maketrans("şţ", "șț"),
}
_DEVANAGARI_LANGUAGES = {"hi", "mr", "ne", "sa", "mai"}
_DEVANAGARI = str.maketrans({"\u093c": None, "ँ": "ं"})
_NASAL = re.compile("[ङञणनम]्(?=[क-ह])")


def fold_token(token: str, lang: str) -> str:
    """Remove from a token what does not distinguish words: case, elided articles, optional marks, forms of digits.

    `L’École` is folded to `école` in French, `dog's` to `dog` in English, and `C++` to `cpp` in all languages.

    :param token: a token that is not empty
    :param lang: the code of its language, which decides about elided articles, possessives and the dotless i
    :return: letters and digits; "" if the token has none
    """
    if token.isascii() and token.isalnum() and lang not in _CUT_AT_APOSTROPHE:
        return token.lower()
    if token[-1] in "+#":  # only in names such as C++ and C#
        return _SIGNED_NAMES.get(token.lower(), "")
    word = _fold_case(token, lang)
    if word.isalpha() and _TATWEEL not in word:  # no marks, signs or digits
        return word
    word = word.translate(_OPTIONAL_MARKS)
    if not word.isalnum():
        word = _strip_clitics(word, lang)
        word = "".join(filter(is_word_character, word))
    return word if word.isascii() else _convert_digits(word)


def _fold_case(token: str, lang: str) -> str:
    """Return a token in lower case and plain forms of letters (ﬁ is f and i), without apostrophes around it."""
    word = unicodedata.normalize("NFKC", token).strip(APOSTROPHES + GERSHAYIM + JOINERS)
    if lang in _CUT_AT_APOSTROPHE:  # Turkish: I is the capital of ı, and İ that of i
        word = word.replace("I", "ı").replace("İ", "i")
    return unicodedata.normalize("NFKC", word.casefold()).replace("i̇", "i")


def _strip_clitics(word: str, lang: str) -> str:
    """Remove an elided article before an apostrophe (l'eau), or an ending behind it (Anna's)."""
    head, apostrophe, tail = word.replace("’", "'").replace("ʼ", "'").partition("'")
    if not apostrophe:
        return word
    if lang in _CUT_AT_APOSTROPHE or tail in _TRAILING.get(lang, "").split():
        return head
    return tail if head in _ELIDED.get(lang, "").split() and tail else word


def _convert_digits(word: str) -> str:
    """Replace the digits of other scripts by ASCII digits."""
    return "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in word)


def get_word_normalizer(lang: str) -> Callable[[str], str]:
    """Return the function that unifies spelling variants before stop words are looked up and words are stemmed."""
    if lang in _DEVANAGARI_LANGUAGES:
        return lambda word: _NASAL.sub("ं", word.translate(_DEVANAGARI))
    if lang == "el":
        return lambda word: strip_accents(word, lang)
    if lang in _SPELLING_VARIANTS:
        variants = _SPELLING_VARIANTS[lang]
        return lambda word: word.translate(variants)
    return str


def get_term_normalizer(lang: str) -> Callable[[str], str]:
    """Return the function that unifies letters of a stem which the stemmer had to tell apart."""
    if lang in {"ar", "ug"}:
        return lambda word: word.translate(_ARABIC)
    return lambda word: strip_accents(word, lang)


def strip_accents(word: str, lang: str) -> str:
    """Remove the accents of Latin and Greek letters, except of letters that a language counts as its own."""
    if word.isascii() or lang in _ALL_MARKS_MATTER:
        return word
    return word.translate(_get_plain_letters(lang))


class _PlainLetters(dict[int, str]):
    """Maps each character to its plain letter; filled as characters occur, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        base = unicodedata.normalize("NFD", character)[0]
        is_latin_or_greek = "a" <= base <= "z" or "α" <= base <= "ω"
        letter = base if is_latin_or_greek else _PLAIN.get(character, character)
        self[code] = letter
        return letter


@cache
def _get_plain_letters(lang: str) -> _PlainLetters:
    return _PlainLetters({ord(letter): letter for letter in _OWN_LETTERS.get(lang, "")})
