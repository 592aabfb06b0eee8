"""Which files a folder holds and what their paths say of their language; reads none of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from paragloss.errors import InputError
from paragloss.formats.text import COMPRESSED_SUFFIXES, OnError, PathLike, is_language_code, parse_language_code


def list_files(
    root: PathLike, *, unread: Callable[[Path], None] = lambda _: None, on_error: OnError = None
) -> Iterator[tuple[str, Path]]:
    """(path relative to the root, path) of every file below it, sorted. Hidden ones are skipped; a link is followed
    only to a file inside the root. A folder that can't be listed is an error, or reported to
    `on_error` and named to `unread`."""
    top = Path(root)
    inside = top.resolve()

    def fail(error: OSError) -> None:
        failed = InputError(f"can't be listed ({error.strerror}); check its permissions", place=error.filename)
        if on_error is None:
            raise failed from error
        unread(Path(error.filename))
        on_error(failed)

    for folder, folders, names in os.walk(top, onerror=fail):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder) / name
            if name.startswith(".") or not path.is_file():
                continue
            if path.is_symlink() and not path.resolve().is_relative_to(inside):
                continue
            yield path.relative_to(top).as_posix(), path


def guess_path_language(relative: str) -> str:
    """The language a path names: `report.fr.txt`, else the nearest folder, `fr/report.txt`; else ""."""
    path = PurePosixPath(relative)
    parts = path.name.split(".")
    if len(parts) > 2 and "." + parts[-1].lower() in COMPRESSED_SUFFIXES:
        parts.pop()
    if len(parts) > 2 and is_language_code(parts[-2]):
        return parse_language_code(parts[-2])
    return next((parse_language_code(part) for part in reversed(path.parts[:-1]) if is_language_code(part)), "")
