"""Read bilingual dictionaries as (source, target) entries: word pairs, FreeDict (dictd and TEI), CC-CEDICT, Wiktionary.

An entry's texts are words or phrases as a reader would type them: remarks, grammar and examples are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from paragloss.errors import InputError
from paragloss.formats import jsonl
from paragloss.formats.text import (
    OnError,
    PathLike,
    decode_utf8,
    format_suffix,
    parse_lines,
    parse_numbered_items,
    read_bytes,
)
from paragloss.formats.xml import get_element_text, read_elements

_DICT_LIMIT = 2**30
_BASE64 = {c: n for n, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}
# Possessive, so that brackets that are never closed cost one pass.
_REMARK = re.compile(r"\([^()]*+\)|<[^<>]*+>|\[[^\[\]]*+\]|\{[^{}]*+\}")
_CEDICT = re.compile(r"(?P<traditional>\S+) (?P<simplified>\S+) \[[^\]]*\] /(?P<glosses>.*)/\s*")
_CEDICT_REFERENCE = re.compile(r"(CL:|abbr\. |(old |archaic |erroneous )?variant of |see |also written )")
_CEDICT_LABEL = re.compile(r"(lit|fig)\. ")
_CEDICT_HAN = re.compile(r"[^\s\[]*+\[[A-Za-z:]+\d[^\]]*\]")
_MARK = re.compile(r"<([^<>]*+)>")
#: The language in which the English Wiktionary says what words mean.
_LANGUAGE_OF_GLOSSES = "en"
#: A gloss of more words explains a word; it doesn't translate it.
_MAX_GLOSS_WORDS = 4
_SENSE_NUMBER = re.compile(r"^\d+\.\s*")


class Entry(NamedTuple):
    """An entry of a dictionary: a translation of a word or phrase.

    :param source: the word or phrase.
    :param target: its translation.
    :param pos: its part of speech, or "".
    :param weight: how likely the translation is, relative to others of the same word.

    >>> Entry("bee", "Biene").weight
    1.0
    """

    source: str
    target: str
    pos: str = ""
    weight: float = 1.0


def read_entries(path: PathLike, source: str, target: str, *, on_error: OnError = None) -> Iterator[Entry]:
    """Yield the entries of a dictionary, whose suffix tells its format.

    `.index` is dictd, `.tei` and `.xml` FreeDict, `.u8` CC-CEDICT, `.jsonl` Wiktionary, anything else pairs on lines.

    :param source: code of the language of the words; only Wiktionary, which has many languages, needs it
    :param target: code of the language of their translations, likewise
    :param on_error: called with the error of each bad entry; without it the first error is raised
    """
    suffix = format_suffix(path)
    if suffix == ".index":
        return read_dictd(path, on_error=on_error)
    if suffix in (".tei", ".xml"):
        return read_tei(path, on_error=on_error)
    if suffix == ".u8":
        return read_cedict(path, on_error=on_error)
    if suffix == ".jsonl":
        return read_wiktionary(path, source, target, on_error=on_error)
    return read_pairs(path, on_error=on_error)


def read_pairs(path: PathLike, *, on_error: OnError = None) -> Iterator[Entry]:
    """Yield the pairs on the lines of a file.

    With tabs: `source, target` and perhaps a part of speech, a weight or both (a glossary). Without: two words with a
    space between them (MUSE).
    """
    return parse_lines(path, lambda _, line: _parse_pair(line), on_error=on_error)


def read_cedict(path: PathLike, *, on_error: OnError = None) -> Iterator[Entry]:
    """Yield the entries of CC-CEDICT, one for each writing and each gloss.

    A line is `Traditional Simplified [pin1 yin1] /gloss/gloss/`.

    `to eat` is the verb `eat`; cross-references and measure words are left out.
    """
    for entries in parse_lines(path, lambda _, line: _parse_cedict_line(line), on_error=on_error):
        yield from entries


def read_dictd(path: PathLike, *, on_error: OnError = None) -> Iterator[Entry]:
    """Yield the entries of a FreeDict dictionary for dictd.

    :param path: the `.index` file; the `.dict` or `.dict.dz` file must lie beside it
    """
    index = Path(path)
    articles = _DictdArticles(_read_dict_file(index))
    for article in parse_lines(index, lambda _, line: articles.read_article(line), on_error=on_error):
        yield from _parse_dictd_article(article)


class _DictdArticles:
    """The articles of a dictd dictionary, each read once although several headwords of the index may share it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._read_spans: set[tuple[int, int]] = set()

    def read_article(self, line: str) -> str:
        """Return the article of a line of the index; "" if it was read before or describes the dictionary itself."""
        headword, start, end = _parse_index_line(line, len(self._data))
        if headword.startswith("00") or (start, end) in self._read_spans:
            return ""
        self._read_spans.add((start, end))
        return decode_utf8(self._data[start:end], start)


