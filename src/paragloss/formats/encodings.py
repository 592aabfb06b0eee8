"""Guess the encoding of text that is not UTF-8, from the letters that each encoding would make of it.

Encodings of other scripts are known by their commonest letters. Those of Latin letters share most of these, but the
letters without accents, which are the same in all of them, tell the language. Of the encodings that the language was
written with, that one is right which makes letters of its alphabet inside the words.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Sequence
from typing import BinaryIO, NamedTuple

from paragloss.errors import InputError
from paragloss.languages import identify_one

#: The part of a file that is examined.
SAMPLE_BYTES = 1 << 16
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


#: So many of the commonest letters count for themselves.
_N_TOP_LETTERS = 10


class _CommonLetters(NamedTuple):
    """The commonest letters of usual texts in an encoding."""

    letters: str  # the most frequent first
    top_share: float  # of all letters beyond ASCII, the share of the first _N_TOP_LETTERS
    share: float  # the share of all of them


_RUSSIAN = _CommonLetters("оеаинтсрвлмдкпуыягбзьчйжхюшцщэ", 0.62, 0.96)
_JAPANESE = _CommonLetters(
    "のにたるーはとしいをてンでがなスっトれすルこイリかうらラアッドまありよもシクさ人", 0.25, 0.52
)
_COMMON_LETTERS = {
    "cp1251": _CommonLetters("оаеинтрсвлдкпмузіягбчйьжхъцышющ", 0.62, 0.96),
    "koi8-r": _RUSSIAN,
    "cp866": _RUSSIAN,
    "cp1253": _CommonLetters("ατοεινσρπκηυςμλίόέάγδήωχθύφώβξζ", 0.58, 0.96),
    "cp1255": _CommonLetters("יוהלרבתמאשנםעדחקפסכטגןצזךףץ", 0.65, 0.98),
    "cp1256": _CommonLetters("الرنمودتیهبيسعفشکقةزحجأكخطگ", 0.62, 0.96),
    "cp874": _CommonLetters("านกรอเงมวลยทดหสตะคบขปแจใไพชำโ", 0.48, 0.93),
    "cp932": _JAPANESE,
    "euc_jp": _JAPANESE,
    "gb18030": _CommonLetters(
        "的在一他人了是国这我会们有斯和不为中特对个时以到说将上其表年大发后于利示尔员周能", 0.11, 0.27
    ),
    "big5": _CommonLetters(
        "的在一他人了是國這我會們有斯和不為中特對個時以到說將上其表年大發後於利示爾員週能", 0.11, 0.27
    ),
    "cp949": _CommonLetters(
        "다이에는의고을니가지하로은한그리를서했스기습인들사라대있해것자시도아수일어으나국", 0.24, 0.49
    ),
}
#: The encodings of languages in Latin letters: of Windows, of Unix, of DOS and of older Macs.
_WESTERN_ENCODINGS = ("cp1252", "cp850", "mac_roman")
_LATIN_ENCODINGS = {
    **dict.fromkeys(("pl", "cs", "sk", "hu", "ro", "sl", "hr", "bs"), ("cp1250", "iso8859-2", "cp852", "mac_latin2")),
    "sq": ("cp1250",),
    **dict.fromkeys(("tr", "az"), ("cp1254", "cp857")),
    **dict.fromkeys(("lt", "lv", "et"), ("cp1257", "cp775")),
    "vi": ("cp1258",),
}
#: The letters beyond ASCII of languages that were written with several encodings.
_ALPHABETS = {
    "pl": "ąćęłńóśźż", "cs": "áčďéěíňóřšťúůýž", "sk": "áäčďéíĺľňóôŕšťúýž", "hu": "áéíóöőúüű", "ro": "ăâîşţ",
    "sl": "čšž", "hr": "čćđšž", "bs": "čćđšž", "tr": "çğıöşüâî", "az": "çəğıöşü", "lt": "ąčęėįšųūž",
    "lv": "āčēģīķļņšūž", "et": "äöõüšž", "de": "äöüß", "fr": "àâçéèêëîïôùûœ", "es": "áéíóúüñ", "it": "àèéìòù",
    "pt": "áâãàçéêíóôõú", "nl": "éëïöü", "da": "æøåé", "no": "æøåé", "sv": "äöåé", "fi": "äöå",
    "is": "áðéíóúýþæö", "ca": "àçéèíïóòúü·",
}  # fmt: skip
#: A character beyond ASCII inside a word or at its end, where quotation marks are rarer than letters.
_INSIDE_WORD = re.compile(r"(?<=[a-z])[^\x00-\x7f](?=[a-z\s])")
#: Where the encoding of Japanese mail changes to characters of two bytes.
_ISO_2022_JP_ESCAPE = re.compile(rb"\x1b\$[@B]")
_UNDECODABLE = -(1 << 30)
_PUNCTUATION = frozenset("“”„«»–—…‘’。，、！？：；（）《》「」・ ")
#: The share of common letters, relative to usual texts, that the best guess has to reach.
_MIN_LIKENESS = 0.25
#: Below this share of letters beyond ASCII the text is in Latin letters with accents.
_MAX_ACCENTED_SHARE = 0.4


def detect_encoding(sample: bytes) -> str:
    """Guess the encoding of a text.

    The kinds of Unicode are told by their bytes, other encodings by the letters that they make of the text.

    :param sample: the first bytes of a file
    :return: a name that Python's codecs know; "utf-8" where that fits, even if the text is damaged
    """
    wide_encoding = find_byte_order_mark(sample) or _detect_utf16(sample)
    if wide_encoding:
        return wide_encoding
    if b"\0" in sample or _looks_like_utf8(sample):
        return "utf-8"
    sample = _skip_ascii_lines(sample)
    if _ISO_2022_JP_ESCAPE.search(sample):
        return "iso2022_jp"
    if _is_mostly_ascii(sample):
        return _guess_latin_encoding(sample)
    return _guess_non_latin_encoding(sample) or _guess_latin_encoding(sample)


def find_byte_order_mark(sample: bytes) -> str:
    """Return the encoding that the byte order mark at the beginning of a text stands for, "" if there is none."""
    return next((encoding for mark, encoding in _BYTE_ORDER_MARKS if sample.startswith(mark)), "")


def _guess_non_latin_encoding(sample: bytes) -> str:
    """Return the encoding whose usual texts the sample resembles most, "" if it resembles none."""
    likeness = {encoding: _measure_likeness(sample, encoding) for encoding in _COMMON_LETTERS}
    most_likely = max(likeness, key=likeness.__getitem__)
    return most_likely if likeness[most_likely] >= _MIN_LIKENESS else ""


class Utf8Stream(io.RawIOBase):
    """A stream of text in another encoding, read as UTF-8."""

    def __init__(self, stream: BinaryIO, encoding: str, path: object) -> None:
        self._stream, self._encoding, self._path = stream, encoding, path
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._buffer = b""

    def readable(self) -> bool:
        """Return True: the stream is for reading."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read as many bytes as are available and fit into a buffer; return how many, 0 at the end."""
        while not self._buffer:
            data = self._stream.read(SAMPLE_BYTES)
            self._buffer = self._convert(data)
            if not data:
                break
        size = min(len(buffer), len(self._buffer))
        buffer[:size], self._buffer = self._buffer[:size], self._buffer[size:]
        return size

    def _convert(self, data: bytes) -> bytes:
        """Return the next bytes of the stream, none at its end, in UTF-8."""
        try:
            return self._decoder.decode(data, final=not data).encode()
        except UnicodeDecodeError as error:
            message = f"looks like {self._encoding} and is not ({error.reason}); convert it to UTF-8"
            raise InputError(message, location=self._path) from None
        except UnicodeError:
            raise InputError("holds half a surrogate pair; convert it to UTF-8", location=self._path) from None


