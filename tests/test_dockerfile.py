"""Where there is no Docker: the Dockerfile is read, and what it names is there."""

import json
import re
from pathlib import Path

import pytest
import typer.main

from paragloss.cli import app

ROOT = Path(__file__).parents[1]


def check_options(command, *arguments):
    """The words of a command line that begin with dashes are options of the command."""
    known_flags = {flag for p in typer.main.get_command(app).commands[command].params for flag in p.opts}
    assert {word for word in arguments if word.startswith("--")} <= known_flags


def test_the_cluster_has_three_nodes_that_know_each_other_and_outlive_a_restart():
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load((ROOT / "deploy" / "compose.yml").read_text(encoding="utf-8"))["services"]
    nodes = {name: service for name, service in services.items() if service.get("image", "").startswith("qdrant/")}
    assert len(nodes) == len({node["volumes"][0].split(":")[0] for node in nodes.values()}) == 3
    for name, node in nodes.items():
        assert node["command"][:3] == ["./qdrant", "--uri", f"http://{name}:6335"]
        assert node["command"][3:] in ([], ["--bootstrap", "http://qdrant-1:6335"])
        assert node["environment"]["QDRANT__CLUSTER__ENABLED"] == "true"
        assert node["healthcheck"]
    check_options(*services["paragloss"]["command"])


def read_instructions():
    text = re.sub(r"\\\n\s*", " ", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    return [line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#")]


def test_it_begins_from_a_named_version_ends_as_an_ordinary_user_and_needs_keys():
    lines = read_instructions()
    assert lines[0][0] == "FROM"
    assert re.fullmatch(r"python:3\.\d+-slim", lines[0][1])
    values = dict(lines)  # the last of each instruction
    assert (values["USER"], values["ENTRYPOINT"]) == ("paragloss", '["paragloss"]')
    command = json.loads(values["CMD"])
    check_options(*command)
    assert "--keys" in command


def test_its_user_owns_the_folder_that_it_serves():
    """A volume on a folder that is not there is root's."""
    order = [
        name
        for name, arguments_text in read_instructions()
        if name == "VOLUME" or "--owner=paragloss /library" in arguments_text
    ]
    assert order == ["RUN", "VOLUME"]


def test_nothing_but_the_wheel_is_sent_to_the_builder():
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    (copied,) = [arguments_text.split()[0] for name, arguments_text in read_instructions() if name == "COPY"]
    assert [line for line in ignored if not line.startswith("#")] == ["*", f"!{copied}"]


def test_the_extras_it_installs_exist():
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (extras_wanted,) = re.findall(r"\[([a-z,]+)\]\"", (ROOT / "Dockerfile").read_text())
    assert set(extras_wanted.split(",")) <= set(extras)
