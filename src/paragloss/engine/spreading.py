"""Indexing by workers on other machines, through Dask: a part is a file, wherever `fsspec` reads it from, and goes to
one worker, which writes it into the server's collection. A part that is done is noted there: whoever starts again goes
on, and one that was half done when its worker was killed is done again, which replaces its documents by their ids."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from paragloss.engine.collection import Engine
from paragloss.errors import InputError, MissingExtraError
from paragloss.formats.documents import read

_NOTE = "part-"
#: How often a part is given to another worker when the one that had it is lost.
_AGAIN = 5


class Part(NamedTuple):
    """A file: where it is, what its documents are called after, and what is noted when it is done."""

    url: str
    name: str
    note: str


class Spread(NamedTuple):
    """What became of the parts: documents written, parts that were done before, and what could not be read."""

    read: int
    unchanged: int
    failed: tuple[str, ...]


def parts(paths: Sequence[str]) -> list[Part]:
    """The files of paths and addresses (`s3://bucket/folder`, a shared folder), each once."""
    found: dict[str, Part] = {}
    for path in paths:
        system, root = _system(path)
        inside = system.isdir(root)
        for file in sorted(system.find(root)):
            about = system.info(file)
            url = system.unstrip_protocol(file)
            changed = about.get("ETag") or about.get("mtime") or about.get("LastModified") or ""
            note = hashlib.blake2b(f"{url}\0{about.get('size')}\0{changed}".encode(), digest_size=16).hexdigest()
            name = os.path.relpath(file, root) if inside else os.path.basename(file)
            found.setdefault(url, Part(url, name, _NOTE + note))
    return list(found.values())


def spread(
    into: str,
    paths: Sequence[str],
    *,
    scheduler: str,
    lang: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Spread:
    """Index files by the workers of a Dask scheduler into a collection on a server, which is there already."""
    if "://" not in into:
        raise InputError(f"{into} is a folder, which one process writes: workers on other machines need a server's")
    distributed = _extra("distributed")
    with Engine.open(into) as engine:
        done = {name for name in engine.held.store.blobs() if name.startswith(_NOTE)}
    every = parts(paths)
    wanted = [part for part in every if part.note not in done]
    read_, failed = 0, []
    with distributed.Client(scheduler) as client:
        futures = client.map(index_part, wanted, into=into, lang=lang, pure=False, retries=_AGAIN)
        for _, (count, wrong) in distributed.as_completed(futures, with_results=True):
            read_ += count
            failed += [wrong] if wrong else []
            if progress:
                progress(read_)
    return Spread(read_, len(every) - len(wanted), tuple(failed))


def index_part(part: Part, *, into: str, lang: str | None) -> tuple[int, str]:
    """On a worker: one file into the collection. How many documents, and what was wrong with it."""
    try:
        with Engine.open(into) as engine, _here(part) as path:
            count = engine.index(read(path, name=lambda _: part.name), lang=lang)
            engine.held.store.write_blob(part.note, str(count).encode())
            return count, ""
    except InputError as error:
        return 0, f"{part.url}: {error}"


@contextmanager
def _here(part: Part) -> Iterator[Path]:
    """A copy of the file on this machine, under its own name."""
    with tempfile.TemporaryDirectory(prefix="paragloss-part-") as folder:
        place = Path(folder) / os.path.basename(part.name)
        with _extra("fsspec").open(part.url, "rb") as far, place.open("wb") as near:
            shutil.copyfileobj(far, near, 1 << 20)
        yield place


def _system(path: str) -> tuple[Any, str]:
    """The storage of an address, and where in it that is; it answers, and something is there."""
    core = _extra("fsspec").core
    try:
        system, root = core.url_to_fs(path)
        there = system.exists(root)
    except (ImportError, ValueError) as error:  # no package for this kind of storage, or no such kind
        remedy = "pip install 'paragloss[s3]'" if path.startswith("s3:") else "install what fsspec needs for it"
        raise InputError(f"{path} can't be read ({' '.join(str(error).split())[:160]}): {remedy}") from None
    except Exception as error:  # each storage has errors of its own: keys, names, connections
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InputError(f"{path} can't be read: {said}") from None
    if not there:
        raise InputError(f"{path} does not exist: give a file, a folder, or an address that fsspec can read")
    return system, root


def _extra(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        raise MissingExtraError("indexing by workers on other machines", "workers") from None
