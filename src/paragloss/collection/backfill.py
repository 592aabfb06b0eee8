"""Slow encoders: documents can be found by their words at once, and get the vectors they lack afterwards.

What has a vector is never encoded again while its text stands: whoever stops and starts again goes on where it was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from paragloss.encoders.pretrained import Pretrained, passages, pool
from paragloss.types import Document, Floats, Store

#: Passages encoded at a time: what a kill may cost of each process.
_TOGETHER = 16
#: For fewer documents starting processes takes longer than they save.
_FEW = 64


def slow(models: Mapping[str, object]) -> dict[str, Pretrained]:
    return {name: model for name, model in models.items() if isinstance(model, Pretrained)}


def kept(store: Store, names: Sequence[str], documents: Sequence[Document]) -> dict[str, list[Floats | None]]:
    """The vectors that documents about to be added have already, where what an encoder reads is unchanged."""
    if not names:
        return {}
    there = store.get([document.id for document in documents], vectors=names)
    same = [
        old if old is not None and _read(old.document) == _read(new) else None
        for old, new in zip(there, documents, strict=True)
    ]
    return {name: [None if old is None else old.dense.get(name) for old in same] for name in names}


def catch_up(
    store: Store,
    name: str,
    model: Pretrained,
    *,
    progress: Callable[[int, int], None] | None = None,
    processes: int | None = None,
) -> int:
    """Give every document that lacks them its vectors, and say how many got them. Each few are safe on disk."""
    done = 0
    for done, total in steps(store, name, model, processes=processes):
        if progress:
            progress(done, total)
    return done


def steps(store: Store, name: str, model: Pretrained, *, processes: int | None = None) -> Iterator[tuple[int, int]]:
    """The same, telling how many of how many have been read. Whose text has become another by then gets none."""
    where = {"lang": list(model.langs)}
    total, done = store.count(where, lacking=name), 0
    if not total:
        return
    waiting: deque[list[tuple[Document, int]]] = deque()

    def jobs() -> Iterator[pool.Job]:
        for records in store.scroll(where, batch=256, lacking=name):
            for lang, read in _jobs([record.document for record in records]):
                waiting.append([(document, len(texts)) for document, texts in read])
                yield [text for _, texts in read for text in texts], lang

    for rows in pool.encode(model, jobs(), processes=1 if total < _FEW else processes):
        of = waiting.popleft()
        parts = np.split(rows, np.cumsum([count for _, count in of])[:-1])
        there = store.get([document.id for document, _ in of])
        known = {
            document.id: part
            for (document, _), part, now in zip(of, parts, there, strict=True)
            if part.any() and now is not None and _read(now.document) == _read(document)
        }
        store.update_dense(name, list(known), list(known.values()))
        done += len(of)
        yield done, total


def _jobs(documents: Sequence[Document]) -> Iterator[tuple[str, list[tuple[Document, list[str]]]]]:
    """Documents of one language with their passages, as many together as make a batch."""
    for lang in dict.fromkeys(document.lang for document in documents):
        batch: list[tuple[Document, list[str]]] = []
        for document in (d for d in documents if d.lang == lang):
            batch.append((document, passages.read(document)))
            if _size(batch) >= _TOGETHER:
                yield lang, batch
                batch = []
        if batch:
            yield lang, batch


def _size(batch: Iterable[tuple[Document, list[str]]]) -> int:
    return sum(len(texts) for _, texts in batch)


def _read(document: Document) -> tuple[str, str, str]:
    return document.lang, document.title, document.text
