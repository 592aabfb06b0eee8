"""Binary Office files are read by whichever program is installed."""

import shutil
import subprocess

import pytest

from paragloss.errors import InputError
from paragloss.formats.documents import read_documents

FLAT_TEXT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"
 office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text>
<text:p>Der Regen fällt auf Stein, und Ænima grüßt Łódź.</text:p></office:text></office:body></office:document>"""


FLAT_PRESENTATION = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"
 office:mimetype="application/vnd.oasis.opendocument.presentation"><office:body><office:presentation>
<draw:page draw:name="p1"><draw:frame svg:x="1cm" svg:y="1cm" svg:width="20cm" svg:height="5cm"><draw:text-box>
<text:p>Der Regen fällt auf Stein, und Ænima grüßt Łódź.</text:p></draw:text-box></draw:frame></draw:page>
</office:presentation></office:body></office:document>"""


def convert(source, suffix):
    if not shutil.which("soffice"):
        pytest.skip("needs LibreOffice to write the file")
    profile = f"-env:UserInstallation=file://{source.parent}/profile"
    command = ["soffice", profile, "--headless", "--convert-to", suffix, "--outdir", source.parent, source]
    subprocess.run(command, capture_output=True, timeout=120)
    return source.with_suffix(f".{suffix}")


@pytest.fixture(params=["small programs", "LibreOffice"])
def installed(request, monkeypatch, tmp_path):
    """Hide LibreOffice, or everything else, from the processes that read files."""
    from paragloss.formats import sandbox

    programs = ["antiword", "catdoc", "xls2csv", "catppt"] if request.param == "small programs" else ["soffice"]
    if not any(map(shutil.which, programs)):
        pytest.skip(f"needs one of {', '.join(programs)}")
    folder = tmp_path / "bin"
    folder.mkdir()
    for program in [*programs, "dirname", "basename", "uname", "sed", "grep", "ls", "sh", "bash", "cat", "expr"]:
        location = shutil.which(program)
        if location:
            (folder / program).symlink_to(location)
    yield lambda: (monkeypatch.setenv("PATH", str(folder)), sandbox.SHARED_READER.close())
    sandbox.SHARED_READER.close()


def test_a_word_document_of_1997(tmp_path, installed):
    source = tmp_path / "a.fodt"
    source.write_text(FLAT_TEXT, "utf-8")
    path = convert(source, "doc")
    installed()
    (document,) = read_documents(path)
    assert document.text == "Der Regen fällt auf Stein, und Ænima grüßt Łódź."


def test_an_excel_workbook_of_1997(tmp_path, installed):
    source = tmp_path / "a.csv"
    source.write_text("Stadt,Fluss\nRom,Tiber\n", "utf-8")
    path = convert(source, "xls")
    installed()
    (document,) = read_documents(path)
    assert [line.replace('"', "").split("\t") for line in document.text.splitlines()] == [
        ["Stadt", "Fluss"],
        ["Rom", "Tiber"],
    ]


def test_pictures_of_a_word_document_leave_no_mark(tmp_path, monkeypatch):
    """A program of the same name prints what antiword prints: no library here writes such files with pictures."""
    from paragloss.formats import sandbox

    program = tmp_path / "antiword"
    program.write_text("#!/bin/sh\nprintf '[pic]\\nBergen\\n'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    sandbox.SHARED_READER.close()
    (tmp_path / "a.doc").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument".encode("utf-16-le"))
    (document,) = read_documents(tmp_path / "a.doc")
    sandbox.SHARED_READER.close()
    assert document.text == "Bergen"


@pytest.mark.parametrize("suffix", [".doc", ".xls", ".ppt"])
def test_a_damaged_file_is_refused_whatever_a_program_prints_of_it(tmp_path, suffix):
    (tmp_path / f"a{suffix}").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(range(256)) * 12)
    with pytest.raises(InputError, match=f"is not a {suffix} file"):
        list(read_documents(tmp_path / f"a{suffix}"))


@pytest.mark.parametrize("installed", ["LibreOffice"], indirect=True)
def test_a_powerpoint_presentation_of_1997(tmp_path, installed):
    source = tmp_path / "a.fodp"
    source.write_text(FLAT_PRESENTATION, "utf-8")
    path = convert(source, "ppt")
    installed()
    (document,) = read_documents(path)
    assert "Der Regen fällt auf Stein, und Ænima grüßt Łódź." in document.text
