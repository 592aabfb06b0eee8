"""Models that tell languages, as they lie in memory, unpacked once into the user's cache and mapped from there:
unpacking takes longer than everything else a search from the command line does, and 70 MB in every process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from paragloss import artefacts
from paragloss.errors import ModelError

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

Arrays = dict[str, npt.NDArray[Any]]


def unpacked(name: str, unpack: Callable[[], Arrays], sound: Callable[[Arrays], bool]) -> Arrays:
    """From the cache if they are there and sound; where nothing can be written, unpacked each time."""
    cached = artefacts.cache() / name
    with suppress(ModelError, OSError):
        arrays = {name: np.asarray(array) for name, array in artefacts.load(cached).arrays.items()}
        if sound(arrays):
            return arrays
    arrays = unpack()
    with suppress(OSError, ModelError):
        artefacts.save(cached, "unpacked", meta={}, arrays=arrays)
    return arrays


def identifier() -> LanguageIdentifier:
    from py3langid import __version__
    from py3langid.langid import LanguageIdentifier

    arrays = unpacked(f"py3langid-{__version__}", _packed, _sound)
    made = LanguageIdentifier(
        arrays["ptc"],
        arrays["pc"],
        arrays["classes"].tolist(),
        arrays["nextmove"].data,
        arrays["output"].data,
        tk_row=(),
    )
    made._rowbase = (arrays["row"].astype(np.int64) << 8).tolist()  # as it does, one by one, with `tk_row`
    return made


def _sound(arrays: Arrays) -> bool:
    states, moves = len(arrays["row"]), len(arrays["nextmove"])
    right = len(arrays["output"]) == states and int(arrays["row"].max()) * 256 < moves
    return right and int(arrays["output"].max()) < len(arrays["ptc"]) and moves % 256 == 0


def _packed() -> Arrays:
    from py3langid.langid import MODEL_DIR, MODEL_FILE
    from py3langid.modelio import load_model

    ptc, pc, classes, nextmove, row, output = load_model(MODEL_DIR / MODEL_FILE)
    integers = {"nextmove": nextmove, "row": row, "output": output}
    return {"ptc": ptc, "pc": pc, "classes": np.array(classes), **{k: np.asarray(v) for k, v in integers.items()}}
