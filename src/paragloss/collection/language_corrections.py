"""Languages that users have corrected.

They overrule what a document declares and what is identified in it, also when its file is read again, until they are
corrected again or the document is deleted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from paragloss.stores import AnyStore
from paragloss.types import Document

_BLOB = "corrected-languages"


def read_corrections(store: AnyStore) -> dict[str, str]:
    """Return the corrected languages by document id."""
    corrections: dict[str, str] = json.loads(store.read_blob(_BLOB) or b"{}")
    return corrections


def record_correction(store: AnyStore, document_id: str, lang: str) -> None:
    """Record the language of a document; "" removes an earlier correction."""
    corrections = read_corrections(store)
    corrections.pop(document_id, None)
    if lang:
        corrections[document_id] = lang
    _write_corrections(store, corrections)


def remove_corrections(store: AnyStore, document_ids: Iterable[str]) -> None:
    """Remove the corrections of deleted documents."""
    corrections = read_corrections(store)
    removed = corrections.keys() & set(document_ids)
    if removed:
        _write_corrections(store, {id: lang for id, lang in corrections.items() if id not in removed})


def apply_corrections(documents: Sequence[Document], store: AnyStore) -> list[Document]:
    """Return documents with their corrected languages, in the same order."""
    corrections = read_corrections(store)
    return [document._replace(lang=corrections.get(document.id, document.lang)) for document in documents]


def _write_corrections(store: AnyStore, corrections: Mapping[str, str]) -> None:
    store.write_blob(_BLOB, json.dumps(corrections).encode())
