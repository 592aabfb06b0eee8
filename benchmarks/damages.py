"""A file of a collection cut, emptied, flipped, zeroed, removed or swapped: is the answer right, or is it said?

    python benchmarks/damages.py [--damages 1000] [--seed 0] [--state damages.json]

Each round damages one file of a copy of a small collection and opens it in a process of its own: every document is read
and searched for by its word and by its meaning. All of it is as before; or opening, reading or searching says in words
that something is wrong; or `check`, which reads everything, says so. Anything else is a fault: a wrong answer without a
word, a traceback, a process that dies.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from kills import BATCH, CONCEPTS, document, run

from paragloss.collection import Collection, coverage, load, train, writer
from paragloss.collection.embeddings import encode_rows
from paragloss.collection.integrity import check_collection
from paragloss.errors import ParaglossError
from paragloss.lab.methods import cr5
from paragloss.translation import default
from paragloss.types import Query

SIZE = 40
DAMAGES = ("cut", "emptied", "flipped", "noise", "zeroed", "removed", "swapped")


def build(home: Path) -> None:
    train(cr5.fit, CONCEPTS[:30], dim=4).save(home.parent / "cr5")
    with Collection.create(str(home), models=[str(home.parent / "cr5")], meaning=False) as engine:
        engine.index([document(n, 0) for n in range(SIZE)])
        engine.index([document(n, 1) for n in range(SIZE // 2)])
        engine.delete([document(SIZE - 1, 0).id])


def damage(home: Path, rng: random.Random) -> str:
    """Change one file; what was done to which."""
    files = sorted(path for path in home.rglob("*") if path.is_file() and path.name != "lock")
    file, kind = rng.choice(files), rng.choice(DAMAGES)
    data = bytearray(file.read_bytes())
    used = len(data.rstrip(b"\0")) or len(data)  # the engine's files are mostly holes
    at = rng.randrange(used) if used else 0
    if kind == "cut":
        data = data[:at]
    elif kind == "emptied":
        data = bytearray()
    elif kind == "flipped" and data:
        data[at] ^= 1 << rng.randrange(8)
    elif kind == "noise":
        data[at : at + 16] = rng.randbytes(len(data[at : at + 16]))
    elif kind == "zeroed":
        data[at : at + 64] = bytes(len(data[at : at + 64]))
    elif kind == "swapped":
        other = rng.choice(files)
        data, theirs = bytearray(other.read_bytes()), bytes(data)
        other.write_bytes(theirs)
    file.unlink() if kind == "removed" else file.write_bytes(data)
    return f"{kind} {file.relative_to(home)}"


def answers(home: Path) -> dict[str, Any]:
    """Everything that may be asked of the collection."""
    with Collection.open(str(home)) as engine:
        documents = sorted(engine.documents(), key=lambda d: d.id)
        queries = [Query(f"q{n}", f"word{n}x common", "en") for n in range(SIZE)]
        queries += [Query(f"t{n}", CONCEPTS[n].texts["en"][:60], "en") for n in range(0, SIZE, 4)]
        ranked = {
            pipeline: [
                [(hit.id, round(hit.score, 3)) for hit in hits] for hits in engine.rank(queries, k=5, pipeline=pipeline)
            ]
            for pipeline in ("bm25", "cr5")
        }
        return {"documents": documents, "count": engine.count(), "langs": engine.langs, "ranked": ranked}


def judged(home: Path, right: str) -> str:
    """What became of the answers: right, said, checked (only `check` says it) or wrong."""
    try:
        if json.dumps(answers(home)) == right:
            return "right"
    except ParaglossError:
        return "said"
    findings = check_collection(str(home))
    return "checked" if findings else "wrong: not as before, and nothing is said"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--damages", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=Path)
    parser.add_argument(
        "--killed", action="store_true", help="as after a kill: nothing says what the files should hold"
    )
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long, to go on another time")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    writer.BATCH_SIZE = BATCH
    state: dict[str, Any] = {"counts": {}, "wrong": []}
    if options.state and options.state.exists():
        state = json.loads(options.state.read_text())
    counts = Counter[str](state["counts"])
    until = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory(prefix="damages-") as folder:
        home, copy = Path(folder, "c"), Path(folder, "copy")
        run(lambda say: build(home))
        if options.killed:
            (home / "seal.json").unlink()
        coverage.describe_foreign_texts([document(0, 0)], default.open())
        encode_rows(load(Path(folder, "cr5")), [document(0, 0)])
        shutil.copytree(home, copy)
        right = run(lambda say: say(json.dumps(answers(copy))))[0][0]
        gc.freeze()
        while counts.total() < options.damages and time.monotonic() < until:
            rng = random.Random(f"{options.seed} {counts.total()}")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(home, copy)
            damage_done = damage(copy, rng)
            devnull = os.open(os.devnull, os.O_WRONLY)

            def work(say: Any, devnull: int = devnull) -> None:
                os.dup2(devnull, 2)  # a panic of the engine prints
                say(judged(copy, right))

            output, _ = run(work)
            os.close(devnull)
            outcome = next((line for line in output if line), "wrong: the process died")
            counts[outcome.split(":")[0] if outcome.split(":")[0] in ("right", "said", "checked") else "wrong"] += 1
            if outcome.split(":")[0] not in ("right", "said", "checked"):
                state["wrong"].append(f"{damage_done}: {outcome[:400]}")
            state["counts"] = dict(counts)
            if options.state:
                options.state.write_text(json.dumps(state))
            if counts.total() % 100 == 0:
                print(f"{counts.total()} damages: {dict(counts)}", flush=True)
    print(f"damages: {counts.total()}: {dict(counts)}")
    for fault in state["wrong"][:40]:
        print(" ", fault)
    sys.exit(1 if state["wrong"] else 0)


if __name__ == "__main__":
    main()
