"""Documents into a collection: in batches, each with its vectors and safe on disk before the next is read."""

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
    deferred_encoders,
    encode_all_missing,
    encode_few,
    encode_missing,
    read_unchanged_vectors,
)
from paragloss.collection.document_languages import assign_languages
from paragloss.collection.embeddings import encoded, quick
from paragloss.collection.file_records import FileTracker
from paragloss.collection.preparation import Prepared, prepared, side_by_side
from paragloss.collection.sources import read_sources
from paragloss.collection.state import State
from paragloss.errors import InputError, ParaglossError
from paragloss.statistics import DRIFT
from paragloss.stores import model_files
from paragloss.types import Document

_GRAPH = "graph"
#: Documents handed to the store at once: large enough to vectorise, small enough to lose little time in a crash.
BATCH = 1000
#: Characters of text prepared and written at once: long documents of a batch go to several processes.
LONG = 1_000_000
#: Documents handed to the store at once while others search: nobody waits longer than for these.
SMALL = 50
#: Up to so many documents comparing with all of them takes a few milliseconds, is exact, and saves building a graph,
#: which takes longer than everything else in indexing.
_MANY = 50_000
#: Of so many words the index of terms is written down: opening maps it, where it would be made anew from all documents
#: each time (3,000 long pages: 0.2 s instead of 0.4, for a twelfth of what indexing takes).
_LARGE = 3_000_000
#: Up to so many documents weights are kept exact after every call of `index`, however little it adds; up to so many
#: where it adds a twentieth of them. Beyond, the pass over all of them takes longer than indexing did.
_FEW, _EXACT = 20_000, 100_000
#: How far average lengths may move there before weights are made anew: no score is off by more.
_CLOSE = 0.01
#: The same while many are being written, after which weights are made anew anyway.
_ROUGH = 0.2


#: If the files of a larger share of the documents have disappeared, pruning stops: perhaps a disk is not mounted.
MAX_PRUNED_SHARE = 1 / 3


class IndexReport(NamedTuple):
    """What became of a reading of files: documents read, files that had not changed, documents removed."""

    read: int
    unchanged: int
    removed: int


def index(
    state: State,
    documents: Iterable[Document],
    options: IndexOptions,
    *,
    begin: Callable[[], None] = lambda: None,
) -> int:
    """Add or replace documents and do what makes them quick to search; how many. `begin` is called before some are
    written, `progress` when they are safe."""
    if isinstance(documents, Document | Mapping | str):
        raise InputError(f"index takes several documents, got one {type(documents).__name__}: put it in a list")
    done = 0
    warned: set[str] = set()
    state.cache.clear()
    try:
        for ready, counted, dense in _prepared(state, _batches(documents, BATCH), options.lang, options.workers):
            old = read_unchanged_vectors(state.store, state.models, ready)
            begin()
            state.index.add(ready, {**dense, **old}, counted=counted, drift=_ROUGH)
            done += len(ready)
            _warn(state, ready, warned)
            if options.progress:
                options.progress(done)
    finally:
        total = state.store.count()
        state.index.refresh(tolerance=_tolerance(total, done))
        state.index.commit()
    for name, model in deferred_encoders(state.models).items() if options.encode else ():
        encode_all_missing(state.store, name, model, progress=options.encoding)
        state.cache.clear()
    _build_graph(state, total)
    return done


def _prepared(state: State, batches: Iterator[list[Document]], lang: str | None, workers: int) -> Iterator[Prepared]:
    """Batches ready to be written, by so many processes beside this one; by none where one is enough."""
    if workers < 1:
        raise InputError(f"{workers} workers can't prepare documents: say 1 or more")
    if state.machine.to:
        batches = (
            document_translation.translated(assign_languages(b, lang), state.machine, state.store) for b in batches
        )
    batches = _parts(batches)
    layout, models = state.index.statistics.layout, quick(state.models)
    if workers == 1:
        return prepared(batches, layout, models, lang)
    folders = {name: model_files.get_model_folder(state.store, name) for name in models}
    return side_by_side(batches, layout, models, folders, lang=lang, workers=workers)


