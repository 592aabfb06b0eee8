"""docs/understand/results.md, docs/understand/results.html and the tables in other pages, written from results.json and
nothing else.

In any page, and in the README beside the folder, a table stands between `<!-- recipe: NAME -->` and `<!-- end -->`,
some systems of the results page between `<!-- tasks: KIND, KIND: SYSTEM, SYSTEM -->` and `<!-- end -->`, the parts of
a search alone and fused (studies/fusion.py) behind `<!-- fusion -->` and `<!-- box -->`; a test fails when what stands
there is not what results.json says.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paragloss.evaluation.report import panels
from paragloss.evaluation.report import shown as shown_figure
from paragloss.lab.recipes import claims
from paragloss.lab.recipes.collected import KINDS, averages, of_kind, systems_of
from paragloss.lab.recipes.markdown_tables import figure, grid, table

_BLOCK = re.compile(r"(<!-- recipe: ([a-z0-9-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_TASKS = re.compile(r"(<!-- tasks: ([a-z, ]+): ([^>]+?) -->\n).*?(<!-- end -->)", re.DOTALL)
_FUSION = re.compile(r"(<!-- (fusion|box) -->\n).*?(<!-- end -->)", re.DOTALL)
_PARTS = {
    "words": "words", "default": "default", "muse": "MUSE", "own": "own table", "cr5": "Cr5",
    "meaning": "meaning", "e5": "e5", "fast": "all but e5", "box": "the box", "fused": "all",
}  # fmt: skip
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}
table{border-collapse:collapse;margin:1rem 0;font-size:.85rem;display:block;overflow-x:auto}
td,th{padding:.2rem .6rem;border-bottom:1px solid #ddd;text-align:right}
td:first-child,th:first-child{text-align:left}svg{max-width:100%;height:auto}code{background:#f3f3f3}
"""
_CLAIMED = (
    "`fast`, which has learned nothing of the collection, against each method of the papers, which has; the same",
    "with a table and Cr5 learned from the texts those methods learned from; and `best`, with e5, against e5 alone.",
    "On all queries of a set that both were asked, over its pairs of languages. p by randomisation, corrected for",
    "the number of rivals (Holm); surely: p under .05.",
)


def write(results: Mapping[str, Any], docs: Path) -> list[Path]:
    """All that is made from results; which files."""
    written = [docs / "understand" / "results.md", docs / "understand" / "results.html"]
    written[0].write_text(markdown(results), encoding="utf-8")
    written[1].write_text(html_page(results, markdown(results)), encoding="utf-8")
    for path in with_figures(docs):
        before = path.read_text(encoding="utf-8")
        after = filled(before, results)
        if after != before:
            path.write_text(after, encoding="utf-8")
            written.append(path)
    return written


def with_figures(docs: Path) -> list[Path]:
    """The pages that may have tables of ours in them."""
    written = [docs.parent / "README.md", *docs.rglob("*.md")]
    return sorted(path for path in written if path.is_file() and path.name != "results.md")


def filled(text: str, results: Mapping[str, Any]) -> str:
    """A page with its tables as results.json has them."""
    text = _FUSION.sub(lambda block: f"{block[1]}{fused(results[block[2]])}{block[3]}", text)
    text = _BLOCK.sub(lambda block: f"{block[1]}{shown(block[2], results)}{block[3]}", text)
    return _TASKS.sub(lambda block: f"{block[1]}{side_by_side(block[2], block[3], results)}{block[4]}", text)


def fused(measured: Mapping[str, Any]) -> str:
    """Every set: each part of a search alone, and all of them; the best in bold."""
    parts = [part for part in _PARTS if any(part in told["RR"] for told in measured.values())]
    rows = []
    for told in measured.values():
        best = max(told["RR"].values())
        cells = [(told["RR"].get(part), figure(told["RR"][part]) if part in told["RR"] else "") for part in parts]
        shown = [f"**{cell}**" if value == best else cell for value, cell in cells]
        rows.append([told["name"], str(told["languages"]), f"{told['queries']:,}", *shown])
    return "\n".join(grid(["RR", "languages", "queries", *(_PARTS[part] for part in parts)], rows)) + "\n"


def side_by_side(kinds: str, systems: str, results: Mapping[str, Any]) -> str:
    """Some systems of the results page, a table for each kind of task."""
    lines = []
    for kind in kinds.split(", "):
        lines += [f"**{kind}**", "", *_by_task(of_kind(results, kind), systems.split(", ")), ""]
    seeds = "Three seeds, each with other training texts: mean ± deviation."
    return "\n".join([*lines, f"`paragloss recipes results`. {seeds} Reciprocal rank; nDCG@10 where ad hoc."]) + "\n"


def shown(name: str, results: Mapping[str, Any]) -> str:
    measured = results["tables"].get(name)
    if measured is None:
        return f"`paragloss recipes {name}` has not been run to its end here.\n"
    return f"{table(measured, heading=False)}\n{measured['verdict']}\n"


