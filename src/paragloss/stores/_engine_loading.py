"""Open the embedded engine, and turn its errors and panics into StoreError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from paragloss.errors import ParaglossError, StoreError

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
    """Open the engine's folder.

    :param config: a new `EdgeConfig` for the vectors; by default the stored one is used.
    """
    with engine_errors_as_store_error(f"{shard_folder} can't be opened"):
        return edge.EdgeShard.load(str(shard_folder), config)
