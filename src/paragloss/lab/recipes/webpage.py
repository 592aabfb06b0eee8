"""docs/understand/results.html: what results.md says, with plots, in one file that needs no network."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from paragloss.lab.recipes.collected import KINDS, averages, of_kind, systems_of
from paragloss.lab.recipes.plots import panels

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}
table{border-collapse:collapse;margin:1rem 0;font-size:.85rem;display:block;overflow-x:auto}
td,th{padding:.2rem .6rem;border-bottom:1px solid #ddd;text-align:right}
td:first-child,th:first-child{text-align:left}svg{max-width:100%;height:auto}code{background:#f3f3f3}
"""


def page(results: Mapping[str, Any], text: str) -> str:
    """A page's Markdown with plots, one file, no network."""
    plots = [
        _figure(_quality_and_cost(results), "Quality against cost: mean over all tasks a system was asked, ms a query")
    ]
    for kind in KINDS:
        if tasks := of_kind(results, kind):
            plots.append(_figure(_bars(tasks), f"{kind.capitalize()}, task by task"))
    body = _as_html(text)
    first, _, rest = body.partition("<h2>")
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>Paragloss: results</title><style>{_STYLE}</style>{first}{''.join(plots)}<h2>{rest}</html>\n"
    )


def _as_html(text: str) -> str:
    """The little Markdown that this module writes."""
    made: list[str] = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        markup = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(line, quote=False))
        markup = re.sub(r"\*\*([^*]*)\*\*", r"<b>\1</b>", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", markup))
        if markup.startswith("|---"):
            continue
        if markup.startswith("|"):
            begins = not lines[number - 1].startswith("|")
            ends = number + 1 == len(lines) or not lines[number + 1].startswith("|")
            cell = "th" if begins else "td"
            cells = "".join(f"<{cell}>{c.strip()}</{cell}>" for c in markup[1:-1].split("|"))
            made.append(f"{'<table>' if begins else ''}<tr>{cells}</tr>{'</table>' if ends else ''}")
        elif markup.startswith("#"):
            level = len(markup) - len(markup.lstrip("#"))
            made.append(f"<h{level}>{markup.lstrip('# ')}</h{level}>")
        elif markup.strip().startswith("- "):
            made.append(f"<p>• {markup.strip()[2:]}</p>")
        elif markup:
            made.append(f"<p>{markup}</p>" if not made or not made[-1].startswith("<p>") else f"{markup} ")
    return "\n".join(made)


def _quality_and_cost(results: Mapping[str, Any]) -> Any:
    drawn, (axis,) = panels(1, width=9, height=5)
    for name, values in averages(results["tasks"]).items():
        cost = results["costs"].get(name, {}).get("ms/query")
        if cost:
            axis.scatter([cost], [np.mean(values)])
            axis.annotate(name, (cost, float(np.mean(values))), fontsize=8, xytext=(4, 2), textcoords="offset points")
    axis.set(xscale="log", xlabel="ms of one core for a query", ylabel="mean over tasks")
    return drawn


def _bars(tasks: Mapping[str, Any]) -> Any:
    """A group for each task, a bar for each system."""
    names = systems_of(tasks)
    drawn, (axis,) = panels(1, width=max(7.0, 1.6 * len(tasks)), height=3.5)
    width = 0.9 / max(len(names), 1)
    for i, name in enumerate(names):
        heights = [float(np.mean(told["systems"].get(name) or [0])) for told in tasks.values()]
        axis.bar(np.arange(len(tasks)) + i * width, heights, width, label=name)
    axis.set_xticks(np.arange(len(tasks)) + 0.45, [", ".join(t.split(", ")[1:]) for t in tasks], fontsize=7)
    axis.legend(fontsize=6, ncols=2, loc="center left", bbox_to_anchor=(1, 0.5))
    return drawn


def _figure(drawn: Any, caption: str) -> str:
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "paragloss"}):  # the same page from the same figures
        drawn.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    return f"<figure>{svg[svg.index('<svg') :]}<figcaption>{html.escape(caption)}</figcaption></figure>"
