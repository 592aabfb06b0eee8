"""Encode documents with deferred encoders, those too slow to keep up with writing.

Documents can be found by their words at once and get their vectors afterwards: several for the passages, one for the
title. A vector is never computed again while the text of its document stays the same, so that work that was stopped
continues where it was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from paragloss.encoders.pretrained import Pretrained, passages, pool
from paragloss.encoders.pretrained.titles import find_shared_parts, read_title, title_vector_name
from paragloss.stores import AnyStore
from paragloss.types import Document, Floats

#: Passages encoded together. A process that is killed loses the work on at most this many.
PASSAGES_PER_JOB = 16
#: For fewer documents, starting worker processes takes longer than they save.
MIN_DOCS_FOR_WORKERS = 64
#: Documents whose titles show which parts are shared by many titles of the collection.
MAX_SAMPLED_TITLES = 2000


class EncodingTask(NamedTuple):
    """A document with the texts to encode: its title (or none, ""), and its passages (or none)."""

    document: Document
    title: str
    passages: list[str]

    @property
    def texts(self) -> list[str]:
        return [self.title, *self.passages]


def deferred_encoders(models: Mapping[str, object]) -> dict[str, Pretrained]:
    """Return the models that encode documents after they were written."""
    return {name: model for name, model in models.items() if isinstance(model, Pretrained)}


def vector_names(store: AnyStore, models: Mapping[str, object]) -> list[str]:
    """Return the names of the vectors that deferred encoders have in a store, those of titles included."""
    names = [vector for name in deferred_encoders(models) for vector in (name, title_vector_name(name))]
    return [name for name in names if name in store.dense]


def read_unchanged_vectors(
    store: AnyStore, models: Mapping[str, object], documents: Sequence[Document]
) -> dict[str, list[Floats | None]]:
    """Return the stored vectors of documents that are about to be replaced by the same text.

    The result has, for each vector name, one entry per document: None where the document is new or has changed.
    """
    names = vector_names(store, models)
    if not names:
        return {}
    stored = store.get([document.id for document in documents], vectors=names)
    unchanged = [
        record if record is not None and _is_same_text(record.document, document) else None
        for record, document in zip(stored, documents, strict=True)
    ]
    return {name: [None if record is None else record.dense.get(name) for record in unchanged] for name in names}


def encode_all_missing(
    store: AnyStore,
    name: str,
    model: Pretrained,
    *,
    progress: Callable[[int, int], None] | None = None,
    processes: int | None = None,
) -> int:
    """Encode every document that lacks vectors of a model, and return how many were encoded.

    Vectors are safe on disk after each call of `progress(encoded, total)`.
    """
    encoded = 0
    for encoded, total in encode_missing(store, name, model, processes=processes):
        if progress:
            progress(encoded, total)
    return encoded


def encode_missing(
    store: AnyStore, name: str, model: Pretrained, *, processes: int | None = None
) -> Iterator[tuple[int, int]]:
    """Encode the documents that lack vectors of a model step by step; yield (encoded, total) after each step.

    A document whose text is changed by somebody else in the meantime gets no vectors.
    """
    title_name = title_vector_name(name)
    _add_title_vector(store, name, model)
    where = {"lang": list(model.langs)}
    total = max(store.count(where, lacking=name), store.count(where, lacking=title_name))
    if not total:
        return
    workers = 1 if total < MIN_DOCS_FOR_WORKERS else processes
    shared_parts = _find_shared_title_parts(store)
    encoded = 0
    # Titles are written before passages, so that a document with passages but no title is from an older version.
    for lacking in (name, title_name):
        waiting: deque[list[EncodingTask]] = deque()
        jobs = _make_jobs(store, model, lacking, shared_parts, with_passages=lacking == name, waiting=waiting)
        for rows in pool.encode(model, jobs, processes=workers):
            tasks = waiting.popleft()
            _write_vectors(store, name, tasks, rows)
            encoded += len(tasks)
            yield encoded, max(total, encoded)


def count_missing(store: AnyStore, name: str, model: Pretrained) -> int:
    """Count the documents in languages of the model that lack its passage or title vectors."""
    where = {"lang": list(model.langs)}
    missing = store.count(where, lacking=name)
    title_name = title_vector_name(name)
    if title_name not in store.dense:
        return store.count(where)
    return max(missing, store.count(where, lacking=title_name))


def _add_title_vector(store: AnyStore, name: str, model: Pretrained) -> None:
    """Make room for title vectors in a collection from a version that had none."""
    if title_vector_name(name) not in store.dense:
        store.add_dense(title_vector_name(name), model.dim)


def _find_shared_title_parts(store: AnyStore) -> frozenset[str]:
    titles: list[str] = []
    for records in store.scroll(batch=500, text=False):
        titles += [record.document.title for record in records if record.document.title]
        if len(titles) >= MAX_SAMPLED_TITLES:
            break
    return find_shared_parts(titles)


def _make_jobs(
    store: AnyStore,
    model: Pretrained,
    lacking: str,
    shared_parts: frozenset[str],
    *,
    with_passages: bool,
    waiting: deque[list[EncodingTask]],
) -> Iterator[pool.Job]:
    """Yield the texts of documents that lack a vector, one language at a time, and append their tasks to `waiting`."""
    for records in store.scroll({"lang": list(model.langs)}, batch=256, lacking=lacking):
        documents = [record.document for record in records]
        for lang in dict.fromkeys(document.lang for document in documents):
            tasks = [
                EncodingTask(
                    document, read_title(document, shared_parts), passages.read(document) if with_passages else []
                )
                for document in documents
                if document.lang == lang
            ]
            for batch in _split_tasks(tasks):
                waiting.append(batch)
                yield [text for task in batch for text in task.texts], lang


def _split_tasks(tasks: Sequence[EncodingTask]) -> Iterator[list[EncodingTask]]:
    """Split tasks into batches that end as soon as they have enough passages."""
    batch: list[EncodingTask] = []
    for task in tasks:
        batch.append(task)
        if sum(max(len(queued.passages), 1) for queued in batch) >= PASSAGES_PER_JOB:
            yield batch
            batch = []
    if batch:
        yield batch


def _write_vectors(store: AnyStore, name: str, tasks: Sequence[EncodingTask], rows: Floats) -> None:
    """Store the rows of a batch, the title first in each task; skip documents that have changed since."""
    ends = np.cumsum([len(task.texts) for task in tasks])
    rows_by_task = np.split(rows, ends[:-1])
    stored = store.get([task.document.id for task in tasks])
    titles: dict[str, Floats] = {}
    passage_rows: dict[str, Floats] = {}
    for task, task_rows, record in zip(tasks, rows_by_task, stored, strict=True):
        if record is None or not _is_same_text(record.document, task.document):
            continue
        if task_rows[0].any():
            titles[task.document.id] = task_rows[0]
        if task_rows[1:].any():
            passage_rows[task.document.id] = task_rows[1:]
    if titles:
        store.update_dense(title_vector_name(name), list(titles), np.stack(list(titles.values())))
    if passage_rows:
        store.update_dense(name, list(passage_rows), list(passage_rows.values()))


def _is_same_text(document: Document, other: Document) -> bool:
    """Tell whether an encoder reads the same in both documents."""
    return (document.lang, document.title, document.text) == (other.lang, other.title, other.text)
