"""Web pages, PDF files, Word documents, Markdown and plain text."""

import docx
import pytest
from packed_files import pack_zip

from paragloss.errors import InputError
from paragloss.formats.docx import read_docx
from paragloss.formats.html import read_html
from paragloss.formats.markdown import read_markdown, read_plain
from paragloss.formats.pdf import read_pdf
from paragloss.types import Document

PARAGRAPH = "The keeper walks up the spiral stairs every evening and lights the lamp for the ships at sea. " * 4
PAGE = f"""<!doctype html><html lang="en-GB"><head><title>The  lighthouse</title>
<link rel="canonical" href="https://example.org/light"><style>p {{color: red}}</style></head>
<body><nav><a href="/">Home</a> <a href="/shop">Shop</a></nav>
<main><article><h1>Keepers of light</h1><p>{PARAGRAPH}</p><h2>Stairs</h2><p>There are <b>two hundred</b> steps
 &amp; one door. {PARAGRAPH}</p></article></main>
<footer>Cookie policy and imprint</footer><script>var tracking = 1;</script></body></html>"""


def test_a_page_and_its_fields(write):
    page = read_html(write("light.html", PAGE))
    assert (page.id, page.lang, page.title) == ("light.html", "en", "The lighthouse")
    fields = {"headings": "Keepers of light\nStairs", "strong": "two hundred", "url": "https://example.org/light"}
    assert page.fields == fields
    assert "two hundred steps & one door" in " ".join(page.text.split())
    for boilerplate in ("tracking", "Cookie", "Shop", "color"):
        assert boilerplate not in page.text


def test_notes_lists_and_commands_are_text_and_menus_are_not(write):
    body = """<nav><ul><li><a href=/>Home</a><li><a href=/a>Imprint</a></ul></nav><div class="section"><h1>Commands</h1>
        <p>These commands are met every day, in this order, by whoever looks after a machine.</p>
        <div class="sidebar"><p class="title"><b>NOTE</b> Passwords</p><p>Nobody will ask for yours.</p></div>
        <dl><dt>mount</dt><dd>attaches a file system</dd></dl><pre>apt upgrade --quiet</pre><h2>Short</h2><p>Done.</p>
        </div><footer><a href=/c>Copyright</a></footer>"""
    assert read_html(write("m.html", f"<html><body>{body}")).text.split("\n") == [
        "Commands", "These commands are met every day, in this order, by whoever looks after a machine.",
        "NOTE Passwords", "Nobody will ask for yours.", "mount", "attaches a file system", "apt upgrade --quiet",
        "Short", "Done.",
    ]  # fmt: skip


def test_a_short_page_still_has_its_text(write):
    page = read_html(write("p.html", "<title>T</title><script>no()</script><p>Two words</p>"))
    assert page.title == "T"
    assert page.text.split() == ["Two", "words"]
    assert page.lang == ""


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        ("", "utf-8"),
        ("\ufeff", "utf-8"),
        ("\ufeff", "utf-16-le"),
        ("\ufeff", "utf-16-be"),
        ("\ufeff", "utf-32-le"),
        ('<meta charset="iso-8859-1">', "latin-1"),
        ('<meta http-equiv="x" content="text/html; charset=windows-1252">', "cp1252"),
        ("", "latin-1"),
    ],
)
def test_pages_in_any_encoding(write, declaration, encoding):
    page = read_html(write("p.html", f"{declaration}<title>Été</title><p>naïve café".encode(encoding)))
    assert page.title == "Été"
    assert "naïve café" in page.text


@pytest.mark.parametrize(
    ("data", "message"), [(b"<p></p>", "no text in the page"), (b"<p>\0\1\2", "binary"), (b"", "no text in the page")]
)
def test_bad_pages(write, data, message):
    path = write("p.html", data)
    with pytest.raises(InputError, match=message) as caught:
        read_html(path)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("declared", ["utf-8", "klingon", ""])
