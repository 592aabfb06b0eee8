"""Foreign files are read by a process with limits; whatever a file does, the next one is read."""

import os
import signal
import time
from datetime import date
from pathlib import Path

import pytest
from packed_files import pack_zip

from paragloss.errors import InputError
from paragloss.formats import sandbox
from paragloss.formats.documents import read_documents
from paragloss.formats.text import FileOutcome
from paragloss.types import Document


@pytest.fixture
def read_one(read):
    """Write a file and return its only document."""

    def read_single_document(name, data):
        (document,) = read(name, data)
        return document

    return read_single_document


ODT = pack_zip(
    {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": '<office:document-content xmlns:office="o" xmlns:text="t"><office:body><office:text>'
        "<text:h>Rain</text:h><text:tracked-changes><text:p>was sun</text:p></text:tracked-changes>"
        '<text:p>Rain is <text:span>water</text:span>.<text:line-break/>Much<text:s text:c="9"/>of it.</text:p>'
        "</office:text></office:body></office:document-content>",
        "meta.xml": '<m xmlns:dc="d"><dc:title>About rain</dc:title><dc:language>en-GB</dc:language></m>',
    }
)
PPTX = pack_zip(
    {
        "ppt/presentation.xml": '<p xmlns:r="x"><sldId r:id="r2"/><sldId r:id="r1"/></p>',
        "ppt/_rels/presentation.xml.rels": '<R><Relationship Id="r1" Target="slides/slide1.xml"/>'
        '<Relationship Id="r2" Target="slides/slide2.xml"/></R>',
        "ppt/slides/slide1.xml": "<s xmlns:a='a'><a:p><a:r><a:t>water</a:t></a:r></a:p></s>",
        "ppt/slides/slide2.xml": "<s xmlns:a='a'><a:p><a:t>Rain</a:t></a:p><a:p><a:t>falls</a:t></a:p></s>",
    }
)
XLSX = pack_zip(
    {
        "xl/sharedStrings.xml": "<sst><si><t>city</t></si><si><r><t>Ber</t></r><r><t>gen</t></r></si></sst>",
        "xl/worksheets/sheet1.xml": '<w><row><c t="s"><v>0</v></c><c t="inlineStr"><is><t>mm</t></is></c></row>'
        '<row><c t="s"><v>1</v></c><c><v>2250</v></c><c t="s"><v>99</v></c></row></w>',
        "xl/worksheets/sheet10.xml": "<w><row><c><v>2026</v></c></row></w>",
        "xl/worksheets/sheet2.xml": "<w><row/></w>",
        "xl/worksheets/sheet3.xml": "<w><row><c><v>12</v></c></row></w>",
    }
)
EPUB = pack_zip(
    {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<c><rootfile full-path="OEBPS/book.opf"/></c>',
        "OEBPS/book.opf": '<package xmlns:dc="d"><dc:title>Regnbogen</dc:title><dc:language>da</dc:language>'
        '<item id="b" href="two.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="a" href="one.xhtml" media-type="application/xhtml+xml"/>'
        '<itemref idref="a"/><itemref idref="b"/></package>',
        "OEBPS/one.xhtml": "<html><head><title>1</title></head><body><h1>Regn</h1><p>Det regner.</p></body></html>",
        "OEBPS/two.xhtml": "<html><body><p>Det holder op.</p></body></html>",
    }
)
EML = (
    "Subject: =?utf-8?q?R=C3=A9union?=\r\nFrom: a@b.c\r\nDate: Mon, 5 May 2025 10:00:00 +0200\r\nMIME-Version: 1.0\r\n"
    'Content-Type: multipart/mixed; boundary="x"\r\n\r\n--x\r\nContent-Type: text/html; charset=iso-8859-1\r\n\r\n'
    "<p>La r\xe9union est</p><p>lundi.</p>\r\n--x\r\nContent-Type: application/pdf\r\n"
    'Content-Disposition: attachment; filename="plan.pdf"\r\n\r\nx\r\n--x--\r\n'
).encode("latin-1")
RTF = rb"{\rtf1\ansi\ansicpg1251{\fonttbl{\f0 Arial;}}{\info{\title Rain}}\f0 " + (
    rb"\'c4\'ee\'e6\'e4\'fc \b and\b0  \u9731? \par snow}"
)


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.odt", ODT, Document("", "Rain\nRain is water.\nMuch of it.", "en", "About rain", {"headings": "Rain"})),
        ("a.pptx", PPTX, Document("", "Rain\nfalls\n\nwater", "", "Rain", {}, {"slides": 2})),
        ("a.pptm", PPTX, Document("", "Rain\nfalls\n\nwater", "", "Rain", {}, {"slides": 2})),
        ("a.xlsx", XLSX, Document("", "city\tmm\nBergen\t2250\n\n12\n\n2026", "", "city mm", {}, {"sheets": 4})),
        ("a.xlsm", XLSX, Document("", "city\tmm\nBergen\t2250\n\n12\n\n2026", "", "city mm", {}, {"sheets": 4})),
        ("a.epub", EPUB, Document("", "Regn\nDet regner.\n\nDet holder op.", "da", "Regnbogen")),
        ("a.rtf", RTF, Document("", "Дождь and ☃ \nsnow", "", "Rain")),
    ],
)
def test_office_files_books_and_letters_are_read_with_their_fields(read_one, tmp_path, name, data, expected):
    file_meta = {"modified": date.today().isoformat(), "path": str(tmp_path / name)}
    assert read_one(name, data) == expected._replace(id=name, meta={**expected.meta, **file_meta})
    assert read_one("unnamed", data).text == expected.text


