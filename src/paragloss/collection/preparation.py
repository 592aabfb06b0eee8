"""Prepare documents for writing: find their languages, count their terms, encode them with quick encoders.

This is done in this process, or in several that feed the one that writes; the results are the same, in the same order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from paragloss.bm25 import Layout
from paragloss.collection.document_languages import assign_languages
from paragloss.collection.embeddings import encode_documents, make_document_encoder
from paragloss.collection.models import load
from paragloss.errors import StoreError
from paragloss.index.terms import CountedDocuments, analyze_document, count_analyzed
from paragloss.types import Document, Encoder, Floats

#: The first batches are prepared in this process, because others take a second or two to start.
_LOCAL_BATCHES = 4
#: A document as it is sent to another process: language, title, text, fields.
_DocumentTexts: TypeAlias = tuple[str, str, str, dict[str, str]]


class PreparedDocuments(NamedTuple):
    """Documents with their languages, their counted terms, and one row per document for each quick encoder."""

    documents: list[Document]
    counted: CountedDocuments
    dense: dict[str, Floats]


class PreparationSettings(NamedTuple):
    """What another process has to know of a collection to prepare documents."""

    fields: tuple[str, ...]
    k1: float
    b: float
    models: tuple[tuple[str, str], ...]  # name and location of each quick encoder
    lang: str | None  # of documents that do not state theirs


def prepare_batches(
    batches: Iterable[list[Document]],
    layout: Layout,
    models: Mapping[str, Encoder],
    lang: str | None,
) -> Iterator[PreparedDocuments]:
    """Prepare batches of documents in this process: give them languages, count their terms, encode them.

    :param layout: the fields that are indexed.
    :param models: the encoders that are run while documents are prepared, by name.
    :param lang: the language of documents that do not state theirs; None identifies it.
    :return: the batches in the same order, ready to be written.
    """
    for batch in batches:
        documents = assign_languages(batch, lang)
        analyses = [analyze_document(layout, document) for document in documents]
        counted = count_analyzed(layout, documents, analyses)
        yield PreparedDocuments(documents, counted, _encode_with_zeros(models, documents))


def _encode_with_zeros(models: Mapping[str, Encoder], documents: Sequence[Document]) -> dict[str, Floats]:
    """Encode documents with each encoder; a document in a language that it does not have gets zeros.

    :param models: the encoders by name.
    :return: for the name of each encoder an array of shape (n_documents, encoder's dimensions).
    """
    rows_by_model = {}
    for name, rows in encode_documents(models, documents).items():
        zeros = np.zeros(make_document_encoder(models[name]).dim, np.float32)
        rows_by_model[name] = np.stack([zeros if row is None else row for row in rows])
    return rows_by_model


def prepare_in_processes(
    batches: Iterator[list[Document]],
    layout: Layout,
    models: Mapping[str, Encoder],
    folders: Mapping[str, Path],
    *,
    lang: str | None,
    workers: int,
) -> Iterator[PreparedDocuments]:
    """Prepare batches in several processes, a few ahead of the one that is written, and yield them in order.

    If reading a batch fails, the batches before it are yielded first.

    :param layout: the fields that are indexed.
    :param models: the encoders that are run while documents are prepared, by name.
    :param folders: where the other processes find these encoders, by name.
    :param lang: the language of documents that do not state theirs; None identifies it.
    :param workers: the number of processes.
    :raises StoreError: if one of the processes dies.
    """
    from paragloss.processes import run_in_order

    locations = tuple((name, str(folder)) for name, folder in folders.items())
    settings = PreparationSettings(layout.fields, layout.k1, layout.b, locations, lang)
    submitted_batches: deque[list[Document]] = deque()  # whose results have not come yet
    results = run_in_order(
        workers,
        initialize=_start,
        argument=settings,
        work=_prepare,
        jobs=_extract_texts(batches, submitted_batches),
        error_if_killed=StoreError(
            "a process that prepared documents died: is there memory for all? --workers 1 needs the least"
        ),
        max_inline=_LOCAL_BATCHES,
        run_inline=partial(_prepare_texts, layout=layout, models=models, lang=lang),
    )
    for langs, counted, dense in results:
        documents = submitted_batches.popleft()
        yield PreparedDocuments(_set_languages(documents, langs), counted, dense)


def _extract_texts(
    batches: Iterable[list[Document]], submitted_batches: deque[list[Document]]
) -> Iterator[list[_DocumentTexts]]:
    """Yield what other processes need of each batch, and append the batch to `submitted_batches`."""
    for batch in batches:
        submitted_batches.append(batch)
        yield [(document.lang, document.title, document.text, dict(document.fields)) for document in batch]


def _set_languages(documents: Sequence[Document], langs: Sequence[str]) -> list[Document]:
    """Return documents with the languages that were identified for them."""
    return [
        document if document.lang == lang else document._replace(lang=lang)
        for document, lang in zip(documents, langs, strict=True)
    ]


class _PreparedTexts(NamedTuple):
    """`PreparedDocuments` as they come back from another process: languages instead of documents."""

    langs: list[str]
    counted: CountedDocuments
    dense: dict[str, Floats]


def _prepare_texts(
    texts: list[_DocumentTexts], layout: Layout, models: Mapping[str, Encoder], lang: str | None
) -> _PreparedTexts:
    """Prepare documents of which only the texts are known, and return what the process that writes them lacks."""
    batch = [Document("", text, code, title, fields) for code, title, text, fields in texts]
    [(documents, counted, dense)] = prepare_batches([batch], layout, models, lang)
    return _PreparedTexts([document.lang for document in documents], counted, dense)


# In the other processes

_opened: tuple[Layout, dict[str, Any], str | None] | None = None


def _start(settings: PreparationSettings) -> None:
    global _opened
    models = {name: load(folder) for name, folder in settings.models}
    _opened = Layout(settings.fields, k1=settings.k1, b=settings.b), models, settings.lang


def _prepare(texts: list[_DocumentTexts]) -> _PreparedTexts:
    assert _opened is not None
    return _prepare_texts(texts, *_opened)