@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1251", "Старый мост закрыли на ремонт, и теперь все едут через соседнюю деревню."),
        ("cp1252", "Le vieux pont a été fermé à cause des réparations, et tout le monde passe par le village."),
    ],
)
def test_a_page_that_declares_another_encoding_than_it_has(write, declared, encoding, text):
    markup = '<div class="navigation"><a href="https://example.org/">Home</a></div>' * 5
    page = f'<meta charset="{declared}">{markup}<p>{text}</p><p>{text}</p>'
    assert text in read_html(write("p.html", page.encode(encoding))).text


def make_pdf(*texts, title="A title"):
    """A PDF made by hand: one page per text, in Helvetica."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(texts)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(texts)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, text in enumerate(texts):
        stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET" if text else ""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * n} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    trailer = f"trailer << /Size {size} /Root 1 0 R /Info {len(objects)} 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()


def test_a_pdf(write):
    path = write("a.pdf", make_pdf("Rain falls", "", "on stone"))
    assert read_pdf(path, id="x") == Document("x", "Rain falls\n\n\f\n\n\fon stone", "", "A title", {}, {"pages": 3})


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [("a light-", "house", "a lighthouse"), ("Saint-", "Laurent", "Saint-Laurent"), ("Covid-", "19", "Covid-19")],
)
def test_a_word_divided_at_a_line_s_end_is_joined(write, first, second, text):
    path = write("a.pdf", make_pdf(f"{first}) Tj 0 -14 Td ({second}"))
    assert read_pdf(path).text == text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"%PDF-1.4 nonsense", "can't be read as PDF .*damaged or needs a password"),
        (b"", "can't be read as PDF"),
        (make_pdf("Rain falls")[:200], "can't be read as PDF"),
        (make_pdf("", ""), "no text in 2 pages, and no picture of one"),
    ],
)
def test_bad_pdfs(write, data, message):
    with pytest.raises(InputError, match=message):
        read_pdf(write("a.pdf", data))


def test_a_docx(tmp_path):
    word_document = docx.Document()
    word_document.add_heading("Rain", level=1)
    paragraph = word_document.add_paragraph("Rain is ")
    paragraph.add_run("water").bold = True
    table = word_document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "mm", "12"
    word_document.add_paragraph("The end.")
    word_document.core_properties.language = "en-GB"
    word_document.save(str(tmp_path / "rain.docx"))
    document = read_docx(tmp_path / "rain.docx")
    assert document == Document(
        "rain.docx", "Rain\nRain is water\nmm\t12\nThe end.", "en", "Rain", {"headings": "Rain", "strong": "water"}
    )


def test_what_a_docx_does_not_show_is_not_read(write):
    """Headings by their style's name, whatever its id; no text that was taken out; links and merged cells once."""
    w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    run = "<w:r>{}<w:t>{}</w:t></w:r>".format
    cell, plain = "<w:tc><w:p>{}</w:p></w:tc>".format, '<w:rPr><w:b w:val="0"/></w:rPr>'
    body = (
        f'<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr>{run("", "Regen")}</w:p>'
        f"<w:p><w:pPr><w:rPr><w:b/></w:rPr></w:pPr>{run('', 'Er ')}<w:del><w:r><w:delText>nie</w:delText></w:r></w:del>"
        f"<w:hyperlink>{run('<w:rPr><w:b/></w:rPr>', 'fällt')}</w:hyperlink><w:r><w:tab/></w:r>"
        f"{run(plain, 'oft.')}</w:p>"
        f"<w:tbl><w:tr>{cell(run('', 'mm'))}{cell(run('', 'mm'))}{cell(run('', '12'))}</w:tr></w:tbl>"
    )
    style = '<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    styles = f"<w:styles {w}>{style}</w:styles>"
    parts = {"word/document.xml": f"<w:document {w}><w:body>{body}</w:body></w:document>".encode()}
    document = read_docx(write("a.docx", pack_zip(parts | {"word/styles.xml": styles.encode()})))
    assert document.text == "Regen\nEr fällt\toft.\nmm\t12"
    assert (document.title, dict(document.fields)) == ("Regen", {"headings": "Regen", "strong": "fällt"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no zip", "can't be read as .docx .*damaged or of another format"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "is encrypted.* without a password"),
        ({"hello.txt": b"x"}, r"can't be read as .docx \("),
        ({"word/document.xml": b" " * 50_000_000}, "no real document does, so it is refused"),
        ({f"{n}": b"" for n in range(20_001)}, "no real document does"),
        ({"word/document.xml": "<w><p/></w>"}, "no text in the document"),
    ],
    ids=["no zip", "encrypted", "no document", "bomb", "many parts", "no text"],
)
def test_bad_docx(write, content, message):
    data = content if isinstance(content, bytes) else pack_zip(content)
    with pytest.raises(InputError, match=message):
        read_docx(write("a.docx", data))


