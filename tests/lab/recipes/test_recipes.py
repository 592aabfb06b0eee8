"""Recipes run, go on where they were stopped, and are judged by the papers' order."""

import json
import os
from types import SimpleNamespace

import numpy as np
import pytest
from test_cli import paragloss_

from paragloss.lab.recipes import load, markdown_tables, names, runner, verdicts
from paragloss.lab.recipes.sets import drawn
from paragloss.types import Query

DATA = pytest.mark.skipif(not os.environ.get("PARAGLOSS_DATA"), reason="PARAGLOSS_DATA names no corpora")

#: One of every paper; `make smoke` runs all, in two to three minutes of one core.
LIGHT = ("smooth-figure-1", "smooth-table-2", "cr5-figure-2", "xcnn-table-2")


@pytest.mark.parametrize("name", names())
def test_a_recipe_says_what_it_is_and_what_it_needs(name):
    recipe = load(name)
    assert runner.title(recipe)
    assert recipe.MINUTES > 0
    assert isinstance(recipe.DATA, tuple)
    assert recipe.COLUMNS
    assert set(runner.parts(recipe, True)) <= set(runner.parts(recipe, False)), "a smoke run measures some of the parts"


@pytest.mark.slow
@pytest.mark.data
@DATA
@pytest.mark.parametrize("name", names() if os.environ.get("PARAGLOSS_SMOKE") else LIGHT)
def test_every_recipe_runs_on_little(name, tmp_path):
    results = runner.run(name, tmp_path, smoke=True)
    found = [values for rows in results.values.values() for columns in rows.values() for values in columns.values()]
    assert found
    assert all(value == value for values in found for value in values), "no measure is NaN"
    assert {"results.json", "table.md", "verdict.md"} <= {file.name for file in tmp_path.iterdir()}


@pytest.fixture
def counted(monkeypatch):
    """A recipe of two parts that counts how often it measures, and can be told to fail."""
    calls = []

    def measure(part, seed, *, smoke):
        calls.append((part, seed))
        if broken and len(calls) == 3:
            raise KeyboardInterrupt
        return {"good": {"RR": [0.5, 1.0]}, "bad": {"RR": [0.0, 0.25 * seed]}}

    broken = []
    recipe = SimpleNamespace(__doc__="A recipe.", DATA=(), COLUMNS=("RR",), PARTS=("en-fr", "en-hi"), measure=measure)
    for module in (runner, markdown_tables):
        monkeypatch.setattr(module, "load", lambda name: recipe)
    return SimpleNamespace(calls=calls, broken=broken)


def test_a_run_that_was_stopped_goes_on_where_it_was(counted, tmp_path):
    counted.broken.append(True)
    with pytest.raises(KeyboardInterrupt):
        runner.run("counted", tmp_path, seeds=[0, 1])
    counted.broken.clear()
    results = runner.run("counted", tmp_path, seeds=[0, 1])
    # Two were kept, the third was stopped and is measured again with the fourth.
    assert counted.calls == [("en-fr", 0), ("en-fr", 1), ("en-hi", 0), ("en-hi", 0), ("en-hi", 1)]
    assert results.values["en-fr"] == {"good": {"RR": [0.75, 0.75]}, "bad": {"RR": [0.0, 0.125]}}
    assert json.loads((tmp_path / "results.json").read_text())["seeds"] == [0, 1]


def test_a_table_shows_means_and_spreads(counted, tmp_path):
    shown = markdown_tables.table(runner.run("counted", tmp_path, seeds=[0, 1]).as_json())
    assert "| good | .750 |" in shown
    assert "| bad | .062 ± .062 |" in shown  # (0 + 0.125) / 2, and each is 0.0625 away


