"""What reading from a scan costs: the demonstration's pages as text, and printed, made worse and read by Tesseract.

    python benchmarks/scans.py [--concepts 12] [--blur 1.2]

Each of five languages is a collection of its own; English queries look for documents of some concepts among all sixty.
Needs Tesseract with the five languages, Pillow with raqm, and Debian's fonts-dejavu-core, fonts-noto-core and
fonts-noto-cjk.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import textwrap
import time
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter, ImageFont

from paragloss import Collection, demo
from paragloss.formats.documents import read
from paragloss.types import Document

_DEJAVU = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
FONTS = {
    "de": _DEJAVU,
    "fr": _DEJAVU,
    "ru": _DEJAVU,
    "hi": "/usr/share/fonts/truetype/noto/NotoSansDevanagari-Regular.ttf",
    "zh": "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
}


def printed(document: Document, seed: int, blur: float) -> Image.Image:
    """A page as a copier gives it: 200 dots per inch, grey, turned, blurred, with specks, pressed as JPEG later."""
    width = 28 if document.lang == "zh" else 56
    lines = [line for part in document.text.split("\n") for line in textwrap.wrap(part, width) or [""]]
    page = Image.new("L", (1654, 260 + 52 * len(lines)), 235)
    font = ImageFont.truetype(FONTS[document.lang], 33)
    ImageDraw.Draw(page).multiline_text((130, 130), "\n".join(lines), font=font, fill=60, spacing=14)
    chance = random.Random(seed)
    page = page.rotate(chance.uniform(-1, 1), fillcolor=235, resample=Image.Resampling.BICUBIC)
    page = page.filter(ImageFilter.GaussianBlur(blur))
    for _ in range(page.width * page.height // 900):
        page.putpixel((chance.randrange(page.width), chance.randrange(page.height)), chance.randrange(60, 235))
    return page


def scanned(document: Document, seed: int, blur: float) -> Document:
    """The document as it is read from its page."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.jpg")
        printed(document, seed, blur).save(path, quality=40)
        (page,) = read(path)
    return document._replace(text=page.text, title="", meta=page.meta)


def reciprocal_rank(documents: list[Document], wanted: set[str], asked: dict[str, list[str]], lang: str) -> float:
    with tempfile.TemporaryDirectory() as folder, Collection.open_or_create(str(Path(folder, "c"))) as collection:
        collection.index(documents)
        ranks = []
        for concept in sorted(wanted):
            for query in asked[concept]:
                found = collection.search(query, lang="en", to=[lang], k=10).results
                ranks.append(next((1 / r for r, hit in enumerate(found, 1) if hit.id == f"{concept}.{lang}"), 0.0))
    return sum(ranks) / len(ranks)


def letters(text: str, lang: str) -> list[str]:
    """Words; of Chinese its characters."""
    return re.findall(r"\w" if lang == "zh" else r"\w+", text.lower())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--concepts", type=int, default=12)
    options.add_argument("--blur", type=float, default=1.2, help="radius in pixels of 1/200 inch")
    given = options.parse_args()
    concepts = [concept.id for concept in demo.concepts()]
    wanted = set(concepts[:: max(1, len(concepts) // given.concepts)][: given.concepts])
    asked: dict[str, list[str]] = {}
    for concept in demo.concepts():
        asked[concept.id] = [concept.titles["en"], concept.texts["en"].split(". ")[0]]
    print("| language | pages | words right | confidence | s a page | RR as text | RR as scan | lost |")
    print("|---|---|---|---|---|---|---|---|")
    losses = []
    for lang in FONTS:
        texts = [d._replace(text=d.whole, title="") for d in demo.documents() if d.lang == lang]
        began, scans = time.perf_counter(), list[Document]()
        right, all_ = 0, 0
        for seed, document in enumerate(texts):
            if document.id.rpartition(".")[0] not in wanted:
                scans.append(document)
                continue
            scans.append(scanned(document, seed, given.blur))
            there = set(letters(scans[-1].text, lang))
            right += sum(word in there for word in letters(document.text, lang))
            all_ += len(letters(document.text, lang))
        spent = (time.perf_counter() - began) / len(wanted)
        sure = [d.meta["confidence"] for d in scans if "confidence" in d.meta]
        as_text, as_scan = (reciprocal_rank(some, wanted, asked, lang) for some in (texts, scans))
        losses.append(as_text - as_scan)
        figures = f"{right / all_:.2f} | {sum(sure) / len(sure):.2f} | {spent:.1f} | {as_text:.3f} | {as_scan:.3f}"
        print(f"| {lang} | {len(wanted)} | {figures} | {losses[-1]:.3f} |", flush=True)
    print(f"\nlost on average: {sum(losses) / len(losses):.3f}")


if __name__ == "__main__":
    main()
