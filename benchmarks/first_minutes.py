"""The first minutes of a new user: from the wheel to a right answer in a folder, the first steps of four roles, and the
message of each step that is done wrong.

    python benchmarks/first_minutes.py

Builds the wheel, makes an empty environment, installs, indexes six documents in six languages, and searches. The steps
of a reporter, a programmer, a team and a researcher run in the environment of this program, which has the extras. As
root the wrong steps are done without the right to read what others own, and a small disk is mounted and filled.
"""

from __future__ import annotations

import os
import re
import socket
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
QUERIES = {"how do bees make honey": "zametka.txt", "the train is late because of snow": "brief.txt"}
#: As root, a command that is bound by the rights of files as everyone else is.
ORDINARY = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.getuid() == 0 else []


class Step(NamedTuple):
    """A command as a user types it, with its cost, exit code and output."""

    typed: str
    seconds: float
    megabytes: float
    code: int
    output: str


def run(command: list[str | Path], *, typed: str, grows: Path, **options: object) -> Step:
    """Run a command, and measure its time and how much a folder grows."""
    size_before, start_time = measure_size(grows), time.perf_counter()
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)  # type: ignore[call-overload]
    seconds = time.perf_counter() - start_time
    lines = [line for line in (result.stderr + result.stdout).strip().splitlines() if line.strip()]
    return Step(typed, seconds, (measure_size(grows) - size_before) / 1e6, result.returncode, "\n".join(lines))


