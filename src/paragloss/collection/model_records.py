"""The models a collection is searched with: which they are, and whether every document has been encoded with them.

A model is noted as unfinished before anything of it is written and as ready when all is: a kill in between leaves a
collection that is searched without it until the same command is given again.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paragloss.collection.embeddings import rows_of, storing
from paragloss.collection.models import foreign, keep, name_of
from paragloss.encoders.pretrained import Pretrained
from paragloss.stores import AnyStore, model_files
from paragloss.types import Encoder

BLOB = "models"


class Kept(NamedTuple):
    """What is noted of one model: what its files hold, and whether it can be searched with."""

    digest: str
    ready: bool


def kept(store: AnyStore) -> dict[str, Kept]:
    """The models of a collection, in the order they were added."""
    noted = json.loads(store.read_blob(BLOB) or b"{}")
    return {name: Kept(*entry) for name, entry in noted.items()}


def note(store: AnyStore, models: dict[str, Kept]) -> None:
    store.write_blob(BLOB, noted(models))


def noted(models: dict[str, Kept]) -> bytes:
    """What stands in a collection for the models it has."""
    return json.dumps(models).encode()


def add(store: AnyStore, path: str, model: Any, *, precision: str = "float32") -> bool:
    """Put a model into the collection, in place of one of its name; False when it is there already."""
    name, models = name_of(path), kept(store)
    digest = "" if foreign(path) else digest_of(path)
    whole = name in store.dense or not isinstance(model, Encoder)
    if name in models and models[name] == Kept(digest, True) and whole:
        return False
    with store.writing():
        store.claim()
        models = kept(store)
        note(store, {**models, name: Kept(digest, False)})
        keep(store, path, model)
        if name in store.dense and (store.count() or not isinstance(model, Encoder)):
            store.drop_dense(name)  # nothing of a model that was here before may stay
        if isinstance(model, Encoder) and name not in store.dense:
            several = isinstance(model, Pretrained)
            store.add_dense(name, storing(model).dim, several=several, precision=precision)
        if isinstance(model, Encoder) and not isinstance(model, Pretrained):
            _encode_all(store, name, model)
        note(store, {**models, name: Kept(digest, True)})
    return True


def remove(store: AnyStore, name: str) -> None:
    """Forget a model, its files and its vectors. It is noted to the last, so that what was killed can be done again."""
    with store.writing():
        store.claim()
        models = kept(store)
        note(store, {**models, name: Kept(models[name].digest, False)})
        if name in store.dense:
            store.drop_dense(name)
        model_files.discard(store, name)
        note(store, {other: entry for other, entry in models.items() if other != name})


def digest_of(path: str | Path) -> str:
    """Two models with the same digest are the same."""
    seen = hashlib.blake2b(digest_size=16)
    for file in sorted(p for p in Path(path).rglob("*") if p.is_file()):
        seen.update(file.relative_to(path).as_posix().encode() + b"\0")
        with file.open("rb") as data:
            while block := data.read(1 << 20):
                seen.update(block)
    return seen.hexdigest()


def _encode_all(store: AnyStore, name: str, model: Encoder) -> None:
    for records in store.scroll():
        documents = [record.document for record in records]
        rows = {d.id: row for d, row in zip(documents, rows_of(model, documents), strict=True)}
        known = {id: row for id, row in rows.items() if row is not None and row.any()}
        if known:
            store.update_dense(name, list(known), np.stack(list(known.values())))
