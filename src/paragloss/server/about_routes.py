"""Routes about the server and its collections: health, readiness, metrics, models and the glossary."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, PlainTextResponse

from paragloss import __version__
from paragloss.collection import Collection
from paragloss.server import schemas
from paragloss.server.requests import Here, may_write, problems, serving, with_key
from paragloss.translation.glossary import Pair

#: Titles that are told of a collection, as questions it can answer.
EXAMPLES = 3

routes = APIRouter(tags=["about"])


@routes.get("/api/health", response_model=schemas.Health)
async def health() -> JSONResponse:
    """Whether the process answers. Needs no key and says nothing of what is kept."""
    return JSONResponse({"status": "ok", "version": __version__})


@routes.get("/api/ready", response_model=schemas.Ready, responses=problems(503), dependencies=with_key)
async def ready(request: Request) -> JSONResponse:
    """Whether every collection can be searched."""
    library = serving(request).library
    return JSONResponse({"ready": True, "collections": await library.read(lambda: _sizes(library.engines))})


@routes.get("/metrics", response_class=PlainTextResponse, dependencies=with_key, responses=problems(503))
async def metrics(request: Request) -> PlainTextResponse:
    """Counts and durations in Prometheus' text format."""
    served = serving(request)
    sizes = await served.library.read(lambda: _sizes(served.library.engines))
    return PlainTextResponse(served.metrics.text(sizes, served.library.waiting), media_type="text/plain; version=0.0.4")


@routes.get("/api/collections", response_model=schemas.Collections, responses=problems(503), dependencies=with_key)
async def collections(request: Request, writable: Annotated[bool, Depends(may_write)]) -> JSONResponse:
    """What there is to search."""
    served = serving(request)
    library, here = served.library, {"writable": writable, "originals": served.originals}

    def work() -> list[dict[str, Any]]:
        return [{**_told(name, engine), **here} for name, engine in library.engines.items()]

    return JSONResponse({"collections": await library.read(work), "version": __version__})


@routes.get("/api/models", response_model=schemas.Models, responses=problems(503), dependencies=with_key)
async def models(request: Request) -> JSONResponse:
    """The models of every collection and how they were made."""
    library = serving(request).library

    def work() -> dict[str, Any]:
        return {name: engine.summary()["models"] for name, engine in library.engines.items()}

    return JSONResponse({"models": await library.read(work)})


@routes.get("/api/glossary", response_model=schemas.Glossary, responses=problems(), dependencies=with_key)
async def glossary(here: Here) -> JSONResponse:
    """The reader's own words."""
    return JSONResponse({"pairs": [pair._asdict() for pair in here.engine.glossary]})


@routes.put("/api/glossary", response_model=schemas.Glossary, responses=problems(408, 413), dependencies=with_key)
async def write_glossary(here: Here, glossary: schemas.Glossary) -> JSONResponse:
    """Replace the reader's own words; they count from the next query on."""
    pairs = [Pair(**pair.model_dump()) for pair in glossary.pairs]
    await here.library.write(lambda: here.engine.write_glossary(pairs))
    return JSONResponse({"pairs": [pair._asdict() for pair in here.engine.glossary]})


@routes.patch("/api/glossary", response_model=schemas.Glossary, responses=problems(408, 413), dependencies=with_key)
async def change_glossary(here: Here, change: schemas.GlossaryChange) -> JSONResponse:
    """Take pairs out of the reader's own words and put others in; who changes others meanwhile loses nothing."""
    some = [[Pair(**pair.model_dump()) for pair in pairs] for pairs in (change.remove, change.add)]
    await here.library.write(lambda: here.engine.change_glossary(remove=some[0], add=some[1]))
    return JSONResponse({"pairs": [pair._asdict() for pair in here.engine.glossary]})


def _told(name: str, engine: Collection) -> dict[str, Any]:
    titled = [(d.title, d.lang) for d in engine.documents(k=4 * EXAMPLES) if 0 < len(d.title) < 60]
    return {"name": name, **engine.summary(), "examples": titled[:EXAMPLES], "engine": engine.state.machine.engine}


def _sizes(engines: dict[str, Collection]) -> dict[str, int]:
    return {name: engine.count() for name, engine in engines.items()}