def test_cells_hold_numbers_of_any_kind(tmp_path):
    runner._write(tmp_path / "a.json", {"rows": np.array([0.5, 1.0]), "mean": np.float32(0.25), "λ": 1})
    assert json.loads((tmp_path / "a.json").read_text()) == {"rows": [0.5, 1.0], "mean": 0.25, "λ": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"], "whole or not at all"


def test_one_part_can_be_measured_alone(counted, tmp_path):
    runner.run("counted", tmp_path, seeds=[0], only=["en-hi"])
    assert counted.calls == [("en-hi", 0)]


def test_rows_in_another_order_than_the_paper_s_are_found():
    paper = {"a": 0.5, "b": 0.4, "c": 0.3}
    assert verdicts.disagreements(paper, {"a": 0.9, "b": 0.2, "c": 0.1}, 0.01) == []
    assert verdicts.disagreements(paper, {"a": 0.9, "b": 0.2, "c": 0.3}, 0.01) == [("b", "c")]
    assert verdicts.disagreements(paper, {"a": 0.9, "b": 0.295, "c": 0.3}, 0.01) == [], "within the tolerance"


def test_a_figure_without_numbers_is_held_against_what_the_paper_says_of_it():
    measured = {"recipe": "smooth-figure-5", "smoke": False, "seeds": [0, 1], "machine": "a machine"}
    rows = {f"negatives {n}": {"nDCG@5": [score, score]} for n, score in ((20, 0.6), (40, 0.5), (60, 0.505), (80, 0.3))}
    said = verdicts.verdict({**measured, "values": {"en-fr": rows}})
    assert said.startswith("en-fr: **as the paper says**, that more irrelevant documents lower it. nDCG@5, ours:")
    assert "negatives 20 0.600, negatives 40 0.500" in said
    rows["negatives 80"] = {"nDCG@5": [0.7, 0.7]}
    assert "**not as the paper says (2 of 3)**" in verdicts.verdict({**measured, "values": {"en-fr": rows}})


def test_a_table_says_where_nothing_is_drawn():
    about = {
        "smoke": False,
        "seeds": [0],
        "machine": "a machine",
        "seconds": {"all": 3.0},
        "columns": ["nDCG@10"],
        "values": {},
    }
    assert "Nothing is drawn: every seed gives the same." in markdown_tables.how(
        {**about, "recipe": "thesis-table-5-1"}
    )
    assert "One seed." in markdown_tables.how({**about, "recipe": "thesis-table-6-3"})


def test_pairs_to_learn_from_have_three_words_of_each_vocabulary():
    from paragloss.lab.recipes.tables.xcnn_table_1 import told
    from paragloss.types import Concept

    texts = [("red green blue", "rouge vert bleu"), ("red green blue", "rouge vert"), ("red pink", "rouge vert bleu")]
    pairs = [Concept(str(i), {"en": a, "fr": b}) for i, (a, b) in enumerate(texts * 2)]
    rare = Concept("rare", {"en": "red green unheard", "fr": "rouge vert bleu"})  # one text has it: no word of ours
    assert [c.id for c in told([*pairs, rare], ["en", "fr"])] == ["0", "3"]


def test_pages_of_a_limited_vocabulary_have_no_other_words():
    from paragloss.lab.recipes.adhoc import Pages, only_words
    from paragloss.types import Document

    made = Pages([Query("q", "Running dogs", "en")], [Document("d", "A dog, a cat.", "en", "Cats")], {}, [], 0)
    cut = only_words(made, {"dog", "run"})
    assert cut.queries[0].text == "Running dogs"
    assert (cut.documents[0].text, cut.documents[0].title) == ("dog", "")


def test_a_query_left_without_words_finds_nothing():
    from paragloss.lab.recipes.adhoc import Pages, by_pipeline
    from paragloss.types import Document

    queries = [Query("a", "", "en"), Query("b", "dog", "en")]
    made = Pages(queries, [Document("d", "A dog.", "en"), Document("e", "A cat.", "en")], {}, [], 0)
    run = by_pipeline(made, "bm25")
    assert (run["a"], [hit.id for hit in run["b"]]) == ([], ["d"])


def test_packages_of_one_small_source_are_partly_relevant():
    from paragloss.lab.recipes.tables.smooth_table_2 import linked
    from paragloss.types import Concept

    names = ["game:1", "game-data:2", "other:3", *(f"python3-{i}:4" for i in range(9))]
    found = linked("ddtp", [Concept(name, {}) for name in names])
    assert found == {"game:1": {"game-data:2"}, "game-data:2": {"game:1"}}  # nine are no source


def test_every_expectation_is_of_a_recipe():
    assert set(verdicts.expected()) <= set(names())


def test_what_is_drawn_does_not_depend_on_what_else_there_is():
    many = [Query(str(i), "", "en") for i in range(1000)]
    some = drawn(many, 50, seed=1)
    assert drawn(some[:25] + many[990:], 1000, seed=1)[:25] == some[:25]
    assert set(drawn([q for q in many if q in set(some) or int(q.id) % 2], 50, seed=1)) == set(some)
    assert set(drawn(many, 50, seed=2)) != set(some)


def test_missing_data_and_names_are_told_in_a_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    assert "no data: tatoeba/en-hi.tsv.gz" in paragloss_("recipes", cwd=tmp_path).stdout
    said = paragloss_("recipes", "xcnn-table-1", cwd=tmp_path, code=1).stderr
    assert "set PARAGLOSS_DATA" in said
    assert said.count("\n") == 1
    assert "no recipe 'xcnn-table-9'" in paragloss_("recipes", "xcnn-table-9", cwd=tmp_path, code=1).stderr
    assert "--seeds 'one'" in paragloss_("recipes", "xcnn-table-1", "--seeds", "one", cwd=tmp_path, code=1).stderr


def test_what_each_part_took_is_told_seed_by_seed(counted, tmp_path, monkeypatch):
    clock = iter([10.0, 12.5, 20.0, 21.0, 30.0, 37.0, 40.0, 41.0])
    monkeypatch.setattr(runner.time, "process_time", lambda: next(clock))
    results = runner.run("counted", tmp_path, seeds=[0, 1])
    assert results.seconds == {"en-fr": 3.5, "en-hi": 8.0}
    assert "12 s of one core" in markdown_tables.how(results.as_json())
