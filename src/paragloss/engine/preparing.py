"""What documents need before they are written: their language, their terms counted, the vectors of quick encoders. In
this process, or in several side by side that feed the one that writes; the same comes out, in the same order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import chain, islice
from multiprocessing import connection, get_context
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from paragloss.bm25 import Bags, Layout
from paragloss.engine.encoding import encoded, storing
from paragloss.engine.loading import load
from paragloss.engine.understanding import with_languages
from paragloss.errors import ParaglossError, StoreError
from paragloss.search.terms import counted
from paragloss.types import Document, Floats

#: Batches prepared in this process before others are started, which takes them a second or two.
_ALONE = 4
_THREADS = "OMP_NUM_THREADS"
#: A document as it travels between processes: language, title, text, fields.
_Text: TypeAlias = tuple[str, str, str, dict[str, str]]


class Prepared(NamedTuple):
    """Documents that say their language, their counted terms, and a row for each and every quick encoder."""

    documents: list[Document]
    bags: Bags
    dense: dict[str, Floats]


class Settings(NamedTuple):
    """What preparing needs to know of a collection: how terms are laid out, where its quick encoders are kept, and the
    language of documents that don't say theirs."""

    fields: tuple[str, ...]
    k1: float
    b: float
    models: tuple[tuple[str, str], ...]  # name, folder
    lang: str | None


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prepared(
    batches: Iterable[list[Document]], layout: Layout, models: Mapping[str, Any], lang: str | None
) -> Iterator[Prepared]:
    """Batches as they come, in this process."""
    for batch in batches:
        documents = with_languages(batch, lang)
        yield Prepared(documents, counted(layout, documents), _rows(models, documents))


def side_by_side(
    batches: Iterator[list[Document]],
    layout: Layout,
    models: Mapping[str, Any],
    folders: Mapping[str, Path],
    *,
    lang: str | None,
    workers: int,
) -> Iterator[Prepared]:
    """Batches in the order they come, a few of them being prepared while one is written. Where reading them fails,
    those that were read before still come."""
    yield from prepared(islice(batches, _ALONE), layout, models, lang)
    first = next(batches, None)
    if first is None:
        return
    kept = tuple((name, str(folder)) for name, folder in folders.items())
    settings = Settings(layout.fields, layout.k1, layout.b, kept, lang)
    waiting: deque[tuple[list[Document], Future[_Packed]]] = deque()
    with _pool(settings, workers) as pool:
        try:
            for batch in chain([first], batches):
                waiting.append((batch, pool.submit(_prepare, _texts(batch))))
                if len(waiting) > 2 * workers:
                    yield _unpacked(*waiting.popleft())
        except (ParaglossError, KeyboardInterrupt):
            yield from _rest(waiting)
            raise
        yield from _rest(waiting)


class _Packed(NamedTuple):
    langs: list[str]
    bags: Bags
    dense: dict[str, Floats]


def _rest(waiting: deque[tuple[list[Document], Future[_Packed]]]) -> Iterator[Prepared]:
    while waiting:
        yield _unpacked(*waiting.popleft())


def _texts(batch: Sequence[Document]) -> list[_Text]:
    return [(document.lang, document.title, document.text, dict(document.fields)) for document in batch]


def _unpacked(batch: Sequence[Document], found: Future[_Packed]) -> Prepared:
    try:
        langs, bags, dense = found.result()
    except BrokenProcessPool:
        raise StoreError(
            "a process that prepared documents died: is there memory for all of them? --workers 1 needs the least"
        ) from None
    return Prepared([d._replace(lang=lang) for d, lang in zip(batch, langs, strict=True)], bags, dense)


def _rows(models: Mapping[str, Any], documents: Sequence[Document]) -> dict[str, Floats]:
    """A matrix for each quick encoder; zeros where it has nothing to say."""
    made = {}
    for name, rows in encoded(models, documents).items():
        nothing = np.zeros(storing(models[name]).dim, np.float32)
        made[name] = np.stack([nothing if row is None else row for row in rows])
    return made


# In the processes


@contextmanager
def _pool(settings: Settings, workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that die with this one, leave interrupts to it, and use one processor each."""
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"  # the children's libraries read it when they are loaded
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _open, (settings,))
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        os.environ.pop(_THREADS)
        if before is not None:
            os.environ[_THREADS] = before


_opened: tuple[Layout, dict[str, Any], str | None] | None = None


def _open(settings: Settings) -> None:
    global _opened
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    models = {name: load(folder) for name, folder in settings.models}
    _opened = Layout(settings.fields, k1=settings.k1, b=settings.b), models, settings.lang


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _prepare(texts: Sequence[_Text]) -> _Packed:
    assert _opened is not None
    layout, models, lang = _opened
    batch = [Document("", text, said, title, fields) for said, title, text, fields in texts]
    [(documents, bags, dense)] = prepared([batch], layout, models, lang)
    return _Packed([document.lang for document in documents], bags, dense)
