"""Pages and tables are written from the recorded results."""

import json
import re
from pathlib import Path

import pytest

from papers import overview, reporting, runner
from papers.recipes import load_recipe, recipe_names
from paragloss.evaluation import compare

ROOT = Path(__file__).parents[2]
TASK = "questions, news, en-hi"


@pytest.mark.parametrize("name", reporting.read_results()["tables"])
def test_recorded_tables_have_the_columns_and_parts_of_their_recipe(name):
    recorded, recipe = reporting.read_results()["tables"][name], load_recipe(name)
    assert set(recorded["values"]) <= set(recipe.parts)
    for rows in recorded["values"].values():
        for columns in rows.values():
            assert set(columns) <= set(recipe.columns)


def test_results_are_written_with_a_line_for_each_row_and_read_back(tmp_path):
    results = {
        "tables": {"a": {"seeds": [0], "values": {"en-fr": {"x": {"RR": [0.5]}, "y": {"RR": [0.1]}}}}},
        "seconds": 3,
    }
    reporting.write_results(results, tmp_path / "results.json")
    text = (tmp_path / "results.json").read_text()
    assert json.loads(text) == results
    assert '     "x": {"RR": [0.5]},' in text.splitlines()


def test_parts_that_were_not_measured_again_stay():
    recorded = {"seeds": [0, 1], "machine": "a", "seconds": 7.0, "values": {"en-fr": {"x": {"RR": [0.4]}}}}
    measured = runner.Results("any", False, [0], "b", 3.0, {"en-hi": {"x": {"RR": [0.9]}}})
    merged = reporting.merge_parts(recorded, measured)
    assert merged["values"] == {"en-fr": {"x": {"RR": [0.4]}}, "en-hi": {"x": {"RR": [0.9]}}}
    assert (merged["machine"], merged["seeds"], merged["seconds"]) == ("a; b", [0, 1], 10.0)


def test_only_the_columns_of_a_table_are_recorded_and_no_costs():
    values = {"en-hi": {"BM25": {"RR": [0.5], "P@1": [0.25], "other": [3.0]}, "cost | BM25": {"RR": [0.1]}}}
    selected = reporting.select_columns(runner.Results("xcnn-table-1", values=values))
    assert selected == {"en-hi": {"BM25": {"RR": [0.5], "P@1": [0.25]}}}


def test_markers_in_a_page_become_tables():
    results = {
        "tables": {},
        "tasks": {TASK: {"queries": 6, "systems": {"Cr5": [0.6667, 0.75], "BM25": [0.1], "fast": [0.8]}}},
    }
    page = reporting.fill_tables(
        "before\n<!-- tasks: questions: Cr5, BM25 -->\n<!-- recipe: cr5-table-1 -->\n", results
    )
    assert page.startswith("before\n**questions**")
    assert "| Cr5 | .708 ± .042 | .708 |" in page
    assert "fast" not in page
    assert "`python -m papers run cr5-table-1` has not been run to its end here." in page


def test_every_recipe_has_a_place_in_the_docs_and_every_marker_names_one():
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")]
    names = {name for page in pages for name in re.findall(r"<!-- recipe: (.*?) -->", page)}
    assert names == set(recipe_names()) - {"results"}  # which has a page of its own


def test_cells_of_the_results_recipe_become_means_costs_and_corrected_comparisons(tmp_path):
    fast, bm25 = [1.0, 0.5, 1.0, 1.0, 0.5, 1.0], [0.0, 0.5, 0.0, 0.1, 0.2, 0.0]
    rows = {f"{TASK} | fast": {"measure": fast}, f"{TASK} | BM25": {"measure": bm25}, "cost | fast": {"ms/query": 2.0}}
    cells = [("talk en-hi: given", 0, rows)]
    for seed, fourth in ((0, 0.0), (1, 0.5)):
        cells.append(("talk en-hi: spaces", seed, {f"{TASK} | Cr5": {"measure": [1.0, 0.5, 1.0, fourth, 0.5, 1.0]}}))
    for number, (part, seed, cell_rows) in enumerate(cells):
        cell = {"part": part, "seed": seed, "seconds": 2.0, "machine": "a laptop", "rows": cell_rows}
        (tmp_path / "cells").mkdir(exist_ok=True)
        (tmp_path / "cells" / f"{number}.json").write_text(json.dumps(cell))
    summary = overview.summarize_results(tmp_path)
    assert summary["tasks"][TASK] == {
        "queries": 6,
        "systems": {"fast": [0.8333], "BM25": [0.1333], "Cr5": [0.6667, 0.75]},
    }
    assert summary["costs"] == {"fast": {"ms/query": 2.0}}
    p_value = compare(dict(enumerate(fast)), dict(enumerate(bm25))).p_randomisation
    tests = summary["comparisons"]["questions"]
    assert tests["BM25"]["p"] == pytest.approx(2 * p_value, abs=1e-5), "Holm doubles the smaller of two p-values"
    assert tests["Cr5"]["difference"] == pytest.approx(4.25 / 6 - 5 / 6, abs=1e-4), "seeds are averaged first"


def test_a_system_is_above_its_rivals_only_where_all_differences_are_significant():
    queries = 40
    scores = {
        "questions, news, en-hi": {
            "fast": {0: [0.9] * queries},
            "Cr5": {0: [0.2] * queries, 1: [0.4] * queries},
            "best": {0: [0.7] * queries},
            "e5": {0: [0.8] * queries},
        },
        "words, muse, en-fr": {"fast": {0: [0.5, 0.5]}, "Cr5": {0: [0.4, 0.6]}},
    }
    claims = overview.compare_with_rivals(scores)
    assert claims["questions, news"]["fast"]["Cr5"]["rival"] == 0.3
    fast, best = overview.describe_rivals(claims)
    assert "above every single method of the papers on 1 of 2 sets (questions, news)" in fast
    assert "below e5 on questions, news" in best
