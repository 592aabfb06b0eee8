"""Routes about documents: reading one, and writing them one by one or in streams."""

from __future__ import annotations

import mimetypes
from collections import Counter
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request
from fastapi.responses import FileResponse, JSONResponse

from paragloss.errors import InputError, ParaglossError
from paragloss.formats import jsonl, rows
from paragloss.server import answers, schemas
from paragloss.server.requests import Here, Place, problems, serving, with_key
from paragloss.types import Document

#: Documents written at once, and bad lines that are listed.
BATCH, LISTED = 200, 100

#: Kinds of files that a browser shows; others it saves.
_SHOWN = {"application/pdf", "text/plain", "text/html", "image/png", "image/jpeg"}

routes = APIRouter(prefix="/api", tags=["documents"], dependencies=with_key)
Id = Annotated[str, Path(min_length=1, max_length=1000, examples=["bee.fr"])]
Offset = Annotated[int | None, Query(ge=0, description="A place in the text, in characters.")]
_NDJSON = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-ndjson": {
                "schema": {"type": "string"},
                "example": '{"id": "a", "lang": "da", "text": "En bi."}\n{"delete": "b"}\n',
            }
        },
    }
}


@routes.get("/documents/{id:path}", response_model=schemas.Document, responses=problems(503))
async def get(here: Here, id: Id) -> JSONResponse:
    """A document as it is kept."""
    return JSONResponse(await here.library.read(lambda: _shown(here, _known(here, id))))


@routes.get("/reading", response_model=schemas.Reading, responses=problems(503, 504))
async def reading(
    here: Here,
    id: Annotated[str, Query(min_length=1, max_length=1000, examples=["bee.fr"])],
    q: Annotated[str, Query(description="What was looked for, if anything.")] = "",
    lang: Annotated[str, Query(description="Its language; found out when not given.", max_length=35)] = "",
    start: Offset = None,
    before: Offset = None,
) -> JSONResponse:
    """Some paragraphs of a document: about the best passage, from `start` on, or up to `before`."""
    if len(q) > here.library.limits.query:
        raise HTTPException(422, f"q: {len(q):,} characters; at most {here.library.limits.query:,} are allowed")

    def work() -> dict[str, Any]:
        document = _known(here, id)
        told = here.engine.piece(document, q, lang=lang or None, start=start, before=before)
        return {key: value for key, value in _shown(here, document).items() if key not in ("text", "fields")} | told

    return JSONResponse(await here.library.read(work))


@routes.get("/original", response_class=FileResponse, responses=problems())
async def original(
    request: Request, here: Here, id: Annotated[str, Query(min_length=1, max_length=1000, examples=["bee.pdf"])]
) -> FileResponse:
    """The file a document was read from: on the machine of its user only, and of folders that were indexed."""
    path = await here.library.read(lambda: here.engine.original(_known(here, id).meta))
    if path is None or not serving(request).originals:
        raise HTTPException(404, f"the file of {id!r} can't be opened from here")
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    shown = "inline" if kind in _SHOWN else "attachment"
    # What is in a file must not act as this page: it is shown without scripts, forms and an origin. A PDF has none.
    safe = {} if kind == "application/pdf" else {"content-security-policy": "sandbox; default-src 'none'"}
    return FileResponse(path, media_type=kind, filename=path.name, content_disposition_type=shown, headers=safe)


@routes.post("/documents", response_model=schemas.Written, responses=problems(408, 413))
async def add(here: Here, documents: list[schemas.NewDocument]) -> JSONResponse:
    """Add or replace documents: all of them, or none where one can't be used."""
    made = [_made(document.id, document) for document in documents]
    await _add(here, made)
    return await _written(here, indexed=len(made))


@routes.put("/documents/{id:path}", response_model=schemas.Written, responses=problems(408, 413))
async def replace(here: Here, id: Id, document: schemas.NewText) -> JSONResponse:
    """Add or replace one document."""
    await _add(here, [_made(id, document)])
    return await _written(here, indexed=1)


@routes.patch("/documents/{id:path}", response_model=schemas.Written, responses=problems(408, 413))
async def change(here: Here, id: Id, change: schemas.Change) -> JSONResponse:
    """Change parts of a document; the others stay."""
    given = {key: value for key, value in change.model_dump().items() if value is not None}
    if "lang" in given:
        given["lang"] = rows.get_row_language(given)

    def work() -> None:
        here.engine.add([_known(here, id)._replace(**given)])

    await here.library.write(work)
    here.metrics.written(here.name, "added", 1)
    return await _written(here, indexed=1)


