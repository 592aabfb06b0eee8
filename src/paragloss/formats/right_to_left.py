"""Logical order of right-to-left text on PDF pages, rebuilt from where the characters stand.

PDFium guesses the order of Arabic and Hebrew characters from the order in which they were drawn, so words printed by
browsers come out reversed. The positions on the page don't depend on the program that printed it: a line is read from
right to left, and the numbers and Latin words in it from left to right, which is the bidirectional algorithm backwards.
"""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

#: Letters of Hebrew, Arabic, Syriac, Thaana and N'Ko, and the presentation forms of Hebrew and Arabic.
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
#: Below this share of right-to-left letters a page is left as PDFium reads it.
MIN_RIGHT_TO_LEFT_SHARE = 0.05
#: A gap is a space between words if it is wider than one of these shares: of the line's height, and of the median width
#: of its characters. Either alone fails: the boxes of some fonts are three times as high as the letters, and Hebrew
#: letters are twice as wide as Arabic ones. Gaps inside words are up to .14 and .38 (files of Chromium, Pango,
#: LibreOffice and ReportLab).
MIN_SPACE_BY_HEIGHT, MIN_SPACE_BY_WIDTH = 0.17, 0.5
#: Runs that are read from left to right: Latin words with the numbers and signs between them, or one number. Each
#: character is replaced by its class: L letter, D digit, P sign within numbers, N other neutral, R right-to-left.
_LEFT_TO_RIGHT_RUN = re.compile(r"[LD][LDPN]*L(?:[LDPN]*[LD])?|L(?:[LDPN]*[LD])?|D(?:P?D)*")
_RIGHT_TO_LEFT_RUN = re.compile(r"R(?:[RDPN]*R)?")
_FIRST_PRESENTATION_FORM = "\ufb00"
_BRACKETS = str.maketrans("()[]{}<>«»", ")(][}{><»«")
_OPENING, _CLOSING = "([{«", ")]}»"


class Glyph(NamedTuple):
    """A character on a page, the edges of its box and the height of its baseline, in points."""

    character: str
    left: float
    right: float
    height: float
    baseline: float

    @property
    def double_middle(self) -> float:
        """Twice the middle of the box from left to right, for comparisons."""
        return self.left + self.right


def has_right_to_left(text: str) -> bool:
    """Say whether enough of a page's text is in a right-to-left script for its order to matter."""
    return len(_RIGHT_TO_LEFT.findall(text)) > MIN_RIGHT_TO_LEFT_SHARE * len(text)


def reorder_page(text: str, textpage: Any) -> str:
    """Return the text of a page in logical order.

    :param text: the text as PDFium orders it
    :param textpage: the page's `pypdfium2.PdfTextPage`
    :return: the order that has more known words of right-to-left languages, the rebuilt one if both have as many
    """
    rebuilt = "\n".join(_order_lines(_read_lines_of_glyphs(textpage)))
    return rebuilt if count_known_words(rebuilt) >= count_known_words(text) else text


def order_line(glyphs: Sequence[Glyph], min_share: float = 0.5) -> str:
    """Return the characters of one line in logical order, with spaces where there are gaps.

    :param glyphs: the characters of the line, in any order
    :param min_share: the line is read from right to left if at least this share of its letters are of a right-to-left
        script
    """
    letters = [glyph for glyph in glyphs if not glyph.character.isspace()]
    share = _share_right_to_left(letters)
    is_right_to_left = share > 0 and share >= min_share
    if is_right_to_left:
        letters.reverse()  # letters that share a box keep their order when the line is reversed below
    characters = _insert_spaces(_attach_marks(letters))
    if is_right_to_left:
        return _reverse_runs(characters[::-1], _LEFT_TO_RIGHT_RUN)
    return _reverse_runs(characters, _RIGHT_TO_LEFT_RUN)


def _order_lines(lines: Sequence[Sequence[Glyph]]) -> list[str]:
    """Order each line. On a page that is mostly right-to-left, so is a line with a Latin name longer than the rest."""
    page_share = _share_right_to_left([glyph for line in lines for glyph in line])
    min_share = 0.3 if page_share > 0.5 else 0.5
    return _mirror_brackets([order_line(line, min_share) for line in lines])


def count_known_words(text: str) -> int:
    """Count the words of a text that are function words of Arabic, Hebrew, Persian, Urdu or a neighbour."""
    function_words = _load_function_words()
    return sum(word in function_words for word in re.findall(r"[^\W\d_]+", text))


@cache
def _load_function_words() -> frozenset[str]:
    from stopwordsiso import has_lang, stopwords

    languages = [code for code in ("ar", "fa", "he", "ur", "ku", "ps", "sd", "ug", "yi") if has_lang(code)]
    return frozenset(word for word in stopwords(languages) if len(word) > 1)


#: Glyphs whose baselines differ by less, in heights of a glyph, are on the same line.
MIN_LINE_DISTANCE_BY_HEIGHT = 0.3


def _read_lines_of_glyphs(textpage: Any) -> list[list[Glyph]]:
    """Return the glyphs of each line of a page.

    A line ends where PDFium has a line break and the next glyph stands at another height: PDFium also breaks lines
    between words.

    :param textpage: the page's `pypdfium2.PdfTextPage`
    """
    lines: list[list[Glyph]] = [[]]
    follows_break = False
    for glyph in _read_glyphs(textpage):
        if glyph.character in "\r\n":
            follows_break = True
            continue
        line = lines[-1]
        if follows_break and line and _are_on_different_lines(line[-1], glyph):
            lines.append([])
        lines[-1].append(glyph)
        follows_break = False
    return lines


