"""Click logs on the command line: to judgments, to training data, to queries."""

import json

import pytest
from synthetic_logs import synthetic_log, write_sessions
from test_cli import CORPUS, paragloss_

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
    output = paragloss_("clicks", "log.jsonl", "--model", model, "--lang", "en", "--out", model, cwd=folder).stdout
    assert "240 sessions, 6 queries" in output
    rows = [json.loads(line) for line in (folder / model / "queries.jsonl").read_text().splitlines()]
    assert rows[0] == {"id": "q1", "lang": "en", "text": "query 0"}
    grades = [int(line.split()[3]) for line in (folder / model / "qrels").read_text().splitlines()]
    assert set(grades) == {0, 1, 2}


def test_queries_are_selected_by_frequency_and_scores_become_grades(folder):
    head = ("clicks", "sogou.txt", "--out", "head", "--asked", "2..", "--scores")
    assert "6 sessions, 1 queries, 2 judged pairs" in paragloss_(*head, cwd=folder).stdout
    grades = dict(line.split()[2:] for line in (folder / "head" / "qrels").read_text().splitlines())
    assert grades == {"volcano.zh": "750", "bread.zh": "250"}  # (5 + 1) / (6 + 2), and (1 + 1) / (6 + 2)
    paragloss_("clicks", "sogou.txt", "--out", "tail", "--asked", "..2", "--scores", cwd=folder)
    assert (folder / "tail" / "qrels").read_text().startswith("q2 0 honey-bee.zh")
    paragloss_("train", "knrm", "--judged", f"head/queries.jsonl,{CORPUS},head/qrels", "--difference", "500",
               "--dim", "4", "--epochs", "1", "--out", "knrm", cwd=folder)  # fmt: skip
    assert (folder / "knrm" / "meta.json").is_file()


def test_sogou_logs_are_read_and_their_queries_searched(folder):
    paragloss_("clicks", "sogou.txt", "--out", "judged", "--shares", "0.6", cwd=folder)
    assert "q1 0 volcano.zh 1" in (folder / "judged" / "qrels").read_text()
    paragloss_("index", CORPUS, "--into", "library", cwd=folder)
    search = ("search", "--in", "library", "--to", "zh", "--queries", "judged/queries.jsonl", "--run", "run.trec")
    paragloss_(*search, cwd=folder)
    measured = paragloss_("eval", "run.trec", "judged/qrels", "--measures", "RR", "--json", cwd=folder).stdout
    assert json.loads(measured)["mean"]["RR"] > 0.5


def test_a_log_is_translated_cleaned_and_cased(folder):
    (folder / "zh-en.tsv").write_text("火山\tVolcano\n蜜蜂\tVolcano\n", encoding="utf-8")
    judged = f"sogou.txt,{CORPUS}"
    translate = ("log", "translate", judged, "--with", "zh-en.tsv", "--to", "en", "--case", "lower", "--json")
    report = json.loads(paragloss_(*translate, "--out", "english", cwd=folder).stdout)
    assert report["ambiguous translations"] == 1
    queries = [json.loads(line) for line in (folder / "english" / "queries.jsonl").read_text().splitlines()]
    assert [(q["lang"], q["text"]) for q in queries] == [("en", "volcano"), ("en", "volcano")]
    clean = ("log", "clean", judged, "--after", "english", "--longest", "1", "--out", "clean", "--json")
    assert json.loads(paragloss_(*clean, cwd=folder).stdout)["removed"] == 2
    (folder / "q.jsonl").write_text('{"id": "q1", "lang": "en", "text": "Big Apple"}\n')
    (folder / "qrels").write_text("q1 0 apple.en 1\n")
    row = '{"id": "apple.en", "lang": "en", "text": "a city"}\n'
    (folder / "docs.jsonl").write_text(row)
    case = ("log", "case", "q.jsonl,docs.jsonl,qrels", "--case", "lower", "--out", "cased", "--json")
    assert json.loads(paragloss_(*case, cwd=folder).stdout) == {"queries": 1, "changed": 1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["clicks", "log.jsonl", "--model", "magic", "--out", "x"], "--model 'magic': expected one of dctr"),
        (["clicks", "log.jsonl", "--shares", "many", "--out", "x"], "--shares 'many'"),
        (["clicks", "log.jsonl", "--asked", "often", "--out", "x"], "--asked 'often': expected how often, as 50.."),
        (["clicks", "log.jsonl", "--asked", "999..", "--out", "x"], "no query is asked 999 times or more"),
        (["clicks", "log.jsonl", "--shares", "2", "--out", "x"], "shares (2.0,)"),
        (["clicks", "nowhere.jsonl", "--out", "x"], "nowhere.jsonl"),
        (["log", "fold", "a,b", "--out", "x"], "no work 'fold'"),
        (["log", "translate", "a,b"], "no --out given"),
        (["log", "case", "a.jsonl", "--out", "x"], "expected QUERIES,DOCUMENTS,JUDGMENTS or LOG,DOCUMENTS"),
    ],
)
def test_errors_are_one_line(folder, arguments, message):
    run = paragloss_(*arguments, cwd=folder, code=1)
    assert message in run.stderr
    assert run.stderr.count("\n") == 1
