"""py3langid's model, which identifies languages, unpacked once into the user's cache and mapped into memory from there.

Unpacking takes longer than everything else a search from the command line does, and 70 MB in every process.
"""

from __future__ import annotations

import shutil
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


def load_identifier() -> LanguageIdentifier:
    """Load py3langid's model from the arrays in the user's cache; where these are missing or damaged, write them anew.

    A cache that can't be written is no error: then the model is unpacked every time.
    """
    from py3langid import __version__
    from py3langid.langid import LanguageIdentifier

    folder = artefacts.cache_folder() / f"py3langid-{__version__}"
    arrays = _load_cached_arrays(folder)
    if arrays is None:
        arrays = _unpack_arrays()
        with suppress(ModelError, OSError):
            artefacts.save(folder, "unpacked", meta={}, arrays=arrays)
            _remove_other_versions(folder)
    return LanguageIdentifier(
        arrays["ptc"],  # log-probability of each n-gram in each language
        arrays["pc"],  # log-probability of each language
        arrays["classes"].tolist(),  # the languages
        arrays["nextmove"].data,
        arrays["output"].data,
        tk_row=arrays["row"].tolist(),  # for these three see `_are_consistent`
    )


def _load_cached_arrays(folder: Path) -> Arrays | None:
    """Return the arrays of the model in a folder of the cache; None if there are none that fit together."""
    with suppress(ModelError, OSError):
        arrays = {key: np.asarray(array) for key, array in artefacts.load(folder).arrays.items()}
        if _are_consistent(arrays):
            return arrays
    return None


def _are_consistent(arrays: Arrays) -> bool:
    """Tell whether the arrays of py3langid's automaton fit together, so that no state refers to a row that is missing.

    `row` has the row of each state in the table of moves `nextmove`, which has 256 moves a row, one for each byte.
    `output` has the row of each state in the table of probabilities `ptc`.
    """
    n_states, n_moves = len(arrays["row"]), len(arrays["nextmove"])
    if len(arrays["output"]) != n_states or n_moves % 256:
        return False
    return int(arrays["row"].max()) < n_moves // 256 and int(arrays["output"].max()) < len(arrays["ptc"])


def _unpack_arrays() -> Arrays:
    """Read the compressed arrays of the model that py3langid is distributed with."""
    from py3langid.langid import MODEL_DIR, MODEL_FILE
    from py3langid.modelio import load_model

    ptc, pc, classes, nextmove, row, output = load_model(MODEL_DIR / MODEL_FILE)
    arrays = {"ptc": ptc, "pc": pc, "classes": classes, "nextmove": nextmove, "row": row, "output": output}
    return {name: np.asarray(array) for name, array in arrays.items()}


def _remove_other_versions(folder: Path) -> None:
    """Remove what other versions of the model have left in the cache; processes that have mapped it keep it."""
    for cached_version in folder.parent.glob("py3langid-*"):
        if cached_version != folder:
            shutil.rmtree(cached_version, ignore_errors=True)
