"""Recipes run, continue after an interruption, and are checked against the recorded results."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from papers import reporting, runner
from papers.__main__ import main
from papers.recipes import Recipe, load_recipe, recipe_names
from papers.verdicts import list_problems
from paragloss.errors import InputError

needs_data = pytest.mark.skipif(not os.environ.get("PARAGLOSS_DATA"), reason="PARAGLOSS_DATA names no corpora")
ROOT = Path(__file__).parents[2]
#: Recipes of every paper that take seconds; `make smoke` runs all.
LIGHT_RECIPES = ("smooth-figure-1", "smooth-figure-2", "smooth-table-2", "xcnn-table-2")


@pytest.mark.parametrize("name", recipe_names())
def test_a_recipe_declares_its_title_data_columns_and_the_paper_s_figures(name):
    recipe = load_recipe(name)
    assert recipe.title
    assert recipe.columns
    assert recipe.paper
    assert set(recipe.list_parts(smoke=True)) <= set(recipe.list_parts(smoke=False))
    for claim in (*recipe.figures, *recipe.statements):
        assert claim.column in recipe.columns
    for function in filter(None, (recipe.function, recipe.plot)):
        module, _, function_name = function.partition(".")
        assert f"def {function_name}(" in (ROOT / "papers" / "tables" / f"{module}.py").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.data
@needs_data
@pytest.mark.parametrize("name", LIGHT_RECIPES)
def test_a_recipe_on_a_little_data_gives_the_recorded_values(name, tmp_path):
    assert main(["run", name, "--smoke", "--out", str(tmp_path)]) == 0


def test_smoke_runs_of_every_recipe_have_recorded_values():
    recorded = runner.read_recorded(smoke=True)
    for name in recipe_names():
        assert recorded[name].keys() == set(load_recipe(name).list_parts(smoke=True)), name


@pytest.mark.parametrize("name", recipe_names())
def test_a_recipe_measures_what_the_verdicts_on_its_paper_need(name):
    """The random order and the epochs of training; a few epochs on little data may well end with the best one."""
    problems = list_problems(load_recipe(name), runner.read_recorded(smoke=True)[name])
    assert [problem for problem in problems if not problem.endswith("the best epoch was the last")] == []


@pytest.fixture
def recipe(monkeypatch):
    """A recipe of two parts that records what it measures, and can be interrupted at the third cell."""
    state = SimpleNamespace(cells=[], interrupt=False)

    def measure(part, seed, *, smoke):
        state.cells.append((part, seed))
        if state.interrupt and len(state.cells) == 3:
            raise KeyboardInterrupt
        return {"good": {"RR": [0.5, 1.0]}, "bad": {"RR": [0.0, 0.25 * seed]}}

    recipe = Recipe("any", columns=("RR",), parts=("en-fr", "en-hi"))
    monkeypatch.setattr(Recipe, "measure", lambda self, part, seed, *, smoke: measure(part, seed, smoke=smoke))
    for module_with_loader in (runner, reporting):
        monkeypatch.setattr(module_with_loader, "load_recipe", lambda name: recipe)
    return state


def test_an_interrupted_run_continues_where_it_stopped(recipe, tmp_path):
    recipe.interrupt = True
    with pytest.raises(KeyboardInterrupt):
        runner.run_recipe("any", tmp_path, seeds=[0, 1])
    recipe.interrupt = False
    results = runner.run_recipe("any", tmp_path, seeds=[0, 1])
    # Two cells were saved; the third was interrupted and is measured again with the fourth.
    assert recipe.cells == [("en-fr", 0), ("en-fr", 1), ("en-hi", 0), ("en-hi", 0), ("en-hi", 1)]
    assert results.values["en-fr"] == {"good": {"RR": [0.75, 0.75]}, "bad": {"RR": [0.0, 0.125]}}
    assert json.loads((tmp_path / "results.json").read_text())["seeds"] == [0, 1]


def test_parts_measured_at_the_same_time_give_the_values_of_one_after_the_other(tmp_path):
    sequential = runner.run_recipe("smooth-figure-2", tmp_path / "one")
    parallel = runner.run_recipe("smooth-figure-2", tmp_path / "two", processes=2)
    assert parallel.values == sequential.values
    assert len(list((tmp_path / "two" / "cells").glob("*.json"))) == 3


def test_one_part_can_be_measured_by_itself(recipe, tmp_path):
    runner.run_recipe("any", tmp_path, seeds=[0], parts=["en-hi"])
    assert recipe.cells == [("en-hi", 0)]


def test_a_table_shows_means_and_standard_deviations(recipe, tmp_path):
    table = reporting.format_table(runner.run_recipe("any", tmp_path, seeds=[0, 1]))
    assert "| good | .750 |" in table
    assert "| bad | .062 ± .062 |" in table  # (0 + 0.125) / 2, and each is 0.0625 away


def test_a_value_out_of_the_recorded_tolerance_fails(recipe, tmp_path):
    results = runner.run_recipe("any", tmp_path, seeds=[0, 1])
    recorded = {"en-fr": {"good": {"RR": [0.76, 0.78]}, "bad": {"RR": [0.0, 0.3]}}, "en-hi": {"good": {"RR": [0.7]}}}
    checks = {check.place: check for check in runner.check_results(results, recorded)}
    assert checks["en-fr, good, RR"].is_ok, "a mean of .75, recorded .77 ± .02"
    assert checks["en-fr, bad, RR"].is_ok, "a mean of .0625, recorded .15; two standard deviations are .30"
    assert not checks["en-hi, good, RR"].is_ok, "a mean of .75, recorded .70"


def test_a_row_whose_best_epoch_was_the_last_is_not_converged():
    values = {
        "en-fr": {"a": {"best epoch": [3.0, 9.0], "epochs": [18.0, 24.0]}, "b": {"best epoch": [5.0], "epochs": [5.0]}}
    }
    results = runner.Results("smooth-table-2", values=values)
    assert runner.list_unconverged_rows(results) == ["en-fr, b: the best epoch was the last; train longer"]


def test_missing_data_and_unknown_names_are_reported_in_a_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    assert main(["run", "xcnn-table-1", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err.endswith("which is not there: python -m papers data get tatoeba\n")
    with pytest.raises(InputError, match="no recipe 'xcnn-table-9'"):
        load_recipe("xcnn-table-9")


def test_a_clone_lists_all_recipes_with_one_command():
    run = subprocess.run([sys.executable, "-m", "papers", "list"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in run.stdout.splitlines()] == recipe_names()
