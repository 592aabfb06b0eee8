"""Bilingual dictionaries as (source, target) entries: word pairs, FreeDict (dictd and TEI), CC-CEDICT, Wiktionary.

An entry's texts are words or phrases as a reader would type them: remarks, grammar and examples are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
_CEDICT = re.compile(r"(\S+) (\S+) \[([^\]]*)\] /(.*)/\s*")
_CEDICT_REFERENCE = re.compile(r"(CL:|abbr\. |(old |archaic |erroneous )?variant of |see |also written )")
_CEDICT_LABEL = re.compile(r"(lit|fig)\. ")
_CEDICT_HAN = re.compile(r"[^\s\[]*+\[[A-Za-z:]+\d[^\]]*\]")
_MARK = re.compile(r"<([^<>]*+)>")
_SENSE_NUMBER = re.compile(r"^\d+\.\s*")


class Entry(NamedTuple):
    """One way to say a word or phrase in the other language."""

    source: str
    target: str
    pos: str = ""
    weight: float = 1.0


def read_entries(path: PathLike, source: str, target: str, *, on_error: OnError = None) -> Iterator[Entry]:
    """The entries of a dictionary, its format chosen by its suffix: .index (dictd), .tei or .xml, .u8 (CC-CEDICT),
    .jsonl (Wiktionary), anything else one pair per line."""
    kind = format_suffix(path)
    if kind == ".index":
        return read_dictd(path, on_error=on_error)
    if kind in (".tei", ".xml"):
        return read_tei(path, on_error=on_error)
    if kind == ".u8":
        return read_cedict(path, on_error=on_error)
    if kind == ".jsonl":
        return read_wiktionary(path, source, target, on_error=on_error)
    return read_pairs(path, on_error=on_error)


def read_pairs(path: PathLike, *, on_error: OnError = None) -> Iterator[Entry]:
    """One pair per line: with tabs, `source, target` and then perhaps a part of speech, a weight or both (a glossary);
    without, two words with a blank between them (MUSE)."""
    return parse_lines(path, lambda _, line: _pair(line), on_error=on_error)


def read_cedict(path: PathLike, *, on_error: OnError = None) -> Iterator[Entry]:
    """CC-CEDICT: `Traditional Simplified [pin1 yin1] /gloss/gloss/`, an entry for each writing and each gloss.

    `to eat` is the verb `eat`; cross-references and measure words are left out.
    """
    for found in parse_lines(path, lambda _, line: _cedict(line), on_error=on_error):
        yield from found


def read_dictd(path: PathLike, *, on_error: OnError = None) -> Iterator[Entry]:
    """A FreeDict dictionary for dictd, given its `.index` file; the `.dict` or `.dict.dz` must lie beside it."""
    index = Path(path)
    data = _dict_beside(index)
    seen: set[tuple[int, int]] = set()

    def parse(_: int, line: str) -> str:
        columns = line.split("\t")
        if len(columns) < 3:
            raise InputError(f"{len(columns)} columns where 3 are expected: headword, offset, length")
        start, length = _base64(columns[1]), _base64(columns[2])
        if start + length > len(data):
            raise InputError(
                f"an article at byte {start:,} of {len(data):,}; index and dictionary don't belong together"
            )
        # Several headwords may share an article; those with 00 are what the dictionary says of itself.
        if columns[0].startswith("00") or (start, length) in seen:
            return ""
        seen.add((start, length))
        return decode_utf8(data[start : start + length], start)

    for article in parse_lines(index, parse, on_error=on_error):
        yield from _article(article)


def read_tei(path: PathLike, *, on_error: OnError = None) -> Iterator[Entry]:
    """A FreeDict dictionary in TEI XML."""
    entries = enumerate(read_elements(path, ("entry",)), 1)
    for found in parse_numbered_items(entries, lambda _, entry: _tei(entry), f"{path}, entry", on_error):
        yield from found


def read_wiktionary(
    path: PathLike, source: str, target: str, *, edition: str = "en", on_error: OnError = None
) -> Iterator[Entry]:
    """Wiktionary as extracted by wiktextract (kaikki.org), a word per line: translations between the two languages
    in either direction, and glosses where `target` is the language that edition is written in."""
    for found in parse_lines(
        path, lambda _, row: _wiktionary(jsonl.parse_json_object(row), source, target, edition), on_error=on_error
    ):
        yield from found


def _pair(line: str) -> Entry:
    tabbed = "\t" in line
    columns = [column.strip() for column in (line.split("\t") if tabbed else line.split(None, 1))]
    if len(columns) < 2 or not columns[0] or not columns[1]:
        raise InputError(f"a pair needs two texts with a tab or a blank between them; the line is {line[:60]!r}")
    pos, weight = "", 1.0
    for extra in columns[2:4]:
        try:
            weight = float(extra)
        except ValueError:
            pos = extra
    if not 0.0 <= weight < float("inf"):
        raise InputError(f"the weight of {columns[0]!r} is {weight}; give a number from 0")
    return Entry(columns[0], columns[1], pos, weight)


def _cedict(line: str) -> list[Entry]:
    if line.startswith("#"):
        return []
    match = _CEDICT.fullmatch(line)
    if match is None:
        raise InputError(f"not an entry 'Trad Simp [pin1 yin1] /gloss/': {line[:60]!r}; give CC-CEDICT's text file")
    traditional, simplified, _, glosses = match.groups()
    found = []
    for gloss in glosses.replace(";", "/").split("/"):
        if _CEDICT_REFERENCE.match(gloss.strip()):
            continue
        text = _CEDICT_LABEL.sub("", _plain(_CEDICT_HAN.sub(" ", gloss)))
        verb = text.startswith("to ")
        if text := text.removeprefix("to "):
            found += [Entry(word, text, "verb" if verb else "") for word in dict.fromkeys((simplified, traditional))]
    return found


def _dict_beside(index: Path) -> bytes:
    base = index.name.removesuffix(".index")
    for name in (f"{base}.dict.dz", f"{base}.dict"):
        if (index.parent / name).exists():
            return read_bytes(index.parent / name, limit=_DICT_LIMIT)
    raise InputError(
        f"no {base}.dict.dz or {base}.dict beside it; put both files of the dictionary together", place=index
    )


def _base64(text: str) -> int:
    value = 0
    for char in text.strip():
        if char not in _BASE64:
            raise InputError(f"{text[:20]!r} is no number in dictd's base 64; give the .index file of a dictionary")
        value = value * 64 + _BASE64[char]
    return value


def _article(article: str) -> Iterator[Entry]:
    """The headword's line, then a line per sense; what is indented is an example, a synonym or a reference."""
    head, *senses = article.strip("\n").split("\n")
    source, pos = head.rstrip(), ""
    if source.endswith(">") and "<" in source:
        source, _, pos = source[:-1].rpartition("<")
    source = source.rstrip()
    if source.endswith("/") and "/" in source[:-1]:
        source = source[:-1].rpartition("/")[0]  # the pronunciation
    source, pos = source.strip(), pos.strip().lower()
    for sense in senses:
        if not source or sense[:1].isspace():
            continue
        for target, mark in _marked(_SENSE_NUMBER.sub("", sense)):
            yield Entry(source, target, pos or mark)


