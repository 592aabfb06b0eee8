"""Two wings of floors: a module imports only from lower ones, the search wing nothing of the laboratory, and nothing
goes round in a circle, inside rooms neither."""

import ast
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "paragloss"
FLOORS = {
    "types": 0, "errors": 0, "atomic_files": 0, "groups": 0,
    "languages": 1, "analysis": 1, "formats": 1, "artefacts": 1, "ranking": 1, "bm25": 1, "methods": 1, "processes": 1,
    "hosts": 1,
    "vocabulary": 2, "statistics": 2,
    "encoders": 3, "stores": 3,
    "translation": 4,
    "index": 5, "gloss": 5, "evaluation": 5,
    "search": 6,
    "collection": 7,
    "demo": 8,
    "server": 9, "page": 9, "adapters": 9,
    "cli": 10,
    "__main__": 11,
    "lab.judgments": 12, "lab.clicks": 12, "lab.solving": 12,
    "lab.query_log": 12,
    "lab.aligned_files": 12,
    "lab.matchings": 12,
    "lab.settings": 13,
    "lab.learning": 14,
    "lab.descent": 15,
    "lab.methods": 16,
    "lab.commands": 20,
}  # fmt: skip
#: Rooms of floor 1 that others on it may enter: files and analyzers speak of languages, and what tells languages is
#: kept as an artefact.
ALLOWED_SIBLINGS = {"analysis": {"languages"}, "formats": {"languages"}, "languages": {"artefacts"}}
FILES = [p for p in ROOT.rglob("*.py") if p.parent != ROOT or p.name != "__init__.py"]
FILES = [p for p in FILES if p != ROOT / "lab" / "__init__.py"]
SEARCH_WING = [p for p in FILES if ROOT / "lab" not in p.parents]
DOCUMENTED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def module_name(path: Path) -> str:
    """`paragloss.search.dense`, and a folder's name for its `__init__`."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path) for path in FILES}


@cache
def list_imports(path: Path) -> set[str]:
    """The modules a file imports, at any depth of its code but for what only the type checker reads."""
    imported = set()
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    for node in nodes:
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            continue
        nodes += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("paragloss"):
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                imported.add(submodule if submodule in MODULES else node.module)
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names if alias.name.startswith("paragloss.")}
    return imported & MODULES


def find_room(module: str) -> str:
    parts = module.split(".")[1:]
    return ".".join(parts[:2] if parts[0] == "lab" else parts[:1])


def test_modules_import_only_from_lower_floors():
    assert {find_room(module) for module in MODULES} <= FLOORS.keys(), "give the room a floor in the design and here"
    for path in FILES:
        own_room = find_room(module_name(path))
        higher = {room for room in map(find_room, list_imports(path)) if FLOORS[room] >= FLOORS[own_room]}
        wrong = higher - {own_room} - ALLOWED_SIBLINGS.get(own_room, set())
        assert not wrong, f"{path.relative_to(ROOT)} (floor {FLOORS[own_room]}) imports {sorted(wrong)}"


def test_nothing_goes_round_in_a_circle():
    graph = {module_name(path): list_imports(path) - {module_name(path)} for path in FILES}
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as circle:
        pytest.fail(" -> ".join(circle.args[1]))


def list_strings(tree: ast.Module) -> set[str]:
    """Every string of a file but its docstrings."""
    documented = [tree, *(node for node in ast.walk(tree) if isinstance(node, DOCUMENTED))]
    docstrings = {ast.get_docstring(node, clean=False) for node in documented}
    constants = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return {text for text in constants if isinstance(text, str)} - docstrings


def test_the_search_wing_names_no_module_or_method_of_the_laboratory_in_a_string():
    for path in SEARCH_WING:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not {text for text in list_strings(tree) if "paragloss.lab" in text}, path
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
        loads = [
            call.args[0] for call in calls if "load_method" in (getattr(call.func, part, "") for part in ("id", "attr"))
        ]
        assert not [name for name in loads if isinstance(name, ast.Constant)], f"{path} calls a method by its name"


def test_only_stores_know_the_embedded_engine():
    importers = {module_name(path) for path in FILES if "qdrant_edge" in path.read_text(encoding="utf-8")}
    assert importers
    assert {find_room(module) for module in importers} == {"stores"}


def test_no_private_part_of_a_library_is_used():
    """An attribute that begins with an underscore is defined by ourselves; named tuples' public ones are exceptions."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    own = {node.name for node in nodes if isinstance(node, DOCUMENTED)}
    own |= {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in ("self", "cls")
    }
    own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {"_replace", "_asdict", "_fields", "_exit"}  # of named tuples, and os._exit
    for path, tree in trees.items():
        used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        foreign = {name for name in used if name.startswith("_") and not name.startswith("__")} - own
        assert not foreign, f"{path.relative_to(ROOT)} uses {sorted(foreign)}"


def test_methods_import_no_method_but_cr5():
    """K-NRM and subword vectors start from Cr5's word vectors; other methods share code on a lower floor."""
    wrong = {
        module_name(path): sorted(module for module in list_imports(path) if find_room(module) == "lab.methods")
        for path in FILES
        if find_room(module_name(path)) == "lab.methods"
    }
    assert {module for imported in wrong.values() for module in imported} <= {"paragloss.lab.methods.cr5"}


def test_no_public_file_name_stands_twice():
    names = [path.name for path in FILES if not path.name.startswith("_")]
    assert not {name for name in names if names.count(name) > 1}


def draw_rooms() -> str:
    """A line for each room, from the lowest floor up: what it imports from. `python tests/test_floors.py` prints it."""
    edges: dict[str, set[str]] = {}
    for path in FILES:
        own_room = find_room(module_name(path))
        edges.setdefault(own_room, set()).update(
            {find_room(module) for module in list_imports(path)} - {own_room, "types", "errors"}
        )
    order = sorted(edges, key=lambda name: (FLOORS[name], name))
    room_names = [name for name in order if name not in ("types", "errors", "__main__")]
    return "\n".join(f"{FLOORS[name]:2}  {name:24}{' '.join(sorted(edges[name]))}".rstrip() for name in room_names)


def test_the_picture_in_the_architecture_is_the_code():
    assert draw_rooms() in (ROOT.parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.stdout.write(draw_rooms() + "\n")
