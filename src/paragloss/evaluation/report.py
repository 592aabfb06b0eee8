"""Write an HTML report of runs: averages, significance, plots and every query, in one file without network access."""

from __future__ import annotations

import html
import io
from collections.abc import Mapping, Sequence
from typing import Any

from paragloss.evaluation.measures import Scores, mean
from paragloss.evaluation.significance import compare

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c}
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.25rem .75rem;border-bottom:1px solid #ddd;text-align:right}
td:first-child,th:first-child{text-align:left}svg{max-width:100%;height:auto}
figure{margin:1.5rem 0}figcaption{color:#555}
"""


def report(runs: Mapping[str, Scores], *, title: str = "Evaluation") -> str:
    """Write a page of HTML that compares named runs, all measured with the same measures and judgments.

    :param runs: name -> scores; the first is the baseline that the others are compared with
    """
    baseline_name, *compared_names = runs
    baseline = runs[baseline_name]
    measures = list(baseline)
    sections = [
        f"<h1>{html.escape(title)}</h1>",
        f"<p>{len(baseline[measures[0]])} judged queries.</p>",
        "<h2>Averages</h2>",
        _tabulate_averages(runs, measures),
    ]
    for name in compared_names:
        figure = _plot_gains(baseline, runs[name], measures[0])
        sections += [
            f"<h2>{html.escape(name)} against {html.escape(baseline_name)}</h2>",
            _tabulate_comparison(baseline, runs[name]),
            render_figure(figure, f"{measures[0]} gained per query"),
        ]
    sections += [
        "<h2>How the queries spread</h2>",
        render_figure(_plot_spread(runs, measures), "Share of queries that score at least so much, per measure"),
        "<h2>Every query</h2>",
        _tabulate_queries(runs, measures),
    ]
    head = f"<meta charset=utf-8><title>{html.escape(title)}</title><style>{_STYLE}</style>"
    return f"<!doctype html><html lang=en>{head}{''.join(sections)}</html>"


def _tabulate_averages(runs: Mapping[str, Scores], measures: Sequence[str]) -> str:
    """Return a table with a row for each run: its average of each measure."""
    rows: list[list[str]] = []
    for name, scores in runs.items():
        averages = mean(scores)
        rows.append([name, *(f"{averages[measure]:.4f}" for measure in measures)])
    return _render_table(["run", *measures], rows)


def _tabulate_comparison(baseline: Scores, scores: Scores) -> str:
    """Return an HTML table with a row for each measure: the difference to the baseline and its significance."""
    header = ["measure", "difference", "95 % interval", "p (t)", "p (randomisation)", "won/tied/lost"]
    rows: list[list[str]] = []
    for measure in baseline:
        comparison = compare(baseline[measure], scores[measure])
        difference = f"{comparison.difference:+.4f}"
        interval = f"{comparison.low:+.4f} to {comparison.high:+.4f}"
        p_values = [f"{comparison.p_t:.4g}", f"{comparison.p_randomisation:.4g}"]
        counts = f"{comparison.wins} / {comparison.ties} / {comparison.losses}"
        rows.append([measure, difference, interval, *p_values, counts])
    return _render_table(header, rows)


def _tabulate_queries(runs: Mapping[str, Scores], measures: Sequence[str]) -> str:
    """Return a table with the scores of each query in each run, the worst query of the last run first."""
    names = list(runs)
    last_scores = runs[names[-1]][measures[0]]
    queries = sorted(runs[names[0]][measures[0]], key=lambda query: (last_scores[query], query))
    columns = [(measure, name) for measure in measures for name in names]
    header = ["query", *(f"{measure} {name}" if len(names) > 1 else measure for measure, name in columns)]
    rows = [[query, *(f"{runs[name][measure][query]:.3f}" for measure, name in columns)] for query in queries]
    return _render_table(header, rows)


def _render_table(header: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _plot_spread(runs: Mapping[str, Scores], measures: list[str]) -> Any:
    """Plot for each measure the share of queries (x) that score at least so much (y), a line for each run."""
    figure, axes = panels(len(measures), width=max(3.0, 5 / len(measures)))
    for ax, measure in zip(axes, measures, strict=True):
        for name, scores in runs.items():
            values = sorted(scores[measure].values(), reverse=True)
            ax.plot([(i + 1) / len(values) for i in range(len(values))], values, label=name)
        ax.set(title=measure, xlabel="share of queries", ylim=(-0.02, 1.02))
    axes[0].legend(fontsize=8)
    return figure


def _plot_gains(first: Scores, second: Scores, measure: str) -> Any:
    """Plot how much each query gains from the first run to the second, the largest gain first."""
    figure, axes = panels(1, width=5)
    gains = sorted((second[measure][q] - first[measure][q] for q in first[measure]), reverse=True)
    colours = ["#2a7f62" if gain > 0 else "#b5523b" for gain in gains]
    axes[0].bar(range(len(gains)), gains, color=colours, width=1)
    axes[0].set(xlabel="queries", ylabel=f"{measure} gained")
    return figure


def panels(columns: int, *, width: float = 4.0, height: float = 3.0) -> tuple[Any, list[Any]]:
    """Make a figure with a number of plots side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height), layout="constrained")
    return figure, list(figure.subplots(1, columns, squeeze=False)[0])


def render_figure(figure: Any, caption: str) -> str:
    """Render a figure as HTML."""
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "paragloss"}):  # the same page from the same figures
        figure.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    return f"<figure>{svg[svg.index('<svg') :]}<figcaption>{html.escape(caption)}</figcaption></figure>"
