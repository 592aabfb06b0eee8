"""A collection for AI assistants, by the Model Context Protocol: tools that search, read, gloss and explain.

The tools change nothing. A client starts the server itself and talks over standard input and output, or reaches it over
HTTP, where the same checks of host, origin and key apply as for the search page.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from paragloss import __version__
from paragloss.collection import Collection, Deadline, SearchOptions
from paragloss.errors import MissingExtraError, ParaglossError
from paragloss.server.answers import explain_document, find_documents, gloss_text, show_document
from paragloss.server.keys import Keys, is_loopback, require_keys
from paragloss.server.limits import DEFAULT
from paragloss.server.run import format_address, open_port, serve_until_signal

if TYPE_CHECKING:
    from mcp.server import MCPServer
    from starlette.types import ASGIApp

#: Documents of an answer, and characters of a document that are read at once.
MAX_RESULTS = 50
MAX_TEXT_LENGTH = 20_000
#: Path of the HTTP transport.
MCP_PATH = "/mcp"


class CollectionTools:
    """The tools of an assistant; the docstring of each method is what the assistant is told."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def search(self, query: str, lang: str = "", to: str = "", k: int = 10) -> dict[str, Any]:
        """Find documents in any language for a query in any language.

        lang: the query's language, detected when not given; to: languages of documents such as "da,it", all by default;
        k: how many, at most 50.
        """
        options = SearchOptions(lang=lang or None, to=_split_codes(to), k=max(1, min(k, MAX_RESULTS)))
        return find_documents(self._collection, query[: DEFAULT.query], options, Deadline(DEFAULT.seconds))

    def read(self, id: str, start: int = 0) -> dict[str, Any]:
        """Return the text of a document by its id: 20,000 characters from `start` on; `length` is the length of all."""
        document = show_document(self._collection, id, Deadline(DEFAULT.seconds))
        start = max(start, 0)
        text = document["text"]
        return {
            **{name: document[name] for name in ("id", "lang", "title", "meta")},
            "text": text[start : start + MAX_TEXT_LENGTH],
            "length": len(text),
        }

    def gloss(self, text: str, to: str, lang: str = "") -> dict[str, Any]:
        """Look up the words of a text in another language: their meanings and a rough rendering.

        to: the language of the meanings, such as "en"; lang: the language of the text, detected when not given.
        """
        return gloss_text(self._collection, text[: DEFAULT.gloss], lang, to, Deadline(DEFAULT.seconds))

    def explain(self, query: str, id: str, lang: str = "") -> dict[str, Any]:
        """Explain why a search finds a document.

        Says which words of the query match which words of the document, through which translation, and what each
        contributes to the score.
        """
        options = SearchOptions(lang=lang or None)
        return explain_document(self._collection, query[: DEFAULT.query], id, options, Deadline(DEFAULT.seconds))


def build_mcp_server(collection: Collection) -> MCPServer:
    """Build the protocol's server over an open collection."""
    try:
        from mcp.server import MCPServer
        from mcp_types import ToolAnnotations
    except ImportError:
        raise MissingExtraError("serving assistants", "serve") from None

    server = MCPServer("paragloss", version=__version__, instructions=_write_instructions(collection))
    annotations = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    tools = CollectionTools(collection)
    for tool in (tools.search, tools.read, tools.gloss, tools.explain):
        server.add_tool(_report_errors(tool), annotations=annotations, structured_output=True)
    return server


def _write_instructions(collection: Collection) -> str:
    """Return what an assistant is told of a collection and of the tools."""
    info = collection.info()
    counts = ", ".join(f"{lang} {count}" for lang, count in info["languages"].items())
    return (
        f"Searches {info['documents']} documents across languages (by language: {counts}). Ask in any "
        "language; documents in others are found too. `search` finds, `read` gives a document's text, `gloss` says "
        "what words mean, `explain` says why a document was found."
    )


def serve_stdio(location: str) -> None:
    """Talk to one assistant over standard input and output until it hangs up."""
    with Collection.open(location) as collection:
        build_mcp_server(collection).run("stdio")


def serve_http(
    location: str,
    *,
    host: str = "127.0.0.1",
    port: int = 8001,
    keys: str | None = None,
    on_start: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve assistants over HTTP until SIGINT or SIGTERM.

    :param location: the folder or address of the collection.
    :param host: the address to listen on.
    :param keys: a file of keys, needed where other machines can reach `host`; a key that may read is enough.
    :param on_start: is called with the address that clients need.
    :raises InputError: if other machines can reach `host` and there are no keys.
    :raises MissingExtraError: if the packages of the server are not installed.
    """
    allowed_keys = Keys.read(keys) if keys else Keys()
    require_keys(host, allowed_keys)
    with open_port(host, port) as listener, Collection.open(location) as collection:
        app = build_mcp_application(collection, keys=allowed_keys, host=host)
        on_start(format_address(host, port) + MCP_PATH.removeprefix("/"))
        serve_until_signal(app, listener)


def build_mcp_application(collection: Collection, *, keys: Keys | None = None, host: str = "127.0.0.1") -> ASGIApp:
    """Build the application of the HTTP transport, with the checks of the search server before it."""
    app = build_mcp_server(collection).streamable_http_app(streamable_http_path=MCP_PATH, host=host)
    from paragloss.server.guard import Guard
    from paragloss.server.metrics import Metrics

    return Guard(app, limits=DEFAULT, metrics=Metrics(), keys=keys or Keys(), loopback=is_loopback(host))


def _report_errors(tool: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Turn our errors into errors of the tool, whose message the assistant reads."""
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(tool)
    def run_tool(*args: Any, **kwargs: Any) -> dict[str, Any]:
        try:
            return tool(*args, **kwargs)
        except ParaglossError as error:
            raise ToolError(" ".join(str(error).split())) from error

    return run_tool


def _split_codes(codes: str) -> list[str] | None:
    return [code for code in codes.split(",") if code] or None
