"""The command for bug reports: what is installed, what is missing for what, and whether a search works."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import typer

from paragloss import __version__
from paragloss.cli.help_layout import COMMON
from paragloss.cli.output import print_json, print_table
from paragloss.cli.program import AsJson, app

#: What each extra is for.
PURPOSES = {
    "serve": "serve, mcp: the search page, the HTTP API, assistants",
    "cluster": "collections on a Qdrant server",
    "workers": "index --scheduler: indexing on several machines",
    "s3": "the same, with files in S3 storage",
    "encoder": "index --model e5 or use: larger encoders",
    "mt": "index --with: machine translation",
    "train": "train: methods that need PyTorch",
    "lab": "tune: plots",
    "archives": "index: 7-Zip archives and Outlook files (.7z, .msg, .pst)",
    "ocr": "index: poor Chinese and Japanese scans",
    "vectors": "train --vectors: word vectors of your own texts",
    "datasets": "index irds:ID: public test collections",
    "langchain": "LangChain",
    "llamaindex": "LlamaIndex",
    "pyterrier": "PyTerrier",
    "mteb": "MTEB",
}
_PROGRAMS = {"tesseract": "index: scans and pictures (Debian: tesseract-ocr)"}
_BEES = (("bees.de", "Die Bienen sammeln Nektar und machen Honig.", "de"), ("sea.fr", "La mer est calme.", "fr"))


@app.command(rich_help_panel=COMMON)
def doctor(as_json: AsJson = False) -> None:
    """Show what is installed and what is missing, and test a search. Include this in bug reports."""
    about: dict[str, Any] = {"system": _system(), "extras": _extras(), "programs": _programs(), "test": _searched()}
    if as_json:
        print_json(about)
    else:
        print_table(["", ""], [[name, str(value)] for name, value in about["system"].items()])
        print()
        print_table(["extra", "", "needed for"], [[e["extra"], _state(e), e["for"]] for e in about["extras"]])
        print()
        print_table(["program", "", "needed for"], [[p["program"], p["version"], p["for"]] for p in about["programs"]])
        print(f"\ntest: {about['test']['message']}")
    if not about["test"]["passed"]:
        raise typer.Exit(1)


def _system() -> dict[str, str]:
    names = ("numpy", "scipy", "qdrant-edge-py", "icu4py", "onnxruntime", "typer")
    return {
        "paragloss": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "installed in": sys.prefix,
        **{name: _version(name) or "missing" for name in names},
    }


def _extras() -> list[dict[str, Any]]:
    """Every extra with what it lacks here."""
    from importlib.metadata import requires  # takes long to import

    wanted: dict[str, list[str]] = {name: [] for name in PURPOSES}
    for line in requires("paragloss") or ():
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", line)
        name = re.match(r"[\w.-]+", line)
        here = "platform_machine" not in line or platform.machine() in line
        if extra and name and here and extra[1] in wanted and name[0] != "paragloss":
            wanted[extra[1]].append(name[0])
    return [
        {"extra": extra, "missing": [name for name in names if not _version(name)], "for": PURPOSES[extra]}
        for extra, names in wanted.items()
    ]


def _state(extra: dict[str, Any]) -> str:
    return "installed" if not extra["missing"] else f"missing {', '.join(extra['missing'])}"


def _programs() -> list[dict[str, str]]:
    return [{"program": name, "version": _first_line(name), "for": purpose} for name, purpose in _PROGRAMS.items()]


def _first_line(program: str) -> str:
    if shutil.which(program) is None:
        return "missing"
    printed = subprocess.run([program, "--version"], capture_output=True, text=True, errors="replace")
    return (printed.stdout or printed.stderr).splitlines()[0].removeprefix(program).strip()


def _searched() -> dict[str, Any]:
    """Whether an English query finds a German document in a new collection."""
    from paragloss.collection import Collection
    from paragloss.types import Document

    began = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory() as folder, Collection.create(str(Path(folder, "test"))) as collection:
            collection.index([Document(*each) for each in _BEES])
            found = [result.id for result in collection.search("how do bees make honey", lang="en").results]
        passed = found[:1] == ["bees.de"]
        message = "indexed and searched" if passed else f"wrong result: found {found or 'nothing'}, expected bees.de"
    except Exception as error:  # whatever it is, it belongs in the report
        passed, message = False, f"failed: {error!r}"
    return {"passed": passed, "message": f"{message} in {time.perf_counter() - began:.1f} s"}


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return ""
