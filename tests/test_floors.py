"""The house has floors: a module imports only from lower ones, and nothing goes round in a circle."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "paragloss"
FLOORS = {
    "types": 0, "errors": 0,
    "languages": 1, "analysis": 1, "formats": 1, "artefacts": 1, "ranking": 1, "bm25": 1,
    "vocabulary": 2, "statistics": 2, "judgments": 2, "clicks": 2,
    "solving": 3,
    "learning": 4, "serving": 4,
    "descent": 5,
    "models": 6, "translation": 6, "stores": 6,
    "search": 7, "gloss": 7, "evaluation": 7,
    "engine": 8,
    "analyses": 9, "demo": 9, "tuning": 9,
    "server": 10, "page": 10, "adapters": 10, "recipes": 10,
    "cli": 11,
    "__main__": 12,
}  # fmt: skip


def imports(path: Path) -> set[str]:
    """The rooms a file imports from, at any depth of its code."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("paragloss"):
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("paragloss.")}
    return found & FLOORS.keys()


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


FILES = [p for p in ROOT.rglob("*.py") if p.name != "__init__.py" or p.parent != ROOT]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_imports_only_from_lower_floors(path):
    here = room(path)
    assert here in FLOORS, f"{path.name} has no floor: give it one in the design and here"
    # A folder's own files may share pieces; siblings on one floor may not.
    wrong = {other for other in imports(path) - {here} if FLOORS[other] >= FLOORS[here]}
    # Two rooms of floor 1 that others on it may enter: files and analyzers speak of languages, and what tells
    # languages is kept as an artefact.
    wrong -= {"analysis": {"languages"}, "formats": {"languages"}, "languages": {"artefacts"}}.get(here, set())
    assert not wrong, f"{path.relative_to(ROOT)} (floor {FLOORS[here]}) imports {sorted(wrong)}"


def picture() -> str:
    """A line for each room, from the lowest floor up: what it imports from. `python tests/test_floors.py` prints it."""
    edges: dict[str, set[str]] = {}
    for path in FILES:
        edges.setdefault(room(path), set()).update(imports(path) - {room(path), "types", "errors"})
    order = sorted(edges, key=lambda name: (FLOORS[name], name))
    shown = [name for name in order if name not in ("types", "errors", "__main__")]
    return "\n".join(f"{FLOORS[name]:2}  {name:12}{' '.join(sorted(edges[name]))}".rstrip() for name in shown)


def test_the_picture_in_the_architecture_is_the_code():
    assert picture() in (ROOT.parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.stdout.write(picture() + "\n")
