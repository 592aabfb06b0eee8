"""Build the collections that the scoring model is fitted and validated on.

    python studies/search_collections.py --fetch SOURCES     downloads Debian's manuals, names repositories to clone
    python studies/search_collections.py SOURCES INTO        writes INTO/NAME/{documents,queries}.jsonl

SOURCES/debian holds unpacked Debian packages, SOURCES/github clones of the repositories in GITHUB_REPOSITORIES; other
collections are read from PARAGLOSS_DATA. Each collection has documents in several languages that are
translations of each other, and queries of several kinds whose right answers follow from the alignment:

    title      the English title of a page finds the page in another language
    own        the page's title in its own language finds it
    words      five neighbouring content words of the English text find the page in another language
    sentence   an English sentence of the text finds the page in another language
    question   a question written for this project finds the passage of news that answers it (studies/asked.tsv)

Concepts are drawn with a fixed seed. A page counts as translated when its text differs from the English one. The
default translation model has not seen the collections in UNSEEN; it has been trained on texts of the others.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import os
import random
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from paragloss.analysis import analyzer
from paragloss.formats.html import read_html

MAX_CONCEPTS = 80
#: Collections of short documents can have more of them; LilyPond is the manual we look at most closely.
MAX_SHORT_CONCEPTS = {"tldr": 500, "debian": 500, "stories": 400, "lilypond": 140, "news": 140}
MAX_TEXT_CHARACTERS = 6_000
MIN_TEXT_CHARACTERS = 40
QUERIES_PER_KIND = 60  # for each collection and language
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
GITHUB_REPOSITORIES = {
    "fastapi": "https://github.com/fastapi/fastapi",
    "opentelemetry.io": "https://github.com/open-telemetry/opentelemetry.io",
    "tldr": "https://github.com/tldr-pages/tldr",
}
DEBIAN_PACKAGES = [
    *(f"lilypond-doc-html{suffix}" for suffix in ("", "-de", "-it", "-ja", "-hu", "-fr", "-es")),
    *(f"aptitude-doc-{lang}" for lang in ["en", "cs", "es", "fr", "it", "ja", "nl", "ru"]),
    *(f"debian-reference-{lang}" for lang in ["en", "de", "es", "it", "ja", "pt"]),
    *(f"gimp-help-{lang}" for lang in ["en", "de", "hu", "ru", "nl", "el", "fi", "ko"]),
    *(f"manpages{suffix}" for suffix in ("", "-dev", "-de", "-fr", "-es", "-pl", "-ja", "-ru", "-zh", "-tr", "-uk")),
    *("debian-handbook", "installation-guide-amd64", "freedombox-doc-en", "freedombox-doc-es"),
    *("scilab-doc", "scilab-doc-fr", "scilab-doc-ja"),
]
#: Collections that no shipped model has been trained on.
UNSEEN = [
    "lilypond",
    "gimp",
    "handbook",
    "installation",
    "aptitude",
    "reference",
    "freedombox",
    "manpages",
    "fastapi",
    "opentelemetry",
    "tldr",
    "debian",
]


class Page(NamedTuple):
    """One language's version of a concept."""

    concept: str
    lang: str
    title: str
    text: str


def main() -> None:
    """Read the command line and fetch the sources or write the collections."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path)
    parser.add_argument("into", type=Path, nargs="?")
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--only", nargs="*", default=list(READERS))
    arguments = parser.parse_args()
    if arguments.fetch:
        fetch_packages(arguments.sources / "debian")
        print("clone into", arguments.sources / "github", *GITHUB_REPOSITORIES.values(), sep="\n  ")
        return
    for name in arguments.only:
        questions = read_questions() if name == "news" else {}
        limit = MAX_SHORT_CONCEPTS.get(name, MAX_CONCEPTS)
        pages = select_pages(READERS[name](arguments.sources), limit, required=questions.keys())
        queries = make_queries(pages, random.Random(name)) + ask_questions(pages, questions)
        write_collection(arguments.into / name, pages, queries)
        languages = sorted({page.lang for page in pages})
        print(f"{name}: {len(pages)} documents, {len(queries)} queries, {' '.join(languages)}", flush=True)


def fetch_packages(folder: Path) -> None:
    """Download Debian's packages and unpack them into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", *DEBIAN_PACKAGES], cwd=folder, check=True)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True)


