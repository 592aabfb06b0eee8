"""Encode documents as the vectors a collection stores of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paragloss.encoders import hubness
from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.pretrained import Pretrained
from paragloss.types import Document, Encoder, Floats


def encode_documents(
    models: Mapping[str, object], documents: Sequence[Document], terms: Sequence[Sequence[str]] | None = None
) -> dict[str, list[Floats | None]]:
    """Return for each quick encoder one vector per document; `backfill` has the others.

    :param terms: the terms of each document's title and text, if they are known already.
    """
    return {name: encode_rows(model, documents, terms) for name, model in select_quick_encoders(models).items()}


def select_quick_encoders(models: Mapping[str, object]) -> dict[str, Encoder]:
    """Return the encoders that are quick enough to encode documents before they are written."""
    return {
        name: model
        for name, model in models.items()
        if isinstance(model, Encoder) and not isinstance(model, Pretrained)
    }


def encode_rows(
    model: Encoder, documents: Sequence[Document], terms: Sequence[Sequence[str]] | None = None
) -> list[Floats | None]:
    """Return one vector per document, None where the model does not have its language.

    :param terms: the terms of each document, if they are known already; an encoder that uses other terms reads texts.
    """
    rows: list[Floats | None] = [None] * len(documents)
    encoder = with_hubness(model)
    for lang in dict.fromkeys(document.lang for document in documents if document.lang in model.langs):
        positions = [i for i, document in enumerate(documents) if document.lang == lang]
        if terms is not None and isinstance(encoder, BagEncoder | hubness.Documents) and encoder.cuts(lang):
            encoded = encoder.encode_terms([terms[i] for i in positions], lang)
        else:
            encoded = encoder.encode([documents[i].full_text for i in positions], lang)
        for i, row in zip(positions, encoded, strict=True):
            rows[i] = row
    return rows


def with_hubness(model: Encoder) -> Encoder:
    """Return the encoder for documents: one that also stores their hubness, if the model can measure it."""
    return hubness.Documents(model) if isinstance(model, BagEncoder) and model.reference else model
