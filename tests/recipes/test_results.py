"""One file of results: what docs, advisor and leaderboard say is what it says."""

import json
import re
import sys
from pathlib import Path

import pytest

from paragloss.errors import InputError
from paragloss.evaluation import compare
from paragloss.recipes import advising, collecting, leaderboard, pages, running

sys.path.insert(0, str(Path(__file__).parents[1]))
from test_cli import CORPUS, paragloss_

ROOT = Path(__file__).parents[2]
TASK = "questions, news, en-hi"


@pytest.fixture
def measured(tmp_path):
    """Cells as the results recipe leaves them: nothing learned, and one method with two seeds."""
    cells = tmp_path / "results" / "cells"
    cells.mkdir(parents=True)

    def cell(part, seed, rows):
        running._write(
            running._cell(cells, part, seed, False),
            {"part": part, "seed": seed, "seconds": 2.0, "machine": "a laptop", "rows": rows},
        )

    fast, bm25 = [1.0, 0.5, 1.0, 1.0, 0.5, 1.0], [0.0, 0.5, 0.0, 0.1, 0.2, 0.0]
    cost = {"documents/s": 100.0, "ms/query": 2.0}
    cell(
        "talk en-hi: given",
        0,
        {
            f"{TASK} | fast": {"measure": fast},
            f"{TASK} | BM25": {"measure": bm25},
            "cost | fast": cost,
            "cost | BM25": {**cost, "ms/query": 1.0},
        },
    )
    cell("talk en-hi: spaces", 0, {f"{TASK} | Cr5": {"measure": [1.0, 0.5, 1.0, 0.0, 0.5, 1.0]}, "cost | Cr5": cost})
    cell("talk en-hi: spaces", 1, {f"{TASK} | Cr5": {"measure": [1.0, 0.5, 1.0, 0.5, 0.5, 1.0]}, "cost | Cr5": cost})
    return tmp_path, fast, bm25


def test_cells_become_tasks_costs_and_corrected_comparisons(measured):
    folder, fast, bm25 = measured
    found = collecting.collect(folder)
    assert found["tasks"][TASK]["systems"] == {"fast": [0.8333], "BM25": [0.1333], "Cr5": [0.6667, 0.75]}
    assert found["tasks"][TASK]["queries"] == 6
    assert found["costs"]["BM25"] == {"documents/s": 100.0, "ms/query": 1.0}
    alone = compare(dict(enumerate(map(float, fast))), dict(enumerate(map(float, bm25)))).p_randomisation
    test = found["comparisons"]["questions"]
    assert test["BM25"]["p"] == pytest.approx(2 * alone, abs=1e-5), "the smaller of two p-values counts twice (Holm)"
    assert test["Cr5"]["difference"] == pytest.approx((2.125 / 3) - 2.5 / 3, abs=1e-4)  # seeds averaged first


def test_the_pages_say_what_the_results_say(measured, tmp_path):
    found = collecting.collect(measured[0])
    docs = tmp_path / "docs"
    (docs / "papers").mkdir(parents=True)
    (docs / "papers" / "one.md").write_text("# One\n<!-- recipe: cr5-table-1 -->\nold\n<!-- end -->\nend\n")
    pages.write(found, docs)
    told = (docs / "results.md").read_text(encoding="utf-8")
    assert "| Cr5 | .708 ± .042 | .708 |" in told
    assert "fast" in pages.findings(found)[0]
    assert "<svg" in (docs / "results.html").read_text(encoding="utf-8")
    assert "http://" not in re.sub(
        r"http://www\.w3\.org|http://purl|http://creativecommons", "", (docs / "results.html").read_text()
    )
    assert "has not been run to its end here" in (docs / "papers" / "one.md").read_text()
    assert "old" not in (docs / "papers" / "one.md").read_text()


