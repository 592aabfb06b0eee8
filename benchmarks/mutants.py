"""Plant small faults in the code of some folders, one at a time, and count those that the tests notice.

    python benchmarks/mutants.py FOLDER... --tests tests/lab --map map.json [--sample 100] [--seed 0] [--seconds S]
    python benchmarks/mutants.py FOLDER... --tests tests/lab --map map.json --again SURVIVORS

FOLDERS are below src/paragloss. A fault is another comparison, sign, constant or truth, `and` for `or`, a term left
out, two arguments or sides swapped, a matrix not turned, the other axis or end, least for most, a condition turned
round, a statement or setting left out; messages, annotations, docstrings and assertions are left alone. First every
test is run once with a tracer, and --map keeps which functions it calls and how long it takes; test files that changed
since are traced again, and a test that fails without a fault is not used. A fault is then tried with the tests that
call its function, the quickest first, up to the first that fails. Each has a process of its own: forked, where the
fault is inside a function, from one that has collected all tests, with the function's code changed; elsewhere from one
that has imported the libraries but none of our code. Survivors are printed with their line, to be looked at; --again
tries those of such a list once more.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import gc
import hashlib
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

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
#: Calls whose two arguments may stand in either order.
EITHER_WAY = {"min", "max", "minimum", "maximum", "transpose"}
#: Names that only tell people something.
DESCRIPTIVE_NAMES = {"MINUTES", "__all__", "TypeAlias"}
#: Least seconds of processor that one fault may take: within collected tests, and where everything is imported first.
LIMIT, LIMIT_AFRESH = 10, 60
#: Tests that are tried before the others are read; seconds of processor that the tests of one fault may take in all.
FIRST_TESTS, MAX_SECONDS_OF_TESTS = 8, 8.0


def faults(tree: ast.Module) -> list[tuple[ast.AST, str]]:
    """The places where something can be changed, and how."""
    quiet = {id(inner) for node in ast.walk(tree) for inner in _quiet(node)}
    return [(node, kind) for node in ast.walk(tree) if id(node) not in quiet for kind in _kinds(node)]


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
        if len(node.args) == 2 and _differ(*node.args) and _name(node.func) not in EITHER_WAY:
            yield "arguments swapped"
        yield from (f"without {k.arg}" for k in node.keywords if k.arg not in (None, "strict", "dtype", "encoding"))
        if _name(node.func) in NAMES:
            yield f"{NAMES[_name(node.func)]} for {_name(node.func)}"
    elif isinstance(node, ast.Attribute) and node.attr == "T":
        yield "not turned"
    elif isinstance(node, ast.Slice) and (node.lower is None) != (node.upper is None) and node.step is None:
        yield "the other end"


def _differ(left: ast.AST, right: ast.AST) -> bool:
    starred = isinstance(left, ast.Starred) or isinstance(right, ast.Starred)
    return not starred and ast.unparse(left) != ast.unparse(right)


def _name(func: ast.AST) -> str:
    return func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""


def _quiet(node: ast.AST) -> Iterator[ast.AST]:
    """What says something to people or to the type checker."""
    quiet_nodes: list[Any] = []
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr) or _for_types(node):
        quiet_nodes = [node]
    elif isinstance(node, ast.keyword) and node.arg == "strict":  # zip's: an assertion
        quiet_nodes = [node.value]
    elif isinstance(node, ast.IfExp) and ast.unparse(node.test) == "smoke":  # sizes that only try whether a recipe runs
        quiet_nodes = [node.body]
    elif isinstance(node, ast.AnnAssign | ast.arg):
        quiet_nodes = [node.annotation] if node.annotation else []
    elif isinstance(node, ast.FunctionDef):
        quiet_nodes = [node.returns] if node.returns else []
    elif isinstance(node, ast.Assign):
        targets = [t for target in node.targets for t in getattr(target, "elts", [target])]
        values = getattr(node.value, "elts", [node.value])
        if len(values) == len(targets):
            quiet_nodes = [
                v for t, v in zip(targets, values, strict=True) if isinstance(t, ast.Name) and t.id in DESCRIPTIVE_NAMES
            ]
    return (inner for part in quiet_nodes for inner in ast.walk(part))


def _for_types(node: ast.AST) -> bool:
    """And how much a cache keeps."""
    if isinstance(node, ast.Call):
        return _name(node.func) in ("cast", "TypeVar", "lru_cache")
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def describe_fault(node: ast.AST, kind: str) -> str:
    text = ast.unparse(node)[:80].replace("\n", " / ") or "slice"
    return f"line {node.lineno}: {kind}: {text}"  # type: ignore[attr-defined]


class Fault(NamedTuple):
    path: Path
    description: str
    #: The file's code with the fault; the function around it, and the outermost one, if it is in the body of one.
    code: CodeType
    function: str
    outermost: tuple[str, int] | None


def planted(path: Path, number: int) -> Fault:
    tree = ast.parse(path.read_text())
    node, kind = faults(tree)[number]
    around = _around(tree, node)
    functions = [at for at, scope in enumerate(around) if isinstance(scope, ast.FunctionDef)]
    outermost = None
    if functions and any(node in ast.walk(part) for part in around[functions[0]].body):
        first = around[functions[0]]
        name = ".".join(scope.name for scope in around[: functions[0] + 1])
        outermost = (name, min([first.lineno, *(d.lineno for d in first.decorator_list)]))
    names = [n for s in around for n in (s.name, *(["<locals>"] if isinstance(s, ast.FunctionDef) else []))]
    description = describe_fault(node, kind)
    _change(node, kind)
    code = compile(ast.fix_missing_locations(tree), str(path), "exec")
    return Fault(path, description, code, ".".join(names).removesuffix(".<locals>"), outermost)


def _around(tree: ast.AST, node: ast.AST) -> list[ast.FunctionDef | ast.ClassDef]:
    """The classes and functions around a node, the outermost first."""
    scopes = [s for s in ast.walk(tree) if isinstance(s, ast.FunctionDef | ast.ClassDef) and node in ast.walk(s)]
    return sorted(scopes, key=lambda scope: sum(1 for _ in ast.walk(scope)), reverse=True)


def _change(node: ast.AST, kind: str) -> None:
    if isinstance(node, ast.BinOp) and kind == "sides swapped":
        node.left, node.right = node.right, node.left
    elif isinstance(node, ast.BinOp) and "left out" in kind:
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
    elif isinstance(node, ast.Call) and kind == "arguments swapped":
        node.args.reverse()
    elif isinstance(node, ast.Call) and kind.startswith("without "):
        node.keywords = [k for k in node.keywords if k.arg != kind.removeprefix("without ")]
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name):
            node.func.id = NAMES[node.func.id]
        elif isinstance(node.func, ast.Attribute):
            node.func.attr = NAMES[node.func.attr]
    elif isinstance(node, ast.Attribute):
        node.attr = "real"  # the same array, as it stands
    elif isinstance(node, ast.Slice):
        node.lower, node.upper = node.upper, node.lower


def find_survivors(files: list[Path], survivors: list[str]) -> list[tuple[Path, int]]:
    """The faults of such a list as they are numbered now: nearest to the line they had."""
    chosen: list[tuple[Path, int]] = []
    for path in files:
        name = f"{path.relative_to(HOME)} line "
        descriptions = [
            describe_fault(*fault).removeprefix("line ").split(": ", 1) for fault in faults(ast.parse(path.read_text()))
        ]
        for line, text in (
            survivor.removeprefix(name).split(": ", 1) for survivor in survivors if survivor.startswith(name)
        ):
            same = [n for n, (_, other) in enumerate(descriptions) if other == text and (path, n) not in chosen]
            if same:
                chosen.append((path, min(same, key=lambda n: abs(int(descriptions[n][0]) - int(line)))))
            else:
                print(f"no longer there: {name}{line}: {text}")
    return chosen


class Planting(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from code that is not its file's."""

    def __init__(self, path: Path, code: CodeType) -> None:
        self.name, self.path, self.code = _module(path), path, code

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != self.name:
            return None
        search_folders = [str(self.path.parent)] if self.path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            name, self.path, loader=self, submodule_search_locations=search_folders
        )

    def exec_module(self, module: Any) -> None:
        exec(self.code, module.__dict__)


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")


