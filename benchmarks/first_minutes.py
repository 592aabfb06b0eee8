"""The first minutes of a stranger: from the wheel to a right answer in a folder, and what each step says when it is
done wrong.

    python benchmarks/first_minutes.py [--docs benchmarks/RESULTS.md]

Builds the wheel, makes an empty environment beside it, installs, indexes six documents in six languages, and asks. As
root the wrong steps are done without a right to what others own, and a small disk is mounted and filled. `--docs`
writes the tables into a page.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DOCUMENTS = {
    "brief.txt": "Der Zug hat wegen des Schnees eine Stunde Verspätung. Die Reisenden warten auf dem Bahnsteig.",
    "recette.txt": "Pour le pain, il faut de la farine, de l'eau, du sel et de la levure.",
    "nota.txt": "El volcán arroja lava y ceniza sobre los pueblos de la montaña.",
    "zametka.txt": "Пчёлы собирают нектар и делают из него мёд.",
    "memo.txt": "Il medico consiglia di bere molta acqua quando fa caldo.",
    "brev.txt": "Regeringen vil sænke skatten for familier med børn næste år.",
}
ASKED = {"how do bees make honey": "zametka.txt", "the train is late because of snow": "brief.txt"}
#: As root, a command that is bound by the rights of files as everyone else is.
ORDINARY = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.getuid() == 0 else []


class Step(NamedTuple):
    typed: str
    seconds: float
    megabytes: float
    code: int
    said: str


def run(command: list[str | Path], *, typed: str, grows: Path, **how: object) -> Step:
    before, began = size(grows), time.perf_counter()
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **how)  # type: ignore[call-overload]
    seconds = time.perf_counter() - began
    lines = [line for line in (done.stderr + done.stdout).strip().splitlines() if line.strip()]
    return Step(typed, seconds, (size(grows) - before) / 1e6, done.returncode, "\n".join(lines))


def size(folder: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*")) if folder.is_dir() else 0


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path | None]:
    """A disk with no room left; None where none can be mounted."""
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=777", "tmpfs", place], capture_output=True
    )
    if mounted.returncode:
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def right(place: Path, paragloss: Path, wheel: Path) -> list[Step]:
    """The steps done right; an answer that is wrong stops the benchmark."""
    venv = paragloss.parents[1]
    steps = [run([sys.executable, "-m", "venv", venv], typed="python -m venv venv", grows=venv)]
    install = [venv / "bin" / "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel]
    steps.append(run(install, typed=f"pip install {wheel.name}", grows=venv))
    index = [paragloss, "index", "folder", "--into", "library"]
    steps.append(run(index, typed="paragloss index folder --into library", grows=place / "library", cwd=place))
    for query, wanted in ASKED.items():
        search = [paragloss, "search", "--in", "library", query]
        steps.append(run(search, typed=f'paragloss search --in library "{query}"', grows=venv / "none", cwd=place))
        first = steps[-1].said.partition("  1. ")[2].partition("\n  2. ")[0]
        if wanted not in first:
            raise SystemExit(f"{query}: {wanted} is not first:\n{steps[-1].said}")
    return steps


def wrong(place: Path, paragloss: Path) -> Iterator[tuple[str, Step]]:
    """Each step done wrong, as an ordinary user."""
    locked, fixed = place / "locked", place / "fixed"
    locked.mkdir()
    (locked / "a.txt").write_text("A text.")
    locked.chmod(0)
    fixed.mkdir(mode=0o555)

    def said(*words: str) -> Step:
        return run(
            [*ORDINARY, paragloss, *words], typed=" ".join(["paragloss", *words]), grows=place / "none", cwd=place
        )

    yield "no folder", said("index", "foldr", "--into", "library2")
    yield "no rights to read", said("index", "locked", "--into", "library2")
    yield "no rights to write", said("index", "folder", "--into", "fixed/library")
    with small_disk(place / "disk", "1m") as disk:
        if disk is not None:
            yield "a full disk", said("index", "folder", "--into", str(disk / "library"))
    yield "no extra", said("serve", "library")
    yield "no collection", said("search", "--in", "folder", "bees")
    yield "a language that is none", said("search", "--in", "library", "bees", "--lang", "klingon")
    yield "a language nothing is in", said("search", "--in", "library", "bees", "--to", "ja")
    yield "a wrong option", said("search", "--on", "library", "bees")


def tables(steps: list[Step], mistakes: list[tuple[str, Step]], wheel: Path, place: Path) -> str:
    lines = ["", "| step | seconds | MB on disk |", "|---|---|---|"]
    lines += [f"| `{step.typed}` | {step.seconds:.1f} | {step.megabytes:,.0f} |" for step in steps]
    total = sum(step.seconds for step in steps[:4])
    lines += [
        "",
        f"A right answer after {len(steps[:4])} commands and {total:.0f} s; the wheel itself has "
        f"{wheel.stat().st_size / 1e6:.0f} MB (`python benchmarks/first_minutes.py`, two busy cores).",
        "",
        "What it says when a step is done wrong:",
        "",
        "| wrong | command | exit | message |",
        "|---|---|---|---|",
    ]
    for what, step in mistakes:
        last = " ".join(step.said.splitlines()[-1:]).replace(f"{place}/", "").replace("|", "\\|")
        typed = step.typed.replace(f"{place}/", "")
        lines.append(f"| {what} | `{typed}` | {step.code} | {last} |")
    return "\n".join([*lines, ""])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--docs", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="first-minutes-") as folder:
        place = Path(folder)
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place / "dist"]
        subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
        wheel = next((place / "dist").glob("*.whl"))
        (place / "folder").mkdir()
        for name, text in DOCUMENTS.items():
            (place / "folder" / name).write_text(text, encoding="utf-8")
        paragloss = place / "venv" / "bin" / "paragloss"
        steps = right(place, paragloss, wheel)
        if failed := next((step for step in steps if step.code), None):
            raise SystemExit(f"{failed.typed}: {failed.said}")
        print(*(f"{step.typed}  {step.seconds:.1f} s  {step.megabytes:.0f} MB" for step in steps), sep="\n", flush=True)
        shown = tables(steps, list(wrong(place, paragloss)), wheel, place)
    print(shown)
    if given.docs:
        page = given.docs.read_text(encoding="utf-8")
        block = re.compile(r"(<!-- first minutes -->\n).*?(<!-- end -->)", re.DOTALL)
        given.docs.write_text(block.sub(lambda found: f"{found[1]}{shown}{found[2]}", page), encoding="utf-8")


if __name__ == "__main__":
    main()
