"""The page asks before anything is sent to a host that a collection names."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from serving_process import ServerProcess

from paragloss import hosts
from paragloss.collection import Collection
from paragloss.types import Document

DOCUMENTS = [Document("bee", "the bee makes honey", "en"), Document("owl", "the owl sleeps", "en")]


@pytest.fixture
def encoder():
    """A server of embeddings on this machine, and the list of texts that were sent to it."""
    texts = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))["input"]
            texts.extend(asked)
            rows = [[float(text.count(letter)) + 1 for letter in "abc"] for text in asked]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(
                json.dumps({"data": [{"index": i, "embedding": row} for i, row in enumerate(rows)]}).encode()
            )

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}", texts
    server.shutdown()
    server.server_close()


@pytest.fixture
def running(browser, tmp_path, encoder, monkeypatch):
    """A server of a user who got a collection whose author encoded it with a server, and has allowed nothing yet."""
    host, texts = encoder
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "author"))
    monkeypatch.setenv(hosts.ALLOWED_HOSTS_VARIABLE, "")
    with Collection.create(str(tmp_path / "collection"), models=[f"http://{host}/v1#letters"]) as collection:
        collection.index(DOCUMENTS)
    assert texts
    texts.clear()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "reader"))
    monkeypatch.setenv(hosts.ALLOWED_HOSTS_VARIABLE, "")
    server = ServerProcess(str(tmp_path / "collection")).wait()
    yield server
    server.stop()


def test_a_host_is_asked_for_on_the_page_and_contacted_only_once_it_is_allowed(open_window, running, encoder):
    host, texts = encoder
    window = open_window(running.address)
    page = window.open_results("/?q=honey&lang=en")
    assert host in page.locator("#consent").inner_text()
    assert texts == []
    page.get_by_role("button", name=f"Allow {host}").click()
    page.wait_for_selector("#consent", state="hidden")
    window.search("sleep")
    assert any("sleep" in text for text in texts)
    assert window.complaints == []
