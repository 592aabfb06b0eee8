"""Routes about documents: reading one, and writing them one by one or in streams."""

from __future__ import annotations

import mimetypes
import pathlib
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request
from fastapi.responses import FileResponse, JSONResponse
from starlette.convertors import Convertor, register_url_convertor

from paragloss.errors import InputError, ParaglossError
from paragloss.formats import jsonl, rows
from paragloss.server import answers, schemas
from paragloss.server.answers import UnknownDocumentError
from paragloss.server.requests import (
    Context,
    RequestContext,
    check_at_most,
    describe_errors,
    get_app_state,
    key_required,
    shorten_paths,
)
from paragloss.server.search_routes import MAX_ID_LENGTH, DocumentId
from paragloss.types import Document

#: Documents that are written at once.
BATCH_SIZE = 200
#: Bad lines of a stream that are listed.
MAX_LISTED_ERRORS = 100
#: The largest offset in a text; a document is far shorter.
MAX_OFFSET = 2**31
#: Kinds of files that a browser shows; others it saves.
_DISPLAYED_TYPES = {"application/pdf", "text/plain", "text/html", "image/png", "image/jpeg"}


class _IdConvertor(Convertor[str]):
    """The rest of a path, slashes and line breaks included: ids of documents may hold anything."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("document_id", _IdConvertor())

routes = APIRouter(prefix="/api", tags=["documents"], dependencies=key_required)
PathId = Annotated[str, Path(min_length=1, max_length=MAX_ID_LENGTH, examples=["bee.fr"])]
NewPathId = Annotated[str, Path(min_length=1, max_length=1000, examples=["bee.fr"])]
Offset = Annotated[int | None, Query(ge=0, le=MAX_OFFSET, description="An offset in the text, in characters.")]
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


@routes.get("/documents/{id:document_id}", response_model=schemas.StoredDocument, responses=describe_errors(503, 504))
async def get_document(context: Context, id: PathId) -> JSONResponse:
    """Return a document as it is stored."""
    return JSONResponse(await context.read(answers.show_document, id))


@routes.get("/reading", response_model=schemas.ReadingResponse, responses=describe_errors(503, 504))
async def read_document(
    context: Context,
    id: DocumentId,
    q: Annotated[str, Query(description="The query, if any.")] = "",
    lang: Annotated[str, Query(description="Its language; detected when not given.", max_length=35)] = "",
    start: Offset = None,
    before: Offset = None,
) -> JSONResponse:
    """Return some paragraphs of a document: about the best passage, from `start` on, or up to `before`."""
    check_at_most("q", len(q), context.library.limits.query, "characters")
    return JSONResponse(await context.read(answers.read_document, id, q, lang, start, before))


@routes.get("/original", response_class=FileResponse, responses=describe_errors())
async def open_original(request: Request, context: Context, id: DocumentId) -> FileResponse:
    """Return the file a document was read from: to the user of this machine only, and of indexed folders only."""
    document = await context.read(answers.get_document, id)
    path = context.collection.sources.find_original(document.meta)
    if path is None or not get_app_state(request).is_personal:
        raise HTTPException(404, f"the file of {id!r} can't be opened from here")
    return _make_file_response(path)


def _make_file_response(path: pathlib.Path) -> FileResponse:
    """Make the response with a file of a reader: the browser shows the types that it can show, and saves others."""
    guessed_type, _ = mimetypes.guess_type(path.name)
    media_type = guessed_type or "application/octet-stream"
    disposition = "inline" if media_type in _DISPLAYED_TYPES else "attachment"
    headers = {}
    if media_type != "application/pdf":
        # A file must not act as this page: it is shown without scripts, forms and an origin. A PDF has none.
        headers["content-security-policy"] = "sandbox; default-src 'none'"
    return FileResponse(
        path, media_type=media_type, filename=path.name, content_disposition_type=disposition, headers=headers
    )


@routes.post("/documents", response_model=schemas.WriteResponse, responses=describe_errors(408, 413))
async def add_documents(context: Context, documents: list[schemas.NewDocument]) -> JSONResponse:
    """Add or replace documents: all of them, or none where one can't be used."""
    parsed = [_parse_document(document.id, document) for document in documents]
    await _add(context, parsed)
    return await _report_written(context, indexed=len(parsed))


