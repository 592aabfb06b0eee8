"""Check whether a collection is complete and consistent, and rebuild a damaged one from what can be read."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paragloss.bm25 import Layout
from paragloss.collection import model_records
from paragloss.collection.collection import Collection
from paragloss.collection.embeddings import encode_rows
from paragloss.collection.file_records import FileTracker
from paragloss.collection.models import load
from paragloss.collection.opening import check_finished
from paragloss.encoders.pretrained import Pretrained
from paragloss.encoders.pretrained.titles import title_vector_name
from paragloss.errors import InputError, ParaglossError, UnfinishedError
from paragloss.index import journal
from paragloss.index.terms import FIELDS, SUBWORD_FIELDS, TERMS_VECTOR, read_term_vectors, recount
from paragloss.statistics import Statistics
from paragloss.stores import (
    AnyStore,
    collection_exists,
    create_store,
    find_changed_file,
    get_repair_path,
    model_files,
    open_store,
)
from paragloss.types import Encoder, Floats, Record

#: Numbers of vectors that differ by no more are the same: vectors may be stored with half the precision.
VECTOR_TOLERANCE = 0.01
_RESTORE = "restore a copy, or `paragloss repair` keeps what can be read"


class Finding(NamedTuple):
    """A fault of a collection, and what to do about it."""

    fault: str
    remedy: str


def check_collection(location: str, *, progress: Callable[[int], None] | None = None) -> list[Finding]:
    """Read everything in a collection and compare it with the statistics, digests and counts that it has recorded.

    :param progress: is told how many documents have been read.
    :return: the faults; none if the collection is complete.
    """
    findings: list[Finding] = []
    changed_file = find_changed_file(location)
    if changed_file:
        findings.append(Finding(f"{changed_file} is not what it was when the collection was closed", _RESTORE))
    try:
        store = open_store(location, allow_changed_files=True)
    except ParaglossError as error:
        return [*findings, Finding(str(error), "restore a copy of the folder, or index its documents again")]
    with closing(store):
        return findings + _check_store(store, location, progress)


def _check_store(store: AnyStore, location: str, progress: Callable[[int], None] | None) -> list[Finding]:
    """Check the documents and the models of a store, as far as they can be read.

    :param location: the folder or address of the collection, for messages.
    :param progress: is told how many documents have been read.
    :return: the faults; an error that ends the check is one of them.
    """
    findings: list[Finding] = []
    try:
        check_finished(store, location)
        findings += _check_documents(store, progress)
        findings += _check_models(store)
    except UnfinishedError:
        findings.append(Finding("it was never finished", "run the same `paragloss copy`, `restore` or `index` again"))
    except ParaglossError as error:
        findings.append(Finding(str(error), "`paragloss repair` keeps what can be read"))
    except (ValueError, TypeError, KeyError) as error:
        findings.append(Finding(f"what the collection notes of itself is damaged ({error})", _RESTORE))
    return findings


def _check_documents(store: AnyStore, progress: Callable[[int], None] | None) -> list[Finding]:
    """Count the documents and their terms again, and compare both with the recorded statistics.

    Nothing is compared if the last writer was killed: the next one counts the statistics again.

    :param progress: is told how many documents have been read.
    """
    if store.read_blob("statistics") is None:
        return [Finding("the term statistics are missing", "`paragloss repair` counts them again")]
    stored = journal.read_statistics(store)
    counted = Statistics(stored.statistics.layout)
    document_count, findings = _count_documents(store, counted, progress)
    if not stored.is_complete or store.has_unfinished_writes():
        return findings
    if stored.n_entries == 0:  # the number of documents is recorded without those of the journal
        findings += _compare_document_counts(stored.statistics, document_count)
    return findings + _compare_statistics(stored.statistics, counted)


def _compare_document_counts(recorded: Statistics, document_count: int) -> list[Finding]:
    """Return a finding if statistics were recorded for another number of documents than were counted."""
    if recorded.records is None or recorded.records == document_count:
        return []
    message = f"{document_count} of {recorded.records} documents are there"
    return [Finding(message, "`paragloss repair` keeps these")]


def _compare_statistics(recorded: Statistics, counted: Statistics) -> list[Finding]:
    """Return a finding if recorded statistics differ from those that were counted again."""
    if counted.to_bytes(records=recorded.records) != recorded.to_bytes(records=recorded.records):
        message = "the term statistics don't agree with the documents"
        return [Finding(message, "`paragloss repair` counts again")]
    return []


def _count_documents(
    store: AnyStore, statistics: Statistics, progress: Callable[[int], None] | None
) -> tuple[int, list[Finding]]:
    """Count the terms of all documents into empty statistics.

    :param statistics: the empty statistics.
    :param progress: is told how many documents have been read.
    :return: the number of documents, and a finding for each document that has lost its terms.
    """
    document_count = 0
    findings: list[Finding] = []
    for records in store.scroll(vectors=True):
        document_count += len(records)
        statistics.count([record.document.lang for record in records], read_term_vectors(records))
        findings += [_describe_lost_terms(record) for record in records if _has_lost_terms(record)]
        if progress:
            progress(document_count)
    return document_count, findings


def _has_lost_terms(record: Record) -> bool:
    return TERMS_VECTOR not in record.sparse and bool((record.document.text or record.document.title).strip())


def _describe_lost_terms(record: Record) -> Finding:
    return Finding(f"document {record.document.id!r} has lost its terms", "index it again")


def _check_models(store: AnyStore) -> list[Finding]:
    """Load every model, and compare its files and its vectors with what was recorded when it was added."""
    findings = []
    models = model_records.read_model_records(store)
    vectors_of_models = {*models, *(title_vector_name(name) for name in models)}
    for name in set(store.dense) - vectors_of_models:
        message = f"there are vectors of {name!r}, which is not among the models"
        findings.append(Finding(message, "give it with --model"))
    for name, record in models.items():
        if record.is_complete:
            findings += _check_model(store, name, record.digest)
        else:
            findings += _check_unfinished_model(store, name)
    return findings


def _check_model(store: AnyStore, name: str, digest: str) -> list[Finding]:
    """Check that a model can be loaded, has its vectors, and has the files that it was added with.

    :param name: the name of the model.
    :param digest: the digest of its files when it was added; "" if none was recorded.
    """
    try:
        return _check_loaded_model(store, name, digest)
    except ParaglossError as error:
        return [Finding(f"model {name!r}: {error}", "give it again with `paragloss index --model`")]


def _check_loaded_model(store: AnyStore, name: str, digest: str) -> list[Finding]:
    """Load a model, and compare its vectors and its files with what was recorded when it was added.

    :param name: the name of the model.
    :param digest: the digest of its files when it was added; "" if none was recorded.
    :raises ParaglossError: if it can't be loaded.
    """
    findings = []
    folder = model_files.get_model_folder(store, name)
    model = load(folder)
    if isinstance(model, Encoder) and name not in store.dense:
        findings.append(Finding(f"model {name!r} has lost its vectors", "give it again with --model"))
    elif isinstance(model, Encoder) and not isinstance(model, Pretrained):
        findings += _check_vectors(store, name, model)
    if digest and model_records.compute_digest(folder) != digest:
        findings.append(Finding(f"model {name!r} is not as it was given", "give it again with --model"))
    return findings


def _check_unfinished_model(store: AnyStore, name: str) -> list[Finding]:
    """Describe a model whose addition was interrupted, and what is wrong with its files."""
    findings = []
    try:
        load(model_files.get_model_folder(store, name))
    except ParaglossError as error:
        findings.append(Finding(f"model {name!r}: {error}", "give it again with `paragloss index --model`"))
    return [*findings, Finding(f"model {name!r} has not encoded every document", "give it again with --model")]


def _check_vectors(store: AnyStore, name: str, model: Encoder) -> list[Finding]:
    """Encode every document again, and compare with the stored vectors.

    :param name: the model's name, which its vectors have too.
    :return: a finding with the number of documents whose vectors differ; nothing if none does.
    """
    wrong_count = 0
    for records in store.scroll(vectors=[name]):
        expected_rows = encode_rows(model, [record.document for record in records])
        for record, expected_row in zip(records, expected_rows, strict=True):
            if not _is_same_vector(record.dense.get(name), expected_row):
                wrong_count += 1
    if not wrong_count:
        return []
    message = f"{wrong_count} documents have other vectors than model {name!r} gives them"
    return [Finding(message, "remove the model and give it again (paragloss models)")]


def _is_same_vector(stored: Floats | None, encoded: Floats | None) -> bool:
    """Tell whether a stored vector is the one of the model, up to rounding; no vector is stored for one of zeros."""
    expected = encoded if encoded is not None and encoded.any() else None
    if stored is None or expected is None:
        return stored is None and expected is None
    return np.allclose(stored, expected, atol=VECTOR_TOLERANCE)


class RepairReport(NamedTuple):
    """How many documents were saved, how many could not be read, and where the damaged collection is now."""

    saved: int
    lost: int
    damaged_path: Path


def repair_collection(location: str, *, progress: Callable[[int], None] | None = None) -> RepairReport:
    """Replace a damaged collection by a new one of every document that can be read and every model that loads.

    The damaged collection remains beside it under another name. A repair that is killed can be started again.

    :param location: the folder of the collection.
    :param progress: is told how many documents have been saved.
    :raises InputError: if there is no collection, or it is on a server.
    """
    if "://" in location:
        raise InputError("a collection on a server is repaired there: restore a snapshot of it")
    if not collection_exists(location):
        raise InputError(f"{location} is not a collection: there is nothing to repair")
    folder = Path(location)
    unfinished = folder.with_name(f".{folder.name}.repairing")
    complete = get_repair_path(folder)
    with open_store(location, allow_changed_files=True) as damaged:
        check_finished(damaged, location)
        damaged.claim_writing()  # nobody else repairs, so these two folders were left by a repair that was killed
        shutil.rmtree(unfinished, ignore_errors=True)
        saved_count, lost_count = _salvage_collection(damaged, folder, unfinished, progress)
        shutil.rmtree(complete, ignore_errors=True)
        unfinished.rename(complete)
    damaged_path = _exchange_folders(folder, complete)
    Collection.open(location).close()  # raises an error if it can't be opened
    return RepairReport(saved_count, lost_count, damaged_path)


def _exchange_folders(damaged: Path, repaired: Path) -> Path:
    """Put a repaired collection in the place of the damaged one; return where the damaged one is now."""
    new_path = _choose_free_path(damaged.with_name(f"{damaged.name}.damaged"))
    damaged.rename(new_path)  # if this process is killed here, the next opening of the collection finishes
    repaired.rename(damaged)
    return new_path


def _salvage_collection(
    damaged: AnyStore, damaged_folder: Path, new_folder: Path, progress: Callable[[int], None] | None
) -> tuple[int, int]:
    """Write what can be read of a damaged collection into a new one.

    :param damaged: the store of the damaged collection.
    :param damaged_folder: its folder.
    :param new_folder: the folder of the new collection, which does not exist yet.
    :param progress: is told how many documents have been saved.
    :return: how many documents were saved, and how many were lost.
    """
    with _create_empty_copy(damaged, new_folder) as new:
        saved_count, lost_count = _salvage_documents(damaged, new, progress)
        _copy_readable_blobs(damaged, damaged_folder, new)
        FileTracker(new).read_all_again()  # lost documents may still be in their files
        statistics = Statistics(_read_layout(damaged))
        recount(new, statistics)
        new.write_blob("statistics", statistics.to_bytes(records=saved_count))
    if (damaged_folder / "models").is_dir():
        shutil.copytree(damaged_folder / "models", new_folder / "models", dirs_exist_ok=True)
    return saved_count, lost_count


def _create_empty_copy(store: AnyStore, folder: Path) -> AnyStore:
    """Create an empty store in a folder, with the vectors that another store has."""
    schema = store.schema
    return create_store(
        folder,
        dense=schema["dense"],
        sparse=[TERMS_VECTOR],
        multivectors=schema["several"],
        precision=schema["precision"],
    )


def _salvage_documents(damaged: AnyStore, new: AnyStore, progress: Callable[[int], None] | None) -> tuple[int, int]:
    """Copy all documents that can be read from one store to another; return how many were copied and how many not."""
    saved_count = lost_count = 0
    for records, unreadable_count in damaged.salvage_records():
        new.add(records)
        saved_count += len(records)
        lost_count += unreadable_count
        if progress:
            progress(saved_count)
    return saved_count, lost_count


def _copy_readable_blobs(damaged: AnyStore, damaged_folder: Path, new: AnyStore) -> None:
    """Copy all blobs that can be read, but for the statistics, which are counted anew."""
    for name in sorted(path.name for path in (damaged_folder / "blobs").glob("[!.]*")):
        if name == "statistics":
            continue
        data = damaged.read_blob(name)
        if data is not None:
            new.write_blob(name, data)


def _read_layout(store: AnyStore) -> Layout:
    """Return how terms are laid out; the default if the collection's statistics are damaged."""
    try:
        return Statistics.from_bytes(store.read_blob("statistics") or b"")[0].layout
    except (ParaglossError, ValueError, KeyError):
        return Layout([*FIELDS, *SUBWORD_FIELDS])


def _choose_free_path(path: Path) -> Path:
    """Return a path where nothing is: this one, or this one and a number."""
    candidates = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return next(candidate for candidate in chain([path], candidates) if not candidate.exists())
