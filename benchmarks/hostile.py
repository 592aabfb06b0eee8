"""Inputs that are right but for something: a small valid file of every kind, and ways to change bytes and JSON."""

from __future__ import annotations

import io
import json
import random
import zipfile

_TOKENS = [
    token.encode("utf-8", "surrogatepass")
    for token in (
        *(
            "\0",
            "\ufeff",
            "\x1b[2J",
            "{",
            "}",
            "[",
            '"',
            "\\u",
            "\\ud800",
            "null",
            "1e999",
            "-1",
            "9" * 40,
            "é",
            "漢",
            "\ud800",
        ),
        *("<", ">", "</", "<!ENTITY a 'b'>", "&a;", "<DOC>", "<div>" * 50, "\n", "\t", ",", "{" * 99, "(" * 99),
        *("PK\x03\x04", "stream", "endobj", "\\'", "\\u-9", "nan", "inf", "true", "../", "%s", "\u202e", "\x7f"),
    )
] + [b"\xff\xfe", b"\x80", b"\xc3"]
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
    word_document = docx.Document()
    word_document.add_heading("Rain", level=1)
    word_document.add_table(rows=2, cols=2).rows[0].cells[0].text = "mm"
    word_document.save(word)
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
    if data.startswith(b"PK") and zipfile.is_zipfile(io.BytesIO(data)) and rng.random() < 0.7:
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


def changed(text: str, rng: random.Random) -> str:
    """A text with something changed."""
    return mutated(text.encode("utf-8", "surrogatepass"), rng).decode("utf-8", "replace")
