"""Open the embedded engine, and turn its errors and panics into StoreError."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from paragloss.errors import ParaglossError, StoreError

#: Only one thread at a time may redirect standard error, which belongs to the whole process.
_stderr_lock = threading.Lock()
_STDERR = 2
_COPY_BLOCK = 1 << 16
_MAX_REASON_LENGTH = 300


@contextmanager
def engine_errors_as_store_error(action: str) -> Iterator[None]:
    """Turn any error or panic of the engine into a one-line StoreError that says which action failed."""
    try:
        yield
    except ParaglossError:
        raise
    except BaseException as error:
        # The engine's panics derive from BaseException only.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            reason = " ".join(str(error).split())[:_MAX_REASON_LENGTH]
            raise StoreError(f"{action} ({reason}): `paragloss check` tells what is whole") from error
        raise


def load_engine(shard_folder: Path, config: Any = None) -> Any:
    """Open the engine's folder, and hide what the engine prints if it panics.

    :param config: a new `EdgeConfig` for the vectors; by default the stored one is used.
    """
    with engine_errors_as_store_error(f"{shard_folder} can't be opened"), _hide_stderr_on_error():
        return edge.EdgeShard.load(str(shard_folder), config)


@contextmanager
def _hide_stderr_on_error() -> Iterator[None]:
    """Collect what is written to standard error, and write it out at the end unless the block raises."""
    sys.stderr.flush()
    with _stderr_lock, tempfile.TemporaryFile() as collected:
        original_stderr = os.dup(_STDERR)
        os.dup2(collected.fileno(), _STDERR)
        try:
            yield
            _copy_from_start(collected.fileno(), original_stderr)
        finally:
            os.dup2(original_stderr, _STDERR)
            os.close(original_stderr)


def _copy_from_start(source: int, target: int) -> None:
    """Copy a file's content to another file descriptor."""
    os.lseek(source, 0, os.SEEK_SET)
    block = os.read(source, _COPY_BLOCK)
    while block:
        os.write(target, block)
        block = os.read(source, _COPY_BLOCK)
