"""A file that lets a long fit go on after a kill. Knows nothing of what is fitted."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


class Checkpoint:
    """Writes a checkpoint now and then: to a file beside its place, then over it, so that a kill leaves one whole."""

    def __init__(self, path: Path | None, every: float, key: str) -> None:
        self.path, self.every, self.key = path, every, key
        self.last = time.monotonic()

    def load(self) -> dict[str, npt.NDArray[Any]]:
        if self.path is None or not self.path.exists():
            return {}
        try:
            with np.load(self.path, allow_pickle=False) as saved:
                if str(saved["key"]) == self.key:
                    return {name: saved[name] for name in saved.files if name != "key"}
        except (OSError, ValueError, KeyError) as error:
            warnings.warn(f"{self.path} can't be read ({error}): starting anew", stacklevel=4)
            return {}
        warnings.warn(f"{self.path} is of other data or other settings: starting anew", stacklevel=4)
        return {}

    def save(self, state: Callable[[], dict[str, npt.NDArray[Any]]]) -> None:
        if self.path is None or time.monotonic() - self.last < self.every:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_name(self.path.name + ".part")
        with beside.open("wb") as file:
            np.savez(file, allow_pickle=False, **{"key": np.array(self.key), **state()})
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, self.path)
        self.last = time.monotonic()

    def remove(self) -> None:
        if self.path is not None:
            self.path.unlink(missing_ok=True)
