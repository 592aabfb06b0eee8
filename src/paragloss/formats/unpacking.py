"""Unpack archives, and the attachments of mail, into a folder, with limits that no hostile file can pass.

Runs in the sandboxed child process. Only plain files are written, under names that stay inside the folder; links,
devices and encrypted members are left out. Sizes are counted while unpacking: what an archive declares is not believed.
"""

from __future__ import annotations

import io
import lzma
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from paragloss.errors import InputError, MissingExtraError
from paragloss.formats import eml, outlook, tnef
from paragloss.formats.text import PathLike, open_bytes

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

MAX_UNPACKED_BYTES = 512 * 2**20
MAX_MEMBERS = 20_000
#: An archive may not unpack to more than so many times its size, unless that is below `ALWAYS_ALLOWED_BYTES`.
MAX_RATIO = 200
ALWAYS_ALLOWED_BYTES = 8 * 2**20
_BLOCK = 1 << 20
_ENCRYPTED = "the archive is encrypted; unpack it with its password and index the folder"
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\:]")


def limit_unpacked_bytes(archive_bytes: int) -> int:
    """Return how many bytes an archive of a size may unpack to."""
    return min(MAX_UNPACKED_BYTES, max(ALWAYS_ALLOWED_BYTES, MAX_RATIO * archive_bytes))


class MemberFile(io.BufferedRandom):
    """The file that a member is written to."""

    def __init__(self, target: Path, count_bytes: Callable[[int], None]) -> None:
        super().__init__(io.FileIO(target, "w+"))
        self._count_bytes = count_bytes

    def write(self, data: ReadableBuffer, /) -> int:
        """Append some bytes; raises InputError where that exceeds the archive's limit."""
        self._count_bytes(memoryview(data).nbytes)
        return super().write(data)

    def size(self) -> int:
        """Return the number of bytes written, which py7zr asks for."""
        self.flush()
        return os.fstat(self.fileno()).st_size


class MemberWriter:
    """Writes the members of one archive into a folder and counts them."""

    def __init__(self, path: PathLike, folder: PathLike) -> None:
        self.path = path
        self._folder = Path(folder)
        self._limit = limit_unpacked_bytes(Path(path).stat().st_size)
        self.bytes_written = 0
        self._members = 0

    def write(self, name: str, stream: IO[bytes]) -> None:
        """Write a member under a safe form of its name."""
        with self.create(name) as member:
            while block := stream.read(_BLOCK):
                member.write(block)

    def create(self, name: str) -> MemberFile:
        """Create the file of a member; the limits are checked whenever something is written to it.

        py7zr calls this for each member, instead of choosing paths of its own.
        """
        self._members += 1
        if self._members > MAX_MEMBERS:
            raise InputError(f"more than {MAX_MEMBERS:,} files in the archive; split it", location=self.path)
        return MemberFile(self._choose_target(name), self._count_bytes)

    def _count_bytes(self, number: int) -> None:
        self.bytes_written += number
        if self.bytes_written > self._limit:
            raise InputError(
                f"unpacks to more than {self._limit:,} bytes; no real archive of its size does, so it is refused",
                location=self.path,
            )

    def _choose_target(self, name: str) -> Path:
        """Return a path inside the folder that no other member has; `..`, drives and control characters are removed."""
        parts = [_UNSAFE.sub("_", part)[:150] for part in PurePosixPath(name.replace("\\", "/")).parts]
        parts = [part for part in parts if part.strip(". ") and part != "/"] or ["unnamed"]
        target = self._folder.joinpath(*parts[-20:])
        target.parent.mkdir(parents=True, exist_ok=True)
        number = 1
        while target.exists():
            number += 1
            target = target.with_name(f"{Path(parts[-1]).stem}-{number}{Path(parts[-1]).suffix}")
        return target


