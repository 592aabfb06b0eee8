"""Which encoding are these bytes in, when they are not UTF-8? A guess, from the letters each would make of them.

Encodings of other scripts are known by their commonest letters. Those of Latin letters share most of these, but the
letters without accents, which are the same in all of them, tell the language, and the language the encoding.
"""

from __future__ import annotations

import codecs
import io
import re
from typing import BinaryIO

from paragloss.errors import InputError
from paragloss.languages import identify_one

#: How much of a file is looked at.
SAMPLE = 1 << 16
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: The commonest letters of texts in these encodings, most frequent first, and which share of all letters the first ten
#: and all of them are.
_COMMON = {
    "cp1251": ("оаеинтрсвлдкпмузіягбчйьжхъцышющ", 0.62, 0.96),
    "koi8-r": ("оеаинтсрвлмдкпуыягбзьчйжхюшцщэ", 0.62, 0.96),
    "cp866": ("оеаинтсрвлмдкпуыягбзьчйжхюшцщэ", 0.62, 0.96),
    "cp1253": ("ατοεινσρπκηυςμλίόέάγδήωχθύφώβξζ", 0.58, 0.96),
    "cp1255": ("יוהלרבתמאשנםעדחקפסכטגןצזךףץ", 0.65, 0.98),
    "cp1256": ("الرنمودتیهبيسعفشکقةزحجأكخطگ", 0.62, 0.96),
    "cp874": ("านกรอเงมวลยทดหสตะคบขปแจใไพชำโ", 0.48, 0.93),
    "cp932": ("のにたるーはとしいをてンでがなスっトれすルこイリかうらラアッドまありよもシクさ人", 0.25, 0.52),
    "euc_jp": ("のにたるーはとしいをてンでがなスっトれすルこイリかうらラアッドまありよもシクさ人", 0.25, 0.52),
    "gb18030": ("的在一他人了是国这我会们有斯和不为中特对个时以到说将上其表年大发后于利示尔员周能", 0.11, 0.27),
    "big5": ("的在一他人了是國這我會們有斯和不為中特對個時以到說將上其表年大發後於利示爾員週能", 0.11, 0.27),
    "cp949": ("다이에는의고을니가지하로은한그리를서했스기습인들사라대있해것자시도아수일어으나국", 0.24, 0.49),
}
_LATIN = {
    **dict.fromkeys(["pl", "cs", "sk", "hu", "ro", "sl", "hr", "bs", "sq"], "cp1250"),
    **dict.fromkeys(("tr", "az"), "cp1254"),
    **dict.fromkeys(("lt", "lv", "et"), "cp1257"),
    "vi": "cp1258",
}
_PUNCTUATION = frozenset("“”„«»–—…‘’。，、！？：；（）《》「」・ ")
#: What the best guess at a script's encoding has to reach of what its texts usually have.
_ENOUGH = 0.25
#: Where fewer of the letters are beyond ASCII, the text is in Latin letters with accents.
_ACCENTED = 0.4


def detect_encoding(sample: bytes) -> str:
    """The encoding of a file that begins with these bytes; "utf-8" where that fits, also where it is a damaged one."""
    for mark, name in _MARKS:
        if sample.startswith(mark):
            return name
    if (wide := _wide(sample)) or b"\0" in sample or _looks_like_utf8(sample):
        return wide or "utf-8"
    sample = _telling(sample)
    if re.search(rb"\x1b\$[@B]", sample):
        return "iso2022_jp"
    if sum(byte > 127 for byte in sample) < _ACCENTED * sum(byte > 127 or chr(byte).isalpha() for byte in sample):
        return _latin(sample)
    scores = {encoding: _likeness(sample, encoding) for encoding in _COMMON}
    best = max(scores, key=lambda encoding: scores[encoding])
    return best if scores[best] >= _ENOUGH else _latin(sample)


class Utf8Stream(io.RawIOBase):
    """A stream in some encoding, as UTF-8."""

    def __init__(self, stream: BinaryIO, encoding: str, path: object) -> None:
        self._stream, self._encoding, self._path = stream, encoding, path
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready:
            data = self._stream.read(SAMPLE)
            try:
                text = self._decoder.decode(data, not data)
                self._ready = text.encode()
            except UnicodeError as error:
                raise InputError(
                    f"looks like {self._encoding} and is not ({error.reason}); convert it to UTF-8"
                    if isinstance(error, UnicodeDecodeError)
                    else "holds half a surrogate pair; convert it to UTF-8",
                    place=self._path,
                ) from None
            if not data:
                break
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size


def _telling(sample: bytes) -> bytes:
    """The part of a sample from the first line that is not ASCII."""
    beyond = re.search(rb"[\x80-\xff]", sample)
    start = sample.rfind(b"\n", 0, beyond.start()) + 1 if beyond else 0
    return sample[start : start + SAMPLE]


def _looks_like_utf8(sample: bytes) -> bool:
    """Whether it is UTF-8 cut off anywhere, or with fewer bad bytes than good letters."""
    try:
        # A large sample may end inside a letter; a small one is the whole file.
        codecs.getincrementaldecoder("utf-8")().decode(sample, len(sample) < 4096)
    except UnicodeDecodeError:
        text = sample.decode("utf-8", "replace")
        good = sum(ord(character) > 127 for character in text)
        bad = text.count("�")
        return good > 3 * bad
    return True


def _wide(sample: bytes) -> str:
    """UTF-16 without a mark: zero bytes stand in every second place only, and what is left is mostly words."""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if min(even, odd) * 8 >= max(even, odd) or max(even, odd) < 2:
        return ""
    encoding = "utf-16-be" if even > odd else "utf-16-le"
    text = sample.decode(encoding, "replace")
    plain = sum(character.isalnum() or character.isspace() for character in text)
    return encoding if plain > 0.7 * len(text) else ""


def _likeness(sample: bytes, encoding: str) -> float:
    """The share of common letters among those beyond ASCII, measured by what it usually is."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return 0.0
    letters, few, all_ = _COMMON[encoding]
    beyond = [character for character in text if ord(character) > 127 and character not in _PUNCTUATION]
    # Half-width kana are what Shift-JIS makes of almost any bytes.
    if not beyond or 2 * sum("｡" <= character <= "ﾟ" for character in beyond) > len(beyond):
        return 0.0
    first = sum(character in letters[:10] for character in beyond)
    any_ = sum(character in letters for character in beyond)
    return (first / few + any_ / all_) / 2 / len(beyond)


def _latin(sample: bytes) -> str:
    lang = identify_one(re.sub(rb"[^\x00-\x7f]", b"", sample).decode("ascii")) or ""
    encoding = _LATIN.get(lang, "cp1252")
    try:
        codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return "cp1252"
    return encoding
