"""Every name of ours that pages on methods and models mention is there: files, functions, classes, settings."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "paragloss"
DOCS = ROOT / "docs"
PAGES = [
    *sorted((DOCS / "understand" / "papers").glob("*.md")),
    *(DOCS / "do" / f"{name}.md" for name in ("adapters", "evaluate", "translation")),
    *(DOCS / "understand" / f"{name}.md" for name in ("fusion", "log-methods", "model", "model-figures", "why")),
]
#: Names of others: a word of a query in an example, Python's own.
FOREIGN_NAMES = {"apple", "Apple", "collections.Iterable"}
_FILE = re.compile(r"\b(?:tests|benchmarks|papers|src|docs)/[\w/.-]+\.\w+|\b\w+(?:[/.]\w+)*\.py\b")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?=$|[ (:,=\[])")


def list_members(body):
    """The names a module or a class defines, what its methods set included, and the members of its classes."""
    names = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            names[node.name] = list_members(node.body)
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = {}
            names |= {
                n.attr: {} for n in ast.walk(node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
            }
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: {} for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {name.id: {} for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return names


@cache
def read_modules():
    """Dotted name below the package -> its names; and every word that code says."""
    names_by_module, words = {}, set()
    papers = ROOT / "papers"
    for path in [*SOURCE.rglob("*.py"), *papers.rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        parts = path.relative_to(ROOT if papers in path.parents else SOURCE).with_suffix("").parts
        names_by_module[".".join(parts).removesuffix(".__init__")] = list_members(ast.parse(text).body)
        words |= {*re.findall(r"\w+", text), *parts}
    return names_by_module, words


def is_defined(name):
    names_by_module, words = read_modules()
    if "." not in name:
        return name in words
    for length in range(len(name.split(".")), 0, -1):
        head, attributes = ".".join(name.split(".")[:length]), name.split(".")[length:]
        candidates = [names for module, names in names_by_module.items() if f".{module}".endswith(f".{head}")]
        for member_names in [*candidates, *(names[head] for names in names_by_module.values() if head in names)]:
            for part in attributes:
                member_names = member_names.get(part) if member_names is not None else None
            if member_names is not None:
                return True
    return False


def list_mentioned_names(text):
    """What stands in backticks outside made tables, that reads as a file or a name."""
    text = re.sub(r"<!-- recipe:.*?<!-- end -->|<!-- tasks:.*?<!-- end -->|```.*?```", "", text, flags=re.DOTALL)
    for quoted in re.findall(r"`([^`\n]+)`", text):
        files = _FILE.findall(quoted)
        yield from files
        remainder = _FILE.sub("", quoted).removeprefix(":").strip()
        name = _NAME.match(remainder)
        if name and not re.match(r"(python|paragloss|train|scale|PARAGLOSS_\w+|OMP_\w+)\b", remainder):
            yield name[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_of_ours_are_there(page):
    for name in list_mentioned_names(page.read_text(encoding="utf-8")):
        if name.endswith(".py") or "/" in name:
            dotted = name.removesuffix(".py").replace("/", ".")
            assert (ROOT / name).exists() or dotted in read_modules()[0], f"{page.name}: {name}"
        elif name not in FOREIGN_NAMES and not name.startswith("encoder."):
            assert is_defined(name), f"{page.name}: {name}"


def test_a_name_that_moved_is_noticed():
    assert is_defined("maps.learn_canonical_projections")
    assert is_defined("solving.maps.learn_canonical_projections")
    assert is_defined("Regression.multiply_transposed")
    assert not is_defined("_maps.learn_canonical_projections")
    assert not is_defined("maps.learn_canonically")
    assert not is_defined("Regression.sentences")
    assert list(
        list_mentioned_names(
            "`lab/methods/opca.py: fit` and `ranking.find_nearest(a, b)`, `python benchmarks/cr5.py --size 3`"
        )
    ) == [
        "lab/methods/opca.py",
        "fit",
        "ranking.find_nearest",
        "benchmarks/cr5.py",
    ]
