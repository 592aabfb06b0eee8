"""Convert published files to the form that recipes read.

A converter reads the raw files in one folder and writes files for some languages into another. Pages become gzipped
JSON Lines of one language with concept, lang, title and text; sentence and word pairs become gzipped tab-separated
lines; sentences in many languages become JSON Lines with `texts` by language, compressed with xz.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

from paragloss.atomic_files import replace_file
from paragloss.errors import InputError
from paragloss.formats.html import read_html
from paragloss.formats.markdown import read_markdown
from paragloss.lab import judgments

#: converter(raw folder, target folder, languages): write the files of these languages.
Converter = Callable[[Path, Path, Sequence[str]], None]
MAX_TEXT_CHARACTERS = 6_000
#: A help page counts as translated if at most this share of its lines equals a line of the English page.
MAX_ENGLISH_SHARE = 0.2
#: Tatoeba's codes of languages.
TATOEBA_CODES = {
    "ar": "ara", "da": "dan", "de": "deu", "en": "eng", "es": "spa", "fi": "fin", "fr": "fra", "hi": "hin",
    "it": "ita", "nl": "nld", "ru": "rus", "vi": "vie", "zh": "cmn",
}  # fmt: skip
#: The ending of NTREX's files.
NTREX_CODES = {
    "ar": "arb", "da": "dan", "de": "deu", "es": "spa", "fr": "fra", "hi": "hin", "it": "ita", "ru": "rus",
    "vi": "vie", "zh": "zho-CN",
}  # fmt: skip
#: MDN's folders.
MDN_FOLDERS = {"en": "en-us", "pt": "pt-br", "zh": "zh-cn"}
#: The codes of LibreOffice's help where they differ from ours.
LIBREOFFICE_CODES = {"en": "en-us", "zh": "zh-cn"}
LIBREOFFICE_FOLDERS = {"en": "en-US", "zh": "zh-CN"}
#: The codes of Debian's package descriptions where they differ from ours.
DEBIAN_CODES = {"pt-br": "pt_BR", "zh": "zh_CN"}
#: How compressed text files are opened, by the end of their names.
_OPENERS: dict[str, Callable[..., TextIO]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_MDN_LINK = re.compile(r"\(/en-US/docs/([^)\s#]+)")


class Page(NamedTuple):
    """One page in one language; pages of the same concept are translations of each other."""

    concept: str
    lang: str
    title: str
    text: str


def convert_package_descriptions(raw: Path, target: Path, langs: Sequence[str]) -> None:
    """Convert Debian's files `Translation-XX.bz2` or `.xz`; the concept is package and description."""
    for lang in langs:
        path = find_file(raw, f"Translation-{DEBIAN_CODES.get(lang, lang)}.*")
        write_pages(target / f"{lang}.jsonl.gz", read_package_descriptions(path, lang))


def read_package_descriptions(path: Path, lang: str) -> Iterator[Page]:
    """Read the descriptions of one language: the first line is the title, a line with a dot ends a paragraph."""
    with _OPENERS[path.suffix](path, "rt", encoding="utf-8") as file:
        for stanza in file.read().split("\n\n"):
            match = re.match(r"Package: (\S+)\nDescription-md5: (\w{8})\w*\nDescription-\w+: (.*)\n([\s\S]*)", stanza)
            if match:
                package, checksum, title, body = match.groups()
                lines = [line.removeprefix(" ") for line in body.splitlines()]
                text = "\n".join("" if line == "." else line for line in lines)
                yield Page(f"{package}:{checksum}", lang, title, text)


def convert_libreoffice_help(raw: Path, target: Path, langs: Sequence[str]) -> None:
    """Convert Debian's packages `libreoffice-help-XX_*.deb`, or folders of that name with their unpacked files.

    Pages that are mostly untranslated are left out.
    """
    english = {page.concept: page for page in read_libreoffice_help(raw, "en")}
    for lang in langs:
        pages = english.values() if lang == "en" else read_libreoffice_help(raw, lang)
        write_pages(target / f"{lang}.jsonl.gz", (page for page in pages if is_translated(page, english)))


