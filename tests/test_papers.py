"""Every name of ours that a page of docs/papers mentions is there: files, functions, classes, settings."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "paragloss"
PAGES = sorted((ROOT / "docs" / "understand" / "papers").glob("*.md"))
#: Names of others: a word of a query in an example, Python's own.
OTHERS = {"apple", "Apple", "collections.Iterable"}
_FILE = re.compile(r"\b(?:tests|benchmarks|papers|src|docs)/[\w/.-]+\.\w+|\b\w+(?:[/.]\w+)*\.py\b")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?=$|[ (:,=\[])")


def members(body):
    """The names a module or a class defines, what its methods set included, and the members of its classes."""
    found = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = members(node.body)
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = {}
            found |= {
                n.attr: {} for n in ast.walk(node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
            }
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: {} for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {name.id: {} for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return found


@cache
def modules():
    """Dotted name below the package -> its names; and every word that code says."""
    found, words = {}, set()
    papers = ROOT / "papers"
    for path in [*SOURCE.rglob("*.py"), *papers.rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        parts = path.relative_to(ROOT if papers in path.parents else SOURCE).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = members(ast.parse(text).body)
        words |= {*re.findall(r"\w+", text), *parts}
    return found, words


def there(name):
    known, words = modules()
    if "." not in name:
        return name in words
    for cut in range(len(name.split(".")), 0, -1):
        head, rest = ".".join(name.split(".")[:cut]), name.split(".")[cut:]
        places = [names for module, names in known.items() if f".{module}".endswith(f".{head}")]
        for inside in [*places, *(names[head] for names in known.values() if head in names)]:
            for part in rest:
                inside = inside.get(part) if inside is not None else None
            if inside is not None:
                return True
    return False


def mentioned(text):
    """What stands in backticks outside made tables, that reads as a file or a name."""
    text = re.sub(r"<!-- recipe:.*?<!-- end -->|<!-- tasks:.*?<!-- end -->|```.*?```", "", text, flags=re.DOTALL)
    for said in re.findall(r"`([^`\n]+)`", text):
        files = _FILE.findall(said)
        yield from files
        rest = _FILE.sub("", said).removeprefix(":").strip()
        name = _NAME.match(rest)
        if name and not re.match(r"(python|paragloss|train|scale|PARAGLOSS_\w+|OMP_\w+)\b", rest):
            yield name[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_of_ours_are_there(page):
    for name in mentioned(page.read_text(encoding="utf-8")):
        if name.endswith(".py") or "/" in name:
            dotted = name.removesuffix(".py").replace("/", ".")
            assert (ROOT / name).exists() or dotted in modules()[0], f"{page.name}: {name}"
        elif name not in OTHERS and not name.startswith("encoder."):
            assert there(name), f"{page.name}: {name}"


def test_a_name_that_moved_is_noticed():
    assert there("maps.canonical")
    assert there("solving.maps.canonical")
    assert there("Regression.words")
    assert not there("_maps.canonical")
    assert not there("maps.canonically")
    assert not there("Regression.sentences")
    assert list(
        mentioned("`lab/methods/opca.py: fit` and `ranking.find_nearest(a, b)`, `python benchmarks/cr5.py --size 3`")
    ) == [
        "lab/methods/opca.py",
        "fit",
        "ranking.find_nearest",
        "benchmarks/cr5.py",
    ]
