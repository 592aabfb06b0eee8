"""Back up a collection into one file, and restore it.

The file is a tar archive of the documents with their vectors, the models and the settings, with a digest of every part.
Nothing is unpickled, and nothing is written before every part is checked.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import re
import stat
import struct
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from paragloss import __version__, artefacts
from paragloss.atomic_files import replace_file
from paragloss.bm25 import Layout
from paragloss.collection.transfer import Contents, CopyProgress, fill_collection, read_contents
from paragloss.errors import InputError, describe_unknown_format
from paragloss.stores import Placement, messages, open_store
from paragloss.types import Document, Record

FORMAT = 1
_MANIFEST = "manifest.json"
_PART = re.compile(r"(records/\d{8}|blobs/[\w.-]+|models/[\w.-]+(/[\w.-]+)+)")
#: No part is larger: a page of documents, or a file of a model.
_MAX_PART_BYTES = 8 << 30


def backup(source: str, file: str, *, progress: CopyProgress = None) -> int:
    """Write a collection into a file, compressed if its name ends in .gz; it appears when it is complete.

    :param source: the folder or the address of the collection.
    :param file: the path of the backup.
    :param progress: is told how many documents have been written.
    :return: the number of documents.
    """
    path = Path(file)
    check_replaceable(path)
    try:
        with (
            replace_file(path) as temporary,
            closing(open_store(source)) as store,
            _open_archive(temporary, path.suffix) as archive,
        ):
            return _write_parts(archive, read_contents(store, source), progress)
    except OSError as error:
        raise InputError(f"{file} can't be written ({error.strerror}): choose another place") from None


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


def restore(file: str, target: str, *, placement: Placement | None = None, progress: CopyProgress = None) -> int:
    """Restore a backup into a new collection. If it is interrupted, the same call goes on.

    :param file: the path of the backup.
    :param target: the folder or the address of the new collection.
    :param placement: how a server spreads the collection.
    :param progress: is told how many documents have been restored.
    :return: the number of documents.
    :raises InputError: if the backup is damaged; nothing is created then.
    """
    manifest = _check_parts(file)
    with tempfile.TemporaryDirectory(prefix="paragloss-restoring-") as folder:
        blobs = _extract_blobs_and_models(file, Path(folder))
        models = {model_folder.name: model_folder for model_folder in sorted(Path(folder).iterdir())}
        for model_folder in models.values():
            artefacts.check_finite(model_folder)  # numbers that are not finite would spoil every score
        layout = Layout(manifest["fields"], k1=manifest["k1"], b=manifest["b"])
        contents = Contents(manifest["shape"], layout, models, blobs, _read_pages(file))
        return fill_collection(target, contents, placement=placement, progress=progress)


def _open_archive(path: Path, suffix: str) -> tarfile.TarFile:
    return tarfile.open(path, "w:gz", compresslevel=1) if suffix == ".gz" else tarfile.open(path, "w")


def _extract_blobs_and_models(file: str, folder: Path) -> dict[str, bytes]:
    """Return the blobs of a backup by name, and write the files of its models into a folder."""
    blobs = {}
    for name, data in _read_parts(file):
        kind, _, path_below = name.partition("/")
        if kind == "blobs":
            blobs[path_below] = data
        elif kind == "models":
            path = folder / path_below
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    return blobs


def _write_parts(archive: tarfile.TarFile, contents: Contents, progress: CopyProgress) -> int:
    """Write all parts of a backup into an archive: models, settings, documents page by page, and the manifest last.

    :param contents: everything that the collection holds.
    :param progress: is told how many documents have been written.
    :return: the number of documents.
    """
    digests: dict[str, str] = {}
    for name, data in _list_models_and_blobs(contents):
        digests[name] = _write_part(archive, name, data)
    n_documents = 0
    for number, records in enumerate(contents.pages):
        name = f"records/{number:08}"
        digests[name] = _write_part(archive, name, messages.encode_message(records))
        n_documents += len(records)
        if progress:
            progress(n_documents)
    manifest = _make_manifest(contents, digests, n_documents)
    _write_part(archive, _MANIFEST, json.dumps(manifest).encode())
    return n_documents


def _make_manifest(contents: Contents, digests: Mapping[str, str], n_documents: int) -> dict[str, Any]:
    """Return what a backup says of itself: its version, how documents are stored, and the digest of every part.

    :param contents: everything that the backup holds.
    :param digests: the digest of each part by its name.
    """
    return {
        "format": FORMAT,
        "paragloss": __version__,
        "documents": n_documents,
        "shape": contents.shape,
        "fields": list(contents.layout.fields),
        "k1": contents.layout.k1,
        "b": contents.layout.b,
        "parts": digests,
    }


def _list_models_and_blobs(contents: Contents) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each part of an archive but the documents."""
    for name, folder in contents.models.items():
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            yield f"models/{name}/{path.relative_to(folder).as_posix()}", path.read_bytes()
    for name, blob in contents.blobs.items():
        yield f"blobs/{name}", blob