def _skip_ascii_lines(sample: bytes) -> bytes:
    """Return the sample from the first line that is not ASCII."""
    beyond = re.search(rb"[\x80-\xff]", sample)
    start = sample.rfind(b"\n", 0, beyond.start()) + 1 if beyond else 0
    return sample[start : start + SAMPLE_BYTES]


def _is_mostly_ascii(sample: bytes) -> bool:
    """Tell whether so few letters are beyond ASCII that they are Latin letters with accents."""
    n_beyond_ascii = sum(byte > 127 for byte in sample)
    n_ascii_letters = sum(byte <= 127 and chr(byte).isalpha() for byte in sample)
    return n_beyond_ascii < _MAX_ACCENTED_SHARE * (n_beyond_ascii + n_ascii_letters)


def _looks_like_utf8(sample: bytes) -> bool:
    """Say whether the sample is UTF-8, truncated anywhere, or damaged with fewer bad bytes than good letters."""
    try:
        # A large sample may end inside a letter; a small one is the whole file.
        codecs.getincrementaldecoder("utf-8")().decode(sample, len(sample) < 4096)
    except UnicodeDecodeError:
        text = sample.decode("utf-8", "replace")
        good = sum(ord(character) > 127 for character in text)
        bad = text.count("�")
        return good > 3 * bad
    return True