def replaced(fault: Fault) -> None:
    """Give the living function the code with the fault."""
    name, line = fault.outermost or ("", 0)
    for referrer in gc.get_objects():
        if isinstance(referrer, FunctionType) and _is(referrer.__code__, str(fault.path), name, line):
            referrer.__code__ = find_function_code(fault.code, name, line)


def _is(code: CodeType, file: str, name: str, line: int) -> bool:
    return (code.co_filename, code.co_qualname, code.co_firstlineno) == (file, name, line)


def find_function_code(code: CodeType, name: str, line: int) -> CodeType:
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    for part in inner:
        if _is(part, code.co_filename, name, line):
            return part
    return next(find_function_code(part, name, line) for part in inner if name.startswith(f"{part.co_qualname}."))


class Tracing:
    """Notes which of our functions each test calls, and how long it takes."""

    def __init__(self) -> None:
        self.called: set[tuple[str, str]] = set()
        self.calls: dict[str, list[tuple[str, str]]] = {}
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Iterator[None]:
        self.called, started = set(), time.process_time()
        sys.settrace(self._called)
        yield
        sys.settrace(None)
        self.seconds[item.nodeid] = round(time.process_time() - started, 2)
        self.calls[item.nodeid] = sorted((str(Path(file).relative_to(HOME)), name) for file, name in self.called)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.add(report.nodeid)

    def _called(self, frame: Any, event: str, _: Any) -> None:
        if frame.f_code.co_filename.startswith(str(HOME)):
            self.called.add((frame.f_code.co_filename, frame.f_code.co_qualname))


