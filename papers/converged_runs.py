"""Converged runs of the losses of smooth learning and of the thesis' rankers, for a machine with many cores.

    python -m papers.converged_runs prepare FOLDER     # here: judgments with analysed texts, as JSON
    python papers/converged_runs.py run FOLDER OUT     # there: needs torch, numpy and scipy only

Each finished run is a file OUT/NAME.json with its measures, best epoch, epochs and seconds, so that an interrupted
series keeps what it has. Texts are analysed when they are prepared, so that the other machine needs no analysers.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

SMOOTH_PARTS = ("en-fr", "en-zh", "en-ru", "en-vi", "ddtp en-da", "ddtp en-it", "lohelp en-it")
SMOOTH_LOSSES = ("sosl", "three-part", "mse", "sigmoids")
NETWORKS = ("cnn", "lstm")
NETWORK_PART = "en-fr"
KNRM_MODELS = ("monolingual", "bilingual", "bilingual from Cr5")
KNRM_SETTINGS = ({"epochs": 4, "learning_rate": 1e-3}, {"epochs": 20, "learning_rate": 1e-2})
SEEDS = (0, 1, 2)
MAX_EPOCHS, PATIENCE = 150, 15
PROCESSES = 16


@dataclass(frozen=True)
class Job:
    """One model to train and measure."""

    name: str
    kind: str  # "smooth" or "knrm"
    part: str
    seed: int
    settings: Mapping[str, Any]


def list_jobs() -> Iterator[Job]:
    """List all runs, the longest first."""
    for seed in SEEDS:
        for network in NETWORKS:
            settings: dict[str, Any] = {"encoder": network, "batch": 16, "device": "cuda", "epochs": 60, "patience": 8}
            yield Job(f"smooth {NETWORK_PART} {network} {seed}", "smooth", NETWORK_PART, seed, settings)
    for seed in SEEDS:
        for model in KNRM_MODELS:
            for settings in KNRM_SETTINGS[::-1]:
                name = f"knrm {model} {settings['epochs']} epochs {seed}"
                yield Job(name, "knrm", model, seed, settings)
    for part in SMOOTH_PARTS:
        for seed in SEEDS:
            for loss in SMOOTH_LOSSES:
                yield Job(f"smooth {part} {loss} {seed}", "smooth", part, seed, {"loss": loss})


def prepare(folder: Path) -> None:
    """Write the judgments of all parts with analysed texts."""
    from papers import simulated_log
    from papers.graded_sets import split_judgments

    folder.mkdir(parents=True, exist_ok=True)
    for part in SMOOTH_PARTS:
        collection, _, lang = part.rpartition("en-")
        splits = split_judgments(lang, pages=1500, smoke=False, collection=collection.strip() or "mdn")
        _write_json(folder / f"smooth {part}.json.gz", [_pack_judged(split) for split in splits])
    log = simulated_log.simulate_log(simulated_log.LogSize(4000))
    bilingual = simulated_log.translate_to_english(log, log.train)
    vectors = {
        lang: {term: [round(float(x), 3) for x in row] for term, row in rows.items()}
        for lang, rows in simulated_log.fit_shared_vectors(log).items()
    }
    test = {
        "shown": {query_id: log.shown[query_id] for query_id in log.test_ids},
        "native": [_pack_query(log.native[query_id]) for query_id in log.test_ids],
        "english": [_pack_query(log.english[query_id]) for query_id in log.test_ids],
        "labels": log.labels._asdict(),
    }
    packed = {"train": _pack_judged(log.train), "bilingual": _pack_judged(bilingual), "test": test, "vectors": vectors}
    _write_json(folder / "knrm.json.gz", packed)


def _pack_query(query: Any) -> list[str]:
    from paragloss.analysis import analyzer

    return [query.id, " ".join(analyzer(query.lang).terms(query.text)), query.lang]


def _pack_judged(judged: Any) -> dict[str, Any]:
    from paragloss.analysis import analyzer

    documents = [
        [document.id, " ".join(analyzer(document.lang).terms(document.full_text)), document.lang]
        for document in judged.documents.values()
    ]
    return {"queries": [_pack_query(q) for q in judged.queries], "documents": documents, "qrels": judged.qrels}


def _unpack_judged(packed: Mapping[str, Any]) -> Any:
    from paragloss.types import Document, JudgedCollection, Query

    documents = {row[0]: Document(*row) for row in packed["documents"]}
    return JudgedCollection([Query(*row) for row in packed["queries"]], documents, packed["qrels"])


def run(folder: Path, out: Path) -> None:
    """Run all jobs in parallel; skip those whose file exists."""
    out.mkdir(parents=True, exist_ok=True)
    jobs = [job for job in list_jobs() if not (out / f"{job.name}.json").exists()]
    with ProcessPoolExecutor(PROCESSES) as pool:
        futures = {pool.submit(run_job, job, folder, out): job for job in jobs}
        for future in as_completed(futures):
            error = future.exception()
            print(f"{futures[future].name}: {error or 'done'}", flush=True)


def run_job(job: Job, folder: Path, out: Path) -> None:
    """Train and measure one model, and write its file."""
    use_split_words()
    import torch

    torch.set_num_threads(1)
    started = time.time()
    measures = run_smooth(job, folder) if job.kind == "smooth" else run_knrm(job, folder)
    _write_json(out / f"{job.name}.json", {**asdict(job), **measures, "seconds": round(time.time() - started, 1)})


def use_split_words() -> None:
    """Replace analysis by splitting at blanks: prepared texts are sequences of terms."""

    class SplitAnalyzer:
        def __init__(self, lang: str) -> None:
            self.lang = lang

        def terms(self, text: str) -> list[str]:
            return text.split()

    stub = ModuleType("paragloss.analysis")
    stub.__dict__.update(analyzer=lambda lang, **_: SplitAnalyzer(lang), Span=tuple, Analyzer=SplitAnalyzer)
    sys.modules["paragloss.analysis"] = stub
    originals = ModuleType("papers.original_data")  # needs the search engine
    originals.__dict__.update(read_lsclir=None, read_wikipedia=None, available_parts=lambda parts: [])
    sys.modules["papers.original_data"] = originals
    for name in ("safetensors", "safetensors.torch"):  # only checkpoints need it
        sys.modules.setdefault(name, ModuleType(name))


def run_smooth(job: Job, folder: Path) -> dict[str, Any]:
    """Train one loss or network on graded judgments, with patience on the validation queries."""
    from papers.graded_sets import measure_model, measure_random_order
    from paragloss.lab.methods import ordinal

    train, valid, test = (_unpack_judged(split) for split in _read_json(folder / f"smooth {job.part}.json.gz"))
    settings = {"epochs": MAX_EPOCHS, "patience": PATIENCE, **job.settings}
    model = ordinal.fit_judged(train, validation=[valid], seed=job.seed, **settings)
    return {"rows": _means(measure_model(model, test)), "chance": _means(measure_random_order(test, job.seed))}


def run_knrm(job: Job, folder: Path) -> dict[str, Any]:
    """Train one ranker on the simulated log and measure the test queries."""
    import numpy as np

    from paragloss.evaluation import evaluate
    from paragloss.lab.methods import knrm
    from paragloss.ranking import rank
    from paragloss.types import Hit, Query

    packed = _read_json(folder / "knrm.json.gz")
    judged = _unpack_judged(packed["train" if job.part == "monolingual" else "bilingual"])
    vectors = None
    if job.part.endswith("Cr5"):
        vectors = {
            lang: {term: np.array(row, np.float32) for term, row in rows.items()}
            for lang, rows in packed["vectors"].items()
        }
    settings = {"dim": 100, "batch": 32, "per_positive": 2, **job.settings}
    model = knrm.fit_judged(judged, vectors=vectors, seed=job.seed, **settings)
    test = packed["test"]
    rng = np.random.default_rng(job.seed)
    measures = {}
    queries = [Query(*row) for row in test["native" if job.part == "monolingual" else "english"]]
    for name in ("rows", "chance"):
        run_by_query = {}
        for query in queries:
            documents = [judged.documents[doc_id] for doc_id in test["shown"][query.id]]
            scores = rng.random(len(documents)) if name == "chance" else model.score(query, documents)
            hits = [Hit(d.id, float(s)) for d, s in zip(documents, scores, strict=True)] if documents else []
            run_by_query[query.id] = rank(hits, 10)
        scores_by_label = {
            label: evaluate(run_by_query, qrels, ["nDCG(dcg='exp-log2')@10"])["nDCG(dcg='exp-log2')@10"]
            for label, qrels in test["labels"].items()
            if label != "raw"
        }
        measures[name] = {f"{label} @10": float(np.mean(list(s.values()))) for label, s in scores_by_label.items()}
    return measures


def _means(columns: Mapping[str, Any]) -> dict[str, float]:
    import numpy as np

    return {name: float(np.mean(values)) for name, values in columns.items()}


def _write_json(path: Path, value: Any) -> None:
    data = json.dumps(value, ensure_ascii=False).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def _read_json(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


def main(arguments: Sequence[str]) -> None:
    """Prepare the data, or run all jobs."""
    if arguments[0] == "prepare":
        prepare(Path(arguments[1]))
    else:
        run(Path(arguments[1]), Path(arguments[2]))


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(root), str(root / "src")]
    main(sys.argv[1:])
