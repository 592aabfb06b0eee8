"""Encode documents with deferred encoders, those too slow to keep up with writing.

Documents can be found by their words at once and get their vectors afterwards: several for the passages, one for the
title. A vector is never computed again while the text of its document stays the same, so that work that was stopped
continues where it was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


class EncodedTask(NamedTuple):
    """The vectors of a task's title and of its passages."""

    title: Floats
    passages: list[Floats]


class PassageCache:
    """The vectors of passages that several documents have, and which of them have been given to an encoder."""

    def __init__(self) -> None:
        self._vector_by_repeated_passage: dict[str, Floats] = {}
        self._requested: set[str] = set()

    def list_texts(self, tasks: Sequence[EncodingTask]) -> list[str]:
        """Return the texts of tasks that an encoder must read; a repeated passage is listed for its first task only."""
        texts = []
        for task in tasks:
            texts.append(task.title)
            for passage in task.passages:
                if passage in self._requested:
                    continue
                texts.append(passage)
                if passage in task.repeated:
                    self._requested.add(passage)
        return texts

    def assign_rows(self, tasks: Sequence[EncodingTask], rows: Floats) -> list[EncodedTask]:
        """Give encoded vectors to the titles and passages of the tasks that they were computed for.

        A passage that several documents have was encoded for the first of them only: its vector is cached for the
        others. Tasks must come in the order in which their texts were listed.

        :param rows: the vectors of the texts that `list_texts` returned for these tasks, in its order.
        :return: the vectors of each task.
        """
        new_vectors = iter(rows)
        encoded_tasks = []
        for task in tasks:
            title_vector = next(new_vectors)
            passage_vectors = []
            for passage in task.passages:
                vector = self._vector_by_repeated_passage.get(passage)
                if vector is None:
                    vector = next(new_vectors)
                if passage in task.repeated:
                    self._vector_by_repeated_passage[passage] = vector
                passage_vectors.append(vector)
            encoded_tasks.append(EncodedTask(title_vector, passage_vectors))
        return encoded_tasks


def select_deferred_encoders(models: Mapping[str, object]) -> dict[str, Pretrained]:
    """Return the models that encode documents after they were written."""
    return {name: model for name, model in models.items() if isinstance(model, Pretrained)}


def _list_vector_names(store: AnyStore, models: Mapping[str, object]) -> list[str]:
    """Return the names of the vectors that deferred encoders have in a store, those of titles included."""
    names = [vector for name in select_deferred_encoders(models) for vector in (name, title_vector_name(name))]
    return [name for name in names if name in store.dense]


def read_unchanged_vectors(
    store: AnyStore, models: Mapping[str, object], documents: Sequence[Document]
) -> dict[str, list[Floats | None]]:
    """Return the stored vectors of documents whose text stays the same when they are replaced.

    They are written again with the document, so that it need not be encoded again.

    :param models: the models of the collection, by name.
    :param documents: the new documents.
    :return: for each vector name one entry per document: None where the document is new or has changed.
    """
    names = _list_vector_names(store, models)
    if not names:
        return {}
    records = store.get([document.id for document in documents], vectors=names)
    unchanged_vectors: dict[str, list[Floats | None]] = {name: [] for name in names}
    for record, document in zip(records, documents, strict=True):
        stored_vectors: Mapping[str, Floats] = {}
        if record is not None and _is_same_text(record.document, document):
            stored_vectors = record.dense
        for name in names:
            unchanged_vectors[name].append(stored_vectors.get(name))
    return unchanged_vectors


def encode_missing(
    store: AnyStore, name: str, model: Pretrained, *, processes: int | None = None
) -> Iterator[tuple[int, int]]:
    """Encode the documents that lack vectors of a model, batch by batch.

    Yields (number of encoded documents, total) after each batch, whose vectors are safe on disk then. A document whose
    text another process changes in the meantime gets no vectors.

    :param name: the name of the model in the collection.
    :param processes: how many processes encode; all processors if None.
    """
    _add_title_vector(store, name, model)
    total = count_missing(store, name, model)
    if not total:
        return
    if total < MIN_DOCS_FOR_WORKERS:
        processes = 1
    shared_parts = _find_shared_title_parts(store)
    # Titles are written before passages, so that a document with passages but no title is from an older version.
    task_lists = [
        _list_tasks_with_passages(store, model, name, shared_parts),
        _list_title_tasks(store, model, title_vector_name(name), shared_parts),
    ]
    n_encoded = 0
    for tasks_by_language in task_lists:
        for tasks, encoded_tasks in _encode_tasks(model, tasks_by_language, processes):
            _write_vectors(store, name, tasks, encoded_tasks)
            n_encoded += len(tasks)
            yield n_encoded, max(total, n_encoded)


