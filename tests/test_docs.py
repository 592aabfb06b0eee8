"""What the documents say is there, and what is there is in the documents."""

import re
import shlex
from contextlib import chdir, suppress
from pathlib import Path

import pytest
import typer.main

from paragloss.cli import app, main
from paragloss.cli.settings import methods
from paragloss.search.parts import FUSIONS, SEARCHERS, TRANSLATORS
from paragloss.search.wording import FEEDBACK, MIX, TOGETHER

ROOT = Path(__file__).parents[1]
COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(typer.main.get_command(app).commands))
def test_every_command_has_a_heading(name):
    assert f"\n## paragloss {name}\n" in COMMANDS


@pytest.mark.parametrize("name", sorted(typer.main.get_command(app).commands))
def test_every_option_that_is_documented_exists(name):
    section = COMMANDS.split(f"\n## paragloss {name}\n")[1].split("\n## ")[0]
    usage = section.split("```")[1]
    known = {flag for p in typer.main.get_command(app).commands[name].params for flag in p.opts}
    assert set(re.findall(r"--[a-z][a-z-]*", usage)) <= known


@pytest.mark.parametrize("method", [name.split(".")[1] for name in methods()])
def test_every_method_is_named(method):
    assert f"`{method}`" in COMMANDS


def test_links_between_documents_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_s_python_runs(tmp_path, monkeypatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert "火山" in capsys.readouterr().out


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory):
    """The page on pipelines, and a place where its Python has run."""
    text, place = (ROOT / "docs" / "pipelines.md").read_text(encoding="utf-8"), tmp_path_factory.mktemp("pipelines")
    names: dict[str, object] = {}
    with chdir(place):
        for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(compile(code, "docs/pipelines.md", "exec"), names)
    return text, place


def test_the_commands_on_the_page_on_pipelines_print_what_it_says(pipelines, capsys, monkeypatch):
    text, place = pipelines
    monkeypatch.chdir(place)
    blocks = re.findall(r"```\n\$ paragloss (.*?)\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    for command, expected in blocks:
        monkeypatch.setattr("sys.argv", ["paragloss", *shlex.split(command)])
        with suppress(SystemExit):
            main()
        said = capsys.readouterr()
        pattern = ".*".join(re.escape(part) for part in expected.split("..."))
        assert re.fullmatch(pattern, said.out + said.err, re.DOTALL), said


def test_every_part_that_can_be_said_is_on_the_page_on_pipelines(pipelines):
    for name in [*SEARCHERS, *TRANSLATORS, *FUSIONS, FEEDBACK, TOGETHER, MIX]:
        assert re.search(rf"`{name}\b", pipelines[0]), name
