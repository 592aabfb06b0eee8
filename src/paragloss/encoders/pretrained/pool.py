"""Many texts through a slow encoder: processes side by side, one thread each, results in order as they come."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TypeAlias

from paragloss.encoders.pretrained import Pretrained, Settings, build
from paragloss.errors import ModelError
from paragloss.types import Floats

#: Texts of one language, and that language.
Job: TypeAlias = tuple[Sequence[str], str]
_THREADS = "OMP_NUM_THREADS"
_model: Pretrained | None = None


def encode(model: Pretrained, jobs: Iterable[Job], *, processes: int | None = None) -> Iterator[Floats]:
    """The rows of each job, in order; a few jobs ahead are read. `processes` is by default one a processor."""
    number = len(os.sched_getaffinity(0)) if processes is None and hasattr(os, "sched_getaffinity") else processes
    number = number or os.cpu_count() or 1
    if model.alone or number == 1:
        for texts, lang in jobs:
            yield model.passages.encode(texts, lang)
        return
    yield from _side_by_side(model.settings, jobs, number)


def _side_by_side(settings: Settings, jobs: Iterable[Job], number: int) -> Iterator[Floats]:
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"  # the children's libraries read it when they are loaded
    try:
        with ProcessPoolExecutor(number, get_context("spawn"), _open, (settings,)) as pool:
            waiting: deque[Future[Floats]] = deque()
            for job in jobs:
                waiting.append(pool.submit(_encode, job))
                if len(waiting) > 2 * number:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    except BrokenProcessPool:
        raise ModelError(f"a process encoding with {settings.source} died: is there memory for {number}?") from None
    finally:
        if before is None:
            del os.environ[_THREADS]
        else:
            os.environ[_THREADS] = before


def _open(settings: Settings) -> None:
    global _model
    _model = build(settings)


def _encode(job: Job) -> Floats:
    assert _model is not None
    return _model.passages.encode(*job)