def traced(tests: list[str], path: Path) -> dict[str, Any]:
    """The map, with test files that are new or have changed traced first."""
    test_files = [
        f for name in tests for f in (sorted(Path(name).rglob("test_*.py")) if Path(name).is_dir() else [name])
    ]
    digests = {str(file): hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in test_files}
    traces = json.loads(path.read_text()) if path.exists() else {"calls": {}, "seconds": {}, "files": {}}
    changed = [file for file, digest in digests.items() if traces["files"].get(file) != digest]
    child = os.fork() if changed else None
    if child == 0:
        tracing = Tracing()
        pytest.main([*CHOSEN, *changed], plugins=[tracing])
        for part, new in (("calls", tracing.calls), ("seconds", tracing.seconds)):
            old = {test: value for test, value in traces[part].items() if test.split("::")[0] not in changed}
            traces[part] = old | {test: value for test, value in new.items() if test not in tracing.failed}
        path.write_text(json.dumps({**traces, "files": digests}))
        os._exit(0)
    if child:
        os.waitpid(child, 0)
        traces = json.loads(path.read_text())
    return traces


def tests_of(fault: Fault, calls_by_test: dict[str, dict[str, set[str]]], seconds: dict[str, float]) -> list[str]:
    """The tests that call the function around a fault, or where none does (a constant of the module), those that call
    the module or name it, the quickest first. A default is also seen by tests that are given the module's name."""
    name = str(fault.path.relative_to(HOME))
    by_function = [test for test, files in calls_by_test.items() if fault.function in files.get(name, set())]
    by_function = by_function or [test for test, files in calls_by_test.items() if name in files]
    named = {
        file for file in {test.split("::")[0] for test in calls_by_test} if fault.path.stem in (ROOT / file).read_text()
    }
    by_function = by_function or [test for test in calls_by_test if test.split("::")[0] in named]
    names = [f"[{stem}]" for stem in (fault.path.stem, fault.path.stem.replace("_", "-"))]
    by_name = [test for test in calls_by_test if not fault.outermost and any(name in test for name in names)]
    quick = sorted({*by_function, *by_name}, key=lambda test: (seconds[test], test))
    return [
        test
        for test, so_far in zip(quick, accumulate(map(seconds.__getitem__, quick)), strict=True)
        if so_far <= MAX_SECONDS_OF_TESTS
    ]