def is_translated(page: Page, english: Mapping[str, Page]) -> bool:
    """Tell whether few lines of a page equal lines of its English version; English pages count as translated."""
    if page.lang == "en":
        return True
    english_page = english.get(page.concept)
    lines = page.text.splitlines()
    if english_page is None or not lines:
        return False
    english_lines = set(english_page.text.splitlines())
    return sum(line in english_lines for line in lines) <= MAX_ENGLISH_SHARE * len(lines)


def read_libreoffice_help(raw: Path, lang: str) -> Iterator[Page]:
    """Read the help pages of one language; the concept is the path of the page without its ending."""
    code = LIBREOFFICE_CODES.get(lang, lang)
    unpacked = raw / f"libreoffice-help-{code}"
    if not unpacked.is_dir():
        unpack_debian_package(find_file(raw, f"libreoffice-help-{code}_*.deb"), unpacked)
    texts = unpacked / "usr" / "share" / "libreoffice" / "help" / LIBREOFFICE_FOLDERS.get(lang, lang) / "text"
    for path in sorted(texts.rglob("*.html")):
        document = read_html(path)
        if document.text:
            concept = path.relative_to(texts).with_suffix("").as_posix()
            yield Page(concept, lang, document.title, document.text[:MAX_TEXT_CHARACTERS])


def unpack_debian_package(path: Path, target: Path) -> None:
    """Unpack the files of a Debian package: an `ar` archive with a member `data.tar.xz`."""
    data = path.read_bytes()
    position = len(b"!<arch>\n")
    while position < len(data):
        header = data[position : position + 60]
        name, size = header[:16].decode().strip().rstrip("/"), int(header[48:58])
        start = position + 60
        if name.startswith("data.tar"):
            with tarfile.open(fileobj=io.BytesIO(data[start : start + size])) as archive:
                archive.extractall(target, filter="data")
            return
        position = start + size + size % 2
    raise InputError(f"{path} is no Debian package: it has no member data.tar")


def convert_mdn(raw: Path, target: Path, langs: Sequence[str]) -> None:
    """Convert clones of mdn/content and mdn/translated-content (folders `content` and `translated-content`).

    The concept is the page's path in lower case. `mutual_links.tsv.gz` gets the English pages that link to each other.
    """
    for lang in langs:
        write_pages(target / f"{lang}.jsonl.gz", read_mdn(raw, lang))
    write_lines(target / "mutual_links.tsv.gz", find_mutual_links(find_folder(raw, "content/files/en-us")))


def read_mdn(raw: Path, lang: str) -> Iterator[Page]:
    """Read the pages of one language."""
    repository = "content" if lang == "en" else "translated-content"
    folder = find_folder(raw, f"{repository}/files/{MDN_FOLDERS.get(lang, lang)}")
    for path in sorted(folder.rglob("index.md")):
        document = read_markdown(path)
        if document.text:
            concept = path.parent.relative_to(folder).as_posix().lower()
            yield Page(concept, lang, document.title, document.text[:MAX_TEXT_CHARACTERS])


def find_mutual_links(folder: Path) -> Iterator[str]:
    """Find pairs of pages that link to each other, as lines of two concepts."""
    links = (
        (path.parent.relative_to(folder).as_posix().lower(), slug.lower())
        for path in sorted(folder.rglob("index.md"))
        for slug in _MDN_LINK.findall(path.read_text(encoding="utf-8"))
    )
    for concept, linked in sorted(judgments.find_mutual_links(links).items()):
        yield from (f"{concept}\t{other}" for other in sorted(linked) if concept < other)


def copy_mdn_markdown(raw: Path, target: Path, langs: Sequence[str]) -> None:
    """Copy the Markdown pages of some languages from a clone of mdn/translated-content."""
    for lang in langs:
        name = MDN_FOLDERS.get(lang, lang)
        shutil.copytree(find_folder(raw, f"translated-content/files/{name}"), target / "files" / name)


def convert_tatoeba(raw: Path, target: Path, langs: Sequence[str]) -> None:
    """Convert Tatoeba's sentences and links by language: `XXX_sentences.tsv.bz2` and `XXX-eng_links.tsv.bz2`."""
    english = read_tatoeba_sentences(find_file(raw, "eng_sentences.tsv*"))
    for lang in langs:
        code = TATOEBA_CODES[lang]
        sentences = read_tatoeba_sentences(find_file(raw, f"{code}_sentences.tsv*"))
        pairs = (line.split("\t") for line in read_lines(find_file(raw, f"{code}-eng_links.tsv*")))
        lines = (
            f"{english[english_id]}\t{sentences[number]}"
            for number, english_id in pairs
            if number in sentences and english_id in english
        )
        write_lines(target / f"en-{lang}.tsv.gz", lines)