def select_pages(pages: Iterator[Page], limit: int, required: Collection[str] = ()) -> list[Page]:
    """Draw concepts that have an English page and translations; drop untranslated and empty pages.

    Concepts are drawn from the `3 * limit` with most translations. The required ones are always among them.
    """
    by_concept: dict[str, dict[str, Page]] = defaultdict(dict)
    for page in pages:
        if len(page.text) >= MIN_TEXT_CHARACTERS:
            by_concept[page.concept].setdefault(page.lang, page)
    selected = []
    for concept in sorted(by_concept):
        versions = by_concept[concept]
        english = versions.get("en")
        if english is None:
            continue
        translated = [page for page in versions.values() if page.lang == "en" or page.text[:300] != english.text[:300]]
        if len(translated) > 1:
            selected.append(translated)
    selected.sort(key=len, reverse=True)
    most_translated = selected[: 3 * limit]
    drawn = random.Random(0).sample(most_translated, min(limit, len(most_translated)))
    drawn += [versions for versions in selected if versions[0].concept in required and versions not in drawn]
    return [page._replace(text=page.text[:MAX_TEXT_CHARACTERS]) for versions in drawn for page in versions]


def make_queries(pages: list[Page], rng: random.Random) -> list[dict]:
    """Write queries of every kind for which the pages have what it takes."""
    english = {page.concept: page for page in pages if page.lang == "en"}
    by_language: dict[str, list[Page]] = defaultdict(list)
    for page in pages:
        by_language[page.lang].append(page)
    queries = []
    for lang, translated in sorted(by_language.items()):
        if lang == "en":
            continue
        for kind, write in QUERY_WRITERS.items():
            rows = []
            for page in rng.sample(translated, len(translated)):
                text = write(page, english[page.concept], rng)
                if text and len(rows) < QUERIES_PER_KIND:
                    source = page.lang if kind == "own" else "en"
                    rows.append({"kind": kind, "text": text, "lang": source, "to": lang, "concept": page.concept})
            queries += rows
    return queries


def read_questions() -> dict[str, str]:
    """Read the questions written for passages of news: concept -> question."""
    lines = (Path(__file__).parent / "asked.tsv").read_text("utf-8").splitlines()
    return {f"ntrex{number}": question for _, number, question in (line.split("\t") for line in lines)}


def ask_questions(pages: list[Page], questions: dict[str, str]) -> list[dict]:
    """Ask each question of the pages of its concept in every other language."""
    return [
        {"kind": "question", "text": questions[page.concept], "lang": "en", "to": page.lang, "concept": page.concept}
        for page in pages
        if page.lang != "en" and page.concept in questions
    ]


def ask_title(page: Page, english: Page, rng: random.Random) -> str:
    """Return the English title without manual name and numbering, where there is one."""
    return clean_title(english.title) if page.title and english.title else ""


def ask_own_title(page: Page, english: Page, rng: random.Random) -> str:
    """Return the page's own title."""
    return clean_title(page.title)


def ask_words(page: Page, english: Page, rng: random.Random) -> str:
    """Return five neighbouring content words of the English text."""
    sentence = draw_sentence(english.text, rng)
    spans = analyzer("en").spans(sentence)
    if len(spans) < 5:
        return ""
    first = rng.randrange(len(spans) - 4)
    return " ".join(sentence[span.start : span.end] for span in spans[first : first + 5])


def ask_sentence(page: Page, english: Page, rng: random.Random) -> str:
    """Return a sentence of the English text."""
    return draw_sentence(english.text, rng)


def draw_sentence(text: str, rng: random.Random) -> str:
    """Return a random sentence of 6 to 40 words, or nothing."""
    sentences = [part.strip() for line in text.split("\n") for part in SENTENCE_END.split(line)]
    sentences = [sentence for sentence in sentences if 6 <= len(sentence.split()) <= 40]
    return rng.choice(sentences) if sentences else ""


QUERY_WRITERS: dict[str, Callable[[Page, Page, random.Random], str]] = {
    "title": ask_title,
    "own": ask_own_title,
    "words": ask_words,
    "sentence": ask_sentence,
}


def clean_title(title: str) -> str:
    """Remove a manual's name before a colon, and numbering: "Manual: 3.1 Ties" becomes "Ties"."""
    title = re.sub(r"^(LilyPond|Debian|Chapter|Appendix|Kapitel|第)[^:：]*[:：]\s*", "", title)
    return re.sub(r"^(Chapter |Appendix |Kapitel )?[\dA-Z]{1,2}(\.\d+)*\.?\s+", "", title).strip()