def _compute_digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _write_part(archive: tarfile.TarFile, name: str, data: bytes) -> str:
    """Write a part into an archive, and return its digest."""
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))
    return _compute_digest(data)


def _check_parts(file: str) -> dict[str, Any]:
    """Read all parts of a backup and compare them with the digests in its manifest, which is returned.

    :raises InputError: if a part is damaged, or there are other parts than the manifest lists.
    """
    manifest: dict[str, Any] | None = None
    digests: dict[str, str] = {}
    for name, data in _read_parts(file):
        if name == _MANIFEST:
            manifest = _parse_manifest(file, data)
            continue
        digests[name] = _compute_digest(data)
        if name.startswith("records/"):
            _parse_records(file, name, data)  # raises an error for anything but documents
    if manifest is None:
        raise InputError(f"{file} is no whole backup: its list of parts is missing; take another")
    _compare_digests(file, digests, manifest["parts"])
    return manifest


def _compare_digests(file: str, digests: Mapping[str, str], expected_digests: Mapping[str, str]) -> None:
    """Raise InputError if a part of a backup is missing, is not expected, or has another digest than expected."""
    for name in [*expected_digests, *digests]:
        if digests.get(name) != expected_digests.get(name):
            raise InputError(f"{file} is damaged: its part {name!r} is not what was written; take another backup")


def _parse_manifest(file: str, data: bytes) -> dict[str, Any]:
    """Return the manifest of a backup; raise InputError if it has another format or lacks something.

    :param file: the name of the backup, for the error.
    """
    try:
        manifest: dict[str, Any] = json.loads(data)
        if manifest["format"] != FORMAT:
            raise InputError(describe_unknown_format(file, manifest, str(FORMAT)))
        _check_manifest(manifest)
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"{file} is no whole backup: its list of parts can't be read ({type(error).__name__}); take another"
        ) from None
    return manifest


def _check_manifest(manifest: Mapping[str, Any]) -> None:
    """Raise ValueError, TypeError or KeyError if a setting of the index, a table or a list is missing or wrong."""
    Layout(manifest["fields"], k1=float(manifest["k1"]), b=float(manifest["b"]))  # raises an error for wrong values
    shape = manifest["shape"]
    required_types = [(manifest["parts"], dict), (shape["dense"], dict), (shape["sparse"], list)]
    if not all(isinstance(value, required_type) for value, required_type in required_types):
        raise TypeError("a table or a list is missing")


def _read_parts(file: str) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each part of an archive, in the order in which they were written.

    :param file: the path of the archive.
    :raises InputError: if the archive is damaged, or holds anything that no backup does.
    """
    try:
        with tarfile.open(file, "r:*") as archive:
            for entry in archive:
                if not _is_backup_part(entry):
                    raise InputError(f"{file} holds {entry.name!r}, which no backup does: don't trust it")
                stream = archive.extractfile(entry)
                assert stream is not None  # only for entries that are no files
                yield entry.name, stream.read()
    except (tarfile.TarError, EOFError, OSError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise InputError(f"{file} can't be read as a backup ({error}): take another") from None


def _is_backup_part(entry: tarfile.TarInfo) -> bool:
    """Tell whether an entry is a file with the name and size of a part of a backup, and stays in its folder."""
    has_part_name = entry.name == _MANIFEST or _PART.fullmatch(entry.name) is not None
    leaves_folder = ".." in entry.name.split("/")
    return entry.isreg() and has_part_name and not leaves_folder and entry.size <= _MAX_PART_BYTES


def _read_pages(file: str) -> Iterator[list[Record]]:
    for name, data in _read_parts(file):
        if name.startswith("records/"):
            yield _parse_records(file, name, data)


def _parse_records(file: str, name: str, data: bytes) -> list[Record]:
    """Parse a page of documents; raise InputError if it is anything else.

    :param file: the path of the backup, for the error.
    :param name: the name of the part that has the page.
    """
    try:
        records = messages.decode_message(data)
        if not isinstance(records, list) or not all(_is_record(record) for record in records):
            raise ValueError("not a list of documents")
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, struct.error) as error:
        raise InputError(f"{file} is damaged: its part {name!r} can't be read ({error}); take another backup") from None
    return records


def _is_record(value: object) -> bool:
    if not isinstance(value, Record) or not isinstance(value.document, Document):
        return False
    return all(isinstance(text, str) for text in value.document[:4])
