"""What people do and what files do, through the command line: nothing is lost, and everything is said in a line."""

import json
import os
import sys

import pytest

from paragloss.cli import main, output
from paragloss.cli.terminal_text import plain, plain_json
from paragloss.collection import Collection, writer
from paragloss.errors import InputError
from paragloss.types import Document

CSI = "\x1b[31mred\x1b[0m\x9b2J\u202etxt"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(monkeypatch, capfd):
    def call(*words, code=0):
        monkeypatch.setattr(sys, "argv", ["paragloss", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        output_texts = capfd.readouterr()
        assert (ended.value.code or 0) == code, output_texts.err
        return output_texts

    return call


def write(tree):
    for name, data in tree.items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())


def list_ids(collection):
    with Collection.open(collection) as engine:
        return sorted(document.id for document in engine.documents())


def test_documents_of_one_name_or_number_in_two_folders_are_all_kept(folder, run):
    write({"c/a/notes.txt": "rain in the hills", "c/b/notes.txt": "snow in the valley"})
    run("index", "c/a", "c/b", "--into", "k", "--lang", "en")
    assert list_ids("k") == ["a/notes.txt", "b/notes.txt"]
    run("index", "c/b/notes.txt", "--into", "k", "--lang", "en")
    run("index", "c", "--into", "k", "--lang", "en")
    assert list_ids("k") == ["a/notes.txt", "b/notes.txt"]
    write({"a/rows.jsonl": '{"text": "one", "lang": "en"}\n', "b/rows.jsonl": '{"text": "two", "lang": "en"}\n'})
    run("index", "a/rows.jsonl", "b/rows.jsonl", "--into", "k2")
    assert list_ids("k2") == ["a/rows.jsonl:1", "b/rows.jsonl:1"]
    write({"r.jsonl": '{"id": "x", "text": "one", "lang": "en"}\n{"id": "x", "text": "two", "lang": "en"}\n'})
    assert "1 documents had the id of an earlier one" in run("index", "r.jsonl", "--into", "k3").err


def test_documents_before_a_bad_row_are_kept_and_reported(folder, run):
    good = '{"id": "%d", "text": "rain", "lang": "en"}\n'
    write({"r.jsonl": good % 1 + good % 2 + "broken\n" + good % 3})
    output_texts = run("index", "r.jsonl", "--into", "k", "--strict", code=1)
    assert "r.jsonl:3: not JSON" in output_texts.err
    assert "2 documents before it are kept in k; without --strict the rest is indexed too" in output_texts.err
    assert list_ids("k") == ["1", "2"]


def test_what_cannot_be_read_is_counted_by_reason_and_listed(folder, run):
    rows = ["broken", '{"id": "g", "text": "rain", "lang": "en"}', '{"text": 3}', '{"text": 4}', '{"n": 1e999}']
    write({"r.jsonl": "\n".join(rows), "d/old.doc": b"\xd0\xcf", "d/e.txt": "", "d/a.txt": "rain falls"})
    output_texts = run("index", "r.jsonl", "d", "gone.txt", "--into", "k", "--lang", "en", "--json")
    report = json.loads(output_texts.out)
    assert (report["indexed"], report["skipped"], report["documents"]) == (2, 7, 2)
    assert report["reasons"]["… is … not text"] == 2
    assert "each of them: k/skipped.tsv" in output_texts.err
    listed = [line.split("\t") for line in (folder / "k/skipped.tsv").read_text().splitlines()]
    assert [row[0] for row in listed] == [
        "r.jsonl:1", "r.jsonl:3", "r.jsonl:4", "r.jsonl:5", "d/e.txt", "d/old.doc", "gone.txt",
    ]  # fmt: skip
    assert "is not a .doc file" in listed[5][1]


def test_a_colon_in_a_name_is_no_end_of_a_place(folder, run):
    write({"notes: old.jsonl": '{"text": 3}\n{"id": "g", "text": "rain", "lang": "en"}\n'})
    run("index", "notes: old.jsonl", "--into", "k")
    ((row_place, reason),) = [line.split("\t") for line in (folder / "k/skipped.tsv").read_text().splitlines()]
    assert row_place == "notes: old.jsonl:1"
    assert reason.startswith("'text' is 3")


def test_documents_are_listed_and_shown(folder, run):
    write({"docs/a.txt": f"Title {CSI}\n\nrain falls {CSI}", "docs/b.fr.txt": "la pluie tombe"})
    run("index", "docs", "--into", "k", "--lang", "en")
    assert "b.fr.txt  fr" in run("list", "--in", "k").out
    assert [d["id"] for d in json.loads(run("list", "--in", "k", "--where", "lang=fr", "--json").out)] == ["b.fr.txt"]
    assert "1 of 2; --k shows more" in run("list", "--in", "k", "--k", "1").err
    output_text = run("show", "a.txt", "--in", "k").out
    assert str(folder / "docs/a.txt") in output_text
    assert "rain falls" in output_text
    assert "no document 'x' in k" in run("show", "x", "--in", "k", code=1).err


def test_nothing_in_a_document_steers_the_terminal(folder, run):
    write({"docs/a.txt": f"Title {CSI}\n\nrain falls {CSI}", "docs/b.txt": CSI, f"docs/{CSI[:4]}.pdf": "no"})
    output_texts = run("index", "docs", "--into", "k", "--lang", "en")
    words = [
        ("search", "--in", "k", f"rain {CSI}", "--lang", "en"),
        ("list", "--in", "k"),
        ("show", "a.txt", "--in", "k"),
    ]
    outputs = [output_texts.out + output_texts.err]
    for command in words:
        outputs += [run(*command).out, run(*command, "--json").out]
    outputs.append(run("search", "--in", CSI, "x", code=1).err)
    for out in outputs:
        assert not set(out) & set("\x1b\x9b\x07\u202e")
    assert json.loads(run("show", "b.txt", "--in", "k", "--json").out)["text"] == CSI


def test_plain_text_and_json_say_what_was_there():
    assert plain("a\x1b[0m\tb\nc\x9b") == "a\\x1b[0m b c\\x9b"
    assert json.loads(plain_json({"a": CSI})) == {"a": CSI}
    assert plain("caf\udce9") == "caf\\udce9"


def test_results_say_where_a_document_is_and_how_well_it_fits(folder, run):
    write({"docs/a.txt": "rain falls on stone", "r.jsonl": '{"id": "row", "title": "T", "text": "rain", "lang": "en"}'})
    run("index", "docs", "r.jsonl", "--into", "k", "--lang", "en")
    lines = run("search", "--in", "k", "rain falls", "--lang", "en").out.splitlines()
    assert lines[2].strip() == str(folder / "docs/a.txt")
    assert "row" in lines[5]
    assert all(0 <= float(line.split()[2]) <= 1 for line in (lines[1], lines[4]))


def test_progress_on_a_pipe_is_a_line_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(output.ProgressBar, "SECONDS_BETWEEN_LINES", 0.0)
    with output.ProgressBar("indexing") as bar:
        bar(1000)
        bar(2000, 4000)
        assert capsys.readouterr().err == "paragloss: indexing: 1,000\nparagloss: indexing: 2,000 of 4,000\n"
        bar.show_encoding(16, 64)
        bar.show_encoding(32, 64)
    line = capsys.readouterr().err.splitlines()[-1]
    assert "encoding: 32 of 64 documents; searching already works; about" in line
    assert line.endswith("left")


def test_an_interrupt_says_what_is_kept(folder, run, monkeypatch):
    def documents(*_, **__):
        yield Document("a", "rain", "en")
        raise KeyboardInterrupt

    monkeypatch.setattr(writer, "read_sources", documents)
    assert "stopped; 1 documents are kept in k; run it again to go on" in run("index", "x", "--into", "k", code=130).err
    assert list_ids("k") == ["a"]


def test_outputs_and_queries_are_checked_before_the_work(folder, run):
    query = '{"id": "1", "text": "rain", "lang": "en"}\n'
    write({"q.jsonl": query, "twice.jsonl": query * 2, "r.jsonl": '{"id": "a", "text": "x", "lang": "en"}'})
    run("index", "r.jsonl", "--into", "k")
    search = ("search", "--in", "k", "--queries", "q.jsonl", "--run")
    assert "there is no folder" in run(*search, "no/where.trec", code=1).err
    os.mkdir("taken")
    assert "is a folder" in run(*search, "taken", code=1).err
    assert "'1'" in run("search", "--in", "k", "--queries", "twice.jsonl", "--run", "out", code=1).err
    # The files to train on are not even looked for.
    assert "not a saved model" in run("train", "cr5", "gone.jsonl", "--out", "taken", code=1).err
    assert "there is no folder" in run("eval", "gone", "gone", "--report", "no/where.html", code=1).err


def test_eval_says_how_many_queries_were_answered(folder, run):
    write({"run": "q1 Q0 d 1 1.0 x\n", "qrels": "q1 0 d 1\nq2 0 e 1\n"})
    assert "1 of 2 judged queries were answered" in run("eval", "run", "qrels").err
    report = json.loads(run("eval", "run", "qrels", "--json").out)
    assert (report["judged"], report["answered"]) == (2, 1)


@pytest.mark.parametrize("text", ["word " * 8000, "rain" * 3000, "x" * 10_001])
def test_queries_are_bounded(folder, text):
    with Collection.create("k") as engine:
        engine.index([Document("a", "rain", "en")])
        with pytest.raises(InputError, match=r"at most .* can be asked: shorten it"):
            engine.search(text, lang="en")


def test_wrong_arguments_of_the_library_are_explained(folder):
    with Collection.create("k") as engine:
        with pytest.raises(InputError, match=r"got one dict: put it in a list"):
            engine.index({"id": "a"})
        with pytest.raises(InputError, match=r"is a dict, not a Document"):
            engine.index([{"id": "a"}])
        engine.index([Document("a", "rain", "en")])
        with pytest.raises(InputError, match=r"write to=\['fr'\]"):
            engine.search("rain", lang="en", to="fr")
