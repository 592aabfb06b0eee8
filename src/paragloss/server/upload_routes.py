"""The route that takes a file: it is read by the reader of its format and its documents are added, with progress."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Form, UploadFile
from fastapi.responses import StreamingResponse

from paragloss.errors import InputError, ParaglossError
from paragloss.formats.documents import read_documents
from paragloss.formats.text import parse_language_code
from paragloss.server.document_routes import BATCH_SIZE, MAX_LISTED_ERRORS
from paragloss.server.requests import Context, RequestContext, describe_errors, key_required, shorten_paths
from paragloss.types import Document

routes = APIRouter(prefix="/api", tags=["documents"], dependencies=key_required)
#: Seconds between two lines of progress while a scan is read.
PROGRESS_INTERVAL = 1.0
#: Longest name of a file that is kept, in characters.
MAX_NAME_LENGTH = 120
_STREAM = {
    "description": "One JSON object per line as the work goes on; the last has `done` or `error`.",
    "content": {
        "application/x-ndjson": {
            "schema": {"type": "string"},
            "example": '{"indexed": 200, "of": 312}\n{"indexed": 312, "failed": 0, "done": true, "documents": 732}\n',
        }
    },
}


@routes.post("/files", response_class=StreamingResponse, responses={200: _STREAM, **describe_errors(408, 413)})
async def upload_file(
    context: Context,
    file: UploadFile,
    lang: Annotated[str, Form(description="The language of documents that don't say theirs.", max_length=35)] = "",
    folder: Annotated[str, Form(description="The folder it is from; part of its documents' ids.", max_length=500)] = "",
    modified: Annotated[float, Form(ge=0, le=1e11, description="When it was changed, in seconds since 1970.")] = 0,
) -> StreamingResponse:
    """Add the documents of a file of any kind that `paragloss index` reads."""
    language_code = parse_language_code(lang) if lang else ""
    folder_names = [_clean_name(part) for part in re.split(r"[/\\]", folder) if part.strip(". ")]
    id_prefix = "".join(f"{name}/" for name in folder_names)
    path = await _save_upload(file, modified)
    indexer = _FileIndexer(context, path, id_prefix, language_code)
    return StreamingResponse(indexer.run(), media_type="application/x-ndjson")


async def _save_upload(file: UploadFile, modified: float) -> Path:
    """Save an uploaded file in a temporary folder of its own, which the caller has to remove; return its path.

    :param modified: when the file was changed, in seconds since 1970; 0 if that is not known
    """
    folder = Path(tempfile.mkdtemp(prefix="paragloss-upload-"))
    try:
        path = folder / _clean_name(file.filename or "file.txt")
        await asyncio.to_thread(_copy_content, file, path)
        if modified:
            os.utime(path, (modified, modified))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return path


def _copy_content(file: UploadFile, path: Path) -> None:
    with path.open("wb") as output:
        shutil.copyfileobj(file.file, output)


class _FileIndexer:
    """Read an uploaded file and add its documents, batch by batch, with lines of progress."""

    def __init__(self, context: RequestContext, path: Path, prefix: str, lang: str) -> None:
        """Take the saved file, the folders it is from, and the language of documents that don't say theirs."""
        self._context, self._path, self._prefix, self._lang = context, path, prefix, lang
        self._errors: list[str] = []
        self._languages = Counter[str]()
        self._scan: dict[str, int] = {}  # pages of a scan that were read, and how many there are
        self._indexed = 0

    async def run(self) -> AsyncIterator[bytes]:
        """Yield lines of progress until the file is indexed; it is deleted at the end whatever happens."""
        try:
            async for line in self._index_documents():
                yield line
        except ParaglossError as error:
            yield _format_line(error=self._hide_folder(error), indexed=self._indexed)
        finally:
            shutil.rmtree(self._path.parent, ignore_errors=True)

    async def _index_documents(self) -> AsyncIterator[bytes]:
        """Read the documents of the file in batches and add them to the collection.

        :return: lines of progress: of a scan while a batch is read, one after each batch, and a summary at the end.
        :raises InputError: if reading takes longer than the server allows.
        """
        n_rows = await asyncio.to_thread(_count_rows, self._path)
        end_time = time.monotonic() + self._context.library.limits.reading
        documents = self._read_documents()
        is_at_end = False
        while not is_at_end:
            # Reading would block the event loop, so a thread does it.
            reading = asyncio.ensure_future(asyncio.to_thread(self._read_batch, documents))
            async for line in self._report_scan_until(reading):
                yield line
            batch = reading.result()
            is_at_end = not batch
            if batch:
                await self._add(batch)
                yield _format_line(indexed=self._indexed, of=n_rows)
                self._check_time(end_time)
        yield await self._format_summary()

    def _check_time(self, end_time: float) -> None:
        """Raise InputError if it is later than a time, as `time.monotonic` tells it."""
        if time.monotonic() > end_time:
            count = f"{self._indexed:,} of its documents were added"
            raise InputError(f"{self._path.name} takes too long; {count}: split it")

    def _read_documents(self) -> Iterator[Document]:
        """Read the documents of the file, and note its errors and how many pages of a scan have been read."""
        return read_documents(
            self._path,
            make_id=lambda name: self._prefix + name,
            on_error=lambda error: self._errors.append(self._hide_folder(error)),
            on_scanned_page=lambda _, page, pages: self._scan.update(page=page, pages=pages),
        )

    async def _report_scan_until(self, reading: asyncio.Future[Any]) -> AsyncIterator[bytes]:
        """Yield a line about the pages of a scan, if the file is one, every second until `reading` is done."""
        while True:
            await asyncio.wait([reading], timeout=PROGRESS_INTERVAL)
            if reading.done():
                return
            if self._scan:
                yield _format_line(indexed=self._indexed, **self._scan)

    async def _add(self, batch: list[Document]) -> None:
        """Add documents to the collection, and count the languages that they are in."""
        context = self._context
        self._indexed += await context.write(partial(context.collection.add, batch, lang=self._lang or None))
        context.metrics.count_written(context.collection_name, "added", len(batch))
        ids = [document.id for document in batch]
        stored = await context.read(lambda collection, _: collection.get(ids))
        self._languages.update(document.lang for document in stored if document)

    async def _format_summary(self) -> bytes:
        """Return the last line: what was indexed, in which languages, and what failed.

        :raises InputError: if no document of the file could be read.
        """
        if self._errors and not self._indexed:
            raise InputError(self._errors[0])
        return _format_line(
            indexed=self._indexed,
            failed=len(self._errors),
            errors=self._errors[:MAX_LISTED_ERRORS],
            langs=dict(self._languages.most_common()),
            done=True,
            documents=await self._context.write(self._context.collection.count),
        )

    def _read_batch(self, documents: Iterator[Document]) -> list[Document]:
        """Read some more documents; their path is the name of the file, not where it lies on this machine."""
        batch = []
        for document in islice(documents, BATCH_SIZE):
            meta = dict(document.meta)
            if "path" in meta:
                meta["path"] = self._prefix + self._path.name
            batch.append(document._replace(meta=meta))
        return batch

    def _hide_folder(self, error: Exception) -> str:
        return shorten_paths(str(error).replace(f"{self._path.parent}{os.sep}", ""))


def _count_rows(path: Path) -> int | None:
    """Count the lines of a file that has one document per line; None for other files."""
    if path.suffix.lower() not in (".jsonl", ".ndjson", ".csv", ".tsv"):
        return None
    with path.open("rb") as lines:
        return sum(block.count(b"\n") for block in iter(lambda: lines.read(1 << 20), b""))


def _clean_name(name: str) -> str:
    """Return the last part of a name that a client sent, without anything that a file system could misunderstand."""
    last_part = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[\x00-\x1f/\\:*?\"<>|]", "_", last_part).strip(". ")[-MAX_NAME_LENGTH:] or "file.txt"


def _format_line(**row: Any) -> bytes:
    return (json.dumps(row, ensure_ascii=False) + "\n").encode()
