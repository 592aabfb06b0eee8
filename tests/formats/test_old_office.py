"""Binary Office files are read by whichever program is installed."""

import shutil
import subprocess

import pytest

from paragloss.errors import InputError
from paragloss.formats import sandbox
from paragloss.formats.archive import OLE_SIGNATURE
from paragloss.formats.documents import read_documents

SENTENCE = "Der Regen fällt auf Stein, und Ænima grüßt Łódź."
FLAT_TEXT = f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"
 office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text>
<text:p>{SENTENCE}</text:p></office:text></office:body></office:document>"""


FLAT_PRESENTATION = f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"
 office:mimetype="application/vnd.oasis.opendocument.presentation"><office:body><office:presentation>
<draw:page draw:name="p1"><draw:frame svg:x="1cm" svg:y="1cm" svg:width="20cm" svg:height="5cm"><draw:text-box>
<text:p>{SENTENCE}</text:p></draw:text-box></draw:frame></draw:page>
</office:presentation></office:body></office:document>"""


def convert(source, suffix):
    if not shutil.which("soffice"):
        pytest.skip("needs LibreOffice to write the file")
    profile = f"-env:UserInstallation=file://{source.parent}/profile"
    command = ["soffice", profile, "--headless", "--convert-to", suffix, "--outdir", source.parent, source]
    subprocess.run(command, capture_output=True, timeout=120)
    return source.with_suffix(f".{suffix}")


@pytest.fixture
def installed(request, monkeypatch, tmp_path):
    """Hide LibreOffice, or everything else, from the processes that read files."""
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


@pytest.mark.parametrize(
    ("installed", "name", "source", "suffix", "text"),
    [
        ("small programs", "a.fodt", FLAT_TEXT, "doc", SENTENCE),
        ("LibreOffice", "a.fodt", FLAT_TEXT, "doc", SENTENCE),
        ("small programs", "a.csv", "Stadt,Fluss\nRom,Tiber\n", "xls", "Stadt\tFluss\nRom\tTiber"),
        ("LibreOffice", "a.csv", "Stadt,Fluss\nRom,Tiber\n", "xls", "Stadt\tFluss\nRom\tTiber"),
        ("LibreOffice", "a.fodp", FLAT_PRESENTATION, "ppt", SENTENCE),
    ],
    indirect=["installed"],
)
def test_an_office_file_of_1997_is_read(write, installed, name, source, suffix, text):
    path = convert(write(name, source), suffix)
    installed()
    (document,) = read_documents(path)
    assert text in document.text.replace('"', "")


def test_pictures_of_a_word_document_leave_no_mark(write, read, tmp_path, monkeypatch):
    """A program of the same name prints what antiword prints: no library here writes such files with pictures."""
    write("antiword", "#!/bin/sh\nprintf '[pic]\\nBergen\\n'\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    sandbox.SHARED_READER.close()
    (document,) = read("a.doc", OLE_SIGNATURE + "WordDocument".encode("utf-16-le"))
    sandbox.SHARED_READER.close()
    assert document.text == "Bergen"


@pytest.mark.parametrize("suffix", [".doc", ".xls", ".ppt"])
def test_a_damaged_file_is_refused_whatever_a_program_prints_of_it(read, suffix):
    with pytest.raises(InputError, match=f"is not a {suffix} file"):
        read(f"a{suffix}", OLE_SIGNATURE + bytes(range(256)) * 12)
