"""Every method on the same splits: documents, sentences, words, questions, graded judgments, one mixed list.

Five families for each group of `tasks`: given (nothing is learned), tables, spaces and own (learned from it with three
seeds), encoder (e5, and the best pipeline with it). A row is a task and a system; "cost" rows count processor seconds,
so that a busy machine does not change them. The default model is its held build where PARAGLOSS_HELD names one: the
shipped model has read the questions. PARAGLOSS_VECTORS may name e5's vectors computed elsewhere.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paragloss.collection import Collection, train
from paragloss.errors import LanguageError
from paragloss.evaluation import evaluate
from paragloss.formats.dictionaries import read_pairs
from paragloss.lab.methods import bae, cca, cr5, knrm, lsi, opca, ordinal, s2net, table, xcnn
from paragloss.lab.recipes import leaderboard, precomputed
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.sets import Columns, folder
from paragloss.lab.recipes.tasks import GROUPS, Task, learned_from, tasks
from paragloss.translation import default
from paragloss.translation.dictionary import Dictionary
from paragloss.types import Concept, Encoder, Ranking

MINUTES = 240
DATA = (
    *("ddtp/en.jsonl.gz", "lohelp/en.jsonl.gz", "mdn/en.jsonl.gz", "mdn/mutual_links.tsv.gz", "muse/en-hi.tsv.gz"),
    *("tatoeba/en-hi.tsv.gz", "open/text/ntrex.jsonl.xz", "open/text/tico19.jsonl.xz"),
)
COLUMNS = ("measure", "seconds", "MB", "documents/s", "ms/query")
FAMILIES = ("given", "tables", "spaces", "own", "encoder")
PARTS = tuple(f"{group}: {family}" for group in GROUPS for family in FAMILIES)
QUICK = tuple(f"talk en-hi: {family}" for family in FAMILIES[:-1])
ONCE = tuple(f"{group}: {family}" for group in GROUPS for family in ("given", "encoder"))
SPACES: dict[str, Callable[..., Encoder]] = {
    "CL-LSI": lsi.fit, "OPCA": opca.fit, "CCA": cca.fit, "Cr5": cr5.fit,
    "S2Net": s2net.fit, "BAE": bae.fit, "XCNN": xcnn.fit, "SOSL": ordinal.fit,
}  # fmt: skip


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    group, _, family = part.partition(": ")
    asked = tasks(group, smoke=smoke)
    with tempfile.TemporaryDirectory() as place:
        if family == "given":
            return given(group, asked, Path(place))
        if family == "encoder":
            return encoder(asked, Path(place))
        learned = learned_from(group, seed, smoke=smoke)
        fitted = {"tables": tables, "spaces": spaces, "own": own}[family]
        return fitted(learned, asked, seed, Path(place), smoke)


def given(group: str, asked: Sequence[Task], place: Path) -> Measured:
    """Words as they stand, a dictionary, machine translation where there is any, the default model, and what
    `paragloss search` does with it."""
    systems = {"BM25": "bm25", "default model": "model", "fast": "bm25+model"}
    models = [held_out_model()]
    pair = group.split(" ")[1]
    if (source := pair.partition("-")[0]) == "en":
        lang = pair.removeprefix("en-")
        read = Dictionary.build(read_pairs(folder() / "muse" / f"{pair}.tsv.gz"), source, lang)
        read.save(place / "muse")
        models.append(str(place / "muse"))
        systems["BM25 with a dictionary"] = "muse"
        if lang == "es" and shutil.which("apertium"):
            systems["BM25 with machine translation"] = "mt:apertium"
    return _asked(asked, models, systems, place)


def tables(learned: Sequence[Concept], asked: Sequence[Task], seed: int, place: Path, smoke: bool) -> Measured:
    """A table of words learned from the group, and K-NRM behind it."""
    costs = {
        "cost | BM25 with a table": _made(lambda: table.fit(learned), place / "table"),
        "cost | K-NRM behind the table": _made(lambda: knrm.fit(learned, seed=seed), place / "knrm"),
    }
    systems = {"BM25 with a table": "table", "K-NRM behind the table": "table>knrm"}
    measured = _asked(asked, [str(place / "table"), str(place / "knrm")], systems, place, seed)
    return {**measured, **{name: {**cost, **measured.get(name, {})} for name, cost in costs.items()}}


def own(learned: Sequence[Concept], asked: Sequence[Task], seed: int, place: Path, smoke: bool) -> Measured:
    """The fast pipeline with a table and Cr5 learned from the group: what one's own documents add."""
    words = _made(lambda: table.fit(learned), place / "table")
    space = _made(lambda: train(cr5.fit, learned, seed=seed), place / "cr5")
    cost = {name: round(value + space[name], 2) for name, value in words.items()}
    name = "fast with own table and Cr5"
    models = [held_out_model(), str(place / "table"), str(place / "cr5")]
    measured = _asked(asked, models, {name: "bm25+model+table+cr5"}, place, seed)
    return {**measured, f"cost | {name}": {**cost, **measured[f"cost | {name}"]}}


