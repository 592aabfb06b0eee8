"""Plant small faults in the code of some folders, one at a time, and count those that the tests notice.

    python benchmarks/mutants.py FOLDER... --tests tests/lab --map map.json [--sample 100] [--seed 0] [--seconds S]
    python benchmarks/mutants.py FOLDER... --tests tests/lab --map map.json --again SURVIVORS

FOLDERS are below src/paragloss. A fault is another comparison, sign, constant or truth, `and` for `or`, a term left
out, two arguments or sides swapped, a matrix not turned, the other axis or end, least for most, a condition turned
round, a statement or setting left out; messages, annotations, docstrings and assertions are left alone. First every
test is run once with a tracer, and --map keeps which functions it calls and how long it takes. A fault is then tried,
in a process forked from one that has imported the libraries but none of our code, with the tests that call its
function, the quickest first. Survivors are printed with their line, to be looked at; --again tries those of such a list
once more.
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
import signal
import sys
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import hypothesis
import numpy
import pytest
import scipy.sparse
import scipy.stats

LIBRARIES = (hypothesis, numpy, scipy.sparse, scipy.stats)  # imported once for all
ROOT = Path(__file__).parents[1]
HOME = ROOT / "src" / "paragloss"
CHOSEN = ["-q", "-m", "not slow and not data", "-p", "no:cacheprovider", "-W", "ignore"]
SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin", "any": "all", "all": "any"}
#: Names that only tell people something.
TOLD = {"MINUTES", "__all__", "TypeAlias"}
#: Least seconds of processor that one fault may take.
LIMIT = 60
#: Tests that are tried before the others are read; seconds of processor that the tests of one fault may take in all.
FIRST, MOST = 8, 8.0


def faults(tree: ast.Module) -> list[tuple[ast.AST, str]]:
    """The places where something can be changed, and how."""
    quiet = {id(inner) for node in ast.walk(tree) for inner in _quiet(node)}
    return [(node, what) for node in ast.walk(tree) if id(node) not in quiet for what in _kinds(node)]


def _kinds(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Compare | ast.BinOp | ast.BoolOp):
        kind = type(node.ops[0] if isinstance(node, ast.Compare) else node.op)
        if kind in SWAPS:
            yield f"{SWAPS[kind].__name__} for {kind.__name__}"
        if kind in (ast.Sub, ast.Div, ast.MatMult, ast.Pow) and _differ(node.left, node.right):
            yield "sides swapped"
        if kind in (ast.Add, ast.Sub, ast.Mult):
            yield "the second term left out"
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        yield f"another {node.value!r}"
    elif isinstance(node, ast.If | ast.IfExp):
        yield "a condition turned round"
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "a statement left out"
    elif isinstance(node, ast.Call):
        if len(node.args) == 2 and _differ(*node.args):
            yield "arguments swapped"
        yield from (f"without {k.arg}" for k in node.keywords if k.arg not in (None, "strict", "dtype", "encoding"))
        if _name(node.func) in NAMES:
            yield f"{NAMES[_name(node.func)]} for {_name(node.func)}"
    elif isinstance(node, ast.Attribute) and node.attr == "T":
        yield "not turned"
    elif isinstance(node, ast.Slice) and (node.lower is None) != (node.upper is None) and node.step is None:
        yield "the other end"


def _differ(one: ast.AST, other: ast.AST) -> bool:
    starred = isinstance(one, ast.Starred) or isinstance(other, ast.Starred)
    return not starred and ast.unparse(one) != ast.unparse(other)


def _name(func: ast.AST) -> str:
    return func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""


def _quiet(node: ast.AST) -> Iterator[ast.AST]:
    """What says something to people or to the type checker."""
    inside: list[Any] = []
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr) or _for_types(node):
        inside = [node]
    elif isinstance(node, ast.keyword) and node.arg == "strict":  # zip's: an assertion
        inside = [node.value]
    elif isinstance(node, ast.IfExp) and ast.unparse(node.test) == "smoke":  # sizes that only try whether a recipe runs
        inside = [node.body]
    elif isinstance(node, ast.AnnAssign | ast.arg):
        inside = [node.annotation] if node.annotation else []
    elif isinstance(node, ast.FunctionDef):
        inside = [node.returns] if node.returns else []
    elif isinstance(node, ast.Assign):
        targets = [t for target in node.targets for t in getattr(target, "elts", [target])]
        values = getattr(node.value, "elts", [node.value])
        if len(values) == len(targets):
            inside = [v for t, v in zip(targets, values, strict=True) if isinstance(t, ast.Name) and t.id in TOLD]
    return (inner for part in inside for inner in ast.walk(part))


def _for_types(node: ast.AST) -> bool:
    """And how much a cache keeps."""
    if isinstance(node, ast.Call):
        return _name(node.func) in ("cast", "TypeVar", "lru_cache")
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _said(node: ast.AST, what: str) -> str:
    text = ast.unparse(node)[:80].replace("\n", " / ") or "slice"
    return f"line {node.lineno}: {what}: {text}"  # type: ignore[attr-defined]


def planted(source: str, number: int) -> tuple[str, str, int]:
    """The source with one of its faults, what that is, and its line."""
    tree = ast.parse(source)
    node, what = faults(tree)[number]
    told = (_said(node, what), node.lineno)  # type: ignore[attr-defined]
    if isinstance(node, ast.BinOp) and what == "sides swapped":
        node.left, node.right = node.right, node.left
    elif isinstance(node, ast.BinOp) and "left out" in what:
        node.op, node.right = ast.Add(), ast.Constant(0)
    elif isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.BoolOp):
        node.op = SWAPS[type(node.op)]()
    elif isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1  # type: ignore[operator]
    elif isinstance(node, ast.If | ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), copy.copy(node.test))
    elif isinstance(node, ast.Expr):
        node.value = ast.Constant(None)
    elif isinstance(node, ast.Call) and what == "arguments swapped":
        node.args.reverse()
    elif isinstance(node, ast.Call) and what.startswith("without "):
        node.keywords = [k for k in node.keywords if k.arg != what.removeprefix("without ")]
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name):
            node.func.id = NAMES[node.func.id]
        elif isinstance(node.func, ast.Attribute):
            node.func.attr = NAMES[node.func.attr]
    elif isinstance(node, ast.Attribute):
        node.attr = "real"  # the same array, as it stands
    elif isinstance(node, ast.Slice):
        node.lower, node.upper = node.upper, node.lower
    return ast.unparse(ast.fix_missing_locations(tree)), *told


def again(files: list[Path], survivors: list[str]) -> list[tuple[Path, int]]:
    """The faults of such a list as they are numbered now: nearest to the line they had."""
    chosen: list[tuple[Path, int]] = []
    for path in files:
        name = f"{path.relative_to(HOME)} line "
        here = [_said(*fault).removeprefix("line ").split(": ", 1) for fault in faults(ast.parse(path.read_text()))]
        for line, text in (said.removeprefix(name).split(": ", 1) for said in survivors if said.startswith(name)):
            same = [n for n, (_, other) in enumerate(here) if other == text and (path, n) not in chosen]
            if same:
                chosen.append((path, min(same, key=lambda n: abs(int(here[n][0]) - int(line)))))
            else:
                print(f"no longer there: {name}{line}: {text}")
    return chosen


class Planting(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from a source that is not its file's."""

    def __init__(self, path: Path, source: str) -> None:
        self.name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        self.path, self.source = path, source

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != self.name:
            return None
        inside = [str(self.path.parent)] if self.path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(name, self.path, loader=self, submodule_search_locations=inside)

    def exec_module(self, module: Any) -> None:
        exec(compile(self.source, str(self.path), "exec"), module.__dict__)


