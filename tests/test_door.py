"""The door: what `paragloss` exports is there, documented, and light; the search wing stands without the laboratory."""

import doctest
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import paragloss

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "look-up" / "library.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", paragloss.__all__)
def test_what_is_promised_is_there_and_documented(name):
    assert getattr(paragloss, name) is not None
    assert name.startswith("__") or f"`{name}" in PAGE


#: Exported classes and functions; the others are type aliases and the version.
DOCUMENTED = [
    name
    for name in paragloss.__all__
    if inspect.isclass(getattr(paragloss, name)) or inspect.isfunction(getattr(paragloss, name))
    if not hasattr(getattr(paragloss, name), "__origin__")
]
#: Errors are raised by the library, not made by its users.
WITH_ARGUMENTS = [name for name in DOCUMENTED if not name.endswith("Error")]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_examples_of_what_is_exported_work(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    export = getattr(paragloss, name)
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    examples = finder.find(export, name, globs={name: export})
    assert any(example.examples for example in examples), f"{name} has no example"
    assert [runner.run(example).failed for example in examples] == [0] * len(examples)


def list_public_functions(export):
    """The function itself; of a class its public methods and, unless it is opened or created, the class."""
    if inspect.isfunction(export):
        return [export]
    members = [
        member for key, member in vars(export).items() if not key.startswith("_") and "lambda" not in str(member)
    ]
    methods = [inspect.unwrap(getattr(member, "__func__", member)) for member in members]
    constructor = [] if export is paragloss.Collection else [export]
    return [*constructor, *filter(inspect.isfunction, methods)]


@pytest.mark.parametrize("name", WITH_ARGUMENTS)
def test_the_arguments_and_results_of_what_is_exported_are_described(name):
    for function in list_public_functions(getattr(paragloss, name)):
        text = inspect.getdoc(function) or ""
        signature = inspect.signature(function)
        undescribed = {key for key in signature.parameters if f":param {key}:" not in text} - {"self", "cls"}
        assert not undescribed, f"{name}: {function.__name__}: {undescribed}"
        has_result = inspect.isfunction(function) and signature.return_annotation not in ("None", None)
        if has_result and signature.parameters.keys() - {"self", "cls"}:
            assert ":return" in text, f"{name}: {function.__name__} does not say what it returns"


def test_readme_docs_and_notebook_import_from_the_door_only():
    notebook = json.loads((ROOT / "docs" / "start" / "first-search.ipynb").read_text(encoding="utf-8"))
    cells = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    code = "\n".join(block for page in pages for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.S))
    deep = re.findall(r"^ *(?:from|import) paragloss\.(?!adapters)\S*", f"{code}\n{cells}", re.MULTILINE)
    assert not deep


@pytest.mark.parametrize("old", sorted(paragloss.RENAMED))
def test_a_name_that_was_promised_lives_on_and_says_what_it_is_called(old):
    new, gone = paragloss.RENAMED[old]
    with pytest.warns(DeprecationWarning, match=rf"{new} now; the old name goes with version {gone}"):
        assert getattr(paragloss, old) is getattr(paragloss, new)
    assert tuple(map(int, gone.split("."))) > tuple(map(int, paragloss.__version__.split(".")[:2]))
    assert old in PAGE


def test_importing_paragloss_loads_nothing_heavy():
    code = "import json, sys, paragloss; print(json.dumps(sorted(sys.modules)))"
    run_result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    heavy = {"numpy", "scipy", "torch", "matplotlib", "qdrant_edge", "typer", "paragloss.collection"}
    assert not heavy & set(json.loads(run_result.stdout))
    assert run_result.stderr == b""


@pytest.mark.parametrize(("arguments", "has_lab_commands"), [(["--help"], True), (["search", "--help"], False)])
def test_help_loads_no_numpy_and_only_a_list_of_all_asks_others_for_their_commands(arguments, has_lab_commands):
    report = "print(json.dumps(sorted(sys.modules)))"
    code = f"import atexit, json, sys; atexit.register(lambda: {report})\n{RUN_MAIN.format(arguments=arguments)}"
    run_result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = set(json.loads(run_result.stdout.splitlines()[-1]))
    assert "numpy" not in loaded
    assert ("paragloss.lab.commands" in loaded) is has_lab_commands


RUN_MAIN = """
import sys
from paragloss.cli import main
sys.argv[1:] = {arguments!r}
main()
"""


