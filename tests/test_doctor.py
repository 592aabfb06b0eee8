"""What `paragloss doctor` says is so."""

import json
import tomllib
from importlib import metadata
from pathlib import Path

from test_cli import paragloss_

from paragloss.cli import doctor_command

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_extra_has_a_purpose():
    assert set(doctor_command.PURPOSES) == PROJECT["optional-dependencies"].keys() - {"all", "dev", "docs"}


def test_it_searches_and_names_what_is_missing(tmp_path, monkeypatch):
    find_version = metadata.version

    def version(name):
        if name == "uvicorn":
            raise metadata.PackageNotFoundError(name)
        return find_version(name)

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setenv("PATH", str(tmp_path))
    report = json.loads(paragloss_("doctor", "--json", cwd=tmp_path).stdout)
    assert report["test"]["passed"]
    (serve,) = (extra for extra in report["extras"] if extra["extra"] == "serve")
    assert serve["missing"] == ["uvicorn"]
    assert "serve" in serve["for"]
    assert [(program["program"], program["version"]) for program in report["programs"]] == [("tesseract", "missing")]


def test_a_search_that_fails_is_told_and_ends_with_1(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor_command, "_TEST_DOCUMENTS", (("sea.fr", "La mer est calme.", "fr"),))
    assert "wrong result" in paragloss_("doctor", cwd=tmp_path, code=1).stdout