def write_collection(folder: Path, pages: list[Page], queries: list[dict]) -> None:
    """Write documents with the id CONCEPT/LANG, and queries."""
    folder.mkdir(parents=True, exist_ok=True)
    documents = [
        {"id": f"{page.concept}/{page.lang}", "lang": page.lang, "title": page.title, "text": page.text}
        for page in pages
    ]
    for name, rows in (("documents", documents), ("queries", queries)):
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def read_html_pages(files: Iterator[tuple[str, str, Path]]) -> Iterator[Page]:
    """Read (concept, language, file) triples of HTML pages."""
    for concept, lang, path in files:
        page = read_html(path)
        yield Page(concept, lang, page.title, page.text)


def read_folders(pattern: str, languages: dict[str, str]) -> Callable[[Path], Iterator[Page]]:
    """Return a reader of manuals with a folder for each language: the pattern has LANG where its name stands."""

    def read(sources: Path) -> Iterator[Page]:
        files = (
            (path.stem, lang, path)
            for lang, folder in languages.items()
            for path in sorted((sources / "debian").glob(pattern.replace("LANG", folder)))
        )
        return read_html_pages(files)

    return read


def read_suffixes(folders: list[str], languages: str) -> Callable[[Path], Iterator[Page]]:
    """Return a reader of manuals whose files end in .LANG.html, and in .html or .en.html for English."""

    def read(sources: Path) -> Iterator[Page]:
        files = []
        for folder in folders:
            for path in sorted((sources / "debian" / folder).glob("*.html")):
                name, _, suffix = path.stem.partition(".")
                lang = suffix or "en"
                if lang in languages.split():
                    files.append((f"{path.parent.name}-{name}", lang, path))
        return read_html_pages(iter(files))

    return read


def read_manpages(sources: Path) -> Iterator[Page]:
    """Read manual pages: the line under NAME is the title, the rest without macros the text."""
    folder = sources / "debian/usr/share/man"
    folders = {"en": "", "zh": "zh_CN"} | {lang: lang for lang in ["de", "fr", "es", "pl", "ja", "ru", "tr", "uk"]}
    for lang, name in folders.items():
        for path in sorted((folder / name).glob("man[1578]/*.gz")):
            text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
            lines = [re.sub(r"\\f.|\\[,/&]", "", line).replace("\\-", "-") for line in text.split("\n")]
            body = [re.sub(r'^\.[A-Z]+ ?"?', "", line) for line in lines if not line.startswith(('.\\"', ".TH", "'"))]
            title = next((line for line in body if " - " in line), "")
            yield Page(path.name, lang, title.partition(" - ")[2], "\n".join(body))


def read_fastapi(sources: Path) -> Iterator[Page]:
    """Read the Markdown pages of a web framework's documentation."""
    for path in sorted((sources / "github/fastapi/docs").glob("*/docs/**/*.md")):
        lang = path.relative_to(sources / "github/fastapi/docs").parts[0]
        if lang in ("en", "de", "ja", "ru", "uk", "tr", "zh", "hi", "ko"):
            yield read_markdown_page(str(path).rpartition("/docs/")[2], lang, path)


def read_opentelemetry(sources: Path) -> Iterator[Page]:
    """Read the Markdown pages of a monitoring project's site."""
    for path in sorted((sources / "github/opentelemetry.io/content").glob("*/docs/**/*.md")):
        lang = path.relative_to(sources / "github/opentelemetry.io/content").parts[0]
        yield read_markdown_page(str(path).rpartition("/docs/")[2], lang, path)


def read_markdown_page(concept: str, lang: str, path: Path) -> Page:
    """Take the title of the front matter or the first heading, and the text without marks of code."""
    text = path.read_text("utf-8")
    front = re.match(r"---\n(.*?)\n---\n", text, re.S)
    title = re.search(r"^title: *['\"]?(.*?)['\"]?$", front.group(1), re.M) if front else None
    heading = re.search(r"^# (.*?)( *\{.*)?$", text, re.M)
    body = text[front.end() :] if front else text
    body = re.sub(r"```.*?```", "", body, flags=re.S)
    body = re.sub(r"^(#+ .*?) *\{.*\}$|^///.*$|^\{\*.*$", r"\1", body, flags=re.M)
    return Page(concept, lang, (title or heading).group(1) if title or heading else "", body)


