"""Measures language labels and titles on a folder in which files of nine public sources are mixed.

    PARAGLOSS_DATA=... python benchmarks/mixed_folder.py [--cache FOLDER] [--per-language 12]

Four manuals come from Debian packages (fetched with `apt-get download` into the cache folder), the other sources are
files written around texts under PARAGLOSS_DATA: Markdown pages, scans' text, notes, mail and subtitles. All files lie
in one folder under neutral names. Thresholds were chosen on FLORES and Tatoeba; Tatoeba's files are reported apart.
A page of a translated manual counts as English if most of its lines stand in the English edition, and is left out if
between a fifth and four fifths do.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import lzma
import os
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from email import policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any, NamedTuple

from paragloss.analysis import analyzer
from paragloss.collection.document_languages import assign_languages
from paragloss.formats.documents import read_documents
from paragloss.formats.html import parse_html
from paragloss.languages import normalise
from paragloss.types import Document

DATA = Path(os.environ.get("PARAGLOSS_DATA", "~/.cache/paragloss")).expanduser()
#: The English package of each manual, and the languages of its translations.
MANUALS = {
    "debian-faq": ["de", "fr", "it", "ja", "nl", "ru", "zh-cn"],
    "developers-reference": ["de", "fr", "ja", "ru"],
    "aptitude-doc": ["en", "es", "fr", "it", "ja", "nl", "ru"],
    "maint-guide": ["de", "es", "ja", "ru", "zh-cn"],
}
CHOSEN_ON = {"tatoeba subtitles"}
LONG_DOCUMENT_WORDS = 50
REQUIRED = {"long": 0.99, "short": 0.97}


class ExpectedFile(NamedTuple):
    """A file to write: the source it comes from, its suffix and content, and what should be read from it."""

    source: str
    suffix: str
    content: bytes
    lang: str
    title: str = ""  # empty where no title is expected


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/paragloss/mixed_folder").expanduser())
    parser.add_argument("--per-language", type=int, default=12, help="files of each source and language")
    options = parser.parse_args()
    expected_files = [*make_manual_pages(options.cache, options.per_language), *make_data_files(options.per_language)]
    with tempfile.TemporaryDirectory() as folder:
        expected_by_name = write_files(Path(folder), expected_files)
        documents = assign_languages([*read_documents(folder, on_error=print)])
    report(documents, expected_by_name)


def make_manual_pages(cache: Path, per_language: int) -> Iterator[ExpectedFile]:
    """Yield pages of the Debian manuals in all their languages."""
    for manual, langs in MANUALS.items():
        editions = {lang: unpack_package(cache, f"{manual}-{lang}") for lang in langs}
        if "en" not in editions:
            editions["en"] = unpack_package(cache, manual)
        english_lines = {line for page in editions["en"] for line in read_lines(page)}
        for lang, pages in editions.items():
            step = max(1, len(pages) // per_language)
            for page in pages[::step][:per_language]:
                page_lang = find_page_language(page, normalise(lang), english_lines)
                if page_lang:
                    title = re.search(r"<title>(.*?)</title>", page, re.DOTALL | re.IGNORECASE)
                    expected_title = " ".join(html.unescape(title[1]).split()) if title else ""
                    yield ExpectedFile(manual, ".html", page.encode(), page_lang, expected_title)


def unpack_package(cache: Path, package: str) -> list[str]:
    """Fetch and unpack a Debian package if the cache lacks it, and return its HTML pages of more than a few words."""
    target = cache / package
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", "-qq", package], cwd=cache, check=True)
        (archive,) = cache.glob(f"{package}_*.deb")
        subprocess.run(["dpkg-deb", "-x", str(archive), str(target)], check=True)
    pages = sorted(path for path in target.rglob("*.html") if not path.is_symlink())
    return [page.read_text("utf-8", errors="replace") for page in pages]


def read_lines(page: str) -> list[str]:
    """Return the longer lines of a page's body as it is indexed, without its table of contents."""
    return [line for line in parse_html(page, id="").text.split("\n") if len(line) > 20]


def find_page_language(page: str, lang: str, english_lines: set[str]) -> str:
    """Return the language of most of a manual's page by comparison with the English edition; "" for mixed pages."""
    lines = read_lines(page)
    if not lines:
        return ""
    size = sum(map(len, lines))
    english_share = sum(len(line) for line in lines if line in english_lines) / size
    if english_share >= 0.8:
        return "en"
    return lang if english_share <= 0.2 else ""