def failed_afresh(fault: Fault, tests: list[str]) -> bool:
    """Before any of our code is imported."""
    sys.meta_path.insert(0, Planting(fault.path, fault.code))
    fine = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    turns = [
        turn for turn in (tests[:FIRST_TESTS], tests[FIRST_TESTS:]) if turn
    ]  # most faults are noticed by the first few
    return any(pytest.main(["-x", *CHOSEN, *turn]) not in fine for turn in turns)


def failed_within(session: pytest.Session, fault: Fault, tests: list[str]) -> bool:
    """Where all tests are collected."""
    session.config.pluginmanager.unregister(name="terminalreporter")
    if _module(fault.path) in sys.modules:
        replaced(fault)
    else:
        sys.meta_path.insert(0, Planting(fault.path, fault.code))
    items_by_id = {item.nodeid: item for item in session.items}
    items = [items_by_id[test] for test in tests if test in items_by_id]
    for item, after in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        if session.testsfailed:
            return True
    return False


def noticed(failed: Callable[[], bool], limit: float) -> bool:
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        is_noticed = True
        with contextlib.suppress(BaseException):
            is_noticed = failed()
        os._exit(1 if is_noticed else 0)
    until = time.monotonic() + 10 * limit  # one that waits for nothing uses no processor
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.05)
    return ended[1] != 0


class Trying:
    """Tries faults, and counts."""

    def __init__(self, faults: list[Fault], record: dict[str, Any], seconds: float) -> None:
        self.called: dict[str, dict[str, set[str]]] = {test: {} for test in record["calls"]}
        for test, calls in record["calls"].items():
            for file, function in calls:
                self.called[test].setdefault(file, set()).add(function)
        self.seconds, self.until = record["seconds"], time.monotonic() + seconds
        self.function_faults = [fault for fault in faults if fault.outermost]
        self.module_faults = [fault for fault in faults if not fault.outermost]
        self.tried, self.survived = 0, 0

    def afresh(self) -> None:
        for fault in self.module_faults:
            self._try(fault, partial(failed_afresh, fault))

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for fault in self.function_faults:
            self._try(fault, partial(failed_within, session, fault))
        return True

    def _try(self, fault: Fault, failed: Callable[[list[str]], bool]) -> None:
        if time.monotonic() > self.until:
            return
        tests = tests_of(fault, self.called, self.seconds)
        self.tried += 1
        min_seconds = LIMIT if fault.outermost else LIMIT_AFRESH
        if not noticed(partial(failed, tests), min_seconds + 3 * sum(self.seconds[test] for test in tests)):
            self.survived += 1
            print(f"{fault.path.relative_to(HOME)} {fault.description}", flush=True)
        print(f"{self.tried} tried, {self.tried - self.survived} noticed", file=sys.stderr, end="\r", flush=True)


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
    traces = traced(options.tests, options.map)
    files = sorted(path for folder in options.folders for path in (HOME / folder).rglob("*.py"))
    all_faults = [(path, n) for path in files for n in range(len(faults(ast.parse(path.read_text()))))]
    if options.again:
        chosen = find_survivors(files, options.again.read_text().splitlines())
    else:
        chosen = random.Random(options.seed).sample(all_faults, min(options.sample, len(all_faults)))
    chosen = chosen[options.skip :]
    trying = Trying([planted(path, number) for path, number in chosen], traces, options.seconds)
    trying.afresh()
    if trying.function_faults:
        pytest.main([*CHOSEN, *options.tests], plugins=[trying])
    print(f"{len(all_faults)} faults, {trying.tried} tried, {trying.tried - trying.survived} noticed")


if __name__ == "__main__":
    main()
