import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from paragloss.errors import InputError
from paragloss.formats.documents import SUPPORTED_SUFFIXES, read_documents
from paragloss.formats.folder_files import guess_path_language, list_files


@pytest.fixture
def root(write, tmp_path):
    """Write the files of a folder and return it."""

    def write_tree(tree):
        for name, data in tree.items():
            write(f"root/{name}", data)
        return tmp_path / "root"

    return write_tree


def test_a_folder_in_order_with_languages_from_paths(root):
    top = root(
        {
            "b.txt": "plain",
            "a/fr/x.txt": "pluie",
            "a/notes.de.md": "# Regen\nnass",
            "page.html": '<html lang="it"><title>Pioggia</title><p>acqua',
            "rows.jsonl": '{"id": "r", "lang": "da", "text": "regn"}',
            "packed.vi.txt.gz": gzip.compress("mưa".encode()),
            "image.png": b"\x89PNG",
            ".hidden.txt": "no",
            ".git/x.txt": "no",
        }
    )
    with pytest.warns(UserWarning, match=r"left out 1 files of kinds that can't be read: 1 .png"):
        rows = [
            (doc.id, doc.lang, doc.meta.get("path", "").removeprefix(f"{top}/") or None) for doc in read_documents(top)
        ]
    assert rows == [
        ("b.txt", "", "b.txt"),
        ("packed.vi.txt.gz", "vi", "packed.vi.txt.gz"),
        ("page.html", "it", "page.html"),
        ("r", "da", None),
        ("a/notes.de.md", "de", "a/notes.de.md"),
        ("a/fr/x.txt", "fr", "a/fr/x.txt"),
    ]


def test_a_row_of_a_table_says_its_file_and_line_unless_columns_do(root):
    tables = {"a.csv": "Ship,Year\nOlympic,1911\nLusitania,1915\n", "b.tsv": "id\ttext\tpath\nx\tsank\t/c/d.txt\n"}
    top = root(tables)
    rows = [(row.id, row.meta["path"], row.meta.get("row")) for row in read_documents(top)]
    assert rows == [("a.csv:2", f"{top}/a.csv", 2), ("a.csv:3", f"{top}/a.csv", 3), ("x", "/c/d.txt", None)]


@pytest.mark.parametrize(
    ("path", "lang"),
    [("fr/a.txt", "fr"), ("fr/x/a.txt", "fr"), ("fr/de/a.txt", "de"), ("fr/a.it.txt", "it"), ("a.pt-br.md.gz", "pt")]
    + [("a.txt", ""), ("docs/a.txt", ""), ("js/a.txt", ""), ("a.v2.txt", ""), ("en.txt", ""), ("en.gz", "")],
)
def test_languages_of_paths(path, lang):
    assert guess_path_language(path) == lang


def test_links_do_not_lead_out_of_the_folder(root, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.txt").write_text("secret")
    top = root({"a.txt": "a"})
    os.symlink(tmp_path / "secret.txt", top / "out.txt")
    os.symlink(tmp_path / "elsewhere", top / "folder")
    os.symlink(top, top / "loop")
    os.symlink(top / "a.txt", top / "in.txt")
    os.symlink(top / "nowhere", top / "dangling.txt")
    assert [name for name, _ in list_files(top)] == ["a.txt", "in.txt"]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ('{"text": "rain"}', "no_suffix"),
        ("<DOC><DOCNO>1</DOCNO>rain</DOC>", "fr940104.0"),
        ("\n<html><title>x</title><p>rain", "page"),
        ("id,text\n1,rain\n", "t.CSV"),
        ("rain", "a.TXT"),
    ],
)
def test_files_are_known_by_suffix_or_beginning(root, data, name):
    [doc] = read_documents(root({name: data}) / name)
    assert doc.text == "rain"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("x.dat", r"neither its suffix '.dat' nor its beginning .* supported: .7z, .csv"),
        ("bad.pdf", "can't be read as PDF"),
        ("old.doc", "is not a .doc file"),
        ("gone.txt", "can't be opened"),
        ("none", "no file in this folder can be read; supported"),
    ],
)
def test_what_can_not_be_read_is_an_error_or_reported(root, name, reason):
    top = root({"x.dat": b"\x89DAT\0", "bad.pdf": "no", "old.doc": b"\xd0\xcf\x11\xe0", "none/a": "?"})
    with pytest.raises(InputError, match=reason):
        list(read_documents(top / name))
    errors = []
    assert list(read_documents(top / name, on_error=errors.append)) == []
    assert re.search(reason, str(errors[-1]))


