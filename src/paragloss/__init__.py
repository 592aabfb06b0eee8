"""Paragloss: search documents in languages you don't read, and see why each one matched.

The names exported here are the stable interface (docs/look-up/library.md); any other module may change from one version
to the next. Modules are imported when one of their names is used, so that `import paragloss` is fast.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

from paragloss.errors import InputError, LanguageError, MissingExtraError, ModelError, ParaglossError, StoreError
from paragloss.types import Aligned, Concept, Document, Hit, Judgment, Qrels, Query, Ranking, Run

if TYPE_CHECKING:
    from paragloss.collection import Answer, Collection, Result, load, train
    from paragloss.collection.arguments import CollectionOptions, FileOptions, IndexOptions, SearchOptions
    from paragloss.evaluation import compare, evaluate, mean
    from paragloss.formats.dictionaries import Entry
    from paragloss.translation.dictionary import Dictionary
    from paragloss.translation.glossary import Pair

__version__ = "0.1.0"
__all__ = [
    "Aligned",
    "Answer",
    "Collection",
    "CollectionOptions",
    "Concept",
    "Dictionary",
    "Document",
    "Entry",
    "FileOptions",
    "Hit",
    "IndexOptions",
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
    "SearchOptions",
    "StoreError",
    "__version__",
    "compare",
    "evaluate",
    "load",
    "mean",
    "train",
]
#: The names of each module that is imported when one of them is used.
_NAMES_BY_MODULE = {
    "paragloss.collection": ("Answer", "Collection", "Result", "load", "train"),
    "paragloss.collection.arguments": ("CollectionOptions", "FileOptions", "IndexOptions", "SearchOptions"),
    "paragloss.evaluation": ("compare", "evaluate", "mean"),
    "paragloss.formats.dictionaries": ("Entry",),
    "paragloss.translation.dictionary": ("Dictionary",),
    "paragloss.translation.glossary": ("Pair",),
}
#: Deprecated names: the new name, and the version in which the old one will be removed.
RENAMED = {"Engine": ("Collection", "0.3")}


def __getattr__(name: str) -> Any:
    if name in RENAMED:
        new_name, last_version = RENAMED[name]
        message = f"paragloss.{name} is called paragloss.{new_name} now; the old name goes with version {last_version}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return __getattr__(new_name)
    for module, names in _NAMES_BY_MODULE.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'paragloss' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
