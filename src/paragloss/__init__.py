"""Paragloss: search documents in languages you don't read, and see why each one matched.

This is the door: what is named here is promised (docs/look-up/library.md), anything else may change from one version to
the next. Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

from paragloss.errors import InputError, LanguageError, MissingExtraError, ModelError, ParaglossError, StoreError
from paragloss.types import Aligned, Concept, Document, Hit, Judgment, Qrels, Query, Ranking, Run

if TYPE_CHECKING:
    from paragloss.collection import Answer, Collection, Result, load, train
    from paragloss.evaluation import compare, evaluate, mean
    from paragloss.formats.dictionaries import Entry
    from paragloss.translation.dictionary import Dictionary
    from paragloss.translation.glossary import Pair

__version__ = "0.1.0"
__all__ = [
    "Aligned",
    "Answer",
    "Collection",
    "Concept",
    "Dictionary",
    "Document",
    "Entry",
    "Hit",
    "InputError",
    "Judgment",
    "LanguageError",
    "MissingExtraError",
    "ModelError",
    "Pair",
    "ParaglossError",
    "Qrels",
    "Query",
    "Ranking",
    "Result",
    "Run",
    "StoreError",
    "__version__",
    "compare",
    "evaluate",
    "load",
    "mean",
    "train",
]
_ROOMS = {
    "paragloss.collection": ("Answer", "Collection", "Result", "load", "train"),
    "paragloss.evaluation": ("compare", "evaluate", "mean"),
    "paragloss.formats.dictionaries": ("Entry",),
    "paragloss.translation.dictionary": ("Dictionary",),
    "paragloss.translation.glossary": ("Pair",),
}
#: Names that were promised and are called otherwise now: what they are called, and the version they go with.
RENAMED = {"Engine": ("Collection", "0.3")}


def __getattr__(name: str) -> Any:
    if name in RENAMED:
        new, gone = RENAMED[name]
        message = f"paragloss.{name} is called paragloss.{new} now; the old name goes with version {gone}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return __getattr__(new)
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(importlib.import_module(room), name)
    raise AttributeError(f"module 'paragloss' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
