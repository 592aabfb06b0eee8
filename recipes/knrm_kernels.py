"""Plots of a bilingual K-NRM: kernel weights, pairs per kernel, kernels alone, translations per kernel, data size.

Data: Debian's package descriptions in English and German (ddtp), held-out packages for looking. Titles ask, texts
answer. Figs. 6.2, 6.3, 6.5 and 6.6 of Liu's thesis. Run: python recipes/knrm_kernels.py --out FOLDER
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from bilingual_log import train
from sets import split

from paragloss import analyses, judgments
from paragloss.translation import table
from paragloss.types import Concept

LANGS = ("en", "de")


def usable(concepts: list[Concept], count: int) -> list[Concept]:
    """Some concepts with everything in both languages, texts cut short."""
    whole = [c for c in concepts if all(c.titles.get(lang) and c.texts.get(lang) for lang in LANGS)]
    cut = whole[:: max(1, len(whole) // count)][:count]
    return [c._replace(texts={lang: c.texts[lang][:300] for lang in LANGS}) for c in cut]


def write(path: Path, concepts: list[Concept]) -> str:
    with open(path, "w", encoding="utf-8") as out:
        for c in concepts:
            for lang in LANGS:
                row = {"concept": c.id, "lang": lang, "title": c.titles[lang], "text": c.texts[lang]}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
    return str(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="where tables and plots go")
    out = parser.parse_args().out
    divided = split("ddtp", LANGS)
    learned, held = usable(divided.train, 3000), usable(divided.test, 400)
    with tempfile.TemporaryDirectory() as place:
        model, words = str(Path(place, "knrm")), str(Path(place, "table"))
        train(judgments.from_aligned(learned, source="en", target="de", query="title"), epochs=8).save(model)
        table.fit([Concept(c.id, dict(c.titles)) for c in learned]).save(words)
        files = [write(Path(place, "held.jsonl"), held)]
        pair = {"source": "en", "target": "de"}
        some = [write(Path(place, "some.jsonl"), learned[:1500])]
        results = [
            analyses.kernel_bins(files, out, model=model, **pair),
            analyses.translations(files, out, model=model, translator=words, **pair),
            analyses.data_size(some, out, epochs=8, **pair),
            analyses.exact_match(some, out, epochs=8, **pair),
        ]
    for result in results:
        print("\t".join(result.header))
        for row in result.rows:
            print("\t".join(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row))
    print(f"plots and tables: {out}")
