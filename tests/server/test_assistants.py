"""A collection as an assistant sees it, through the protocol's own client, over both transports."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest
from free_ports import find_free_ports

from paragloss import demo
from paragloss.collection import Collection
from paragloss.server.assistants import build_mcp_application, build_mcp_server
from paragloss.server.keys import Keys

mcp = pytest.importorskip("mcp", reason="the Model Context Protocol's library: paragloss[serve]")

CALLS = [
    ("search", {"query": "how do bees make honey", "to": "fr", "k": 1}),
    ("read", {"id": "honey-bee.fr"}),
    ("gloss", {"text": "L'abeille vit dans une ruche.", "to": "en", "lang": "fr"}),
    ("explain", {"query": "how do bees make honey", "id": "honey-bee.fr", "lang": "en"}),
    ("read", {"id": "nobody"}),
    ("search", {"query": "bee", "lang": "klingon"}),
]


@pytest.fixture(scope="module")
def location(tmp_path_factory) -> str:
    path = str(tmp_path_factory.mktemp("assistants") / "library")
    with Collection.create(path) as collection:
        collection.index(document for document in demo.documents() if document.lang in ("en", "fr"))
    return path


def talk(server):
    """List the tools of a server and make all calls."""

    async def connect():
        async with mcp.Client(server) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, arguments) for name, arguments in CALLS]

    return asyncio.run(connect())


def content_of(result):
    return result.structured_content or json.loads(result.content[0].text)


def check_answers(tools, answers) -> None:
    search, read, gloss, explanation, missing, wrong = answers
    assert {tool.name for tool in tools} == {"search", "read", "gloss", "explain"}
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert content_of(search)["results"][0]["id"] == "honey-bee.fr"
    assert content_of(read)["title"] == "Abeille"
    meanings = [word["meanings"][0]["text"] for word in content_of(gloss)["words"] if word["meanings"]]
    assert "bee" in meanings
    pairs = [pair for part in content_of(explanation)["parts"] for pair in part["pairs"]]
    assert any(pair["query"] == "bees" and pair["document"].lower() == "abeille" for pair in pairs)
    assert missing.is_error
    assert wrong.is_error
    assert "klingon" in wrong.content[0].text


def test_an_assistant_searches_reads_glosses_and_explains_and_can_change_nothing(location):
    with Collection.open(location) as collection:
        check_answers(*talk(build_mcp_server(collection)))


def test_a_client_starts_the_server_and_talks_over_standard_input_and_output(location):
    parameters = mcp.StdioServerParameters(command=sys.executable, args=["-m", "paragloss", "mcp", location])
    check_answers(*talk(parameters))


def test_a_client_reaches_the_server_over_http(location):
    (port,) = find_free_ports(1)
    command = [sys.executable, "-m", "paragloss", "mcp", location, "--http", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().split()[0]
        assert address == f"http://localhost:{port}/mcp"
        check_answers(*talk(address))
    finally:
        server.terminate()
        server.wait(timeout=30)


def test_the_http_transport_needs_a_key_where_there_are_some_and_refuses_other_sites(location):
    from starlette.testclient import TestClient

    with Collection.open(location) as collection:
        open_server = TestClient(build_mcp_application(collection), base_url="http://localhost")
        assert open_server.post("/mcp", headers={"origin": "https://evil.example"}).status_code == 403
        assert open_server.post("/mcp", headers={"host": "evil.example"}).status_code == 421
        locked = build_mcp_application(collection, keys=Keys({"r" * 20: "read"}))
        assert TestClient(locked, base_url="http://localhost").post("/mcp").status_code == 401
