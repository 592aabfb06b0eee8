"""Encode documents as the vectors a collection stores of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paragloss.encoders import hubness
from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.pretrained import Pretrained
from paragloss.types import Document, Encoder, Floats


def encode_documents(models: Mapping[str, object], documents: Sequence[Document]) -> dict[str, list[Floats | None]]:
    """Encode documents with those encoders of a collection that are quick; `backfill` runs the others later.

    :param models: all models of the collection, by name.
    :return: for the name of each quick encoder one vector per document, None where it does not have the language.
    """
    return {name: encode_rows(model, documents) for name, model in select_quick_encoders(models).items()}


def select_quick_encoders(models: Mapping[str, object]) -> dict[str, Encoder]:
    """Return the encoders that are quick enough to encode documents before they are written."""
    return {
        name: model
        for name, model in models.items()
        if isinstance(model, Encoder) and not isinstance(model, Pretrained)
    }


def encode_rows(model: Encoder, documents: Sequence[Document]) -> list[Floats | None]:
    """Encode documents of several languages, those of a language together.

    :return: one vector per document in the same order, None where the model does not have its language.
    """
    rows: list[Floats | None] = [None] * len(documents)
    encoder = make_document_encoder(model)
    positions_by_language: dict[str, list[int]] = {}
    for position, document in enumerate(documents):
        if document.lang in model.langs:
            positions_by_language.setdefault(document.lang, []).append(position)
    for lang, positions in positions_by_language.items():
        encoded_rows = encoder.encode([documents[i].full_text for i in positions], lang)
        for position, row in zip(positions, encoded_rows, strict=True):
            rows[position] = row
    return rows


def make_document_encoder(model: Encoder) -> Encoder:
    """Return the encoder for documents: one that also stores their hubness, if the model can measure it."""
    if isinstance(model, BagEncoder) and model.reference:
        return hubness.DocumentEncoder(model)
    return model