def markdown(results: Mapping[str, Any]) -> str:
    lines = ["# Results: every method on the same splits", "", *_introduction(results), ""]
    lines += ["## Findings", "", *(f"- {line}" for line in findings(results)), ""]
    lines += ["## Above every paper's method?", "", *_CLAIMED, "", *claims.lines(results.get("claims", {})), ""]
    for kind in KINDS:
        tasks = of_kind(results, kind)
        if tasks:
            measure = "nDCG@10" if kind == "ad hoc" else "reciprocal rank"
            lines += [f"## {kind.capitalize()}: {measure}", "", *_by_task(tasks), ""]
            lines += _compared(results, kind)
    lines += ["## Cost", "", *_costs(results["costs"]), ""]
    lines += ["## The papers' tables", ""]
    for name, measured in results["tables"].items():
        lines += [f"- [{measured['title']}](../do/recipes.md), `paragloss recipes {name}`:"]
        lines += [f"  - {line}" for line in measured["verdict"].splitlines()]
    return "\n".join(lines).rstrip() + "\n"


def _introduction(results: Mapping[str, Any]) -> list[str]:
    seeds = max((len(values) for task in results["tasks"].values() for values in task["systems"].values()), default=0)
    return [
        "Made by `paragloss recipes results` and `paragloss recipes --docs docs --out results`; nothing is typed by",
        f"hand. Learned systems have up to {seeds} seeds: mean ± standard deviation. Tasks, splits and sizes are those",
        "of `src/paragloss/lab/recipes/tasks.py`. `fast` is what `paragloss search` does with the default model "
        "(its held",
        "build, which has not seen what is asked), `best` is `fast` with e5; `own` adds a table and Cr5 learned from",
        "the training part of the same collection. An empty cell: the system does not go between these languages",
        "(a machine translates English to Spanish only, dictionaries and tables go one way), or it was not measured.",
        "Costs are of one core, e5's told from some of the texts where its vectors came from elsewhere; all took",
        f"{results['seconds'] / 60:,.0f} minutes of one core ({results['machine']}).",
    ]


def _by_task(tasks: Mapping[str, Any], only: Sequence[str] = ()) -> list[str]:
    columns = [", ".join(task.split(", ")[1:]) for task in tasks]
    means = averages(tasks)
    rows = []
    for name in [name for name in systems_of(tasks) if not only or name in only]:
        cells = [_value(told["systems"].get(name)) for told in tasks.values()]
        rows.append([name, *cells, figure(float(np.mean(means[name]))) if len(means[name]) == len(tasks) else ""])
    counts = ["queries", *(str(told["queries"]) for told in tasks.values()), ""]
    return grid(["", *columns, "mean"], [*rows, counts])


def _value(values: Sequence[float] | None) -> str:
    if not values:
        return ""
    spread = f" ± {figure(float(np.std(values)))}" if len(values) > 1 else ""
    return f"{figure(float(np.mean(values)))}{spread}"


def _compared(results: Mapping[str, Any], kind: str) -> list[str]:
    tests = results["comparisons"].get(kind, {})
    if not tests:
        return []
    rows = []
    for name, t in sorted(tests.items(), key=lambda item: -item[1]["difference"]):
        means = figure(t["fast"]), figure(t["mean"]), f"{t['difference']:+.3f}"
        rows.append([name, str(t["queries"]), *means, claims.chance(t["p"])])
    caption = "Against `fast` on the same queries; p by randomisation, corrected for the number of comparisons (Holm)."
    return [caption, "", *grid(["", "queries", "fast", "mean", "difference", "p"], rows), ""]


def _costs(costs: Mapping[str, Any]) -> list[str]:
    columns = ("seconds", "MB", "documents/s", "ms/query")
    rows = [[name, *(figure(told[c]) if c in told else "" for c in columns)] for name, told in sorted(costs.items())]
    return grid(["", "training, s", "model, MB", "documents/s", "ms a query"], rows)


def findings(results: Mapping[str, Any]) -> list[str]:
    """What the comparisons say, in words; each line is computed."""
    lines = []
    for kind, tests in results["comparisons"].items():
        if not tests:
            continue
        better = [n for n, t in tests.items() if t["difference"] > 0 and t["p"] < 0.05]
        worse = [n for n, t in tests.items() if t["difference"] < 0 and t["p"] < 0.05]
        level = [n for n in tests if n not in better and n not in worse]
        parts = [
            f"`fast` finds better than {_listed(worse)}" if worse else "",
            f"worse than {_listed(better)}" if better else "",
            f"between `fast` and {_listed(level)} no difference that is more than chance" if level else "",
        ]
        lines.append(f"{kind.capitalize()}: {'; '.join(part for part in parts if part)}.")
    both = [(k, t["best"], t.get("e5")) for k, t in results["comparisons"].items() if "best" in t]
    for kind, best, alone in both:
        if alone:
            lines.append(
                f"{kind.capitalize()}: with e5 added to words and the default model {figure(best['mean'])}, e5 alone "
                f"{figure(alone['mean'])}, without it {figure(best['fast'])}."
            )
    return lines


def _listed(some: Sequence[str]) -> str:
    return ", ".join(some[:-1]) + (" and " if len(some) > 1 else "") + some[-1]


def html_page(results: Mapping[str, Any], text: str) -> str:
    """A page's Markdown with plots, one file, no network."""
    caption = "Quality against cost: mean over all tasks a system was asked, ms a query"
    plots = [shown_figure(_quality_and_cost(results), caption)]
    for kind in KINDS:
        if tasks := of_kind(results, kind):
            plots.append(shown_figure(_bars(tasks), f"{kind.capitalize()}, task by task"))
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
