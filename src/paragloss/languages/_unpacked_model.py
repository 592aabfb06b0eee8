"""py3langid's model as it lies in memory, unpacked once into the user's cache and mapped from there: unpacking takes
longer than everything else a search from the command line does, and 70 MB in every process."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paragloss import artefacts
from paragloss.errors import ModelError

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

KIND = "identifier"


def identifier() -> LanguageIdentifier:
    """From the cache if it is there; where nothing can be written, unpacked each time."""
    from py3langid import __version__
    from py3langid.langid import LanguageIdentifier

    cached = artefacts.cache() / f"py3langid-{__version__}"
    arrays = _kept(cached)
    if arrays is None:
        arrays = _packed()
        with suppress(OSError, ModelError):
            artefacts.save(cached, KIND, meta={}, arrays=arrays)
    return LanguageIdentifier(
        arrays["ptc"],
        arrays["pc"],
        arrays["classes"].tolist(),
        memoryview(arrays["nextmove"]),
        arrays["output"].tolist(),
        tk_row=arrays["row"].tolist(),
    )


def _kept(cached: Path) -> dict[str, Any] | None:
    with suppress(ModelError, OSError):
        arrays = dict(artefacts.load(cached, kind=KIND).arrays)
        states, moves = len(arrays["row"]), len(arrays["nextmove"])
        sound = len(arrays["output"]) == states and int(arrays["row"].max()) * 256 < moves
        if sound and int(arrays["output"].max()) < len(arrays["ptc"]) and moves % 256 == 0:
            return arrays
    return None


def _packed() -> dict[str, Any]:
    from py3langid.langid import MODEL_DIR, MODEL_FILE
    from py3langid.modelio import load_model

    ptc, pc, classes, nextmove, row, output = load_model(MODEL_DIR / MODEL_FILE)
    integers = {"nextmove": nextmove, "row": row, "output": output}
    return {"ptc": ptc, "pc": pc, "classes": np.array(classes), **{k: np.asarray(v) for k, v in integers.items()}}
