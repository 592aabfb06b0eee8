"""The command line as a person or a script uses it."""

import io
import json
import math
import os
import re
import socket
import subprocess
import sys
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

import paragloss
from paragloss import demo
from paragloss.cli import main
from paragloss.cli.output import ProgressBar

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
CORPUS = Path(paragloss.__file__).parent / "demo" / "concepts.jsonl"


class CommandResult(NamedTuple):
    code: int
    stdout: str
    stderr: str


def paragloss_(*arguments, cwd, code=0):
    """Run a command as a person would, in this process to save the imports."""
    out, err = io.StringIO(), io.StringIO()
    before, argv, warn = os.getcwd(), sys.argv, warnings.showwarning
    os.chdir(cwd)
    sys.argv = ["paragloss", *map(str, arguments)]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            try:
                main()
                ended = 0
            except SystemExit as stop:
                ended = stop.code or 0
            except Exception:  # what --debug lets through, as the interpreter would end
                traceback.print_exc()
                ended = 1
    finally:
        os.chdir(before)
        sys.argv, warnings.showwarning = argv, warn
    finished = CommandResult(ended, out.getvalue(), err.getvalue())
    assert finished.code == code, finished
    return finished


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model and a collection made by the commands themselves."""
    path = tmp_path_factory.mktemp("cli")
    paragloss_("train", "cr5", CORPUS, "--out", "cr5", "--dim", "40", cwd=path)
    paragloss_("index", CORPUS, "--into", "library", "--model", "cr5", cwd=path)
    return path


def test_search_prints_titles_languages_and_snippets(folder):
    out = paragloss_(
        "search", "--in", "library", "volcano", "--lang", "en", "--to", "fr,zh", "--k", "2", cwd=folder
    ).stdout
    assert "Volcan" in out
    assert "火山" in out


def test_search_speaks_json(folder):
    out = paragloss_(
        "search",
        "--in",
        "library",
        "the lava of a volcano",
        "--lang",
        "en",
        "--to",
        "fr",
        "--k",
        "1",
        "--json",
        cwd=folder,
    ).stdout
    answer = json.loads(out)
    understood = {"words": 2, "unknown": []}
    assert answer["query"] == {"text": "the lava of a volcano", "lang": "en", "others": [], **understood}
    assert answer["results"][0]["id"] == "volcano.fr"
    assert set(answer["results"][0]) == {"id", "lang", "title", "score", "snippet", "marks", "meta", "fit", "copies"}


def test_search_says_why(folder):
    arguments = ("search", "--in", "library", "volcano", "--lang", "en", "--to", "fr", "--k", "1", "--why")
    lines = paragloss_(*arguments, cwd=folder).stdout.splitlines()
    pairs = [line.split() for line in lines if " → " in line]
    assert ["volcano", "→", "Volcan", "default"] in [[*line[1:4], line[4]] for line in pairs]
    result = json.loads(paragloss_(*arguments, "--json", cwd=folder).stdout)["results"][0]
    log_odds = sum(part["score"] for part in result["why"])
    assert 1 / (1 + math.exp(-log_odds)) == pytest.approx(result["score"])


def test_a_run_is_made_measured_and_compared(folder):
    (folder / "q.jsonl").write_text(
        '{"id": "q1", "lang": "en", "text": "volcano lava"}\n{"id": "q2", "lang": "fr", "text": "abeille miel"}\n'
    )
    (folder / "qrels").write_text("q1 0 volcano.zh 2\nq1 0 volcano.da 1\nq2 0 honey-bee.en 1\n")
    for name in ("cr5", "bm25"):
        paragloss_(
            "search", "--in", "library", "--queries", "q.jsonl", "--run", f"{name}.trec", "--pipeline", name, cwd=folder
        )
    lines = (folder / "cr5.trec").read_text().splitlines()
    assert len(lines) == 200
    assert lines[0].split()[:2] == ["q1", "Q0"]
    measured = json.loads(
        paragloss_("eval", "cr5.trec", "qrels", "--measures", "RR nDCG@10 P_mr@5", "--json", cwd=folder).stdout
    )
    assert measured["mean"]["P_mr@5"] == 0.5
    compared = json.loads(paragloss_("compare", "bm25.trec", "cr5.trec", "qrels", "--json", cwd=folder).stdout)
    assert compared["RR"]["second"] > compared["RR"]["first"]
    paragloss_("compare", "bm25.trec", "cr5.trec", "qrels", "--report", "report.html", cwd=folder)
    assert "<svg" in (folder / "report.html").read_text()
    table = paragloss_("eval", "cr5.trec", "qrels", "--per-query", cwd=folder).stdout
    assert "q2" in table


def test_info_and_delete(folder):
    assert json.loads(paragloss_("info", "cr5", "--json", cwd=folder).stdout)["dimensions"] == 40
    paragloss_("index", CORPUS, "--into", "other", cwd=folder)
    assert "deleted 1 of 2" in paragloss_("delete", "volcano.fr", "nobody", "--from", "other", cwd=folder).stdout
    assert json.loads(paragloss_("info", "other", "--json", cwd=folder).stdout)["documents"] == 719


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "--in", "nowhere", "x"], "nowhere is not a collection"),
        (["search", "x"], "no --in given"),
        (["search", "--in", "library"], "give either a query or --queries"),
        (["search", "--in", "library", "x", "--where", "year"], "write FIELD=VALUE"),
        (["search", "--in", "library", "x", "--lang", "klingon"], "klingon"),
        (["train", "magic", "x.jsonl", "--out", "m"], "no method 'magic'; there are"),
        (["train", "cr5", "missing.jsonl", "--out", "m"], "missing.jsonl"),
        (["train", "cr5", "--out", "m"], "no FILE given"),
        (["train", "cr5", "x.jsonl"], "no --out given"),
        (["train", "cr5", "x.jsonl", "--out", "m", "--speed", "9"], "cr5 has no setting --speed"),
        (["train", "cr5", "x.jsonl", "--out", "m", "--dim", "big"], "--dim 'big': expected a whole number"),
        (["eval", "missing.trec", "qrels"], "missing.trec"),
        (["info", "missing"], "missing"),
    ],
)
def test_errors_are_one_line_and_exit_with_1(folder, arguments, message):
    finished = paragloss_(*arguments, cwd=folder, code=1)
    assert message in finished.stderr
    assert finished.stderr.startswith("paragloss: error: ")
    assert finished.stderr.count("\n") == 1
    assert "Traceback" not in finished.stderr


def test_debug_shows_the_traceback(folder):
    assert "Traceback" in paragloss_("--debug", "info", "missing", cwd=folder, code=1).stderr


def test_a_bad_row_is_skipped_and_counted_or_stops_a_strict_command(folder):
    (folder / "bad.jsonl").write_text('{"id": "x1", "lang": "en", "text": "good"}\n{"id": "x2", "lang"\n')
    finished = paragloss_("index", "bad.jsonl", "--into", "library", "--strict", cwd=folder, code=1)
    assert "bad.jsonl:2" in finished.stderr
    assert "without --strict the rest is indexed too" in finished.stderr
    finished = paragloss_("index", "bad.jsonl", "--into", "library", cwd=folder)
    assert "skipped 1 unusable" in finished.stderr
    assert "1 files or rows could not be read" in finished.stdout
    assert json.loads(paragloss_("info", "library", "--json", cwd=folder).stdout)["documents"] == 721


def test_an_index_that_fails_at_once_leaves_no_collection(folder):
    (folder / "broken.jsonl").write_text('{"id": "x1", "lang"\n')
    paragloss_("index", "broken.jsonl", "--into", "half", cwd=folder, code=1)
    assert not (folder / "half").exists()
    paragloss_("index", "nowhere.jsonl", "--into", "half", cwd=folder, code=1)
    assert not (folder / "half").exists()
    (folder / "late.jsonl").write_text('{"id": "x1", "lang": "en", "text": "good"}\n{"id"\n')
    paragloss_("index", "late.jsonl", "--into", "half", cwd=folder)  # what was good is kept
    paragloss_("index", "broken.jsonl", "--into", "half", cwd=folder, code=1)  # and stays
    assert json.loads(paragloss_("info", "half", "--json", cwd=folder).stdout)["documents"] == 1


def test_a_mistake_in_a_pipeline_is_pointed_at(folder):
    finished = paragloss_(
        "search", "--in", "library", "x", "--lang", "en", "--pipeline", "bm25+cr6", cwd=folder, code=1
    )
    assert finished.stderr == (
        "paragloss: error: no 'cr6' in this collection to search with; it has bm25, cr5, default\n"
        "  bm25+cr6\n       ^\n"
    )


def test_a_pipeline_is_explained_with_and_without_a_query(folder):
    bare = paragloss_("search", "--in", "library", "--explain-pipeline", "--pipeline", "cr5:csls", cwd=folder).stdout
    assert bare.startswith("Dense(name='cr5'")
    out = paragloss_("search", "--in", "library", "lava", "--lang", "en", "--explain-pipeline", cwd=folder).stdout
    assert out.startswith("DefaultSearcher(")
    assert "'lava' [en], terms: lava" in out


def test_usage_errors_exit_with_2(folder):
    paragloss_("search", "--k", "0.5", cwd=folder, code=2)
    paragloss_("nonsense", cwd=folder, code=2)


def test_a_method_tells_its_settings(folder):
    help_text = paragloss_("train", "cr5", "--help", cwd=folder).stdout
    assert "--lambda" in help_text
    assert "--solver" in help_text


def test_settings_are_numbers_words_and_switches(folder):
    settings = ("--dim=12", "--solver", "converged", "--no-stem", "--device", "numpy")
    paragloss_("train", "cr5", CORPUS, "--out", "plain", "--langs", "en,fr", *settings, cwd=folder)
    about = json.loads(paragloss_("info", "plain", "--json", cwd=folder).stdout)
    assert about["dimensions"] == 12
    assert about["languages"] == ["en", "fr"]


def test_completion_is_offered(folder):
    assert "--install-completion" in paragloss_("--help", cwd=folder).stdout


def test_importing_is_silent_quick_and_needs_no_torch():
    code = (
        "import sys, paragloss; heavy = {'torch', 'scipy', 'matplotlib', 'qdrant_edge', 'typer'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")


def test_the_demonstration_runs_twice_and_keeps_to_its_folder(tmp_path):
    command = [Path(sys.executable).with_name("paragloss"), "demo", "--into", "show"]
    out = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    assert "Try next" in out
    assert "720 queries" in out
    rows = out.split("nDCG@10\n")[-1].split("\n\n")[0].splitlines()
    table = {lang: list(map(float, values)) for lang, *values in map(str.split, rows)}
    assert len(table) == 13  # twelve languages, and all together
    bm25, _, default, graded, e5, _ = table["all"]
    assert bm25 < 0.4 < 0.75 < e5
    assert default > 0.9
    assert graded > 0.85
    sentence = README.split("The demonstration's 720 queries")[1].split("(`make demo`)")[0]
    values = [f"{value:.2f}".removeprefix("0") for value in table["all"]]
    assert re.findall(r"\.\d\d\b", sentence) == [*values[::2], *values[1::2]]
    (tmp_path / "mine").mkdir()
    paragloss_("demo", "--into", "mine", cwd=tmp_path, code=1)
    check_second_demonstration(tmp_path / "show")


def check_second_demonstration(folder):
    """Run it once more in the same folder, up to its measurement, which takes long and would be the same."""
    answers = []

    def stop_at_measurement(line):
        if "720 queries" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        demo.run(folder, show=answers.append, say=stop_at_measurement)
    assert len(answers) == len(demo.QUESTIONS)
    assert all(answer.results for answer in answers)


def test_words_are_translated_by_file_model_and_vectors(folder):
    (folder / "en-fr.tsv").write_text("volcano\tvolcan\nbread\tpain\nbread\tmiche\n")
    rows = json.loads(
        paragloss_(
            "translate", "bread", "--with", "en-fr.tsv", "--lang", "en", "--to", "fr", "--json", cwd=folder
        ).stdout
    )
    assert [a["text"] for a in rows[0]["alternatives"]] == ["pain", "miche"]
    paragloss_("dictionary", "en-fr.tsv", "--lang", "en", "--to", "fr", "--out", "wordlist", cwd=folder)
    assert (
        "volcan"
        in paragloss_("translate", "volcano", "--with", "wordlist", "--lang", "en", "--to", "fr", cwd=folder).stdout
    )
    assert (
        "volcan" in paragloss_("translate", "volcano", "--with", "cr5", "--lang", "en", "--to", "fr", cwd=folder).stdout
    )
    finished = paragloss_("translate", "x", "--with", "wordlist", "--lang", "en", "--to", "da", cwd=folder, code=1)
    assert "no dictionary for en->da" in finished.stderr


def test_a_collection_is_searched_with_a_dictionary_where_it_has_words(folder):
    (folder / "bread.tsv").write_text("bread\tpain\n")
    paragloss_("dictionary", "bread.tsv", "--lang", "en", "--to", "fr", "--out", "words", cwd=folder)
    paragloss_("index", CORPUS, "--into", "worded", "--model", "words", cwd=folder)
    out = paragloss_("search", "--in", "worded", "bread", "--lang", "en", "--to", "fr,da", "--json", cwd=folder).stdout
    assert json.loads(out)["results"][0]["id"] == "bread.fr"
    finished = paragloss_(
        "search", "--in", "worded", "bread", "--lang", "en", "--to", "da", "--pipeline", "words", cwd=folder, code=1
    )
    assert "no dictionary for en->da" in finished.stderr


def test_parallel_texts_choose_translations(folder):
    (folder / "loaf.tsv").write_text("bread\tpain\tn\nbread\tmiche\tn\n")
    options = ("--with", "loaf.tsv", "--lang", "en", "--to", "fr", "--json")
    paragloss_("train", "parallel", CORPUS, "--langs", "en,fr", "--out", "pairs", cwd=folder)
    (bread,) = json.loads(paragloss_("translate", "bread", *options, "--parallel", "pairs", "--one", cwd=folder).stdout)
    assert [a["text"] for a in bread["alternatives"]] == ["pain"]


def test_a_ranker_is_trained_searched_with_and_looked_into(folder):
    train = ("train", "knrm", CORPUS, "--langs", "en,fr", "--out", "knrm", "--dim", "16")
    paragloss_(*train, cwd=folder)
    paragloss_("index", CORPUS, "--into", "ranked", "--model", "cr5", "--model", "knrm", cwd=folder)
    # Danish documents, which the ranker does not know, stay in the list.
    finished = paragloss_(
        "search",
        "--in",
        "ranked",
        "lava",
        "--lang",
        "en",
        "--to",
        "fr,da",
        "--pipeline",
        "cr5>knrm",
        "--json",
        cwd=folder,
    )
    assert {result["lang"] for result in json.loads(finished.stdout)["results"]} <= {"fr", "da"}


def run_in_shell(command, cwd, **environment):
    """Run a shell command in which {paragloss} stands for the program."""
    line = command.format(paragloss=f"{sys.executable} -m paragloss")
    variables = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    return subprocess.run(line, shell=True, cwd=cwd, env=variables, capture_output=True, text=True, timeout=300)


def test_a_closed_standard_output_is_no_internal_error(folder):
    finished = run_in_shell("{paragloss} list --in library >&-", folder)
    assert finished.returncode == 0
    assert re.fullmatch(r"paragloss: 100 of \d+; --k shows more\n", finished.stderr)


def test_letters_beyond_the_locale_are_written_as_escapes(folder):
    posix = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
    finished = run_in_shell("{paragloss} show volcano.zh --in library", folder, **posix)
    assert finished.returncode == 0, finished.stderr
    assert "\\u706b" in finished.stdout  # the first letter of the Chinese word for a volcano


def test_a_port_in_use_is_said_before_any_address(folder):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        finished = paragloss_("serve", "library", "--port", port, cwd=folder, code=1)
    assert finished.stdout == ""
    assert f"127.0.0.1:{port} can't be listened on" in finished.stderr


def test_one_bad_file_does_not_stop_an_archive(folder):
    (folder / "archive").mkdir()
    (folder / "archive/table.csv").write_text("text,text\nrain,2020\n")
    (folder / "archive/good.txt").write_text("It rains on the mountains.")
    finished = paragloss_("index", "archive", "--into", "of-archive", "--no-meaning", cwd=folder)
    assert "a column comes twice" in finished.stderr
    assert "indexed 1 documents" in finished.stdout
    assert "1 files or rows could not be read" in finished.stdout
    strict = paragloss_("index", "archive", "--into", "other-archive", "--strict", "--no-meaning", cwd=folder, code=1)
    assert "a column comes twice" in strict.stderr
    (folder / "archive/good.txt").unlink()
    empty = paragloss_("index", "archive", "--into", "empty-archive", cwd=folder, code=1)
    assert "nothing was indexed" in empty.stderr
    assert not (folder / "empty-archive").exists()


def test_watch_keeps_the_documents_of_a_missing_folder(folder):
    (folder / "watched").mkdir()
    (folder / "watched/a.txt").write_text("It rains.")
    paragloss_("watch", "watched", "--into", "of-watch", "--rounds", "1", cwd=folder)
    (folder / "watched").rename(folder / "unmounted")
    finished = paragloss_("watch", "watched", "--into", "of-watch", "--rounds", "2", "--every", "0.2", cwd=folder)
    assert finished.stderr.count("can't be opened") == 1  # once for both rounds
    assert json.loads(paragloss_("info", "of-watch", "--json", cwd=folder).stdout)["documents"] == 1


def test_progress_of_encoding_says_what_is_done_how_long_it_takes_and_that_searching_works(capsys, monkeypatch):
    monkeypatch.setattr(ProgressBar, "SECONDS_BETWEEN_LINES", 0.0)
    with ProgressBar("reading") as show_progress:
        show_progress.show_encoding(16, 64)
        show_progress.show_encoding(32, 64)
    lines = capsys.readouterr().err.splitlines()
    assert "encoding: 32 of 64 documents; searching already works; about" in lines[-1]
    assert lines[-1].endswith("left")