def make_data_files(per_language: int) -> Iterator[ExpectedFile]:
    """Yield files written around texts of the data folder; titles are those a reader would give."""
    for path in sorted((DATA / "mdn").glob("*.jsonl.gz")):
        for row in read_rows(path, per_language):
            content = f"---\nlayout: page\n---\n# {row['title']}\n\n{row['text']}\n"
            yield ExpectedFile("mdn markdown", ".md", content.encode(), row["lang"], " ".join(row["title"].split()))
    for path in sorted((DATA / "lohelp").glob("*.jsonl.gz")):
        for row in read_rows(path, per_language):
            page = f"<html lang='en'><title>scan_0001</title><body><h1>{html.escape(row['title'])}</h1>"
            body = "".join(f"<p>{html.escape(line)}</p>" for line in row["text"].split("\n"))
            title = " ".join(row["title"].split())
            yield ExpectedFile("lohelp scans", ".html", f"{page}{body}</body></html>".encode(), row["lang"], title)
    for path in sorted((DATA / "ddtp").glob("*.jsonl.gz")):
        for row in read_rows(path, per_language):
            yield ExpectedFile("ddtp notes", ".txt", f"{row['text']}\n".encode(), row["lang"])
    yield from make_news_mail(per_language)
    for path in sorted((DATA / "tatoeba").glob("en-*.tsv.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            sentences = [line.rstrip("\n").split("\t")[1] for line in lines][: 8 * per_language]
        lang = path.name.removeprefix("en-").removesuffix(".tsv.gz")
        for start in range(0, len(sentences), 8):
            subtitles = make_subtitles(sentences[start : start + 8])
            yield ExpectedFile("tatoeba subtitles", ".srt", subtitles.encode(), lang)


def read_rows(path: Path, count: int) -> list[dict[str, Any]]:
    """Read rows spread over the beginning of a file, with the language that the file's name says."""
    lang = path.name.removesuffix(".jsonl.gz")
    rows = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % 17 == 5:
                rows.append({**json.loads(line), "lang": lang})
            if len(rows) == count:
                break
    return rows


def make_news_mail(per_language: int) -> Iterator[ExpectedFile]:
    """Yield mail messages with two news sentences; every second one has an empty subject."""
    with lzma.open(DATA / "open" / "text" / "ntrex.jsonl.xz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(next(lines))["texts"] for _ in range(3 * per_language)]
    unfolded = policy.default.clone(max_line_length=None)  # folding loses spaces between encoded words
    for number in range(0, len(rows), 3):
        for lang in rows[number]:
            subject, first, second = (rows[number + i].get(lang, "") for i in range(3))
            message = EmailMessage()
            message["From"], message["To"] = "anna@example.org", "ben@example.org"
            message["Subject"] = "" if number % 2 else " ".join(subject.split())
            message.set_content(f"{first}\n\n{second}\n")
            title = "" if number % 2 else " ".join(subject.split())
            yield ExpectedFile("ntrex mail", ".eml", message.as_bytes(policy=unfolded), lang, title)


def make_subtitles(sentences: Iterable[str]) -> str:
    blocks = (
        f"{number}\n00:00:{number:02},000 --> 00:00:{number + 1:02},000\n{sentence}\n"
        for number, sentence in enumerate(sentences, 1)
    )
    return "\n".join(blocks)


def write_files(folder: Path, expected_files: Iterable[ExpectedFile]) -> dict[str, ExpectedFile]:
    """Write files under neutral names, and return what is expected of each."""
    expected_by_name = {}
    for number, expected in enumerate(expected_files):
        name = f"scan_{number:05}{expected.suffix}"
        (folder / name).write_bytes(expected.content)
        expected_by_name[name] = expected
    return expected_by_name


def report(documents: Iterable[Document], expected_by_name: dict[str, ExpectedFile]) -> None:
    """Print the share of right labels and titles for each source, for long and short documents."""
    right_labels: dict[tuple[str, str], list[bool]] = defaultdict(list)
    right_titles: dict[str, list[bool]] = defaultdict(list)
    errors: dict[tuple[str, str, str], int] = defaultdict(int)
    for document in documents:
        expected = expected_by_name[document.id]
        lang = normalise(expected.lang)
        word_count = len(analyzer(lang, stem=False, stop=False).terms(document.text))
        length = "long" if word_count > LONG_DOCUMENT_WORDS else "short"
        right_labels[expected.source, length].append(document.lang == lang)
        if document.lang != lang:
            errors[expected.source, lang, document.lang] += 1
        if expected.title:
            right_titles[expected.source].append(document.title == expected.title)
    print("| source | long | right | short | right | titles | right |\n|---|---|---|---|---|---|---|")
    for source in dict.fromkeys(expected.source for expected in expected_by_name.values()):
        outcomes = [right_labels[source, "long"], right_labels[source, "short"], right_titles[source]]
        print(f"| {source} | " + " | ".join(f"{len(o)} | {format_share(o)}" for o in outcomes) + " |")
    for length, required in REQUIRED.items():
        outcomes_left_out = [
            outcome
            for (source, kind), outcomes in right_labels.items()
            if kind == length and source not in CHOSEN_ON
            for outcome in outcomes
        ]
        print(f"{length}: {format_share(outcomes_left_out)} of {len(outcomes_left_out)}, required {required}")
    langs = {normalise(expected.lang) for expected in expected_by_name.values()}
    print(f"{len(langs)} languages; commonest errors (source, expected, label):")
    for error, count in sorted(errors.items(), key=lambda item: -item[1])[:15]:
        print("  ", *error, count)


def format_share(outcomes: list[bool]) -> str:
    return f"{sum(outcomes) / len(outcomes):.4f}" if outcomes else "-"


if __name__ == "__main__":
    main()