def unpack(kind: str, path: PathLike, folder: PathLike) -> None:
    """Write the files inside an archive, or the attachments of a mail, into an empty folder.

    :param kind: the suffix that names the format, one of `UNPACKERS`
    :param path: the archive or the mail
    :param folder: the empty folder
    :raises InputError: if the archive is damaged, encrypted as a whole, or exceeds a limit
    :raises MissingExtraError: if the library that reads the format is not installed
    """
    try:
        UNPACKERS[kind](path, MemberWriter(path, folder))
    except (InputError, MissingExtraError):
        raise
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, RuntimeError, OSError, ValueError) as error:
        reason = str(error) or type(error).__name__
        message = f"can't be unpacked as {kind} ({reason}); it is damaged or of another format"
        raise InputError(message, location=path) from error


def _unpack_zip(path: PathLike, writer: MemberWriter) -> None:
    """Write the files inside a zip archive; links and encrypted files are left out.

    :param writer: writes them into a folder
    """
    with zipfile.ZipFile(path) as archive:
        for member in _list_unencrypted_members(archive, path):
            if not member.is_dir() and not _is_link(member):
                with archive.open(member) as stream:
                    writer.write(member.filename, stream)


def _list_unencrypted_members(archive: zipfile.ZipFile, path: PathLike) -> list[zipfile.ZipInfo]:
    """Return the members of an archive that are not encrypted; raise InputError if all are, or there are too many."""
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        message = f"{len(members):,} files in the archive, more than {MAX_MEMBERS:,}; split it"
        raise InputError(message, location=path)
    unencrypted = [member for member in members if not _is_encrypted(member)]
    if members and not unencrypted:
        raise InputError(_ENCRYPTED, location=path)
    return unencrypted


def _is_encrypted(member: zipfile.ZipInfo) -> bool:
    return bool(member.flag_bits & 1)


def _is_link(member: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(member.external_attr >> 16)  # the mode that Unix programs store


def _unpack_tar(path: PathLike, writer: MemberWriter) -> None:
    with open_bytes(path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content is not None:
                writer.write(member.name, content)


def _is_regular_file(member: Any) -> bool:
    """Tell whether a member of a 7z archive is neither a folder nor a link."""
    return not (member.is_directory or member.is_symlink or member.is_junction)


def _unpack_7z(path: PathLike, writer: MemberWriter) -> None:
    """Write the files inside a 7z archive; folders and links are left out.

    :param writer: opens the file that each member is written to, and counts its bytes
    :raises InputError: if the archive is damaged or encrypted, or exceeds a limit
    :raises MissingExtraError: if py7zr is not installed
    """
    try:
        import py7zr
    except ImportError as error:
        raise MissingExtraError("reading 7z archives", "archives") from error
    try:
        with py7zr.SevenZipFile(path) as archive:
            if archive.needs_password():
                raise InputError(_ENCRYPTED, location=path)
            names = [member.filename for member in archive.files if _is_regular_file(member)]
            archive.extract(targets=names, factory=writer)
    except (py7zr.exceptions.ArchiveError, lzma.LZMAError) as error:
        message = f"can't be unpacked as .7z ({error}); it is damaged or of another format"
        raise InputError(message, location=path) from error


def _unpack_attachments(
    read_attachments: Callable[[PathLike], Iterable[tuple[str, IO[bytes]]]], path: PathLike, writer: MemberWriter
) -> None:
    """Write the files attached to a message; `read_attachments` returns their names and contents."""
    for name, content in read_attachments(path):
        writer.write(name, content)


UNPACKERS: dict[str, Callable[[PathLike, MemberWriter], None]] = {
    ".zip": _unpack_zip,
    ".7z": _unpack_7z,
    **dict.fromkeys((".tar", ".tgz", ".tbz2", ".txz"), _unpack_tar),
    ".eml": partial(_unpack_attachments, eml.read_attachments),
    ".msg": partial(_unpack_attachments, outlook.read_msg_attachments),
    tnef.SUFFIX: partial(_unpack_attachments, tnef.read_tnef_attachments),
}
