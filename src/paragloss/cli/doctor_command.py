"""The command for bug reports: it lists what is installed and what is missing, and tests a search."""

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
_TEST_DOCUMENTS = (
    ("bees.de", "Die Bienen sammeln Nektar und machen Honig.", "de"),
    ("sea.fr", "La mer est calme.", "fr"),
)


@app.command(rich_help_panel=COMMON)
def doctor(as_json: AsJson = False) -> None:
    """Show what is installed and what is missing, and test a search. Include this in bug reports."""
    report: dict[str, Any] = {
        "system": _describe_system(),
        "extras": _list_extras(),
        "programs": _list_programs(),
        "test": _test_search(),
    }
    if as_json:
        print_json(report)
    else:
        _print_report(report)
    if not report["test"]["passed"]:
        raise typer.Exit(1)


def _print_report(report: dict[str, Any]) -> None:
    print_table(["", ""], [[name, str(value)] for name, value in report["system"].items()])
    print()
    extras = [[extra["extra"], _format_state(extra), extra["for"]] for extra in report["extras"]]
    print_table(["extra", "", "needed for"], extras)
    print()
    programs = [[program["program"], program["version"], program["for"]] for program in report["programs"]]
    print_table(["program", "", "needed for"], programs)
    print(f"\ntest: {report['test']['message']}")


def _describe_system() -> dict[str, str]:
    names = ("numpy", "scipy", "qdrant-edge-py", "icu4py", "onnxruntime", "typer")
    return {
        "paragloss": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "installed in": sys.prefix,
        **{name: _get_version(name) or "missing" for name in names},
    }


def _list_extras() -> list[dict[str, Any]]:
    """Return every extra with the packages that it lacks on this machine."""
    extras = []
    for extra, packages in _list_packages_by_extra().items():
        missing = [package for package in packages if not _get_version(package)]
        extras.append({"extra": extra, "missing": missing, "for": PURPOSES[extra]})
    return extras


def _list_packages_by_extra() -> dict[str, list[str]]:
    """Return the names of the packages that each extra of Paragloss requires."""
    from importlib.metadata import requires  # takes long to import

    packages_by_extra: dict[str, list[str]] = {name: [] for name in PURPOSES}
    for requirement in requires("paragloss") or ():
        package, extra = _parse_requirement(requirement)
        if extra in packages_by_extra and package != "paragloss":
            packages_by_extra[extra].append(package)
    return packages_by_extra


def _parse_requirement(requirement: str) -> tuple[str, str]:
    """Return (package, extra) of a requirement such as `h11>=0.14; extra == "serve"`.

    The extra is "" if the requirement is for no extra, or for other machines.
    """
    package = re.match(r"[\w.-]+", requirement)
    extra = re.search(r"extra == ['\"]([\w-]+)['\"]", requirement)
    is_for_machine = "platform_machine" not in requirement or platform.machine() in requirement
    if package is None or extra is None or not is_for_machine:
        return "", ""
    return package[0], extra[1]


def _format_state(extra: dict[str, Any]) -> str:
    return "installed" if not extra["missing"] else f"missing {', '.join(extra['missing'])}"


def _list_programs() -> list[dict[str, str]]:
    return [
        {"program": name, "version": _read_program_version(name), "for": purpose} for name, purpose in _PROGRAMS.items()
    ]


def _read_program_version(program: str) -> str:
    if shutil.which(program) is None:
        return "missing"
    printed = subprocess.run([program, "--version"], capture_output=True, text=True, errors="replace")
    return (printed.stdout or printed.stderr).splitlines()[0].removeprefix(program).strip()


def _test_search() -> dict[str, Any]:
    """Index and search a new collection; return whether that `passed`, and a `message`."""
    start_time = time.perf_counter()
    try:
        result_ids = _search_test_documents()
        passed = result_ids[:1] == ["bees.de"]
        wrong_result = f"wrong result: found {result_ids or 'nothing'}, expected bees.de"
        message = "indexed and searched" if passed else wrong_result
    except Exception as error:  # any error belongs in the report
        passed, message = False, f"failed: {error!r}"
    return {"passed": passed, "message": f"{message} in {time.perf_counter() - start_time:.1f} s"}


def _search_test_documents() -> list[str]:
    """Return the ids of German and French documents for an English query, best first."""
    from paragloss.collection import Collection
    from paragloss.types import Document

    with tempfile.TemporaryDirectory() as folder, Collection.create(str(Path(folder, "test"))) as collection:
        collection.index([Document(*fields) for fields in _TEST_DOCUMENTS])
        answer = collection.search("how do bees make honey", lang="en")
        return [result.id for result in answer.results]


def _get_version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return ""
