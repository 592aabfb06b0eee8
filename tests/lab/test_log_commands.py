"""Click logs on the command line: to judgments, to training data, to queries."""

import json

import pytest
from synthetic_logs import synthetic_log, write_sessions
from test_cli import CORPUS, read_json, run_line

#: Five people opened the volcano for volcanoes, one the bread; one the bee for bees.
OPENED = [("火山", "volcano.zh")] * 5 + [("火山", "bread.zh"), ("蜜蜂", "honey-bee.zh")]
SOGOU = "".join(f"00:00:0{n}\tu{n}\t[{query}]\t1 1\t{url}\n" for n, (query, url) in enumerate(OPENED))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sogou.txt").write_text(SOGOU, encoding="utf-8")
    write_sessions(tmp_path / "log.jsonl", synthetic_log(queries=6, documents=5, sessions=40).sessions)
    return tmp_path


@pytest.mark.parametrize("model", ["dctr", "tacm", "raw"])
def test_a_log_becomes_judgments(folder, model):
    output = run_line(f"clicks log.jsonl --model {model} --lang en --out {model}", folder).stdout
    assert "240 sessions, 6 queries" in output
    rows = [json.loads(line) for line in (folder / model / "queries.jsonl").read_text().splitlines()]
    assert rows[0] == {"id": "q1", "lang": "en", "text": "query 0"}
    grades = [int(line.split()[3]) for line in (folder / model / "qrels").read_text().splitlines()]
    assert set(grades) == {0, 1, 2}


def test_queries_are_selected_by_frequency_and_scores_become_grades(folder):
    output = run_line("clicks sogou.txt --out head --asked 2.. --scores", folder).stdout
    assert "6 sessions, 1 queries, 2 judged pairs" in output
    grades = dict(line.split()[2:] for line in (folder / "head" / "qrels").read_text().splitlines())
    assert grades == {"volcano.zh": "750", "bread.zh": "250"}  # (5 + 1) / (6 + 2), and (1 + 1) / (6 + 2)
    run_line("clicks sogou.txt --out tail --asked ..2 --scores", folder)
    assert (folder / "tail" / "qrels").read_text().startswith("q2 0 honey-bee.zh")
    judged = f"head/queries.jsonl,{CORPUS},head/qrels"
    run_line(f"train knrm --judged {judged} --difference 500 --dim 4 --epochs 1 --out knrm", folder)
    assert (folder / "knrm" / "meta.json").is_file()


def test_sogou_logs_are_read_and_their_queries_searched(folder):
    run_line("clicks sogou.txt --out judged --shares 0.6", folder)
    assert "q1 0 volcano.zh 1" in (folder / "judged" / "qrels").read_text()
    run_line(f"index {CORPUS} --into library", folder)
    run_line("search --in library --to zh --queries judged/queries.jsonl --run run.trec", folder)
    assert read_json("eval run.trec judged/qrels --measures RR", folder)["mean"]["RR"] > 0.5


def test_a_log_is_translated_and_cleaned(folder):
    (folder / "zh-en.tsv").write_text("火山\tVolcano\n蜜蜂\tVolcano\n", encoding="utf-8")
    judged = f"sogou.txt,{CORPUS}"
    for options, text in (("--out english", "Volcano"), ("--out lower --case lower", "volcano")):
        report = read_json(f"log translate {judged} --with zh-en.tsv --to en {options}", folder)
        assert report["ambiguous translations"] == 1
        lines = (folder / options.split()[1] / "queries.jsonl").read_text().splitlines()
        assert [(query["lang"], query["text"]) for query in map(json.loads, lines)] == [("en", text)] * 2
    report = read_json(f"log clean {judged} --after english --longest 1 --out clean", folder)
    assert report == {"ambiguous": 2, "removed": 2, "pairs before": 3, "pairs after": 0}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("clicks log.jsonl --model magic --out x", "--model 'magic': expected one of dctr"),
        ("clicks log.jsonl --shares many --out x", "--shares 'many'"),
        ("clicks log.jsonl --asked often --out x", "--asked 'often': expected how often, as 50.."),
        ("clicks log.jsonl --asked 999.. --out x", "no query is asked 999 times or more"),
        ("clicks log.jsonl --shares 2 --out x", "shares (2.0,)"),
        ("clicks nowhere.jsonl --out x", "nowhere.jsonl"),
        ("log fold a,b --out x", "no work 'fold'"),
        ("log translate a,b", "no --out given"),
        ("log clean a.jsonl --out x", "expected QUERIES,DOCUMENTS,JUDGMENTS or LOG,DOCUMENTS"),
    ],
)
def test_errors_are_one_line(folder, line, message):
    run = run_line(line, folder, code=1)
    assert message in run.stderr
    assert run.stderr.count("\n") == 1
