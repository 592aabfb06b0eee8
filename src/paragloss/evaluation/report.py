"""An HTML page about one run or two: averages, significance and every query. One file, no network."""

from __future__ import annotations

import html
from collections.abc import Mapping

from paragloss.evaluation.measures import Scores, mean
from paragloss.evaluation.significance import compare

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c}
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.25rem .75rem;border-bottom:1px solid #ddd;text-align:right}
td:first-child,th:first-child{text-align:left}
"""


def report(runs: Mapping[str, Scores], *, title: str = "Evaluation") -> str:
    """The page for named runs, all measured with the same measures and judgments. The first is the baseline."""
    names = list(runs)
    measures = list(runs[names[0]])
    parts = [f"<h1>{html.escape(title)}</h1>", f"<p>{len(runs[names[0]][measures[0]])} judged queries.</p>"]
    parts.append("<h2>Averages</h2>")
    averages = {name: mean(scores) for name, scores in runs.items()}
    parts.append(_table(["run", *measures], [[n, *(f"{averages[n][m]:.4f}" for m in measures)] for n in names]))
    for other in names[1:]:
        parts.append(f"<h2>{html.escape(other)} against {html.escape(names[0])}</h2>")
        rows = []
        for measure in measures:
            c = compare(runs[names[0]][measure], runs[other][measure])
            rows.append(
                [
                    measure,
                    f"{c.difference:+.4f}",
                    f"{c.low:+.4f} to {c.high:+.4f}",
                    f"{c.p_t:.4g}",
                    f"{c.p_randomisation:.4g}",
                    f"{c.wins} / {c.ties} / {c.losses}",
                ]
            )
        parts.append(
            _table(["measure", "difference", "95 % interval", "p (t)", "p (randomisation)", "won/tied/lost"], rows)
        )
    parts.append("<h2>Every query</h2>")
    queries = sorted(runs[names[0]][measures[0]], key=lambda q: (runs[names[-1]][measures[0]][q], q))
    header = ["query", *(f"{m} {n}" if len(names) > 1 else m for m in measures for n in names)]
    rows = [[q, *(f"{runs[n][m][q]:.3f}" for m in measures for n in names)] for q in queries]
    parts.append(_table(header, rows))
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{html.escape(title)}</title>"
        f"<style>{_STYLE}</style>{''.join(parts)}</html>"
    )


def _table(header: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"