@pytest.mark.filterwarnings("ignore:left out.*plan.pdf")
def test_a_letter_is_read_with_its_header_and_attachment_names(read_one):
    letter = read_one("a.eml", EML)
    assert (letter.title, letter.text) == ("Réunion", "La réunion est\nlundi.")
    assert letter.meta["from"] == "a@b.c"
    assert letter.fields == {"attachments": "plan.pdf"}


def test_a_paragraph_with_a_note_keeps_the_text_before_it(read_one):
    note = "<text:note><text:note-body><text:p>often</text:p></text:note-body></text:note>"
    body = f'<a xmlns:text="t"><text:p>Rain falls{note} in Bergen.</text:p></a>'
    document = read_one("a.odt", pack_zip({"content.xml": body}))
    assert document.text.split() == ["Rain", "falls", "often", "in", "Bergen."]


@pytest.mark.parametrize("suffix", ["odt", "pptx", "xlsx", "epub", "rtf", "docx", "pdf"])
@pytest.mark.parametrize("data", [b"", b"nonsense", pack_zip({"x": b"y"}), ODT[: len(ODT) // 2]])
def test_damaged_files_get_one_line(read_one, tmp_path, suffix, data):
    with pytest.raises(InputError) as caught:
        read_one(f"a.{suffix}", data)
    assert str(caught.value).startswith(f"{tmp_path}/a.{suffix}: ")
    assert "\n" not in str(caught.value)


BOMB = '<!DOCTYPE x [<!ENTITY a "{}">]><x>{}</x>'.format("a" * 1000, "&a;" * 1000)


LONG_TEXT = {
    "xl/sharedStrings.xml": f"<sst><si><t>{'x' * 2**20}</t></si></sst>",
    "xl/worksheets/sheet1.xml": "<w>" + 65 * '<row><c t="s"><v>0</v></c></row>' + "</w>",
}


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.odt", pack_zip({"content.xml": BOMB}), "declares an entity"),
        ("a.xlsx", pack_zip({"xl/worksheets/sheet1.xml": b" " * 50_000_000}), "no real document does"),
        ("a.xlsx", pack_zip(LONG_TEXT), "more than 67,108,864 characters of text"),
        ("a.html", "<div>" * 80_000 + "x", "takes more than|breaks its reader|can't be read"),
    ],
    ids=["entities", "zip bomb", "a text told often", "nested"],
)
def test_hostile_files_are_left_out_and_the_next_is_read(read_one, monkeypatch, name, data, message):
    monkeypatch.setattr(sandbox, "SECONDS_PER_FILE", 2)
    with pytest.raises(InputError, match=message):
        read_one(name, data)
    assert read_one("good.rtf", RTF).title == "Rain"


def test_a_table_merged_far_across_and_down_is_read(read_one, monkeypatch):
    """A library once found the text of a row of 16,000 cells that are merged down 300 rows anew for each of them."""
    monkeypatch.setattr(sandbox, "SECONDS_PER_FILE", 2)
    cell = '<w:tc><w:tcPr><w:gridSpan w:val="16000"/>{}</w:tcPr><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc>'
    rows = [cell.format('<w:vMerge w:val="restart"/>'), *[cell.format("<w:vMerge/>")] * 300]
    body = "".join(f"<w:tr>{row}</w:tr>" for row in rows)
    document = f'<w:document xmlns:w="w"><w:body><w:tbl>{body}</w:tbl></w:body></w:document>'
    assert read_one("a.docx", pack_zip({"word/document.xml": document})).text == "\n".join(["x"] * 301)


def list_reader_processes():
    """The ids of the processes that read files for this one; one that has ended has no command line."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(child) for child in children if "sandbox_child" in Path(f"/proc/{child}/cmdline").read_text()]


def test_the_process_is_reused_and_replaced_when_it_is_gone(read_one):
    large = b"." * (600 << 20)  # what the parent has held is not what the child holds
    assert large[-1]
    sandbox.SHARED_READER.close()
    read_one("a.rtf", RTF)
    (first,) = list_reader_processes()
    read_one("b.rtf", RTF)
    assert list_reader_processes() == [first]
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert read_one("c.rtf", RTF).title == "Rain"
    assert list_reader_processes() != [first]


def test_a_module_in_the_current_folder_is_not_run(write, read_one, tmp_path, monkeypatch):
    write("striprtf.py", "raise SystemExit('run from the current folder')")
    monkeypatch.chdir(tmp_path)
    sandbox.SHARED_READER.close()
    assert read_one("a.rtf", RTF).title == "Rain"
    sandbox.SHARED_READER.close()  # later tests can't unpack .7z files by a process whose current folder is removed


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="limits are read from /proc")
def test_memory_is_bounded(read_one):
    read_one("a.rtf", RTF)
    (reader,) = list_reader_processes()
    limits = Path(f"/proc/{reader}/limits").read_text()
    [line] = [line for line in limits.splitlines() if line.startswith("Max address space")]
    assert line.split()[3] == str(2**30)


@pytest.mark.parametrize("readers", [1, 3])
def test_several_readers_keep_the_order_of_files_and_only_one_dies_of_a_bad_file(write, tmp_path, monkeypatch, readers):
    """Files come in their order with their ids, however many readers there are; one of them is killed by its file."""
    read = sandbox.SandboxedReader.read

    def read_or_kill(reader, kind, path, id, *options):
        if Path(path).name == "c.rtf":
            reader._get_process().kill()  # as what takes too long is
            reader._process.wait()
            reader._process.poll = lambda: None  # and nobody has seen it yet
        return read(reader, kind, path, id, *options)

    monkeypatch.setattr(sandbox.SandboxedReader, "read", read_or_kill)
    for name in "abcdefgh":
        write(f"{name}.rtf", RTF)
    write("d.txt", "between")
    errors, ended = [], []
    documents = read_documents(
        tmp_path,
        on_error=errors.append,
        on_file_end=lambda path, outcome: ended.append((path.name, outcome)),
        readers=readers,
    )
    names = ["a.rtf", "b.rtf", "c.rtf", "d.rtf", "d.txt", "e.rtf", "f.rtf", "g.rtf", "h.rtf"]
    assert [document.id for document in documents] == [name for name in names if name != "c.rtf"]
    assert ended == [(name, FileOutcome.FAILED if name == "c.rtf" else FileOutcome.READ) for name in names]
    assert [Path(error.location).name for error in errors] == ["c.rtf"]


@pytest.mark.parametrize("delay", [0, 0.2])
def test_reader_processes_end_when_reading_stops(write, tmp_path, monkeypatch, delay):
    """Also the one that is just being started, which takes a moment on a busy machine."""
    get_process = sandbox.SandboxedReader._get_process

    def get_process_slowly(reader):
        time.sleep(delay)
        return get_process(reader)

    monkeypatch.setattr(sandbox.SandboxedReader, "_get_process", get_process_slowly)
    for name in "abcdef":
        write(f"{name}.rtf", RTF)
    documents = read_documents(tmp_path, readers=2)
    assert next(documents).id == "a.rtf"
    documents.close()
    assert len(list_reader_processes()) <= 1  # that of single files
