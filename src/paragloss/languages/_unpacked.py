"""Models that identify languages, unpacked once into the user's cache and mapped into memory from there.

Unpacking takes longer than everything else a search from the command line does, and 70 MB in every process.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from paragloss import artefacts
from paragloss.errors import ModelError

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

Arrays = dict[str, npt.NDArray[Any]]


def load_unpacked(name: str, unpack: Callable[[], Arrays], are_valid: Callable[[Arrays], bool]) -> Arrays:
    """Load the arrays of a model from the cache.

    Args:
        name: The name of the model in the cache, with its version.
        unpack: Unpacks the arrays. It is called if the cache lacks them or has invalid ones, and the result is cached
            where the folder of the cache can be written.
        are_valid: Tells whether cached arrays fit together.
    """
    cached = artefacts.cache_folder() / name
    with suppress(ModelError, OSError):
        cached_arrays = {key: np.asarray(array) for key, array in artefacts.load(cached).arrays.items()}
        if are_valid(cached_arrays):
            return cached_arrays
    arrays = unpack()
    with suppress(OSError, ModelError):
        artefacts.save(cached, "unpacked", meta={}, arrays=arrays)
        _remove_other_versions(cached)
    return arrays


def _remove_other_versions(cached: Path) -> None:
    """Remove what other versions of a model have left in the cache; processes that have mapped it keep it."""
    model, _, _ = cached.name.partition("-")
    for folder in cached.parent.glob(f"{model}-*"):
        if folder != cached:
            shutil.rmtree(folder, ignore_errors=True)


def load_identifier() -> LanguageIdentifier:
    """Load the model by which py3langid identifies languages, unpacked in the user's cache."""
    from py3langid import __version__
    from py3langid.langid import LanguageIdentifier

    arrays = load_unpacked(f"py3langid-{__version__}", _unpack_identifier, _are_identifier_arrays_valid)
    return LanguageIdentifier(
        arrays["ptc"],
        arrays["pc"],
        arrays["classes"].tolist(),
        arrays["nextmove"].data,
        arrays["output"].data,
        tk_row=arrays["row"].tolist(),
    )


def _are_identifier_arrays_valid(arrays: Arrays) -> bool:
    n_states, n_moves = len(arrays["row"]), len(arrays["nextmove"])
    are_states_valid = len(arrays["output"]) == n_states and int(arrays["row"].max()) * 256 < n_moves
    return are_states_valid and int(arrays["output"].max()) < len(arrays["ptc"]) and n_moves % 256 == 0


def _unpack_identifier() -> Arrays:
    from py3langid.langid import MODEL_DIR, MODEL_FILE
    from py3langid.modelio import load_model

    ptc, pc, classes, nextmove, row, output = load_model(MODEL_DIR / MODEL_FILE)
    arrays = {"ptc": ptc, "pc": pc, "classes": classes, "nextmove": nextmove, "row": row, "output": output}
    return {name: np.asarray(array) for name, array in arrays.items()}
