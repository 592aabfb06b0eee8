"""What is installed is whole: the wheel has every file of the package, code and data."""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def build(kind, project, build_folder):
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(build_folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The source package."""
    build_folder = tmp_path_factory.mktemp("source")
    build("sdist", ROOT, build_folder)
    with tarfile.open(next(build_folder.glob("*.tar.gz"))) as packed:
        yield packed


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    """The wheel, built from the source package as a release is."""
    folder = tmp_path_factory.mktemp("wheel")
    source.extractall(folder, filter="data")
    build("wheel", folder / "paragloss-0.1.0", folder)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as opened:
        yield opened


def test_everything_of_the_package_is_in_it(wheel):
    package = ROOT / "src" / "paragloss"
    ours = {f"paragloss/{path.relative_to(package)}" for path in package.rglob("*") if path.is_file()}
    ours = {name for name in ours if "__pycache__" not in name}
    assert ours <= set(wheel.namelist())
    top_names = {name.split("/")[0] for name in wheel.namelist()}
    assert top_names == {"paragloss", "paragloss_command.py", "paragloss-0.1.0.dist-info"}, "no reproductions, no tests"
    assert {
        "paragloss/py.typed",
        "paragloss/encoders/pretrained/student/model.onnx",
        "paragloss/page/index.html",
        "paragloss/page/style.css",
        "paragloss/page/strings/en.js",
        "paragloss/translation/default/data/NOTICE",
        "paragloss/languages/NOTICE",
        "paragloss/demo/concepts.jsonl",
    } <= ours


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


def test_a_wheel_built_from_a_clone_has_the_same_files(wheel):
    from hatchling.builders.wheel import WheelBuilder

    files = {
        file.distribution_path: zlib.crc32(Path(file.path).read_bytes())
        for file in WheelBuilder(str(ROOT)).recurse_included_files()
    }
    in_wheel = {name: wheel.getinfo(name).CRC for name in wheel.namelist() if ".dist-info/" not in name}
    assert files == in_wheel


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
    assert sum(entry.compress_size for entry in wheel.infolist()) < 95_000_000


def test_the_command_is_installed(wheel):
    assert "paragloss = paragloss_command:main" in wheel.read("paragloss-0.1.0.dist-info/entry_points.txt").decode()
