"""The page about one run or two, cell by cell."""

import re

from paragloss.evaluation.report import report


def tables(page):
    """The tables of a page, cell by cell."""
    rows = [re.findall("<tr>(.*?)</tr>", table) for table in re.findall("<table>(.*?)</table>", page)]
    return [[re.findall("<t[hd]>(.*?)</t[hd]>", row) for row in table] for table in rows]


#: Two queries won (by a quarter and a half), one tied, one lost.
OLD = {"RR": {"a": 0.25, "b": 0.5, "c": 0.5, "d": 1.0}, "P@1": {"a": 0.0, "b": 0.0, "c": 0.0, "d": 1.0}}
NEW = {"RR": {"a": 0.5, "b": 1.0, "c": 0.5, "d": 0.5}, "P@1": {"a": 0.0, "b": 1.0, "c": 0.0, "d": 0.0}}


def test_the_page_of_two_runs():
    page = report({"old": OLD, "new": NEW})
    headings = ["Evaluation", "Averages", "new against old", "Every query"]
    assert re.findall("<h[12]>(.*?)</h[12]>", page) == headings
    assert "<p>4 judged queries.</p>" in page
    averages, differences, queries = tables(page)
    assert averages == [["run", "RR", "P@1"], ["old", "0.5625", "0.2500"], ["new", "0.6250", "0.2500"]]
    # RR: gains of .25, .5, 0, -.5, mean .0625, deviation .4270; 3.1824 x .4270 / 2 = .6794. The three that differ have
    # eight assignments of signs, and in all of them |sum| is .25 or more.
    assert differences[0] == ["measure", "difference", "95 % interval", "p (t)", "p (randomisation)", "won/tied/lost"]
    assert differences[1] == ["RR", "+0.0625", "-0.6169 to +0.7419", "0.7888", "1", "2 / 1 / 1"]
    assert differences[2][:2] + differences[2][4:] == ["P@1", "+0.0000", "1", "1 / 2 / 1"]
    # What the new run finds worst stands first, equals by name.
    assert queries == [
        ["query", "RR old", "RR new", "P@1 old", "P@1 new"],
        ["a", "0.250", "0.500", "0.000", "0.000"],
        ["c", "0.500", "0.500", "0.000", "0.000"],
        ["d", "1.000", "0.500", "1.000", "0.000"],
        ["b", "0.500", "1.000", "0.000", "1.000"],
    ]


def test_the_page_of_one_run_compares_nothing():
    page = report({"old": OLD}, title="One")
    assert re.findall("<h[12]>(.*?)</h[12]>", page) == ["One", "Averages", "Every query"]
    assert tables(page)[-1][0] == ["query", "RR", "P@1"]


def test_report_names_every_query_and_escapes_what_it_shows():
    first = {"RR": {"q<1>": 0.5, "q2": 1.0}}
    second = {"RR": {"q<1>": 1.0, "q2": 1.0}}
    page = report({"old": first, "new": second}, title="old & new")
    assert "q&lt;1&gt;" in page
    assert "q<1>" not in page
    assert "+0.2500" in page
    assert "http-equiv" not in page
