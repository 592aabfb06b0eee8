"""The default model: translations between some forty languages, learned from open data (docs/understand/model.md).

The code is Apache-2.0; the files in `data` are CC BY-SA 4.0, with attributions in data/NOTICE.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from paragloss.errors import ModelError
from paragloss.translation.default._model import KIND, PIVOT, DefaultModel

__all__ = ["KIND", "PIVOT", "DefaultModel", "load", "open"]

#: Studies set PARAGLOSS_HELD to a build that has not seen the texts they measure on.
FOLDER = Path(os.environ.get("PARAGLOSS_HELD") or Path(__file__).parent / "data" / "model")


@cache
def open() -> DefaultModel:
    """Open the model that is part of the package, once a process."""
    if not (FOLDER / "meta.json").is_file():
        raise ModelError(
            f"the default model is not at {FOLDER}: install paragloss again, or build it "
            "(python studies/default_model.py)"
        )
    return DefaultModel.load(FOLDER)


def load(path: str | Path) -> DefaultModel:
    """Open a model that a user saved, and check it; the one in the package is not checked."""
    model = DefaultModel.load(path)
    if PIVOT not in model.langs:
        raise ModelError(f"{path} is damaged (it has no {PIVOT!r}): train or copy the model again")
    for lang in model.langs:
        model.has_term("a", lang)
    return model
