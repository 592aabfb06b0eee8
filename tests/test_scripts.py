"""Scripts of studies/ and benchmarks/ import only names that exist, so that a renamed function is noticed there too."""

import ast
import importlib
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted(path for folder in ("studies", "benchmarks") for path in (ROOT / folder).glob("*.py"))


def list_package_imports(path):
    """Return (module, name) for every `from paragloss... import name` of a script."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return [
        (node.module, alias.name)
        for node in statements
        if node.module.split(".")[0] == "paragloss"
        for alias in node.names
    ]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_name_that_a_script_imports_exists(path):
    for module, name in list_package_imports(path):
        is_submodule = importlib.util.find_spec(module).submodule_search_locations is not None
        if not hasattr(importlib.import_module(module), name):
            assert is_submodule, f"{module} has no {name}"
            assert importlib.util.find_spec(f"{module}.{name}"), f"{module} has no {name}"