def spaces(learned: Sequence[Concept], asked: Sequence[Task], seed: int, place: Path, smoke: bool) -> Measured:
    """Every method of the papers that makes vectors, with its defaults; by cosine."""
    quick = {"BAE": {"epochs": 2}, "XCNN": {"epochs": 2}, "SOSL": {"epochs": 2, "negatives": 4}} if smoke else {}
    made: Measured = {}
    for name, fit in SPACES.items():
        settings: dict[str, Any] = dict(quick.get(name, {}))
        path = place / name.lower().replace("-", "")
        cost = _made(lambda fit=fit, settings=settings: fit(learned, seed=seed, **settings), path)  # type: ignore[misc]
        measured = _asked(asked, [str(path)], {name: path.name}, place, seed)
        made |= {**measured, f"cost | {name}": {**cost, **measured[f"cost | {name}"]}}
    return made


def encoder(asked: Sequence[Task], place: Path) -> Measured:
    """A pretrained encoder alone, and with words and the default model: what `--model e5` gives."""
    systems = {"e5": "e5", "best": "bm25+model+e5"}
    with precomputed.vectors(os.environ.get("PARAGLOSS_VECTORS", "")) as known:
        made = _asked(asked, [held_out_model(), "e5"], systems, place)
    if known is not None:
        for name in systems:
            made[f"cost | {name}"] = _encoded(made[f"cost | {name}"], known, asked)
    return made


def _encoded(cost: Mapping[str, float | list[float]], known: precomputed.Computed, asked: Sequence[Task]) -> Columns:
    """What it costs with the encoding that was done elsewhere."""
    documents = sum(len(task.documents) for task in asked)
    index = documents / float(np.mean(cost["documents/s"])) + known.owed(query=False)
    asking = float(np.mean(cost["ms/query"])) + 1000 * known.each(query=True)
    return {"documents/s": round(documents / index, 1), "ms/query": round(asking, 2)}


def held_out_model() -> str:
    """The default model that has not seen what is asked; its folder must be called `model`."""
    return os.environ.get("PARAGLOSS_HELD", str(Path(default.__file__).parent / "data" / "model"))


def _processor() -> float:
    """Seconds of processor so far, those of programs that were called included."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _made(make: Callable[[], Any], path: Path) -> dict[str, float]:
    started = _processor()
    make().save(path)
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return {"seconds": round(_processor() - started, 2), "MB": round(size / 1e6, 2)}


def _asked(
    asked: Sequence[Task], models: Sequence[str], systems: Mapping[str, str], place: Path, seed: int = 0
) -> Measured:
    """Each system's measure query by query, task by task; and what indexing and asking cost, over all tasks."""
    made: Measured = {}
    index = documents = queries = 0.0
    spent = dict.fromkeys(systems, 0.0)
    for number, task in enumerate(asked):
        where = str(place / f"{'-'.join(systems)[:20]}{number}")
        with Collection.create(where, models=list(models), default=False) as engine:
            started = _processor()
            engine.index(task.documents)
            index += _processor() - started
            documents, queries = documents + len(task.documents), queries + len(task.queries)
            for name, pipeline in systems.items():
                started = _processor()
                try:
                    found = engine.rank(task.queries, k=100, to=task.targets, pipeline=pipeline)
                except LanguageError:
                    continue  # a dictionary or a table that goes the other way
                spent[name] += _processor() - started
                made[f"{task.name} | {name}"] = {"measure": _scores(task, found)}
                if runs := os.environ.get("PARAGLOSS_RUNS"):
                    leaderboard.keep(Path(runs), task, name, seed, found)
    for name in systems:
        made[f"cost | {name}"] = {
            "documents/s": round(documents / max(index, 1e-9), 1),
            "ms/query": round(1000 * spent[name] / max(queries, 1), 2),
        }
    return made


def _scores(task: Task, found: Sequence[Ranking]) -> list[float]:
    run = {query.id: ranking for query, ranking in zip(task.queries, found, strict=True)}
    scores = evaluate(run, task.qrels, [task.measure])[task.measure]
    return [round(scores[query.id], 4) for query in task.queries]
