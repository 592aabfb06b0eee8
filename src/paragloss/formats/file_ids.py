"""Ids of documents that come from files: the path below the folder with which a file was first indexed.

A collection remembers those folders (`IndexedFolders.prefixes`). A file has the same id whether it is given by itself,
through its folder, or through a folder above or below; files of the same name in two folders have different ids.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from paragloss.formats.text import PathLike


class IndexedFolders:
    """The folders of a collection, each with the prefix of the ids of its files."""

    def __init__(
        self,
        prefixes: Mapping[str, str] | None = None,
        *,
        is_moved: Callable[[str, str], bool] = lambda old_folder, new_folder: False,
    ) -> None:
        """Start with the folders that a collection has indexed before.

        :param prefixes: these folders, each with the prefix of its ids.
        :param is_moved: called with an indexed folder that is missing and a folder to add: whether they are the same
            one, which was moved. By default no folder is taken for a moved one.
        """
        self.prefixes = dict(prefixes or {})
        self.moves: dict[str, str] = {}  # old path of each folder that turned out to be moved -> its new path
        self._is_moved = is_moved

    def add_folders(self, paths: Sequence[PathLike]) -> None:
        """Add folders to the indexed ones, each with a prefix for the ids of its files.

        A folder inside an indexed folder, or inside another folder that is being added, is not added. An indexed folder
        that was moved keeps its prefix: its new path replaces the old one.

        :param paths: the folders to add; of a file, its folder is added.
        """
        folders = list(dict.fromkeys(map(_resolve_folder, paths)))
        new_folders: list[str] = []
        for folder in folders:
            if not self._is_covered(folder, folders) and not self._replace_moved_folder(folder):
                new_folders.append(folder)
        parent = os.path.commonpath(new_folders) if len(new_folders) > 1 else ""
        for folder in new_folders:
            self.prefixes[folder] = self._make_prefix(folder, parent)

    def _is_covered(self, folder: str, added_folders: Sequence[str]) -> bool:
        """Tell whether a folder is indexed already, or is inside another one that is indexed or being added."""
        other_folders = {*self.prefixes, *added_folders} - {folder}
        return folder in self.prefixes or any(is_inside(folder, other) for other in other_folders)

    def make_id(self, root: PathLike, relative: str) -> str:
        """Return the id of the file at `relative` below `root`; for a single file, `relative` is its name."""
        path = os.path.join(_resolve_folder(root), relative)
        enclosing = [folder for folder in self.prefixes if is_inside(path, folder)]
        if not enclosing:
            return relative
        nearest = max(enclosing, key=len)
        return self.prefixes[nearest] + Path(os.path.relpath(path, nearest)).as_posix()

    def _replace_moved_folder(self, folder: str) -> bool:
        """Give `folder` the prefix of an indexed folder that is missing, if it is that folder at another path."""
        if "://" in folder:
            return False
        for indexed in self.prefixes:
            if "://" not in indexed and not os.path.isdir(indexed) and self._is_moved(indexed, folder):
                self.prefixes[folder] = self.prefixes.pop(indexed)
                self.moves[indexed] = folder
                return True
        return False

    def _make_prefix(self, folder: str, parent: str) -> str:
        """Return "" for the only folder, otherwise its name, with a number where ids of others may begin so."""
        if not self.prefixes and not parent:
            return ""
        name = Path(os.path.relpath(folder, parent)).as_posix() if parent else Path(folder).name or "root"
        prefix, number = f"{name}/", 1
        while self._is_prefix_taken(prefix):
            number += 1
            prefix = f"{name}-{number}/"
        return prefix

    def _is_prefix_taken(self, prefix: str) -> bool:
        for folder, other in self.prefixes.items():
            if prefix == other:
                return True
            if prefix.startswith(other) and os.path.lexists(os.path.join(folder, prefix[len(other) :])):
                return True
        return False


def is_inside(path: str, folder: str) -> bool:
    """Say whether a path is the folder itself or lies below it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _resolve_folder(path: PathLike) -> str:
    """Return the real path of a folder, or of the folder that a file lies in; a URL is a folder as it is."""
    if "://" in str(path):
        return str(path).rstrip("/")
    if os.path.isdir(path):
        return os.path.realpath(path)
    return os.path.realpath(os.path.dirname(os.path.abspath(path)))
