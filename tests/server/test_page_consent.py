"""The page asks before anything is sent to a host that a collection names."""

from __future__ import annotations

import pytest
from json_servers import run_json_server
from serving_process import ServerProcess

from paragloss import hosts
from paragloss.collection import Collection
from paragloss.types import Document

DOCUMENTS = [Document("bee", "the bee makes honey", "en"), Document("owl", "the owl sleeps", "en")]


@pytest.fixture
def encoder():
    """A server of embeddings on this machine, and the list of texts that were sent to it."""
    texts = []

    def encode(request):
        texts.extend(request["input"])
        rows = [[float(text.count(letter)) + 1 for letter in "abc"] for text in request["input"]]
        return {"data": [{"index": i, "embedding": row} for i, row in enumerate(rows)]}

    with run_json_server(encode) as host:
        yield host, texts


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
    with ServerProcess(str(tmp_path / "collection")) as server:
        yield server


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
