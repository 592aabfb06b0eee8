"""What is lost when vectors are kept less finely: e5's passages of every set of `fusion`, in one folder.

    PARAGLOSS_DATA=... python studies/precision.py [--queries 2000]

A query looks for its document among all passages of the document's language (RR of ten), and its ten nearest of all
languages are held against those that are nearest exactly. Each way is kept as `paragloss index --vectors` keeps it,
with the graph and the coarse copies that are made from 50,000 passages on. Vectors may come from a folder (`computed`).
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

import computed
import fusion
import numpy as np

from paragloss.encoders.pretrained import build, passages, settings_for
from paragloss.stores import create_store
from paragloss.types import Document, Record

PASSAGES = 4  # of each document, at most


def gathered(model) -> tuple[list[Record], list[tuple[str, str, set[str]]]]:
    """Every passage once, and (query, language, passages of the right document)."""
    records: dict[tuple[str, str], Record] = {}
    asked = []
    for name, langs in fusion.LANGS.items():
        for lang in langs.split() if name != "phrases" else ():
            made = fusion.asked(name, lang)
            held = []
            for document in made.documents:
                texts = passages.read(document)[:PASSAGES]
                for text in texts:
                    key = lang, text
                    if key not in records:
                        row = model.passages.encode([text], lang)[0]
                        records[key] = Record(Document(f"p{len(records)}", "", lang), {"e5": row}, {})
                held.append({records[lang, text].document.id for text in texts})
            asked += [(query.text, lang, held[right]) for query, right in zip(made.queries, made.right, strict=True)]
            print(f"{name} {lang}: {len(records):,} passages, {len(asked):,} queries", flush=True)
    return list(records.values()), asked


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--queries", type=int, default=2000)
    given = options.parse_args()
    computed.install()
    model = build(settings_for("e5"))
    records, asked = gathered(model)
    asked = random.Random(0).sample(asked, min(given.queries, len(asked)))
    rows = model.encode([text for text, _, _ in asked], "en")
    nearest: list[list[str]] = []
    print(
        f"\n| kept as | RR | of the ten nearest | ms a search | MB on disk |\n|---|---|---|---|---|  {len(records):,}"
    )
    for precision, exact in (
        ("float32", True),
        ("float32", False),
        ("float16", False),
        ("int8", False),
    ):
        with tempfile.TemporaryDirectory() as place:
            kept = {} if precision == "float32" else {"e5": precision}
            with create_store(f"{place}/c", dense={"e5": 384}, sparse=["terms"], precision=kept) as store:
                store.add(records)
                store.optimize()
                started = time.perf_counter()
                found = [[hit.id for hit in store.search_dense("e5", row[None], 10, exact=exact)[0]] for row in rows]
                took = 1000 * (time.perf_counter() - started) / len(rows)
                nearest = nearest or found
                same = np.mean([len({*a} & {*b}) / 10 for a, b in zip(found, nearest, strict=True)])
                rr = np.mean(
                    [ranked(store, row, lang, right, exact) for row, (_, lang, right) in zip(rows, asked, strict=True)]
                )
            size = sum(file.stat().st_blocks * 512 for file in Path(place).rglob("*") if file.is_file()) / 1e6
        name = f"{precision}, every one compared" if exact else precision
        print(f"| {name} | {rr:.4f} | {same:.3f} | {took:.1f} | {size:.0f} |", flush=True)


def ranked(store, row: np.ndarray, lang: str, right: set[str], exact: bool) -> float:
    hits = store.search_dense("e5", row[None], 10, {"lang": [lang]}, exact=exact)[0]
    return next((1 / place for place, hit in enumerate(hits, start=1) if hit.id in right), 0.0)


if __name__ == "__main__":
    main()
