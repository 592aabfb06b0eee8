"""The route that takes files: each is read by the reader of its format and its documents are added, told as it goes."""

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
from paragloss.server.document_routes import BATCH, LISTED
from paragloss.server.requests import Here, Place, problems, with_key
from paragloss.types import Document

routes = APIRouter(prefix="/api", tags=["documents"], dependencies=with_key)
#: Seconds between two lines on a scan.
EVERY = 1.0
_STREAM = {
    "description": "One JSON object a line as the work goes on; the last has `done` or `error`.",
    "content": {
        "application/x-ndjson": {
            "schema": {"type": "string"},
            "example": '{"indexed": 200, "of": 312}\n{"indexed": 312, "failed": 0, "done": true, "documents": 732}\n',
        }
    },
}


@routes.post("/files", response_class=StreamingResponse, responses={200: _STREAM, **problems(408, 413)})
async def upload(
    here: Here,
    file: UploadFile,
    lang: Annotated[str, Form(description="The language of documents that don't say theirs.", max_length=35)] = "",
    folder: Annotated[str, Form(description="The folder it is from; part of its documents' ids.", max_length=500)] = "",
    modified: Annotated[float, Form(ge=0, le=1e11, description="When it was changed, in seconds since 1970.")] = 0,
) -> StreamingResponse:
    """Add the documents of a file of any kind that `paragloss index` reads."""
    home = Path(tempfile.mkdtemp(prefix="paragloss-upload-"))
    try:
        code = parse_language_code(lang) if lang else ""
        path = home / _safe(file.filename or "file.txt")
        await asyncio.to_thread(_keep, file, path)
        if modified:
            os.utime(path, (modified, modified))
        below = "".join(f"{_safe(part)}/" for part in re.split(r"[/\\]", folder) if part.strip(". "))
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        raise
    return StreamingResponse(_told(here, path, below, code), media_type="application/x-ndjson")


async def _told(here: Place, path: Path, below: str, lang: str) -> AsyncIterator[bytes]:
    """Read, add and tell; the file is gone at the end whatever happens."""
    errors: list[str] = []
    langs = Counter[str]()
    indexed, until = 0, time.monotonic() + here.library.limits.reading
    try:
        total = await asyncio.to_thread(_rows, path)
        wrong = lambda error: errors.append(_without_folder(error, path))  # noqa: E731
        pages: dict[str, int] = {}  # of a scan: how many were read, and how many there are
        told_page = lambda _, page, of: pages.update(page=page, pages=of)  # noqa: E731
        documents = read_documents(path, make_id=lambda name: below + name, on_error=wrong, on_scanned_page=told_page)
        while True:
            reading = asyncio.ensure_future(asyncio.to_thread(_next, documents, below + path.name))
            while not (await asyncio.wait([reading], timeout=EVERY))[0]:
                if pages:
                    yield _line(indexed=indexed, **pages)
            if not (some := reading.result()):
                break
            indexed += await here.library.write(partial(here.engine.add, some, lang=lang or None))
            here.metrics.written(here.name, "added", len(some))
            kept = await here.library.read(partial(here.engine.get, [document.id for document in some]))
            langs.update(document.lang for document in kept if document)
            yield _line(indexed=indexed, of=total)
            if time.monotonic() > until:
                raise InputError(f"{path.name} takes too long; {indexed:,} of its documents were added: split it")
        if errors and not indexed:
            raise InputError(errors[0])
        documents_now = await here.library.write(here.engine.count)
        told = {"failed": len(errors), "errors": errors[:LISTED], "langs": dict(langs.most_common())}
        yield _line(indexed=indexed, **told, done=True, documents=documents_now)
    except ParaglossError as error:
        yield _line(error=_without_folder(error, path), indexed=indexed)
    finally:
        shutil.rmtree(path.parent, ignore_errors=True)


def _keep(file: UploadFile, path: Path) -> None:
    with path.open("wb") as out:
        shutil.copyfileobj(file.file, out)


def _rows(path: Path) -> int | None:
    """About how many documents there will be, where that is quickly told."""
    if path.suffix.lower() not in (".jsonl", ".ndjson", ".csv", ".tsv"):
        return None
    with path.open("rb") as lines:
        return sum(block.count(b"\n") for block in iter(lambda: lines.read(1 << 20), b""))


def _next(documents: Iterator[Document], name: str) -> list[Document]:
    """Some more documents; where the file lay on this machine is nobody's business."""
    some = islice(documents, BATCH)
    return [d._replace(meta={**d.meta, "path": name}) if "path" in d.meta else d for d in some]


def _without_folder(error: Exception, path: Path) -> str:
    return " ".join(str(error).replace(f"{path.parent}/", "").split())


def _safe(name: str) -> str:
    """The last part of a name somebody sent, without anything a file system could take for more than a name."""
    plain = re.sub(r"[\x00-\x1f/\\:*?\"<>|]", "_", re.split(r"[/\\]", name)[-1]).strip(". ")
    return plain[-120:] or "file.txt"


def _line(**row: Any) -> bytes:
    return (json.dumps(row, ensure_ascii=False) + "\n").encode()
