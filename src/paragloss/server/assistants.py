"""A collection for assistants, by the Model Context Protocol: two tools, search and show, that change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paragloss import __version__
from paragloss.errors import MissingExtraError, ParaglossError

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from paragloss.collection import Collection

MOST, LONGEST = 50, 20_000


def build(engine: Collection) -> MCPServer:
    """The protocol's server over an open collection."""
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp_types import ToolAnnotations
    except ImportError:
        raise MissingExtraError("serving assistants", "serve") from None

    info = engine.info()
    langs = ", ".join(f"{lang} {count}" for lang, count in info["languages"].items())
    server = MCPServer(
        "paragloss",
        version=__version__,
        instructions=f"Searches {info['documents']} documents across languages (by language: {langs}). Ask in "
        "any language; documents in others are found too. `search` finds, `show` gives a document's text.",
    )
    harmless = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

    @server.tool(annotations=harmless, structured_output=True)
    def search(query: str, lang: str = "", to: str = "", k: int = 10) -> dict[str, Any]:
        """Find documents in any language. lang: the query's language, found out when not given; to: languages of
        documents such as "da,it", all by default; k: how many, at most 50."""
        targets = [code for code in to.split(",") if code] or None
        try:
            found = engine.search(query[:1000], lang=lang or None, to=targets, k=max(1, min(k, MOST)))
            shown = [result._replace(meta=engine.without_folders(result.meta)) for result in found.results]
            return found._replace(results=shown).as_json()
        except ParaglossError as error:
            raise ToolError(str(error)) from error

    @server.tool(annotations=harmless, structured_output=True)
    def show(id: str, start: int = 0) -> dict[str, Any]:
        """The text of a document by its id, 20,000 characters from `start` on; `length` says how many there are."""
        document = engine.get([id])[0]
        if document is None:
            raise ToolError(f"no document {id!r}: take an id that search gave")
        begin = max(start, 0)
        return {
            "id": document.id,
            "lang": document.lang,
            "title": document.title,
            "text": document.text[begin : begin + LONGEST],
            "length": len(document.text),
            "meta": engine.without_folders(document.meta),
        }

    return server


def serve(collection: str) -> None:
    """Talk to one assistant over standard input and output until it hangs up."""
    from paragloss.collection import Collection

    with Collection.open(collection) as engine:
        build(engine).run("stdio")
