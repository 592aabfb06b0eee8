"""Kills at random moments of everything that writes, and what is left: documents lost, commands that can't be repeated.

    python benchmarks/kills.py [--kills 1000] [--seed 0] [--state kills.json] [--only OPERATION]

Each round does one thing to a small collection in a process of its own and kills it: after a random part of the time it
takes by the clock or by the processor, or at a random one of the files it opens, renames or removes. The collection is
opened: every document is there as it was reported, or as it was before; each is found by its own word; all of them
are ranked as BM25 worked out plainly ranks them; vectors are those of the model that is there; `check` finds nothing.
The same command given again finishes, and all of that holds again, with nothing left open. What runs is forked from a
process that has imported everything, so a round takes a third of a second. With --state, counts go on where they were.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paragloss import demo
from paragloss.analysis import analyzer
from paragloss.collection import Collection, coverage, load, model_records, train, writer
from paragloss.collection.embeddings import encode_rows
from paragloss.collection.integrity import check_collection, repair_collection
from paragloss.collection.transfer import copy
from paragloss.errors import StoreError
from paragloss.lab.methods import cr5, table
from paragloss.statistics import DRIFT
from paragloss.stores import collection_exists
from paragloss.translation import default
from paragloss.types import Document, Query

SIZE, PART = 24, 6
#: Documents written at once: fewer than any file has rows.
BATCH = 7
CONCEPTS = demo.concepts()
#: Processor seconds after which a command that was given again is stuck, and seconds by the clock of an idle machine.
STUCK, WAIT = 20, 600
#: What each document may be: a version of its text, or None where it may not be there.
May = dict[int, set[int | None]]
Say = Callable[[object], None]


class Job(NamedTuple):
    """One command: which documents it is about, from which folders, and what it makes of them."""

    kind: str
    home: Path
    work_folder: Path
    start: int
    version: int | None


class Moment(NamedTuple):
    """When to kill: after so many seconds by the "clock" or by "processor", or at the so-manieth "file"."""

    by: str
    at: float


def document(number: int, version: int) -> Document:
    """Found by its own word; how often it says `common` places it."""
    text = f"word{number}x " + "common " * (1 + number % 5) + "rain " * (number % 3) + f"version{version}"
    return Document(f"d{number}", text, "en", title=CONCEPTS[number % 60].texts["en"][:60])


def documents(job: Job) -> list[Document]:
    return [document(number, job.version or 0) for number in range(job.start, job.start + SIZE)]


# What is killed


def create(job: Job, say: Say) -> None:
    with Collection.open_or_create(
        str(job.home), models=[str(job.work_folder / "old" / "cr5")], meaning=False
    ) as engine:
        engine.index(documents(job), progress=say)


def index(job: Job, say: Say) -> None:
    with Collection.open(str(job.home)) as engine:
        for part in range(0, SIZE, PART):
            engine.index(documents(job)[part : part + PART])
            say(part + PART)


def index_files(job: Job, say: Say) -> None:
    with Collection.open(str(job.home)) as engine:
        engine.index_files([str(job.work_folder / "rows.jsonl")])
    say(SIZE)


def delete(job: Job, say: Say) -> None:
    with Collection.open(str(job.home)) as engine:
        for part in range(0, SIZE, PART):
            engine.delete([d.id for d in documents(job)[part : part + PART]])
            say(part + PART)


def put_model(job: Job, say: Say) -> None:
    name = {"replace model": "new/cr5", "add model": "old/table"}.get(job.kind, "old/cr5")
    with Collection.open_or_create(str(job.home), models=[str(job.work_folder / name)], meaning=False):
        pass


def remove_model(job: Job, say: Say) -> None:
    with Collection.open(str(job.home)) as engine:
        for name in model_records.read_model_records(engine.state.store):
            engine.remove_model(name)


def learn(job: Job, say: Say) -> None:
    train(cr5.fit, CONCEPTS[job.start % 20 :][:20], dim=4).save(job.work_folder / "trained")


def duplicate(job: Job, say: Say) -> None:
    try:
        copy(str(job.home), str(job.home.with_name("copied")))
    except StoreError as error:
        if "already holds a collection" not in str(error):  # whole, as is looked at afterwards
            raise


def mend(job: Job, say: Say) -> None:
    repair_collection(str(job.home))


WORK: dict[str, Callable[[Job, Say], None]] = {
    "create": create,
    "index": index,
    "index files": index_files,
    "update": index,
    "delete": delete,
    "add model": put_model,
    "replace model": put_model,
    "restore model": put_model,
    "remove model": remove_model,
    "train": learn,
    "repair": mend,
    "copy": duplicate,
}


# How it is run, and killed


def run(work: Callable[[Say], object], moment: Moment | None = None) -> tuple[list[str], dict[str, float]]:
    """What a process of its own said until it ended or was killed, and what the whole of it took, if it came so far."""
    out, into = os.pipe()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(out)
        _work(work, moment, into)
    os.close(into)
    output = read_output_of(out, began + (moment.at if moment and moment.by == "clock" else WAIT), child)
    _, status = os.waitpid(child, 0)
    lines = output.decode().split("\n")[:-1]
    took = json.loads(lines.pop()) if lines and lines[-1].startswith("{") else {}
    if not took and not os.WIFSIGNALED(status):
        lines.append(f"ended with {status}")
    return lines, took


def _work(work: Callable[[Say], object], moment: Moment | None, into: int) -> None:
    """Runs in the child and ends it."""
    files, started = Counter[str](), time.monotonic()

    def say(line: object) -> None:
        os.write(into, f"{line}\n".encode())

    def watch(event: str, _: Any) -> None:
        if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir"):
            files["file"] += 1
            if moment and moment.by == "file" and files["file"] >= moment.at:
                os.kill(os.getpid(), signal.SIGKILL)

    spent = sum(os.times()[:2])
    if moment and moment.by == "processor":
        signal.setitimer(signal.ITIMER_PROF, max(moment.at, 1e-3))  # nobody handles the signal, so it ends the process
    elif not moment:
        resource.setrlimit(resource.RLIMIT_CPU, (STUCK, STUCK))
    sys.addaudithook(watch)
    try:
        work(say)
        took = {"clock": time.monotonic() - started, "processor": sum(os.times()[:2]) - spent, "file": files["file"]}
        say(json.dumps(took))
    except BaseException:
        say("error: " + " | ".join(traceback.format_exc().strip().splitlines()[-3:]))
    os._exit(0)


def read_output_of(out: int, until: float, child: int) -> bytes:
    """Everything a child says; when its time is over it is killed."""
    output = b""
    while select.select([out], [], [], max(0.0, until - time.monotonic()))[0]:
        part = os.read(out, 1 << 16)
        if not part:
            break
        output += part
    else:
        os.kill(child, signal.SIGKILL)
        while part := os.read(out, 1 << 16):
            output += part
    os.close(out)
    return output


# What must hold afterwards


def faults(job: Job, may: May, say: Say, *, models: dict[str, set[str]], half: bool) -> None:
    """Say what is wrong, and what is there. `half`: a model may not have been put in whole."""
    if not collection_exists(job.home):
        for number, versions in may.items():
            if None not in versions:
                say(f"fault: d{number} is lost with the whole collection")
        say("there: {}")
        return
    with Collection.open(str(job.home)) as engine:
        records = {int(r.document.id[1:]): r for batch in engine.state.store.scroll(vectors=True) for r in batch}
        versions_by_number = {
            number: int(record.document.text.rsplit("version")[-1]) for number, record in records.items()
        }
        for number in sorted({*may, *versions_by_number}):
            if versions_by_number.get(number) not in may.get(number, {None}):
                say(f"fault: d{number} is {versions_by_number.get(number)}, expected {may.get(number, {None})}")
        if engine.count() != len(versions_by_number):
            say(f"fault: {engine.count()} counted, {len(versions_by_number)} there")
        for number in list(versions_by_number)[:: max(1, len(versions_by_number) // 6)]:
            hits = engine.rank([Query("q", f"word{number}x", "en")], k=1, pipeline="bm25")[0]
            if [hit.id for hit in hits] != [f"d{number}"]:
                say(f"fault: d{number} is not found by its word, but {hits}")
        _ranked(engine, versions_by_number, say, exact=not half)
        _encoded(engine, list(records.values()), models, say)
        ready_models = {
            name for name, entry in model_records.read_model_records(engine.state.store).items() if entry.is_complete
        }
    for finding in check_collection(str(job.home)):
        if not (half and finding.fault.startswith(("model", "there are vectors"))):
            say(f"fault: check: {finding.fault}")
    if not half and ready_models != set(models):
        say(f"fault: models {ready_models}, expected {set(models)}")
    say("there: " + json.dumps(versions_by_number))


def _ranked(engine: Collection, versions: dict[int, int], say: Say, *, exact: bool) -> None:
    """Hold the ranking for one word against BM25 worked out here."""
    terms = {f"d{n}": analyzer("en").terms(document(n, version).text) for n, version in versions.items()}
    hits = engine.rank([Query("q", "common", "en")], k=len(versions), pipeline="bm25:title=0")[0] if versions else []
    if not exact:
        return
    average = sum(map(len, terms.values())) / max(1, len(terms))
    word = analyzer("en").terms("common")[0]
    count = {id: words.count(word) for id, words in terms.items()}
    scores = {id: c / (c + 1.2 * (0.25 + 0.75 * len(terms[id]) / average)) for id, c in count.items()}
    shares = [hit.score / scores[hit.id] for hit in hits]  # scores are shares of the best possible: all alike
    if len(hits) != len(terms) or not np.allclose(shares, shares[:1], rtol=DRIFT):
        say(f"fault: ranking: {len(hits)} of {len(terms)} ranked, shares {sorted(shares)[:: max(1, len(shares) - 1)]}")


def _encoded(engine: Collection, records: list[Any], models: dict[str, set[str]], say: Say) -> None:
    """Vectors are those of the model that is there, and the model is one that was given."""
    for name, entry in model_records.read_model_records(engine.state.store).items():
        if entry.is_complete and entry.digest not in models.get(name, ()):
            say(f"fault: model {name} is none that was given")
        if entry.is_complete and name in engine.state.store.dense:
            rows = encode_rows(engine.state.models[name], [record.document for record in records])
            for record, row in zip(records, rows, strict=True):
                vector = record.dense.get(name)
                if (vector is None) != (row is None or not row.any()) or (
                    vector is not None and not np.allclose(vector, row, atol=1e-4)
                ):
                    say(f"fault: {record.document.id} has no vector of the model {name} that is there")
                    return


# One round after another


class Campaign:
    """A collection, what is known of it, and what was counted."""

    def __init__(self, work_folder: Path, rng: random.Random) -> None:
        self.work_folder, self.rng, self.home = work_folder, rng, work_folder / "c"
        self.may: May = {}
        self.models: dict[str, str] = {}
        self.next = 0
        self.usual: dict[str, dict[str, float]] = {}
        self.kills, self.moments, self.wrong = Counter[str](), Counter[str](), list[str]()
        self.digests = {}
        for kind, concepts in (("old", CONCEPTS[:30]), ("new", CONCEPTS[30:])):
            train(cr5.fit, concepts, dim=4).save(work_folder / kind / "cr5")
            self.digests[kind] = model_records.compute_digest(work_folder / kind / "cr5")
        table.fit(CONCEPTS[:10]).save(work_folder / "old" / "table")
        self.digests["table"] = model_records.compute_digest(work_folder / "old" / "table")
        warm = [document(n, 0) for n in range(10)]
        coverage.describe_foreign_texts(warm, default.open())
        encode_rows(load(work_folder / "old" / "cr5"), warm)

    def job(self, kind: str) -> Job:
        present = sorted(number for number, versions in self.may.items() if None not in versions)
        start = self.next if kind in ("create", "index", "index files") or not present else self.rng.choice(present)
        start -= start % SIZE
        version = {"update": self.rng.randrange(1, 99), "delete": None}.get(kind, 0)
        if kind in ("create", "index", "index files"):
            self.next += SIZE
        job = Job(kind, self.home, self.work_folder, start, version)
        if kind == "index files":
            rows = [{"id": d.id, "lang": "en", "title": d.title, "text": d.text} for d in documents(job)]
            (self.work_folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return job

    def round(self, kind: str) -> None:
        if kind == "create" or not collection_exists(self.home) or len(self.may) > 8 * SIZE:
            kind = "create"
            shutil.rmtree(self.home, ignore_errors=True)
            self.may, self.models = {}, {}
        if kind == "repair":
            for old in self.work_folder.glob("c.damaged*"):
                shutil.rmtree(old)
        if kind == "copy":
            shutil.rmtree(self.home.with_name("copied"), ignore_errors=True)
        job = self.job(kind)
        if kind not in self.usual:  # once to its end, to know how long it takes
            self._finish_job(job)
            return
        moment = self._moment(kind)
        lines, took = run(lambda say: WORK[kind](job, say), moment)
        if took:
            self._finished(job)
        else:
            self.kills[kind] += 1
            self.moments[moment.by] += 1
            self._interrupted(job, max((int(s) for s in lines if s.isdigit()), default=0))
            self._note(job, [s for s in lines if not s.isdigit()])
            self._check(job, half=kind == "create" or "model" in kind)
        self._finish_job(job)

    def _moment(self, kind: str) -> Moment:
        by = self.rng.choice(("clock", "processor", "file"))
        return Moment(by, self.rng.random() * self.usual[kind][by] * 1.02)

    def _finish_job(self, job: Job) -> None:
        """The same command finishes, and everything is as it should be."""
        lines, took = run(lambda say: WORK[job.kind](job, say))
        if not took:
            self._note(job, ["again: " + " ".join(lines[-2:] or ["stuck"])])
            shutil.rmtree(self.home, ignore_errors=True)
            return
        usual_seconds = self.usual.setdefault(job.kind, took)
        self.usual[job.kind] = {
            by: 0.9 * usual_seconds[by] + 0.1 * took[by] if took[by] < usual_seconds[by] else took[by] for by in took
        }
        self._finished(job)
        self._check(job, half=False)
        if job.kind == "copy":  # and so is the copy
            self._check(job._replace(home=self.home.with_name("copied")), half=False)

    def _interrupted(self, job: Job, done_count: int) -> None:
        if job.kind in ("create", "index", "index files", "update", "delete"):
            for number in range(job.start, job.start + SIZE):
                before = self.may.get(number, {None})
                self.may[number] = {job.version} if number < job.start + done_count else before | {job.version}

    def _finished(self, job: Job) -> None:
        self._interrupted(job, SIZE)
        if job.kind in ("create", "restore model"):
            self.models["cr5"] = self.digests["old"]
        if job.kind == "replace model":
            self.models["cr5"] = self.digests["new"]
        if job.kind == "add model":
            self.models["table"] = self.digests["table"]
        if job.kind == "remove model":
            self.models = {}

    def _check(self, job: Job, *, half: bool) -> None:
        if job.kind == "train":
            lines, took = run(lambda say: self._trained(say))
        else:
            models = {name: {digest} for name, digest in self.models.items()}
            if half:
                models = {"cr5": {self.digests["old"], self.digests["new"]}, "table": {self.digests["table"]}}
            # After a kill the averages may be a little off, as while anything is added; models may be between two.
            half = half or any(len(versions) > 1 for versions in self.may.values())
            lines, took = run(lambda say: faults(job, self.may, say, models=models, half=half))
        listed = [json.loads(s[7:]) for s in lines if s.startswith("there: ")]
        self._note(job, [s for s in lines if not s.startswith("there: ")] if took else ["checking: " + " ".join(lines)])
        for version in listed:  # what was open until now is known
            self.may = {number: {version.get(str(number))} for number in self.may}
        self.may = {number: versions for number, versions in self.may.items() if versions != {None}}

    def _trained(self, say: Say) -> None:
        if (self.work_folder / "trained").exists() or list(self.work_folder.glob(".trained.old")):
            load(self.work_folder / "trained").encode(["rain"], "en")

    def _note(self, job: Job, lines: list[str]) -> None:
        self.wrong += [f"{job.kind}: {line}" for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=Path)
    parser.add_argument("--only", choices=WORK)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long, to go on another time")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    before = json.loads(options.state.read_text()) if options.state and options.state.exists() else {}
    writer.BATCH_SIZE = BATCH
    rng = random.Random(f"{options.seed} {sum(before.get('kills', {}).values())}")
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        campaign = Campaign(Path(folder), rng)
        campaign.kills.update(before.get("kills", {}))
        campaign.moments.update(before.get("moments", {}))
        campaign.wrong += before.get("wrong", [])
        reported_at = began = time.monotonic()
        gc.freeze()  # so that children share what is there
        while campaign.kills.total() < options.kills and time.monotonic() - began < options.seconds:
            campaign.round(options.only or rng.choice(list(WORK)))
            counted = {"kills": campaign.kills, "moments": campaign.moments, "wrong": campaign.wrong}
            if options.state:
                options.state.write_text(json.dumps(counted))
            if time.monotonic() - reported_at > 30:
                reported_at = time.monotonic()
                print(f"{campaign.kills.total()} kills, {len(campaign.wrong)} faults", flush=True)
    print("kills: " + ", ".join(f"{name} {count}" for name, count in campaign.kills.most_common()))
    print("moments: " + ", ".join(f"{name} {count}" for name, count in campaign.moments.most_common()))
    print(f"faults: {len(campaign.wrong)}")
    for fault in campaign.wrong[:20]:
        print(" ", fault)
    sys.exit(1 if campaign.wrong else 0)


if __name__ == "__main__":
    main()
