"""Hostile input by the hundred thousand: files, models, queries and command lines that are nearly right.

Each input is a valid one with something changed: bytes flipped, cut, repeated, swapped for tokens of the format; JSON
values for others. Whatever comes must end in an answer or in a ParaglossError of one line, in at most 10 s and 1 GB.
Foreign files are read in their own process, as always; the rest runs in this one, whose memory is bounded.

    python benchmarks/fuzz.py [seconds] [seed]
"""

from __future__ import annotations

import io
import json
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from paragloss import demo
from paragloss.cli.searching import conditions
from paragloss.engine import Engine, load
from paragloss.errors import ParaglossError
from paragloss.formats import apart
from paragloss.formats.documents import read
from paragloss.formats.queries import read_qrels, read_queries
from paragloss.formats.trec import read_run
from paragloss.models import cr5
from paragloss.translation import table
from paragloss.translation.dictionary import Dictionary
from paragloss.types import Query

SLOW, LARGE = 10.0, 2**30
_TOKENS = [
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x1b[2J",
    b"{",
    b"}",
    b"[",
    b'"',
    b"\\u",
    b"\\ud800",
    b"null",
    b"1e999",
]
_TOKENS += [
    b"-1",
    b"9" * 40,
    b"<",
    b">",
    b"</",
    b"<!ENTITY a 'b'>",
    b"&a;",
    b"<DOC>",
    b"<div>" * 50,
    b"\n",
    b"\t",
    b",",
]
_TOKENS += [
    "é".encode(),
    "漢".encode(),
    b"\x80",
    b"PK\x03\x04",
    b"stream",
    b"endobj",
    b"\\'",
    b"\\u-9",
    b"{" * 99,
    b"(" * 99,
]
_VALUES = [None, True, -1, 0, 1.5, 10**30, "", "x", "../x", [], [None], {}, {"a": []}, "é" * 99, [[1]], 1e308]


def zipped(parts: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def seeds() -> dict[str, bytes]:
    """A small valid file of every kind."""
    import docx

    word = io.BytesIO()
    made = docx.Document()
    made.add_heading("Rain", level=1)
    made.add_table(rows=2, cols=2).rows[0].cells[0].text = "mm"
    made.save(word)
    rows = [{"id": "a", "lang": "fr", "title": "Pluie", "text": "Il pleut.", "year": 1999, "meta": {"b": [1, "c"]}}]
    return {
        "a.jsonl": "\n".join(json.dumps(row) for row in rows * 3).encode(),
        "a.csv": b'id,lang,title,text,year\n1,fr,Pluie,"Il pleut, dit-on",1999\n2,en,Rain,"It ""rains""",2000\n',
        "a.trec": b"<DOC><DOCNO>1</DOCNO><TITLE>Rain</TITLE><TEXT>It rains.</TEXT></DOC>\n<DOC><DOCNO>2</DOCNO>x</DOC>",
        "a.xml": b"<mediawiki><page><title>Rain</title><ns>0</ns><id>1</id><revision><text>''Rain'' is [[water|wet]] "
        b"{{x|{{y}}}} <ref>z</ref></text></revision></page></mediawiki>",
        "a.txt": "Rain\n\nIt falls. Die Straße ist naß.".encode(),
        "a.md": b"---\ntitle: Rain\nlang: en\n---\n# Rain\n\nIt is **wet** and [there](http://x.org).\n\n```\ncode\n```\n",
        "a.html": b"<html lang=en><head><title>Rain</title></head><body><h1>Rain</h1><p>It <b>falls</b>.</p><table><tr>"
        b"<td>x</td></tr></table></body></html>",
        "a.rtf": rb"{\rtf1\ansi\ansicpg1251{\fonttbl{\f0\fcharset204 Arial;}}{\info{\title Rain}}\f0 \'c4 \u9731? x}",
        "a.eml": b"Subject: =?utf-8?q?R=C3=A9?=\nFrom: a@b.c\nMIME-Version: 1.0\nContent-Type: multipart/mixed; "
        b'boundary="x"\n\n--x\nContent-Type: text/html; charset=utf-8\n\n<p>Rain</p>\n--x--\n',
        "a.pdf": b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>"
        b"endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>"
        b"endobj 4 0 obj<</Length 30>>stream\nBT /F 9 Tf (Rain falls) Tj ET\nendstream endobj 5 0 obj<</Type/Font"
        b"/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>",
        "a.docx": word.getvalue(),
        "a.odt": zipped(
            {"content.xml": "<o><h>Rain</h><p>It falls<tab/>x</p></o>", "meta.xml": "<m><title>T</title></m>"}
        ),
        "a.xlsx": zipped(
            {
                "xl/sharedStrings.xml": "<sst><si><t>city</t></si></sst>",
                "xl/worksheets/sheet1.xml": '<w><row><c t="s"><v>0</v></c><c><v>1</v></c></row></w>',
            }
        ),
        "a.pptx": zipped({"ppt/slides/slide1.xml": "<s><p><t>Rain</t></p></s>"}),
        "a.epub": zipped(
            {
                "META-INF/container.xml": '<c><rootfile full-path="b.opf"/></c>',
                "b.opf": '<p><title>T</title><item id="a" href="o.xhtml" media-type="application/xhtml+xml"/>'
                '<itemref idref="a"/></p>',
                "o.xhtml": "<html><body><p>Rain</p></body></html>",
            }
        ),
    }


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Something changed, in one place or a few; of an archive usually a part of it."""
    if data.startswith(b"PK") and rng.random() < 0.7:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        name = rng.choice(list(parts))
        parts[name] = mutated(parts[name], rng)
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for other, inner in parts.items():
                archive.writestr(other, inner)
        return buffer.getvalue()
    work = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        at, other = (rng.randrange(len(work) + 1) for _ in range(2))
        kind = rng.randrange(6)
        if kind == 0 and work:
            work[at % len(work)] = rng.randrange(256)
        elif kind == 1:
            work[at:at] = rng.choice(_TOKENS)
        elif kind == 2:
            del work[min(at, other) : max(at, other)]
        elif kind == 3:
            low, high = min(at, other), max(at, other)
            work[at:at] = bytes(work[low:high]) * rng.choice((1, 2, 50))
        elif kind == 4:
            work[at : at + rng.randrange(9)] = rng.choice(_TOKENS)
        else:
            work[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9)))
    return bytes(work[: 1 << 20])


def mutated_json(value: object, rng: random.Random) -> object:
    """A value somewhere inside replaced, removed or doubled."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice(list(value))
        if rng.random() < 0.1:
            return {name: inner for name, inner in value.items() if name != key}
        return {**value, key: mutated_json(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        return [*value[:at], mutated_json(value[at], rng), *value[at + rng.randrange(2) :]]
    return rng.choice(_VALUES)


class Fuzz:
    """One place to work in, and what has been seen."""

    def __init__(self, place: Path, rng: random.Random) -> None:
        self.place, self.rng = place, rng
        self.counts: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.slowest: dict[str, float] = {}
        self.files = seeds()
        aligned = demo.concepts()[:12]
        cr5.fit(aligned, dim=4).save(place / "cr5")
        table.fit(aligned).save(place / "table")
        pairs = [Pair("bread", "pain"), Pair("rain", "pluie")]
        Dictionary.build(pairs, "en", "fr").save(place / "dictionary")
        self.engine = Engine.create(str(place / "c"), models=[str(place / "cr5"), str(place / "table")])
        self.engine.index(list(demo.documents())[:84])

    def file(self) -> None:
        name = self.rng.choice(list(self.files))
        path = self.place / f"in{Path(name).suffix}"
        path.write_bytes(mutated(self.files[name], self.rng))
        if self.rng.random() < 0.5:
            list(read(path))
        else:
            list(read(path, on_error=lambda error: None))

    def row(self) -> None:
        """Rows of every table that is read, in this process."""
        name = self.rng.choice(("a.jsonl", "a.csv", "a.trec", "a.xml", "a.txt", "a.md"))
        path = self.place / f"rows{Path(name).suffix}"
        path.write_bytes(mutated(self.files[name], self.rng))
        reader: Callable[..., object] = self.rng.choice((read, read_queries, read_qrels, read_run))
        found = reader(path, on_error=lambda error: None) if reader is not read_run else reader(path)
        list(found) if not isinstance(found, dict) else None

    def model(self) -> None:
        """A file of a model changed, the model loaded and, where that works, used."""
        kind = self.rng.choice(("cr5", "table", "dictionary"))
        files = sorted((self.place / kind).iterdir())
        file = self.rng.choice(files)
        before = file.read_bytes()
        try:
            if file.suffix == ".json" and self.rng.random() < 0.7:
                file.write_text(json.dumps(mutated_json(json.loads(before), self.rng)))
            else:
                file.write_bytes(mutated(before, self.rng))
            loaded = load(self.place / kind)
            if hasattr(loaded, "encode"):
                loaded.encode(["rain and bread"], "en")
            else:
                loaded.translate(Query("", "rain and bread", "en"), "fr")
        finally:
            file.write_bytes(before)

    def query(self) -> None:
        text = mutated(b"the lava of a volcano, le pain et la pluie 1999", self.rng).decode("utf-8", "replace")
        said = mutated(self.rng.choice((b"year>=1999", b"meta.a=b", b"lang=fr", b"day<2024-05-31")), self.rng)
        where = conditions([said.decode("utf-8", "replace")]) if self.rng.random() < 0.3 else None
        lang = self.rng.choice((None, None, "en", "fr", "xx"))
        self.engine.search(text * self.rng.choice((1, 1, 1, 40)), lang=lang, k=self.rng.choice((1, 10)), where=where)

    def run(self, kind: str) -> None:
        started = time.perf_counter()
        try:
            getattr(self, kind)()
        except ParaglossError as error:
            self.refused[kind] += 1
            if "\n" in str(error):
                self.wrong.append(f"{kind}: an error of several lines: {str(error)[:200]!r}")
            if "left out" in str(error):
                self.counts["over the limits of the reading process, and said"] += 1
        except Exception:
            self.wrong.append(f"{kind}: {traceback.format_exc()[-1500:]}")
        seconds = time.perf_counter() - started
        self.slowest[kind] = max(self.slowest.get(kind, 0.0), seconds)
        self.counts[kind] += 1


class Pair:
    """An entry of a dictionary."""

    pos, weight = "", 1.0

    def __init__(self, source: str, target: str) -> None:
        self.source, self.target = source, target


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as place:
        fuzz = Fuzz(Path(place), rng)
        # Counted in time, not in inputs: what is slow to try is tried less often.
        kinds = ("row", "row", "row", "row", "row", "row", "model", "query", "file")
        until, told = time.monotonic() + seconds, time.monotonic()
        while time.monotonic() < until and len(fuzz.wrong) < 50:
            fuzz.run(rng.choice(kinds))
            if time.monotonic() - told > 60:
                told = time.monotonic()
                print(dict(fuzz.counts), f"{len(fuzz.wrong)} wrong", flush=True)
        fuzz.engine.close()
        apart.READER.close()
    memory = [resource.getrusage(who).ru_maxrss >> 10 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"inputs {sum(fuzz.counts[kind] for kind in set(kinds)):,}: {dict(fuzz.counts)}")
    print(f"refused in one line: {dict(fuzz.refused)}")
    print(f"slowest (s, by the clock): { {kind: round(worst, 2) for kind, worst in fuzz.slowest.items()} }")
    print(f"most memory: {memory[0]} MB here, {memory[1]} MB in the process that reads foreign files")
    print(f"crashes: {len(fuzz.wrong)}")
    for said in {said.strip().splitlines()[-1]: said for said in fuzz.wrong}.values():
        print("---", said)
    sys.exit(1 if fuzz.wrong else 0)


if __name__ == "__main__":
    main()
