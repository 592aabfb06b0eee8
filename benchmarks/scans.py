"""What reading from a scan costs: the demonstration's pages as text, and printed, made worse and recognised.

    python benchmarks/scans.py [--concepts 12] [--level copied worn poor] [--lang de fr ru hi zh ja]

Each language is a collection of its own; English queries look for documents of some concepts among all sixty.
Needs Tesseract with the six languages, Pillow with raqm, and Debian's fonts-dejavu-core, fonts-noto-core and
fonts-noto-cjk. With rapidocr installed Chinese and Japanese pages are read by both programs, and the reading of higher
confidence is taken; without `tesseract` in PATH, by RapidOCR alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import tempfile
import textwrap
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont, ImageOps

from paragloss import Collection, demo
from paragloss.formats.documents import read_documents
from paragloss.types import Document

_DEJAVU = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
FONTS = {
    "de": _DEJAVU,
    "fr": _DEJAVU,
    "ru": _DEJAVU,
    "hi": "/usr/share/fonts/truetype/noto/NotoSansDevanagari-Regular.ttf",
    "zh": "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "ja": "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
}
#: Languages without spaces between words: lines are half as long, and characters are counted instead of words.
UNSPACED = {"zh", "ja"}
#: Characters of a help page that are printed: as many as a Chinese page of the demonstration has.
HELP_LETTERS = 150


class Level(NamedTuple):
    """How bad a page is."""

    dpi: int
    turned: float  # degrees at most
    blur: float  # radius in pixels
    specks: float  # share of pixels that are black or white at random
    shade: float  # how much darker the darkest corner is
    bleed: float  # how much of the other side shows through
    jpeg: int  # quality


LEVELS = {
    "copied": Level(200, 1.0, 1.2, 0.001, 0.0, 0.0, 40),
    "worn": Level(150, 1.5, 1.2, 0.004, 0.4, 0.15, 25),
    "poor": Level(150, 2.0, 1.5, 0.010, 0.5, 0.25, 15),
}


def drawn(document: Document, dpi: int) -> Image.Image:
    """The document printed with letters of 12 points: dark grey on light grey."""
    width, inch = 28 if document.lang in UNSPACED else 56, dpi / 200
    lines = [line for part in document.text.split("\n") for line in textwrap.wrap(part, width) or [""]]
    page = Image.new("L", (round(1654 * inch), round((260 + 52 * len(lines)) * inch)), 235)
    font = ImageFont.truetype(FONTS[document.lang], round(33 * inch))
    position, spacing = (130 * inch, 130 * inch), 14 * inch
    ImageDraw.Draw(page).multiline_text(position, "\n".join(lines), font=font, fill=60, spacing=spacing)
    return page


def worsened(page: Image.Image, other_side: Image.Image, level: Level, chance: np.random.Generator) -> Image.Image:
    """A page as a copier or an old scanner gives it."""
    other_side = ImageOps.mirror(other_side).resize(page.size).filter(ImageFilter.GaussianBlur(2))
    through = level.bleed * (235 - np.asarray(other_side, np.float32))
    page = Image.fromarray(np.clip(np.asarray(page) - through, 0, 255).astype(np.uint8))
    page = page.rotate(chance.uniform(-1, 1) * level.turned, fillcolor=235, resample=Image.Resampling.BICUBIC)
    pixels = np.asarray(page.filter(ImageFilter.GaussianBlur(level.blur)), np.float32)
    down, right = np.meshgrid(*(np.linspace(0, 1, side) for side in pixels.shape), indexing="ij")
    pixels = pixels * (1 - level.shade * (down + right) / 2)
    speck = chance.random(pixels.shape) < level.specks
    pixels[speck] = chance.choice([40, 250], size=int(speck.sum()))
    return Image.fromarray(pixels.astype(np.uint8))


def scanned(document: Document, other_side: Document, level: Level, seed: int) -> Document:
    """The document as it is read from its page."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.jpg")
        sides = [drawn(side, level.dpi) for side in (document, other_side)]
        worsened(*sides, level, np.random.default_rng(seed)).save(path, quality=level.jpeg)
        pages = list(read_documents(path, on_error=lambda _: None))  # none: no words were found on it
    text, meta = (pages[0].text, pages[0].meta) if pages else ("", {"confidence": 0.0})
    return document._replace(text=text, title="", meta=meta)


