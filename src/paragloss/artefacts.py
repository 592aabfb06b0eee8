"""Save and load models: a folder with `meta.json`, `.npy` arrays (memory-mapped on loading) and `.txt` word lists.

Nothing is ever pickled or unpickled. A folder is written under another name and then renamed, so it is never
incomplete.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
#: Numbers that `check_finite` reads at a time.
_BLOCK_SIZE = 1 << 20


class Artefact(NamedTuple):
    """The contents of a saved folder; `kind` identifies the class of the model."""

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
    """Save a model as a folder. A kill leaves the old folder or the new one.

    The folder is written under another name, then renamed. A saved model of the same name is replaced.

    :param path: the folder.
    :param kind: identifies the class of the model, so that it can be loaded.
    :param meta: the model's settings, as JSON can represent them.
    :param arrays: numpy arrays by name, without Python objects.
    :param words: lists of texts without line breaks, by name.
    :raises ModelError: for a name that is no file name, or if `path` exists and is no saved model.
    """
    path = Path(path).absolute()
    arrays, words = arrays or {}, words or {}
    _check_names((*arrays, *words))
    path.parent.mkdir(parents=True, exist_ok=True)
    recover_folder(path)
    if path.exists() and not _is_saved_model(path):
        raise ModelError(f"{path} exists and is not a saved model: choose another place or remove it")
    unfinished = path.with_name(f".{path.name}-{os.urandom(6).hex()}")
    unfinished.mkdir()  # not by `tempfile`, whose folders nobody else may read
    try:
        _write_files(unfinished, kind, meta, arrays, words)
        replace_folder(unfinished, path)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _is_saved_model(path: Path) -> bool:
    """Tell whether a folder is a model that `save` may replace; the folder of a collection has a `meta.json`, too."""
    try:
        _check_types(json.loads((path / "meta.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
    return True


def _check_names(names: Iterable[str]) -> None:
    """Raise ModelError for a name of an array or a list of words that can't be the name of its file."""
    for name in names:
        if not _NAME.fullmatch(name):
            raise ModelError(f"can't save an array called {name!r}: use letters, digits, '.', '_' and '-'")


def _write_files(
    folder: Path,
    kind: str,
    meta: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
    words: Mapping[str, Sequence[str]],
) -> None:
    """Write the arrays, the lists of texts and `meta.json` of a model into an empty folder.

    :param kind: identifies the class of the model
    :param meta: the model's settings
    :param arrays: arrays by name
    :param words: lists of texts by name
    """
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(array), allow_pickle=False)
    for name, entries in words.items():
        (folder / f"{name}.txt").write_text("".join(f"{entry}\n" for entry in entries), encoding="utf-8")
    contents = {
        "format": FORMAT,
        "paragloss": __version__,
        "kind": kind,
        "arrays": sorted(arrays),
        "words": sorted(words),
        "meta": dict(meta),
    }
    (folder / "meta.json").write_text(json.dumps(contents, ensure_ascii=False, indent=1), encoding="utf-8")


def replace_folder(finished: Path, path: Path) -> None:
    """Put a finished folder in the place of another.

    The old folder is renamed to `.NAME.old`, the finished one to `path`, and the old one is removed. If the process is
    killed between the two renames, `recover_folder` brings the old one back. Other processes that replace or recover
    the folder wait.

    :param finished: a folder beside `path`, under another name
    :param path: the folder to replace, which need not exist
    """
    old = _old_folder(path)
    with _lock_folder(path.parent):
        _recover_unlocked(path, old)
        shutil.rmtree(old, ignore_errors=True)
        if path.exists():
            path.rename(old)
        finished.rename(path)
        shutil.rmtree(old, ignore_errors=True)


def recover_folder(path: Path) -> None:
    """Bring back a folder if replacing it was interrupted."""
    old = _old_folder(path) if path.name else path
    if not path.exists() and old.is_dir():
        with _lock_folder(path.parent):
            _recover_unlocked(path, old)


def _recover_unlocked(path: Path, old: Path) -> None:
    if not path.exists() and old.is_dir():
        old.rename(path)


