"""The model in the box: how large, how quick to open, how quick to translate, how much memory.

    python benchmarks/default_model.py

Queries are invented from the model's own words, rare ones as likely as frequent ones, so that little is remembered from
one to the next; the first query of a process pays for opening the languages and is told apart.
"""

from __future__ import annotations

import random
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from paragloss.translation import default
from paragloss.types import Query

_OPEN = """
import time
from paragloss.translation import default
start = time.perf_counter()
default.open()
print(time.perf_counter() - start)
"""
_MEMORY = """
import resource
from paragloss.analysis import analyzer
from paragloss.translation import default
from paragloss.types import Query
analyzer("en").terms("warm")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = default.open()
for word in ("climate change and the economy", "health of small children", "history of the northern islands"):
    model.translate_many(Query("q", word, "en"), model.langs)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def run_code(code: str) -> float:
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def queries(model: default.DefaultModel, lang: str, number: int, seed: int = 0) -> list[Query]:
    """Six words each, as they are spelled."""
    chance, words = random.Random(seed), model.read_language(lang).words
    picked = [[words.entry(chance.randrange(len(words)))[1] for _ in range(6)] for _ in range(number)]
    return [Query(str(i), " ".join(words_of_query), lang) for i, words_of_query in enumerate(picked)]


def timed(model: default.DefaultModel, timed_queries: list[Query], targets: list[str]) -> list[float]:
    times = []
    for query in timed_queries:
        start = time.process_time()  # of this processor: other work on the machine has no part in it
        model.translate_many(query, targets)
        times.append(1000 * (time.process_time() - start))
    return sorted(times)


def main() -> None:
    files = [path for path in (Path(default.__file__).parent / "data").rglob("*") if path.is_file()]
    print(f"size: {sum(path.stat().st_size for path in files) / 1e6:.1f} MB in {len(files)} files")
    seconds_to_open = statistics.median(run_code(_OPEN) for _ in range(5))
    print(f"open: {1000 * seconds_to_open:.0f} ms, median of 5 processes (target 300)")
    print(
        f"memory with all languages open and used: {run_code(_MEMORY):.0f} MB more than the analyzer alone (target 150)"
    )
    model = default.open()
    targets = [lang for lang in model.langs if lang != "en"][:20]
    first = timed(model, queries(model, "en", 1, seed=1), targets)[0]
    for source in ("en", "de", "hi"):
        times = timed(model, queries(model, source, 200), targets)
        spent = f"{times[100]:.1f} ms p50, {times[190]:.1f} ms p95 of processor time"
        print(f"{source} into {len(targets)} languages: {spent} (target 10)")
    print(f"the first query of a process, languages opened on the way: {first:.0f} ms")
    print(f"whole process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
