"""What somebody would try who means harm: each was tried on a server of ours, and worked."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import subprocess
import sys
import tarfile
import threading
import time
from contextlib import suppress

import pytest
from free_ports import find_free_ports

from paragloss.collection import Collection
from paragloss.collection.archive_file import restore
from paragloss.errors import DeadlineError, InputError
from paragloss.server.admission import BusyError
from paragloss.server.keys import Keys, WrongKeys
from paragloss.server.library import Library
from paragloss.server.limits import DEFAULT
from paragloss.types import Document

READ, WRITE = "r" * 20, "w" * 20
KEYS = Keys({READ: "read", WRITE: "write"})
PAIRS = [{"lang": "en", "word": word, "to": "da", "meaning": word[::-1]} for word in ("kite", "lamp", "bread")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("attacked")
    (path / "files" / "below").mkdir(parents=True)
    (path / "files" / "below" / "a.en.txt").write_text("A kite above the harbour.")
    with Collection.create(str(path / "c")) as collection:
        collection.index([Document(f"d{n}", f"a lamp and number {n}", "en", meta={"year": 1990 + n}) for n in range(5)])
        collection.index_files([str(path / "files")])
    return path


@pytest.fixture
def collection(folder) -> str:
    """What `serve` serves."""
    return str(folder / "c")


def library_of(client):
    return client.app.state.paragloss.library


def bearer(key):
    return {"authorization": f"Bearer {key}"}


def test_filtering_by_unknown_fields_writes_nothing_and_is_limited(client, folder):
    before = set((folder / "c").rglob("*"))
    answer = client.get("/api/search", params={"q": "lamp", "where": [f"f{n}=1" for n in range(10)]})
    assert (answer.status_code, answer.json()["results"]) == (200, [])
    assert client.get("/api/search", params={"q": "lamp", "where": "year=1991"}).json()["results"][0]["id"] == "d1"
    assert client.get("/api/search", params={"q": "lamp", "where": [f"f{n}=1" for n in range(11)]}).status_code == 400
    assert set((folder / "c").rglob("*")) == before


def test_a_batch_with_a_bad_document_adds_none(client):
    documents = [{"id": f"new{n}", "lang": "en", "text": f"novel {n}"} for n in range(54)]
    documents.append({"id": "bad", "lang": "en", "text": "novel", "meta": {"n": 2**70}})
    assert client.post("/api/documents", json=documents).status_code == 400
    assert client.get("/api/ready").json()["collections"] == {"c": 6}
    assert client.get("/api/documents/new0").status_code == 404


def test_two_windows_change_the_glossary_independently(client):
    for pair in PAIRS:
        assert client.patch("/api/glossary", json={"add": [pair]}).status_code == 200
    pairs = client.patch("/api/glossary", json={"remove": [PAIRS[0]], "add": [PAIRS[1]]}).json()["pairs"]
    assert pairs == PAIRS[1:]
    client.put("/api/glossary", json={"pairs": []})


def test_answers_do_not_name_folders_of_the_server(client, folder):
    (result,) = client.get("/api/search", params={"q": "kite", "lang": "en", "k": 1}).json()["results"]
    assert result["meta"]["path"] == "below/a.en.txt"
    assert client.get(f"/api/documents/{result['id']}").json()["meta"]["path"] == "below/a.en.txt"
    with_folder = library_of(client)["c"].get([result["id"]])[0].meta["path"]
    assert with_folder == str(folder / "files" / "below" / "a.en.txt")  # for who asks on this machine
    library_of(client)["c"].add([Document("far", "far away", "en", meta={"path": "C:\\Users\\me\\b.txt"})])
    assert client.get("/api/documents/far").json()["meta"]["path"] == "b.txt"
    library_of(client)["c"].delete(["far"])


def test_the_number_of_words_in_a_query_is_limited(client):
    for q in ("日" * 1000, "a " * 300):
        assert client.get("/api/search", params={"q": q}).status_code == 422
    assert client.get("/api/search", params={"q": "what is 日本語 and why?", "lang": "en"}).status_code == 200


def test_guessing_keys_is_slowed_down(serve):
    client = serve(keys=KEYS, host="books.example", loopback=False)
    statuses = [client.get("/api/search?q=lamp", headers=bearer(f"{n:020}")).status_code for n in range(30)]
    assert statuses == [401] * 20 + [429] * 10
    with_right_key = client.get("/api/search?q=lamp", headers=bearer(READ))
    assert (with_right_key.status_code, int(with_right_key.headers["retry-after"]) > 0) == (429, True)
    assert client.get("/api/health").status_code == 200


def test_wrong_keys_are_forgotten_after_a_while_and_counted_for_a_limited_number_of_networks(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("paragloss.server.keys.time.monotonic", lambda: clock[0])
    monkeypatch.setattr("paragloss.server.keys.MAX_WRONG_KEYS", 2)
    monkeypatch.setattr("paragloss.server.keys.MAX_NETWORKS", 3)
    guesses = WrongKeys()
    assert [guesses.count_wrong_key("2001:db8::1"), guesses.count_wrong_key("2001:db8::2")] == [False, True]
    assert (guesses.seconds_to_wait("2001:db8::ffff"), guesses.seconds_to_wait("2001:db9::1")) == (60, 0)
    clock[0] = 61.0
    assert guesses.seconds_to_wait("2001:db8::1") == 0
    for number in range(4):  # the first of four networks is forgotten
        guesses.count_wrong_key(f"10.0.0.{number}")
    assert [guesses.count_wrong_key(f"10.0.0.{number}") for number in (0, 2)] == [False, True]


def send_request(app, headers, body):
    """What is answered, and how much of the body was read for it."""
    chunks_read, messages = [], []

    async def receive():
        if chunks_read and len(chunks_read) == len(body):
            await asyncio.sleep(60)
        chunks_read.append(body[len(chunks_read)])
        return {"type": "http.request", "body": chunks_read[-1], "more_body": True}

    async def send(message):
        messages.append(message)

    scope = {"type": "http", "method": "POST", "path": "/api/files", "raw_path": b"/api/files", "query_string": b""}
    scope |= {"headers": [(b"host", b"localhost"), *headers], "http_version": "1.1", "scheme": "http", "root_path": ""}
    asyncio.run(app(scope | {"client": ("10.0.0.1", 1), "server": ("localhost", 80)}, receive, send))
    return messages[0]["status"], len(chunks_read)


def test_the_key_is_checked_before_the_body_is_read_and_a_stalled_body_ends(serve):
    client = serve(limits=DEFAULT._replace(patience=0.2), keys=KEYS)
    form = (b"content-type", b"multipart/form-data; boundary=x")
    body = [b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n', b"a" * 9]
    for key, status in ((None, 401), (READ, 403)):
        headers = [form, *([(b"authorization", f"Bearer {key}".encode())] if key else [])]
        assert send_request(client.app, headers, body) == (status, 0)
    assert send_request(client.app, [form, (b"authorization", f"Bearer {WRITE}".encode())], body) == (408, 2)


def test_abandoned_searches_count_until_they_end_and_closing_ends_them(folder):
    def endless(collection, deadline):
        has_begun.set()
        while True:
            deadline.check()
            time.sleep(0.01)

    def stubborn(collection, deadline):
        may_end.wait(60)

    def wait_for_error():
        with pytest.raises(DeadlineError):
            asyncio.run(library.search("client", "c", endless))

    async def history():
        with pytest.raises(DeadlineError):
            await library.search("client", "c", stubborn)
        assert library.waiting == 1  # nobody waits for it, and it runs
        with pytest.raises(BusyError):
            await library.search("client", "c", stubborn)
        may_end.set()
        while library.waiting:
            await asyncio.sleep(0.01)

    has_begun, may_end = threading.Event(), threading.Event()
    library = Library.open([str(folder / "c")], DEFAULT._replace(seconds=0.2, waiting=1))
    asyncio.run(history())
    library.limits = DEFAULT._replace(seconds=600)
    waiter = threading.Thread(target=wait_for_error)
    waiter.start()
    has_begun.wait()
    library.close()
    waiter.join(60)
    assert not waiter.is_alive()


_STUBBORN = """
import sys, time
import paragloss.server.answers as answers, paragloss.server.run
module = sys.modules["paragloss.server.run"]
module.GRACEFUL_SECONDS, module.CLOSING_SECONDS = 1, 2
answers.find_documents = lambda *arguments, **options: time.sleep(600)
module.serve([sys.argv[1]], port=int(sys.argv[2]))
"""


def test_a_server_ends_on_request_although_a_search_hangs(folder):
    (port,) = find_free_ports(1)
    process = subprocess.Popen(
        [sys.executable, "-c", _STUBBORN, str(folder / "c"), str(port)], stderr=subprocess.PIPE, text=True
    )
    for _ in range(2400):
        with suppress(OSError), socket.create_connection(("localhost", port)) as connection:
            connection.sendall(b"GET /api/search?q=lamp HTTP/1.1\r\nHost: localhost\r\n\r\n")
            time.sleep(1)
            process.terminate()
            log = process.communicate(timeout=60)[1]
            assert "in <lambda>" in log  # who would not end is named
            return
        time.sleep(0.05)
    process.kill()
    raise AssertionError("it did not start")


@pytest.mark.parametrize("manifest", [b"", b"{", b"[]", b"{}", b'{"format": 1}', b'{"format": 1, "parts": 3}', b"\xff"])
def test_a_broken_backup_is_an_error_of_one_line(tmp_path, manifest):
    with tarfile.open(tmp_path / "b.tar", "w") as archive:
        entry = tarfile.TarInfo("manifest.json")
        entry.size = len(manifest)
        archive.addfile(entry, io.BytesIO(manifest))
    with pytest.raises(InputError, match="no whole backup"):
        restore(str(tmp_path / "b.tar"), str(tmp_path / "c"))
    assert not (tmp_path / "c").exists()


def test_unknown_methods_are_counted_together(client):
    for number in range(5):
        client.request(f"FOO{number}", "/api/health")
    assert 'method="other"' in client.get("/metrics").text
    assert "FOO" not in client.get("/metrics").text
    assert json.loads(client.get("/api/openapi.json").text)["paths"]["/api/glossary"]["patch"]
