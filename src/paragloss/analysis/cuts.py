"""A document's text is cut once: its words and those of other languages that it holds, packed to be kept beside it.

A snippet, a gloss and a "why" look up here where terms stand, and read the text only there.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from paragloss.analysis import analyzer
from paragloss.analysis.blocks import others
from paragloss.languages import UNKNOWN
from paragloss.types import Analyzer, Cut, Integers, Record

#: How far into a text words are kept and looked for; nobody reads on for the 100th page's sake.
REACH = 50_000
#: What is packed: the version, how long the text is; of each language the bytes of its name and of its terms.
_HEAD, _PART, _ARRAY = struct.Struct("<BI"), struct.Struct("<BI"), struct.Struct("<BI")
_VERSION = 1


def cut(text: str, lang: str, analyze: Callable[[str], Analyzer] = analyzer) -> list[Cut]:
    """A text cut by its own language first, then what it says in others by those."""
    own = analyze(lang).cut(text)
    found = [own if own.lang == lang else own._replace(lang=lang)]
    for other, blocks in others(text, lang).items() if lang != UNKNOWN else ():
        joined = "\n".join(text[start:end] for start, end in blocks)
        sizes = np.array([end - start + 1 for start, end in blocks])
        first = np.cumsum(sizes) - sizes
        there = analyze(other).cut(joined)
        moved = np.array([start for start, _ in blocks]) - first
        starts = there.starts + moved[np.searchsorted(first, there.starts, side="right") - 1]
        found.append(there._replace(lang=other, text=text, starts=starts))
    return found


def kept(record: Record) -> Sequence[Cut]:
    """Those of a document: as they were kept with it, else cut again."""
    document = record.document
    if record.cut and (found := unpack(record.cut, document.text)):
        return found
    return [each._replace(text=document.text) for each in near(cut(document.text[:REACH], document.lang))]


def near(cuts: list[Cut]) -> list[Cut]:
    """As much of them as is looked at."""
    return [_near(each) for each in cuts] if len(cuts[0].text) >= REACH else cuts


def _near(cut: Cut) -> Cut:
    number = int(np.searchsorted(cut.starts, REACH))
    while number and cut.starts[number - 1] + cut.lengths[cut.which[number - 1]] >= REACH:
        number -= 1
    if number == len(cut.starts):
        return cut
    words = int(cut.which[:number].max(initial=-1)) + 1
    return cut._replace(
        terms=cut.terms[:words], lengths=cut.lengths[:words], which=cut.which[:number], starts=cut.starts[:number]
    )


def pack(cuts: list[Cut]) -> bytes:
    """As they are kept: terms as text, words and places as small numbers."""
    parts = [_HEAD.pack(_VERSION, len(cuts[0].text))]
    for cut in cuts:
        lang, terms = cut.lang.encode(), "\n".join(cut.terms).encode("utf-8", "surrogatepass")
        parts += [_PART.pack(len(lang), len(terms)), lang, terms]
        steps = cut.starts.copy()
        steps[1:] -= cut.starts[:-1]
        parts += map(_small, (cut.lengths, cut.which, steps))
    return zlib.compress(b"".join(parts), 1)


@lru_cache(maxsize=256)
def unpack(data: bytes, text: str) -> tuple[Cut, ...] | None:
    """What was packed of a text; None where that was another text, or another version packed it. Of those unpacked last
    it is known: what was shown is shown again, and explained."""
    try:
        whole = memoryview(zlib.decompress(data))
        if _HEAD.unpack_from(whole) != (_VERSION, len(text)):
            return None
        return tuple(_unpacked(whole, text))
    except (zlib.error, struct.error):
        return None


def _unpacked(data: memoryview, text: str) -> Iterator[Cut]:
    at = _HEAD.size
    while at < len(data):
        lang_size, size = _PART.unpack_from(data, at)
        at += _PART.size + lang_size + size
        lang = str(data[at - size - lang_size : at - size], "utf-8")
        terms = str(data[at - size : at], "utf-8", "surrogatepass").split("\n") if size else []
        arrays = []
        for _ in range(3):
            width, number = _ARRAY.unpack_from(data, at)
            at += _ARRAY.size + width * number
            arrays.append(np.frombuffer(data[at - width * number : at], f"<u{width}").astype(np.int64))
        yield Cut(lang, text, terms, arrays[0], arrays[1], np.cumsum(arrays[2]))


def _small(numbers: Integers) -> bytes:
    most = max(listed := numbers.tolist(), default=0)
    if most < 1 << 8:
        return _ARRAY.pack(1, len(listed)) + bytes(listed)
    width = 1 if most < 1 << 8 else 2 if most < 1 << 16 else 4
    return _ARRAY.pack(width, len(numbers)) + numbers.astype(f"<u{width}").tobytes()