@routes.put("/documents/{id:document_id}", response_model=schemas.WriteResponse, responses=describe_errors(408, 413))
async def replace_document(context: Context, id: NewPathId, document: schemas.DocumentContent) -> JSONResponse:
    """Add or replace one document."""
    await _add(context, [_parse_document(id, document)])
    return await _report_written(context, indexed=1)


@routes.patch("/documents/{id:document_id}", response_model=schemas.WriteResponse, responses=describe_errors(408, 413))
async def change_document(context: Context, id: PathId, change: schemas.DocumentChange) -> JSONResponse:
    """Change parts of a document; the others stay.

    Its language then also stays when the document is replaced, for example because its file is read again; an empty one
    is identified again.
    """
    changed_parts = {name: value for name, value in change.model_dump().items() if value is not None}
    if "lang" in changed_parts:
        changed_parts["lang"] = rows.get_row_language(changed_parts)
    await context.write(partial(_change_document, context, id, changed_parts))
    context.metrics.count_written(context.collection_name, "added", 1)
    return await _report_written(context, indexed=1)


@routes.delete("/documents/{id:document_id}", response_model=schemas.DeleteResponse, responses=describe_errors())
async def delete_document(context: Context, id: PathId) -> JSONResponse:
    """Delete a document."""
    deleted = await _delete(context, id)
    if not deleted:
        raise UnknownDocumentError(f"no document {id!r} in {context.collection_name}")
    return JSONResponse({"deleted": deleted, "documents": await context.write(context.collection.count)})


@routes.post("/bulk", response_model=schemas.WriteResponse, responses=describe_errors(408, 413), openapi_extra=_NDJSON)
async def write_stream(request: Request, context: Context) -> JSONResponse:
    """Add documents from a stream, one JSON object per line with the keys of `paragloss index`.

    `{"delete": ID}` deletes one. A bad line does not affect the others and is listed with its number; what was counted
    is on disk.
    """
    writer = _StreamWriter(context)
    splitter = LineSplitter(context.library.limits.line)
    async for chunk in request.stream():
        for number, line in splitter.split(chunk):
            await writer.write_line(number, line)
    for number, line in splitter.end_line():
        await writer.write_line(number, line)
    await writer.flush()
    return await _report_written(
        context, indexed=writer.indexed, deleted=writer.deleted, failed=writer.failed, errors=writer.errors
    )


class _StreamWriter:
    """Write the lines of a stream in batches, and collect what went wrong."""

    def __init__(self, context: RequestContext) -> None:
        self._context = context
        self._batch: list[tuple[int, Document]] = []  # with their line numbers
        self.indexed = self.deleted = self.failed = 0
        self.errors: list[dict[str, Any]] = []

    async def write_line(self, number: int, line: bytes | None) -> None:
        """Write a line of the stream, or note why it can't be written.

        :param number: the number of the line, for the error.
        :param line: one JSON object; None stands for a line that is too long.
        """
        try:
            row = self._parse_line(line)
            if set(row) == {"delete"}:
                await self._delete(row["delete"])
            else:
                self._batch.append((number, rows.parse_document_row(row, f"line:{number}")))
        except (InputError, UnicodeDecodeError) as error:
            self._report(number, error)
        if len(self._batch) >= BATCH_SIZE:
            await self.flush()

    def _parse_line(self, line: bytes | None) -> dict[str, Any]:
        if line is None:
            limit = self._context.library.limits.line
            raise InputError(f"the line is longer than {limit:,} bytes; split the document")
        return jsonl.parse_json_object(line.decode())

    async def flush(self) -> None:
        """Write the batch; if the store refuses it, write its documents one by one and note those that are at fault."""
        batch, self._batch = self._batch, []
        try:
            self.indexed += await _add(self._context, [document for _, document in batch])
        except ParaglossError:
            for number, document in batch:
                try:
                    self.indexed += await _add(self._context, [document])
                except ParaglossError as error:
                    self._report(number, error)

    async def _delete(self, document_id: object) -> None:
        """Delete a document after those have been written that came before; InputError for anything but an id."""
        if not isinstance(document_id, str) or not document_id:
            raise InputError(f'delete: {document_id!r} is no id: write {{"delete": "ID"}}')
        await self.flush()
        self.deleted += await _delete(self._context, document_id)

    def _report(self, number: int, error: Exception) -> None:
        """Count a bad line, and keep its number and error for the answer unless there are many already."""
        self.failed += 1
        self._context.metrics.count_written(self._context.collection_name, "refused", 1)
        if len(self.errors) < MAX_LISTED_ERRORS:
            is_encoding = isinstance(error, UnicodeError)
            message = "not UTF-8: write the file again in that encoding" if is_encoding else shorten_paths(str(error))
            self.errors.append({"line": number, "error": message})


