"""Recognise the text of a page with Tesseract: first by languages of the page's script, then by those of its text."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from paragloss.errors import InputError, LanguageError
from paragloss.languages import identify, language_name, normalise, scripts_of

#: Tesseract's modes of page segmentation: for pages that stand upright, and for others, which it turns.
_SEGMENT_UPRIGHT, _SEGMENT_ROTATED = "3", "1"
#: A page that is read with less confidence may be in another script than it seems.
CLEAR_CONFIDENCE = 70.0
#: So many scripts are tried on such a page.
_MAX_SCRIPTS_TRIED = 8
#: A picture without a word of so many letters, read by any language with so much confidence, is a photograph without
#: text, and other scripts are not tried, which takes many times as long. Short lines in six other scripts, read as
#: English, have such a word (confidence 11 to 83).
_MIN_WORD_LETTERS, _MIN_WORD_CONFIDENCE = 2, 5.0
#: From this confidence on Tesseract's guess at the script is used.
_MIN_SCRIPT_CONFIDENCE = 1.0
#: A language with a smaller share of the page's letters is not used to read it again.
_MIN_LANGUAGE_SHARE = 0.1
#: The names of models of languages; others are for orientation, equations and vertical lines.
_LANGUAGE_MODEL = re.compile(r"(?!osd$|equ$)[a-z]{3}(_(?!vert$)[a-z]+)?")
#: Our codes of the scripts that Tesseract names.
_SCRIPT_CODES = {
    "Latin": "Latn", "Cyrillic": "Cyrl", "Greek": "Grek", "Arabic": "Arab", "Hebrew": "Hebr", "Devanagari": "Deva",
    "Bengali": "Beng", "Gurmukhi": "Guru", "Gujarati": "Gujr", "Oriya": "Orya", "Tamil": "Taml", "Telugu": "Telu",
    "Kannada": "Knda", "Malayalam": "Mlym", "Sinhala": "Sinh", "Thai": "Thai", "Lao": "Laoo", "Khmer": "Khmr",
    "Myanmar": "Mymr", "Tibetan": "Tibt", "Georgian": "Geor", "Armenian": "Armn", "Ethiopic": "Ethi",
    "Han": "Hani", "Japanese": "Kana", "Katakana": "Kana", "Hiragana": "Kana", "Korean": "Hang", "Hangul": "Hang",
}  # fmt: skip


class RecognizedWord(NamedTuple):
    """A word on a page, with Tesseract's confidence from 0 to 100."""

    text: str
    confidence: float
    line: tuple[str, str, str]  # numbers of block, paragraph and line

    @property
    def paragraph(self) -> tuple[str, str]:
        """The numbers of block and paragraph."""
        return self.line[:2]


class PageImage(NamedTuple):
    """What Tesseract is given: the arguments that name the picture, and its bytes if it is piped in."""

    arguments: tuple[str, ...]
    data: bytes | None


class Orientation(NamedTuple):
    """What Tesseract says of a page before reading it."""

    script: str  # our code, "" if unknown
    is_script_clear: bool
    is_upright: bool


def is_tesseract_installed() -> bool:
    """Say whether the program is on the path."""
    return shutil.which("tesseract") is not None


def detect_orientation(image: PageImage) -> Orientation:
    """Ask Tesseract for the script of a page and whether it stands upright."""
    if "osd" not in _run_tesseract(["--list-langs"]).split():  # Debian installs it with the program
        return Orientation("", False, True)
    lines = _run_tesseract([*image.arguments, "--psm", "0"], image.data, check=False).splitlines()
    properties = dict(line.split(": ", 1) for line in lines if ": " in line)
    script = _SCRIPT_CODES.get(properties.get("Script", ""), "")
    is_clear = bool(script) and float(properties.get("Script confidence", 0)) >= _MIN_SCRIPT_CONFIDENCE
    return Orientation(script, is_clear, properties.get("Rotate", "0") == "0")


def recognize_page(image: PageImage) -> list[RecognizedWord]:
    """Read a page by the installed languages that give the highest confidence.

    The languages of the script that Tesseract sees come first, then those of other scripts until a reading is clear.

    :return: the words in the order of reading; none if the picture seems to have no text
    :raises InputError: if the page is clearly in a script of which no language is installed
    """
    script, is_script_clear, is_upright = detect_orientation(image)
    segmentation = _SEGMENT_UPRIGHT if is_upright else _SEGMENT_ROTATED
    image = image._replace(arguments=(*image.arguments, "--psm", segmentation))
    if not script and not _shows_text(image):
        return []
    languages = [lang for lang in _list_languages() if script in scripts_of(lang)]
    first_languages = _choose_first_languages(languages, script)
    words: list[RecognizedWord] = []
    if is_script_clear and languages:
        words = _recognize_twice(image, first_languages, languages)
    if not _is_clear(words):
        words = _try_scripts(image, words, first_languages)
    is_language_missing = is_script_clear and not languages
    if is_language_missing and not _is_clear(words):
        raise InputError(_explain_missing_language(image, script))
    return words


def _choose_first_languages(languages: Sequence[str], script: str) -> list[str]:
    """Choose by which languages of a script a page is read first: English if it is one of them, and of others three."""
    count = 1 if script == "Latn" else 3
    return _put_english_first(languages)[:count]


def _explain_missing_language(image: PageImage, script: str) -> str:
    installed = ", ".join(map(language_name, _list_languages())) or "none"
    return (
        f"{image.arguments[0]}: written in letters ({script}) of a language that Tesseract does not "
        f"have; install it (Debian: apt install tesseract-ocr-..., has {installed})"
    )


