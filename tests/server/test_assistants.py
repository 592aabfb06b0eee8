"""A collection as an assistant sees it, through the protocol's own client."""

import asyncio
import json

import pytest

from paragloss.collection import Collection
from paragloss.server.assistants import build

mcp = pytest.importorskip("mcp", reason="the Model Context Protocol's library: paragloss[serve]")


def call(engine, *calls):
    async def talk():
        async with mcp.Client(build(engine)) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, arguments) for name, arguments in calls]

    return asyncio.run(talk())


def said(result):
    return result.structured_content or json.loads(result.content[0].text)


def test_an_assistant_searches_and_reads_and_can_change_nothing(collection):
    with Collection.open(collection) as engine:
        tools, (found, shown, missing, wrong) = call(
            engine,
            ("search", {"query": "how do bees make honey", "to": "fr", "k": 1}),
            ("show", {"id": "honey-bee.fr"}),
            ("show", {"id": "nobody"}),
            ("search", {"query": "bee", "lang": "klingon"}),
        )
    assert {tool.name for tool in tools} == {"search", "show"}
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert said(found)["results"][0]["id"] == "honey-bee.fr"
    assert said(shown)["title"] == "Abeille"
    assert missing.is_error
    assert wrong.is_error
    assert "klingon" in wrong.content[0].text