def read_tldr(sources: Path) -> Iterator[Page]:
    """Read short pages of commands: the description is title and first line, examples without their code the text."""
    folders = {"en": "pages", "zh": "pages.zh", "pt": "pages.pt_BR"}
    folders |= {lang: f"pages.{lang}" for lang in ["ko", "nl", "it", "id", "pl", "hi", "ta", "fa", "th", "ar"]}
    for lang, folder in folders.items():
        for path in sorted((sources / "github/tldr" / folder / "common").glob("*.md")):
            lines = [line for line in path.read_text("utf-8").split("\n") if line.startswith(("> ", "- "))]
            lines = [re.sub(r"<http\S*>\.?|^[>-] |`", "", line).strip(" :") for line in lines]
            yield Page(path.stem, lang, lines[0] if lines else "", "\n".join(lines[1:]))


def read_aligned_rows(name: str, languages: str) -> Callable[[Path], Iterator[Page]]:
    """Return a reader of a set of pages under PARAGLOSS_DATA with a file for each language."""

    def read(sources: Path) -> Iterator[Page]:
        for lang in languages.split():
            with gzip.open(Path(os.environ["PARAGLOSS_DATA"]) / name / f"{lang}.jsonl.gz", "rt", "utf-8") as lines:
                for line in lines:
                    row = json.loads(line)
                    yield Page(row["concept"], lang, row.get("title", ""), row["text"])

    return read


def read_open_texts(name: str, languages: str, *, sentences: int = 1) -> Callable[[Path], Iterator[Page]]:
    """Return a reader of an open set of sentences; so many neighbours make a document."""

    def read(sources: Path) -> Iterator[Page]:
        with lzma.open(
            Path(os.environ["PARAGLOSS_DATA"]) / "open/text" / f"{name}.jsonl.xz", "rt", encoding="utf-8"
        ) as lines:
            rows = [json.loads(line)["texts"] for line in lines]
        for start in range(0, len(rows), sentences):
            for lang in ("en", *languages.split()):
                texts = [row[lang] for row in rows[start : start + sentences] if lang in row]
                if len(texts) == sentences:
                    yield Page(f"{name}{start}", lang, "", " ".join(texts))

    return read


LILYPOND_FOLDERS = [f"usr/share/doc/lilypond/html/Documentation/{part}" for part in ("learning", "notation", "usage")]
HANDBOOK_CODES = ["en-US", "es-ES", "ar-MA", "fa-IR", "zh-CN", "pl-PL", "vi-VN", "ko-KR"]
HANDBOOK_FOLDERS = {code[:2]: code for code in HANDBOOK_CODES}
READERS: dict[str, Callable[[Path], Iterator[Page]]] = {
    "lilypond": read_suffixes(LILYPOND_FOLDERS, "en de it ja hu es fr"),
    "gimp": read_folders(
        "usr/share/gimp/2.0/help/LANG/*.html", {lang: lang for lang in ["en", "de", "hu", "ru", "nl", "el", "fi", "ko"]}
    ),
    "handbook": read_folders("usr/share/doc/debian-handbook/html/LANG/*.html", HANDBOOK_FOLDERS),
    "installation": read_folders(
        "usr/share/doc/installation-guide-amd64/LANG/*.html",
        {lang: lang for lang in ["en", "da", "cs", "ru", "ja", "el", "vi", "sv"]},
    ),
    "aptitude": read_folders(
        "usr/share/doc/aptitude/html/LANG/*.html", {lang: lang for lang in ["en", "cs", "fr", "ja", "nl", "ru", "es"]}
    ),
    "reference": read_suffixes(["usr/share/debian-reference"], "en de es it ja pt"),
    "freedombox": read_folders("usr/share/freedombox/manual/LANG/*.html", {"en": "en", "es": "es"}),
    "manpages": read_manpages,
    "fastapi": read_fastapi,
    "opentelemetry": read_opentelemetry,
    "tldr": read_tldr,
    "debian": read_aligned_rows("ddtp", "en da sk uk ja pl"),
    "mdn": read_aligned_rows("mdn", "en fr ru zh ko es"),
    "libreoffice": read_aligned_rows("lohelp", "en de el tr fi vi"),
    "news": read_open_texts("ntrex", "de es ru ar hi zh hu", sentences=4),
    "health": read_open_texts("tico19", "sw zu ta bn fa tl fr", sentences=4),
    "stories": read_open_texts("storybooks", "fr sw zu es de"),
    "suttas": read_open_texts("suttacentral", "de ru pt", sentences=3),
}

if __name__ == "__main__":
    main()
