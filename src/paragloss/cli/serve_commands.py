"""Commands that serve: to people and programs over HTTP, to assistants by the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from paragloss.cli.program import Location, app


@app.command()
def serve(
    collections: Annotated[
        list[str], typer.Argument(metavar="COLLECTION...", help="Folders, or http://host:port/name.")
    ],
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where to listen.")] = 8000,
    host: Annotated[str, typer.Option(help="On which address; others than this machine's need --keys.")] = "127.0.0.1",
    keys: Annotated[str, typer.Option(help="A file with `read KEY` or `write KEY` on each line.")] = "",
    allow_origin: Annotated[
        list[str] | None, typer.Option(help="A site whose pages may ask, such as https://intranet; may be given again.")
    ] = None,
    workers: Annotated[
        int, typer.Option(min=0, help="Processes that search; 0: the server itself, which adds documents, too.")
    ] = 0,
    log_queries: Annotated[bool, typer.Option("--log-queries", help="Write down what people ask.")] = False,
) -> None:
    """Serve collections with their page until stopped."""
    from paragloss.server import run

    run(
        collections,
        host=host,
        port=port,
        keys=keys or None,
        origins=allow_origin or [],
        log_queries=log_queries,
        workers=workers,
        started=lambda address: print(f"{address}  (Ctrl-C stops it)", flush=True),
    )


@app.command()
def mcp(collection: Location) -> None:
    """Let an assistant search a collection and read its documents, over standard input and output."""
    from paragloss.server.assistants import serve as serve_assistant

    serve_assistant(collection)
