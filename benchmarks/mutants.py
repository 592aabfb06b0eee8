"""Plant small faults in a folder's code, one at a time, and count those that its tests notice.

    python benchmarks/mutants.py FOLDER [--sample 150] [--seed 0] [--part 1/1] [--state mutants.json] [--seconds S]
    python benchmarks/mutants.py FOLDER --again SURVIVORS

FOLDER is one of models, translation, search, evaluation, clicks, recipes, learning, solving, descent. A fault is
another comparison, sign, constant, truth, `and` for `or`, a condition turned round, a statement left out; messages,
annotations, docstrings and assertions (also zip's strictness) are left alone. Each is tried in a process forked from
one that has imported the libraries but none of our code: the module is loaded with the fault in it, and the tests
named below run until one fails. mutmut and cosmic-ray start a process of pytest for each, which takes longer to
import than the tests to run. Survivors are printed with their line, to be looked at; --again tries those of such a
list once more, each where its module now has the same text, nearest to the line it had.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import numpy
import pytest
import scipy.sparse
import scipy.stats

LIBRARIES = (hypothesis, numpy, scipy.sparse, scipy.stats)  # imported once for all
ROOT = Path(__file__).parents[1]
SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
#: Tests that are run besides those of the folder's own name, and processor seconds that one fault may take.
BESIDE = {"clicks": ["tests/test_log_commands.py"]}
LIMIT = 120
#: Of folders whose tests take long together, those that stand for a module besides the tests of its own name, and those
#: that ask the same of every module, each by its name: what is quick before its own tests, what is slow after them.
STANDS = {
    "models": {},
    "search": {
        "calibrated": "accounts", "explaining": "pipeline", "fields": "lexical pipeline", "fused": "wrappers",
        "journal": "two_actors", "lexical": "everywhere", "merged": "wrappers", "nearness": "accounts",
        "options": "pipeline grammar everything", "parts": "pipeline everything", "pipeline": "everything",
        "reranked": "wrappers nearness accounts", "structured": "everywhere accounts",
        "terms": "lexical fields", "translated": "wrappers accounts", "wording": "pipeline everything",
    },
    "translation": {
        "bitext": "table", "model1": "bitext table", "spelling": "table embedding expansion", "chosen": "dictionary",
        "combined": "origins glossary", "dictionary": "combined glossary", "engines": "machine", "glossary": "origins",
        "inner": "sounds", "neighbours": "table", "phrases": "table", "sounds": "inner", "table": "bitext default",
        "transliteration": "dictionary", "compounds": "default", "init": "default", "model": "default inner",
        "rows": "default", "unpacked": "default", "words": "default", "packing": "default",
    },
}  # fmt: skip
#: Of folders whose modules are tested elsewhere: the files below tests/ that stand for a module, or for any ("").
ELSEWHERE = {
    "recipes": {
        "": "recipes/test_by_hand.py recipes/test_smooth_figures.py recipes/test_thesis.py recipes/test_searchlog.py",
        **dict.fromkeys(("tasks", "fields", "sets"), "recipes/test_tasks.py recipes/test_by_hand.py"),
        **dict.fromkeys(
            ("running", "adhoc", "smooth_table_2", "xcnn_table_1"),
            "recipes/test_by_hand.py recipes/test_recipes.py",
        ),
        **dict.fromkeys(
            ("claims", "collecting", "pages", "advising", "leaderboard", "computed", "webpage", "showing", "verdicts"),
            "recipes/test_results.py recipes/test_recipes.py",
        ),
        "phrasal": "recipes/test_phrasal.py", "originals": "recipes/test_originals.py",
    },
    "solving": {
        "": "models/test_cr5.py", "lists": "solving/test_lists.py", "oriented": "models/test_opca.py",
        "maps": "models/test_alignment_rules.py models/test_alignment.py",
        "spectral": "models/test_lsi.py models/test_cca.py",
    },
    "learning": {
        "": "learning/test_counting.py models/test_cr5.py models/test_contract.py",
        "firststage": "learning/test_firststage.py",
        "monolingual": "learning/test_counting.py models/test_alignment.py",
        "pairs": "models/test_ordinal.py models/test_knrm_learning.py",
        "relevance": "learning/test_relevance.py", "sampling": "learning/test_sampling.py models/test_ordinal.py",
        "settings": "learning/test_counting.py test_settings.py",
        "smoothness": "learning/test_counting.py learning/test_smoothness.py",
        "starting": "learning/test_starting.py",
    },
    "descent": {
        "": "descent/test_descent.py", "conjugate": "descent/test_conjugate.py", "resident": "descent/test_resident.py",
        "autoencoder": "models/test_bae_pieces.py models/test_bae.py", "adversarial": "models/test_alignment.py",
        "contrast": "models/test_s2net_pieces.py models/test_xcnn_pieces.py models/test_s2net.py models/test_xcnn.py",
        "kernels": "models/test_knrm.py descent/test_descent.py models/test_knrm_learning.py",
        **dict.fromkeys(("graded", "towers"), "models/test_ordinal.py models/test_ordinal_fit.py"),
    },
}  # fmt: skip
QUICK = {"models": ["tests/models/test_settings_page.py"], "translation": ["tests/models/test_settings_page.py"]}
EVERY = {"models": ["tests/models/test_settings_reach_the_method.py", "tests/models/test_contract.py"]}


def faults(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """The places where something can be changed, and how."""
    quiet = {id(inner) for node in ast.walk(tree) for inner in _quiet(node)}
    for node in ast.walk(tree):
        if id(node) in quiet:
            continue
        if isinstance(node, ast.Compare | ast.BinOp | ast.BoolOp):
            kind = type(node.ops[0] if isinstance(node, ast.Compare) else node.op)
            if kind in SWAPS:
                yield node, f"{kind.__name__} for {SWAPS[kind].__name__}"
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
            yield node, f"another {node.value!r}"
        elif isinstance(node, ast.If | ast.IfExp):
            yield node, "a condition turned round"
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield node, "a statement left out"
        elif isinstance(node, ast.Return) and node.value is not None:
            yield node, "nothing given back"


def _quiet(node: ast.AST) -> Iterator[ast.AST]:
    """What says something to people or to the type checker."""
    inside: list[Any] = []
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
        inside = [node]
    elif isinstance(node, ast.keyword) and node.arg == "strict":  # zip's: an assertion
        inside = [node.value]
    elif isinstance(node, ast.AnnAssign | ast.arg):
        inside = [node.annotation] if node.annotation else []
    elif isinstance(node, ast.FunctionDef):
        inside = [node.returns] if node.returns else []
    elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        inside = [node]
    return (inner for part in inside for inner in ast.walk(part))


def _said(node: ast.AST, what: str) -> str:
    text = ast.unparse(node)[:80].replace("\n", " / ")
    return f"line {node.lineno}: {what}: {text}"  # type: ignore[attr-defined]


def planted(source: str, number: int) -> tuple[str, str]:
    """The source with one of its faults, and what that is."""
    tree = ast.parse(source)
    node, what = list(faults(tree))[number]
    said = _said(node, what)
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.BoolOp):
        node.op = SWAPS[type(node.op)]()
    elif isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1  # type: ignore[operator]
    elif isinstance(node, ast.If | ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), copy.copy(node.test))
    elif isinstance(node, ast.Expr | ast.Return):
        node.value = ast.Constant(None)
    return ast.unparse(ast.fix_missing_locations(tree)), said


def again(files: list[Path], survivors: list[str]) -> list[tuple[Path, int]]:
    """The faults of such a list as they are numbered now."""
    chosen: list[tuple[Path, int]] = []
    for path in files:
        name = f"{path.relative_to(ROOT / 'src' / 'paragloss')} line "
        wanted = [line.removeprefix(name).split(": ", 1) for line in survivors if line.startswith(name)]
        here = [_said(*fault).removeprefix("line ").split(": ", 1) for fault in faults(ast.parse(path.read_text()))]
        for line, text in wanted:
            same = [n for n, (_, other) in enumerate(here) if other == text and (path, n) not in chosen]
            if same:
                chosen.append((path, min(same, key=lambda n: abs(int(here[n][0]) - int(line)))))
            else:
                print(f"no longer there: {name}{line}: {text}")
    return chosen


def part_of(chosen: list[tuple[Path, int]], number: int, parts: int) -> list[tuple[Path, int]]:
    """One of several parts of a sample, of few files each: every file's tests are first tried without a fault."""
    together = chosen if parts == 1 else sorted(chosen)
    return together[len(chosen) * (number - 1) // parts : len(chosen) * number // parts]


class Planting(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from a source that is not its file's."""

    def __init__(self, name: str, path: Path, source: str) -> None:
        self.name, self.path, self.source = name, path, source

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != self.name:
            return None
        inside = [str(self.path.parent)] if self.path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(name, self.path, loader=self, submodule_search_locations=inside)

    def exec_module(self, module: Any) -> None:
        exec(compile(self.source, str(self.path), "exec"), module.__dict__)


def tests_of(folder: str, path: Path) -> list[list[str]]:
    """The tests of the folder, those of the module's own name first, pieces (which are quick) before the whole; of a
    folder in STANDS only these and its own."""
    stem = path.stem.strip("_")
    if folder in ELSEWHERE:
        return [[f"tests/{name}" for name in ELSEWHERE[folder].get(stem, ELSEWHERE[folder][""]).split()]]
    found = sorted((ROOT / "tests" / folder).glob("test_*.py"), key=lambda test: _order(stem, test.stem))
    whole = [[str(test.relative_to(ROOT)) for test in found] + BESIDE.get(folder, [])]
    if folder not in STANDS:
        return whole
    wanted = {stem, *STANDS[folder].get(stem, "").split()}
    some = [str(test.relative_to(ROOT)) for test in found if any(name in test.stem for name in wanted)]
    quick, slow = ([[*part[folder], "-k", stem]] if folder in part else [] for part in (QUICK, EVERY))
    return [*quick, some, *slow] if some else whole


def _order(stem: str, test: str) -> tuple[bool, bool, str]:
    return stem not in test, test == f"test_{stem}", test


def noticed(folder: str, path: Path, source: str) -> bool:
    name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
        sys.meta_path.insert(0, Planting(name, path, source))
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            chosen = ["-x", "-q", "-m", "not slow and not data", "-p", "no:cacheprovider", "-W", "ignore"]
            fine = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
            unnoticed = all(pytest.main([*chosen, *tests]) in fine for tests in tests_of(folder, path))
        os._exit(0 if unnoticed else 1)
    return os.waitpid(child, 0)[1] != 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", default="1/1", help="which of how many parts, to try them side by side: file by file")
    parser.add_argument("--state", type=Path)
    parser.add_argument("--again", type=Path, help="a list of survivors: try these, and no others")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long, to go on another time")
    options = parser.parse_args()
    os.chdir(ROOT)
    calm = {"deadline": None, "suppress_health_check": list(hypothesis.HealthCheck)}  # a busy machine notices nothing
    hypothesis.settings.register_profile("calm", derandomize=True, database=None, **calm)
    hypothesis.settings.load_profile("calm")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # schemathesis' alone takes longer to import than most tests
    with contextlib.suppress(ImportError):
        import torch

        torch.set_num_threads(1)
    files = sorted((ROOT / "src" / "paragloss" / options.folder).rglob("*.py"))
    every = [(path, n) for path in files for n in range(len(list(faults(ast.parse(path.read_text())))))]
    if options.again:
        chosen = again(files, options.again.read_text().splitlines())
    else:
        chosen = random.Random(options.seed).sample(every, min(options.sample, len(every)))
    chosen = part_of(chosen, *map(int, options.part.split("/")))
    state: dict[str, Any] = {"tried": 0, "survivors": []}
    if options.state and options.state.exists():
        state = json.loads(options.state.read_text())
    within = options.folder in STANDS.keys() | ELSEWHERE
    fine: dict[str, bool] = {}  # the same tests are tried once without any fault
    for path in sorted({path for path, _ in chosen[state["tried"] :]} if within else files[:1]):
        asked = str(tests_of(options.folder, path))
        fine[asked] = fine[asked] if asked in fine else not noticed(options.folder, path, path.read_text())
        if not fine[asked]:
            print(f"the tests of {path.relative_to(ROOT)} fail without any fault", flush=True)
            chosen = [one for one in chosen if one[0] != path] if within else []
    until = time.monotonic() + options.seconds
    for path, number in chosen[state["tried"] :]:
        if time.monotonic() > until:
            break
        source, said = planted(path.read_text(), number)
        if not noticed(options.folder, path, source):
            state["survivors"].append(f"{path.relative_to(ROOT / 'src' / 'paragloss')} {said}")
            print(state["survivors"][-1], flush=True)
        state["tried"] += 1
        if options.state:
            options.state.write_text(json.dumps(state))
    noticed_ = state["tried"] - len(state["survivors"])
    print(f"{options.folder}: {len(every)} faults, {state['tried']} tried, {noticed_} noticed")


if __name__ == "__main__":
    main()