class LineSplitter:
    """Splits a body that comes in chunks into numbered lines, and keeps the beginning of a line that goes on.

    Blank lines count, but are left out.
    """

    def __init__(self, limit: int) -> None:
        """Begin with an empty line, which has the number 1.

        :param limit: bytes of a line at most; no more are kept of a longer one.
        """
        self._limit = limit
        self._number = 1  # of the line that has not ended
        self._buffer = bytearray()  # its beginning
        self._is_too_long = False

    def split(self, chunk: bytes) -> Iterator[tuple[int, bytes | None]]:
        """Yield the lines that end in a chunk, with their numbers; None in place of one that is too long."""
        first_piece, *later_pieces = chunk.split(b"\n")
        self._extend_line(first_piece)
        for piece in later_pieces:
            yield from self.end_line()
            self._extend_line(piece)

    def end_line(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield the current line unless it is blank, and begin the next one."""
        if self._is_too_long:
            yield self._number, None
        elif self._buffer.strip():
            yield self._number, bytes(self._buffer)
        self._number += 1
        self._buffer.clear()
        self._is_too_long = False

    def _extend_line(self, piece: bytes) -> None:
        if not self._is_too_long:
            self._buffer += piece
        if len(self._buffer) > self._limit:
            self._buffer.clear()
            self._is_too_long = True


def _change_document(context: RequestContext, document_id: str, values: dict[str, Any]) -> None:
    """Replace attributes of a document; its language is remembered as a correction.

    :param values: the new values by the names of attributes.
    :raises UnknownDocumentError: if there is no such document.
    """
    document = context.collection.get([document_id])[0]
    if document is None:
        raise UnknownDocumentError(f"no document {document_id!r} in {context.collection_name}")
    if "lang" in values:
        context.collection.correct_language(document_id, values["lang"])
    if values.keys() - {"lang"}:
        context.collection.add([document._replace(**values)])


async def _delete(context: RequestContext, document_id: str) -> int:
    deleted = await context.write(lambda: context.collection.delete([document_id]))
    context.metrics.count_written(context.collection_name, "deleted", deleted)
    return deleted


async def _add(context: RequestContext, documents: list[Document]) -> int:
    if not documents:
        return 0
    added = await context.write(lambda: context.collection.add(documents))
    context.metrics.count_written(context.collection_name, "added", added)
    return added


async def _report_written(context: RequestContext, **counts: Any) -> JSONResponse:
    defaults = {"indexed": 0, "deleted": 0, "failed": 0, "errors": []}
    return JSONResponse({**defaults, **counts, "documents": await context.write(context.collection.count)})


def _parse_document(document_id: str, content: schemas.DocumentContent) -> Document:
    row = {**content.model_dump(), "id": document_id, "lang": content.lang or None}
    return rows.parse_document_row(row, document_id)
