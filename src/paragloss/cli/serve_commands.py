"""Commands that serve: to people and programs over HTTP, to assistants by the Model Context Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from paragloss.cli.help_layout import COMMON
from paragloss.cli.program import Location, app
from paragloss.errors import InputError

if TYPE_CHECKING:
    from paragloss.server.configuration import ServerConfiguration


@app.command(rich_help_panel=COMMON)
def serve(
    collections: Annotated[
        list[str] | None, typer.Argument(metavar="[COLLECTION...]", help="Folders, or qdrant+http://host:port/name.")
    ] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port.")] = 8000,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but this machine's own needs --keys.")
    ] = "127.0.0.1",
    keys: Annotated[str, typer.Option(help="File of API keys, one `read KEY` or `write KEY` per line.")] = "",
    allow_origin: Annotated[
        list[str] | None, typer.Option(help="Allow pages of this site to call the API (CORS). Repeatable.")
    ] = None,
    workers: Annotated[int, typer.Option(min=0, help="Extra search processes, for many users at once.")] = 0,
    log_queries: Annotated[bool, typer.Option("--log-queries", help="Write queries to the log.")] = False,
    config: Annotated[
        str, typer.Option(metavar="FILE", help="TOML file with all of this and sources to watch, instead of options.")
    ] = "",
) -> None:
    """Serve collections over HTTP, with a search page."""
    from paragloss.server.configuration import ServerConfiguration

    if config:
        configuration = _read_configuration(config, collections)
    elif collections:
        configuration = ServerConfiguration(
            collections=tuple(collections),
            host=host,
            port=port,
            keys=keys,
            origins=tuple(allow_origin or ()),
            workers=workers,
            log_queries=log_queries,
        )
    else:
        raise InputError("no COLLECTION given: name at least one folder or address, or a file with --config")
    _serve_configured(configuration)


def _read_configuration(path: str, collections: list[str] | None) -> ServerConfiguration:
    """Read a configuration file, and allow the hosts that it names.

    :param path: of the file
    :param collections: those given on the command line
    :raises InputError: if collections are given in both places, or the file can't be read
    """
    from paragloss import hosts
    from paragloss.server.configuration import read_configuration

    if collections:
        raise InputError(f"collections are given by {path} and on the command line: name them in one place")
    configuration = read_configuration(path)
    for allowed_host in configuration.allowed_hosts:
        hosts.allow_host(allowed_host, remember=False)
    return configuration


def _serve_configured(configuration: ServerConfiguration) -> None:
    """Serve until a signal ends it."""
    from paragloss.server import serve as serve_collections

    serve_collections(
        configuration.collections,
        host=configuration.host,
        port=configuration.port,
        keys=configuration.keys or None,
        origins=configuration.origins,
        log_queries=configuration.log_queries,
        workers=configuration.workers,
        watch=configuration.watch,
        on_start=_print_address,
    )


def _print_address(address: str) -> None:
    print(f"{address}  (Ctrl-C stops it)", flush=True)


@app.command(rich_help_panel=COMMON)
def mcp(
    collection: Location,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of standard input and output.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port, with --http.")] = 8001,
    host: Annotated[str, typer.Option(help="Address to listen on, with --http.")] = "127.0.0.1",
    keys: Annotated[str, typer.Option(help="File of API keys, with --http.")] = "",
) -> None:
    """Let an AI assistant search a collection (Model Context Protocol)."""
    from paragloss.server import assistants

    if http:
        assistants.serve_http(collection, host=host, port=port, keys=keys or None, on_start=_print_address)
    else:
        assistants.serve_stdio(collection)
