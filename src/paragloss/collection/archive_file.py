"""A collection as one file, and back: a tar archive of its documents with their vectors, its models and its settings,
with a digest of every part. Nothing is unpickled; names are checked, and nothing is written before everything is."""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import os
import re
import stat
import struct
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from paragloss import __version__
from paragloss.bm25 import Layout
from paragloss.collection.transfer import Contents, Told, contents, fill
from paragloss.errors import InputError, unread_format
from paragloss.stores import Placement, open_store, wire
from paragloss.types import Document, Record

FORMAT = 1
_MANIFEST = "manifest.json"
_PART = re.compile(r"(records/\d{8}|blobs/[\w.-]+|models/[\w.-]+(/[\w.-]+)+)")
#: No part is larger: a page of documents, or a file of a model.
_MOST = 8 << 30


def backup(source: str, file: str, *, progress: Told = None) -> int:
    """Write a collection into a file, compressed where it is called .gz; how many documents. The file appears when it
    is whole."""
    place = Path(file)
    check_replaceable(place)
    fresh = place.with_name(f".{place.name}-{os.urandom(6).hex()}.writing")
    try:
        with closing(open_store(source)) as store, _opened(fresh, place) as archive:
            count = _write(archive, contents(store, source), progress)
        with fresh.open("rb") as written:
            os.fsync(written.fileno())
        fresh.replace(place)
    except OSError as error:
        raise InputError(f"{file} can't be written ({error.strerror}): choose another place") from None
    finally:
        fresh.unlink(missing_ok=True)
    return count


def check_replaceable(path: Path) -> None:
    """Raise InputError unless a path is free or a regular file: links, devices and pipes are not written over."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{path} can't be written ({error.strerror}): choose another place") from None
    if not stat.S_ISREG(mode):
        raise InputError(f"{path} is a link, a device or a folder, not a file: name a new file for the backup")


def restore(file: str, target: str, *, placement: Placement | None = None, progress: Told = None) -> int:
    """Make a collection of such a file, in a new place; how many documents. Stopped half-way, the same goes on."""
    manifest = _checked(file)
    with tempfile.TemporaryDirectory(prefix="paragloss-restoring-") as folder:
        blobs = {}
        for name, data in _parts(file):
            kind, _, rest = name.partition("/")
            if kind == "blobs":
                blobs[rest] = data
            elif kind == "models":
                (Path(folder) / rest).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / rest).write_bytes(data)
        models = {each.name: each for each in sorted(Path(folder).iterdir())}
        layout = Layout(manifest["fields"], k1=manifest["k1"], b=manifest["b"])
        whole = Contents(manifest["shape"], layout, models, blobs, _pages(file))
        return fill(target, whole, placement=placement, progress=progress)


def _opened(fresh: Path, place: Path) -> tarfile.TarFile:
    return tarfile.open(fresh, "w:gz", compresslevel=1) if place.suffix == ".gz" else tarfile.open(fresh, "w")


def _write(archive: tarfile.TarFile, whole: Contents, progress: Told) -> int:
    digests: dict[str, str] = {}

    def put(name: str, data: bytes) -> None:
        digests[name] = hashlib.blake2b(data, digest_size=16).hexdigest()
        _put(archive, name, data)

    for name, folder in whole.models.items():
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            put(f"models/{name}/{path.relative_to(folder).as_posix()}", path.read_bytes())
    for name, blob in whole.blobs.items():
        put(f"blobs/{name}", blob)
    count = 0
    for number, records in enumerate(whole.pages):
        put(f"records/{number:08}", wire.to_bytes(records))
        count += len(records)
        if progress:
            progress(count)
    layout = {"fields": list(whole.layout.fields), "k1": whole.layout.k1, "b": whole.layout.b}
    manifest = {
        "format": FORMAT,
        "paragloss": __version__,
        "documents": count,
        "shape": whole.shape,
        **layout,
        "parts": digests,
    }
    _put(archive, _MANIFEST, json.dumps(manifest).encode())
    return count


def _put(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


def _checked(file: str) -> dict[str, Any]:
    """The list of what an archive holds, once every part has been held against it."""
    manifest: dict[str, Any] | None = None
    found: dict[str, str] = {}
    for name, data in _parts(file):
        if name == _MANIFEST:
            manifest = _manifest(file, data)
        else:
            found[name] = hashlib.blake2b(data, digest_size=16).hexdigest()
            if name.startswith("records/"):
                _parse_records(file, name, data)
    if manifest is None:
        raise InputError(f"{file} is no whole backup: its list of parts is missing; take another")
    if manifest["parts"] != found:
        wrong = next(name for name in {**manifest["parts"], **found} if manifest["parts"].get(name) != found.get(name))
        raise InputError(f"{file} is damaged: its part {wrong!r} is not what was written; take another backup")
    return manifest


def _manifest(file: str, data: bytes) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads(data)
        if manifest["format"] != FORMAT:
            raise InputError(unread_format(file, manifest, str(FORMAT)))
        Layout(manifest["fields"], k1=float(manifest["k1"]), b=float(manifest["b"]))
        dict(manifest["parts"]), dict(manifest["shape"]["dense"]), list(manifest["shape"]["sparse"])
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"{file} is no whole backup: its list of parts can't be read ({type(error).__name__}); take another"
        ) from None
    return manifest


def _parts(file: str) -> Iterator[tuple[str, bytes]]:
    """The parts of an archive, one at a time; what has no place in one is refused."""
    try:
        with tarfile.open(file, "r:*") as archive:
            for entry in archive:
                good = entry.isreg() and (entry.name == _MANIFEST or _PART.fullmatch(entry.name))
                if not good or ".." in entry.name.split("/") or entry.size > _MOST:
                    raise InputError(f"{file} holds {entry.name!r}, which no backup does: don't trust it")
                stream = archive.extractfile(entry)
                assert stream is not None
                yield entry.name, stream.read()
    except (tarfile.TarError, EOFError, OSError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise InputError(f"{file} can't be read as a backup ({error}): take another") from None


def _pages(file: str) -> Iterator[list[Record]]:
    for name, data in _parts(file):
        if name.startswith("records/"):
            yield _parse_records(file, name, data)


def _parse_records(file: str, name: str, data: bytes) -> list[Record]:
    """Parse a page of documents; InputError where it is anything else."""
    try:
        records = wire.from_bytes(data)
        if not isinstance(records, list) or not all(_is_record(record) for record in records):
            raise ValueError("not a list of documents")
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, struct.error) as error:
        raise InputError(f"{file} is damaged: its part {name!r} can't be read ({error}); take another backup") from None
    return records


def _is_record(value: object) -> bool:
    if not isinstance(value, Record) or not isinstance(value.document, Document):
        return False
    return all(isinstance(text, str) for text in value.document[:4])