@routes.delete("/documents/{id:path}", response_model=schemas.Removed, responses=problems())
async def delete(here: Here, id: Id) -> JSONResponse:
    """Remove a document."""
    if not (deleted := await _delete(here, id)):
        raise _missing(here, id)
    return JSONResponse({"deleted": deleted, "documents": await here.library.write(here.engine.count)})


@routes.post("/bulk", response_model=schemas.Written, responses=problems(408, 413), openapi_extra=_NDJSON)
async def bulk(request: Request, here: Here) -> JSONResponse:
    """Add documents from a stream, one JSON object a line with the keys of `paragloss index`; `{"delete": ID}` removes
    one. A bad line costs only itself and is listed with its number; what was counted is safe on disk."""
    counts, errors = Counter[str](), list[dict[str, Any]]()
    ready: list[tuple[int, Document]] = []

    def bad(number: int, error: Exception) -> None:
        counts["failed"] += 1
        here.metrics.written(here.name, "refused", 1)
        if len(errors) < LISTED:
            encoding = "not UTF-8: write the file again in that encoding"
            errors.append({"line": number, "error": encoding if isinstance(error, UnicodeError) else str(error)})

    async def flush() -> None:
        """Write what is ready; where the store refuses a batch, find out which document it was."""
        some = ready.copy()
        ready.clear()
        try:
            counts["indexed"] += await _add(here, [document for _, document in some])
        except ParaglossError:
            for number, document in some:
                try:
                    counts["indexed"] += await _add(here, [document])
                except ParaglossError as error:
                    bad(number, error)

    async for number, line in _lines(request, here.library.limits.line):
        try:
            if line is None:
                raise InputError(f"the line is longer than {here.library.limits.line:,} bytes; split the document")
            row = jsonl.parse_json_object(line.decode())
            if set(row) == {"delete"}:
                await flush()
                counts["deleted"] += await _delete(here, str(row["delete"]))
            else:
                ready.append((number, rows.parse_document_row(row, f"line:{number}")))
        except (InputError, UnicodeDecodeError) as error:
            bad(number, error)
        if len(ready) >= BATCH:
            await flush()
    await flush()
    return await _written(here, **counts, errors=errors)


async def _lines(request: Request, limit: int) -> AsyncIterator[tuple[int, bytes | None]]:
    """The lines of a body with their numbers from 1, blank ones left out; None for one that is too long."""
    number, buffer, skipping = 1, bytearray(), False
    async for chunk in request.stream():
        pieces = chunk.split(b"\n")
        for place, piece in enumerate(pieces):
            if place:  # a line has ended
                if skipping or buffer.strip():
                    yield number, None if skipping else bytes(buffer)
                number, skipping = number + 1, False
                buffer.clear()
            if not skipping:
                buffer += piece
            if len(buffer) > limit:
                buffer.clear()
                skipping = True
    if skipping or buffer.strip():
        yield number, None if skipping else bytes(buffer)


async def _delete(here: Place, id: str) -> int:
    deleted = await here.library.write(lambda: here.engine.delete([id]))
    here.metrics.written(here.name, "deleted", deleted)
    return deleted


async def _add(here: Place, documents: list[Document]) -> int:
    if not documents:
        return 0
    added = await here.library.write(lambda: here.engine.add(documents))
    here.metrics.written(here.name, "added", added)
    return added


async def _written(here: Place, **counts: Any) -> JSONResponse:
    empty = {"indexed": 0, "deleted": 0, "failed": 0, "errors": []}
    return JSONResponse({**empty, **counts, "documents": await here.library.write(here.engine.count)})


def _known(here: Place, id: str) -> Document:
    found = here.engine.get([id])[0]
    if found is None:
        raise _missing(here, id)
    return found


def _missing(here: Place, id: str) -> HTTPException:
    return HTTPException(404, f"no document {id!r} in {here.name}")


def _made(id: str, given: schemas.NewText) -> Document:
    return rows.parse_document_row({**given.model_dump(), "id": id, "lang": given.lang or None}, id)


def _shown(here: Place, document: Document) -> dict[str, Any]:
    return {**document._asdict(), "fields": dict(document.fields), **answers.told(here.engine, document.meta)}
