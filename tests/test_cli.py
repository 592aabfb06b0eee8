"""The command line as a person or a script uses it."""

import io
import json
import math
import os
import re
import shlex
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

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
CORPUS = Path(paragloss.__file__).parent / "demo" / "concepts.jsonl"


class CommandResult(NamedTuple):
    code: int
    stdout: str
    stderr: str


def paragloss_(*arguments, cwd, code=0):
    """Run a command as a person would, in this process to save the imports; any exit code will do if `code` is None."""
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
    assert code in (None, finished.code), finished
    return finished


def run_line(line, cwd, code=0):
    """Run a command that is written as in a shell, without the name of the program."""
    return paragloss_(*shlex.split(line), cwd=cwd, code=code)


def read_json(line, cwd):
    """Run a command that is written as in a shell with --json, and return what it prints."""
    return json.loads(run_line(f"{line} --json", cwd).stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model and a collection made by the commands themselves."""
    path = tmp_path_factory.mktemp("cli")
    paragloss_("train", "cr5", CORPUS, "--out", "cr5", "--dim", "40", cwd=path)
    paragloss_("index", CORPUS, "--into", "library", "--model", "cr5", cwd=path)
    return path


def test_search_prints_titles_languages_and_snippets(folder):
    out = run_line("search --in library volcano --lang en --to fr,zh --k 2", folder).stdout
    assert "Volcan" in out
    assert "火山" in out


def test_search_speaks_json(folder):
    answer = read_json("search --in library 'the lava of a volcano' --lang en --to fr --k 1", folder)
    understood = {"words": 2, "unknown": []}
    assert answer["query"] == {"text": "the lava of a volcano", "lang": "en", "others": [], **understood}
    assert answer["results"][0]["id"] == "volcano.fr"
    assert set(answer["results"][0]) == {"id", "lang", "title", "score", "snippet", "marks", "meta", "fit", "copies"}


def test_search_says_why(folder):
    line = "search --in library volcano --lang en --to fr --k 1 --why"
    pairs = [line.split() for line in run_line(line, folder).stdout.splitlines() if " → " in line]
    assert ["volcano", "→", "Volcan", "default"] in [pair[1:5] for pair in pairs]
    result = read_json(line, folder)["results"][0]
    log_odds = sum(part["score"] for part in result["why"])
    assert 1 / (1 + math.exp(-log_odds)) == pytest.approx(result["score"])


def test_a_run_is_made_measured_and_compared(folder):
    (folder / "q.jsonl").write_text(
        '{"id": "q1", "lang": "en", "text": "volcano lava"}\n{"id": "q2", "lang": "fr", "text": "abeille miel"}\n'
    )
    (folder / "qrels").write_text("q1 0 volcano.zh 2\nq1 0 volcano.da 1\nq2 0 honey-bee.en 1\n")
    for name in ("cr5", "bm25"):
        run_line(f"search --in library --queries q.jsonl --run {name}.trec --pipeline {name}", folder)
    lines = (folder / "cr5.trec").read_text().splitlines()
    assert len(lines) == 200
    assert lines[0].split()[:2] == ["q1", "Q0"]
    assert read_json("eval cr5.trec qrels --measures 'RR nDCG@10 P_mr@5'", folder)["mean"]["P_mr@5"] == 0.5
    compared = read_json("compare bm25.trec cr5.trec qrels", folder)
    assert compared["RR"]["second"] > compared["RR"]["first"]
    run_line("compare bm25.trec cr5.trec qrels --report report.html", folder)
    assert "<svg" in (folder / "report.html").read_text()
    assert "q2" in run_line("eval cr5.trec qrels --per-query", folder).stdout


def test_documents_are_described_deleted_and_exported(folder):
    assert read_json("info cr5", folder)["dimensions"] == 40
    run_line(f"index {CORPUS} --into other", folder)
    assert "deleted 1 of 2" in run_line("delete volcano.fr nobody --from other", folder).stdout
    assert read_json("info other", folder)["documents"] == 719
    for suffix in ("jsonl", "csv", "trec"):
        assert "59 documents" in run_line(f"export other --out fr.{suffix} --where lang=fr", folder).stdout
    languages = {json.loads(line)["lang"] for line in (folder / "fr.jsonl").read_text(encoding="utf-8").splitlines()}
    assert languages == {"fr"}


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
        (["serve"], "no COLLECTION given"),
        (["serve", "library", "--config", "serve.toml"], "collections are given by serve.toml and on the command line"),
        (["serve", "--config", "serve.toml"], "serve.toml: the configuration can't be read"),
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


def test_an_index_that_gets_no_document_leaves_no_collection(folder):
    (folder / "broken.jsonl").write_text('{"id": "x1", "lang"\n')
    assert "nothing was indexed" in run_line("index broken.jsonl --into half", folder, code=1).stderr
    assert not (folder / "half").exists()
    run_line("index nowhere.jsonl --into half", folder, code=1)
    assert not (folder / "half").exists()
    (folder / "late.jsonl").write_text('{"id": "x1", "lang": "en", "text": "good"}\n{"id"\n')
    finished = run_line("index late.jsonl --into half", folder)  # what was good is kept
    assert "skipped 1 unusable" in finished.stderr
    assert "1 files or rows could not be read" in finished.stdout
    run_line("index broken.jsonl --into half", folder, code=1)  # and stays
    assert read_json("info half", folder)["documents"] == 1


def test_a_mistake_in_a_pipeline_is_pointed_at(folder):
    finished = run_line("search --in library x --lang en --pipeline bm25+cr6", folder, code=1)
    assert finished.stderr == (
        "paragloss: error: no 'cr6' in this collection to search with; it has bm25, cr5, default\n"
        "  bm25+cr6\n       ^\n"
    )


def test_a_pipeline_is_explained_with_and_without_a_query(folder):
    bare = run_line("search --in library --explain-pipeline --pipeline cr5:csls", folder).stdout
    assert bare.startswith("Dense(name='cr5'")
    out = run_line("search --in library lava --lang en --explain-pipeline", folder).stdout
    assert out.startswith("DefaultSearcher(")
    assert "'lava' [en], terms: lava" in out


def test_usage_errors_exit_with_2_and_completion_is_offered(folder):
    run_line("search --k 0.5", folder, code=2)
    run_line("nonsense", folder, code=2)
    assert "--install-completion" in run_line("--help", folder).stdout


def test_settings_are_numbers_words_and_switches(folder):
    settings = "--dim=12 --solver converged --no-stem --device numpy"
    run_line(f"train cr5 {CORPUS} --out plain --langs en,fr {settings}", folder)
    about = read_json("info plain", folder)
    assert (about["dimensions"], about["languages"]) == (12, ["en", "fr"])


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
    (bread,) = read_json("translate bread --with en-fr.tsv --lang en --to fr", folder)
    assert [alternative["text"] for alternative in bread["alternatives"]] == ["pain", "miche"]
    run_line("dictionary en-fr.tsv --lang en --to fr --out wordlist", folder)
    for model in ("wordlist", "cr5"):
        assert "volcan" in run_line(f"translate volcano --with {model} --lang en --to fr", folder).stdout
    finished = run_line("translate x --with wordlist --lang en --to da", folder, code=1)
    assert "no dictionary for en->da" in finished.stderr


def test_a_collection_is_searched_with_a_dictionary_where_it_has_words(folder):
    (folder / "bread.tsv").write_text("bread\tpain\n")
    run_line("dictionary bread.tsv --lang en --to fr --out words", folder)
    run_line(f"index {CORPUS} --into worded --model words", folder)
    answer = read_json("search --in worded bread --lang en --to fr,da", folder)
    assert answer["results"][0]["id"] == "bread.fr"
    finished = run_line("search --in worded bread --lang en --to da --pipeline words", folder, code=1)
    assert "no dictionary for en->da" in finished.stderr


def test_parallel_texts_choose_translations(folder):
    (folder / "loaf.tsv").write_text("bread\tpain\tn\nbread\tmiche\tn\n")
    run_line(f"train parallel {CORPUS} --langs en,fr --out pairs", folder)
    line = "translate bread --with loaf.tsv --lang en --to fr --parallel pairs --one"
    (bread,) = read_json(line, folder)
    assert [alternative["text"] for alternative in bread["alternatives"]] == ["pain"]


def test_a_ranker_is_trained_searched_with_and_looked_into(folder):
    run_line(f"train knrm {CORPUS} --langs en,fr --out knrm --dim 16", folder)
    run_line(f"index {CORPUS} --into ranked --model cr5 --model knrm", folder)
    # Danish documents, which the ranker does not know, stay in the list.
    answer = read_json("search --in ranked lava --lang en --to fr,da --pipeline 'cr5>knrm'", folder)
    assert {result["lang"] for result in answer["results"]} <= {"fr", "da"}


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
        (folder / "server.toml").write_text(f'collections = ["library"]\nport = {port}\n')
        for line in (f"serve library --port {port}", "serve --config server.toml"):
            finished = run_line(line, folder, code=1)
            assert finished.stdout == ""
            assert f"127.0.0.1:{port} can't be listened on" in finished.stderr


def test_watch_keeps_the_documents_of_a_missing_folder(folder):
    (folder / "watched").mkdir()
    (folder / "watched/a.txt").write_text("It rains.")
    run_line("watch watched --into of-watch --rounds 1", folder)
    (folder / "watched").rename(folder / "unmounted")
    finished = run_line("watch watched --into of-watch --rounds 2 --every 0.2", folder)
    assert finished.stderr.count("can't be opened") == 1  # once for both rounds
    assert read_json("info of-watch", folder)["documents"] == 1