def test_a_page_sets_some_systems_side_by_side(measured):
    found = collecting.collect(measured[0])
    block = "<!-- tasks: questions: Cr5, BM25 -->\nold\n<!-- end -->\n"
    told = pages.filled(f"before\n{block}after\n", found)
    assert "| Cr5 | .708 ± .042 | .708 |" in told
    assert "| BM25 |" in told
    assert "fast" not in told
    assert "old" not in told
    assert "`paragloss recipes results`" in told
    assert told.startswith("before\n")
    assert told.endswith("<!-- end -->\nafter\n")
    assert pages.filled(told, found) == told


def test_the_leaderboard_has_a_file_for_every_system_and_task(measured, tmp_path):
    assert leaderboard.write(collecting.collect(measured[0]), tmp_path / "board") == 3
    told = json.loads((tmp_path / "board" / "cr5" / "questions-news-en-hi.json").read_text())
    (score,) = told["scores"]["test"]
    assert score["main_score"] == pytest.approx(0.70835)
    assert score["languages"] == ["en", "hi"]
    assert json.loads((tmp_path / "board" / "cr5" / "model_meta.json").read_text())["cost"]["ms/query"] == 2.0


def test_nothing_measured_is_told(tmp_path):
    with pytest.raises(InputError, match="no measured recipe"):
        collecting.collect(tmp_path)


SHIPPED = pytest.mark.skipif(not collecting.SHIPPED.is_file(), reason="no results are shipped yet")


@SHIPPED
def test_the_figures_in_the_documents_are_those_of_the_results():
    results = collecting.shipped()
    assert (ROOT / "docs" / "results.md").read_text(encoding="utf-8") == pages.markdown(results)
    for page in sorted((ROOT / "docs" / "papers").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        assert pages.filled(text, results) == text, f"{page.name}: run `paragloss recipes --docs docs`"


def laptop(*installed):
    return advising.Machine(16_000_000_000, 4, False, installed)


def known():
    systems = {"fast": [0.8], "best": [0.9], "BM25": [0.2], "fast with own table and Cr5": [0.85]}
    return {
        "tasks": {
            "questions, news, en-fr": {"queries": 10, "systems": systems},
            "questions, news, en-he": {"queries": 10, "systems": {name: [v[0] / 2] for name, v in systems.items()}},
        },
        "costs": {"fast": {"documents/s": 900.0, "ms/query": 3.0}},
    }


def test_advice_for_a_laptop_with_nothing_installed():
    said = advising.advise([str(CORPUS)], known(), here=laptop())
    assert said.pipeline == "bm25+model"
    assert said.corpus.langs["fr"] == 60
    assert said.corpus.aligned["en-fr"] == 60
    fast = next(e for e in said.expected if e.system == "fast")
    assert fast.quality == pytest.approx(0.8), "French was measured, Hebrew is not in this corpus"
    assert "paragloss[encoder]" in said.helps[0]
    assert said.commands[-1].startswith("paragloss search")


def test_advice_with_an_encoder_and_with_pairs_of_one_s_own(tmp_path):
    pairs = tmp_path / "en-fr.tsv"
    pairs.write_text("".join(f"the house number {i} is red\tla maison {i} est rouge\n" for i in range(400)))
    said = advising.advise([str(CORPUS), str(pairs)], known(), here=laptop("e5 (encoder)", "training (train)"))
    assert said.pipeline == "bm25+model+table+cr5+e5"
    assert said.expected[0].system == "best"
    assert any("train table" in command for command in said.commands)
    assert said.corpus.aligned["en-fr"] == 460


def test_advice_where_the_default_model_does_not_know_a_language(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "a", "lang": "qu", "text": "Kay simiqa runasimi sutiyuq"}\n')
    said = advising.advise([str(tmp_path / "a.jsonl")], known(), here=laptop())
    assert "en-qu" in said.helps[0]
    assert said.pipeline == "bm25"
    assert "--no-default" in said.commands[-2]


def test_advice_on_a_file_that_is_not_there(tmp_path):
    assert (
        "there is no such file" in paragloss_("advise", "nothing.txt", cwd=tmp_path, code=1).stderr
        if collecting.SHIPPED.is_file()
        else True
    )
