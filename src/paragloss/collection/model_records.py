"""Record which models a collection is searched with, and whether every document has been encoded with them.

A model is recorded as unfinished before anything of it is written and as ready when everything is. If the process is
killed in between, the collection is searched without the model until the same command is given again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paragloss.collection.embeddings import encode_rows, make_document_encoder
from paragloss.collection.models import get_model_name, is_external_model, save_model
from paragloss.encoders.pretrained import Pretrained
from paragloss.encoders.pretrained.titles import title_vector_name
from paragloss.stores import AnyStore, model_files
from paragloss.types import Encoder

BLOB = "models"
READ_SIZE = 1 << 20


class ModelRecord(NamedTuple):
    """The digest of a model's files ("" if they are outside the collection), and whether it can be searched with."""

    digest: str
    is_complete: bool


def read_model_records(store: AnyStore) -> dict[str, ModelRecord]:
    """Return the records of the models of a collection by name, in the order they were added."""
    entries = json.loads(store.read_blob(BLOB) or b"{}")
    return {name: ModelRecord(*entry) for name, entry in entries.items()}


def write_model_records(store: AnyStore, records: dict[str, ModelRecord]) -> None:
    """Replace the records of all models of a collection."""
    store.write_blob(BLOB, serialize_model_records(records))


def serialize_model_records(records: dict[str, ModelRecord]) -> bytes:
    """Return records as the bytes that a collection stores."""
    return json.dumps(records).encode()


def write_model(store: AnyStore, path: str, model: Any, *, precision: str = "float32") -> bool:
    """Add a model to a collection, in place of one of the same name.

    Documents are encoded with the model at once, except by deferred encoders (see `backfill`).

    :param path: where the model was loaded from.
    :param model: the loaded model.
    :param precision: of the vectors of a pretrained encoder: float32, float16 or int8.
    :return: False if the collection has the same model already, and nothing was written.
    """
    name = get_model_name(path)
    digest = "" if is_external_model(path) else compute_digest(path)
    has_vectors = name in store.dense or not isinstance(model, Encoder)
    complete_record = ModelRecord(digest, is_complete=True)
    if has_vectors and read_model_records(store).get(name) == complete_record:
        return False
    with store.write_session():
        store.claim_writing()
        records = read_model_records(store)
        write_model_records(store, {**records, name: ModelRecord(digest, is_complete=False)})
        save_model(store, path, model)
        _renew_vectors(store, name, model, precision)
        write_model_records(store, {**records, name: complete_record})
    return True


def _renew_vectors(store: AnyStore, name: str, model: Any, precision: str) -> None:
    """Remove the vectors of the model that had a name before, and make those of the new one if that is an encoder.

    Documents are encoded at once, except by pretrained encoders.

    :param name: the name of both models.
    :param precision: of the vectors of a pretrained encoder.
    """
    has_vectors = isinstance(model, Encoder)
    if store.count() or not has_vectors:  # an empty collection may have been created with room for them
        _drop_vectors(store, name)
    if has_vectors:
        _add_vectors(store, name, model, precision)
        if not isinstance(model, Pretrained):
            _encode_all(store, name, model)


def delete_model(store: AnyStore, name: str) -> None:
    """Remove a model, its files and its vectors.

    Its record is deleted last, so that a removal that was killed can be repeated.
    """
    with store.write_session():
        store.claim_writing()
        records = read_model_records(store)
        unfinished = ModelRecord(records[name].digest, is_complete=False)
        write_model_records(store, {**records, name: unfinished})
        _drop_vectors(store, name)
        model_files.delete_model_folder(store, name)
        del records[name]
        write_model_records(store, records)


def compute_digest(path: str | Path) -> str:
    """Return a digest of the names and contents of all files of a model's folder."""
    digest = hashlib.blake2b(digest_size=16)
    for file in sorted(p for p in Path(path).rglob("*") if p.is_file()):
        digest.update(file.relative_to(path).as_posix().encode() + b"\0")
        with file.open("rb") as stream:
            for block in iter(lambda: stream.read(READ_SIZE), b""):
                digest.update(block)
    return digest.hexdigest()


def list_vector_sizes(models: Mapping[str, Any]) -> dict[str, int]:
    """Return the name and size of every vector that documents have for these models.

    Each encoder has one for the text; a pretrained one also has one for the title. A collection is created with all of
    them, because Qdrant servers before 1.18 can't add a vector to an existing collection.
    """
    sizes: dict[str, int] = {}
    for name, model in models.items():
        if isinstance(model, Encoder):
            sizes[name] = make_document_encoder(model).dim
        if isinstance(model, Pretrained):
            sizes[title_vector_name(name)] = model.dim
    return sizes


def _add_vectors(store: AnyStore, name: str, model: Encoder, precision: str) -> None:
    """Make room for the vectors of a model; a pretrained encoder has several for passages and one for the title."""
    is_pretrained = isinstance(model, Pretrained)
    if name not in store.dense:
        store.add_dense_vector(name, make_document_encoder(model).dim, multivector=is_pretrained, precision=precision)
    if is_pretrained and title_vector_name(name) not in store.dense:
        store.add_dense_vector(title_vector_name(name), model.dim, precision=precision)


def _drop_vectors(store: AnyStore, name: str) -> None:
    for vector_name in (name, title_vector_name(name)):
        if vector_name in store.dense:
            store.drop_dense_vector(vector_name)


def _encode_all(store: AnyStore, name: str, model: Encoder) -> None:
    """Encode all documents, and store the vectors under a name; a vector of zeros is not stored."""
    for records in store.scroll():
        documents = [record.document for record in records]
        rows_by_id = {}
        for document, row in zip(documents, encode_rows(model, documents), strict=True):
            if row is not None and row.any():
                rows_by_id[document.id] = row
        if rows_by_id:
            store.update_dense(name, list(rows_by_id), np.stack(list(rows_by_id.values())))