def _encode_tasks(
    model: Pretrained, tasks_by_language: Iterable[tuple[str, list[EncodingTask]]], workers: int | None
) -> Iterator[tuple[list[EncodingTask], list[EncodedTask]]]:
    """Encode tasks in batches of one language; yield each batch with its vectors, in order."""
    cache = PassageCache()
    submitted_batches: deque[list[EncodingTask]] = deque()
    jobs = _make_jobs(tasks_by_language, cache, submitted_batches)
    for rows in pool.encode_jobs(model, jobs, processes=workers):
        tasks = submitted_batches.popleft()
        yield tasks, cache.assign_rows(tasks, rows)


def encode_if_few(
    store: AnyStore, models: Mapping[str, object], documents: Sequence[Document]
) -> dict[str, list[Floats | None]]:
    """Compute the vectors of slow encoders for documents about to be written, if that takes no longer than a moment.

    Slow encoders normally encode documents some time after these were written. A few short documents, such as one that
    a user adds, are encoded at once instead, so that they can be found by their meaning as soon as they are there.

    :param store: where the documents of the collection are. Its titles show which parts of titles (the name of a site)
        are not worth encoding, and it knows whether it has room for vectors of titles.
    :param models: the models of the collection by name, those that are no slow encoders included.
    :param documents: the documents to encode; they need not be in the store yet.
    :return: a list for each kind of vector by name, with an entry for each document: an array, (n_passages, dim) for
        passages and (dim,) for titles; or None if the encoder does not know the document's language or its words. An
        empty dict if nothing was encoded: there is no slow encoder, or more than MAX_INLINE_PASSAGES passages.
    """
    encoders = select_deferred_encoders(models)
    n_passages = sum(len(passages.select_passages(document.text)) for document in documents)
    if not encoders or n_passages > MAX_INLINE_PASSAGES:
        return {}
    shared_title_parts = _find_shared_title_parts(store)
    vectors_by_name: dict[str, list[Floats | None]] = {}
    for encoder_name, encoder in encoders.items():
        encoded_documents = [_encode_document(encoder, document, shared_title_parts) for document in documents]
        vectors_by_name[encoder_name] = [encoded.passages for encoded in encoded_documents]
        title_name = title_vector_name(encoder_name)
        if title_name in store.dense:  # collections of older versions have no vectors of titles
            vectors_by_name[title_name] = [encoded.title for encoded in encoded_documents]
    return vectors_by_name


class EncodedDocument(NamedTuple):
    """The vectors of a document's title, (dim,), and of its passages, (n_passages, dim); None for what has no word."""

    title: Floats | None
    passages: Floats | None


def _encode_document(model: Pretrained, document: Document, shared_parts: frozenset[str]) -> EncodedDocument:
    """Encode the title and the passages of a document.

    :param shared_parts: parts of titles that many documents share, which are not encoded.
    :return: None in place of vectors where the model knows no word, and of both if it does not have the language.
    """
    if document.lang not in model.langs:
        return EncodedDocument(None, None)
    texts = [read_title(document, shared_parts), *passages.read_passages(document)]
    vectors = model.passages.encode(texts, document.lang)  # (1 + n_passages, dim)
    title_vector, passage_vectors = vectors[0], vectors[1:]
    return EncodedDocument(
        title=title_vector if title_vector.any() else None,
        passages=passage_vectors if passage_vectors.any() else None,
    )


def count_missing(store: AnyStore, name: str, model: Pretrained) -> int:
    """Count the documents in languages of the model that lack its passage or title vectors."""
    where = {"lang": list(model.langs)}
    title_name = title_vector_name(name)
    if title_name not in store.dense:
        return store.count(where)
    return max(store.count(where, without_vector=name), store.count(where, without_vector=title_name))


def _add_title_vector(store: AnyStore, name: str, model: Pretrained) -> None:
    """Make room for title vectors in a collection from a version that had none."""
    if title_vector_name(name) not in store.dense:
        store.add_dense_vector(title_vector_name(name), model.dim)


def _find_shared_title_parts(store: AnyStore) -> frozenset[str]:
    """Return the parts that the titles of many documents share, such as the name of a site."""
    titles: list[str] = []
    for records in store.scroll(batch_size=500, text=False):
        titles += [record.document.title for record in records if record.document.title]
        if len(titles) >= MAX_SAMPLED_TITLES:
            break
    return find_shared_parts(titles)


def _list_tasks_with_passages(
    store: AnyStore, model: Pretrained, vector_name: str, shared_parts: frozenset[str]
) -> Iterator[tuple[str, list[EncodingTask]]]:
    """Yield tasks for the documents whose passages lack a vector, each with its title and its passages.

    :param vector_name: the name of the vectors of passages.
    :param shared_parts: parts of titles that many documents share, which are not encoded.
    :return: pairs of a language and the tasks for some documents in it.
    """
    repeated = _find_repeated_passages(store, {"lang": list(model.langs)}, vector_name)
    for records in _iterate_missing(store, model, vector_name):
        tasks = []
        for record in records:
            bodies = _read_passage_bodies(record)
            tasks.append(_make_task(record.document, bodies, repeated, shared_parts))
        yield records[0].document.lang, tasks  # all are in this language


