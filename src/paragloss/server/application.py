"""The application: routes, guard and page put together."""

from __future__ import annotations

import faulthandler
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from paragloss import __version__
from paragloss.server import about_routes, document_routes, feed_routes, search_routes, upload_routes
from paragloss.server.guard import Guard
from paragloss.server.keys import Keys
from paragloss.server.library import Library
from paragloss.server.metrics import Metrics
from paragloss.server.requests import AppState, answer_errors

_DESCRIPTION = (
    'Search documents in languages you don\'t read, and see why each one matched. Errors are `{"error": ...}` with one '
    "line that says what was wrong and what to do. Off loopback every request needs `Authorization: Bearer KEY`."
)
_ROUTERS = (
    search_routes.routes,
    feed_routes.routes,
    document_routes.routes,
    upload_routes.routes,
    about_routes.routes,
)


def build_application(
    library: Library,
    *,
    keys: Keys | None = None,
    loopback: bool = True,
    origins: Sequence[str] = (),
    log_queries: bool = False,
    shutdown_seconds: float | None = None,
) -> FastAPI:
    """Build the application that serves a library and closes it when it stops.

    :param keys: the keys that requests need; none for a server of this machine only.
    :param loopback: whether the server can be reached from this machine only.
    :param origins: other sites whose pages may ask.
    :param log_queries: whether queries are written to the log.
    :param shutdown_seconds: how long closing may take before the process ends anyway; None for ever.
    """
    app = _build_bare_application(library, shutdown_seconds)
    metrics = Metrics()
    keys = keys or Keys()
    app.state.paragloss = AppState(library, keys, metrics, is_personal=loopback and not keys)
    answer_errors(app)
    for router in _ROUTERS:
        app.include_router(router)
    page_folder = Path(str(files("paragloss") / "page"))
    app.mount("/", StaticFiles(directory=page_folder, html=True), name="page")
    if origins:
        _allow_origins(app, origins)
    app.add_middleware(
        Guard,
        limits=library.limits,
        metrics=metrics,
        keys=keys,
        loopback=loopback,
        origins=origins,
        log_queries=log_queries,
    )
    return app


def _allow_origins(app: FastAPI, origins: Sequence[str]) -> None:
    """Let pages of other sites call the API (CORS)."""
    from starlette.middleware.cors import CORSMiddleware

    headers = ["authorization", "content-type"]
    app.add_middleware(CORSMiddleware, allow_origins=list(origins), allow_methods=["*"], allow_headers=headers)


def _build_bare_application(library: Library, shutdown_seconds: float | None) -> FastAPI:
    """Build the application without routes; it starts the library's maintenance and closes the library."""
    # No documentation page of FastAPI: it would load scripts from elsewhere.
    return FastAPI(
        title="Paragloss",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=partial(_run_library, library, shutdown_seconds),
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )


@asynccontextmanager
async def _run_library(library: Library, shutdown_seconds: float | None, app: FastAPI) -> AsyncIterator[None]:
    """Start the library's maintenance before the application runs, and close the library afterwards."""
    library.start_maintenance()
    for route in app.routes:  # FastAPI prepares them at the first request: not while somebody waits
        route.matches({"type": "http", "method": "GET", "path": "/", "root_path": "", "headers": []})
    yield
    with _exit_after(shutdown_seconds):
        library.close()


@contextmanager
def _exit_after(seconds: float | None) -> Iterator[None]:
    """End the process, and print what every thread is doing, if the block takes longer than some seconds."""
    if seconds is None:
        yield
        return
    # This timer needs no interpreter lock: it also ends a process whose threads never give it up.
    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