def _parse_index_line(line: str, n_bytes: int) -> tuple[str, int, int]:
    """Return the headword of a line and where its article begins and ends in a dictionary of `n_bytes` bytes."""
    columns = line.split("\t")
    if len(columns) < 3:
        raise InputError(f"{len(columns)} columns where 3 are expected: headword, offset, length")
    start, length = _parse_base64(columns[1]), _parse_base64(columns[2])
    if start + length > n_bytes:
        raise InputError(f"an article at byte {start:,} of {n_bytes:,}; index and dictionary don't belong together")
    return columns[0], start, start + length


def read_tei(path: PathLike, *, on_error: OnError = None) -> Iterator[Entry]:
    """Yield the entries of a FreeDict dictionary in TEI XML."""
    elements = enumerate(read_elements(path, ("entry",)), 1)
    for entries in parse_numbered_items(elements, lambda _, entry: _parse_tei_entry(entry), f"{path}, entry", on_error):
        yield from entries


def read_wiktionary(path: PathLike, source: str, target: str, *, on_error: OnError = None) -> Iterator[Entry]:
    """Yield the entries of the English Wiktionary extracted by wiktextract (kaikki.org), a word on each line.

    These are translations between the two languages in either direction, and the glosses if `target` is English.

    :param source: code of the language of the entries' words
    :param target: code of the language of their translations
    """
    for entries in parse_lines(path, lambda _, line: _parse_wiktionary_line(line, source, target), on_error=on_error):
        yield from entries


def _parse_pair(line: str) -> Entry:
    """Parse a line of two words with a tab or blanks between them; after tabs a part of speech and a weight may follow.

    :raises InputError: if a word is missing, or the weight is negative or not finite
    """
    raw_columns = line.split("\t") if "\t" in line else line.split(None, 1)
    columns = [column.strip() for column in raw_columns]
    if len(columns) < 2 or not columns[0] or not columns[1]:
        raise InputError(f"a pair needs two texts with a tab or a blank between them; the line is {line[:60]!r}")
    part_of_speech, weight = _parse_pair_details(columns[2:4])
    if not 0.0 <= weight < float("inf"):
        raise InputError(f"the weight of {columns[0]!r} is {weight}; give a number from 0")
    return Entry(columns[0], columns[1], part_of_speech, weight)


def _parse_pair_details(columns: Sequence[str]) -> tuple[str, float]:
    """Return (part of speech, weight) of a pair, "" and 1 where they are missing.

    :param columns: at most two columns in any order: the weight is the one that is a number
    """
    part_of_speech, weight = "", 1.0
    for column in columns:
        try:
            weight = float(column)
        except ValueError:
            part_of_speech = column
    return part_of_speech, weight


def _parse_cedict_line(line: str) -> list[Entry]:
    """Parse a line of CC-CEDICT, `Traditional Simplified [pin1 yin1] /gloss/gloss/`.

    :return: an Entry for each gloss and each of the two spellings; none for a comment, or a gloss that only refers to
        another word
    :raises InputError: if the line has another form
    """
    if line.startswith("#"):
        return []
    match = _CEDICT.fullmatch(line)
    if match is None:
        raise InputError(f"not an entry 'Trad Simp [pin1 yin1] /gloss/': {line[:60]!r}; give CC-CEDICT's text file")
    spellings = [match["simplified"]]
    if match["traditional"] != match["simplified"]:
        spellings.append(match["traditional"])
    entries: list[Entry] = []
    for gloss in match["glosses"].replace(";", "/").split("/"):
        if _CEDICT_REFERENCE.match(gloss.strip()):
            continue
        target, part_of_speech = _parse_cedict_gloss(gloss)
        if target:
            entries += [Entry(spelling, target, part_of_speech) for spelling in spellings]
    return entries


