"""Documents that are sent to a running server."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from serving_process import ServerProcess

from paragloss.collection import Collection
from paragloss.errors import InputError, StoreError
from paragloss.server.client import ServerClient
from paragloss.stores import open_store
from paragloss.types import Document

READ, WRITE = "r" * 20, "w" * 20


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("client")
    (folder / "keys").write_text(f"read {READ}\nwrite {WRITE}\n")
    Collection.create(str(folder / "library")).close()
    with ServerProcess(str(folder / "library"), "--keys", str(folder / "keys")) as running:
        yield running


def host_of(server) -> str:
    return server.address.removeprefix("http://")


def run_index(server, *arguments: str, key: str = WRITE) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PARAGLOSS_KEY": f"{host_of(server)}={key}"}
    command = [sys.executable, "-m", "paragloss", "index", *arguments, "--into", f"{server.address}/library"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_files_are_indexed_through_a_server_with_its_key(server, tmp_path, monkeypatch):
    (tmp_path / "notes" / "below").mkdir(parents=True)
    (tmp_path / "notes" / "below" / "kite.en.txt").write_text("A kite above the harbour.")
    run = run_index(server, str(tmp_path / "notes"))
    assert (run.returncode, run.stderr) == (0, "")
    assert "indexed 1 documents" in run.stdout
    monkeypatch.setenv("PARAGLOSS_KEY", f"{host_of(server)}={READ}")
    document = ServerClient(server.address)._request("/api/documents/notes/below/kite.en.txt")
    assert (document["lang"], document["meta"]["path"]) == ("en", "notes/below/kite.en.txt")


def test_a_key_that_may_not_write_is_refused_with_the_remedy(server, tmp_path):
    (tmp_path / "a.en.txt").write_text("A lamp.")
    run = run_index(server, str(tmp_path / "a.en.txt"), key=READ)
    assert run.returncode == 1
    assert f"PARAGLOSS_KEY={host_of(server)}=KEY" in run.stderr


def test_documents_that_the_server_refuses_are_reported_and_the_others_are_added(server, monkeypatch):
    monkeypatch.setenv("PARAGLOSS_KEY", f"{host_of(server)}={WRITE}")
    client = ServerClient.find(f"{server.address}/library")
    documents = [Document("good", "a lamp", "en"), Document("bad", "a lamp", "en", meta={"n": 2**70})]
    errors: list[InputError] = []
    counts = client.add_documents(documents, on_error=errors.append)
    assert (counts.indexed, counts.failed) == (1, 1)
    assert [error.location for error in errors] == ["bad"]
    with pytest.raises(InputError):
        client.add_documents(documents[1:])


def test_an_address_without_a_paragloss_server_is_none():
    assert ServerClient.find("http://127.0.0.1:9/library") is None
    assert ServerClient.find("some/folder") is None


def test_a_collection_on_a_qdrant_server_has_a_scheme_of_its_own():
    with pytest.raises(StoreError, match="names no collection"):
        open_store("qdrant+http://127.0.0.1:9")
    with pytest.warns(FutureWarning, match=r"write qdrant\+http://127\.0\.0\.1:9/name"), pytest.raises(StoreError):
        open_store("http://127.0.0.1:9/name")
