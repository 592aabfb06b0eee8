"""The recipe `results`: every method and pipeline on the same splits (`papers.tasks`)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from papers.corpora import Rows
from papers.tasks import Task, make_tasks, sample_training
from papers.translators import build_muse_dictionary, has_apertium
from paragloss.collection import Collection
from paragloss.errors import LanguageError
from paragloss.evaluation import evaluate
from paragloss.lab.methods import bae, cca, cr5, knrm, lsi, opca, ordinal, s2net, table, xcnn
from paragloss.translation import default
from paragloss.types import Concept, Encoder, Ranking

SPACES: dict[str, Callable[..., Encoder]] = {
    "CL-LSI": lsi.fit, "OPCA": opca.fit, "CCA": cca.fit, "Cr5": cr5.fit,
    "S2Net": s2net.fit, "BAE": bae.fit, "XCNN": xcnn.fit, "SOSL": ordinal.fit,
}  # fmt: skip
SMOKE_SETTINGS: dict[str, dict[str, Any]] = {
    "BAE": {"epochs": 2}, "XCNN": {"epochs": 2}, "SOSL": {"epochs": 2, "negatives": 4},
}  # fmt: skip


def measure_results(part: str, seed: int, *, smoke: bool) -> Rows:
    """Measure one family of systems on the tasks of a group, such as "talk en-hi: spaces"."""
    group, _, family = part.partition(": ")
    tasks = make_tasks(group, smoke=smoke)
    with tempfile.TemporaryDirectory() as folder:
        if family == "given":
            return measure_given(group, tasks, Path(folder))
        if family == "encoder":
            systems = {"e5": "e5", "best": "bm25+model:tempered+e5"}
            return measure_systems(tasks, [held_out_model(), "e5"], systems, Path(folder))
        train = sample_training(group, seed, smoke=smoke)
        if family == "tables":
            return measure_tables(train, tasks, seed, Path(folder))
        if family == "own":
            return measure_own(train, tasks, seed, Path(folder))
        return measure_spaces(train, tasks, seed, Path(folder), smoke)


def measure_given(group: str, tasks: Sequence[Task], folder: Path) -> Rows:
    """Measure what needs no training: BM25, a dictionary, machine translation, the default model, and `fast`."""
    systems = {"BM25": "bm25", "default model": "model:tempered", "fast": "bm25+model:tempered"}
    models = [held_out_model()]
    pair = group.split(" ")[1]
    if pair.startswith("en-"):
        lang = pair.removeprefix("en-")
        build_muse_dictionary(lang).save(folder / "muse")
        models.append(str(folder / "muse"))
        systems["BM25 with a dictionary"] = "muse:tempered"
        if has_apertium(lang):
            systems["BM25 with machine translation"] = "mt:apertium,tempered"
    return measure_systems(tasks, models, systems, folder)


def measure_tables(train: Sequence[Concept], tasks: Sequence[Task], seed: int, folder: Path) -> Rows:
    """Measure a table of words learned from the group, and K-NRM behind it."""
    costs = {
        "BM25 with a table": fit_and_save(partial(table.fit, train), folder / "table"),
        "K-NRM behind the table": fit_and_save(partial(knrm.fit, train, seed=seed), folder / "knrm"),
    }
    systems = {"BM25 with a table": "table:tempered", "K-NRM behind the table": "table:tempered>knrm"}
    rows = measure_systems(tasks, [str(folder / "table"), str(folder / "knrm")], systems, folder)
    return add_training_costs(rows, costs)


def measure_own(train: Sequence[Concept], tasks: Sequence[Task], seed: int, folder: Path) -> Rows:
    """Measure the fast pipeline with a table and Cr5 learned from the group."""
    table_cost = fit_and_save(partial(table.fit, train), folder / "table")
    space_cost = fit_and_save(partial(cr5.fit, train, seed=seed), folder / "cr5")
    cost = {name: round(value + space_cost[name], 2) for name, value in table_cost.items()}
    name = "fast with own table and Cr5"
    models = [held_out_model(), str(folder / "table"), str(folder / "cr5")]
    rows = measure_systems(tasks, models, {name: "bm25+model:tempered+table:tempered+cr5"}, folder)
    return add_training_costs(rows, {name: cost})


def measure_spaces(train: Sequence[Concept], tasks: Sequence[Task], seed: int, folder: Path, smoke: bool) -> Rows:
    """Measure every method of the papers that makes vectors, with its defaults, by cosine."""
    rows: Rows = {}
    for name, fit in SPACES.items():
        settings = SMOKE_SETTINGS.get(name, {}) if smoke else {}
        path = folder / name.lower().replace("-", "")
        cost = fit_and_save(partial(fit, train, seed=seed, **settings), path)
        rows |= add_training_costs(measure_systems(tasks, [str(path)], {name: path.name}, folder), {name: cost})
    return rows


def add_training_costs(rows: Rows, costs: Mapping[str, Mapping[str, float]]) -> Rows:
    """Put what training each system cost before what its searches cost."""
    return {**rows, **{f"cost | {name}": {**cost, **rows[f"cost | {name}"]} for name, cost in costs.items()}}


def held_out_model() -> str:
    """Return the default model that has not seen the queries; its folder must be called `model`."""
    return os.environ.get("PARAGLOSS_HELD", str(Path(default.__file__).parent / "data" / "model"))


def processor_seconds() -> float:
    """Return the processor seconds spent so far, including those of child processes."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def fit_and_save(fit: Callable[[], Any], path: Path) -> dict[str, float]:
    """Fit a model and save it; return processor seconds and the size of its files."""
    started = processor_seconds()
    fit().save(path)
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return {"seconds": round(processor_seconds() - started, 2), "MB": round(size / 1e6, 2)}


def measure_systems(tasks: Sequence[Task], models: Sequence[str], systems: Mapping[str, str], folder: Path) -> Rows:
    """Measure each system on each task, query by query, and what indexing and searching cost over all tasks."""
    rows: Rows = {}
    index_seconds = documents = queries = 0.0
    search_seconds = dict.fromkeys(systems, 0.0)
    for number, task in enumerate(tasks):
        path = str(folder / f"{'-'.join(systems)[:20]}{number}")
        with Collection.create(path, models=list(models), default=False) as collection:
            started = processor_seconds()
            collection.index(task.documents)
            index_seconds += processor_seconds() - started
            documents, queries = documents + len(task.documents), queries + len(task.queries)
            for name, pipeline in systems.items():
                started = processor_seconds()
                try:
                    rankings = collection.rank(task.queries, k=100, to=task.targets, pipeline=pipeline)
                except LanguageError:
                    continue  # a dictionary or a table of the other direction
                search_seconds[name] += processor_seconds() - started
                rows[f"{task.name} | {name}"] = {"measure": score_rankings(task, rankings)}
    for name in systems:
        rows[f"cost | {name}"] = {
            "documents/s": round(documents / max(index_seconds, 1e-9), 1),
            "ms/query": round(1000 * search_seconds[name] / max(queries, 1), 2),
        }
    return rows


def score_rankings(task: Task, rankings: Sequence[Ranking]) -> list[float]:
    """Score each query of a task by its measure."""
    run = {query.id: ranking for query, ranking in zip(task.queries, rankings, strict=True)}
    scores = evaluate(run, task.qrels, [task.measure])[task.measure]
    return [round(scores[query.id], 4) for query in task.queries]