def _detect_utf16(sample: bytes) -> str:
    """Return the kind of UTF-16 without a mark, else "". Often every second byte is zero, and the text is words."""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if min(even, odd) * 8 >= max(even, odd) or max(even, odd) < 2:
        return ""
    encoding = "utf-16-be" if even > odd else "utf-16-le"
    text = sample.decode(encoding, "replace")
    plain = sum(character.isalnum() or character.isspace() for character in text)
    return encoding if plain > 0.7 * len(text) else ""


def _measure_likeness(sample: bytes, encoding: str) -> float:
    """Measure how much a text resembles usual texts of an encoding, a key of `_COMMON_LETTERS`.

    :param sample: the bytes of the text
    :return: the share of common letters among those beyond ASCII, divided by their share in usual texts (averaged over
        the commonest ten letters and all common ones): about 1 if the text has the encoding, 0 if it can't be decoded
    """
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return 0.0
    letters = [character for character in text if ord(character) > 127 and character not in _PUNCTUATION]
    # Half-width kana are what Shift-JIS makes of almost any bytes.
    n_half_width_kana = sum("｡" <= letter <= "ﾟ" for letter in letters)
    if not letters or 2 * n_half_width_kana > len(letters):
        return 0.0
    common = _COMMON_LETTERS[encoding]
    top_likeness = _measure_share(letters, common.letters[:_N_TOP_LETTERS]) / common.top_share
    likeness = _measure_share(letters, common.letters) / common.share
    return (top_likeness + likeness) / 2


def _measure_share(letters: Sequence[str], members: str) -> float:
    """Return the share of letters, at least one, that are among the members."""
    return sum(letter in members for letter in letters) / len(letters)


def _guess_latin_encoding(sample: bytes) -> str:
    """Return the encoding that makes most letters of the text's language inside words, the first of equal ones."""
    lang = identify_one(re.sub(rb"[^\x00-\x7f]", b"", sample).decode("ascii")) or ""
    candidates = _LATIN_ENCODINGS.get(lang, _WESTERN_ENCODINGS)
    best = max(candidates, key=lambda encoding: _count_letters_of_language(sample, encoding, lang))
    return best if _count_letters_of_language(sample, best, lang) > _UNDECODABLE else "cp1252"


def _count_letters_of_language(sample: bytes, encoding: str, lang: str) -> int:
    """Count the accented letters inside words that the language has, less those characters that it doesn't have."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return _UNDECODABLE
    alphabet = _ALPHABETS.get(lang, "")
    characters = [character for character in _INSIDE_WORD.findall(text.lower()) if character not in _PUNCTUATION]
    return sum(1 if character in alphabet else -1 for character in characters) if alphabet else 0