def _old_folder(path: Path) -> Path:
    return path.with_name(f".{path.name}.old")


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Keep other processes and threads from replacing folders in a folder; the lock ends with the process."""
    if sys.platform == "win32":  # folders can't be opened there
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def load(path: str | Path, *, kind: str | None = None) -> Artefact:
    """Open a saved folder; its arrays stay on disk until they are read.

    If the folder is replaced while it is read, it is read again.

    :param kind: the expected kind; None accepts any.
    :raises ModelError: if the folder is missing, damaged, of another kind, or was written by a newer version.
    """
    path = Path(path)
    while True:
        recover_folder(path)
        identity = _identify_folder(path)
        try:
            artefact = _read_folder(path, kind)
        except ModelError:
            recover_folder(path)
            if _identify_folder(path) == identity:  # it was not replaced meanwhile, so the error is real
                raise
        else:
            if _identify_folder(path) == identity:
                return artefact


def _identify_folder(path: Path) -> tuple[int, int] | None:
    """Return values that change when the folder is replaced; None if there is none."""
    try:
        return path.stat().st_ino, path.stat().st_mtime_ns
    except OSError:
        return None


def _read_folder(path: Path, kind: str | None) -> Artefact:
    """Read a saved folder; raise ModelError if it is damaged or of another kind than expected.

    :param kind: the expected kind; None accepts any
    """
    contents = _read_contents(path)
    if kind is not None and contents["kind"] != kind:
        raise ModelError(f"{path} holds a {contents['kind']}, not a {kind}")
    try:
        arrays = {name: _read_array(path / f"{name}.npy") for name in contents["arrays"]}
        words = {name: _read_words(path / f"{name}.txt") for name in contents["words"]}
    except ModelError:
        raise
    except Exception as error:  # numpy raises many kinds, even those of Python's tokenizer
        reason = " ".join(str(error).split())[:200]
        raise ModelError(f"{path} is damaged ({reason}): train or copy the model again") from None
    return Artefact(contents["kind"], contents["meta"], arrays, words)


def _read_array(file: Path) -> npt.NDArray[Any]:
    """Map an array of a saved folder into memory; raise ModelError if it is a link, or not of numbers or texts."""
    _refuse_link(file)
    array: npt.NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    if array.dtype.kind not in _ARRAY_KINDS:
        raise ModelError(f"{file.parent} has an array {file.stem!r} of {array.dtype}: expected real numbers or texts")
    return array


def _read_words(file: Path) -> list[str]:
    _refuse_link(file)
    return file.read_text(encoding="utf-8").split("\n")[:-1]


def check_finite(path: str | Path) -> None:
    """Read all numbers of a saved folder and raise ModelError if one is infinite or not a number."""
    for name, array in load(path).arrays.items():
        numbers = array.reshape(-1) if array.dtype.kind == "f" else array[:0]
        blocks = (numbers[start : start + _BLOCK_SIZE] for start in range(0, len(numbers), _BLOCK_SIZE))
        if not all(np.isfinite(block).all() for block in blocks):
            raise ModelError(f"{path} has numbers in {name!r} that are not finite: train or copy the model again")


def _read_contents(path: Path) -> dict[str, Any]:
    """Read `meta.json` of a saved folder; raise ModelError if it is missing, damaged, of another format or unsafe."""
    recover_folder(path)
    contents = _parse_contents(path)
    if contents["format"] != FORMAT:
        raise ModelError(describe_unknown_format(path, contents, str(FORMAT)))
    for name in (*contents["arrays"], *contents["words"]):
        if not _NAME.fullmatch(name):
            raise ModelError(f"{path / 'meta.json'} names a file {name!r} outside the folder: don't trust this model")
    return contents


def _parse_contents(path: Path) -> dict[str, Any]:
    """Parse `meta.json` of a saved folder; raise ModelError if it is missing, or has not all entries of a model."""
    try:
        _refuse_link(path / "meta.json")
        text = (path / "meta.json").read_text(encoding="utf-8")
        contents: dict[str, Any] = json.loads(text, parse_constant=_refuse_constant)
        _check_types(contents)
    except FileNotFoundError:
        raise ModelError(f"{path} is not a saved model: it has no meta.json") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelError(f"{path / 'meta.json'} is damaged ({error}): train or copy the model again") from None
    return contents


def _check_types(contents: Mapping[str, Any]) -> None:
    """Raise KeyError or TypeError unless `meta.json` has all entries, of the right types."""
    _, kind, meta, arrays, words = (contents[name] for name in ("format", "kind", "meta", "arrays", "words"))
    if not isinstance(kind, str) or not isinstance(meta, dict):
        raise TypeError("its kind is no word, or its settings are no object")
    for names in (arrays, words):
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise TypeError("its arrays and word lists are no lists of names")


def _refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python reads although JSON has no such numbers."""
    raise ValueError(f"{name} is no number")


def cache_folder() -> Path:
    """Return the user's folder for files that can be created again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paragloss"


def _refuse_link(file: Path) -> None:
    """Raise ModelError for a symbolic link: a model from elsewhere could read any file of this machine by one."""
    if file.is_symlink():
        raise ModelError(
            f"{file} is a link, which may lead anywhere: put the file itself there, or don't trust this model"
        )


def read_kind(path: str | Path) -> str:
    """Return the kind of a saved folder without loading it."""
    return str(_read_contents(Path(path))["kind"])
