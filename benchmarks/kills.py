"""Kills at random moments of everything that writes, and what is left: documents lost, commands that can't be repeated.

    python benchmarks/kills.py --kills 1000 [--seed 0] [--folder /tmp/kills]

Each round starts one operation on a small collection in a process of its own and kills it (SIGKILL) after a random part
of the time it usually takes. Then the collection is opened again: every document that was reported as done is there and
found by its own word, nothing deleted has come back, statistics agree with the documents, the same command finishes
when it is given again, and models encode what is there.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from paragloss import demo
from paragloss.engine import Engine, train
from paragloss.engine.checking import check
from paragloss.models import cr5

OPERATIONS = ("create", "index", "update", "delete", "add model", "replace model", "train", "repair")
WORK = """
import sys
from paragloss.engine import Engine, load, train
from paragloss.engine.checking import repair
from paragloss.types import Document
what, home, model, start, size = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
def documents(version):
    here = range(start, start + size)
    return [Document(f"d{i}", f"word{i}x common text v{version}", "en", title=f"t{i}") for i in here]
def say(n): print(n, flush=True)
print("begun", flush=True)
if what == "train":
    load(model).save(home + "-model")
elif what == "repair":
    repair(home)
elif what == "create":
    with Engine.open_or_create(home, models=[model]) as engine:
        engine.index(documents(0), progress=say)
else:
    with Engine.open_or_create(home, models=[model] if "model" in what else []) as engine:
        if what in ("index", "update"):
            for part in range(0, size, 25):
                engine.index(documents(1 if what == "update" else 0)[part:part + 25])
                say(part + 25)
        elif what == "delete":
            for document in documents(0):
                engine.delete([document.id])
                say(document.id)
print("finished", flush=True)
"""


def started(what: str, home: Path, model: Path, start: int, size: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore", "-c", WORK, what, str(home), str(model), str(start), str(size)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def killed(process: subprocess.Popen[str], after: float) -> tuple[list[str], str]:
    """What it said before it was killed, and what it complained of."""
    assert process.stdout is not None
    first = process.stdout.readline()
    time.sleep(after)
    process.kill()
    rest, complaint = process.communicate()
    return [first.strip(), *rest.split("\n")], complaint


def wrong(home: Path, there: set[str], unsure: set[str]) -> list[str]:
    """What is not as it should be: `there` was reported as done; what became of the `unsure` ones nobody was told."""
    with Engine.open(str(home)) as engine:
        found = {r.document.id for records in engine.held.store.scroll() for r in records}
        lost, back = there - found, found - there - unsure
        said = [f"lost {sorted(lost)[:3]}"] if lost else []
        said += [f"came back {sorted(back)[:3]}"] if back else []
        for id in sorted(found)[:: max(1, len(found) // 5)]:
            hits = engine.rank([demo.Query("q", f"word{id[1:]}x", "en")], k=1, pipeline="bm25")[0]
            if not hits or hits[0].id != id:
                said.append(f"{id} is not found by its word")
    return said + [finding.what for finding in check(str(home))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    top = options.folder or Path(tempfile.mkdtemp(prefix="kills-"))
    top.mkdir(parents=True, exist_ok=True)
    kinds = []
    for number, concepts in enumerate((demo.concepts()[:30], demo.concepts()[30:])):
        kinds.append(top / f"m{number}" / "cr5")
        train(cr5.fit, concepts, dim=8).save(kinds[-1])
    usual = dict.fromkeys(OPERATIONS, 1.0)
    kills, faults = Counter[str](), []
    home, there, unsure, number = top / "c", set[str](), set[str](), 0
    began = time.monotonic()
    for round_ in range(options.kills):
        what = rng.choice(OPERATIONS) if (home / "meta.json").exists() else "create"
        if what == "create":
            shutil.rmtree(home, ignore_errors=True)
            there, unsure = set(), set()
        size = 50
        start = (
            number
            if what in ("create", "index")
            else rng.choice(sorted({int(i[1:]) // size * size for i in there} or {0}))
        )
        number += size if what in ("create", "index") else 0
        model = kinds[1] if what == "replace model" else kinds[0]
        mine = [f"d{i}" for i in range(start, start + size)]
        said, complaint = killed(started(what, home, model, start, size), rng.random() * usual[what])
        kills[what] += 1
        if "finished" in said:
            usual[what] *= 0.8
        else:
            usual[what] = min(usual[what] * 1.1, 5.0)
        if complaint.strip():
            faults.append((round_, what, complaint.strip()[-300:]))
        numbers = [int(s) for s in said if s.isdigit()]
        if what in ("create", "index", "update"):
            there |= set(mine[: max(numbers, default=0)])
            unsure = (unsure | set(mine)) - there
        elif what == "delete":
            gone = [s for s in said if s.startswith("d")]
            there -= set(gone)
            unsure -= set(gone)
            unsure |= set(mine[len(gone) : len(gone) + 1])
            there -= unsure
        if what != "train":  # the same command again finishes the job
            again = started(what, home, model, start, size)
            out, complaint = again.communicate(timeout=120)
            if "finished" not in out:
                faults.append((round_, what, "again: " + complaint.strip()[-300:]))
                shutil.rmtree(home, ignore_errors=True)
                continue
            unsure -= set(mine)
            there = (
                there - set(mine)
                if what == "delete"
                else there | (set(mine) if what in ("create", "index", "update") else set())
            )
            faults += [(round_, what, fault) for fault in wrong(home, there, unsure)]
        if (round_ + 1) % 50 == 0:
            print(
                f"{round_ + 1} kills, {len(faults)} faults, {len(there)} documents, {time.monotonic() - began:.0f} s",
                flush=True,
            )
    print("kills: " + ", ".join(f"{name} {count}" for name, count in kills.most_common()))
    print(f"faults: {len(faults)}")
    for fault in faults[:20]:
        print(fault)


if __name__ == "__main__":
    main()
