"""Encode documents with deferred encoders, those too slow to keep up with writing.

Documents can be found by their words at once and get their vectors afterwards: several for the passages, one for the
title. A vector is never computed again while the text of its document stays the same, so that work that was stopped
continues where it was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from paragloss.analysis import passages
from paragloss.analysis.tokenization import read_passage_spans
from paragloss.encoders.pretrained import Pretrained, pool
from paragloss.encoders.pretrained.titles import find_shared_parts, read_title, title_vector_name
from paragloss.stores import AnyStore
from paragloss.types import Document, Floats, Record, Where

#: Passages encoded together. A process that is killed loses the work on at most this many.
PASSAGES_PER_JOB = 16
#: For fewer documents, starting worker processes takes longer than they save.
MIN_DOCS_FOR_WORKERS = 64
#: Documents with up to this many passages together are encoded before they are reported as added.
MAX_INLINE_PASSAGES = 50
#: Documents whose titles show which parts are shared by many titles of the collection.
MAX_SAMPLED_TITLES = 2000


class EncodingTask(NamedTuple):
    """A document with the texts to encode: its title and its passages.

    A passage that other documents of the run have too (navigation, a licence) is encoded once, without a title, and
    named in `repeated`; the other passages are read under the title of their document.
    """

    document: Document
    title: str
    passages: list[str]
    repeated: frozenset[str] = frozenset()


class PassageCache:
    """The vectors of passages that several documents have, and which of them have been given to an encoder."""

    def __init__(self) -> None:
        self._rows: dict[str, Floats] = {}
        self._requested: set[str] = set()

    def list_texts(self, tasks: Sequence[EncodingTask]) -> list[str]:
        """Return the texts of tasks that an encoder must read, without those that it was given before."""
        texts = []
        for task in tasks:
            texts.append(task.title)
            for passage in task.passages:
                if passage not in task.repeated:
                    texts.append(passage)
                elif passage not in self._requested:
                    self._requested.add(passage)
                    texts.append(passage)
        return texts

    def assign_rows(self, tasks: Sequence[EncodingTask], rows: Floats) -> list[tuple[Floats, list[Floats]]]:
        """Return the title row and the passage rows of each task; `rows` are those of `list_texts`, in its order.

        Tasks must come in the order in which their texts were listed.
        """
        remaining = iter(rows)
        assigned = []
        for task in tasks:
            title_row = next(remaining)
            passage_rows = []
            for passage in task.passages:
                if passage not in task.repeated:
                    passage_rows.append(next(remaining))
                    continue
                if passage not in self._rows:
                    self._rows[passage] = next(remaining)
                passage_rows.append(self._rows[passage])
            assigned.append((title_row, passage_rows))
        return assigned


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
    records = store.get([document.id for document in documents], vectors=names)
    vectors: dict[str, list[Floats | None]] = {name: [] for name in names}
    for record, document in zip(records, documents, strict=True):
        is_unchanged = record is not None and _is_same_text(record.document, document)
        for name in names:
            vectors[name].append(record.dense.get(name) if record is not None and is_unchanged else None)
    return vectors


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

    :param name: the name of the model in the collection.
    :param processes: how many processes encode; all processors if None.
    """
    encoded = 0
    for encoded, total in encode_missing(store, name, model, processes=processes):
        if progress:
            progress(encoded, total)
    return encoded


def encode_missing(
    store: AnyStore, name: str, model: Pretrained, *, processes: int | None = None
) -> Iterator[tuple[int, int]]:
    """Encode the documents that lack vectors of a model batch by batch; yield (encoded, total) after each batch.

    A document whose text another process changes in the meantime gets no vectors.

    :param name: the name of the model in the collection.
    :param processes: how many processes encode; all processors if None.
    """
    title_name = title_vector_name(name)
    _add_title_vector(store, name, model)
    where = {"lang": list(model.langs)}
    total = max(store.count(where, without_vector=name), store.count(where, without_vector=title_name))
    if not total:
        return
    workers = 1 if total < MIN_DOCS_FOR_WORKERS else processes
    shared_parts = _find_shared_title_parts(store)
    encoded = 0
    # Titles are written before passages, so that a document with passages but no title is from an older version.
    for missing_vector in (name, title_name):
        cache = PassageCache()
        submitted_tasks: deque[list[EncodingTask]] = deque()
        with_passages = missing_vector == name
        batches = _make_batches(store, model, missing_vector, shared_parts, with_passages=with_passages)
        jobs = _make_jobs(batches, cache, submitted_tasks)
        for rows in pool.encode_jobs(model, jobs, processes=workers):
            tasks = submitted_tasks.popleft()
            _write_vectors(store, name, tasks, cache.assign_rows(tasks, rows))
            encoded += len(tasks)
            yield encoded, max(total, encoded)


def encode_few(
    store: AnyStore, models: Mapping[str, object], documents: Sequence[Document]
) -> dict[str, list[Floats | None]]:
    """Return the vectors of documents that have only a few passages together; of more documents, none.

    The result has, for each vector name, one entry per document: None for a language that the encoder does not know.
    """
    rows_by_name: dict[str, list[Floats | None]] = {}
    if sum(len(passages.select_passages(document.text)) for document in documents) > MAX_INLINE_PASSAGES:
        return rows_by_name
    for name, model in deferred_encoders(models).items():
        shared_parts = _find_shared_title_parts(store)
        title_rows: list[Floats | None] = []
        passage_rows: list[Floats | None] = []
        for document in documents:
            title_row, document_rows = _encode_document(model, document, shared_parts)
            title_rows.append(title_row)
            passage_rows.append(document_rows)
        rows_by_name[name] = passage_rows
        if title_vector_name(name) in store.dense:
            rows_by_name[title_vector_name(name)] = title_rows
    return rows_by_name


