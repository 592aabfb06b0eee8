"""Find names that say nothing about their value, names of classes and public functions used twice, and long functions.

    python tools/check_names.py FOLDER...              prints them; exit code 1 if there are any
    python tools/check_names.py --count FOLDER...      prints how many there are in each folder

A name is vague when it is a pronoun, adverb, participle or determiner (VAGUE_NAMES), alone or behind underscores.
ALLOWED lists the exceptions: names that another library or a protocol prescribes.
"""

from __future__ import annotations

import argparse
import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
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
ALLOWED: dict[tuple[str, str], str] = {
    ("arguments.py", "again"): "option of the public interface",
    ("types.py", "whole"): "deprecated name of Document.full_text",
    ("errors.py", "place"): "deprecated name of InputError.location",
    ("term_table.py", "places"): "column of the table of terms",
    ("retrieval.py", "others"): "field of the public interface",
    ("schemas.py", "places"): "field of the HTTP interface",
    ("schemas.py", "others"): "field of the HTTP interface",
    ("schemas.py", "ready"): "field of the HTTP interface",
    ("schemas.py", "asked"): "field of the HTTP interface",
    ("parts.py", "most"): "option of the pipeline language",
    ("pipeline.py", "most"): "option of the pipeline language",
    ("parts.py", "one"): "option of the pipeline language",
    ("parts.py", "within"): "option of the pipeline language",
    ("combined.py", "most"): "argument of the library",
    ("expansion.py", "most"): "argument of the library",
    ("dictionary.py", "most"): "saved with dictionaries",
    ("word_table.py", "most"): "saved with tables",
}
#: Functions that several modules have, so that other code can call them without knowing the module.
SHARED_FUNCTIONS = {
    "gloss": "of the library and the HTTP interface",
    "add_language": "of methods that train models, and the library function that calls it",
    "fit": "of methods that train models",
    "fit_judged": "of methods that train models",
    "load": "of modules that hold a kind of model",
    "main": "of programs",
    "open": "of modules that hold a model of the package",
    "plot": "of methods that train models",
    "table": "of methods that train models",
    "tune": "of methods that train models",
}
#: Classes that several modules have, because each module is for another framework.
SHARED_CLASSES = {"ParaglossRetriever"}
#: Decorators of functions that only a command line or a server calls.
INTERFACE_DECORATORS = frozenset({"command", "callback", "get", "post", "put", "delete", "patch"})
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
    findings += find_repeated_names(arguments.folders)
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


def print_counts(folder: Path) -> None:
    """Print how many vague names a folder has per 1,000 lines, and its longest function."""
    vague_count, line_count, longest = 0, 0, 0
    for path, tree in parse_files(folder):
        line_count += len(path.read_text(encoding="utf-8").splitlines())
        vague_count += sum(is_vague(name) for _, name in iterate_names(tree))
        longest = max([longest, *(length for _, length in iterate_functions(tree))])
    rate = 1000 * vague_count / max(line_count, 1)
    repeated = len({finding.message for finding in find_repeated_names([folder])})
    print(
        f"{folder}: {line_count} lines, {vague_count} vague names ({rate:.1f} per 1,000), "
        f"longest function {longest} lines, {repeated} names defined more than once"
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


def find_repeated_names(folders: Iterable[Path]) -> list[Finding]:
    """Report public classes and functions that share a name with another one of the same kind."""
    definitions: dict[str, list[tuple[Path, int]]] = defaultdict(list)
    for folder in folders:
        for path, tree in parse_files(folder):
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and is_checked_class(node):
                    definitions[f"class {node.name}"].append((path, node.lineno))
                elif isinstance(node, ast.FunctionDef) and is_checked_function(node):
                    definitions[f"function {node.name}"].append((path, node.lineno))
    return [
        Finding(path, line, f"{name} is defined {len(lines)} times")
        for name, lines in definitions.items()
        if len(lines) > 1
        for path, line in lines
    ]


def is_checked_class(node: ast.ClassDef) -> bool:
    """Tell whether a class is public, and not one that every module of its folder has."""
    return not node.name.startswith("_") and node.name not in SHARED_CLASSES


def is_checked_function(function: ast.FunctionDef) -> bool:
    """Tell whether a function is public, and no command, route or part of a common interface."""
    decorators = [node.func if isinstance(node, ast.Call) else node for node in function.decorator_list]
    names = {node.attr for node in decorators if isinstance(node, ast.Attribute)}
    is_interface = not names.isdisjoint(INTERFACE_DECORATORS) or function.name in SHARED_FUNCTIONS
    return not function.name.startswith("_") and not is_interface


if __name__ == "__main__":
    main()