class Tracing:
    """Notes which of our functions each test calls, and how long it takes."""

    def __init__(self) -> None:
        self.met: set[tuple[str, str]] = set()
        self.calls: dict[str, list[tuple[str, str]]] = {}
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Iterator[None]:
        self.met, started = set(), time.process_time()
        sys.settrace(self._called)
        yield
        sys.settrace(None)
        self.seconds[item.nodeid] = round(time.process_time() - started, 2)
        self.calls[item.nodeid] = sorted((str(Path(file).relative_to(HOME)), name) for file, name in self.met)

    def _called(self, frame: Any, event: str, _: Any) -> None:
        if frame.f_code.co_filename.startswith(str(HOME)):
            self.met.add((frame.f_code.co_filename, frame.f_code.co_qualname))


def traced(tests: list[str], path: Path) -> None:
    child = os.fork()
    if child == 0:
        tracing = Tracing()
        pytest.main([*CHOSEN, *tests], plugins=[tracing])
        path.write_text(json.dumps({"calls": tracing.calls, "seconds": tracing.seconds}))
        os._exit(0)
    os.waitpid(child, 0)


def tests_of(path: Path, line: int, met: dict[str, dict[str, set[str]]], seconds: dict[str, float]) -> list[str]:
    """The tests that call the function around the line, or where none does (a constant of the module), those that call
    the module or name it, the quickest first."""
    name = str(path.relative_to(HOME))
    found = [test for test, files in met.items() if _function(path, line) in files.get(name, set())]
    found = found or [test for test, files in met.items() if name in files]
    named = {file for file in {test.split("::")[0] for test in met} if path.stem in (ROOT / file).read_text()}
    found = found or [test for test in met if test.split("::")[0] in named]
    quick = sorted(found, key=lambda test: seconds[test])
    return [
        test for test, so_far in zip(quick, accumulate(map(seconds.__getitem__, quick)), strict=True) if so_far <= MOST
    ]


