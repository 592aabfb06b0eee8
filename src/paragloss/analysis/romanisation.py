"""Write words of any script in Latin letters: letter by letter (`romanize`), or by rules of sound (`transcribe`)."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

_VOWELS = frozenset("aeiou")
#: Arabic, Persian and Hebrew letters. `o/w` is a vowel behind a consonant and a consonant elsewhere.
_SEMITIC_LETTERS = """
ا=a أ=a إ=i آ=a ء= ى=a ة=a ئ=e ؤ=o ب=b ت=t ث=th ج=j ح=h خ=kh د=d ذ=dh ر=r ز=z س=s ش=sh ص=s ض=d ط=t ظ=z ع=a غ=gh
ف=f ق=q ك=k ک=k ل=l م=m ن=n ه=h و=o/w ي=i/y ی=i/y پ=p چ=ch ژ=zh گ=g
א=a ב=b ג=g ד=d ה=h ו=o/v ז=z ח=h ט=t י=i/y כ=k ך=k ל=l מ=m ם=m נ=n ן=n ס=s ע=a פ=p ף=f צ=ts ץ=ts ק=k ר=r ש=sh ת=t
"""
#: The sounds of katakana; ー and ッ, which have none, stand for themselves.
_KATAKANA = """
アa イi ウu エe オo カka キki クku ケke コko ガga ギgi グgu ゲge ゴgo サsa シshi スsu セse ソso ザza ジji ズzu ゼze ゾzo
タta チchi ツtsu テte トto ダda ヂji ヅzu デde ドdo ナna ニni ヌnu ネne ノno ハha ヒhi フfu ヘhe ホho
バba ビbi ブbu ベbe ボbo パpa ピpi プpu ペpe ポpo マma ミmi ムmu メme モmo ヤya ユyu ヨyo ラra リri ルru レre ロro ワwa
ヲo ンn ヴvu ーー ッッ ァa ィi ゥu ェe ォo ャya ュyu ョyo
"""
#: Small letters, which change the syllable before them: vowels replace its vowel, the others make it palatal.
_SMALL_VOWELS, _SMALL_PALATALS = "ァィゥェォ", "ャュョ"
_SMALL_TSU, _LONG_VOWEL_MARK = "ッ", "ー"
_HANGUL_INITIALS = "g kk n d tt r m b pp s ss - j jj ch k t p h".split()  # noqa: SIM905
_HANGUL_VOWELS = "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split()  # noqa: SIM905
_HANGUL_FINALS = "- k k ks n n n t l k m l l l p l m p p t t ng t t k t p t".split()  # noqa: SIM905
#: A final consonant before a vowel.
_HANGUL_LINKED_FINALS = "- g kk s n j n d r g m b s t p r m b s s ss ng j ch k t p -".split()  # noqa: SIM905
_FIRST_HANGUL_SYLLABLE = 0xAC00
#: The number of "no final consonant".
_NO_HANGUL_FINAL = 0
#: From a hiragana letter to the katakana letter of the same sound.
_HIRAGANA_TO_KATAKANA = 0x60


def romanize(word: str) -> str:
    """Return a word in ASCII letters, letter by letter; Latin words stay as they are."""
    if all(ord(char) < 0x250 for char in word):
        return word
    from anyascii import anyascii

    romanized: str = anyascii(word)
    return romanized.strip() or word


#: Syllables of Hangul with one initial consonant, and with one initial consonant and vowel.
_SYLLABLES_PER_INITIAL, _SYLLABLES_PER_VOWEL = 588, 28


def transcribe(word: str, lang: str) -> str:
    """Write a word in Latin letters by the sound that its letters stand for.

    Arabic and Hebrew get the vowels that must be there, kana Hepburn's spelling, Hangul the Revised Romanisation. A
    Japanese word with Chinese characters stays as it is, since they do not tell their sound; any other word is written
    letter by letter.

    :param lang: the code of the word's language
    """
    if all(char in _semitic_letters() for char in word):
        return _transcribe_semitic(word)
    katakana = to_katakana(word)
    if all(char in _katakana_sounds() for char in katakana):
        return _transcribe_kana(katakana)
    if lang == "ja":
        return word
    if all("가" <= char <= "힣" for char in word):
        return _transcribe_hangul(word)
    return romanize(word)


def to_katakana(word: str) -> str:
    """Replace hiragana by katakana; other characters stay."""
    return "".join(chr(ord(char) + _HIRAGANA_TO_KATAKANA) if "ぁ" <= char <= "ゖ" else char for char in word)


def _transcribe_semitic(word: str) -> str:
    """Transcribe an Arabic or Hebrew word, with the vowels that are written or cannot be missing.

    An "a" is inserted between the first two consonants, and where three Latin consonants would follow each other: the
    letters k-t-b (a book, in Arabic) give "katb".
    """
    latin = ""
    for position, char in enumerate(word):
        last_sound = latin[-1:]
        sound_before_last = latin[-2:-1]
        follows_consonant = _is_consonant(last_sound)
        sound = _choose_semitic_sound(char, follows_consonant)
        joins_consonants = follows_consonant and _is_consonant(sound)
        needs_vowel = position == 1 or sound_before_last not in _VOWELS
        if joins_consonants and needs_vowel:
            latin += "a"
        latin += sound
    return latin


def _is_consonant(sound: str) -> bool:
    return bool(sound) and sound not in _VOWELS


def _choose_semitic_sound(char: str, follows_consonant: bool) -> str:
    """Return the sound of a letter, "" if it has none; some are vowels after a consonant and consonants elsewhere."""
    vowel, _, consonant = _semitic_letters()[char].partition("/")
    return vowel if follows_consonant else consonant or vowel


@cache
def _semitic_letters() -> dict[str, str]:
    """Return the sound of each Arabic and Hebrew letter."""
    return dict(pair.split("=") for pair in _SEMITIC_LETTERS.split())


@cache
def _katakana_sounds() -> dict[str, str]:
    """Return the sound of each katakana."""
    return {item[0]: item[1:] for item in _KATAKANA.split()}


def _transcribe_kana(word: str) -> str:
    """Transcribe katakana by Hepburn's rules.

    The mark of a long vowel has no letter; the small tsu doubles the consonant behind it: ロケット is "roketto".
    """
    latin = ""
    for previous_char, char in pairwise(" " + word):
        sound = _katakana_sounds()[char]
        if char in _SMALL_VOWELS:
            latin = _replace_final_vowel(latin, sound)
        elif char in _SMALL_PALATALS:
            latin = _add_palatal(latin, sound)
        elif char in (_LONG_VOWEL_MARK, _SMALL_TSU):
            continue
        elif previous_char == _SMALL_TSU:
            latin += _double_consonant(sound)
        else:
            latin += sound
    return latin


def _double_consonant(sound: str) -> str:
    """Repeat the first letter of a syllable if it is a consonant: ka makes kka, a stays."""
    return sound if sound[0] in _VOWELS else sound[0] + sound


def _replace_final_vowel(latin: str, vowel: str) -> str:
    """Replace the last vowel of a transcription by that of a small letter: fu and a make fa, u and i make wi."""
    stem = latin[:-1] if latin[-1:] in _VOWELS else latin
    glide = "w" if latin[-1:] == "u" and stem[-1:] in ("", *_VOWELS) else ""
    return stem + glide + vowel


def _add_palatal(latin: str, sound: str) -> str:
    """Add a small ya, yu or yo to a syllable in i: ki and ya make kya, shi and ya make sha."""
    stem = latin.removesuffix("i")
    return stem + (sound.removeprefix("y") if stem.endswith(("sh", "ch", "j")) else sound)


def _transcribe_hangul(word: str) -> str:
    """Transcribe Hangul by the Revised Romanisation, without the changes between consonants."""
    latin = ""
    final = _NO_HANGUL_FINAL  # the number of the final consonant of the syllable before
    for char in word:
        initial, vowel, next_final = _split_hangul_syllable(char)
        latin += _join_hangul_consonants(final, initial) + _HANGUL_VOWELS[vowel]
        final = next_final
    return latin + _HANGUL_FINALS[final].strip("-")


def _split_hangul_syllable(char: str) -> tuple[int, int, int]:
    """Return the numbers of the initial consonant, the vowel and the final consonant, by which Unicode sorts syllables.

    Final consonant 0 is none.
    """
    initial, vowel_and_final = divmod(ord(char) - _FIRST_HANGUL_SYLLABLE, _SYLLABLES_PER_INITIAL)
    vowel, final = divmod(vowel_and_final, _SYLLABLES_PER_VOWEL)
    return initial, vowel, final


def _join_hangul_consonants(final: int, initial: int) -> str:
    """Transcribe the final consonant of a syllable and the initial one of the next, by their numbers.

    A final consonant before a vowel sounds like an initial one, and r after l is l.
    """
    if _HANGUL_INITIALS[initial] == "-":  # the next syllable starts with its vowel
        return _HANGUL_LINKED_FINALS[final].strip("-")
    if _HANGUL_INITIALS[initial] == "r" and _HANGUL_FINALS[final] == "l":
        return "ll"
    return _HANGUL_FINALS[final].strip("-") + _HANGUL_INITIALS[initial]
