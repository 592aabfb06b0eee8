"""Finds the blocks (lines) of a text that are in another language than the text, by function words and by script."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from paragloss.analysis._stopwords import stopwords
from paragloss.languages import identify_one, known_codes, script_of, scripts_of
from paragloss.languages.scripts import foreign_letters

_WORD = re.compile(r"[^\W\d_]+")
_LETTER_BEYOND_LATIN1 = re.compile(r"[^\W\d_\x00-\xff]")
#: Maps each byte to the letter that it is in Latin-1, or to a line's end, or to a space.
_LATIN1_LETTERS = bytes(code if _WORD.match(chr(code)) or code == 10 else 32 for code in range(256))

#: A language is a candidate if a text has this many of its function words and they are this share of all words.
MIN_FUNCTION_WORDS, MIN_FUNCTION_WORD_SHARE = 4, 0.01
MAX_CANDIDATES = 3
#: A block is in another language if this many of its words, and this share, are function words there and not in the
#: text's own language, and more than are function words of the text's own language.
MIN_BLOCK_FUNCTION_WORDS, MIN_BLOCK_SHARE = 2, 0.12
#: All blocks of a language together need this many words, and this many different function words.
MIN_WORDS_IN_LANGUAGE, MIN_DIFFERENT_FUNCTION_WORDS = 12, 4
#: In other letters than Latin ones this many characters are enough.
MIN_CHARACTERS_IN_SCRIPT = 36
#: This many characters are enough to tell one of two languages from the other.
_IDENTIFIED_CHARACTERS = 500


def find_foreign_blocks(text: str, lang: str) -> dict[str, list[tuple[int, int]]]:
    """Find the lines of a text that are in other languages than most of it.

    :param text: the text of a document
    :param lang: the language of most of the text
    :return: for each other language the (start, end) of its lines, in order
    """
    words_by_line = _split_words_by_line(text)
    classifier = _build_line_classifier(text, words_by_line, lang)
    if not classifier.function_words and not classifier.lang_by_script:
        return {}
    foreign_blocks: dict[str, list[tuple[int, int]]] = {}
    for block_lang, spans in _group_foreign_lines(text, words_by_line, classifier).items():
        if _are_in_language(text, spans, block_lang, lang):
            foreign_blocks[block_lang] = spans
    return foreign_blocks


def _group_foreign_lines(
    text: str, words_by_line: Sequence[Sequence[str]], classifier: _LineClassifier
) -> dict[str, list[tuple[int, int]]]:
    """Group the lines of a text that seem to be in another language by that language.

    :param words_by_line: the lower-cased words of each line
    :param classifier: tells the foreign language of a line
    :return: for each other language the (start, end) of its lines, without the white space around them
    """
    spans_by_lang: dict[str, list[tuple[int, int]]] = {}
    line_start = 0
    for line, words in zip(text.split("\n"), words_by_line, strict=True):
        line_lang = classifier.classify(line, words)
        if line_lang:
            indentation = len(line) - len(line.lstrip())
            span = (line_start + indentation, line_start + len(line.rstrip()))
            spans_by_lang.setdefault(line_lang, []).append(span)
        line_start += len(line) + 1  # with its line break
    return spans_by_lang


class _LineClassifier(NamedTuple):
    """Tells the foreign language of a line of a text by its script or its function words."""

    own_words: frozenset[str]  # function words of the text's own language
    function_words: Mapping[str, frozenset[str]]  # of each other language that the text may have lines in
    all_function_words: frozenset[str]  # of these together
    lang_by_script: Mapping[str, str]  # of the lines in each foreign script

    def classify(self, line: str, words: Sequence[str]) -> str:
        """Return the foreign language of a line, or "" for a line in the text's own language.

        :param words: the lower-cased words of the line
        """
        lang_of_script = self.lang_by_script.get(script_of(line) or "") if self.lang_by_script else None
        return lang_of_script or self._classify_by_function_words(words)

    def _classify_by_function_words(self, words: Sequence[str]) -> str:
        """Return the foreign language that most words of a line are function words of, "" if these are too few."""
        if not _are_enough(_count_members(words, self.all_function_words), words):  # nearly every line
            return ""
        count_by_lang = {lang: _count_members(words, members) for lang, members in self.function_words.items()}
        likeliest = max(count_by_lang, key=count_by_lang.__getitem__)
        count = count_by_lang[likeliest]
        is_foreign = _are_enough(count, words) and count > _count_members(words, self.own_words)
        return likeliest if is_foreign else ""


def _build_line_classifier(text: str, words_by_line: Sequence[Sequence[str]], lang: str) -> _LineClassifier:
    """Build the classifier of a text's lines: it knows the languages that the text as a whole may have lines in.

    :param words_by_line: the lower-cased words of each line
    :param lang: the text's own language
    """
    candidates = _find_candidate_languages(list(chain.from_iterable(words_by_line)), lang)
    function_words = {candidate: _function_words_beyond(candidate, lang) for candidate in candidates}
    return _LineClassifier(
        own_words=_function_words().get(lang, frozenset()),
        function_words=function_words,
        all_function_words=frozenset().union(*function_words.values()),
        lang_by_script=_identify_foreign_scripts(text, lang),
    )


def _count_members(words: Sequence[str], members: frozenset[str]) -> int:
    return sum(map(members.__contains__, words))


def _are_enough(function_word_count: int, words: Sequence[str]) -> bool:
    """Tell whether a line has enough function words of a language to be in it."""
    return function_word_count >= max(MIN_BLOCK_FUNCTION_WORDS, MIN_BLOCK_SHARE * len(words))


def _split_words_by_line(text: str) -> list[list[str]]:
    """Return the lower-cased words of each line. Western European text takes a path without regular expressions."""
    text = text.lower()
    if _LETTER_BEYOND_LATIN1.search(text):
        return [_WORD.findall(line) for line in text.split("\n")]
    letters = text.encode("latin-1", "replace").translate(_LATIN1_LETTERS).decode("latin-1")
    return [line.split() for line in letters.split("\n")]


def _find_candidate_languages(words: Sequence[str], lang: str) -> list[str]:
    """Find the languages that a text has most function words of: MAX_CANDIDATES at most, the most frequent first.

    :param words: the lower-cased words of the text
    :param lang: its own language, whose function words are not counted
    """
    min_count = max(MIN_FUNCTION_WORDS, MIN_FUNCTION_WORD_SHARE * len(words))
    function_word_counts = _count_foreign_function_words(words, lang)
    if function_word_counts.total() < min_count:
        return []
    count_by_lang = _count_by_language(function_word_counts)
    candidates = [candidate for candidate, count in count_by_lang.items() if count >= min_count]
    candidates.sort(key=lambda candidate: (-count_by_lang[candidate], candidate))
    return candidates[:MAX_CANDIDATES]


def _count_by_language(function_word_counts: Mapping[str, int]) -> Counter[str]:
    """Add up for each language how often a text has its function words; a word of several counts for each of them."""
    count_by_lang = Counter[str]()
    for word, count in function_word_counts.items():
        for lang in _langs_by_function_word()[word]:
            count_by_lang[lang] += count
    return count_by_lang


def _count_foreign_function_words(words: Sequence[str], lang: str) -> Counter[str]:
    """Count how often a text has each function word that is none in its own language.

    :param words: the lower-cased words of the text
    :param lang: its own language
    """
    is_foreign_function_word = _foreign_function_words(lang).__contains__
    return Counter(filter(is_foreign_function_word, words))  # no loop in Python: this runs for every word of a text


def _are_in_language(text: str, spans: Sequence[tuple[int, int]], lang: str, own_lang: str) -> bool:
    """Tell whether lines of a text, all of them together, are surely in another language than the text.

    :param spans: the (start, end) of the lines that seem to be in that language
    :param lang: that language
    :param own_lang: the language of the text
    """
    lines = "\n".join(text[start:end] for start, end in spans)
    if not _is_long_enough(lines, lang, own_lang):
        return False
    return identify_one(lines[:_IDENTIFIED_CHARACTERS], {lang, own_lang}) == lang


def _is_long_enough(text: str, lang: str, own_lang: str) -> bool:
    """Tell whether a text has enough words and function words of a language, or characters if it is not in Latin."""
    if "Latn" not in scripts_of(lang):
        return len(text) >= MIN_CHARACTERS_IN_SCRIPT
    words = list(chain.from_iterable(_split_words_by_line(text)))
    different_words = _function_words_beyond(lang, own_lang).intersection(words)
    return len(words) >= MIN_WORDS_IN_LANGUAGE and len(different_words) >= MIN_DIFFERENT_FUNCTION_WORDS


def _identify_foreign_scripts(text: str, lang: str) -> dict[str, str]:
    """Return the language of a text's lines in each script that the text's own language, `lang`, is not written in."""
    lang_by_script = {}
    for script, lines in _group_lines_by_foreign_script(text, lang).items():
        identified = identify_one("\n".join(lines))
        if identified:
            lang_by_script[script] = identified
    return lang_by_script


def _group_lines_by_foreign_script(text: str, lang: str) -> dict[str, list[str]]:
    """Group the lines in scripts that a language is not written in; Latin is left out, which tells no language."""
    foreign_letter = foreign_letters(lang)
    lines_by_script: dict[str, list[str]] = {}
    if text.isascii() or not foreign_letter.search(text):
        return lines_by_script
    for line in text.split("\n"):
        script = script_of(line) if foreign_letter.search(line) else None
        if script and script not in ("Latn", *scripts_of(lang)):
            lines_by_script.setdefault(script, []).append(line)
    return lines_by_script


@cache
def _function_words() -> dict[str, frozenset[str]]:
    """Return the function words (stop words of two letters or more) of every language that has a list of them."""
    function_words = {}
    for lang in known_codes():
        words = stopwords(lang, str)
        if words:
            function_words[lang] = frozenset(word for word in words if len(word) > 1)
    return function_words


@cache
def _function_words_beyond(lang: str, other: str) -> frozenset[str]:
    """Return the function words of one language that are none in another."""
    return _function_words().get(lang, frozenset()) - _function_words().get(other, frozenset())


@cache
def _foreign_function_words(lang: str) -> frozenset[str]:
    """Return the function words of all languages that are none in `lang`."""
    return frozenset(_langs_by_function_word()) - _function_words().get(lang, frozenset())


@cache
def _langs_by_function_word() -> dict[str, list[str]]:
    """Return the languages of each function word; "de" is one in a dozen of them."""
    langs_by_word: dict[str, list[str]] = {}
    for lang, words in _function_words().items():
        for word in words:
            langs_by_word.setdefault(word, []).append(lang)
    return langs_by_word
