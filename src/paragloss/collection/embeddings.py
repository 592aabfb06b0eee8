"""Documents to the vectors a collection keeps of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paragloss.encoders import hubness
from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.pretrained import Pretrained
from paragloss.types import Document, Encoder, Floats


def encoded(
    models: Mapping[str, object], documents: Sequence[Document], terms: Sequence[Sequence[str]] | None = None
) -> dict[str, list[Floats | None]]:
    """For each encoder that is quick one vector per document; `catching_up` is for the others. `terms` are those of
    each document's title and text where they are known already."""
    return {name: rows_of(model, documents, terms) for name, model in quick(models).items()}


def quick(models: Mapping[str, object]) -> dict[str, Encoder]:
    """The encoders that keep up with writing."""
    return {n: m for n, m in models.items() if isinstance(m, Encoder) and not isinstance(m, Pretrained)}


def rows_of(
    model: Encoder, documents: Sequence[Document], terms: Sequence[Sequence[str]] | None = None
) -> list[Floats | None]:
    """One vector per document, None where the model does not know its language. A bag of words whose vocabulary has the
    terms that are searched need not cut texts again."""
    rows: list[Floats | None] = [None] * len(documents)
    for lang in dict.fromkeys(document.lang for document in documents):
        if lang in model.langs:
            which = [i for i, document in enumerate(documents) if document.lang == lang]
            encoder = storing(model)
            if terms is not None and isinstance(encoder, BagEncoder | hubness.Documents) and encoder.cuts(lang):
                encoded = encoder.encode_terms([terms[i] for i in which], lang)
            else:
                encoded = encoder.encode([documents[i].full_text for i in which], lang)
            for i, row in zip(which, encoded, strict=True):
                rows[i] = row
    return rows


def storing(model: Encoder) -> Encoder:
    """The encoder for documents: with their hubness where the model can tell it."""
    return hubness.Documents(model) if isinstance(model, BagEncoder) and model.reference else model
