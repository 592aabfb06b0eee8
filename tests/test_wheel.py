"""What is installed is whole: the wheel has every file of the package, code and data."""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("hatchling")
    build_folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(build_folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(build_folder.glob("*.whl"))) as opened:
        yield opened


def test_everything_of_the_package_is_in_it(wheel):
    package = ROOT / "src" / "paragloss"
    ours = {f"paragloss/{path.relative_to(package)}" for path in package.rglob("*") if path.is_file()}
    ours = {name for name in ours if "__pycache__" not in name}
    assert ours <= set(wheel.namelist())
    top_level = ("paragloss/", "paragloss-", "paragloss_command.py")
    assert all(name.startswith(top_level) for name in wheel.namelist()), "no reproductions, no tests"
    assert {
        "paragloss/py.typed",
        "paragloss/page/index.html",
        "paragloss/page/style.css",
        "paragloss/page/strings/en.js",
        "paragloss/translation/default/data/NOTICE",
        "paragloss/languages/NOTICE",
        "paragloss/demo/concepts.jsonl",
    } <= ours


def test_the_default_model_in_it_is_the_one_here(wheel):
    folder = "src/paragloss/translation/default/data/model"
    for path in (ROOT / folder).iterdir():
        assert wheel.getinfo(f"paragloss/translation/default/data/model/{path.name}").file_size == path.stat().st_size


def test_the_licences_of_code_and_model_are_in_it(wheel):
    info = "paragloss-0.1.0.dist-info"
    licence = wheel.read(f"{info}/licenses/LICENSE").decode()
    assert "Apache License" in licence
    assert licence == (ROOT / "LICENSE").read_text()
    notice_folders = ("translation/default/data", "languages", "gloss", "encoders/pretrained/student")
    for notice in ("NOTICE", *(f"src/paragloss/{notice_folder}/NOTICE" for notice_folder in notice_folders)):
        assert "by-sa/4.0" in wheel.read(f"{info}/licenses/{notice}").decode()
    about = wheel.read(f"{info}/METADATA").decode()
    assert "License-Expression: Apache-2.0 AND CC-BY-SA-4.0" in about
    assert "License-File: LICENSE" in about


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    build_folder = tmp_path_factory.mktemp("source")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(build_folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with tarfile.open(next(build_folder.glob("*.tar.gz"))) as packed:
        yield packed


def test_a_wheel_built_from_the_source_package_has_the_same_files(wheel, source, tmp_path):
    source.extractall(tmp_path, filter="data")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=tmp_path / "paragloss-0.1.0", check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as built:
        assert {name: built.getinfo(name).CRC for name in built.namelist() if "RECORD" not in name} == {
            name: wheel.getinfo(name).CRC for name in wheel.namelist() if "RECORD" not in name
        }


def test_it_installs_offline_in_a_clean_environment_and_finds(wheel, tmp_path):
    """Other packages are those that the tests have; ours comes from the wheel."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    packages = next((tmp_path / "venv").glob("lib/python*/site-packages"))
    (packages / "tests.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps", wheel.filename]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([*install, "--ignore-installed"], check=True, capture_output=True, env=clean)
    command = [tmp_path / "venv" / "bin" / "paragloss", "doctor", "--json"]
    run = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True, env=clean)
    report = json.loads(run.stdout)
    assert report["test"]["passed"]
    assert report["system"]["installed in"] == str(tmp_path / "venv")
    where = [python, "-c", "import paragloss; print(paragloss.__file__)"]
    assert subprocess.run(where, capture_output=True, text=True, env=clean).stdout.startswith(str(packages))


def test_the_shell_is_told_how_to_complete():
    variables = {"_PARAGLOSS_COMPLETE": "complete_bash", "COMP_WORDS": "paragloss se", "COMP_CWORD": "1"}
    code = "import sys; sys.argv = ['paragloss']; from paragloss_command import main; main()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **variables})
    assert set(run.stdout.split()) == {"search", "serve"}


def test_the_licences_are_in_the_source_package(source):
    names = set(source.getnames())
    model = "src/paragloss/translation/default/data"
    for name in ("LICENSE", "NOTICE", f"{model}/NOTICE", f"{model}/model/meta.json"):
        assert f"paragloss-0.1.0/{name}" in names


def test_it_is_small_enough_for_a_package_index(wheel):
    assert "paragloss/encoders/pretrained/student/model.onnx" in wheel.namelist()
    assert sum(entry.compress_size for entry in wheel.infolist()) < 95_000_000


def test_nothing_else_is_in_it(wheel):
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert tops == {"paragloss", "paragloss_command.py", "paragloss-0.1.0.dist-info"}


def test_the_command_is_installed(wheel):
    assert "paragloss = paragloss_command:main" in wheel.read("paragloss-0.1.0.dist-info/entry_points.txt").decode()
