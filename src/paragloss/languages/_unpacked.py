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
    """Load the arrays of a model from the user's cache; where it has no valid ones, unpack and cache them.

    :param name: the folder of the model in the cache: its name and version with a hyphen between them
    :param unpack: returns the arrays from the files that the model is distributed in
    :param are_valid: tells whether cached arrays fit together
    """
    folder = artefacts.cache_folder() / name
    with suppress(ModelError, OSError):
        cached_arrays = {key: np.asarray(array) for key, array in artefacts.load(folder).arrays.items()}
        if are_valid(cached_arrays):
            return cached_arrays
    arrays = unpack()
    with suppress(ModelError, OSError):  # such as a cache that can't be written
        artefacts.save(folder, "unpacked", meta={}, arrays=arrays)
        _remove_other_versions(folder)
    return arrays


def _remove_other_versions(folder: Path) -> None:
    """Remove what other versions of a model have left in the cache; processes that have mapped it keep it.

    :param folder: the cached model, such as `py3langid-0.3.0`
    """
    model, _, _ = folder.name.partition("-")
    for cached_version in folder.parent.glob(f"{model}-*"):
        if cached_version != folder:
            shutil.rmtree(cached_version, ignore_errors=True)


def load_identifier() -> LanguageIdentifier:
    """Load py3langid's model, which identifies languages, from the arrays that are unpacked in the user's cache."""
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
    """Tell whether the arrays of py3langid's automaton fit together, so that no state refers to a row that is missing.

    `row` has the row of each state in the table of moves `nextmove`, which has 256 moves a row, one for each byte.
    `output` has the row of each state in the table of probabilities `ptc`.
    """
    n_states, n_moves = len(arrays["row"]), len(arrays["nextmove"])
    if len(arrays["output"]) != n_states or n_moves % 256:
        return False
    return int(arrays["row"].max()) < n_moves // 256 and int(arrays["output"].max()) < len(arrays["ptc"])


def _unpack_identifier() -> Arrays:
    """Read the compressed arrays of the model that py3langid is distributed with."""
    from py3langid.langid import MODEL_DIR, MODEL_FILE
    from py3langid.modelio import load_model

    ptc, pc, classes, nextmove, row, output = load_model(MODEL_DIR / MODEL_FILE)
    arrays = {"ptc": ptc, "pc": pc, "classes": classes, "nextmove": nextmove, "row": row, "output": output}
    return {name: np.asarray(array) for name, array in arrays.items()}
