import json

import pytest
from synthetic_logs import write_sessions

from paragloss.errors import InputError
from paragloss.lab.clicks.log_files import Click, Session, read_sessions, read_sogou


def test_sessions_come_back_as_written(tmp_path):
    sessions = [
        Session("rain", ("d1", "d2"), (Click("d2", 2, 31.5), Click("d1", 1)), "en"),
        Session("pluie", (), (), ""),
    ]
    write_sessions(tmp_path / "log.jsonl", sessions)
    assert list(read_sessions(tmp_path / "log.jsonl")) == sessions


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"shown": []}, "no query"),
        ({"query": "x", "shown": "d1"}, "'shown' is no list"),
        ({"query": "x", "clicks": 1}, "'clicks' is no list"),
        ({"query": "x", "clicks": ["d1"]}, "a click names no document"),
        ({"query": "x", "shown": ["a"], "clicks": [{"doc": "b"}]}, "the click on 'b' is on no document shown"),
        ({"query": "x", "clicks": [{"doc": "b", "dwell": -1}]}, "'dwell' of 'b' is -1"),
        ({"query": "x", "clicks": [{"doc": "b", "dwell": "long"}]}, "'dwell' of 'b' is 'long'"),
        ({"query": "x", "lang": "?"}, "unknown language code"),
    ],
)
def test_bad_sessions(tmp_path, row, message):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(InputError, match=message) as caught:
        list(read_sessions(path))
    assert str(caught.value).startswith(f"{path}:1: ")


def test_sogou_lines_are_grouped_by_user_and_query(tmp_path):
    path = tmp_path / "access_log.txt"
    path.write_text(
        "00:00:01\tu1\t[天气 [北京]]\t8 2\ta.cn/x\n"
        "00:00:02\tu2\t[天气 [北京]]\t1\t1\tb.cn/\n"
        "00:00:09\tu1\t[天气 [北京]]\t3 1\tc.cn/?q=1\n"
    )
    assert list(read_sogou(path)) == [
        Session("天气 [北京]", (), (Click("c.cn/?q=1", 3), Click("a.cn/x", 8)), "zh"),
        Session("天气 [北京]", (), (Click("b.cn/", 1),), "zh"),
    ]


def test_a_bad_sogou_line(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("00:00:01\tu1\tno brackets\t8 2\ta.cn\n")
    with pytest.raises(InputError, match=r"log.txt:1: not a line of Sogou's log; expected time, user"):
        list(read_sogou(path))
