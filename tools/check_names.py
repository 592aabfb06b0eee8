"""Find names that say nothing about their value, class names used twice, and long functions.

    python tools/check_names.py FOLDER...              prints them; exit code 1 if there are any
    python tools/check_names.py --count FOLDER...      prints how many there are in each folder

A name is vague when it is a pronoun, adverb, participle or determiner (VAGUE_NAMES), alone or behind underscores.
ALLOWED lists the exceptions: names that another library or a protocol prescribes.
"""

from __future__ import annotations

import argparse
import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

VAGUE_WORDS = """
    again alike alone among ask asked begins behind beside both done each either ends enough every far felt few found
    given heard held here inside kept known least less like look looked made many meant met more most much near now once
    one others outside place places ready rest said saying seen shown some standing stood taken then there thing things
    told twice upto wanted way ways what which who whole whose within
"""
VAGUE_NAMES = frozenset(VAGUE_WORDS.split())
#: (file name, name) -> reason.
ALLOWED: dict[tuple[str, str], str] = {}
MAX_FUNCTION_LINES = 40


class Finding(NamedTuple):
    """One line of the report."""

    path: Path
    line: int
    message: str


def main() -> None:
    """Check the folders named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--count", action="store_true", help="print counts only")
    arguments = parser.parse_args()
    if arguments.count:
        for folder in arguments.folders:
            print_counts(folder)
        return
    findings = [finding for folder in arguments.folders for finding in check_folder(folder)]
    for path, line, message in findings:
        print(f"{path}:{line}: {message}")
    raise SystemExit(1 if findings else 0)


def check_folder(folder: Path) -> Iterator[Finding]:
    """Yield all findings in the Python files of a folder."""
    for path, tree in parse_files(folder):
        for line, name in iterate_names(tree):
            if is_vague(name) and (path.name, name) not in ALLOWED:
                yield Finding(path, line, f"vague name {name!r}")
        for function, length in iterate_functions(tree):
            if length > MAX_FUNCTION_LINES:
                yield Finding(
                    path, function.lineno, f"{function.name} has {length} lines, at most {MAX_FUNCTION_LINES}"
                )
    for name, places in find_repeated_classes(folder).items():
        for path, line in places:
            yield Finding(path, line, f"class {name} is defined {len(places)} times")


def print_counts(folder: Path) -> None:
    """Print how many vague names a folder has per 1,000 lines, and its longest function."""
    vague_count, line_count, longest = 0, 0, 0
    for path, tree in parse_files(folder):
        line_count += len(path.read_text(encoding="utf-8").splitlines())
        vague_count += sum(is_vague(name) for _, name in iterate_names(tree))
        longest = max([longest, *(length for _, length in iterate_functions(tree))])
    rate = 1000 * vague_count / max(line_count, 1)
    repeated = len(find_repeated_classes(folder))
    print(
        f"{folder}: {line_count} lines, {vague_count} vague names ({rate:.1f} per 1,000), "
        f"longest function {longest} lines, {repeated} class names used more than once"
    )


def parse_files(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    """Yield every Python file of a folder with its syntax tree."""
    for path in sorted(folder.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def iterate_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, name) of everything that is given a name: variables, attributes, parameters, functions, classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def is_vague(name: str) -> bool:
    """Tell whether a name is one of VAGUE_NAMES, whatever its underscores and case."""
    return name.strip("_").lower() in VAGUE_NAMES


def iterate_functions(tree: ast.AST) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    """Yield every function with its number of lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            yield node, node.end_lineno - node.lineno + 1


def find_repeated_classes(folder: Path) -> dict[str, list[tuple[Path, int]]]:
    """Return the classes of a folder that share a name with another, with the places where they are defined."""
    places: dict[str, list[tuple[Path, int]]] = defaultdict(list)
    for path, tree in parse_files(folder):
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append((path, node.lineno))
    return {name: lines for name, lines in places.items() if len(lines) > 1}


if __name__ == "__main__":
    main()
