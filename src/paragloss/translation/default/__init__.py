"""The model in the box: translations between some forty languages, learned from open data (docs/understand/model.md).

The code is Apache-2.0 like the rest; what lies in `data` is CC BY-SA 4.0, with attributions in data/NOTICE.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from paragloss.errors import ModelError
from paragloss.translation.default._model import FALLBACK, KIND, DefaultModel
from paragloss.translation.word_table import Table

__all__ = ["KIND", "DefaultModel", "load", "open", "table"]

#: Studies name another build here: one that has not read what they ask. Words inside words are then its own too.
_PLACE = Path(os.environ.get("PARAGLOSS_HELD") or Path(__file__).parent / "data" / "model")


@cache
def open() -> DefaultModel:
    """The model that is part of the package, opened once a process."""
    if not (_PLACE / "meta.json").is_file():
        raise ModelError(
            f"the default model is not at {_PLACE}: install paragloss again, or build it "
            "(python studies/default_model.py)"
        )
    return DefaultModel.load(_PLACE)


def load(path: str | Path) -> DefaultModel:
    """A model that somebody saved; unlike the one in the box it is looked through before it is used."""
    model = DefaultModel.load(path)
    if FALLBACK not in model.langs:
        raise ModelError(f"{path} is damaged (it has no {FALLBACK!r}): train or copy the model again")
    for lang in model.langs:
        model.has_term("a", lang)
    return model


def table(model: DefaultModel, pairs: Iterable[tuple[str, str]]) -> Table:
    """Some pairs as a Table, in full: what `train table --start default` goes on from."""
    from paragloss.translation.default import _unpacked_table  # scipy, which only learning needs

    return _unpacked_table.table(model, pairs)
