"""The results page in forms that others compare with: a JSON file for each task as MTEB writes them, and TREC runs.

MTEB's retrieval results have `task_name`, `scores` by split with `hf_subset`, `languages` and `main_score`. Runs are
written by `paragloss recipes results` itself where PARAGLOSS_RUNS names a folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from paragloss import __version__


def write(results: Mapping[str, Any], folder: Path) -> int:
    """FOLDER/SYSTEM/TASK.json for every system and task; how many."""
    written = 0
    for task, told in results["tasks"].items():
        for system, values in told["systems"].items():
            place = folder / slug(system)
            place.mkdir(parents=True, exist_ok=True)
            text = json.dumps(entry(task, values, told["queries"]), ensure_ascii=False, indent=2)
            (place / f"{slug(task)}.json").write_text(text + "\n", encoding="utf-8")
            written += 1
    for system, cost in results["costs"].items():
        if (folder / slug(system)).is_dir():
            about = {"name": system, "revision": __version__, "framework": ["paragloss"], "cost": cost}
            (folder / slug(system) / "model_meta.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return written


def entry(task: str, values: list[float], queries: int) -> dict[str, Any]:
    """One task of one system as MTEB has it."""
    kind, collection, pair = task.split(", ")
    measure = "ndcg_at_10" if kind == "ad hoc" else "mrr_at_100"
    score = float(np.mean(values))
    langs = [] if pair == "mixed list" else pair.split("-")
    return {
        "task_name": f"Paragloss{''.join(part.capitalize() for part in re.split('[^a-z]+', f'{kind} {collection}'))}",
        "mteb_version": None,
        "dataset_revision": __version__,
        "evaluation_time": None,
        "scores": {
            "test": [
                {
                    "hf_subset": pair,
                    "languages": langs,
                    measure: score,
                    "main_score": score,
                    "seeds": values,
                    "queries": queries,
                }
            ]
        },
    }


def slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
