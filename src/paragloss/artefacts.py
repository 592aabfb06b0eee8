"""Save and load: a folder with `meta.json`, `.npy` arrays (memory-mapped on loading) and `.txt` word lists.

Knows nothing of what is saved. Nothing is ever pickled or unpickled; a folder appears whole or not at all.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from paragloss import __version__
from paragloss.errors import ModelError, describe_unknown_format

FORMAT = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: Kinds of numpy arrays that models hold: real numbers, booleans and texts.
_ARRAY_KINDS = "fiubUS"


class Artefact(NamedTuple):
    """What a folder holds. `kind` says which class can be made of it."""

    kind: str
    meta: dict[str, Any]
    arrays: Mapping[str, npt.NDArray[Any]]
    words: Mapping[str, list[str]]


def save(
    path: str | Path,
    kind: str,
    *,
    meta: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]] | None = None,
    words: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write a folder beside its final place, then swap it in: a kill leaves the old one or the new one."""
    path = Path(path).absolute()
    arrays, words = arrays or {}, words or {}
    for name in (*arrays, *words):
        if not _NAME.fullmatch(name):
            raise ModelError(f"can't save an array called {name!r}: use letters, digits, '.', '_' and '-'")
    path.parent.mkdir(parents=True, exist_ok=True)
    recover(path)
    if path.exists() and not (path / "meta.json").is_file():
        raise ModelError(f"{path} exists and is not a saved model: choose another place or remove it")
    fresh = path.with_name(f".{path.name}-{os.urandom(6).hex()}")
    fresh.mkdir()  # with the mode the umask gives, as all files in it
    try:
        for name, array in arrays.items():
            np.save(fresh / f"{name}.npy", np.ascontiguousarray(array), allow_pickle=False)
        for name, entries in words.items():
            (fresh / f"{name}.txt").write_text("".join(f"{entry}\n" for entry in entries), encoding="utf-8")
        contents = {
            "format": FORMAT,
            "paragloss": __version__,
            "kind": kind,
            "arrays": sorted(arrays),
            "words": sorted(words),
            "meta": dict(meta),
        }
        (fresh / "meta.json").write_text(json.dumps(contents, ensure_ascii=False, indent=1), encoding="utf-8")
        swap(fresh, path)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def swap(fresh: Path, path: Path) -> None:
    """Put a finished folder in the place of another. A kill between the two renames leaves the old one beside its
    place, where `recover` finds it; whoever else swaps or recovers waits until both are done."""
    old = path.with_name(f".{path.name}.old")
    with _alone(path.parent):
        _recover(path, old)
        shutil.rmtree(old, ignore_errors=True)
        if path.exists():
            path.rename(old)
        fresh.rename(path)
        shutil.rmtree(old, ignore_errors=True)


def recover(path: Path) -> None:
    """Bring back a folder whose replacement was killed half-way."""
    old = path.with_name(f".{path.name}.old") if path.name else path
    if not path.exists() and old.is_dir():
        with _alone(path.parent):
            _recover(path, old)


def _recover(path: Path, old: Path) -> None:
    if not path.exists() and old.is_dir():
        old.rename(path)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Within, no other process or thread is; a lock that dies with whoever has it."""
    if sys.platform == "win32":  # folders can't be opened there
        yield
        return
    import fcntl

    place = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)


def load(path: str | Path, *, kind: str | None = None) -> Artefact:
    """Open a saved folder; arrays stay on disk until they are touched. One that is replaced meanwhile is read anew."""
    path = Path(path)
    while True:
        recover(path)
        before = _state(path)
        try:
            found = _load(path, kind)
        except ModelError:
            recover(path)
            if _state(path) == before:
                raise
        else:
            if _state(path) == before:
                return found


def _state(path: Path) -> tuple[int, int] | None:
    """Which folder this is."""
    try:
        return path.stat().st_ino, path.stat().st_mtime_ns
    except OSError:
        return None


def _load(path: Path, kind: str | None) -> Artefact:
    contents = _contents(path)
    found, names, lists = contents["kind"], contents["arrays"], contents["words"]
    if kind is not None and found != kind:
        raise ModelError(f"{path} holds a {found}, not a {kind}")
    try:
        arrays = {name: np.load(_own(path / f"{name}.npy"), mmap_mode="r", allow_pickle=False) for name in names}
        words = {name: _own(path / f"{name}.txt").read_text(encoding="utf-8").split("\n")[:-1] for name in lists}
    except ModelError:
        raise
    except Exception as error:  # numpy raises what its parts raise, a tokenizer's errors among them
        reason = " ".join(str(error).split())[:200]
        raise ModelError(f"{path} is damaged ({reason}): train or copy the model again") from None
    for name, array in arrays.items():
        if array.dtype.kind not in _ARRAY_KINDS:
            raise ModelError(f"{path} has an array {name!r} of {array.dtype}: expected real numbers or texts")
    return Artefact(found, contents["meta"], arrays, words)


def check_finite(path: str | Path) -> None:
    """Read all numbers of a saved folder: one that is not finite would spread into whatever is computed with it."""
    for name, array in load(path).arrays.items():
        rows = array.reshape(-1) if array.dtype.kind == "f" else array[:0]
        if not all(np.isfinite(rows[start : start + (1 << 20)]).all() for start in range(0, len(rows), 1 << 20)):
            raise ModelError(f"{path} has numbers in {name!r} that are not finite: train or copy the model again")


def _contents(path: Path) -> dict[str, Any]:
    """What a folder says of itself, once it is known to say it right."""
    recover(path)
    try:
        text = _own(path / "meta.json").read_text(encoding="utf-8")
        contents: dict[str, Any] = json.loads(text, parse_constant=_refuse_constant)
        version, names, lists = contents["format"], contents["arrays"], contents["words"]
        if not isinstance(contents["kind"], str) or not isinstance(contents["meta"], dict):
            raise TypeError("its kind is no word, or its settings are no object")
        if not all(isinstance(some, list) and all(isinstance(name, str) for name in some) for some in (names, lists)):
            raise TypeError("its arrays and word lists are no lists of names")
    except FileNotFoundError:
        raise ModelError(f"{path} is not a saved model: it has no meta.json") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelError(f"{path / 'meta.json'} is damaged ({error}): train or copy the model again") from None
    if version != FORMAT:
        raise ModelError(describe_unknown_format(path, contents, str(FORMAT)))
    for name in (*names, *lists):
        if not _NAME.fullmatch(name):
            raise ModelError(f"{path / 'meta.json'} names a file {name!r} outside the folder: don't trust this model")
    return contents


def _refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python reads although JSON has no such numbers."""
    raise ValueError(f"{name} is no number")


def cache() -> Path:
    """The user's folder for what can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paragloss"


def _own(file: Path) -> Path:
    """A file of a model; a link may lead to any other, so it is refused."""
    if file.is_symlink():
        raise ModelError(
            f"{file} is a link, which may lead anywhere: put the file itself there, or don't trust this model"
        )
    return file


def kind_of(path: str | Path) -> str:
    """What a saved folder holds, without loading it."""
    return str(_contents(Path(path))["kind"])