def measure_confidence(words: Sequence[RecognizedWord]) -> float:
    """Return the mean confidence, from 0 to 100, weighted by the length of the words."""
    n_letters = sum(len(word.text) for word in words) or 1
    return sum(len(word.text) * word.confidence for word in words) / n_letters


def _is_clear(words: Sequence[RecognizedWord]) -> bool:
    """Tell whether a page was read with so much confidence that it is in the script it was read in."""
    return measure_confidence(words) >= CLEAR_CONFIDENCE


def join_recognized_words(words: Sequence[RecognizedWord]) -> str:
    """Return the text of a page: words in lines, lines in paragraphs with a blank line between them."""
    paragraphs: list[str] = []
    for _, paragraph_words in groupby(words, key=attrgetter("paragraph")):
        lines = groupby(paragraph_words, key=attrgetter("line"))
        paragraphs.append("\n".join(" ".join(word.text for word in line_words) for _, line_words in lines))
    return "\n\n".join(paragraphs)


def _shows_text(image: PageImage) -> bool:
    """Tell whether a picture shows text at all, which any language tells, even the wrong one."""
    languages = _list_languages()
    any_language = "en" if "en" in languages else next(iter(languages))
    return any(
        sum(map(str.isalnum, word.text)) >= _MIN_WORD_LETTERS and word.confidence >= _MIN_WORD_CONFIDENCE
        for word in _recognize(image, [any_language])
    )


def _try_scripts(image: PageImage, words: list[RecognizedWord], first_choice: Sequence[str]) -> list[RecognizedWord]:
    """Read a page by one installed language of each script until a reading is clear.

    :param image: the page
    :param words: the reading so far
    :param first_choice: the languages that are tried before others, English first among those
    :return: the reading of the highest confidence, perhaps the one so far
    """
    for script_languages in _group_languages_by_script(first_choice)[:_MAX_SCRIPTS_TRIED]:
        reading = _recognize_twice(image, script_languages[:1], script_languages)
        words = max(words, reading, key=measure_confidence)
        if _is_clear(words):
            break
    return words


def _group_languages_by_script(first_choice: Sequence[str]) -> list[list[str]]:
    """Return the installed languages of each script; those of the first choice come first, then English."""
    other_languages = [lang for lang in _list_languages() if lang not in first_choice]
    preferred_languages = [lang for lang in _list_languages() if lang in first_choice]
    languages_by_script: dict[str, list[str]] = {}
    for lang in _put_english_first(preferred_languages) + _put_english_first(other_languages):
        languages_by_script.setdefault(scripts_of(lang)[0], []).append(lang)
    return list(languages_by_script.values())


def _put_english_first(languages: Iterable[str]) -> list[str]:
    return sorted(languages, key=lambda lang: lang != "en")


def _recognize_twice(image: PageImage, first: Sequence[str], candidates: Sequence[str]) -> list[RecognizedWord]:
    """Read by some languages, and again where the text turns out to be in others of the candidates."""
    words = _recognize(image, first)
    detected = _detect_languages(words, candidates)
    return words if not detected or set(detected) <= set(first) else _recognize(image, detected)


def _detect_languages(words: Sequence[RecognizedWord], candidates: Sequence[str]) -> list[str]:
    """Return the languages of the paragraphs, those of most letters first."""
    paragraphs = join_recognized_words(words).split("\n\n")
    n_letters = Counter[str]()
    for paragraph, lang in zip(paragraphs, identify(paragraphs, candidates), strict=True):
        if lang is not None:
            n_letters[lang] += len(paragraph)
    min_letters = _MIN_LANGUAGE_SHARE * n_letters.total()
    return [lang for lang, count in n_letters.most_common(3) if count >= min_letters]


def _recognize(image: PageImage, languages: Sequence[str]) -> list[RecognizedWord]:
    """Run Tesseract on a page with the models of some languages; return the words in the order of reading."""
    models = "+".join(model for lang in languages for model in _list_languages()[lang])
    table = _run_tesseract([*image.arguments, "-l", models, "tsv"], image.data)
    rows = csv.DictReader(table.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [
        RecognizedWord(row["text"], float(row["conf"]), (row["block_num"], row["par_num"], row["line_num"]))
        for row in rows
        if (row["text"] or "").strip() and float(row["conf"]) >= 0
    ]


@cache
def _list_languages() -> dict[str, list[str]]:
    """Return Tesseract's installed languages and the models of each: Chinese has `chi_sim` and `chi_tra`.

    :return: the names of models by our code of the language
    :raises InputError: if no language is installed
    """
    models_by_language: dict[str, list[str]] = {}
    for model in _run_tesseract(["--list-langs"]).splitlines()[1:]:  # the first line is a heading
        if not _LANGUAGE_MODEL.fullmatch(model):
            continue
        code = "zho" if model.startswith("chi") else model[:3]
        with suppress(LanguageError):  # a language of Tesseract that we have no code for
            models_by_language.setdefault(normalise(code), []).append(model)
    if not models_by_language:
        raise InputError("Tesseract has no language installed; install one (Debian: apt install tesseract-ocr-eng)")
    return models_by_language


def _run_tesseract(arguments: Sequence[str], data: bytes | None = None, *, check: bool = True) -> str:
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    completed = subprocess.run(["tesseract", *arguments], input=data, capture_output=True, env=environment)
    if completed.returncode and check:
        lines = completed.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = lines[-1] if lines else completed.returncode
        raise InputError(f"{arguments[0]}: can't be read by Tesseract ({reason})")
    return completed.stdout.decode("utf-8", "replace")
