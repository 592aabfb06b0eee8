"""Write documents into a collection in batches, each with its vectors and safe on disk before the next is read."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from paragloss.collection import coverage, document_translation
from paragloss.collection.arguments import FileOptions, IndexOptions
from paragloss.collection.backfill import (
    count_missing,
    encode_if_few,
    encode_missing,
    read_unchanged_vectors,
    select_deferred_encoders,
)
from paragloss.collection.document_languages import assign_languages
from paragloss.collection.embeddings import encode_documents, select_quick_encoders
from paragloss.collection.file_records import FileTracker
from paragloss.collection.language_corrections import apply_corrections, record_correction, remove_corrections
from paragloss.collection.preparation import PreparedDocuments, prepare_batches, prepare_in_processes
from paragloss.collection.sources import read_sources
from paragloss.collection.state import State
from paragloss.errors import InputError, ParaglossError
from paragloss.languages import normalise
from paragloss.statistics import DRIFT, Statistics
from paragloss.stores import model_files
from paragloss.types import Document

_GRAPH_BLOB = "graph"
#: Documents written at once: large enough for vectorised code, small enough to lose little time in a crash.
BATCH_SIZE = 1000
#: Characters of text prepared and written at once: long documents of a batch go to several processes.
MAX_BATCH_CHARACTERS = 1_000_000
#: Documents written at once while others search, who wait no longer than for these.
SMALL_BATCH_SIZE = 50
#: Up to this many documents a search compares with all of them, which takes a few milliseconds and is exact; building a
#: graph takes longer than the rest of indexing.
MIN_DOCS_FOR_GRAPH = 50_000
#: From this many tokens on, the engine's index of terms is written to disk. Opening then maps it instead of building it
#: (3,000 long pages: 0.2 s instead of 0.4, for a twelfth of the time of indexing).
MIN_TOKENS_FOR_GRAPH = 3_000_000
#: Both are built again when the collection has grown by these factors.
GROWTH_FOR_NEW_GRAPH = 1.1
GROWTH_FOR_NEW_TERM_INDEX = 1.5
#: Up to this many documents, weights are made exact after every call of `index`.
MAX_DOCS_ALWAYS_EXACT = 20_000
#: Up to this many, they are where a call adds a twentieth of them. Beyond, that takes longer than indexing did.
MAX_DOCS_OFTEN_EXACT = 100_000
#: How far average lengths may move beyond that before weights are made anew: no score is off by more.
CLOSE_TOLERANCE = 0.01
#: The same while many documents are being written, after which weights are made anew anyway.
ROUGH_TOLERANCE = 0.2
#: If the files of a larger share of the documents have disappeared, pruning stops: perhaps a disk is not mounted.
MAX_PRUNED_SHARE = 1 / 3


class IndexReport(NamedTuple):
    """The result of reading files: documents read, files that had not changed, documents removed."""

    read: int
    unchanged: int
    removed: int


def index(
    state: State,
    documents: Iterable[Document],
    options: IndexOptions,
    *,
    before_write: Callable[[], None] = lambda: None,
) -> int:
    """Add or replace documents, and do what makes searching them quick.

    :param before_write: is called before each batch is written; `options.progress` is told when it is safe on disk.
    :return: how many documents were written.
    """
    if isinstance(documents, Document | Mapping | str):
        raise InputError(f"index takes several documents, got one {type(documents).__name__}: put it in a list")
    state.cache.clear()
    written_count = _write_all(state, documents, options, before_write)
    if options.encode:
        _encode_all_deferred(state, options.encoding)
    build_graph_if_due(state)
    return written_count


def _write_all(
    state: State, documents: Iterable[Document], options: IndexOptions, before_write: Callable[[], None]
) -> int:
    """Write documents batch by batch, and warn of those that seem not to be in their language.

    The weights of terms are refreshed even if reading or writing fails, because earlier batches have been written.

    :param options: how documents are prepared; `options.progress` is told how many are safe on disk.
    :param before_write: is called before each batch is written.
    :return: how many documents were written.
    """
    written_count = 0
    warned_langs: set[str] = set()
    try:
        for batch in _write_batches(state, documents, options, before_write):
            written_count += len(batch)
            _warn_of_foreign_texts(state, batch, warned_langs)
            if options.progress:
                options.progress(written_count)
    finally:
        _refresh_weights(state, written_count)
    return written_count


def _refresh_weights(state: State, written_count: int) -> None:
    """Make the weights of terms exact again, or nearly so if that takes long, and save the statistics.

    :param written_count: how many documents were written since the last time.
    """
    state.index.refresh(tolerance=_choose_tolerance(state.store.count(), written_count))
    state.index.commit()


def _write_batches(
    state: State, documents: Iterable[Document], options: IndexOptions, before_write: Callable[[], None]
) -> Iterator[list[Document]]:
    """Prepare and write documents; yield each batch when it is safe on disk.

    :param before_write: is called before each batch is written.
    """
    batches = _make_batches(documents, BATCH_SIZE)
    for batch, counted, vectors in _prepare(state, batches, options.lang, options.workers):
        unchanged_vectors = read_unchanged_vectors(state.store, state.models, batch)
        before_write()
        state.index.add(batch, {**vectors, **unchanged_vectors}, counted=counted, drift=ROUGH_TOLERANCE)
        yield batch


def _encode_all_deferred(state: State, progress: Callable[[int, int], None] | None) -> None:
    """Encode all documents that slow encoders have not encoded yet.

    :param progress: is told how many of how many documents an encoder has encoded.
    """
    for name, model in select_deferred_encoders(state.models).items():
        for n_encoded, total in encode_missing(state.store, name, model):
            if progress:
                progress(n_encoded, total)
        state.cache.clear()


def _prepare(
    state: State, batches: Iterator[list[Document]], lang: str | None, workers: int
) -> Iterator[PreparedDocuments]:
    """Prepare batches of documents for writing, in this process or in several.

    Users' corrections of languages are applied before, and translations added. Batches of long documents are split.

    :param lang: the language of documents that do not state theirs; None identifies it.
    :param workers: how many processes prepare documents.
    :raises InputError: if this is less than 1.
    """
    if workers < 1:
        raise InputError(f"{workers} workers can't prepare documents: say 1 or more")
    batches = _split_long_batches(_complete_batches(state, batches, lang))
    layout = state.index.statistics.layout
    models = select_quick_encoders(state.models)
    if workers == 1:
        return prepare_batches(batches, layout, models, lang)
    folders = {name: model_files.get_model_folder(state.store, name) for name in models}
    return prepare_in_processes(batches, layout, models, folders, lang=lang, workers=workers)


def _complete_batches(state: State, batches: Iterable[list[Document]], lang: str | None) -> Iterator[list[Document]]:
    """Yield batches with the languages that users have corrected, and with translations if the collection has them.

    :param lang: the language of documents that do not state theirs.
    """
    for batch in batches:
        documents = apply_corrections(batch, state.store)
        if state.engine_settings.to:
            documents = assign_languages(documents, lang)
            documents = document_translation.add_translations(documents, state.engine_settings, state.store)
        yield documents


def _split_long_batches(batches: Iterator[list[Document]]) -> Iterator[list[Document]]:
    """Split batches of long documents: a part ends where the sum of their lengths passes MAX_BATCH_CHARACTERS again."""
    for batch in batches:
        end_positions = np.cumsum([len(document.text) for document in batch])
        part_numbers = end_positions // (MAX_BATCH_CHARACTERS + 1)
        for _, part in groupby(zip(part_numbers, batch, strict=True), key=itemgetter(0)):
            yield [document for _, document in part]


def index_files(state: State, paths: Sequence[str], options: FileOptions) -> IndexReport:
    """Read files and folders into the collection: those that are new or have changed since, or all if `options.again`.

    Two files may have documents of the same id, of which the later one replaces the other. Where a file loses its
    document, the other files that have one of this id are read again, so that theirs comes back.

    :param paths: files, folders, and `irds:DATASET`.
    :return: how many documents were read, files had not changed, and documents were removed.
    """
    report, rereads = _index_files_once(state, paths, options)
    while rereads:
        reread_report, rereads = _index_files_once(state, rereads, replace(options, again=False))
        report = report._replace(read=report.read + reread_report.read, removed=report.removed + reread_report.removed)
    return report


def _index_files_once(state: State, paths: Sequence[str], options: FileOptions) -> tuple[IndexReport, list[str]]:
    """Read files, and remove documents that are gone if `options.prune`.

    :param paths: files, folders, and `irds:DATASET`.
    :return: the report, and the files to read again because another file has lost a document of an id that they have.
    """
    tracker = FileTracker(state.store, lang=options.lang or "", reads_all=options.again)
    read_count = _index_new_files(state, paths, options, tracker)
    removed_count = _prune(state, tracker, paths, options) if options.prune else 0
    rereads = tracker.take_rereads()
    if rereads:
        tracker.save()
    return IndexReport(read_count, tracker.unchanged_count, removed_count), rereads


def _index_new_files(state: State, paths: Sequence[str], options: FileOptions, tracker: FileTracker) -> int:
    """Write the documents of files that are new or have changed to the collection, and record which file gave which.

    The records are what the next call decides by which files it need not read. A file is recorded only when all its
    documents are on disk: if the process is killed before, the file is read again.

    :param state: the open collection.
    :param paths: files, folders, and `irds:DATASET`, a dataset of ir_datasets.
    :param options: how files are read; `options.progress` is told how many documents have been written so far.
    :param tracker: decides which files are read, and records the documents that each gave.
    :return: how many documents were read.
    """

    def record_and_report(written_count: int) -> None:
        """Record the files that are written as a whole; called after each batch, when so many documents are on disk."""
        tracker.record_written_files(written_count)
        if options.progress:
            options.progress(written_count)

    documents = read_sources(
        state.store, paths, options.on_error, tracker=tracker, readers=options.workers, scanning=options.scanning
    )
    tracked_documents = tracker.assign_to_files(documents)  # each, as it is read, to the file that is being read
    index_options = replace(options, progress=record_and_report)
    read_count = index(state, tracked_documents, index_options, before_write=tracker.save_pending)
    tracker.record_written_files(read_count)  # files after the last batch, which gave no documents
    tracker.save()
    return read_count


def _prune(state: State, tracker: FileTracker, paths: Sequence[str], options: FileOptions) -> int:
    """Remove documents whose file is gone or no longer holds them; return how many."""
    max_share = None if options.prune_anyway else MAX_PRUNED_SHARE
    removed_count = tracker.prune(paths, lambda ids: delete(state, ids), max_share=max_share)
    if removed_count:
        state.index.commit()
    return removed_count


def add(state: State, documents: Sequence[Document], *, lang: str | None = None) -> int:
    """Add or replace a few documents of a collection that is being searched; slow work is left for later.

    All documents are prepared before the first is written: if one can't be, none is written.

    :param lang: the language of documents that do not state theirs; None identifies it.
    :return: how many documents were written.
    """
    state.store.check_documents(documents)
    runs_slow_encoders = len(documents) <= SMALL_BATCH_SIZE
    prepared_batches = []
    for batch in _make_batches(documents, SMALL_BATCH_SIZE):
        corrected = assign_languages(apply_corrections(batch, state.store), lang)
        completed = document_translation.add_translations(corrected, state.engine_settings, state.store)
        vectors = encode_documents(state.models, completed)
        if runs_slow_encoders:
            vectors |= encode_if_few(state.store, state.models, completed)
        prepared_batches.append((completed, vectors))
    for completed, vectors in prepared_batches:
        state.index.add(completed, vectors)
    return len(documents)


def correct_language(state: State, id: str, lang: str) -> None:
    """Give a document the language that a user says it is in; it keeps it when its file is read again.

    :param id: the document id.
    :param lang: a language code; "" removes an earlier correction and identifies the language again.
    :raises InputError: if the collection has no such document.
    """
    documents = state.documents([id])
    if not documents:
        raise InputError(f"no document {id!r} in the collection")
    lang = normalise(lang) if lang else ""
    record_correction(state.store, id, lang)
    add(state, [documents[0]._replace(lang=lang)])


def delete(state: State, ids: Sequence[str]) -> int:
    """Delete documents by id, with what users have said of their languages; return how many there were."""
    remove_corrections(state.store, ids)
    return state.index.delete(ids)


def encode_deferred(state: State) -> Iterator[tuple[int, int]]:
    """Encode documents that slow encoders have not encoded yet, a few at a time, while others search.

    Yields (number of encoded documents, total) after each step.
    """
    for name, model in select_deferred_encoders(state.models).items():
        if count_missing(state.store, name, model):
            state.store.claim_writing()
            for progress in encode_missing(state.store, name, model, processes=1):
                state.cache.clear()  # for example similarities of sampled vectors
                yield progress


def build_graph_if_due(state: State) -> None:
    """Build the graph of vectors if searches are slow without it, and write the index of terms if opening is slow.

    Nothing is built again before the collection has grown by a factor. Others may search and write meanwhile.
    """
    total = state.store.count()
    built_count = int(state.store.read_blob(_GRAPH_BLOB) or b"0")
    is_search_slow = total > MIN_DOCS_FOR_GRAPH
    is_graph_due = is_search_slow and total > GROWTH_FOR_NEW_GRAPH * built_count
    is_opening_slow = _count_tokens(state.index.statistics) > MIN_TOKENS_FOR_GRAPH
    is_term_index_due = is_opening_slow and total > GROWTH_FOR_NEW_TERM_INDEX * built_count
    if is_graph_due or is_term_index_due:  # both are built together
        state.store.optimize()
        state.store.write_blob(_GRAPH_BLOB, str(total).encode())


def _count_tokens(statistics: Statistics) -> float:
    """Return about how many tokens the texts of all documents have."""
    return sum(statistics.documents("text", lang) * statistics.average("text", lang) for lang in statistics.langs)


def _warn_of_foreign_texts(state: State, documents: Sequence[Document], warned_langs: set[str]) -> None:
    """Warn once of each language in which documents seem not to be written, and add it to `warned_langs`."""
    if state.default is None:
        return
    unwarned = [document for document in documents if document.lang not in warned_langs]
    for lang, message in coverage.describe_foreign_texts(unwarned, state.default).items():
        warned_langs.add(lang)
        warnings.warn(f"{message}: is that their language?", stacklevel=5)


def _choose_tolerance(total: int, new_count: int) -> float:
    """Return by what share the weights of terms may be off: exact ones cost a pass over all documents.

    :param total: the number of documents in the collection.
    :param new_count: how many of them were written since weights were last made exact.
    """
    has_many_new = total <= 20 * new_count
    if total <= MAX_DOCS_ALWAYS_EXACT or (has_many_new and total <= MAX_DOCS_OFTEN_EXACT):
        return 0.0
    return CLOSE_TOLERANCE if has_many_new else DRIFT


def _make_batches(documents: Iterable[Document], size: int) -> Iterator[list[Document]]:
    """Yield batches of documents. If reading fails, those that were read before are yielded before the error is raised.

    :param size: how many documents a batch has.
    :raises InputError: if something is no document.
    """
    batch: list[Document] = []
    try:
        for document in documents:
            if not isinstance(document, Document):
                kind = f"a {type(document).__name__}, not a Document: write Document(id, text, lang)"
                raise InputError(f"document {len(batch) + 1} of the batch is {kind}")
            batch.append(document)
            if len(batch) == size:
                yield batch
                batch = []
    except (ParaglossError, KeyboardInterrupt):
        if batch:
            yield batch
        raise
    if batch:
        yield batch