def _parse_cedict_gloss(gloss: str) -> tuple[str, str]:
    """Return the translation in a gloss and its part of speech: ("eat", "verb") for `(coll.) to eat`; "" if unknown."""
    without_chinese = _CEDICT_HAN.sub(" ", gloss)
    without_remarks = _remove_remarks(without_chinese)
    text = _CEDICT_LABEL.sub("", without_remarks)
    if text.startswith("to "):
        return text.removeprefix("to "), "verb"
    return text, ""


def _read_dict_file(index: Path) -> bytes:
    base = index.name.removesuffix(".index")
    for name in (f"{base}.dict.dz", f"{base}.dict"):
        if (index.parent / name).exists():
            return read_bytes(index.parent / name, limit=_DICT_LIMIT)
    raise InputError(
        f"no {base}.dict.dz or {base}.dict beside it; put both files of the dictionary together", location=index
    )


def _parse_base64(text: str) -> int:
    value = 0
    for char in text.strip():
        if char not in _BASE64:
            raise InputError(f"{text[:20]!r} is no number in dictd's base 64; give the .index file of a dictionary")
        value = value * 64 + _BASE64[char]
    return value


def _parse_dictd_article(article: str) -> Iterator[Entry]:
    """Yield an entry for each translation in an article of a dictd dictionary.

    The article `cat /kæt/ <n>` with the line `1. chat, matou` below it gives cat - chat and cat - matou, both nouns.

    :param article: a line with the headword, then lines of senses, among which the indented ones are examples
    """
    head, *lines = article.strip("\n").split("\n")
    headword, part_of_speech = _parse_dictd_head(head)
    if not headword:
        return
    sense_lines = [line for line in lines if not line[:1].isspace()]
    for line in sense_lines:
        sense = _SENSE_NUMBER.sub("", line)
        for target, sense_mark in _split_translations(sense):
            yield Entry(headword, target, part_of_speech or sense_mark)


def _parse_dictd_head(head: str) -> tuple[str, str]:
    """Return (headword, part of speech) of a head such as `bee /biː/ <n>`; its last two parts may be missing."""
    headword, part_of_speech = head.rstrip(), ""
    if headword.endswith(">") and "<" in headword:
        headword, _, part_of_speech = headword[:-1].rpartition("<")
    headword = headword.rstrip()
    if headword.endswith("/") and "/" in headword[:-1]:
        headword = headword[:-1].rpartition("/")[0]
    return headword.strip(), part_of_speech.strip().lower()


def _split_translations(sense: str) -> Iterator[tuple[str, str]]:
    """Yield (translation, mark after it) of each in a sense such as `Bank <fem>, einzahlen <v, trans>`."""
    # A mark's own commas separate nothing; zero characters protect it from being removed as a remark.
    protected = _MARK.sub(lambda mark: re.sub(r"[,;]", " ", f"\0{mark[1]}\0"), sense)
    for translation in re.split(r"[,;]", _remove_remarks(protected)):
        pieces = translation.split("\0")  # text, mark, text, ...
        target = " ".join(" ".join(pieces[::2]).split()).strip(" ~")
        mark = pieces[1].strip().lower() if len(pieces) > 1 else ""
        if target:
            yield target, mark


def _parse_tei_entry(entry: Element) -> list[Entry]:
    """Return an Entry for each pair of a spelling and a translation in an <entry> element of TEI.

    :raises InputError: if the element has no spelling, <orth> in a <form>
    """
    spellings = [spelling for spelling in _read_descendants(entry, "form", "orth") if spelling]
    if not spellings:
        raise InputError("no <orth> in a <form>; give a dictionary in FreeDict's TEI")
    part_of_speech = next(iter(_read_descendants(entry, "gramGrp", "pos")), "")
    targets = _read_tei_targets(entry)
    return [Entry(spelling, target, part_of_speech) for spelling in spellings for target in targets]


