"""Processor seconds of indexing HTML pages with what is on by default, in several checkouts one after another.

    python benchmarks/handbook.py --fetch FOLDER
    python benchmarks/indexing_cost.py FOLDER --every 8 --checkouts . ../before [--turns 2]

Indexes every eighth page of the handbook with the command line of each checkout, with the encoder and without it, and
prints a line of JSON for each: processor seconds of all processes, and the same for one page. The checkouts take turns,
so that other work on the machine slows all of them alike. All use the Python that runs this script.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Read the command line, and measure each checkout in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=8, help="index one page of so many")
    parser.add_argument("--checkouts", type=Path, nargs="+", default=[Path()])
    parser.add_argument("--turns", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary_folder:
        sample = Path(temporary_folder) / "pages"
        page_count = copy_sample(arguments.folder, sample, arguments.every)
        for _ in range(arguments.turns):
            for checkout in arguments.checkouts:
                for options in ([], ["--no-meaning"]):
                    library = Path(temporary_folder) / "library"
                    seconds = measure_indexing(checkout, sample, library, options)
                    shutil.rmtree(library)
                    per_page = round(seconds / page_count, 4)
                    row = {"checkout": checkout.name, "options": options, "pages": page_count}
                    print(json.dumps({**row, "processor_seconds": round(seconds, 1), "a_page": per_page}), flush=True)


def copy_sample(folder: Path, sample: Path, every: int) -> int:
    """Copy every n-th page of each language's folder, and return how many pages were copied."""
    page_count = 0
    for language_folder in sorted(path for path in folder.iterdir() if path.is_dir()):
        for page in sorted(language_folder.glob("*.html"))[::every]:
            target = sample / language_folder.name
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(page, target)
            page_count += 1
    return page_count


def measure_indexing(checkout: Path, pages: Path, library: Path, options: list[str]) -> float:
    """Index the pages by the command line of a checkout; return the processor seconds of all its processes."""
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve() / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "paragloss", "index", str(pages), "--into", str(library), *options]
    usage_before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime - usage_before.ru_utime + usage.ru_stime - usage_before.ru_stime


if __name__ == "__main__":
    main()
