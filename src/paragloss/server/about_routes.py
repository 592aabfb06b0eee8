"""Routes about the server and its collections: health, readiness, metrics, models, the glossary and allowed hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import JSONResponse, PlainTextResponse

from paragloss import __version__, hosts
from paragloss.collection import Collection, Deadline
from paragloss.server import schemas
from paragloss.server.library import Library
from paragloss.server.requests import Context, describe_errors, get_app_state, get_client, key_required, may_write
from paragloss.translation.glossary import Pair

T = TypeVar("T")
#: Titles of a collection that are offered as example questions.
MAX_EXAMPLES = 3
#: Longest title that is offered, in characters.
MAX_EXAMPLE_LENGTH = 60

routes = APIRouter(tags=["about"])


@routes.get("/api/health", response_model=schemas.HealthResponse)
async def check_health() -> JSONResponse:
    """Say that the process answers. Needs no key and says nothing about the collections."""
    return JSONResponse({"status": "ok", "version": __version__})


@routes.get(
    "/api/ready", response_model=schemas.ReadyResponse, responses=describe_errors(503), dependencies=key_required
)
async def check_ready(request: Request) -> JSONResponse:
    """Say whether every collection can be searched."""
    return JSONResponse({"ready": True, "collections": await _count_documents(request)})


@routes.get("/metrics", response_class=PlainTextResponse, dependencies=key_required, responses=describe_errors(503))
async def show_metrics(request: Request) -> PlainTextResponse:
    """Return counts and durations in Prometheus' text format."""
    state = get_app_state(request)
    text = state.metrics.format_metrics(await _count_documents(request), state.library.waiting)
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


@routes.get(
    "/api/collections",
    response_model=schemas.CollectionsResponse,
    responses=describe_errors(503),
    dependencies=key_required,
)
async def list_collections(
    request: Request,
    writable: Annotated[bool, Depends(may_write)],
    reader: Annotated[str, Query(description="The reader's language: examples in it come first.", max_length=35)] = "",
) -> JSONResponse:
    """List the collections that can be searched."""
    summaries = await _read_collections(request, partial(_summarize_collection, reader=reader))
    rights = {"writable": writable, "originals": get_app_state(request).is_personal}
    collections = [{"name": name, **summary, **rights} for name, summary in summaries.items()]
    return JSONResponse({"collections": collections, "version": __version__})


@routes.get(
    "/api/models", response_model=schemas.ModelsResponse, responses=describe_errors(503), dependencies=key_required
)
async def list_models(request: Request) -> JSONResponse:
    """List the models of every collection and how they were made."""
    return JSONResponse({"models": await _read_collections(request, _list_models)})


@routes.get(
    "/api/glossary", response_model=schemas.GlossaryContent, responses=describe_errors(), dependencies=key_required
)
async def get_glossary(context: Context) -> JSONResponse:
    """Return the reader's own glossary."""
    return _show_glossary(context.collection)


@routes.put(
    "/api/glossary",
    response_model=schemas.GlossaryContent,
    responses=describe_errors(408, 413),
    dependencies=key_required,
)
async def replace_glossary(context: Context, glossary: schemas.GlossaryContent) -> JSONResponse:
    """Replace the reader's own glossary; it takes effect with the next query."""
    pairs = _parse_pairs(glossary.pairs)
    await context.write(lambda: context.collection.write_glossary(pairs))
    return _show_glossary(context.collection)


@routes.patch(
    "/api/glossary",
    response_model=schemas.GlossaryContent,
    responses=describe_errors(408, 413),
    dependencies=key_required,
)
async def change_glossary(context: Context, change: schemas.GlossaryChange) -> JSONResponse:
    """Remove pairs from the reader's own glossary and add others; changes that others make meanwhile are kept."""
    removed, added = _parse_pairs(change.remove), _parse_pairs(change.add)
    await context.write(lambda: context.collection.change_glossary(remove=removed, add=added))
    return _show_glossary(context.collection)


@routes.post(
    "/api/hosts", response_model=schemas.HostConsent, responses=describe_errors(408, 413), dependencies=key_required
)
async def allow_host(request: Request, consent: schemas.HostConsent) -> JSONResponse:
    """Allow this machine to contact a host that a model or translation engine of a collection names.

    Only the user of this machine can do that: on a server with keys, allow hosts in its configuration.
    """
    state = get_app_state(request)
    if not state.is_personal:
        raise HTTPException(403, "hosts are allowed on the server itself: start it with --allow-host HOST")
    await state.library.write(get_client(request), lambda: _allow_host(state.library, consent.host))
    return JSONResponse({"host": consent.host})


def _allow_host(library: Library, host: str) -> None:
    """Allow a host, and load the models that need it, in this process and in the workers."""
    hosts.allow_host(host)
    for collection in library.collections.values():
        collection.state.load_models()
    library.restart_workers()


async def _read_collections(request: Request, read: Callable[[Collection], T]) -> dict[str, T]:
    """Read something of every collection in a thread; return it by the collection's name."""
    library = get_app_state(request).library
    return await library.read(get_client(request), partial(_read_each, library.collections, read))


def _read_each(
    collections: Mapping[str, Collection], read: Callable[[Collection], T], deadline: Deadline
) -> dict[str, T]:
    results = {}
    for name, collection in collections.items():
        deadline.check()
        results[name] = read(collection)
    return results


def _summarize_collection(collection: Collection, reader: str) -> dict[str, Any]:
    """Return what the page shows of a collection before a search.

    :param reader: the reader's language; examples are in it if the collection has documents in it.
    """
    conditions = {"lang": [reader]} if reader in collection.langs else None
    examples = _list_examples(collection, conditions) or _list_examples(collection, None)
    return {
        **collection.summary(),
        "examples": examples[:MAX_EXAMPLES],
        "engine": collection.state.engine_settings.engine,
        "hosts_awaiting_consent": list(collection.state.hosts_awaiting_consent),
    }


def _list_models(collection: Collection) -> Any:
    return collection.summary()["models"]


def _list_examples(collection: Collection, conditions: dict[str, Any] | None) -> list[tuple[str, str]]:
    """List short titles of documents as example questions, each with its language.

    :param conditions: what the documents must meet; None for any.
    """
    documents = collection.documents(where=conditions, k=4 * MAX_EXAMPLES)
    return [(d.title, d.lang) for d in documents if 0 < len(d.title) < MAX_EXAMPLE_LENGTH]


async def _count_documents(request: Request) -> dict[str, int]:
    return await _read_collections(request, Collection.count)


def _parse_pairs(pairs: list[schemas.GlossaryPair]) -> list[Pair]:
    return [Pair(**pair.model_dump()) for pair in pairs]


def _show_glossary(collection: Collection) -> JSONResponse:
    return JSONResponse({"pairs": [pair._asdict() for pair in collection.glossary]})
