"""The page about one run or two, cell by cell."""

import re

from paragloss.evaluation import report as report_
from paragloss.evaluation.report import report


def parse_tables(page):
    """The tables of a page, cell by cell."""
    rows = [re.findall("<tr>(.*?)</tr>", table) for table in re.findall("<table>(.*?)</table>", page)]
    return [[re.findall("<t[hd]>(.*?)</t[hd]>", row) for row in table] for table in rows]


#: Two queries won (by a quarter and a half), one tied, one lost.
OLD = {"RR": {"a": 0.25, "b": 0.5, "c": 0.5, "d": 1.0}, "P@1": {"a": 0.0, "b": 0.0, "c": 0.0, "d": 1.0}}
NEW = {"RR": {"a": 0.5, "b": 1.0, "c": 0.5, "d": 0.5}, "P@1": {"a": 0.0, "b": 1.0, "c": 0.0, "d": 0.0}}


def test_the_page_of_two_runs():
    page = report({"old": OLD, "new": NEW})
    headings = ["Evaluation", "Averages", "new against old", "How the queries spread", "Every query"]
    assert re.findall("<h[12]>(.*?)</h[12]>", page) == headings
    assert "<p>4 judged queries.</p>" in page
    averages, differences, queries = parse_tables(page)
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
    assert re.findall("<h[12]>(.*?)</h[12]>", page) == ["One", "Averages", "How the queries spread", "Every query"]
    assert parse_tables(page)[-1][0] == ["query", "RR", "P@1"]
    assert page.count("<svg") == 1


def test_the_plots_of_two_runs(monkeypatch):
    drawn = []
    monkeypatch.setattr(report_, "render_figure", lambda figure, caption: drawn.append(figure) or "<svg>")
    report({"old": OLD, "new": NEW})
    gains, spread = drawn
    bars = gains.axes[0].patches
    assert [bar.get_height() for bar in bars] == [0.5, 0.25, 0.0, -0.5]
    assert [bar.get_x() + bar.get_width() / 2 for bar in bars] == [0, 1, 2, 3]
    assert {bar.get_width() for bar in bars} == {1.0}
    colours = [bar.get_facecolor() for bar in bars]
    assert [green > red for red, green, _, _ in colours] == [True, True, False, False]  # only what was won is green
    assert (gains.axes[0].get_xlabel(), gains.axes[0].get_ylabel()) == ("queries", "RR gained")
    assert tuple(gains.get_size_inches()) == (5, 3)
    assert tuple(spread.get_size_inches()) == (6, 3)
    rr, p = spread.axes
    assert (rr.get_title(), p.get_title()) == ("RR", "P@1")
    assert rr.get_ylim() == (-0.02, 1.02)
    assert [entry.get_text() for entry in rr.get_legend().get_texts()] == ["old", "new"]
    old, new = rr.lines
    # Each quarter of the queries scores at least so much.
    assert old.get_xdata().tolist() == new.get_xdata().tolist() == [0.25, 0.5, 0.75, 1.0]
    assert old.get_ydata().tolist() == [1.0, 0.5, 0.5, 0.25]


def test_report_names_every_query_and_escapes_what_it_shows():
    first = {"RR": {"q<1>": 0.5, "q2": 1.0}}
    second = {"RR": {"q<1>": 1.0, "q2": 1.0}}
    page = report({"old": first, "new": second}, title="old & new")
    assert "q&lt;1&gt;" in page
    assert "q<1>" not in page
    assert page.count("<svg") == 2
    assert "+0.2500" in page
    assert "http-equiv" not in page