def _parts(batches: Iterator[list[Document]]) -> Iterator[list[Document]]:
    """Split batches of long documents into smaller ones."""
    for batch in batches:
        ends = np.cumsum([len(document.text) for document in batch])
        for _, part in groupby(zip(ends // (LONG + 1), batch, strict=True), key=itemgetter(0)):
            yield [document for _, document in part]


def index_files(state: State, paths: Sequence[str], options: FileOptions) -> IndexReport:
    """Read files and folders into the collection: those that are new or have changed since, or all of them `again`.

    A file that holds an id which its owner gave up is read once more, so that its own document comes back.
    """
    tracker = FileTracker(state.store, lang=options.lang or "", again=options.again)
    read = _read_files(state, paths, options, tracker)
    removed = _prune(state, tracker, paths, options) if options.prune else 0
    rereads = tracker.take_rereads()
    if rereads:
        tracker.save()
        read += index_files(state, rereads, replace(options, prune=False, again=False)).read
    return IndexReport(read, tracker.unchanged, removed)


def _read_files(state: State, paths: Sequence[str], options: FileOptions, tracker: FileTracker) -> int:
    """Index the documents of files as far as the tracker wants them read, and record the files; how many documents."""

    def report_progress(done: int) -> None:
        tracker.mark_safe(done)
        if options.progress:
            options.progress(done)

    documents = read_sources(
        state.store, paths, options.on_error, tracker=tracker, readers=options.workers, scanning=options.scanning
    )
    read = index(
        state, tracker.follow(documents), replace(options, progress=report_progress), begin=tracker.save_pending
    )
    tracker.mark_safe(read)
    tracker.save()
    return read


def _prune(state: State, tracker: FileTracker, paths: Sequence[str], options: FileOptions) -> int:
    """Remove documents whose file is gone or no longer holds them; how many."""
    max_share = None if options.prune_anyway else MAX_PRUNED_SHARE
    removed = tracker.prune(paths, lambda ids: delete(state, ids), max_share=max_share)
    if removed:
        state.index.commit()
    return removed


def add(state: State, documents: Sequence[Document], *, lang: str | None = None) -> int:
    """Add or replace a few documents of a collection that is being searched, leaving for later what makes others
    wait; how many."""
    state.store.check_documents(documents)
    ready = []
    for batch in _batches(documents, SMALL):  # what fails, fails before the first is written
        some = document_translation.translated(assign_languages(batch, lang), state.machine, state.store)
        deferred = encode_few(state.store, state.models, some) if len(documents) <= SMALL else {}
        ready.append((some, {**encoded(state.models, some), **deferred}))
    for some, dense in ready:
        state.index.add(some, dense)
    return len(documents)


def delete(state: State, ids: Sequence[str]) -> int:
    return state.index.delete(ids)


def _warn(state: State, documents: Sequence[Document], warned: set[str]) -> None:
    """Say once of a language that its documents are hardly in it."""
    if state.default is not None:
        for lang, message in coverage.strangers([d for d in documents if d.lang not in warned], state.default).items():
            warned.add(lang)
            warnings.warn(f"{message}: is that their language?", stacklevel=4)


def encode(state: State) -> Iterator[tuple[int, int]]:
    """Give documents the vectors they lack, a few at a time, beside whoever searches."""
    for name, model in deferred_encoders(state.models).items():
        if count_missing(state.store, name, model):
            state.store.claim_writing()
            for progress in encode_missing(state.store, name, model, processes=1):
                state.cache.clear()  # similarities of a sample of the vectors, among others
                yield progress


def tend(state: State) -> None:
    """Do what `add` left for later, beside whoever searches and writes."""
    _build_graph(state, state.store.count())


def _tolerance(total: int, new: int) -> float:
    """Exact weights cost a pass over all documents: they must be few, or many of them new."""
    if total <= max(_FEW, min(20 * new, _EXACT)):
        return 0.0
    return _CLOSE if total <= 20 * new else DRIFT


def _build_graph(state: State, total: int) -> None:
    """Where comparing with every document has become slow, again when a tenth has been added since; and where opening
    has, again when half has."""
    built, statistics = int(state.store.read_blob(_GRAPH) or b"0"), state.index.statistics
    words = sum(statistics.documents("text", lang) * statistics.average("text", lang) for lang in statistics.langs)
    if (total > _MANY and total > 1.1 * built) or (words > _LARGE and total > 1.5 * built):
        state.store.optimize()
        state.store.write_blob(_GRAPH, str(total).encode())


def _batches(items: Iterable[Document], size: int) -> Iterator[list[Document]]:
    """Batches of documents. When reading them fails, those that were read before come first."""
    batch: list[Document] = []
    try:
        for item in items:
            if not isinstance(item, Document):
                kind = f"a {type(item).__name__}, not a Document: write Document(id, text, lang)"
                raise InputError(f"document {len(batch) + 1} of the batch is {kind}")
            batch.append(item)
            if len(batch) == size:
                yield batch
                batch = []
    except (ParaglossError, KeyboardInterrupt):
        if batch:
            yield batch
        raise
    if batch:
        yield batch