def _marked(sense: str) -> Iterator[tuple[str, str]]:
    """Each of a sense's translations and the mark behind it: `Bank <fem>, einzahlen <v, trans>`."""
    # A mark's own commas part nothing.
    kept = _MARK.sub(lambda found: re.sub(r"[,;]", " ", f"\0{found[1]}\0"), sense)
    for piece in re.split(r"[,;]", _plain(kept)):
        parts = piece.split("\0")  # text, mark, text, ...
        if target := " ".join(" ".join(parts[::2]).split()).strip(" ~"):
            yield target, " ".join(parts[1:2]).strip().lower()


def _tei(entry: Element) -> list[Entry]:
    sources = [
        get_element_text(orth) for form in _children(entry, "form") for orth in form.iter() if orth.tag == "orth"
    ]
    if not any(sources):
        raise InputError("no <orth> in a <form>; give a dictionary in FreeDict's TEI")
    pos = next(
        (get_element_text(p) for group in _children(entry, "gramGrp") for p in group.iter() if p.tag == "pos"), ""
    )
    targets = [_plain(get_element_text(quote)) for cit in _translations(entry) for quote in _children(cit, "quote")]
    return [Entry(source, target, pos) for source in sources if source for target in targets if target]


def _translations(element: Element) -> Iterator[Element]:
    """The <cit> elements that translate; not those inside another, which translate an example."""
    for child in element:
        if child.tag != "cit":
            yield from _translations(child)
        elif child.get("type") in ("trans", "translation"):
            yield child


def _children(element: Element, name: str) -> list[Element]:
    return [child for child in element if child.tag == name]


def _wiktionary(row: dict[str, Any], source: str, target: str, edition: str) -> list[Entry]:
    word, lang, pos = row.get("word"), row.get("lang_code"), str(row.get("pos") or "")
    if not isinstance(word, str) or not word:
        if "redirect" in row:
            return []
        raise InputError("no 'word' in the row; give a JSON Lines file made by wiktextract")
    senses = [sense for sense in _list(row, "senses") if isinstance(sense, dict)]
    translations = _list(row, "translations") + [item for sense in senses for item in _list(sense, "translations")]
    found = []
    for item in translations:
        code = (item.get("lang_code") or item.get("code")) if isinstance(item, dict) else None
        other = item.get("word") if code else None
        if isinstance(other, str) and other.strip():
            if (lang, code) == (source, target):
                found.append(Entry(word, other.strip(), pos))
            elif (lang, code) == (target, source):
                found.append(Entry(other.strip(), word, pos))
    if lang == source and target == edition:
        for sense in senses:
            if "form_of" not in sense and "alt_of" not in sense:
                found += [Entry(word, text, pos) for text in _glosses(sense)]
    return list(dict.fromkeys(found))


def _glosses(sense: dict[str, Any]) -> list[str]:
    glosses = [gloss for gloss in _list(sense, "glosses") if isinstance(gloss, str)]
    texts = [_plain(text) for text in re.split(r"[,;]", _plain(glosses[-1]))] if glosses else []
    # A gloss of many words explains; it doesn't translate.
    return [text.removeprefix("to ").rstrip(".") for text in texts if text and len(text.split()) <= 4]


def _list(row: dict[str, Any], key: str) -> list[Any]:
    value = row.get(key)
    return value if isinstance(value, list) else []


def _plain(text: str) -> str:
    """The text without its remarks in brackets, nested ones too, and without double blanks."""
    for _ in range(8):
        if (shorter := _REMARK.sub(" ", text)) == text:
            break
        text = shorter
    return " ".join(text.split())