def test_the_search_wing_stands_alone(tmp_path):
    """The package without the laboratory's folder, torch and matplotlib: demonstration, evaluation, server's routes."""
    shutil.copytree(
        ROOT / "src" / "paragloss", tmp_path / "paragloss", ignore=shutil.ignore_patterns("lab", "__pycache__")
    )
    for missing in ("torch", "matplotlib"):
        (tmp_path / f"{missing}.py").write_text(
            f"raise ModuleNotFoundError('No module named {missing}', name='{missing}')"
        )

    def run(code):
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        run_result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, cwd=tmp_path, env=environment, text=True
        )
        assert run_result.returncode == 0, run_result.stderr
        return run_result.stdout

    def command(*arguments):
        return run(RUN_MAIN.format(arguments=list(arguments)))

    assert "lab" not in command("--help").split()
    assert "no method 'cr5'; there are none installed" in run(
        "from paragloss import train, InputError\ntry: train('cr5', [])\nexcept InputError as e: print(e)"
    )
    assert "720 queries" in command("demo", "--into", "shown")
    (tmp_path / "asked.jsonl").write_text('{"id": "q", "lang": "en", "text": "how do bees make honey"}\n')
    (tmp_path / "qrels").write_text("q 0 bees.de 1\n")
    command("search", "--in", "shown/collection", "--queries", "asked.jsonl", "--run", "found.trec", "--to", "de")
    assert "RR" in command("eval", "found.trec", "qrels", "--measures", "RR")
    learn = "from paragloss import demo; from paragloss.translation.table_learning import TableSettings, learn_table"
    assert "('de', 'en')" in run(f"{learn}; print(learn_table(demo.concepts(), TableSettings()).pairs)"), (
        "learning a table of words"
    )
    loaded = run("import sys, paragloss.server.application, paragloss.server.run; print(sorted(sys.modules))")
    assert "paragloss.server.run" in loaded
    assert "paragloss.lab" not in loaded


METHOD = '''"""Adds: a method of somebody else's, every word a random direction."""

import numpy as np

from paragloss.encoders.bag import BagEncoder
from paragloss.lab.learning.counting import count


def fit(aligned, *, dim: int = 300, seed: int = 0) -> BagEncoder:
    """One random direction for every concept's number, summed over its words."""
    counted, concepts = count(aligned, stem=True, max_terms=1000, min_df=1, lengths=None)
    directions = np.random.default_rng(seed).normal(size=(concepts, dim)).astype(np.float32)
    vocabularies = {lang: part.vocabulary for lang, part in counted.items()}
    table = np.vstack([part.counts.T @ directions[part.concepts] for part in counted.values()]).astype(np.float32)
    return BagEncoder.stacked(vocabularies, table, meta={"method": "adds"})
'''


def test_a_stranger_s_package_adds_a_method(tmp_path):
    home = tmp_path / "site"
    (home / "adds-1.0.dist-info").mkdir(parents=True)
    (home / "adds-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: adds\nVersion: 1.0\n")
    (home / "adds-1.0.dist-info" / "entry_points.txt").write_text("[paragloss.methods]\nadds = adds_method\n")
    (home / "adds_method.py").write_text(METHOD)
    rows = [
        {"concept": str(i), "lang": lang, "title": f"{lang}{i}", "text": f"{lang}word{i} {lang}more{i}"}
        for i in range(8)
        for lang in ("en", "fr", "it")
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    environment = {**os.environ, "PYTHONPATH": f"{home}{os.pathsep}{ROOT / 'src'}"}

    def run(*arguments):
        run_result = subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, cwd=tmp_path, env=environment
        )
        assert run_result.returncode == 0, run_result.stdout + run_result.stderr
        return run_result.stdout

    assert "adds" in run("-m", "paragloss", "train", "--help")
    assert "--dim" in run("-m", "paragloss", "train", "adds", "--help")
    run("-m", "paragloss", "train", "adds", "rows.jsonl", "--out", "model", "--dim", "8")
    run("-m", "paragloss", "index", "rows.jsonl", "--into", "library", "--model", "model")
    assert "model" in run("-m", "paragloss", "info", "library")
    contract = str(ROOT / "tests" / "lab" / "methods" / "test_contract.py")
    assert ".." in run("-m", "pytest", "-q", contract, "-k", "adds and (dimension or batch)", "-p", "no:xdist")


def test_a_command_whose_extra_is_missing_says_which(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ModuleNotFoundError('no matplotlib', name='matplotlib')")
    (tmp_path / "found.trec").write_text("q Q0 a 1 1.0 t\n")
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / 'src'}"}
    command = [sys.executable, "-m", "paragloss", "eval", "found.trec", "qrels", "--report", "page.html"]
    run_result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert (run_result.returncode, "paragloss[lab]" in run_result.stderr) == (1, True), run_result.stderr
