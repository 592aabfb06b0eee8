"""Many processes search one folder while one writes to it: are all answers right, and is there no error?

    python benchmarks/crowd.py [--seconds 600] [--readers 10] [--pause 0.2]

The writer adds documents a few at a time, replaces some, deletes some, and says after each what is there for good. A
reader asks for a document by its own word and for a word that all have, and now and then opens the folder anew. What
was said before it asked must be found, in its last version; what was deleted must not.
"""

from __future__ import annotations

import argparse
import mmap
import os
import random
import struct
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from kills import document

from paragloss.collection import Collection
from paragloss.types import Query

PART = 5
#: How long a reader may not yet know what was just written: it looks for news twice a second.
NEWS = 2.0


def write(home: Path, shared_state: mmap.mmap, until: float, pause: float) -> int:
    """Document n is added, replaced while n + 10 is, and every seventh is deleted after that."""
    number = 0
    with Collection.open(str(home)) as engine:
        while time.time() < until:
            engine.index([document(n, 0) for n in range(number, number + PART)])
            engine.index([document(n, 1) for n in range(max(0, number - 10), max(0, number - 10 + PART))])
            gone = [f"d{n}" for n in range(max(0, number - 20), max(0, number - 20 + PART)) if n % 7 == 0]
            if gone:
                engine.delete(gone)
            number += PART
            shared_state[:16] = struct.pack("qd", number, time.time())
            time.sleep(pause)
    return number


def read(home: Path, shared_state: mmap.mmap, until: float, seed: int, pause: float) -> int:
    """How many answers were looked at; one that is wrong is raised."""
    rng, search_count = random.Random(seed), 0
    while time.time() < until:
        with Collection.open(str(home)) as engine:
            for _ in range(rng.randrange(5, 50)):
                known_count, when = struct.unpack("qd", shared_state[:16])
                while time.time() - when < NEWS:  # so that what is known is known to everybody
                    time.sleep(0.1)
                _right(engine, known_count, rng)
                search_count += 1
                time.sleep(rng.random() * pause)
                if time.time() > until:
                    break
    return search_count


def _right(engine: Collection, known_count: int, rng: random.Random) -> None:
    if not known_count:
        return
    number = rng.randrange(known_count)
    results = engine.search(f"word{number}x", lang="en", k=1, pipeline="bm25").results
    is_found = [result.id for result in results] == [f"d{number}"]
    gone = number % 7 == 0 and number < known_count - 20 - PART
    settled = number < known_count - 20 - PART or number % 7
    if settled and is_found == gone:
        raise AssertionError(f"d{number} of {known_count} is {'is_found' if is_found else 'not results'}: {results}")
    if is_found and number < known_count - 10 - PART and "version1" not in engine.get([f"d{number}"])[0].text:
        raise AssertionError(f"d{number} of {known_count} is an old version")
    ranked = engine.rank([Query("q", "common", "en")], k=10, pipeline="bm25")[0]
    if len(ranked) < min(10, known_count - known_count // 7 - 1) or [-h.score for h in ranked] != sorted(
        -h.score for h in ranked
    ):
        raise AssertionError(f"{len(ranked)} of {known_count} ranked for a word that all have")


def started(work: object, *args: object) -> int:
    child = os.fork()
    if child == 0:
        code = 0
        try:
            print(f"  {work.__name__}: {work(*args)}", flush=True)  # type: ignore[attr-defined, operator]
        except BaseException:
            code = 1
            print(traceback.format_exc()[-1500:], flush=True)
        os._exit(code)
    return child


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--readers", type=int, default=10)
    parser.add_argument("--pause", type=float, default=0.2, help="seconds at most between two things a process does")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="crowd-") as folder:
        home, shared_state = Path(folder, "c"), mmap.mmap(-1, 16)
        child_pid = os.fork()
        if child_pid == 0:
            Collection.create(str(home), meaning=False).close()
            os._exit(0)
        os.waitpid(child_pid, 0)
        until = time.time() + options.seconds
        children = [started(write, home, shared_state, until, options.pause)]
        time.sleep(1.0)  # the one who writes opens first: it could not write while another has the folder
        children += [started(read, home, shared_state, until, seed, options.pause) for seed in range(options.readers)]
        errors = sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 for child in children)
        written = struct.unpack("q", shared_state[:8])[0]
        print(f"{options.readers} readers and a writer, {options.seconds:.0f} s, {written} documents")
    print(f"errors: {errors}")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