def measure_size(folder: Path) -> int:
    """Return the bytes on disk of a folder's files."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*")) if folder.is_dir() else 0


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path | None]:
    """Mount a disk with no room left; yields None where none can be mounted."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=777", "tmpfs", folder], capture_output=True
    )
    if mounted.returncode:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def run_first_steps(work_folder: Path, paragloss: Path, wheel: Path) -> list[Step]:
    """Install, index and search; a wrong answer stops the benchmark."""
    venv = paragloss.parents[1]
    steps = [run([sys.executable, "-m", "venv", venv], typed="python -m venv venv", grows=venv)]
    install = [venv / "bin" / "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel]
    steps.append(run(install, typed=f"pip install {wheel.name}", grows=venv))
    index = [paragloss, "index", "folder", "--into", "library"]
    steps.append(
        run(index, typed="paragloss index folder --into library", grows=work_folder / "library", cwd=work_folder)
    )
    for query, expected in QUERIES.items():
        search = [paragloss, "search", "--in", "library", query]
        steps.append(
            run(search, typed=f'paragloss search --in library "{query}"', grows=venv / "none", cwd=work_folder)
        )
        first = steps[-1].output.partition("  1. ")[2].partition("\n  2. ")[0]
        if expected not in first:
            raise SystemExit(f"{query}: {expected} is not first:\n{steps[-1].output}")
    return steps


def run_mistakes(work_folder: Path, paragloss: Path) -> Iterator[tuple[str, Step]]:
    """Do each step wrong, as an ordinary user."""
    locked, fixed = work_folder / "locked", work_folder / "fixed"
    locked.mkdir()
    (locked / "a.txt").write_text("A text.")
    locked.chmod(0)
    fixed.mkdir(mode=0o555)

    def attempt(*words: str) -> Step:
        return run(
            [*ORDINARY, paragloss, *words],
            typed=" ".join(["paragloss", *words]),
            grows=work_folder / "none",
            cwd=work_folder,
        )

    yield "no folder", attempt("index", "foldr", "--into", "library2")
    yield "no rights to read", attempt("index", "locked", "--into", "library2")
    yield "no rights to write", attempt("index", "folder", "--into", "fixed/library")
    with small_disk(work_folder / "disk", "1m") as disk:
        if disk is not None:
            yield "a full disk", attempt("index", "folder", "--into", str(disk / "library"))
    yield "no extra", attempt("serve", "library")
    yield "no collection", attempt("search", "--in", "folder", "bees")
    yield "a language that is none", attempt("search", "--in", "library", "bees", "--lang", "klingon")
    yield "a language nothing is in", attempt("search", "--in", "library", "bees", "--to", "ja")
    yield "a wrong option", attempt("search", "--on", "library", "bees")


def format_tables(
    steps: list[Step], roles: list[tuple[str, Step]], mistakes: list[tuple[str, Step]], wheel: Path, work_folder: Path
) -> str:
    lines = ["", "| step | seconds | MB on disk |", "|---|---|---|"]
    lines += [f"| `{step.typed}` | {step.seconds:.1f} | {step.megabytes:,.0f} |" for step in steps]
    total = sum(step.seconds for step in steps[:4])
    lines += [
        "",
        f"A right answer after {len(steps[:4])} commands and {total:.0f} s; the wheel itself has "
        f"{wheel.stat().st_size / 1e6:.0f} MB (`python benchmarks/first_minutes.py`, two busy cores).",
        "",
        "The first steps of four roles, in an environment with the extras:",
        "",
        "| role | step | seconds | exit |",
        "|---|---|---|---|",
        *(f"| {role} | {step.typed} | {step.seconds:.1f} | {step.code} |" for role, step in roles),
        "",
        "What it says when a step is done wrong:",
        "",
        "| wrong | command | exit | message |",
        "|---|---|---|---|",
    ]
    for mistake, step in mistakes:
        last = " ".join(step.output.splitlines()[-1:]).replace(f"{work_folder}/", "").replace("|", "\\|")
        typed = step.typed.replace(f"{work_folder}/", "")
        lines.append(f"| {mistake} | `{typed}` | {step.code} | {last} |")
    return "\n".join([*lines, ""])


def run_roles(work_folder: Path) -> Iterator[tuple[str, Step]]:
    """Take the first steps of a reporter, a programmer, a team and a researcher, with the collection `library`."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PARAGLOSS_DATA": str(work_folder / "no-data")}

    def take(typed: str, *arguments: str, folder: Path = work_folder) -> Step:
        return run([sys.executable, *arguments], typed=typed, grows=work_folder / "none", cwd=folder, env=environment)

    yield "reporter", take("read one file", "-m", "paragloss", "gloss", "folder/brief.txt", "--to", "en")
    export = ("export", "library", "--out", "library.csv")
    yield "reporter", take("take the documents into a table", "-m", "paragloss", *export)
    for name in ("index-and-search", "gloss", "evaluate", "train-and-compare"):
        page = (ROOT / "docs" / "examples" / f"{name}.md").read_text(encoding="utf-8")
        program = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
        yield "programmer", take(f"run the program of {name}", "-c", program)
    (work_folder / "more").mkdir()
    (work_folder / "more" / "note.txt").write_text("The server was restarted on Monday.", encoding="utf-8")
    with serve(work_folder, environment) as address:
        yield (
            "team",
            take("index through the server", "-m", "paragloss", "index", "more", "--into", f"{address}/library"),
        )
    yield "researcher", take("list the recipes", "-m", "papers", "list", folder=ROOT)
    yield "researcher", take("list the data sets", "-m", "papers", "data", "list", folder=ROOT)
    out = str(work_folder / "smoke")
    smoke = ("run", "xcnn-table-1", "--smoke", "--out", out)
    yield "researcher", take("run a recipe without data", "-m", "papers", *smoke, folder=ROOT)


@contextmanager
def serve(work_folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """Serve the collection `library` in a process of its own; yields its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "paragloss", "serve", "library", "--port", str(port)]
    server = subprocess.Popen(
        command, cwd=work_folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert server.stdout is not None
        server.stdout.readline()  # the address, printed when the port is open
        yield f"http://localhost:{port}"
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="first-minutes-") as folder:
        folder_path = Path(folder)
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder_path / "dist"]
        subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
        wheel = next((folder_path / "dist").glob("*.whl"))
        (folder_path / "folder").mkdir()
        for name, text in DOCUMENTS.items():
            (folder_path / "folder" / name).write_text(text, encoding="utf-8")
        paragloss = folder_path / "venv" / "bin" / "paragloss"
        steps = run_first_steps(folder_path, paragloss, wheel)
        if failed := next((step for step in steps if step.code), None):
            raise SystemExit(f"{failed.typed}: {failed.output}")
        print(*(f"{step.typed}  {step.seconds:.1f} s  {step.megabytes:.0f} MB" for step in steps), sep="\n", flush=True)
        roles = list(run_roles(folder_path))
        if failed_role := next((pair for pair in roles if pair[1].code), None):
            raise SystemExit(f"{failed_role[0]}: {failed_role[1].typed}: {failed_role[1].output}")
        tables = format_tables(steps, roles, list(run_mistakes(folder_path, paragloss)), wheel, folder_path)
    print(tables)


if __name__ == "__main__":
    main()