def _function(path: Path, line: int) -> str:
    """The innermost function around a line, with the classes and functions it stands in."""
    around: list[str] = []
    body: list[ast.stmt] = ast.parse(path.read_text()).body
    while inside := [n for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef) and _holds(n, line)]:
        around += [inside[0].name, *(["<locals>"] if isinstance(inside[0], ast.FunctionDef) else [])]
        body = inside[0].body
    return ".".join(around).removesuffix(".<locals>")


def _holds(node: ast.FunctionDef | ast.ClassDef, line: int) -> bool:
    return min([node.lineno, *(d.lineno for d in node.decorator_list)]) <= line <= (node.end_lineno or 0)


def noticed(path: Path, source: str, tests: list[str], limit: float) -> bool:
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
        sys.meta_path.insert(0, Planting(path, source))
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            fine = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
            turns = [
                some for some in (tests[:FIRST], tests[FIRST:]) if some
            ]  # most faults are noticed by the first few
            failed = any(pytest.main(["-x", *CHOSEN, *some]) not in fine for some in turns)
        os._exit(1 if failed else 0)
    until = time.monotonic() + 10 * limit  # one that waits for nothing uses no processor
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.05)
    return ended[1] != 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--tests", nargs="+", required=True)
    parser.add_argument("--map", type=Path, required=True, help="made if it is not there")
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip", type=int, default=0, help="so many of the sample were tried before")
    parser.add_argument("--again", type=Path, help="a list of survivors: try these, and no others")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    options = parser.parse_args()
    os.chdir(ROOT)
    calm = {"deadline": None, "suppress_health_check": list(hypothesis.HealthCheck)}  # a busy machine notices nothing
    hypothesis.settings.register_profile("calm", derandomize=True, database=None, **calm)
    hypothesis.settings.load_profile("calm")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # schemathesis' alone takes longer to import than most tests
    with contextlib.suppress(ImportError):
        import torch

        torch.set_num_threads(1)
    if not options.map.exists():
        traced(options.tests, options.map)
    kept = json.loads(options.map.read_text())
    met: dict[str, dict[str, set[str]]] = {test: {} for test in kept["calls"]}
    for test, calls in kept["calls"].items():
        for file, function in calls:
            met[test].setdefault(file, set()).add(function)
    files = sorted(path for folder in options.folders for path in (HOME / folder).rglob("*.py"))
    every = [(path, n) for path in files for n in range(len(faults(ast.parse(path.read_text()))))]
    if options.again:
        chosen = again(files, options.again.read_text().splitlines())
    else:
        chosen = random.Random(options.seed).sample(every, min(options.sample, len(every)))
    chosen = chosen[options.skip :]
    until, tried, survived = time.monotonic() + options.seconds, 0, 0
    for path, number in chosen:
        if time.monotonic() > until:
            break
        source, said, line = planted(path.read_text(), number)
        tests = tests_of(path, line, met, kept["seconds"])
        tried += 1
        if not noticed(path, source, tests, LIMIT + 3 * sum(kept["seconds"][test] for test in tests)):
            survived += 1
            print(f"{path.relative_to(HOME)} {said}", flush=True)
        print(f"{tried} tried, {tried - survived} noticed", file=sys.stderr, end="\r", flush=True)
    print(f"{len(every)} faults, {tried} tried, {tried - survived} noticed")


if __name__ == "__main__":
    main()