def _read_tei_targets(entry: Element) -> list[str]:
    """Return the translations in an <entry> element, the texts of <quote> elements without remarks."""
    targets: list[str] = []
    for translation in _find_translations(entry):
        for quote in _get_children(translation, "quote"):
            targets.append(_remove_remarks(get_element_text(quote)))
    return [target for target in targets if target]


def _read_descendants(entry: Element, child_tag: str, tag: str) -> list[str]:
    """Return the texts of all elements `tag` inside the children `child_tag` of an entry."""
    children = _get_children(entry, child_tag)
    return [get_element_text(element) for child in children for element in child.iter() if element.tag == tag]


def _find_translations(element: Element) -> Iterator[Element]:
    """Yield the <cit> elements that translate the entry; those inside another translate an example."""
    for child in element:
        if child.tag != "cit":
            yield from _find_translations(child)
        elif child.get("type") in ("trans", "translation"):
            yield child


def _get_children(element: Element, name: str) -> list[Element]:
    return [child for child in element if child.tag == name]


def _parse_wiktionary_line(line: str, source: str, target: str) -> list[Entry]:
    """Return the translations between two languages in the entry of a word, in either direction, and its glosses.

    :param line: the entry, a JSON object of wiktextract; a redirection has no translations
    :param source: code of the language of the entries' words
    :param target: code of the language of their translations
    :raises InputError: if the object has no word
    """
    row = jsonl.parse_json_object(line)
    word = _get_wiktionary_word(row)
    if not word:
        return []
    word_lang = row.get("lang_code")
    part_of_speech = str(row.get("pos") or "")
    senses = [sense for sense in _get_list(row, "senses") if isinstance(sense, dict)]
    translations = list(_list_wiktionary_translations(row, senses))
    entries: list[Entry] = []
    if word_lang == source:
        entries += [Entry(word, translation, part_of_speech) for lang, translation in translations if lang == target]
    elif word_lang == target:
        entries += [Entry(translation, word, part_of_speech) for lang, translation in translations if lang == source]
    are_glosses_translations = word_lang == source and target == _LANGUAGE_OF_GLOSSES
    if are_glosses_translations:
        entries += [Entry(word, gloss, part_of_speech) for gloss in _list_glosses(senses)]
    return list(dict.fromkeys(entries))  # each once


def _get_wiktionary_word(row: dict[str, Any]) -> str:
    """Return the word of an entry, "" for a redirection; raise InputError if there is neither."""
    word = row.get("word")
    if isinstance(word, str) and word:
        return word
    if "redirect" not in row:
        raise InputError("no 'word' in the row; give a JSON Lines file made by wiktextract")
    return ""


def _list_wiktionary_translations(row: dict[str, Any], senses: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield (language, translation) of a word and of its senses.

    :param row: the entry of the word, a JSON object of wiktextract
    :param senses: the objects of its senses
    """
    items = [item for word_or_sense in (row, *senses) for item in _get_list(word_or_sense, "translations")]
    for item in items:
        if not isinstance(item, dict):
            continue
        lang = item.get("lang_code") or item.get("code")
        translation = item.get("word")
        if lang and isinstance(translation, str) and translation.strip():
            yield str(lang), translation.strip()


def _list_glosses(senses: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the short glosses of a word's senses, which translate it; inflected forms have none of their own."""
    for sense in senses:
        glosses = [gloss for gloss in _get_list(sense, "glosses") if isinstance(gloss, str)]
        if not glosses or "form_of" in sense or "alt_of" in sense:
            continue
        for text in re.split(r"[,;]", _remove_remarks(glosses[-1])):
            gloss = _remove_remarks(text)
            if gloss and len(gloss.split()) <= _MAX_GLOSS_WORDS:
                yield gloss.removeprefix("to ").rstrip(".")


def _get_list(row: dict[str, Any], key: str) -> list[Any]:
    value = row.get(key)
    return value if isinstance(value, list) else []


def _remove_remarks(text: str) -> str:
    """Remove remarks in brackets, nested up to eight deep, and repeated spaces."""
    for _ in range(8):
        shorter = _REMARK.sub(" ", text)
        if shorter == text:
            break
        text = shorter
    return " ".join(text.split())