def read_tatoeba_sentences(path: Path) -> dict[str, str]:
    """Read sentences by their number."""
    rows = (line.split("\t") for line in read_lines(path))
    return {number: sentence for number, _, sentence in rows}


def convert_muse(raw: Path, target: Path, langs: Sequence[str]) -> None:
    """Convert MUSE's word pairs `en-XX.txt` in both directions to tab-separated lines."""
    for lang in langs:
        for pair in (f"en-{lang}", f"{lang}-en"):
            lines = read_lines(find_file(raw, f"{pair}.txt"))
            write_lines(target / f"{pair}.tsv.gz", ("\t".join(line.split(maxsplit=1)) for line in lines))


def convert_ntrex(raw: Path, target: Path, langs: Sequence[str]) -> None:
    """Convert a clone of MicrosoftTranslator/NTREX: one file of sentences for each language."""
    folder = find_folder(raw, "NTREX/NTREX-128")
    paths = {"en": folder / "newstest2019-src.eng.txt"}
    paths |= {lang: folder / f"newstest2019-ref.{NTREX_CODES[lang]}.txt" for lang in langs}
    columns = {lang: list(read_lines(path)) for lang, path in paths.items()}
    rows = ({lang: sentences[number] for lang, sentences in columns.items()} for number in range(len(columns["en"])))
    write_sentences(target / "ntrex.jsonl.xz", "ntrex", rows)


def convert_tico19(raw: Path, target: Path, langs: Sequence[str]) -> None:
    """Convert TICO-19's archive `tico19-testset.zip`: tab-separated files of each language with English."""
    with zipfile.ZipFile(find_file(raw, "tico19-testset.zip")) as archive:
        texts: dict[str, dict[str, str]] = {}
        for name in sorted(archive.namelist()):
            match = re.fullmatch(r".*/(?:dev|test)\.en-([a-z]+)\.tsv", name)
            if match and match[1] in langs:
                with archive.open(name) as file:
                    add_tico19_rows(texts, match[1], io.TextIOWrapper(file, encoding="utf-8"))
    if not texts:
        raise InputError(f"tico19-testset.zip has no files dev.en-XX.tsv or test.en-XX.tsv of {', '.join(langs)}")
    write_sentences(target / "tico19.jsonl.xz", "tico19", texts.values())


def add_tico19_rows(texts: dict[str, dict[str, str]], lang: str, file: TextIO) -> None:
    """Add the sentences of one file to `texts`, by the id of the sentence."""
    for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
        sentence = texts.setdefault(row["stringID"], {"en": row["sourceString"]})
        sentence[lang] = row["targetString"]


def find_file(folder: Path, pattern: str) -> Path:
    """Return the first file in a folder, also below it, whose name matches a pattern.

    :raises InputError: if there is none
    """
    for path in sorted(folder.rglob(pattern)):
        if path.is_file():
            return path
    raise InputError(f"{folder} has no file {pattern}")


def find_folder(folder: Path, relative: str) -> Path:
    """Return `folder/relative`; the first part may also be the folder itself.

    :raises InputError: if there is none
    """
    for path in (folder / relative, folder / relative.partition("/")[2]):
        if path.is_dir():
            return path
    raise InputError(f"{folder} has no folder {relative}")


def read_lines(path: Path) -> Iterator[str]:
    """Read the lines of a text file, also of a compressed one."""
    with _OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n")


def write_pages(path: Path, pages: Iterable[Page]) -> None:
    """Write pages as gzipped JSON Lines."""
    write_lines(path, (json.dumps(page._asdict(), ensure_ascii=False) for page in pages))


def write_sentences(path: Path, name: str, rows: Iterable[Mapping[str, str]]) -> None:
    """Write sentences in several languages as compressed JSON Lines."""
    sentences = ({"concept": f"{name}:{number:05}", "texts": row} for number, row in enumerate(rows))
    write_lines(path, (json.dumps(sentence, ensure_ascii=False) for sentence in sentences))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a compressed text file; its name appears when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_file(path) as temporary, _OPENERS[path.suffix](temporary, "wt", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
