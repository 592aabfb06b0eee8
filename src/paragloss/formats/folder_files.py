"""List the files of a folder, and tell languages from paths; no file is read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath

from paragloss.errors import InputError
from paragloss.formats.text import COMPRESSED_SUFFIXES, OnError, PathLike, is_language_code, parse_language_code


def list_files(root: PathLike, *, on_error: OnError = None) -> Iterator[tuple[str, Path]]:
    """Yield (path relative to the root, path) of every file below a folder, sorted.

    Hidden files and folders are left out. A link is followed only to a file inside the root.

    :param root: the folder
    :param on_error: called with the error of each folder that can't be listed, whose location is the folder; without it
        the error is raised
    """
    top = Path(root)
    resolved_top = top.resolve()
    for folder, subfolders, file_names in os.walk(top, onerror=partial(_report_unlisted_folder, on_error)):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))  # os.walk enters these
        visible_names = sorted(name for name in file_names if not name.startswith("."))
        for name in visible_names:
            path = Path(folder) / name
            if path.is_file() and not _leads_outside(path, resolved_top):
                yield path.relative_to(top).as_posix(), path


def _leads_outside(path: Path, resolved_top: Path) -> bool:
    return path.is_symlink() and not path.resolve().is_relative_to(resolved_top)


def _report_unlisted_folder(on_error: OnError, error: OSError) -> None:
    """Pass the error of a folder that can't be listed to `on_error`, or raise it where there is none."""
    unlisted = InputError(f"can't be listed ({error.strerror}); check its permissions", location=error.filename)
    if on_error is None:
        raise unlisted from error
    on_error(unlisted)


def guess_path_language(relative: str) -> str:
    """Return the language that the path of a file names: fr for `report.fr.txt` and `fr/2020/report.txt`.

    The name of the file comes before its folders, and a nearer folder before one above it.

    :param relative: the path below the folder that is read, with slashes
    :return: the code of the language, "" if the path names none
    """
    path = PurePosixPath(relative)
    name_parts = path.name.split(".")
    if len(name_parts) > 2 and f".{name_parts[-1].lower()}" in COMPRESSED_SUFFIXES:
        name_parts.pop()
    if len(name_parts) > 2 and is_language_code(name_parts[-2]):
        return parse_language_code(name_parts[-2])
    for folder in reversed(path.parts[:-1]):
        if is_language_code(folder):
            return parse_language_code(folder)
    return ""