def test_markdown(write):
    path = write(
        "a.md",
        '---\nlang: fr\ntags: x\n---\nRain\n====\n\nIt is **very** *wet*, says [a site](http://x.org "t").\n\n'
        "## Snow #\n\n- snake_case_name\n> quoted\n\n```python\ncode\n```\n",
    )
    assert read_markdown(path) == Document(
        "a.md",
        "Rain\nIt is very wet, says a site.\nSnow\n• snake_case_name\nquoted\ncode",
        "fr",
        "Rain",
        {"headings": "Rain\nSnow", "strong": "very"},
    )
    assert read_markdown(write("b.md", '---\ntitle: "It\'s"\n---\n# Other\n')).title == "It's"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("[logo]: /images/logo.png\n\nSee [the site][logo].", "See the site."),
        ("![Diagram](a.png) of a *pump*", "of a pump"),
        ("# Pumps {#pumps}\n\n{: .note}\nRead this.\n{:.lead}", "Pumps\nRead this."),
        ("* Contents\n{:toc}\n\nText", "Text"),
        ("## Contents\n\n- [Pumps](#pumps)\n  - [Care](#care)\n- [Pipes](#pipes)\n\nText", "Text"),
        ("- [Pumps](#pumps) are loud\n- [Pipes](#pipes)", "• Pumps are loud\n• Pipes"),
        ("{% include nav.html %}\n\nWelcome {{ page.title }}.", "Welcome ."),
        ("<!-- hidden -->\n\nA <b>bold</b> `List<String>`.", "A bold List<String>."),
        ("<nav><a href='/'>Home</a></nav>\n\n<p>Shown</p>", "Shown"),
        ("| Part | Price |\n|---|---|\n| pump | 3 |", "Part | Price\npump | 3"),
        (":::tip\n\nGrease it.\n\n:::", "Grease it."),
        ('!!! tip "Care"\n    See [the site](x.md).\n\nText', "Care\nSee the site.\nText"),
        ("```\n{{ url }}\n```", "{{ url }}"),
        ("Rue Saint-Laurent, Saint-\nJean", "Rue Saint-Laurent, Saint- Jean"),
    ],
)
def test_markdown_gives_what_a_reader_of_the_page_sees(write, source, text):
    assert read_markdown(write("a.md", source)).text == text


def test_tables_of_contents_and_links_to_neighbours_are_no_text_of_a_page(write):
    contents = "<div class='toc'><p>Table of Contents</p><ul><li>1. Stairs</li></ul></div>"
    page = f"<body><div class='navheader'>Prev Next</div><h1>Light</h1>{contents}<p>{PARAGRAPH}</p></body>"
    text = read_html(write("a.html", f"<html>{page}</html>")).text
    assert "Contents" not in text
    assert "Next" not in text
    assert PARAGRAPH[:40] in text


def test_plain_text(write):
    assert read_plain(write("a.txt", "Rain\r\n\r\nIt falls.")) == Document("a.txt", "Rain\n\nIt falls.", "", "Rain")
    assert read_plain(write("b.txt", "It falls\nand falls.")).title == ""
    with pytest.warns(UserWarning, match=r"c.txt: read as cp1252"):
        assert read_plain(write("c.txt", b"caf\xe9")).text == "café"
    with pytest.raises(InputError, match=r"d.txt: the file is empty"):
        read_plain(write("d.txt", b" \n"))
