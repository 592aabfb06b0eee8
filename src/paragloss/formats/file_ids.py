"""What documents of files are called: a file's path below the folder it was first indexed with, and stays that.

A collection remembers those folders (`Roots.known`). A file given by itself, through its folder, or through a folder
above or below, has one id; files of the same name in two folders have two.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from paragloss.formats.text import PathLike


class Roots:
    """Folders, each with what the ids of its files begin with."""

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self.known = dict(known or {})

    def add(self, paths: Sequence[PathLike]) -> None:
        """Take in the folders of these files and folders that are not inside a known one."""
        found = dict.fromkeys(_folder(path) for path in paths)
        fresh = [root for root in found if not any(inside(root, other) for other in {*self.known, *found} - {root})]
        fresh = [root for root in fresh if root not in self.known and not self._moved(root)]
        above = os.path.commonpath(fresh) if len(fresh) > 1 else ""
        for root in fresh:
            self.known[root] = self._prefix(root, above)

    def name(self, root: PathLike, relative: str) -> str:
        """The id of a file below a folder that was taken in, or of a file that was (`relative` is then its name)."""
        path = os.path.join(_folder(root), relative)
        home = max((known for known in self.known if inside(path, known)), key=len, default=None)
        if home is None:
            return relative
        return self.known[home] + Path(os.path.relpath(path, home)).as_posix()

    def _moved(self, root: str) -> bool:
        """Whether a known folder of this name is no longer where it was: then this is it, and takes its place."""
        for known in self.known if "://" not in root else ():
            if "://" not in known and Path(known).name == Path(root).name and not os.path.isdir(known):
                self.known[root] = self.known.pop(known)
                return True
        return False

    def _prefix(self, root: str, above: str) -> str:
        """Nothing for the only folder; otherwise its name, made different from what other ids may begin with."""
        if not self.known and not above:
            return ""
        name = Path(os.path.relpath(root, above)).as_posix() if above else Path(root).name or "root"
        prefix, number = f"{name}/", 1
        while self._taken(prefix):
            number += 1
            prefix = f"{name}-{number}/"
        return prefix

    def _taken(self, prefix: str) -> bool:
        return any(
            prefix.startswith(other) and (prefix == other or os.path.lexists(os.path.join(root, prefix[len(other) :])))
            for root, other in self.known.items()
        )


def _folder(path: PathLike) -> str:
    """The folder as it really is; that of a file is the one it lies in. An address is a folder's."""
    if "://" in str(path):
        return str(path).rstrip("/")
    if os.path.isdir(path):
        return os.path.realpath(path)
    return os.path.realpath(os.path.dirname(os.path.abspath(path)))


def inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
