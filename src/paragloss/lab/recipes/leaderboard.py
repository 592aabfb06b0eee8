"""The results page in forms that others compare with: results as MTEB keeps them, and TREC runs with their judgments.

MTEB has a file for each system and task, in it `scores` by split with `hf_subset` (here the pair of languages),
`languages` and `main_score`. Runs are kept by `paragloss recipes results` itself where PARAGLOSS_RUNS names a folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paragloss import __version__
from paragloss.formats.trec import write_qrels, write_run
from paragloss.lab.recipes.tasks import TALK, Task
from paragloss.types import Hit, Ranking

#: As MTEB writes languages.
_LANGS = {
    "ar": "arb-Arab", "da": "dan-Latn", "en": "eng-Latn", "es": "spa-Latn", "fr": "fra-Latn", "hi": "hin-Deva",
    "it": "ita-Latn", "ru": "rus-Cyrl", "vi": "vie-Latn", "zh": "cmn-Hans",
}  # fmt: skip


def write(results: Mapping[str, Any], folder: Path) -> int:
    """FOLDER/SYSTEM/TASK.json for every system and kind of task on a collection; how many."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for task, told in results["tasks"].items():
        for system, values in told["systems"].items():
            found.setdefault((slug(system), task_name(task)), []).append(entry(task, values, told["queries"]))
    for (system, name), entries in found.items():
        made: dict[str, Any] = {"task_name": name, "dataset_revision": __version__, "scores": {"test": entries}}
        _write(folder / system / f"{name}.json", {**made, "mteb_version": None, "evaluation_time": None})
    for system, cost in results["costs"].items():
        if (folder / slug(system)).is_dir():
            about = {"name": system, "revision": __version__, "framework": ["paragloss"], "cost": cost}
            _write(folder / slug(system) / "model_meta.json", about)
    return len(found)


def entry(task: str, values: Sequence[float], queries: int) -> dict[str, Any]:
    """One pair of languages of one system as MTEB has it; the mean over seeds, and each."""
    kind, _, pair = task.split(", ")
    measure = "ndcg_at_10" if kind == "ad hoc" else "mrr_at_100"
    score = float(np.mean(values))
    langs = ["en", *TALK] if pair == "mixed list" else pair.split("-")
    scores = {measure: score, "main_score": score, "seeds": list(values), "queries": queries}
    return {"hf_subset": pair, "languages": [_LANGS.get(lang, lang) for lang in langs], **scores}


def keep(folder: Path, task: Task, system: str, seed: int, found: Sequence[Ranking]) -> None:
    """FOLDER/TASK/SYSTEM.SEED.run, beside the task's qrels."""
    place = folder / slug(task.name)
    place.mkdir(parents=True, exist_ok=True)
    run = {_id(query.id): apart(hits) for query, hits in zip(task.queries, found, strict=True)}
    write_run(place / f"{slug(system)}.{seed}.run", run, tag=slug(system))
    qrels = {_id(query): {_id(name): grade for name, grade in told.items()} for query, told in task.qrels.items()}
    write_qrels(place / "qrels", qrels)


def apart(hits: Ranking) -> Ranking:
    """The same order in scores alone: trec_eval looks at nothing else, in single precision, and turns equals round."""
    found, last = [], np.float32(np.inf)
    for hit in hits:
        last = min(np.float32(hit.score), np.nextafter(last, np.float32(-np.inf)))
        found.append(Hit(_id(hit.id), float(last)))
    return found


def task_name(task: str) -> str:
    """questions, news, en-hi -> ParaglossQuestionsNews"""
    kind, collection, _ = task.split(", ")
    return f"Paragloss{''.join(part.capitalize() for part in re.split('[^a-z]+', f'{kind} {collection}'))}"


def slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _id(name: str) -> str:
    """Without blanks, which TREC's columns can't have."""
    return "_".join(name.split())


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