def _encode_document(
    model: Pretrained, document: Document, shared_parts: frozenset[str]
) -> tuple[Floats | None, Floats | None]:
    """Return the title row and the passage rows of a document; None for those that have no words the model knows.

    :param shared_parts: parts of titles that many documents share, which are not encoded.
    """
    if document.lang not in model.langs:
        return None, None
    texts = [read_title(document, shared_parts), *passages.read_passages(document)]
    rows = model.passages.encode(texts, document.lang)
    title_row, passage_rows = rows[0], rows[1:]
    return title_row if title_row.any() else None, passage_rows if passage_rows.any() else None


def count_missing(store: AnyStore, name: str, model: Pretrained) -> int:
    """Count the documents in languages of the model that lack its passage or title vectors."""
    where = {"lang": list(model.langs)}
    missing = store.count(where, without_vector=name)
    title_name = title_vector_name(name)
    if title_name not in store.dense:
        return store.count(where)
    return max(missing, store.count(where, without_vector=title_name))


def _add_title_vector(store: AnyStore, name: str, model: Pretrained) -> None:
    """Make room for title vectors in a collection from a version that had none."""
    if title_vector_name(name) not in store.dense:
        store.add_dense_vector(title_vector_name(name), model.dim)


def _find_shared_title_parts(store: AnyStore) -> frozenset[str]:
    """Return the parts that the titles of many documents share, such as the name of a site."""
    titles: list[str] = []
    for records in store.scroll(batch=500, text=False):
        titles += [record.document.title for record in records if record.document.title]
        if len(titles) >= MAX_SAMPLED_TITLES:
            break
    return find_shared_parts(titles)


def _make_batches(
    store: AnyStore, model: Pretrained, missing_vector: str, shared_parts: frozenset[str], *, with_passages: bool
) -> Iterator[tuple[str, list[EncodingTask]]]:
    """Yield (language, tasks) for the documents that lack a vector, in batches of one language.

    :param with_passages: encode the passages of the documents, not only their titles.
    """
    where = {"lang": list(model.langs)}
    repeated = _find_repeated_passages(store, where, missing_vector) if with_passages else frozenset()
    for records in store.scroll(where, batch=256, without_vector=missing_vector):
        tasks_by_language: dict[str, list[EncodingTask]] = {}
        for record in records:
            bodies = _read_passage_bodies(record) if with_passages else []
            task = _make_task(record.document, bodies, repeated, shared_parts)
            tasks_by_language.setdefault(record.document.lang, []).append(task)
        for lang, tasks in tasks_by_language.items():
            for batch in _split_tasks(tasks):
                yield lang, batch


def _read_passage_bodies(record: Record) -> list[str]:
    """Return the texts of the passages of a stored document, without the title."""
    text = record.document.text
    return [text[start:end].strip() for start, end in read_passage_spans(record)]


def _make_task(
    document: Document, bodies: Sequence[str], repeated: frozenset[str], shared_parts: frozenset[str]
) -> EncodingTask:
    texts = [body if body in repeated else passages.add_title(document, body) for body in bodies]
    repeated_here = repeated.intersection(bodies)
    return EncodingTask(document, read_title(document, shared_parts), texts, repeated_here)


def _find_repeated_passages(store: AnyStore, where: Where, missing_vector: str) -> frozenset[str]:
    """Return the passages that several of the documents without vectors have, in documents of several passages."""
    digests: set[bytes] = set()
    repeated = set()
    for records in store.scroll(where, batch=256, without_vector=missing_vector):
        for record in records:
            bodies = _read_passage_bodies(record)
            if len(bodies) < 2:
                continue
            for body in set(bodies):
                digest = blake2b(body.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                if digest in digests and body:
                    repeated.add(body)
                digests.add(digest)
    return frozenset(repeated)


def _make_jobs(
    batches: Iterable[tuple[str, list[EncodingTask]]], cache: PassageCache, waiting: deque[list[EncodingTask]]
) -> Iterator[pool.Job]:
    """Yield the texts of batches for an encoder, and append the tasks of each to `waiting`."""
    for lang, batch in batches:
        waiting.append(batch)
        yield cache.list_texts(batch), lang


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


def _write_vectors(
    store: AnyStore, name: str, tasks: Sequence[EncodingTask], rows: Sequence[tuple[Floats, list[Floats]]]
) -> None:
    """Store the title row and the passage rows of each task; skip documents that have changed since."""
    stored = store.get([task.document.id for task in tasks])
    titles: dict[str, Floats] = {}
    passage_rows: dict[str, Floats] = {}
    for task, (title_row, task_rows), record in zip(tasks, rows, stored, strict=True):
        if record is None or not _is_same_text(record.document, task.document):
            continue
        if title_row.any():
            titles[task.document.id] = title_row
        if task_rows and np.any(task_rows):
            passage_rows[task.document.id] = np.stack(task_rows)
    if titles:
        store.update_dense(title_vector_name(name), list(titles), np.stack(list(titles.values())))
    if passage_rows:
        store.update_dense(name, list(passage_rows), list(passage_rows.values()))


def _is_same_text(document: Document, other: Document) -> bool:
    """Tell whether an encoder reads the same in both documents."""
    return (document.lang, document.title, document.text) == (other.lang, other.title, other.text)
