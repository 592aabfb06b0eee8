"""The application: routes, guard and page put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from paragloss import __version__
from paragloss.server import about_routes, document_routes, feed_routes, search_routes
from paragloss.server import upload_routes as uploads
from paragloss.server.guard import Guard
from paragloss.server.keys import Keys
from paragloss.server.library import Library
from paragloss.server.metrics import Metrics
from paragloss.server.requests import Serving, answer_errors

_ABOUT = (
    'Search documents in languages you don\'t read, and see why each one matched. Errors are `{"error": ...}` with one '
    "line that says what was wrong and what to do. Off loopback every request needs `Authorization: Bearer KEY`."
)


def build(
    library: Library,
    *,
    keys: Keys | None = None,
    loopback: bool = True,
    origins: Sequence[str] = (),
    log_queries: bool = False,
) -> FastAPI:
    """An application that serves a library and closes it when it stops."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        library.warm()
        for route in app.routes:  # FastAPI prepares them when it first looks for one: not while somebody waits
            route.matches({"type": "http", "method": "GET", "path": "/", "root_path": "", "headers": []})
        yield
        library.close()

    # No page of FastAPI's own: it would load scripts from elsewhere.
    app = FastAPI(
        title="Paragloss",
        version=__version__,
        description=_ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    metrics = Metrics()
    keys = keys or Keys()
    app.state.serving = Serving(library, keys, metrics, originals=loopback and not keys)
    answer_errors(app)
    for routes in (
        search_routes.routes,
        feed_routes.routes,
        document_routes.routes,
        uploads.routes,
        about_routes.routes,
    ):
        app.include_router(routes)
    app.mount("/", StaticFiles(directory=Path(str(files("paragloss") / "page")), html=True), name="page")
    if origins:
        from starlette.middleware.cors import CORSMiddleware

        headers = ["authorization", "content-type"]
        app.add_middleware(CORSMiddleware, allow_origins=list(origins), allow_methods=["*"], allow_headers=headers)
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
