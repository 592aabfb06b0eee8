"""What the fields of a web page are worth: BM25 with headings, strong words and the address at several weights.

    python benchmarks/fields.py pages FOLDER...     folders of HTML that link to each other
    PARAGLOSS_DATA=... python benchmarks/fields.py mdn

pages: the text of a link asks, the page it leads to is right. mdn: an English title asks for Spanish pages that link
with that page both ways (the page itself left out) by a dictionary; the address is the page's path. Also how long
indexing takes with the fields and without.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urldefrag

from selectolax.lexbor import LexborHTMLParser

from paragloss.collection import Collection
from paragloss.evaluation import compare, evaluate
from paragloss.formats.html import read_html
from paragloss.types import Document, Qrels, Query

#: Pages that hold a whole manual answer everything, and take minutes to read.
LARGEST = 200_000
NONE = "headings=0,strong=0,url=0"
WEIGHTS = [NONE, *(f"{field}={weight}" for field in ("headings", "strong", "url") for weight in (0.1, 0.3, 0.5, 1))]
WEIGHTS += ["headings=0.3,strong=0.1,url=0.1", "headings=0.3,strong=0.1,url=0.3", "headings=0.5,strong=0.3,url=0.3"]


def pages(folders: Sequence[str]) -> tuple[list[Document], list[Query], Qrels]:
    found = (path for folder in folders for path in sorted(Path(folder).rglob("*.html")))
    files = {path.resolve(): path for path in found if path.stat().st_size < LARGEST}
    documents, asked = [], {}
    for path in files:
        documents.append(read_html(path, id=str(path))._replace(lang="en"))
        for link in LexborHTMLParser(path.read_text("utf-8", errors="replace")).css("a[href]"):
            target = (path.parent / unquote(urldefrag(link.attributes["href"] or "")[0])).resolve()
            text = " ".join(link.text().split())
            if target in files and target != path and len(text.split()) > 1:
                asked.setdefault(text, set()).add(str(target))
    clear = {text: found for text, found in sorted(asked.items()) if len(found) == 1}
    queries = [Query(str(number), text, "en") for number, text in enumerate(clear)]
    return documents, queries, {q.id: dict.fromkeys(clear[q.text], 1) for q in queries}


def mdn() -> tuple[list[Document], list[Query], Qrels]:
    sys.path.insert(0, str(Path(__file__).parents[1] / "studies"))
    from sets import folder

    from paragloss.formats.jsonl import read_concepts
    from paragloss.lab import judgments

    path = folder() / "mdn"
    both = [c for c in read_concepts([path / "en.jsonl.gz", path / "es.jsonl.gz"]) if {"en", "es"} <= c.texts.keys()]
    links, here = judgments.read_links(path / "mutual_links.tsv.gz"), {c.id for c in both}
    asking = [c for c in both if links.get(c.id, set()) & here and c.titles.get("es")][::3][:300]
    documents = [
        Document(c.id, c.texts["es"], "es", c.titles.get("es", ""), {"url": f"https://x.org/es/docs/{c.id}"})
        for c in both
    ]
    queries = [Query(c.id, c.titles["es"], "es") for c in asking]
    return documents, queries, {c.id: dict.fromkeys(links[c.id] & here, 1) for c in asking}


def main() -> None:
    documents, queries, qrels = pages(sys.argv[2:]) if sys.argv[1] == "pages" else mdn()
    bare = [document._replace(fields={}) for document in documents]
    with tempfile.TemporaryDirectory() as place:
        for name, some in (("without fields", bare), ("with fields", documents)):
            started = time.perf_counter()
            with Collection.create(str(Path(place, name)), meaning=False) as engine:
                engine.index(some)
            print(f"{name}: {len(some)} documents indexed in {time.perf_counter() - started:.2f} s")
        with Collection.open(str(Path(place, "with fields"))) as engine:
            print(engine.info()["fields"], len(queries), "queries")
            scores = {}
            for weights in WEIGHTS:
                found = engine.rank(queries, k=101, pipeline=f"bm25:{weights}")
                run = {q.id: [h for h in hits if h.id != q.id] for q, hits in zip(queries, found, strict=True)}
                scores[weights] = evaluate(run, qrels, ["nDCG@10", "RR"])
                test = compare(scores[NONE]["nDCG@10"], scores[weights]["nDCG@10"])
                means = [sum(values.values()) / len(values) for values in scores[weights].values()]
                print(
                    f"{weights:36} nDCG@10 {means[0]:.4f}  RR {means[1]:.4f}  p {test.p_randomisation:.4f}", flush=True
                )


if __name__ == "__main__":
    main()