def _are_on_different_lines(previous: Glyph, glyph: Glyph) -> bool:
    min_distance = MIN_LINE_DISTANCE_BY_HEIGHT * max(glyph.height, previous.height)
    return abs(glyph.baseline - previous.baseline) > min_distance


def _read_glyphs(textpage: Any) -> Iterator[Glyph]:
    """Yield the characters of a page with their boxes, in the order in which PDFium reads them.

    All glyphs between two line breaks get the baseline of the first of them; a line break has an empty box. Characters
    that can't be printed or have no box are left out.

    :param textpage: the page's `pypdfium2.PdfTextPage`
    """
    from pypdfium2 import raw

    page_handle = textpage.raw
    box = raw.FS_RECTF()  # which PDFium fills for one character after the other
    box_reference = ctypes.byref(box)
    baseline: float | None = None  # of the current line, None at its beginning
    for index in range(raw.FPDFText_CountChars(page_handle)):
        character = chr(raw.FPDFText_GetUnicode(page_handle, index))
        if character in "\r\n":
            baseline = None
            yield Glyph(character, 0.0, 0.0, 0.0, 0.0)
        elif character.isprintable() and raw.FPDFText_GetLooseCharBox(page_handle, index, box_reference):
            if baseline is None:
                baseline = _read_baseline(page_handle, index)
            yield from _split_ligature(Glyph(character, box.left, box.right, box.top - box.bottom, baseline))


def _read_baseline(page_handle: Any, index: int) -> float:
    """Return the height of the baseline of a character of a page."""
    from pypdfium2 import raw

    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(page_handle, index, x, y)
    return y.value


def _split_ligature(glyph: Glyph) -> Iterator[Glyph]:
    """Yield the letters of a presentation form such as lam-alef, each with its part of the box; others as they are."""
    if glyph.character < _FIRST_PRESENTATION_FORM:
        yield glyph
        return
    letters = unicodedata.normalize("NFKC", glyph.character)
    width = (glyph.right - glyph.left) / max(1, len(letters))
    for position, letter in enumerate(letters):
        right = glyph.right - position * width
        yield glyph._replace(character=letter, left=right - width, right=right)


class _MarkedGlyph(NamedTuple):
    """A base character, and the vowel signs that stand above or below it."""

    base: Glyph
    marks: str

    @property
    def text(self) -> str:
        return self.base.character + self.marks


def _attach_marks(glyphs: Sequence[Glyph]) -> list[_MarkedGlyph]:
    """Return the base characters from left to right, each with the marks whose middle is nearest to its own."""
    bases = [glyph for glyph in glyphs if not unicodedata.combining(glyph.character)]
    # Lam and alef, which share the box of their ligature, are read in this order: lam stands to the right.
    bases.sort(key=lambda base: (base.double_middle, base.character == "ل"))
    marks = [""] * len(bases)
    for mark in glyphs:
        if bases and unicodedata.combining(mark.character):
            distances = [abs(base.double_middle - mark.double_middle) for base in bases]
            marks[distances.index(min(distances))] += mark.character
    return [_MarkedGlyph(*base_and_marks) for base_and_marks in zip(bases, marks, strict=True)]


def _insert_spaces(glyphs: Sequence[_MarkedGlyph]) -> list[str]:
    """Return the characters of a line with their marks, from left to right, and a space for each wide gap."""
    if not glyphs:
        return []
    min_gap = _measure_min_gap([glyph.base for glyph in glyphs])
    characters = [glyphs[0].text]
    for previous, glyph in pairwise(glyphs):
        if glyph.base.left - previous.base.right > min_gap:
            characters.append(" ")
        characters.append(glyph.text)
    return characters


def _measure_min_gap(glyphs: Sequence[Glyph]) -> float:
    """Return how wide a gap in a line has to be to part two words, in points."""
    line_height = max(glyph.height for glyph in glyphs)
    median_width = median(glyph.right - glyph.left for glyph in glyphs)
    return min(MIN_SPACE_BY_HEIGHT * line_height, MIN_SPACE_BY_WIDTH * median_width)


def _reverse_runs(characters: Sequence[str], run: re.Pattern[str]) -> str:
    """Reverse the runs of characters whose classes match the pattern."""
    ordered = list(characters)
    for match in run.finditer("".join(map(_classify_character, characters))):
        ordered[match.start() : match.end()] = ordered[match.start() : match.end()][::-1]
    return "".join(ordered)


def _mirror_brackets(lines: Sequence[str]) -> list[str]:
    """Turn the brackets of right-to-left lines around if the first one closes: then they are named by their shape."""
    first_bracket = ""
    for line in filter(_RIGHT_TO_LEFT.search, lines):
        first_bracket = first_bracket or next((char for char in line if char in _OPENING + _CLOSING), "")
    if not first_bracket or first_bracket in _OPENING:
        return list(lines)
    return [line.translate(_BRACKETS) if _RIGHT_TO_LEFT.search(line) else line for line in lines]


@cache
def _classify_character(character: str) -> str:
    direction = unicodedata.bidirectional(character[0])
    return {"R": "R", "AL": "R", "L": "L", "EN": "D", "AN": "D", "CS": "P", "ES": "P"}.get(direction, "N")


def _share_right_to_left(glyphs: Sequence[Glyph]) -> float:
    """Return the share of the letters that belong to a right-to-left script."""
    text = "".join([glyph.character for glyph in glyphs])
    n_letters = sum(map(str.isalpha, text))
    return len(_RIGHT_TO_LEFT.findall(text)) / max(1, n_letters)