def _list_title_tasks(
    store: AnyStore, model: Pretrained, vector_name: str, shared_parts: frozenset[str]
) -> Iterator[tuple[str, list[EncodingTask]]]:
    """Yield tasks for the documents whose titles alone lack a vector; see `_list_tasks_with_passages`."""
    for records in _iterate_missing(store, model, vector_name):
        tasks = []
        for record in records:
            tasks.append(EncodingTask(record.document, read_title(record.document, shared_parts), []))
        yield records[0].document.lang, tasks  # all are in this language


def _iterate_missing(store: AnyStore, model: Pretrained, vector_name: str) -> Iterator[list[Record]]:
    """Yield the documents that lack a vector, some of one language at a time."""
    for records in store.scroll({"lang": list(model.langs)}, batch_size=256, without_vector=vector_name):
        records_by_language: dict[str, list[Record]] = {}
        for record in records:
            records_by_language.setdefault(record.document.lang, []).append(record)
        yield from records_by_language.values()


def _read_passage_bodies(record: Record) -> list[str]:
    """Return the texts of the passages of a stored document, without the title."""
    text = record.document.text
    return [text[start:end].strip() for start, end in read_passage_spans(record)]


def _make_task(
    document: Document, bodies: Sequence[str], repeated: frozenset[str], shared_parts: frozenset[str]
) -> EncodingTask:
    texts = [body if body in repeated else passages.add_title(document, body) for body in bodies]
    repeated_texts = repeated.intersection(bodies)
    return EncodingTask(document, read_title(document, shared_parts), texts, repeated_texts)


def _find_repeated_passages(store: AnyStore, where: Where, missing_vector: str) -> frozenset[str]:
    """Return the passages that several of the documents without vectors have, in documents of several passages.

    :param where: the conditions that documents meet.
    :param missing_vector: the name of the vector that they lack.
    """
    seen_digests: set[bytes] = set()  # smaller than the passages themselves
    repeated = set()
    for records in store.scroll(where, batch_size=256, without_vector=missing_vector):
        for body in _iterate_comparable_passages(records):
            digest = blake2b(body.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            if digest in seen_digests:
                repeated.add(body)
            seen_digests.add(digest)
    return frozenset(repeated)


def _iterate_comparable_passages(records: Iterable[Record]) -> Iterator[str]:
    """Yield the passages of documents that have several, each once for a document, without empty ones."""
    for record in records:
        bodies = _read_passage_bodies(record)
        if len(bodies) > 1:
            yield from set(bodies) - {""}


def _make_jobs(
    tasks_by_language: Iterable[tuple[str, list[EncodingTask]]],
    cache: PassageCache,
    submitted_batches: deque[list[EncodingTask]],
) -> Iterator[pool.Job]:
    """Yield the texts of batches of tasks for an encoder, and append each batch to `submitted_batches`."""
    for lang, tasks in tasks_by_language:
        for batch in _split_tasks(tasks):
            submitted_batches.append(batch)
            yield cache.list_texts(batch), lang


def _split_tasks(tasks: Sequence[EncodingTask]) -> Iterator[list[EncodingTask]]:
    """Split tasks into batches that end as soon as they have enough passages."""
    batch: list[EncodingTask] = []
    n_passages = 0
    for task in tasks:
        batch.append(task)
        n_passages += max(len(task.passages), 1)
        if n_passages >= PASSAGES_PER_JOB:
            yield batch
            batch, n_passages = [], 0
    if batch:
        yield batch


def _write_vectors(
    store: AnyStore, name: str, tasks: Sequence[EncodingTask], encoded_tasks: Sequence[EncodedTask]
) -> None:
    """Store the vectors of titles and passages, but not zeros, nor those of documents that have changed since.

    :param name: the name of the model.
    :param tasks: the documents that were encoded.
    :param encoded_tasks: the vectors of each task.
    """
    records = store.get([task.document.id for task in tasks])
    title_rows: dict[str, Floats] = {}  # by document id, each (model's dimensions,)
    passage_rows: dict[str, Floats] = {}  # by document id, each (n_passages, model's dimensions)
    for task, encoded, record in zip(tasks, encoded_tasks, records, strict=True):
        if record is None or not _is_same_text(record.document, task.document):
            continue
        doc_id = task.document.id
        if encoded.title.any():
            title_rows[doc_id] = encoded.title
        if np.any(encoded.passages):
            passage_rows[doc_id] = np.stack(encoded.passages)
    if title_rows:
        title_matrix = np.stack(list(title_rows.values()))  # (n_documents, model's dimensions)
        store.update_dense(title_vector_name(name), list(title_rows), title_matrix)
    if passage_rows:
        store.update_dense(name, list(passage_rows), list(passage_rows.values()))


def _is_same_text(document: Document, other: Document) -> bool:
    """Tell whether an encoder reads the same in both documents."""
    return (document.lang, document.title, document.text) == (other.lang, other.title, other.text)