def reciprocal_rank(
    documents: list[Document], chosen_concepts: set[str], queries_by_lang: dict[str, list[str]], lang: str
) -> float:
    with tempfile.TemporaryDirectory() as folder, Collection.open_or_create(str(Path(folder, "c"))) as collection:
        collection.index(documents)
        ranks = []
        for concept in sorted(chosen_concepts):
            for query in queries_by_lang[concept]:
                results = collection.search(query, lang="en", to=[lang], k=10).results
                ranks.append(next((1 / r for r, hit in enumerate(results, 1) if hit.id == f"{concept}.{lang}"), 0.0))
    return sum(ranks) / len(ranks)


def read_collection(lang: str, n_concepts: int) -> tuple[list[Document], dict[str, list[str]]]:
    """Return sixty documents of a language, and two English queries for each of some of them, by concept.

    They are the demonstration's, whose queries are English titles and first sentences. Of a language that it does not
    have, the beginnings of pages of LibreOffice's help are taken (`lohelp` in PARAGLOSS_DATA).
    """
    texts = {
        document.id.rpartition(".")[0]: document.full_text for document in demo.documents() if document.lang == lang
    }
    english = {concept.id: (concept.titles["en"], concept.texts["en"]) for concept in demo.concepts()}
    if not texts:
        pages, english_pages = read_help_pages(lang), read_help_pages("en")
        concepts = [
            concept for concept, (_, text) in pages.items() if concept in english_pages and len(text) > HELP_LETTERS
        ]
        texts = {concept: f"{pages[concept][0]}\n{pages[concept][1][:HELP_LETTERS]}" for concept in concepts[:60]}
        english = english_pages
    documents = [Document(f"{concept}.{lang}", text, lang) for concept, text in texts.items()]
    step = max(1, len(texts) // n_concepts)
    queries = {
        concept: [english[concept][0], english[concept][1].split(". ")[0]] for concept in [*texts][::step][:n_concepts]
    }
    return documents, queries


def read_help_pages(lang: str) -> dict[str, tuple[str, str]]:
    """Return title and text of each page of LibreOffice's help, by its path."""
    path = Path(os.environ.get("PARAGLOSS_DATA", "~/.cache/paragloss")).expanduser() / "lohelp" / f"{lang}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return {row["concept"]: (row["title"], row["text"]) for row in map(json.loads, lines)}


def letters(text: str, lang: str) -> list[str]:
    """Words; of Chinese and Japanese their characters."""
    return re.findall(r"\w" if lang in UNSPACED else r"\w+", text.lower())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--concepts", type=int, default=12)
    options.add_argument("--lang", nargs="+", choices=FONTS, default=list(FONTS))
    options.add_argument("--level", nargs="+", choices=LEVELS, default=list(LEVELS))
    arguments = options.parse_args()
    collections = {lang: read_collection(lang, arguments.concepts) for lang in arguments.lang}
    as_text = {
        lang: reciprocal_rank(documents, set(queries), queries, lang)
        for lang, (documents, queries) in collections.items()
    }
    print("| level | language | pages | words right | confidence | s a page | RR as text | RR as scan | lost |")
    print("|---|---|---|---|---|---|---|---|---|")
    for level in arguments.level:
        losses = []
        for lang, (documents, queries) in collections.items():
            chosen_concepts = set(queries)
            began, scans = time.perf_counter(), list[Document]()
            right, all_ = 0, 0
            for seed, document in enumerate(documents):
                if document.id.rpartition(".")[0] not in chosen_concepts:
                    scans.append(document)
                    continue
                scans.append(scanned(document, documents[seed - 1], LEVELS[level], seed))
                expected_letters, recognized_letters = (
                    Counter(letters(side.text, lang)) for side in (document, scans[-1])
                )
                right, all_ = right + (expected_letters & recognized_letters).total(), all_ + expected_letters.total()
            spent = (time.perf_counter() - began) / len(chosen_concepts)
            sure = [d.meta["confidence"] for d in scans if "confidence" in d.meta]
            as_scan = reciprocal_rank(scans, chosen_concepts, queries, lang)
            losses.append(as_text[lang] - as_scan)
            read_ = f"{right / all_:.2f} | {sum(sure) / len(sure):.2f} | {spent:.1f}"
            cells = f"{as_text[lang]:.3f} | {as_scan:.3f} | {losses[-1]:.3f}"
            print(f"| {level} | {lang} | {len(chosen_concepts)} | {read_} | {cells} |", flush=True)
        print(f"| {level} | all | | | | | | | {sum(losses) / len(losses):.3f} |", flush=True)


if __name__ == "__main__":
    main()