@pytest.mark.filterwarnings("ignore:.*read as utf-16")
def test_bad_files_and_rows_are_reported_in_their_order_and_do_not_end_their_folder(root):
    damaged = bytearray(gzip.compress(b"<mediawiki>" + bytes(range(32, 127)) * 99, mtime=0))
    damaged[20:40] = b"\xff" * 20
    bad_files = {
        "a.txt": "",
        "b.dat": b"\x89DAT\0",
        "c.pdf": "no",
        "d.txt": b"\xff\xfebad",
        "e.csv": "text,text\n1,2\n",
        "f.xml.gz": bytes(damaged),
        "g.jsonl": '{"text": "x"}\nbroken\n',
    }
    top = root({**bad_files, "h.txt": "good"})
    errors = []
    assert [doc.text for doc in read_documents(top, on_error=errors.append)] == ["x", "good"]
    assert [os.path.relpath(error.location, top) for error in errors] == [
        "a.txt", "b.dat", "c.pdf", "d.txt", "e.csv:1", "f.xml.gz", "g.jsonl:2",
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"a.txt: the file is empty"):
        list(read_documents(top))


def test_a_name_that_is_not_utf_8_is_written_out(root):
    top = root({"a.txt": "good"})
    (top / os.fsdecode(b"caf\xe9.txt")).write_text("coffee")
    assert [doc.id for doc in read_documents(top)] == ["a.txt", "caf\\xe9.txt"]


def test_a_folder_that_can_not_be_listed_is_reported(root):
    top = root({"a.txt": "good", "shut/b.txt": "hidden"})
    (top / "shut").chmod(0)
    code = (
        "import sys; from paragloss.formats.documents import read_documents; errors = []\n"
        "print([doc.id for doc in read_documents(sys.argv[1], on_error=errors.append)], *errors)"
    )
    # Root may list everything, unless it does without that power.
    unprivileged = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    run = subprocess.run([*unprivileged, sys.executable, "-c", code, top], capture_output=True, text=True, check=True)
    (top / "shut").chmod(0o755)
    assert run.stdout.startswith("['a.txt'] ")
    assert "can't be listed" in run.stdout


def test_rows_without_an_id_are_called_after_their_file_and_line(root):
    top = root({"a/news.jsonl": '{"text": "x"}', "b/news.jsonl": '{"text": "y"}', "b/news.csv": "text\nz\n"})
    assert [doc.id for doc in read_documents(top)] == ["a/news.jsonl:1", "b/news.csv:2", "b/news.jsonl:1"]


def test_importing_the_front_door_loads_nothing_heavy():
    code = "import sys, json, paragloss.formats.documents; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert not {"resiliparse", "selectolax", "pypdfium2", "docx", "ir_datasets", "lxml", "torch"} & set(loaded)


def test_the_page_on_formats_lists_every_suffix_that_is_read_once():
    page = (Path(__file__).parents[2] / "docs" / "look-up" / "formats.md").read_text("utf-8")
    rows = [line.split(" | ") for line in page.partition("## Other files")[0].splitlines() if line.startswith("| ")]
    described = [suffix for row in rows for suffix in re.findall(r"`(\.\w+)`", row[1])]
    assert sorted(described) == sorted(SUPPORTED_SUFFIXES)
